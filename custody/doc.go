// Package custody keeps the identity root: 32 bytes, at rest in one sealed file
// and in memory that is locked, not dumped and wiped by its owner.
//
// It knows three answers to "is there a vault here" and keeps them apart: there
// is none, there is one, there is one that cannot be read now. Only the first
// lets a root be made. What opens the sealed file is the owner's choice: a
// passphrase, a share kept in the keyring of the operating system, or both.
//
// It derives no signing key, signs nothing, draws nothing, and does not know
// what a passkey or a rule is: it seals what it is given.
//
// Two jobs run in processes of their own, started through a [Runner]: the
// passphrase function, so that its memory ends with it ([KDFMain]), and each
// keyring call, because some of them never return ([KeyringMain]).
package custody
