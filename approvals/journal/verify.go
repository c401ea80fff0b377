package journal

import (
	"errors"
	"iter"
)

// Place is an entry that is remembered outside the log.
type Place struct {
	Seq  uint64
	Hash string // 0x and 64 hex digits
}

// Pins are what a log is checked against. All may be empty; a log that is
// checked against nothing is at most self-consistent.
type Pins struct {
	Heads  [][]byte // canonical signed heads, in any order
	Places []Place  // from the sealed file, the keyring, a receipt
	Vault  string   // vault id
	LogKey string   // log key of the instance, nkey text
}

// Codes of a [Report].
const (
	ReportChanged     = "changed"      // the entry is not what it was
	ReportCut         = "cut"          // entries from this one on are missing
	ReportReordered   = "reordered"    // the entry stands in another place
	ReportForked      = "forked"       // another entry was signed or remembered in its place
	ReportHeadMissing = "head_missing" // an entry that only the key process makes, and no signed head covers it
	ReportBadHead     = "bad_head"     // a head is not signed by the log's key, or is of another log
	ReportContradicts = "contradicts"  // the entry cannot follow from those before it
	ReportEmpty       = "empty"        // no entries
	ReportOtherVault  = "other_vault"  // another vault or log key than the pinned one
)

// Report is the result of verifying a log.
type Report struct {
	OK         bool
	Entries    uint64 // entries read up to the first wrong one
	FirstWrong uint64 // seq of the first wrong entry, 0 where none is or where it is not an entry (bad_head)
	Code       string // "" where OK
	Detail     string // a sentence of ours
	Covered    uint64 // the newest entry that a signed head covers
	Uncovered  uint64 // entries after it; they were made while the vault was locked
	Pinned     bool   // whether a place or key from outside the log was compared
	State      *State // what follows from the right entries; nil where there are none
}

// Verify reads a whole log, from entry 1, against heads and pins, and names the
// first entry that is wrong. It keeps no entries and blocks only on the
// sequence.
func Verify(entries iter.Seq[[]byte], pins Pins) Report {
	v := verifier{state: &State{}, heads: map[uint64]Head{}, places: map[uint64]string{}}
	v.report.Pinned = len(pins.Places) > 0 || pins.LogKey != "" || pins.Vault != ""
	badHead := v.readPins(pins)
	if v.report.Code == "" {
		v.run(entries, pins)
	}
	if v.report.Code == "" && badHead != "" {
		v.wrong(0, ReportBadHead, badHead)
	}
	if v.report.Code == "" {
		v.finish()
	}
	if v.report.Code == "" {
		v.report.OK = true
	}
	v.report.Entries = v.state.seq
	if v.state.seq > 0 {
		v.report.State = v.state
	}
	if v.report.Covered > v.state.seq {
		v.report.Covered = v.state.seq
	}
	v.report.Uncovered = v.state.seq - v.report.Covered
	return v.report
}

type verifier struct {
	state   *State
	heads   map[uint64]Head
	places  map[uint64]string
	last    uint64 // newest entry that a head or place names
	keyed   uint64 // newest entry of a kind that needs a head
	suspect bool   // the last entry applied has a hash that something outside contradicts
	report  Report
}

func (v *verifier) wrong(seq uint64, code, detail string) {
	v.report.FirstWrong, v.report.Code, v.report.Detail = seq, code, detail
}

// readPins returns what is wrong with the heads, if anything.
func (v *verifier) readPins(pins Pins) (bad string) {
	for _, raw := range pins.Heads {
		h, err := ParseHead(raw)
		if err != nil {
			bad = err.Error()
			continue
		}
		if before, ok := v.heads[h.Seq]; ok && before.Hash != h.Hash {
			v.wrong(h.Seq, ReportForked, "two signed heads name two entries in the same place")
			return ""
		}
		v.heads[h.Seq] = h
		v.last = max(v.last, h.Seq)
	}
	for _, p := range pins.Places {
		if p.Seq > 0 {
			v.places[p.Seq] = p.Hash
			v.last = max(v.last, p.Seq)
		}
	}
	return bad
}

