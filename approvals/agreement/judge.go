package agreement

import (
	"strconv"

	"vault/approvals/sow"
	"vault/approvals/sow/span"
	"vault/approvals/store"
	"vault/derive/confirm"
)

// place finds our seat, and by which keys the seats are judged. The role is what this vault signed or its owner said; else a pinned key
// that has signed for its own agent's seat shows that the other one is ours, where nobody else has signed for that. A record names its
// seat itself, outside of what its signature covers, and whoever brings a document writes it: a key that is not known says nothing.
func (h *Held) place() {
	for _, x := range h.Log.Documents {
		if x.Role != "" {
			h.Role, h.Seat, h.Fixed = x.Role, x.Seat, true
		}
	}
	for role, f := range h.facts[FactSeat] {
		if h.Fixed {
			continue
		}
		h.Role = role
		if n, err := strconv.ParseInt(f.Value, 10, 64); err == nil {
			h.Seat, h.Fixed = n, true
		}
	}
	newest := h.Docs[0].Doc
	mine, pinned, strange := map[string]int64{}, map[string]bool{}, map[string]bool{}
	for _, x := range h.Docs {
		for _, r := range x.Doc.Signatures() {
			if r.Fault != "" {
				continue
			}
			party, _ := x.Doc.Party(r.Role)
			n, ours := h.Log.Ours(r.Key)
			switch pin := h.Log.Pins[party.Agent].Key; {
			case ours:
				mine[r.Role] = n
			case pin != "" && r.Key == pin:
				pinned[r.Role] = true
			default:
				strange[r.Role] = true
			}
		}
	}
	for _, role := range []string{sow.Provider, sow.Client} {
		if n, ok := mine[role]; ok && len(mine) == 1 && !h.Fixed {
			h.Role, h.Seat, h.Fixed = role, n, true
		}
		if h.Role == "" && !newest.BlankSeat() && pinned[sow.Other(role)] && !pinned[role] && !strange[role] {
			h.Role = role
		}
	}
	counterparty := ""
	for _, x := range h.Log.Documents {
		if x.Counterparty != "" {
			counterparty = x.Counterparty
		}
	}
	key := func(role string) string {
		switch {
		case h.Role == role && h.Fixed:
			s, _ := h.Log.SeatAt(h.Seat)
			return s.Key
		case h.Role == sow.Other(role) && counterparty != "":
			return counterparty
		}
		p, _ := newest.Party(role)
		return h.Log.Pins[p.Agent].Key
	}
	h.Pins = sow.Pins{Provider: key(sow.Provider), Client: key(sow.Client)}
}

