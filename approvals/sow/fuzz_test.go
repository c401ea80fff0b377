package sow_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"vault/approvals/sow"
	"vault/derive/jcs"
	"vault/derive/tag"
)

func seeds(f *testing.F) {
	for _, name := range samples {
		f.Add(doc(f, name))
	}
	f.Add([]byte(`{"parties":{"client":null,"offered_to":[]},"inputs":[{"via":7}],"price":{"arrangement":"time_and_materials","schedule":[1]}}`))
	f.Add([]byte(`{"signatures":[{"role":"client"}],"revisions":{"steps":[{}]},"confidentiality":{"processors":[{"processed_in":[1]}],"processed_in":["a"]}}`))
	f.Add([]byte(`[]`))
}

// FuzzDocument: whatever is read has one canonical form, is judged without a
// panic by every reader, and does not differ from itself.
func FuzzDocument(f *testing.F) {
	seeds(f)
	now := int64(1790000000000)
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, found := sow.Read(raw, sow.Options{Authoring: len(raw)%2 == 0, Manifest: &sow.Manifest{}})
		if d == nil {
			if found.OK() {
				t.Fatal("refused without a finding")
			}
			return
		}
		again, err := sow.Parse(d.Value().Canonical())
		if err != nil || !bytes.Equal(again.Canonical(), d.Canonical()) || again.Digest() != d.Digest() || !bytes.Equal(again.Hashed(), d.Hashed()) {
			t.Fatalf("read again it is another document: %v", err)
		}
		if !bytes.Equal(d.Signed(), tag.SoW.Message(d.Canonical())) || !bytes.Equal(d.Raw(), raw) {
			t.Fatal("bytes are not those received")
		}
		if c := sow.Compare(d, again); len(c) != 0 {
			t.Fatalf("it differs from itself: %v", c)
		}
		for _, x := range found {
			if x.Message == "" || x.Section == "" {
				t.Fatalf("an empty finding: %+v", x)
			}
		}
		seats := d.VerifySignatures(sow.Pins{})
		d.State(sow.Situation{Seats: seats, Now: now})
		d.Grades(sow.Deployment{})
		d.Interim(now)
		d.Grants()
		d.Approvals()
		d.Misses([]sow.Task{{End: 1}}, now)
		d.CheckForm(nil)
		d.CheckRequirement(sow.Requirement{Reporting: "check_ins", Data: sow.DataRequirement{Promises: []string{"no_training"}, ProcessedIn: []string{"eu"}}, Prime: d.Value()})
		sow.Needed(d, d, sow.ByPerson)
		if o := d.Offer(now, sow.OfferStatus{}, sow.Deployment{}); o.Exclusive || o.Open && !d.BlankSeat() {
			t.Fatalf("an offer nobody checks is %+v", o)
		}
		d.OpenGrants(sow.Lapsed)
		d.CheckAgent(sow.Client, "U")
		if j := d.Judge(sow.Brought{}, sow.Pins{}); j.Review != sow.NotReported || j.Probe != sow.NotReported || j.Form != sow.NotReported {
			t.Fatalf("nothing was brought, and it is %+v", j)
		}
		if l, ok := d.Language(); ok && sow.Languages.Check(nil, l) == nil {
			t.Fatal("a language of which there is no text is known")
		}
		sow.CheckAmendment(d, d, false)
		sow.CheckInstance(d, d)
		sow.DirectedRefusal(d.Get("parties"), "U", now, sow.OfferStatus{})
		sow.QualificationRefusal(d.Get("qualifications"), "U", nil, nil)
		sow.Book{}.CheckCounterparties(d)
		if i, err := sow.Instance(d, sow.Fill{Client: sow.Seat{Agent: "U", Owner: "o"}, StartsAt: now, EndsAt: now + 1000}); err == nil {
			if i.ID() != i.Mint() || i.BlankSeat() {
				t.Fatalf("completed wrongly: %s", i.Canonical())
			}
		}
		if p, bad := sow.PriceOf(d.Get("price")); bad.OK() {
			p.Committed()
		}
	})
}