func (v *verifier) run(entries iter.Seq[[]byte], pins Pins) {
	var before *Entry // applied, and neither a head nor the next entry has confirmed it yet
	next, stop := iter.Pull(entries)
	defer stop()
	for {
		raw, ok := next()
		if !ok {
			if before != nil && v.suspect {
				v.wrong(before.Seq, ReportChanged, "the last entry is not the one that was signed or remembered")
			}
			return
		}
		if v.suspect {
			// The chain may go on from the entry as it now stands.
			e, err := Parse(raw)
			if err == nil && e.Prev == before.hash {
				v.wrong(before.Seq, ReportForked, "another entry was signed or remembered in this place")
			} else {
				v.wrong(before.Seq, ReportChanged, "the entry is not the one that was signed or remembered")
			}
			return
		}
		e, err := Parse(raw)
		if err != nil {
			v.wrong(v.state.seq+1, ReportChanged, err.Error())
			return
		}
		if err := v.state.Apply(e); err != nil {
			v.explain(before, e, next, err)
			return
		}
		if e.Seq == 1 && !v.first(pins) {
			return
		}
		v.compare(e)
		if !e.Unkeyed() {
			v.keyed = e.Seq
		}
		before = &e
	}
}

// first compares the log's own keys with what is pinned.
func (v *verifier) first(pins Pins) bool {
	if pins.Vault != "" && pins.Vault != v.state.vault || pins.LogKey != "" && pins.LogKey != v.state.logKey {
		v.wrong(1, ReportOtherVault, "the log is not of the vault or key that was asked for")
		return false
	}
	for _, h := range v.heads {
		if h.Vault != v.state.vault || h.Instance != v.state.instance || h.Key != v.state.logKey {
			v.wrong(0, ReportBadHead, "a head is of another vault, instance or key than the log")
			return false
		}
	}
	return true
}

// compare looks at the entry just applied from outside.
func (v *verifier) compare(e Entry) {
	if h, ok := v.heads[e.Seq]; ok {
		if h.Hash != e.hash {
			v.suspect = true
			return
		}
		v.report.Covered = e.Seq
	}
	if p, ok := v.places[e.Seq]; ok && p != e.hash {
		v.suspect = true
	}
}

// explain says which entry is wrong when e does not follow the one before it.
func (v *verifier) explain(before *Entry, e Entry, next func() ([]byte, bool), err error) {
	want := v.state.seq + 1
	var c *Contradiction
	if !errors.As(err, &c) || c.Code != CodeNotNext {
		v.wrong(e.Seq, ReportContradicts, err.Error())
		return
	}
	switch {
	case e.Seq > want:
		if raw, ok := next(); ok {
			if n, err := Parse(raw); err == nil && n.Seq == want {
				v.wrong(want, ReportReordered, "entries stand in another order")
				return
			}
		}
		v.wrong(want, ReportCut, "entries are missing")
	case e.Seq < want:
		if before != nil && e.Seq == before.Seq {
			v.wrong(e.Seq, ReportForked, "two entries stand in the same place")
			return
		}
		v.wrong(want, ReportReordered, "an entry stands in another place")
	case before == nil:
		v.wrong(1, ReportChanged, "the first entry is not a beginning")
	default:
		// Either this entry or the one before is not what it was. A head
		// over the one before, or an entry that still follows this one, tells.
		if v.report.Covered == before.Seq {
			v.wrong(want, ReportForked, "the entry does not follow the one before it")
			return
		}
		if h, ok := v.heads[e.Seq]; ok && h.Hash == e.hash {
			v.wrong(before.Seq, ReportChanged, "the entry is not the one that the next follows")
			return
		}
		if raw, ok := next(); ok {
			if n, err := Parse(raw); err != nil || n.Seq != e.Seq+1 || n.Prev != e.hash {
				v.wrong(want, ReportChanged, "the entry does not follow the one before it")
				return
			}
		}
		// With nothing after it the two cannot be told apart: the earlier one is named.
		v.wrong(before.Seq, ReportChanged, "the entry is not the one that the next follows")
	}
}

// finish looks for what is missing at the end.
func (v *verifier) finish() {
	switch {
	case v.state.seq == 0:
		v.wrong(0, ReportEmpty, "there are no entries")
	case v.last > v.state.seq:
		v.wrong(v.state.seq+1, ReportCut, "a later entry was signed or remembered, and is missing")
	case v.keyed > v.report.Covered:
		v.wrong(v.report.Covered+1, ReportHeadMissing, "no signed head covers the entry")
	}
}