// judge derives who has signed, what is in force, and the state of each document.
func (h *Held) judge() {
	open, counts := map[int64]int{}, map[int64]*Document{}
	for _, x := range h.Docs {
		seats := x.Doc.VerifySignatures(h.Pins)
		if seats.Agreed() && (h.Pins.Provider == "" || h.Pins.Client == "") {
			// Whoever else signed is not known: nothing is agreed with nobody.
			if h.Pins.Provider == "" {
				seats.Provider = nil
			} else {
				seats.Client = nil
			}
		}
		x.View.Seats = seats
		if h.Role != "" && h.Fixed {
			x.Signed = seats.Of(h.Role) != nil
		}
		for _, role := range []string{sow.Provider, sow.Client} {
			if role != h.Role && h.Pins.Of(role) != "" && seats.Of(role) != nil {
				x.Theirs = true
			}
		}
		x.Closed = h.Log.Document(x.View.Digest).Closed
		if counts, ok := h.Log.Settled[x.View.Version]; ok && counts != x.View.Digest && x.Closed == "" {
			x.Closed = "settled_against"
		}
		if seats.Agreed() && (x.Closed == "" || x.Closed == "superseded") {
			counts[x.View.Version] = x
			if h.InForce == nil || x.View.Version > h.InForce.View.Version {
				h.InForce = x
			}
		}
	}
	for _, x := range h.Docs {
		if y := counts[x.View.Version]; y != nil && x.Closed == "" && !x.View.Seats.Agreed() && !x.Signed {
			x.Closed = "settled_against" // by both owners' signatures
		}
		if x.Closed == "" || x.Closed == "superseded" {
			open[x.View.Version]++
		}
	}
	for _, x := range h.Docs {
		x.View.Conflict = open[x.View.Version] > 1 && (x.Closed == "" || x.Closed == "superseded")
		h.View.Conflict = h.View.Conflict || x.View.Conflict
	}
	h.terminations()
	agreed := int64(0)
	if h.InForce != nil {
		agreed = h.InForce.View.Version
		h.InForce.View.InForce = true
	}
	for _, x := range h.Docs {
		v := &x.View
		v.State = x.Doc.State(sow.Situation{
			Seats: v.Seats, Now: h.Now, Terminated: h.ended > 0 && h.Now >= h.ended, Superseded: v.Version < agreed,
			Agreed: agreed,
		})
		v.Outcome = x.Closed
		switch {
		case v.Outcome == "" && v.Version > 1 && v.Seats.Agreed():
			v.Outcome = "approved"
		case v.Outcome == "superseded" && v.State == sow.Amended && v.Version > 1:
			v.Outcome = "approved"
		}
		if f, ok := h.Fact(FactProposed, v.Digest); ok {
			v.ProposedAt = f.At
		}
		if v.State == sow.AmendmentProposed && h.InForce != nil {
			v.ReviewEnds, _ = sow.ReviewEnds(h.InForce.Doc, v.ProposedAt)
			if v.ProposedBy = sow.Client; v.Seats.Provider != nil {
				v.ProposedBy = sow.Provider
			}
			if v.Outcome == "" && v.ReviewEnds > 0 && h.Now >= v.ReviewEnds {
				v.Outcome = "lapsed"
			}
		}
	}
}

// terminations finds when the engagement ends by an act of one of the two owners (5.9).
func (h *Held) terminations() {
	if h.Log.Terminated && h.InForce == nil {
		h.ended = 1
	}
	for _, r := range h.Records {
		a := h.Act(r)
		if a == nil || a.Kind != sow.Termination || h.InForce == nil {
			continue
		}
		at := r.At
		if a.Ground == "convenience" {
			hours, agreed := h.InForce.Doc.ConvenienceNotice()
			if !agreed {
				continue // only a cause ends it: the claim is kept, and changes nothing
			}
			at = span.AddHours(at, hours)
		}
		if h.ended == 0 || at < h.ended {
			h.ended = at
		}
	}
	if h.Log.Terminated && h.ended == 0 {
		h.ended = 1
	}
}

// Act reads an act that counts: signed by the pinned key of the seat it names, or by ours.
func (h *Held) Act(r store.SoWRecord) *sow.ActFields {
	if _, ok := sow.ActKind(r.Kind).Tag(); !ok {
		return nil
	}
	a, err := sow.ParseAct(r.Raw)
	if err != nil || a.Verify() != nil {
		return nil
	}
	f := a.Fields()
	x := h.By(f.Document)
	if x == nil || !a.About(x.Doc) || h.Pins.Of(f.Role) == "" || f.Key != h.Pins.Of(f.Role) {
		return nil
	}
	return &f
}

// main is the version that holds: the one in force, else the newest that came. What a newer one says that nobody has agreed to says
// nothing of the engagement.
func (h *Held) main() *Document {
	if h.InForce != nil {
		return h.InForce
	}
	return h.Docs[0]
}

// Newest is the version in force, else the newest.
func (h *Held) Newest() VersionView { return h.main().View }

// Counts says that a record is an act by a seat's known key, or else a confirmation that agrees with itself. Anything else that
// was brought is a claim: in a bundle it stands among the records, where it makes nothing doubtful.
func (h *Held) Counts(r store.SoWRecord) (ok, act bool) {
	if _, act = sow.ActKind(r.Kind).Tag(); act {
		return h.Act(r) != nil, true
	}
	if RecordKind(r.Kind) != RecordConfirmation {
		return false, false
	}
	e, err := confirm.ParseEvidence(r.Raw)
	return err == nil && (r.Own || h.By(e.Record().Context().Fields().Digest) != nil) && e.Verify(confirm.EvidencePins{}).Valid, false
}