// FuzzDifference: two documents with other signed bytes have a change.
func FuzzDifference(f *testing.F) {
	f.Add([]byte(`{"a":[1,2]}`), []byte(`{"a":[2,1]}`))
	f.Add([]byte(`{"a":[{"name":"x"},{"name":"y"}]}`), []byte(`{"a":[{"name":"y"},{"name":"x"}]}`))
	f.Add([]byte(`{"a":{}}`), []byte(`{"a":[]}`))
	f.Add([]byte(`{"":{"":1}}`), []byte(`{"":{}}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, err := sow.Parse(a)
		if err != nil {
			return
		}
		y, err := sow.Parse(b)
		if err != nil {
			return
		}
		if same := x.Digest() == y.Digest(); same != (len(sow.Compare(x, y)) == 0) {
			t.Fatalf("%s and %s: same %v, changes %v", a, b, same, sow.Compare(x, y))
		}
	})
}

// FuzzAct: what is read as an act is read again from its own bytes.
func FuzzAct(f *testing.F) {
	for _, kind := range kinds {
		a, err := sow.NewAct(act(f, kind))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Bytes())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := sow.ParseAct(raw)
		if err != nil {
			return
		}
		again, err := sow.ParseAct(a.Bytes())
		if err != nil || !bytes.Equal(again.Signed(), a.Signed()) {
			t.Fatalf("read again: %v", err)
		}
		made, err := sow.NewAct(a.Fields())
		if err != nil || !bytes.Equal(made.Canonical(), a.Canonical()) {
			t.Fatalf("made again: %v\n%s\n%s", err, made.Canonical(), a.Canonical())
		}
		a.Verify()
	})
}

// FuzzRecords: other parts that arrive are judged without a panic.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(verdictOK))
	f.Add([]byte(`{"total":110,` + feeLine + recordEnd))
	f.Add([]byte(`{"format":"job-manifest-v1","pieces":[{"name":"a"}],"reused":{}}`))
	f.Add([]byte(`{"agent":"U","offerings":[{"id":"a","meters":["b"]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := jcs.Parse(raw, jcs.SoW)
		if err != nil {
			return
		}
		if sow.CheckVerdict(v, nil).OK() && v.Get("by").Text() == "" {
			t.Fatal("a verdict by nobody is good")
		}
		sow.VerifyVerdict(v)
		if f := sow.VerifyJobManifest(v, ""); f == nil && v.Get("agent").Text() == "" {
			t.Fatal("a manifest of nobody verifies")
		}
		sow.Reuse(v, v)
		sow.ReuseHolds(v, v)
		if r, bad := sow.RecordOf(v); bad.OK() && r.Total < 0 {
			t.Fatalf("a record of %d", r.Total)
		}
		sow.QuoteOf(v)
		sow.CheckProbe(v)
		if n := len(sow.Problems(v)); v.Kind() == jcs.Array && n != v.Len() || v.Kind() != jcs.Array && n != 1 {
			t.Fatalf("%d problem reports of %d", n, v.Len())
		}
		if m, err := sow.ParseManifest(raw); (m == nil) == (err == nil) {
			t.Fatal("neither manifest nor error")
		}
		for _, part := range []string{"party", "offered_to", "qualification", "approval", "settlement_line", "operator_fee", "problem", "price"} {
			if _, ok := sow.CheckPart(part, v); !ok {
				t.Fatalf("no part %s", part)
			}
		}
	})
}

// FuzzSignatureText: what is read as a signature is written back as it was, in
// the one alphabet or the other.
func FuzzSignatureText(f *testing.F) {
	f.Add("UeH6KF7o9-9lcx0K_Ig9s5O6U8YVkD6yKloYjCgSp6uabFZE0zm2ntC77ocqOQPKGBe_XPr9eBH63LmUwE23Dw")
	f.Add("UeH6KF7o9+9lcx0K/Ig9s5O6U8YVkD6yKloYjCgSp6uabFZE0zm2ntC77ocqOQPKGBe/XPr9eBH63LmUwE23Dw==")
	f.Fuzz(func(t *testing.T, s string) {
		b, err := sow.ParseSignature(s)
		if err != nil {
			return
		}
		if again, err := sow.ParseSignature(sow.SignatureText(b)); err != nil || !bytes.Equal(again, b) || len(b) != 64 {
			t.Fatalf("%q: %v", s, err)
		}
	})
}

// big is a valid document of exactly so many bytes, or the smallest there is,
// signed by both seats.
func big(t testing.TB, size int) []byte {
	base := free
	if size > 8<<10 {
		base = fixedFee
	}
	raw := edit(t, doc(t, base), "signatures", json.RawMessage("[]"))
	const records = 460 // bytes that two signatures take
	if n := (size - len(raw) - records) / 110; n > 0 {
		inputs := times(n, `{"name":"input-#","media_type":"text/csv","when":"per_task","grade":"enforced","note":"as agreed upon"}`)
		raw = edit(t, raw, "inputs", json.RawMessage(inputs))
	}
	raw = sign(t, sign(t, document(t, raw), sow.Client, "owner/saltmarsh"), sow.Provider, "owner/copperline").Raw()
	return append(raw, strings.Repeat(" ", max(size-len(raw), 0))...)
}

// TestBig: documents of the largest sizes are read and judged.
func TestBig(t *testing.T) {
	raw := big(t, sow.MaxDocument)
	d, f := sow.Read(raw, sow.Options{})
	if d == nil || !f.OK() || len(raw) != 1<<20 {
		t.Fatalf("%d bytes: %v", len(raw), f.Errors())
	}
	if d, f := sow.Read(append(raw, ' '), sow.Options{}); d != nil || len(f) != 1 || f[0].Code != "document_too_large" {
		t.Errorf("one byte more: %v", f)
	}
	other := document(t, edit(t, raw, "inputs[9000].media_type", "text/plain"))
	if c := sow.Compare(d, other); len(c) != 1 || c[0].Path != `inputs["input-9000"].media_type` {
		t.Errorf("changes are %v", c)
	}
	many := document(t, edit(t, doc(t, fixedFee), "price.rates", json.RawMessage(times(10000, `{"offering":"o#","per_task":#}`))))
	if f := many.Validate(sow.Options{}); len(f) < 10000 {
		t.Errorf("%d findings", len(f))
	}
}

// BenchmarkDocument: documents of 4 and 50 KB, beside canonicalising them alone,
// which is the least that has to be done for a digest.
func BenchmarkDocument(b *testing.B) {
	for _, size := range []int{4 << 10, 50 << 10} {
		raw := big(b, size)
		name := fmt.Sprintf("%dKB/", len(raw)>>10)
		run := func(what string, do func() bool) {
			b.Run(name+what, func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					if !do() {
						b.Fatal("it does not hold")
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "documents/s")
			})
		}
		d := document(b, raw)
		run("canonicalise", func() bool { c, err := jcs.Canonical(raw, jcs.SoW); return err == nil && len(c) > 0 })
		run("parse", func() bool { _, err := sow.Parse(raw); return err == nil })
		run("validate", func() bool { return d.Validate(sow.Options{}).OK() })
		run("digest", func() bool { return d.Digest() != "" })
		run("parse+validate+digest", func() bool {
			d, f := sow.Read(raw, sow.Options{})
			return f.OK() && d.Digest() != ""
		})
		run("verify", func() bool { return d.VerifySignatures(sow.Pins{}).Agreed() })
	}
}
