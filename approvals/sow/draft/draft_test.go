package draft_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"vault/approvals/sow"
	"vault/approvals/sow/draft"
	"vault/approvals/sow/money"
	"vault/approvals/sow/span"
)

func ms(t *testing.T, s string) money.Opt {
	t.Helper()
	n, err := span.Instant(s)
	if err != nil {
		t.Fatal(err)
	}
	return money.Some(n)
}

// filled are fields with nothing left open.
func filled(t *testing.T, kind draft.Kind, a money.Arrangement) draft.Fields {
	f := draft.Fields{
		Kind: kind, Arrangement: a,
		Language:  sow.Language{LanguageName: sow.LanguageName{ID: "plain", Version: 1}, SHA256: sow.LanguageHash(nil)},
		Provider:  sow.Seat{Agent: "UA", Owner: "Provider & Sons", Handle: "a/b"},
		Offerings: []string{"translate-page"}, InScope: []string{"Translate this page."}, OutOfScope: []string{"Write a page."},
		Inputs:    []draft.Input{{Name: "page", MediaType: "text/html"}, {Name: "glossary", Access: "read", Via: "link", Standing: true}},
		Artifacts: []sow.Artifact{{Name: "translation", MediaType: "text/html"}}, PerHour: 2, PerDay: 9, Posture: "none",
	}
	switch kind {
	case draft.Engagement:
		f.Client = sow.Seat{Agent: "UB", Owner: "Client", Organization: "org_c"}
		f.StartsAt, f.EndsAt = ms(t, "2027-01-01T00:00:00Z"), ms(t, "2027-07-01T00:00:00Z")
	case draft.Directed:
		f.Client, f.ExpiresAt, f.Months = sow.Seat{Agent: "UB", Owner: "Client"}, ms(t, "2027-01-01T00:00:00Z"), 6
	case draft.Standing:
		f.Months = 6
	}
	switch a {
	case money.FixedFee:
		f.Currency, f.Rates, f.Ceiling = "EUR", []money.Rate{{Offering: "translate-page", PerTask: 500}}, money.Some(90000)
	case money.TimeAndMaterials:
		f.Currency, f.Cap, f.WindowDays = "EUR", money.Some(90000), 30
		f.Schedule = []money.Line{{Meter: "words", Per: 1000, Unit: "1000 words", PerUnit: 80}, {Meter: "lookups", Unit: "lookup", PerUnit: 2, PassThrough: true}}
	}
	return f
}

var (
	kinds        = []draft.Kind{draft.Engagement, draft.Standing, draft.Directed}
	arrangements = []money.Arrangement{money.FixedFee, money.TimeAndMaterials, money.NoCharge}
)

// TestMake: what is filled passes the check as one of ours, under its own
// identifier; what is not is left as blanks, each of which is reported.
func TestMake(t *testing.T) {
	for _, kind := range kinds {
		for _, a := range arrangements {
			t.Run(string(kind)+" "+string(a), func(t *testing.T) {
				f := filled(t, kind, a)
				raw, err := draft.Make(f)
				if err != nil {
					t.Fatal(err)
				}
				d, found := sow.Read(raw, sow.Options{Authoring: true})
				for _, x := range found {
					if x.Severity != sow.Info {
						t.Errorf("%s at %s: %s", x.Code, x.Member, x.Message)
					}
				}
				if len(sow.Blanks(d.Value())) != 0 || d.ID() != d.Mint() || d.BlankSeat() != (kind != draft.Engagement) || d.Directed() != (kind == draft.Directed) {
					t.Errorf("drafted as %s", raw)
				}
				if p, bad := d.Price(); !bad.OK() || p.Arrangement != a {
					t.Errorf("the price is %+v, %v", p, bad)
				}
				if over := d.CheckGrades(sow.Deployment{}, true); len(over) != 0 {
					t.Errorf("enforcement is claimed that nobody said is there: %v", over)
				}

				raw, err = draft.Make(draft.Fields{Kind: kind, Arrangement: a})
				if err != nil {
					t.Fatal(err)
				}
				d, found = sow.Read(raw, sow.Options{})
				blanks := sow.Blanks(d.Value())
				if len(blanks) < 5 || d.Get("id").Text() != sow.Blank("identifier, made by vault sow id") {
					t.Errorf("blanks are %v", blanks)
				}
				for _, b := range blanks {
					if !slices.ContainsFunc(found, func(x sow.Finding) bool {
						return x.Code == "blank_left" && x.Member == b.Member && x.Severity == sow.Error && strings.Contains(x.Message, b.Name)
					}) {
						t.Errorf("%s is not reported", b.Member)
					}
				}
				for _, x := range found.Errors() { // nothing is wrong but what a blank makes wrong
					if !slices.ContainsFunc(blanks, func(b sow.BlankLeft) bool { return strings.HasPrefix(b.Member, x.Member) }) {
						t.Errorf("%s at %s: %s", x.Code, x.Member, x.Message)
					}
				}
			})
		}
	}
}

