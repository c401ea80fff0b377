package journal

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

var (
	testEngagement = EngagementID("sow_a", "agent-p", "agent-c")
	testAllowed    = "sp_" + strings.Repeat("a", 16)
	strangeKey     = "U" + strings.Repeat("B", 55)
)

func (b *book) formed(n int) SoWSigned {
	return SoWSigned{
		Engagement: testEngagement, Move: MoveCountersign, SoW: "sow_a", Version: 1, DocumentSHA256: testHash(n), Role: "client", Key: b.pub, Counterparty: strangeKey,
		Authority: "person", By: "passkey", Confirmation: testHash(99),
	}
}

func (b *book) offered(n int, directed bool) SoWSigned {
	return SoWSigned{
		Engagement: EngagementID("sow_o", "agent-p", ""), Move: MovePublish, SoW: "sow_o", Version: 1, DocumentSHA256: testHash(n), Role: "provider", Key: b.pub,
		Authority: "person", Directed: directed, By: "passkey", Confirmation: testHash(99),
	}
}

// asked is a request under the offer with digest of, completed.
func (b *book) asked(n, of int) SoWSigned {
	return SoWSigned{
		Engagement: EngagementID("sow_r", "agent-p", "agent-c"), Move: MoveComplete, SoW: "sow_r", Version: 1, DocumentSHA256: testHash(n), Role: "provider", Key: b.pub,
		Counterparty: strangeKey, Offer: testHash(of), Authority: "agent", Agreed: true, By: "offer",
	}
}

func (b *book) allowance(times int64) SoWPreauthorised {
	return SoWPreauthorised{testAllowed, testClient, "sow_o", 1, testHash(50), "client", times, b.at + 10_000_000, testHash(5), testHash(99)}
}

// underAllowance is a formation that the pre-authorisation stands behind.
func (b *book) underAllowance(n int) SoWSigned {
	s := b.formed(n)
	s.Engagement, s.By, s.Confirmation, s.Preauthorisation, s.Client, s.Offer, s.Authority = EngagementID("sow_f", "agent-p", testHash(n)), "preauthorised", "", testAllowed, testClient, testHash(50), "agent"
	return s
}

func (b *book) next(n, inForce int) SoWSigned {
	s := b.formed(n)
	s.Move, s.Version, s.InForce, s.Agreed = MoveApprove, 2, testHash(inForce), true
	return s
}

func act(b *book, kind string, n int, version int64) SoWActSigned {
	a := SoWActSigned{Engagement: testEngagement, Act: kind, SoW: "sow_a", Version: version, DocumentSHA256: testHash(n), ActSHA256: testHash(70), Role: "client", Key: b.pub, By: "click"}
	if kind == "termination" || kind == "dispute" {
		a.By, a.Confirmation = "passkey", testHash(99)
	}
	return a
}

// someSoW is an entry's body of each kind in sowBodies.
func someSoW(b *book) map[Kind]any {
	return map[Kind]any{
		KindSeatOpened:              SeatOpened{1, b.pub, "Studio"},
		KindSoWPinned:               SoWPinned{"k_" + strings.Repeat("a", 16), "agent", b.pub, "click", testHash(1), testHash(2)},
		KindSoWKeyBlocked:           SoWKeyBlocked{"agent"},
		KindSoWKeyUnblocked:         SoWKeyBlocked{"agent"},
		KindSoWPreauthorised:        b.allowance(3),
		KindSoWPreauthorisationGone: SoWPreauthorisationEnded{testAllowed, "revoked"},
		KindSoWIntent:               SoWIntent{testEngagement, testHash(1), "formation", b.pub, "AAAA", testClient},
		KindSoWSigned:               b.formed(1),
		KindSoWActSigned:            act(b, "dispute", 1, 1),
		KindSoWNoted:                SoWNoted{testEngagement, 2, testHash(1), "lapsed", "", "amendment_lapsed"},
	}
}

