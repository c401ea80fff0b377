// Package confirm is the documents of a person-grade confirmation: the context
// that a passkey signs, the record of its signature, the log key's statement
// about a record (evidence), and the owner card that says whose keys these are.
// It builds, parses strictly, and verifies. Verification needs no private key
// and no network, and is written once, here, for the key process and for a
// stranger with two files.
//
// It is not a ceremony: it serves no page, draws no nonce, reads no clock,
// keeps no counter and signs nothing. And a passkey proves presence and
// verification, nothing more: not that a person read what the page showed.
//
// A record alone proves only that a passkey was used on some page that this
// computer's browser took for the vault's. What ties it to the vault is the log
// key's signature in the evidence; [Report.Pinned] is never true without it.
//
// Credential keys are read by comparing them with the only byte string that
// CTAP2's canonical CBOR has for a key of their shape, of which there are
// three. The readers of the WebAuthn libraries would bring a general CBOR
// decoder and TPM packages into the process that holds the root, and accept
// more than one spelling of one key.
package confirm