func TestEnforced(t *testing.T) {
	f := filled(t, draft.Directed, money.FixedFee)
	f.Enforced, f.RetentionDays = draft.Clauses(), 30
	raw, err := draft.Make(f)
	if err != nil {
		t.Fatal(err)
	}
	d, found := sow.Read(raw, sow.Options{Authoring: true})
	if !found.OK() {
		t.Errorf("refused: %v", found.Errors())
	}
	enforced := 0
	for _, g := range d.Grades(sow.Deployment{}) {
		if g.Stated == sow.Enforced {
			enforced++
		}
	}
	if enforced != len(draft.Clauses())+1 { // two inputs
		t.Errorf("%d grades are enforced", enforced)
	}
}

func TestMakeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		kind   draft.Kind
		a      money.Arrangement
		change func(*draft.Fields)
		want   error
	}{
		"another kind":                  {draft.Engagement, money.FixedFee, func(f *draft.Fields) { f.Kind = "contract" }, draft.ErrKind},
		"another arrangement":           {draft.Engagement, money.FixedFee, func(f *draft.Fields) { f.Arrangement = "" }, draft.ErrArrangement},
		"rates under no charge":         {draft.Engagement, money.NoCharge, func(f *draft.Fields) { f.Rates = []money.Rate{{Offering: "a"}} }, draft.ErrMembers},
		"a currency under no charge":    {draft.Engagement, money.NoCharge, func(f *draft.Fields) { f.Currency = "EUR" }, draft.ErrMembers},
		"a cap under a fixed fee":       {draft.Engagement, money.FixedFee, func(f *draft.Fields) { f.Cap = money.Some(1) }, draft.ErrMembers},
		"a ceiling under metered":       {draft.Engagement, money.TimeAndMaterials, func(f *draft.Fields) { f.Ceiling = money.Some(1) }, draft.ErrMembers},
		"a start of an offer":           {draft.Standing, money.FixedFee, func(f *draft.Fields) { f.StartsAt = money.Some(0) }, draft.ErrMembers},
		"a client of an open offer":     {draft.Standing, money.FixedFee, func(f *draft.Fields) { f.Client.Owner = "x" }, draft.ErrMembers},
		"an expiry of an engagement":    {draft.Engagement, money.FixedFee, func(f *draft.Fields) { f.ExpiresAt = money.Some(0) }, draft.ErrMembers},
		"months of an engagement":       {draft.Engagement, money.FixedFee, func(f *draft.Fields) { f.Months = 1 }, draft.ErrMembers},
		"enforcement of something else": {draft.Engagement, money.FixedFee, func(f *draft.Fields) { f.Enforced = []string{"liability"} }, draft.ErrEnforced},
	} {
		f := filled(t, c.kind, c.a)
		c.change(&f)
		if raw, err := draft.Make(f); !errors.Is(err, c.want) {
			t.Errorf("%s: %v\n%s", name, err, raw)
		}
	}
}

func TestWithID(t *testing.T) {
	raw, err := draft.Make(filled(t, draft.Engagement, money.FixedFee))
	if err != nil {
		t.Fatal(err)
	}
	edited := []byte(strings.Replace(string(raw), `"per_day": 9`, `"per_day": 1.0e1, "why": "Harbor & Line"`, 1))
	before, _ := sow.Parse(edited)
	if before.ID() == before.Mint() {
		t.Fatal("the edit left the identifier right")
	}
	got, err := draft.WithID(edited)
	if err != nil {
		t.Fatal(err)
	}
	d, err := sow.Parse(got)
	if err != nil || d.ID() != d.Mint() || string(d.Hashed()) != string(before.Hashed()) || !strings.Contains(string(got), `1.0e1, "why": "Harbor & Line"`) {
		t.Errorf("%v: %s", err, got)
	}
	again, err := draft.WithID(got)
	if err != nil || string(again) != string(got) {
		t.Errorf("made twice it changes: %v", err)
	}
	missing := []byte(strings.Replace(string(raw), `"id": "`+string(mustID(t, raw))+`",`, ``, 1))
	if got, err := draft.WithID(missing); err != nil || mustID(t, got) != mustID(t, raw) {
		t.Errorf("without one: %v", err)
	}
	blank, err := draft.Make(draft.Fields{Kind: draft.Standing, Arrangement: money.NoCharge})
	if err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string][]byte{
		"blanks left": blank, "version 2": []byte(strings.Replace(string(raw), `"version": 1`, `"version": 2`, 1)),
		"signed": []byte(strings.Replace(string(raw), `"sow":`, `"signatures": [{}], "sow":`, 1)), "no document": []byte(`[]`),
	} {
		if got, err := draft.WithID(raw); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func mustID(t *testing.T, raw []byte) string {
	t.Helper()
	d, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return d.ID()
}