func TestSoWKindsAreReadBack(t *testing.T) {
	b := newBook(t)
	kinds := someSoW(b)
	for kind, body := range kinds {
		e := b.make(kind, body)
		if e.Decoded() != body {
			t.Errorf("%s: read %#v, wrote %#v", kind, e.Decoded(), body)
		}
		if _, err := Parse(bytes.Replace(e.Raw(), []byte(`"body":{`), []byte(`"body":{"aaa":1,`), 1)); !errors.Is(err, ErrNotAnEntry) {
			t.Errorf("%s with one member more: %v", kind, err)
		}
	}
	if len(kinds) != len(sowBodies) {
		t.Errorf("%d kinds; this test knows %d", len(sowBodies), len(kinds))
	}
}

func TestSoWContradictions(t *testing.T) {
	seat := func(b *book) { b.add(KindSeatOpened, SeatOpened{1, "U" + strings.Repeat("C", 55), "Studio"}) }
	for _, tt := range []struct {
		name string
		prep func(*book)
		kind Kind
		body func(*book) any
		code string
	}{
		{"a seat left out", nil, KindSeatOpened, func(b *book) any { return SeatOpened{2, strangeKey, "x"} }, CodeSeatNotNext},
		{"a seat twice", seat, KindSeatOpened, func(b *book) any { return SeatOpened{1, strangeKey, "x"} }, CodeSeatNotNext},
		{"a pin over another", func(b *book) {
			b.add(KindSoWPinned, SoWPinned{"k_" + strings.Repeat("a", 16), "agent", strangeKey, "click", testHash(1), ""})
		}, KindSoWPinned, func(b *book) any {
			return SoWPinned{"k_" + strings.Repeat("a", 16), "agent", b.pub, "click", testHash(2), ""}
		}, CodeWrongPermit},
		{"blocked twice", func(b *book) { b.add(KindSoWKeyBlocked, SoWKeyBlocked{"k"}) }, KindSoWKeyBlocked, func(*book) any { return SoWKeyBlocked{"k"} }, CodeTwice},
		{"unblocked and not blocked", nil, KindSoWKeyUnblocked, func(*book) any { return SoWKeyBlocked{"k"} }, CodeTwice},
		{"allowed without a record", nil, KindSoWPreauthorised, func(b *book) any { a := b.allowance(1); a.Confirmation = ""; return a }, CodeConfirmation},
		{"allowed for too long", nil, KindSoWPreauthorised, func(b *book) any { a := b.allowance(1); a.NotAfter += 1 << 40; return a }, CodePreauthorisation},
		{"allowed to an unknown client", nil, KindSoWPreauthorised, func(b *book) any { a := b.allowance(1); a.Client = "c_" + strings.Repeat("9", 16); return a }, CodeUnknownClient},
		{"allowance ended twice", func(b *book) {
			b.add(KindSoWPreauthorised, b.allowance(1))
			b.add(KindSoWPreauthorisationGone, SoWPreauthorisationEnded{testAllowed, "revoked"})
		}, KindSoWPreauthorisationGone, func(*book) any { return SoWPreauthorisationEnded{testAllowed, "revoked"} }, CodeTwice},
		{"formed under none", nil, KindSoWSigned, func(b *book) any { return b.underAllowance(1) }, CodePreauthorisation},
		{"formed under an ended one", func(b *book) {
			b.add(KindSoWPreauthorised, b.allowance(1))
			b.add(KindSoWPreauthorisationGone, SoWPreauthorisationEnded{testAllowed, "revoked"})
		}, KindSoWSigned, func(b *book) any { return b.underAllowance(1) }, CodePreauthorisation},
		{"formed under an offer that was withdrawn", func(b *book) {
			b.add(KindSoWPreauthorised, b.allowance(1))
			b.add(KindSoWNoted, SoWNoted{EngagementID("sow_f", "agent-p", ""), 1, testHash(50), "withdrawn", "", ""})
		}, KindSoWSigned, func(b *book) any { return b.underAllowance(1) }, CodeOfferClosed},
		{"formed once more", func(b *book) {
			b.add(KindSoWPreauthorised, b.allowance(1))
			b.add(KindSoWSigned, b.underAllowance(1))
		}, KindSoWSigned, func(b *book) any { return b.underAllowance(2) }, CodePreauthorisation},
		{"formed after its end", func(b *book) { b.add(KindSoWPreauthorised, b.allowance(1)); b.at += 20_000_000 }, KindSoWSigned, func(b *book) any { return b.underAllowance(1) }, CodePreauthorisation},
		{"formed under another offer", func(b *book) { b.add(KindSoWPreauthorised, b.allowance(1)) }, KindSoWSigned, func(b *book) any { s := b.underAllowance(1); s.Offer = testHash(51); return s }, CodePreauthorisation},
		{"formed for an ended client", func(b *book) {
			b.add(KindSoWPreauthorised, b.allowance(1))
			b.add(KindClientEnded, ClientEnded{testClient, "revoked"})
		}, KindSoWSigned, func(b *book) any { return b.underAllowance(1) }, CodeClientEnded},
		{"without a record", nil, KindSoWSigned, func(b *book) any { s := b.formed(1); s.Confirmation = ""; return s }, CodeConfirmation},
		{"a record under an allowance", func(b *book) { b.add(KindSoWPreauthorised, b.allowance(1)) }, KindSoWSigned, func(b *book) any { s := b.underAllowance(1); s.Confirmation = testHash(1); return s }, CodeConfirmation},
		{"a seat that is not open", nil, KindSoWSigned, func(b *book) any { s := b.formed(1); s.Seat = 1; return s }, CodeUnknownSeat},
		{"another key", nil, KindSoWSigned, func(b *book) any { s := b.formed(1); s.Key = strangeKey; return s }, CodeUnknownSeat},
		{"both seats ours", nil, KindSoWSigned, func(b *book) any { s := b.formed(1); s.Counterparty = b.pub; return s }, CodeSelfDealing},
		{"nobody on the other seat", nil, KindSoWSigned, func(b *book) any { s := b.formed(1); s.Counterparty = ""; return s }, CodeSoWForm},
		{"a blocked key", func(b *book) { b.add(KindSoWKeyBlocked, SoWKeyBlocked{strangeKey}) }, KindSoWSigned, func(b *book) any { return b.formed(1) }, CodeBlockedLocally},
		{"signed twice", func(b *book) { b.add(KindSoWSigned, b.formed(1)) }, KindSoWSigned, func(b *book) any { return b.formed(1) }, CodeTwiceFormed},
		{"another document of the version", func(b *book) { b.add(KindSoWSigned, b.formed(1)) }, KindSoWSigned, func(b *book) any { return b.formed(2) }, CodeVersionConflict},
		{"by another role", func(b *book) { b.add(KindSoWSigned, b.formed(1)) }, KindSoWSigned, func(b *book) any { s := b.next(2, 1); s.Role = "provider"; return s }, CodeOtherSeat},
		{"by another seat", func(b *book) { seat(b); b.add(KindSoWSigned, b.formed(1)) }, KindSoWSigned, func(b *book) any {
			s := b.next(2, 1)
			s.Seat, s.Key = 1, "U"+strings.Repeat("C", 55)
			return s
		}, CodeOtherSeat},
		{"over nothing", func(b *book) { b.add(KindSoWSigned, b.formed(1)) }, KindSoWSigned, func(b *book) any { return b.next(2, 9) }, CodeUnknownDocument},
		{"a version left out", func(b *book) { b.add(KindSoWSigned, b.formed(1)) }, KindSoWSigned, func(b *book) any { s := b.next(2, 1); s.Version = 3; return s }, CodeUnknownDocument},
		{"below what both have signed", func(b *book) {
			b.add(KindSoWSigned, b.formed(1))
			b.add(KindSoWSigned, b.next(2, 1))
		}, KindSoWSigned, func(b *book) any { s := b.next(3, 1); return s }, CodeVersionConflict},
		{"what was denied", func(b *book) {
			b.add(KindSoWSigned, b.formed(1))
			b.add(KindSoWActSigned, act(b, "denial", 2, 2))
		}, KindSoWSigned, func(b *book) any { return b.next(2, 1) }, CodeOfferClosed},
		{"what has lapsed", func(b *book) {
			b.add(KindSoWSigned, b.formed(1))
			b.add(KindSoWNoted, SoWNoted{testEngagement, 2, testHash(2), "lapsed", "", ""})
		}, KindSoWSigned, func(b *book) any { return b.next(2, 1) }, CodeOfferClosed},
		{"after its end", func(b *book) {
			b.add(KindSoWSigned, b.formed(1))
			b.add(KindSoWActSigned, act(b, "termination", 1, 1))
		}, KindSoWSigned, func(b *book) any { return b.next(2, 1) }, CodeEngagementOver},
		{"after their end of it", func(b *book) {
			b.add(KindSoWSigned, b.formed(1))
			b.add(KindSoWNoted, SoWNoted{testEngagement, 1, testHash(1), "terminated", "", ""})
		}, KindSoWSigned, func(b *book) any { return b.next(2, 1) }, CodeEngagementOver},
		{"completed under no offer", nil, KindSoWSigned, func(b *book) any { return b.asked(1, 50) }, CodeOfferClosed},
		{"completed under a withdrawn one", func(b *book) {
			b.add(KindSoWSigned, b.offered(50, false))
			w := act(b, "withdrawal", 50, 1)
			w.Engagement, w.SoW, w.Role = EngagementID("sow_o", "agent-p", ""), "sow_o", "provider"
			b.add(KindSoWActSigned, w)
		}, KindSoWSigned, func(b *book) any { return b.asked(1, 50) }, CodeOfferClosed},
		{"a directed one twice", func(b *book) {
			b.add(KindSoWSigned, b.offered(50, true))
			b.add(KindSoWSigned, b.asked(1, 50))
		}, KindSoWSigned, func(b *book) any { s := b.asked(2, 50); s.Engagement = testEngagement; return s }, CodeSpent},
		{"by offer what is countersigned", nil, KindSoWSigned, func(b *book) any { s := b.formed(1); s.By, s.Confirmation = "offer", ""; return s }, CodeSoWForm},
		{"termination of what was not signed", nil, KindSoWActSigned, func(b *book) any { return act(b, "termination", 1, 1) }, CodeUnknownDocument},
		{"termination by click", func(b *book) { b.add(KindSoWSigned, b.formed(1)) }, KindSoWActSigned, func(b *book) any {
			a := act(b, "termination", 1, 1)
			a.By = "click"
			return a
		}, CodeConfirmation},
		{"denial with a record", nil, KindSoWActSigned, func(b *book) any { a := act(b, "denial", 2, 2); a.Confirmation = testHash(1); return a }, CodeConfirmation},
		{"denial of what was signed", func(b *book) { b.add(KindSoWSigned, b.formed(1)) }, KindSoWActSigned, func(b *book) any { return act(b, "denial", 1, 1) }, CodeTwice},
		{"ended twice", func(b *book) {
			b.add(KindSoWSigned, b.formed(1))
			b.add(KindSoWNoted, SoWNoted{testEngagement, 1, testHash(1), "terminated", "", "cause"})
		}, KindSoWActSigned, func(b *book) any { return act(b, "termination", 1, 1) }, CodeTwice},
		{"notice twice", func(b *book) {
			b.add(KindSoWSigned, b.formed(1))
			b.add(KindSoWNoted, SoWNoted{testEngagement, 1, testHash(1), "terminated", "", "convenience"})
		}, KindSoWActSigned, func(b *book) any { a := act(b, "termination", 1, 1); a.Ground = Convenience; return a }, CodeTwice},
		{"a ground of what ends nothing", nil, KindSoWActSigned, func(b *book) any { a := act(b, "denial", 2, 2); a.Ground = Convenience; return a }, CodeSoWForm},
		{"noted of another engagement", func(b *book) { b.add(KindSoWSigned, b.formed(1)) }, KindSoWNoted, func(*book) any {
			return SoWNoted{"e_" + strings.Repeat("1", 32), 1, testHash(1), "withdrawn", "", ""}
		}, CodeUnknownDocument},
		{"denied in another engagement", func(b *book) { b.add(KindSoWSigned, b.formed(1)) }, KindSoWActSigned, func(b *book) any {
			a := act(b, "denial", 1, 1)
			a.Engagement = "e_" + strings.Repeat("1", 32)
			return a
		}, CodeUnknownDocument},
		{"intent twice", func(b *book) {
			b.add(KindSoWIntent, SoWIntent{testEngagement, testHash(1), "formation", b.pub, "A", testClient})
		}, KindSoWIntent, func(b *book) any {
			return SoWIntent{testEngagement, testHash(1), "formation", b.pub, "A", testClient}
		}, CodeTwice},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBook(t)
			b.pair()
			if tt.prep != nil {
				tt.prep(b)
			}
			before := b.state.SHA256()
			err := b.state.Apply(b.make(tt.kind, tt.body(b)))
			var c *Contradiction
			if !errors.As(err, &c) || c.Code != tt.code {
				t.Fatalf("%v, want %s", err, tt.code)
			}
			if b.state.SHA256() != before {
				t.Error("a refused entry changed the state")
			}
		})
	}
}

