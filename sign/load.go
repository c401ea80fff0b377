package sign

import (
	"context"
	"errors"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/custody"
	"vault/derive/envelope"
)

// loading is what is remembered between the chunks of one Load.
type loading struct {
	begun  bool
	keyed  uint64     // newest entry of a kind that only this process makes
	hashes [][32]byte // of the entries from keyed on
	failed *keys.Error
	anchor bool // the anchored entry was seen, or lies before the snapshot
}

// Load implements [keys.Handler]: it rebuilds the state from the log, which must
// be covered by a head that this instance's key signed, and hold the entry that
// the sealed file remembers.
func (s *Signer) Load(_ context.Context, l keys.Load) (keys.Loaded, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != phaseLoading {
		return keys.Loaded{}, refuse(codeNotLoaded, "a log can be loaded once after each opening")
	}
	if s.load.failed == nil {
		s.load.failed = s.takeChunk(l)
	}
	if !l.Last {
		return keys.Loaded{Seq: s.state.Seq(), Hash: s.state.Hash()}, nil
	}
	s.swollen = true
	s.collectSoon()
	failed := s.load.failed
	if failed == nil {
		failed = s.finishLoad(l)
	}
	s.load = loading{}
	if failed != nil {
		s.phase, s.doubt, s.state = phaseReadOnly, failed, &journal.State{}
		return keys.Loaded{}, failed
	}
	s.phase = phaseOpen
	return keys.Loaded{Seq: s.state.Seq(), Hash: s.state.Hash()}, nil
}

func damaged(seq uint64, detail string) *keys.Error {
	return &keys.Error{Code: codeLogDamaged, Detail: detail, Seq: seq}
}

func (s *Signer) takeChunk(l keys.Load) *keys.Error {
	sealed := s.vault.State()
	if l.Snapshot != nil {
		if s.load.begun {
			return damaged(0, "a snapshot comes before all entries")
		}
		state, err := journal.ParseState(l.Snapshot)
		if err != nil {
			return damaged(0, "the snapshot is not the state of a log")
		}
		if len(l.Entries) == 0 {
			return damaged(0, "the snapshot's own entry is missing")
		}
		s.state = state
		// What a snapshot covers cannot be compared entry by entry; the signed
		// head over its entry covers it.
		s.load.anchor = sealed.Log.Seq <= state.Seq()
	}
	for i, raw := range l.Entries {
		next := s.state.Seq() + 1
		e, err := journal.Parse(raw)
		if err != nil {
			return damaged(next, "the entry is not one of a log")
		}
		if l.Snapshot != nil && i == 0 && e.Kind != journal.KindSnapshot {
			return damaged(e.Seq, "a snapshot is followed by its own entry")
		}
		if err := s.state.Apply(e); err != nil {
			var c *journal.Contradiction
			errors.As(err, &c)
			return damaged(next, c.Detail)
		}
		s.load.begun = true
		if !e.Unkeyed() {
			s.load.keyed, s.load.hashes = e.Seq, s.load.hashes[:0]
		}
		var h custody.Hash
		// The hash is ours.
		_ = h.UnmarshalText([]byte(e.Hash()))
		s.load.hashes = append(s.load.hashes, h)
		if e.Seq == sealed.Log.Seq {
			if h != sealed.Log.Hash {
				return &keys.Error{Code: codeRolledBack, Detail: "the log is another one than the vault remembers", Seq: e.Seq}
			}
			s.load.anchor = true
		}
	}
	return nil
}

func (s *Signer) finishLoad(l keys.Load) *keys.Error {
	sealed := s.vault.State()
	// What custody saw comes first: it explains what the log lacks.
	if err := s.vault.Doubt(); err != nil {
		for _, known := range []*custody.Error{custody.ErrRolledBack, custody.ErrAnchorMissing} {
			if errors.Is(err, known) {
				return refuse(known.Code(), known.Error())
			}
		}
		return refuse(codeCopied, custody.ErrMoved.Error())
	}
	if s.state.Seq() == 0 {
		if sealed.Log.Seq > 0 {
			return &keys.Error{Code: codeRolledBack, Detail: "the log is gone and the vault remembers it", Seq: sealed.Log.Seq}
		}
		if l.Head != nil {
			return damaged(0, "a head came without its log")
		}
		return nil
	}
	if s.state.Instance() != s.pub.Instance || s.state.Vault() != s.pub.Vault || s.state.LogKey() != s.pub.LogKey ||
		s.state.OwnerKey() != s.pub.OwnerKey || s.state.Reason() != s.pub.StartReason {
		return &keys.Error{Code: codeRolledBack, Detail: "the log is of another instance than the vault", Seq: 1}
	}
	h, err := journal.ParseHead(l.Head)
	if err != nil {
		return damaged(s.load.keyed, "no head of this log was given that is signed")
	}
	if h.Key != s.pub.LogKey || h.Vault != s.pub.Vault || h.Instance != s.pub.Instance {
		return damaged(h.Seq, "the head is of another log")
	}
	if h.Seq > s.state.Seq() {
		return &keys.Error{Code: codeRolledBack, Detail: "the log ends before a head that was signed", Seq: s.state.Seq() + 1}
	}
	if h.Seq < s.load.keyed || s.load.keyed == 0 {
		return damaged(h.Seq+1, "an entry that only the key process makes is not covered by a signed head")
	}
	var want custody.Hash
	// ParseHead has checked its form.
	_ = want.UnmarshalText([]byte(h.Hash))
	if s.load.hashes[h.Seq-s.load.keyed] != want {
		return damaged(h.Seq, "the entry is not the one that was signed")
	}
	if !s.load.anchor && sealed.Log.Seq > 0 {
		return &keys.Error{Code: codeRolledBack, Detail: "the log ends before what the vault remembers", Seq: s.state.Seq() + 1}
	}
	for _, p := range l.Domains {
		if err := s.takeDomain(p); err != nil {
			return err
		}
	}
	return nil
}

// takeDomain remembers a domain whose row is right and stands in the log.
func (s *Signer) takeDomain(p keys.Permit) *keys.Error {
	d, err := permit.ParseDomain(p.Body)
	if err != nil {
		return refuse(codeBadPermit, "a domain row is not well formed")
	}
	known, ok := s.state.Domain(d.Hash)
	if !ok || known.PermitSHA256 != permit.SHA256(p.Body) {
		return refuse(codeBadPermit, "a domain row is not the one in the log, or has another MAC")
	}
	if _, right := s.macRight(p); !right {
		return refuse(codeBadPermit, "a domain row is not the one in the log, or has another MAC")
	}
	projection, err := envelope.ParseProjection(d.Projection)
	if err != nil || projection.Info().Hash() != d.Hash {
		return refuse(codeBadPermit, "a domain row holds no projection of its domain")
	}
	s.domains[d.Hash] = projection
	return nil
}
