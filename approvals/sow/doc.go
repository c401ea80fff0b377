// Package sow reads Agent SoW documents (specification 0.22) on the owner's
// side: it parses and validates them, gives their canonical, hashed and signed
// bytes, verifies signatures, derives states, compares versions, and judges
// offers, amendments, verdicts, manifests and our own acts.
//
// It signs nothing, stores nothing and holds no clock: instants, pinned keys
// and facts are arguments. What a provider's node enforces at its gate is not
// here. A document is never repaired, and nothing received is refused for its
// identifier (4.1.1).
package sow
