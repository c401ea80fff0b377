// Package approvals is the desk: agents ask, a person decides, keys sign. It
// holds requests, policy, the ledger of uses, the log and what ties them
// together, and it is the only caller of the key process.
//
// Agents and the owner get different views of one desk: [Agents] can only ask,
// [Owner] can decide. The desk holds no key material, and it verifies nothing by
// itself that the document packages verify.
package approvals
