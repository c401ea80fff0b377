package sow_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"

	"vault/approvals/sow"
	"vault/approvals/sow/money"
	"vault/approvals/sow/span"
	"vault/derive/jcs"
	"vault/derive/tag"
)

// fixtureShapes tells the files of conformance data apart by two sections that
// only the file of that name has: a further set may name its files otherwise.
var fixtureShapes = map[string][]string{
	"sow-pricing.json":        {"price", "rating"},
	"sow-terms.json":          {"liability", "service_floors"},
	"sow-disputes.json":       {"clause", "verdict"},
	"sow-reporting.json":      {"every", "levels"},
	"sow-data-use.json":       {"promises", "shortfall"},
	"sow-subcontracting.json": {"clause", "conformance"},
	"job-manifest.json":       {"job_manifest", "reuse"},
}

// sharedFixtures is the folder shared with other programs.
var sharedFixtures = filepath.Join("..", "..", "..", "shared", "vectors", "sow", "fixtures")

// furtherFixtures are the files of the further set under $VAULT_VECTORS. A
// folder that is named and not there is a mistake, and so is a file that no test
// would run.
func furtherFixtures(t *testing.T) map[string]jcs.Value {
	t.Helper()
	dir := os.Getenv("VAULT_VECTORS")
	if dir == "" {
		return nil
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("VAULT_VECTORS: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "sow", "fixtures", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]jcs.Value{}
	for _, f := range files {
		out[f] = parseFile(t, f)
	}
	return out
}

func parseFile(t *testing.T, file string) jcs.Value {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jcs.Parse(raw, jcs.SoW)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

// shaped reports a file of conformance data of the kind that has this name.
func shaped(v jcs.Value, name string) bool {
	return !slices.ContainsFunc(fixtureShapes[name], func(section string) bool { return !v.Get(section).Exists() })
}

// fixture runs a test over one file of the shared set, and over each file of the
// further set that has its shape.
func fixture(t *testing.T, name string, test func(t *testing.T, v jcs.Value)) {
	ran := 0
	if _, err := os.Stat(sharedFixtures); err == nil {
		v := parseFile(t, filepath.Join(sharedFixtures, name))
		if !shaped(v, name) {
			t.Errorf("%s has another shape", name)
		}
		ran++
		t.Run("shared", func(t *testing.T) { test(t, v) })
	}
	for file, v := range furtherFixtures(t) {
		if shaped(v, name) {
			ran++
			t.Run("further "+filepath.Base(file), func(t *testing.T) { test(t, v) })
		}
	}
	if ran == 0 {
		t.Skip("the conformance data is not here: ../shared/vectors/sow/fixtures, VAULT_VECTORS/sow/fixtures")
	}
}

// TestFurtherFixtures: each file of a further set is of one kind, and so is run.
func TestFurtherFixtures(t *testing.T) {
	for file, v := range furtherFixtures(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			kinds := 0
			for name := range fixtureShapes {
				if shaped(v, name) {
					kinds++
				}
			}
			if kinds != 1 {
				t.Errorf("it has the shape of %d kinds of conformance data", kinds)
			}
		})
	}
}

// at walks to a member; a section that is not there fails.
func at(t *testing.T, v jcs.Value, path string) jcs.Value {
	t.Helper()
	for _, name := range strings.Split(path, ".") {
		v = v.Get(name)
	}
	if !v.Exists() {
		t.Fatalf("the set has no %s", path)
	}
	return v
}

// rows runs a subtest for each row of a list that must not be empty.
func rows(t *testing.T, v jcs.Value, path string, test func(t *testing.T, row jcs.Value)) {
	t.Helper()
	list := at(t, v, path)
	if list.Len() == 0 {
		t.Fatalf("the set has no rows at %s", path)
	}
	for i, row := range list.Items() {
		name := row.Get("case").Text() + row.Get("name").Text()
		if name == "" {
			name = fmt.Sprint(i)
		}
		t.Run(path+"/"+name, func(t *testing.T) { test(t, row) })
	}
}

func num(v jcs.Value) int64 { n, _ := v.Int(); return n }

func opt(v jcs.Value) money.Opt {
	n, ok := v.Int()
	return money.Opt{N: n, Set: ok}
}

// floored reads an amount as the published comparisons do: floored on the way
// in. What is no number is not set.
func floored(v jcs.Value) money.Opt {
	x, err := strconv.ParseFloat(v.Literal(), 64)
	if err != nil {
		return money.Opt{}
	}
	return money.Some(int64(math.Floor(x)))
}

func list(v jcs.Value) (out []string) {
	for _, x := range v.Items() {
		out = append(out, x.Text())
	}
	return out
}

// accepts and refuses judge one part with the clause's own check.
func accepts(part string, row func(jcs.Value) jcs.Value) func(*testing.T, jcs.Value) {
	return func(t *testing.T, r jcs.Value) {
		f, ok := sow.CheckPart(part, row(r))
		if !ok {
			t.Fatalf("no part %s", part)
		}
		if !f.OK() {
			t.Errorf("refused: %v", f.Errors())
		}
	}
}

func refuses(part string, row func(jcs.Value) jcs.Value) func(*testing.T, jcs.Value) {
	return func(t *testing.T, r jcs.Value) {
		if !row(r).Exists() {
			t.Fatal("the row has no value")
		}
		f, ok := sow.CheckPart(part, row(r))
		if !ok {
			t.Fatalf("no part %s", part)
		}
		if f.OK() {
			t.Error("accepted")
		}
		for _, x := range f.Errors() {
			if x.Section == "" || x.Message == "" || x.Remedy == "" {
				t.Errorf("the finding says too little: %+v", x)
			}
		}
	}
}

func itself(v jcs.Value) jcs.Value { return v }
func member(n string) func(jcs.Value) jcs.Value {
	return func(v jcs.Value) jcs.Value { return v.Get(n) }
}

// orItself takes a row's member, or the row where it has none of that name.
func orItself(n string) func(jcs.Value) jcs.Value {
	return func(v jcs.Value) jcs.Value {
		if w := v.Get(n); w.Exists() {
			return w
		}
		return v
	}
}

func price(t *testing.T, v jcs.Value) money.Price {
	t.Helper()
	p, f := sow.PriceOf(v)
	if !f.OK() {
		t.Fatalf("price: %v", f.Errors())
	}
	return p
}

func basis(v jcs.Value) *money.Basis {
	if v.Kind() != jcs.Object {
		return nil
	}
	b := &money.Basis{Kind: money.BasisKind(v.Get("kind").Text())}
	b.N = num(v.Get(string(b.Kind)))
	return b
}

func document(t testing.TB, raw []byte) *sow.Document {
	t.Helper()
	d, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// signer is a key of a published seed.
func signer(t *testing.T, v jcs.Value) (func(msg []byte) []byte, string) {
	t.Helper()
	kp, err := nkeys.FromSeed([]byte(at(t, v, "identities.sender_seed").Text()))
	if err != nil {
		t.Fatal(err)
	}
	pub, err := kp.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	if pub != at(t, v, "identities.sender").Text() {
		t.Fatalf("the seed gives %s", pub)
	}
	return func(msg []byte) []byte {
		sig, err := kp.Sign(msg)
		if err != nil {
			t.Fatal(err)
		}
		return sig
	}, pub
}

func TestPricing(t *testing.T) {
	fixture(t, "sow-pricing.json", func(t *testing.T, v jcs.Value) {
		t.Run("identities", func(t *testing.T) { signer(t, v) })
		t.Run("arrangement", func(t *testing.T) {
			got := list(at(t, v, "arrangement.values"))
			want := []string{string(money.FixedFee), string(money.NoCharge), string(money.TimeAndMaterials)}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("got %v", got)
			}
		})
		rows(t, v, "price.valid", func(t *testing.T, r jcs.Value) {
			r = orItself("price")(r)
			p := price(t, r)
			want := money.Some(0)
			switch p.Arrangement {
			case money.TimeAndMaterials:
				want = money.Some(num(r.Get("cap").Get("amount")))
			case money.FixedFee:
				want = opt(r.Get("ceiling").Get("amount"))
			}
			if p.Committed() != want {
				t.Errorf("committed %v, want %v", p.Committed(), want)
			}
		})
		rows(t, v, "price.invalid", refuses("price", member("price")))
		rows(t, v, "rating.cases", rating)
		rows(t, v, "rating.refuses", func(t *testing.T, r jcs.Value) {
			if _, err := money.RateUsage(price(t, r.Get("price")), usage(r), money.Terms{}); err == nil {
				t.Error("rated")
			}
		})
		rows(t, v, "settlement_line.valid", accepts("settlement_line", orItself("line")))
		rows(t, v, "settlement_line.invalid", refuses("settlement_line", member("line")))
		t.Run("no charge", func(t *testing.T) { noCharge(t, v, at(t, v, "no_charge")) })
		rows(t, v, "reservation.cases", func(t *testing.T, r jcs.Value) {
			start, err1 := span.Instant(r.Get("starts_at").Text())
			end, err2 := span.Instant(r.Get("ends_at").Text())
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			days := num(r.Get("window_days"))
			if got := span.UTC(span.ReleaseAt(start, days)); got != r.Get("release_at").Text() {
				t.Errorf("released at %s", got)
			}
			if got := span.Within(start, days, end); got != r.Get("within_term").Bool() {
				t.Errorf("within %v", got)
			}
		})
		t.Run("document states", func(t *testing.T) { states(t, at(t, v, "document_states")) })
		t.Run("task state", func(t *testing.T) {
			s := at(t, v, "task_state")
			name := s.Get("state").Text()
			if sow.TaskFinal(name) != s.Get("terminal").Bool() || sow.TaskFailed(name) != s.Get("is_failure").Bool() {
				t.Errorf("%s: final %v, failed %v", name, sow.TaskFinal(name), sow.TaskFailed(name))
			}
			for _, from := range list(s.Get("reachable_from")) {
				if sow.TaskFinal(from) {
					t.Errorf("%s cannot be left", from)
				}
			}
		})
		rows(t, v, "party.valid", accepts("party", orItself("party")))
		rows(t, v, "party.invalid", refuses("party", member("party")))
		offers(t, v)
		qualifications(t, v)
		t.Run("approval", func(t *testing.T) { approvals(t, at(t, v, "approval")) })
		signing(t, v)
		fees(t, at(t, v, "operator_fee"))
	})
}

func usage(r jcs.Value) (out []money.Count) {
	for _, u := range r.Get("usage").Items() {
		out = append(out, money.Count{Meter: u.Get("meter").Text(), Count: num(u.Get("count"))})
	}
	return out
}

func rating(t *testing.T, r jcs.Value) {
	p := price(t, r.Get("price"))
	terms := money.Terms{AlreadyBilled: num(r.Get("already_billed")), Receipts: map[string]string{},
		Basis: basis(r.Get("operator_fee_basis")), Operator: r.Get("operator").Text()}
	for m := range r.Get("receipts").Members() {
		terms.Receipts[m.Name] = m.Value.Text()
	}
	got, err := money.RateUsage(p, usage(r), terms)
	if err != nil {
		t.Fatal(err)
	}
	want := r.Get("expect")
	for name, n := range map[string]int64{"total": got.Total, "client_total": got.ClientTotal, "cap_remaining": got.CapRemaining, "unbilled": got.Unbilled} {
		if w, ok := want.Get(name).Int(); !ok || n != w {
			t.Errorf("%s is %d, want %d", name, n, w)
		}
	}
	if got.Exhausted != want.Get("exhausted").Bool() {
		t.Errorf("exhausted is %v", got.Exhausted)
	}
	if f := want.Get("operator_fee"); f.Exists() != (got.Fee != nil) {
		t.Errorf("fee is %v", got.Fee)
	} else if got.Fee != nil && (got.Fee.Amount != num(f.Get("amount")) || got.Fee.Base != num(f.Get("base")) || got.Fee.Basis != *basis(f.Get("basis")) || got.Fee.Operator != f.Get("operator").Text()) {
		t.Errorf("fee is %+v", got.Fee)
	}
	if l := want.Get("lines"); l.Len() != len(got.Lines) {
		t.Errorf("%d lines", len(got.Lines))
	} else {
		for i, w := range l.Items() {
			s := got.Lines[i]
			if s.Meter != w.Get("meter").Text() || s.Unit != w.Get("unit").Text() || s.Count != num(w.Get("count")) || s.Per != num(w.Get("per")) ||
				s.PerUnit != num(w.Get("per_unit")) || s.Amount != num(w.Get("amount")) || s.PassThrough != w.Get("pass_through").Bool() ||
				s.UpstreamReceipt != w.Get("upstream_receipt").Text() {
				t.Errorf("line %d is %+v", i, s)
			}
		}
	}
	if terms.AlreadyBilled+got.ClientTotal > max(p.Cap, terms.AlreadyBilled) {
		t.Error("billed past the cap")
	}
}

func noCharge(t *testing.T, v, n jcs.Value) {
	p := price(t, n.Get("clause"))
	if p.Settles() != n.Get("settles").Bool() || p.Committed() != money.Some(num(n.Get("committed_price"))) {
		t.Errorf("settles %v, commits %v", p.Settles(), p.Committed())
	}
	if _, err := money.RateUsage(p, usage(n.Get("refuses_rating")), money.Terms{}); err == nil {
		t.Error("rated")
	}
	record := n.Get("refuses_settlement_record").Get("record")
	r, f := sow.RecordOf(record)
	if !f.OK() {
		t.Errorf("the record itself is well formed: %v", f)
	}
	if money.Admit(p, r, 0) == nil {
		t.Error("admitted")
	}
	if f := sow.CheckSettlement(p, value(t, `{"total":0}`), record); !f.Refused("no_charge_settlement") {
		t.Errorf("got %v", f)
	}
	canonical(t, n.Get("document").Raw(), n.Get("canonical").Text())
	resigns(t, v, n.Get("signed"), sow.Client)
}

// canonical pins the canonical form of a document.
func canonical(t *testing.T, raw []byte, want string) {
	t.Helper()
	if got := string(document(t, raw).Canonical()); got != want || want == "" {
		t.Errorf("canonical form is\n%s\nwant\n%s", got, want)
	}
}

// resigns verifies the one signature of a document, and makes it again.
func resigns(t *testing.T, v, signed jcs.Value, role string) {
	t.Helper()
	sign, key := signer(t, v)
	d := document(t, signed.Raw())
	records := d.Signatures()
	if len(records) != 1 || records[0].Fault != "" || records[0].Role != role || records[0].Key != key {
		t.Fatalf("records are %+v", records)
	}
	if got := sow.SignatureText(sign(d.Signed())); got != sigOf(signed) {
		t.Errorf("signed again: %s", got)
	}
	if again, err := d.WithSignature(role, key, records[0].SignedAt, sign(d.Signed())); err != nil || !bytes.Equal(again.Value().Canonical(), d.Value().Canonical()) {
		t.Errorf("the document signed again differs: %v", err)
	}
}

func sigOf(v jcs.Value) string {
	for _, s := range v.Get("signatures").Items() {
		return s.Get("sig").Text()
	}
	return ""
}

func states(t *testing.T, v jcs.Value) {
	has := func(name string, s sow.State) bool { return slices.Contains(list(v.Get(name)), string(s)) }
	all := []sow.State{sow.Template, sow.StandingProposal, sow.Agreed, sow.Active, sow.AmendmentProposed, sow.Amended, sow.Exhausted, sow.Lapsed, sow.Terminated}
	if v.Get("all").Len() != len(all) {
		t.Errorf("%d states", v.Get("all").Len())
	}
	for _, s := range all {
		if !has("all", s) || s.Ended() != has("end_states", s) || s.Unscored() != has("unscored", s) {
			t.Errorf("%s is out of place", s)
		}
		admits := v.Get("admits_work").Text() == string(s) || has("admits_work", s)
		if s.AdmitsWork() != admits || (sow.Gate(s) == nil) != admits {
			t.Errorf("%s admits %v", s, s.AdmitsWork())
		}
	}
}

func offers(t *testing.T, v jcs.Value) {
	rows(t, v, "directed.clause.valid", accepts("offered_to", orItself("offered_to")))
	rows(t, v, "directed.clause.invalid", refuses("offered_to", member("offered_to")))
	rows(t, v, "directed.listing.cases", func(t *testing.T, r jcs.Value) {
		d := document(t, []byte(`{"parties":`+string(r.Get("parties").Raw())+`}`))
		if d.Directed() != r.Get("directed").Bool() || sow.PublicListing(r.Get("parties")) != r.Get("public_listing").Bool() || (sow.CheckListing(d) == nil) != r.Get("public_listing").Bool() {
			t.Errorf("directed %v, listing %v", d.Directed(), sow.PublicListing(r.Get("parties")))
		}
	})
	rows(t, v, "directed.formation.cases", func(t *testing.T, r jcs.Value) {
		now, err := span.Instant(r.Get("now").Text())
		if err != nil {
			t.Fatal(err)
		}
		parties := value(t, `{"offered_to":`+string(r.Get("offered_to").Raw())+`}`)
		f := sow.DirectedRefusal(parties, r.Get("client_agent").Text(), now, sow.OfferStatus{})
		if (f == nil) != r.Get("forms").Bool() {
			t.Errorf("got %v", f)
		}
		if f != nil && f.Section != "12.1.1" {
			t.Errorf("section %s", f.Section)
		}
	})
	t.Run("directed.signing", func(t *testing.T) {
		s := at(t, v, "directed.signing")
		canonical(t, s.Get("document").Raw(), s.Get("canonical").Text())
	})
}

func qualifications(t *testing.T, v jcs.Value) {
	t.Run("qualifications.kinds", func(t *testing.T) {
		kinds := at(t, v, "qualifications.kinds")
		for _, k := range list(kinds.Get("all")) {
			if got := sow.GradeCeiling(k); got == "" || got != kinds.Get("grade_ceiling").Get(k).Text() {
				t.Errorf("%s may be graded %q", k, got)
			}
			if slices.Contains(list(kinds.Get("checkable")), k) == (k == sow.KindAsserted) {
				t.Errorf("%s is out of place", k)
			}
		}
		if kinds.Get("all").Len() != 4 || sow.GradeCeiling("holds_licence") != "" {
			t.Error("the kinds are not closed")
		}
	})
	rows(t, v, "qualifications.clause.valid", accepts("qualification", orItself("qualification")))
	rows(t, v, "qualifications.clause.invalid", refuses("qualification", member("qualification")))
	rows(t, v, "qualifications.list.valid", accepts("qualifications", orItself("qualifications")))
	rows(t, v, "qualifications.list.invalid", refuses("qualifications", member("qualifications")))
	rows(t, v, "qualifications.formation.cases", func(t *testing.T, r jcs.Value) {
		var facts *sow.Counterparty
		if f := r.Get("facts"); f.Kind() == jcs.Object {
			facts = &sow.Counterparty{Subject: f.Get("subject").Text()}
			flag := func(w jcs.Value) *bool {
				if !w.Exists() {
					return nil
				}
				b := w.Bool()
				return &b
			}
			facts.Registered, facts.Account = flag(f.Get("registered")), flag(f.Get("account"))
			if w := f.Get("offerings"); w.Exists() {
				l := list(w)
				facts.Offerings = &l
			}
		}
		f := sow.QualificationRefusal(r.Get("qualifications"), r.Get("client_agent").Text(), list(r.Get("asserted")), facts)
		if (f == nil) != r.Get("forms").Bool() {
			t.Errorf("got %v", f)
		}
		if f != nil && f.Section != "12.1" {
			t.Errorf("section %s", f.Section)
		}
	})
	t.Run("qualifications.signing", func(t *testing.T) {
		s := at(t, v, "qualifications.signing")
		canonical(t, s.Get("document").Raw(), s.Get("canonical").Text())
	})
}

func approvals(t *testing.T, v jcs.Value) {
	bare := document(t, []byte(`{"version":1,"change_control":{}}`))
	if string(bare.FormationAuthority()) != at(t, v, "defaults.formation").Text() || string(bare.AmendmentAuthority()) != at(t, v, "defaults.amendment").Text() {
		t.Errorf("defaults are %s, %s", bare.FormationAuthority(), bare.AmendmentAuthority())
	}
	for _, a := range list(at(t, v, "authorities")) {
		if sow.Stricter(sow.Authority(a), sow.ByAgent) != sow.Authority(a) {
			t.Errorf("%s is not known", a)
		}
	}
	rows(t, v, "valid", accepts("approval", orItself("approval")))
	rows(t, v, "invalid", refuses("approval", member("approval")))
	rows(t, v, "mandate_verified.cases", func(t *testing.T, r jcs.Value) {
		a := sow.Approval{Mandate: r.Get("mandate").Text()}
		if a.MandateVerified(r.Get("checks_performed").Bool()) != r.Get("expect").Bool() {
			t.Error("shown otherwise")
		}
	})
}

func signing(t *testing.T, v jcs.Value) {
	s := at(t, v, "signing")
	t.Run("signing", func(t *testing.T) {
		if p := s.Get("signed_bytes_prefix"); p.Exists() && p.Text() != string(tag.SoW) {
			t.Errorf("prefix %q", p.Text())
		}
		canonical(t, s.Get("document").Raw(), s.Get("canonical").Text())
		resigns(t, v, s.Get("signed"), sow.Provider)
		sign, key := signer(t, v)
		d := document(t, s.Get("signed").Raw())
		untagged, err := d.WithSignature(sow.Provider, key, "2026-08-04T14:02:11Z", sign(d.Canonical()))
		if err != nil || untagged.Signatures()[0].Fault != "signature_invalid" {
			t.Error("a signature without the prefix verifies")
		}
	})
	for _, path := range list(at(t, s, "tamper.fields")) {
		t.Run("tamper "+path, func(t *testing.T) {
			d := document(t, edit(t, s.Get("signed").Raw(), path, bump{}))
			if r := d.Signatures(); len(r) != 1 || r[0].Fault != "signature_invalid" {
				t.Errorf("records are %+v", r)
			}
		})
	}
}

func fees(t *testing.T, v jcs.Value) {
	fee := func(r jcs.Value) money.Fee {
		f := r.Get("fee")
		return money.Fee{Operator: f.Get("operator").Text(), Basis: *basis(f.Get("basis")), Base: num(f.Get("base")), Amount: num(f.Get("amount"))}
	}
	rows(t, v, "valid", func(t *testing.T, r jcs.Value) {
		accepts("operator_fee", member("fee"))(t, r)
		if !fee(r).Closes() {
			t.Error("does not close")
		}
	})
	rows(t, v, "invalid", refuses("operator_fee", member("fee")))
	rows(t, v, "arithmetic.cases", func(t *testing.T, r jcs.Value) {
		if fee(r).Closes() != r.Get("closes").Bool() {
			t.Error("judged otherwise")
		}
	})
	rows(t, v, "computed.cases", func(t *testing.T, r jcs.Value) {
		if n, err := basis(r.Get("basis")).Amount(num(r.Get("base"))); err != nil || n != num(r.Get("amount")) {
			t.Errorf("got %d, %v", n, err)
		}
	})
	rows(t, v, "cap.cases", func(t *testing.T, r jcs.Value) {
		b := basis(r.Get("basis"))
		left := num(r.Get("cap_remaining"))
		fit := money.Fit(left, b)
		amount := func(n int64) int64 {
			if b == nil || n == 0 {
				return 0
			}
			a, err := b.Amount(n)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		if fit != num(r.Get("max_rated_total")) || amount(fit) != num(r.Get("fee")) || fit+amount(fit) != num(r.Get("client_total")) {
			t.Errorf("fits %d with %d", fit, amount(fit))
		}
		if b != nil && fit+1+amount(fit+1) <= left {
			t.Error("one more fits")
		}
	})
	rows(t, v, "grade.cases", func(t *testing.T, r jcs.Value) {
		if got := money.FeeGrade(r.Get("operator_built_quote").Bool(), r.Get("operator_settled").Bool()); got != r.Get("grade").Text() {
			t.Errorf("got %s", got)
		}
	})
	if at(t, v, "grade.basis").Text() != money.BasisGrade {
		t.Error("the basis is graded otherwise")
	}
	rows(t, v, "settlement.cases", func(t *testing.T, r jcs.Value) {
		p := money.Price{Arrangement: money.FixedFee}
		f := sow.CheckSettlement(p, r.Get("quote"), r.Get("record"))
		record, _ := sow.RecordOf(r.Get("record"))
		if r.Get("settled").Bool() {
			if !f.OK() || record.Net() != num(r.Get("provider_net")) {
				t.Errorf("net %d, %v", record.Net(), f)
			}
			return
		}
		if len(f) != 1 || string(f[0].Code) != r.Get("reason").Text() {
			t.Errorf("got %v, want %s", f, r.Get("reason").Text())
		}
	})
	n := int(num(at(t, v, "settlement.refuse_further_work_after")))
	if !money.StopOperator(n) || money.StopOperator(n-1) {
		t.Errorf("work does not stop after %d", n)
	}
}

func TestTerms(t *testing.T) {
	fixture(t, "sow-terms.json", func(t *testing.T, v jcs.Value) {
		for _, part := range []string{"liability", "service_floors"} {
			rows(t, v, part+".valid", accepts(part, orItself(part)))
			rows(t, v, part+".invalid", refuses(part, member(part)))
		}
		if got := list(at(t, v, "service_floors.remedies")); !slices.Equal(got, []string{"terminate_for_cause"}) {
			t.Errorf("remedies are %v", got)
		}
		canonical(t, at(t, v, "signing.document").Raw(), at(t, v, "signing.canonical").Text())
	})
}

func TestDisputes(t *testing.T) {
	fixture(t, "sow-disputes.json", func(t *testing.T, v jcs.Value) {
		arbiter := `{"role":"r","independence_days":1,"deadline_days":1,"fee":%q,"fallback":"none"}`
		for _, p := range list(at(t, v, "postures.all")) {
			raw := fmt.Sprintf(`{"posture":%q,"grade":%q}`, p, at(t, v, "postures.grade").Text())
			if p == "arbiter" {
				raw = fmt.Sprintf(`{"posture":%q,"grade":"evidence","arbiter":%s}`, p, fmt.Sprintf(arbiter, "split"))
			}
			accepts("disputes", itself)(t, value(t, raw))
		}
		for _, fee := range list(at(t, v, "postures.fees")) {
			accepts("disputes", itself)(t, value(t, fmt.Sprintf(`{"posture":"arbiter","grade":"evidence","arbiter":%s}`, fmt.Sprintf(arbiter, fee))))
		}
		rows(t, v, "clause.valid", accepts("disputes", orItself("disputes")))
		rows(t, v, "clause.invalid", refuses("disputes", member("disputes")))
		check := func(r jcs.Value) sow.Findings {
			var opened *sow.Disputed
			if e := r.Get("expected"); e.Exists() {
				opened = &sow.Disputed{Amount: num(e.Get("disputed_amount")), Currency: e.Get("currency").Text()}
			}
			return sow.CheckVerdict(r.Get("verdict"), opened)
		}
		rows(t, v, "verdict.valid", func(t *testing.T, r jcs.Value) {
			if f := check(r); !f.OK() {
				t.Errorf("refused: %v", f)
			}
		})
		rows(t, v, "verdict.invalid", func(t *testing.T, r jcs.Value) {
			if check(r).OK() {
				t.Error("accepted")
			}
		})
		t.Run("signing", func(t *testing.T) {
			s := at(t, v, "signing")
			if s.Get("signed_bytes_prefix").Text() != string(tag.SoW) || s.Get("verdict_signed_bytes_prefix").Text() != string(tag.ArbiterVerdict) {
				t.Error("the prefixes differ")
			}
			canonical(t, s.Get("document").Raw(), s.Get("canonical").Text())
			signed := s.Get("verdict")
			if got := string(sow.VerdictCanonical(signed)); got != s.Get("verdict_canonical").Text() {
				t.Errorf("canonical form is %s", got)
			}
			if got := sow.BasisDigest(list(s.Get("basis_record_ids"))); got != signed.Get("basis").Get("ids_sha256").Text() {
				t.Errorf("basis is %s", got)
			}
			if f := sow.VerifyVerdict(signed); f != nil {
				t.Fatalf("the verdict does not verify: %v", f)
			}
			sign, _ := signer(t, v)
			if got := sow.SignatureText(sign(tag.ArbiterVerdict.Message(sow.VerdictCanonical(signed)))); got != sigOf(signed) {
				t.Errorf("signed again: %s", got)
			}
			for _, path := range list(at(t, s, "tamper.fields")) {
				if sow.VerifyVerdict(value(t, string(edit(t, signed.Raw(), path, bump{})))) == nil {
					t.Errorf("verifies with another %s", path)
				}
			}
		})
	})
}

func TestReporting(t *testing.T) {
	fixture(t, "sow-reporting.json", func(t *testing.T, v jcs.Value) {
		for m := range at(t, v, "levels.rank").Members() {
			if n, ok := sow.ReportingRank(m.Name); !ok || int64(n) != num(m.Value) {
				t.Errorf("%s ranks %d", m.Name, n)
			}
		}
		rows(t, v, "meets.cases", func(t *testing.T, r jcs.Value) {
			offered, _ := sow.ReportingRank(r.Get("offered").Text())
			required, _ := sow.ReportingRank(r.Get("required").Text())
			doc := value(t, fmt.Sprintf(`{"reporting":{"level":%q,"every":"P1W","grade":"evidence"}}`, r.Get("offered").Text()))
			if r.Get("offered").Text() != "check_ins" {
				doc = value(t, fmt.Sprintf(`{"reporting":{"level":%q,"grade":"evidence"}}`, r.Get("offered").Text()))
			}
			meets := sow.ReportingShortfall(r.Get("required").Text(), doc) == ""
			if (offered >= required) != r.Get("meets").Bool() || meets != r.Get("meets").Bool() {
				t.Errorf("meets %v", meets)
			}
		})
		rows(t, v, "clause.valid", accepts("reporting", orItself("reporting")))
		rows(t, v, "clause.invalid", refuses("reporting", member("reporting")))
		rows(t, v, "every.valid", func(t *testing.T, r jcs.Value) {
			if ms, err := span.Duration(r.Get("value").Text()); err != nil || ms != num(r.Get("ms")) {
				t.Errorf("%s is %d, %v", r.Get("value").Text(), ms, err)
			}
		})
		rows(t, v, "every.invalid", func(t *testing.T, r jcs.Value) {
			if ms, err := span.Duration(r.Get("value").Text()); err == nil {
				t.Errorf("%q is %d", r.Get("value").Text(), ms)
			}
		})
		rows(t, v, "shortfall.cases", func(t *testing.T, r jcs.Value) {
			if got := sow.ReportingShortfall(r.Get("required").Text(), r.Get("document")); got != r.Get("expected").Text() {
				t.Errorf("got  %s\nwant %s", got, r.Get("expected").Text())
			}
		})
		rows(t, v, "cadence_warning.cases", func(t *testing.T, r jcs.Value) {
			f := sow.CadenceWarning(r.Get("reporting"), floored(r.Get("cap_remaining")).N, floored(r.Get("spend_per_day")).N)
			if (f != nil) != r.Get("warns").Bool() {
				t.Errorf("got %v", f)
			}
		})
		canonical(t, at(t, v, "signing.document").Raw(), at(t, v, "signing.canonical").Text())
	})
}

func TestDataUse(t *testing.T) {
	fixture(t, "sow-data-use.json", func(t *testing.T, v jcs.Value) {
		for _, p := range list(at(t, v, "promises.all")) {
			if sow.DataShortfall(sow.DataRequirement{Promises: []string{p}}, value(t, `{"confidentiality":{"promises":{"`+p+`":true,"grade":"recorded"}}}`)) != "" {
				t.Errorf("%s is no promise", p)
			}
			refuses("confidentiality", itself)(t, value(t, `{"promises":{"`+p+`":false,"grade":"recorded"}}`))
		}
		rows(t, v, "clause.valid", accepts("confidentiality", orItself("confidentiality")))
		rows(t, v, "clause.invalid", refuses("confidentiality", member("confidentiality")))
		rows(t, v, "shortfall.cases", func(t *testing.T, r jcs.Value) {
			q := r.Get("required")
			req := sow.DataRequirement{Promises: list(q.Get("promises")), RetentionMaxDays: opt(q.Get("retention_max_days")), ProcessedIn: list(q.Get("processed_in"))}
			if got := sow.DataShortfall(req, r.Get("document")); got != r.Get("expected").Text() {
				t.Errorf("got  %s\nwant %s", got, r.Get("expected").Text())
			}
		})
		canonical(t, at(t, v, "signing.document").Raw(), at(t, v, "signing.canonical").Text())
	})
}

func TestSubcontracting(t *testing.T) {
	fixture(t, "sow-subcontracting.json", func(t *testing.T, v jcs.Value) {
		for _, p := range list(at(t, v, "postures.all")) {
			accepts("subcontracting", itself)(t, value(t, fmt.Sprintf(`{"posture":%q,"grade":%q}`, p, at(t, v, "postures.grade").Text())))
		}
		rows(t, v, "clause.valid", accepts("subcontracting", orItself("subcontracting")))
		rows(t, v, "clause.invalid", refuses("subcontracting", member("subcontracting")))
		rows(t, v, "conformance.cases", func(t *testing.T, r jcs.Value) {
			o := r.Get("opts")
			terms := sow.FlowTerms{PrimeCapRemaining: floored(o.Get("prime_cap_remaining")), RequirePins: o.Get("require_pins").Bool()}
			got, want := sow.FlowDown(r.Get("prime"), r.Get("sub"), terms), list(r.Get("violations"))
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
		canonical(t, at(t, v, "signing.document").Raw(), at(t, v, "signing.canonical").Text())
	})
}

func TestJobManifest(t *testing.T) {
	fixture(t, "job-manifest.json", func(t *testing.T, v jcs.Value) {
		sign, key := signer(t, v)
		signed := at(t, v, "job_manifest.signed")
		if f := sow.VerifyJobManifest(signed, key); f != nil {
			t.Fatal(f)
		}
		if got := string(sow.JobCanonical(signed)); got != at(t, v, "job_manifest.canonical").Text() {
			t.Errorf("canonical form is %s", got)
		}
		if at(t, v, "job_manifest.signed_bytes_prefix").Text() != string(tag.JobManifest) || at(t, v, "job_manifest.format").Text() != sow.JobFormat {
			t.Error("prefix or format differ")
		}
		if got := sow.SignatureText(sign(tag.JobManifest.Message(sow.JobCanonical(signed)))); got != signed.Get("sig").Text() {
			t.Errorf("signed again: %s", got)
		}
		prior, next := at(t, v, "reuse.prior"), at(t, v, "reuse.revision")
		pieces, of, _ := sow.Reuse(prior, next)
		if int64(pieces) != num(at(t, v, "reuse.expected.pieces")) || int64(of) != num(at(t, v, "reuse.expected.of")) {
			t.Errorf("%d of %d are reused", pieces, of)
		}
		if !sow.ReuseHolds(prior, next) || sow.ReuseHolds(jcs.Value{}, next) || !sow.ReuseHolds(jcs.Value{}, prior) {
			t.Error("the claim of reuse is judged otherwise")
		}
		if got := string(sow.JobCanonical(next)); got != at(t, v, "reuse.revision_canonical").Text() {
			t.Errorf("canonical form is %s", got)
		}
		rows(t, v, "invalid.cases", func(t *testing.T, r jcs.Value) {
			reason, where := r.Get("reason").Text(), r.Get("member").Text()
			f := sow.VerifyJobManifest(r.Get("document"), r.Get("expected_agent").Text())
			if f == nil || f.Reason != reason || f.Member != where {
				t.Fatalf("got %v, want %s at %s", f, reason, where)
			}
			shape := sow.CheckJobManifest(r.Get("document"))
			if (shape == nil) != (reason == sow.JobBadSignature || reason == sow.JobAgentMismatch) {
				t.Errorf("the shape alone gives %v", shape)
			}
		})
	})
}

// expected are the facts about the documents of a folder.
type expected struct {
	Documents map[string]struct {
		ID        string
		Version   int64
		State     string
		Rederives *bool  `json:"id_rederives_from_this_document"`
		Hashed    string `json:"hashed_bytes_sha256"`
		Length    int    `json:"signed_bytes_len"`
		Signed    string `json:"signed_bytes_sha256"`
		Committed *int64 `json:"committed_price"`
		Signers   []struct {
			Role, Label string
			Verifies    bool
		}
	}
	Keys map[string]string
}

// TestDocuments checks complete documents against what is known of them: each
// of a folder, and none of which nothing is known.
func TestDocuments(t *testing.T) {
	lists := []string{filepath.Join("testdata", "docs-expected.json")}
	if dir := os.Getenv("VAULT_VECTORS"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "sow", "docs-expected*.json"))
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, more...)
	}
	known := map[string]bool{}
	for _, file := range lists {
		var e expected
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &e); err != nil || len(e.Documents) == 0 {
			t.Fatal(err, len(e.Documents))
		}
		folder, set := filepath.Join(filepath.Dir(file), "docs"), ""
		if filepath.Dir(file) != "testdata" {
			set = "further "
		}
		for name, want := range e.Documents {
			known[filepath.Join(folder, name+".json")] = true
			t.Run(set+name, func(t *testing.T) {
				raw, err := os.ReadFile(filepath.Join(folder, name+".json"))
				if err != nil {
					t.Fatal(err)
				}
				d, f := sow.Read(raw, sow.Options{})
				if !f.OK() {
					t.Fatalf("refused: %v", f.Errors())
				}
				if !bytes.Equal(d.Raw(), raw) {
					t.Error("the bytes received are not kept")
				}
				if d.ID() != want.ID || d.Version() != want.Version {
					t.Errorf("it is %s version %d", d.ID(), d.Version())
				}
				if hash(d.Hashed()) != want.Hashed || hash(d.Signed()) != want.Signed || d.Digest() != want.Signed || len(d.Signed()) != want.Length {
					t.Error("its bytes differ")
				}
				if want.Rederives != nil && (d.Mint() == d.ID()) != *want.Rederives {
					t.Errorf("it derives %s", d.Mint())
				}
				committed := price(t, d.Get("price")).Committed()
				if committed.Set != (want.Committed != nil) || committed.Set && committed.N != *want.Committed {
					t.Errorf("it commits %v", committed)
				}
				var pins sow.Pins
				for _, s := range want.Signers {
					if s.Role == sow.Provider {
						pins.Provider = e.Keys[s.Label]
					} else {
						pins.Client = e.Keys[s.Label]
					}
				}
				seats := d.VerifySignatures(pins)
				for _, s := range want.Signers {
					r := seats.Client
					if s.Role == sow.Provider {
						r = seats.Provider
					}
					if (r != nil) != s.Verifies || r != nil && r.Key != e.Keys[s.Label] {
						t.Errorf("%s seat is %+v", s.Role, r)
					}
				}
				if got := d.Signatures(); len(got) != len(want.Signers) || len(seats.Ignored) > 0 {
					t.Errorf("%d records, ignored %v", len(got), seats.Ignored)
				}
				checkState(t, d, seats, want.State)
			})
		}
	}
	for _, file := range lists {
		there, err := filepath.Glob(filepath.Join(filepath.Dir(file), "docs", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range there {
			if !known[f] {
				t.Errorf("nothing is known of %s", f)
			}
		}
	}
}

func checkState(t *testing.T, d *sow.Document, seats sow.Seats, want string) {
	t.Helper()
	s := sow.Situation{Seats: seats}
	start, _, _, _ := d.Term()
	switch want {
	case "agreed/active":
		s.Now = start - 1
		if got := d.State(s); got != sow.Agreed {
			t.Errorf("before its start it is %s", got)
		}
		s.Now = start
		if got := d.State(s); got != sow.Active {
			t.Errorf("at its start it is %s", got)
		}
	case "standing_proposal", "standing_proposal (directed)":
		if got := d.State(s); got != sow.StandingProposal || d.Directed() != strings.HasSuffix(want, "(directed)") {
			t.Errorf("it is %s, directed %v", got, d.Directed())
		}
	default:
		s.Agreed = d.Version() - 1
		if got := d.State(s); string(got) != want {
			t.Errorf("it is %s", got)
		}
	}
}