// sowBook is a log with one of everything.
func sowBook(t testing.TB) *book {
	b := newBook(t)
	b.pair()
	b.add(KindSeatOpened, SeatOpened{1, "U" + strings.Repeat("C", 55), "Studio \"x\""})
	b.add(KindSoWPinned, SoWPinned{"k_" + strings.Repeat("a", 16), "agent-p", strangeKey, "click", testHash(1), ""})
	b.add(KindSoWPreauthorised, b.allowance(3))
	b.add(KindSoWSigned, b.underAllowance(60))
	b.add(KindSoWSigned, b.offered(40, true))
	b.add(KindSoWSigned, b.asked(41, 40))
	b.add(KindSoWIntent, SoWIntent{testEngagement, testHash(1), "formation", b.pub, "AAAA", testClient})
	first := b.formed(1)
	first.Approval = testHash(77)
	b.add(KindSoWSigned, first)
	b.add(KindSoWSigned, b.next(2, 1))
	b.add(KindSoWKeyBlocked, SoWKeyBlocked{"somebody"})
	b.add(KindSoWActSigned, act(b, "termination", 2, 2))
	return b
}

// TestSoWState: what was read back is what it was, and says what the log says.
func TestSoWState(t *testing.T) {
	b := sowBook(t)
	raw := b.state.Canonical()
	s, err := ParseState(raw)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.Canonical(), raw) {
		t.Fatal("read back it is another one")
	}
	for _, st := range []*State{&b.state, s} {
		allowed, _ := st.Preauthorisation(testAllowed)
		offer, _ := st.SoWDocument(testHash(40))
		first, _ := st.SoWDocument(testHash(1))
		pin, _ := st.SoWPin("agent-p")
		if len(st.Seats()) != 2 || !st.OwnKey(b.pub) || st.OwnKey(strangeKey) || allowed.Used != 1 || offer.Formed != 1 || !offer.Directed || first.Closed != "superseded" ||
			pin.Key != strangeKey || !st.SoWApproval(testHash(77), testEngagement, "") || st.SoWApproval(testHash(77), "e_"+strings.Repeat("1", 32), "") || !st.SoWBlocked("somebody") || !st.SoWTerminated(testEngagement) || !st.SoWOver(testEngagement) || len(st.SoWEngagement(testEngagement)) != 2 {
			t.Errorf("%+v %+v %+v", allowed, offer, first)
		}
		if _, ok := st.SoWIntent(testHash(1), "formation"); !ok {
			t.Error("the intent is gone")
		}
	}
	// A log without any of it has the bytes that it had before there was any.
	plain := newBook(t)
	if bytes.Contains(plain.state.Canonical(), []byte(`"sow"`)) {
		t.Error("a state without agreements speaks of them")
	}
}

func FuzzParseSoW(f *testing.F) {
	b := sowBook(f)
	for _, raw := range b.raws {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := Parse(raw)
		if err != nil {
			return
		}
		again, hash, err := New(e.Instance, e.Seq, e.Prev, e.At, e.Kind, e.Decoded())
		if err != nil || !bytes.Equal(again, raw) || hash != e.Hash() {
			t.Fatalf("read %s, wrote %s (%v)", raw, again, err)
		}
	})
}

func FuzzParseSoWState(f *testing.F) {
	f.Add(sowBook(f).state.Canonical())
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := ParseState(raw)
		if err == nil && (!bytes.Equal(s.Canonical(), raw) || s.SHA256() != HashOf(raw)) {
			t.Fatalf("read %q, wrote %q", raw, s.Canonical())
		}
	})
}
