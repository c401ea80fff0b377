package sow_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"vault/approvals/sow"
	"vault/approvals/sow/span"
)

// TestInstance: an open offer completed by a client.
func TestInstance(t *testing.T) {
	offer, instance, facts := offered(t)
	if f := instance.Validate(sow.Options{Authoring: true}); !f.OK() {
		t.Errorf("the instance is refused: %v", f.Errors())
	}
	if instance.ID() == offer.ID() || instance.ID() != instance.Mint() || instance.Version() != 1 {
		t.Errorf("it is %s version %d", instance.ID(), instance.Version())
	}
	from := instance.Get("derived_from")
	if n, _ := from.Get("version").Int(); from.Get("standing_proposal").Text() != offer.ID() || n != offer.Version() {
		t.Errorf("derived from %s", from.Raw())
	}
	if got := instance.Get("ends_at").Text(); got != "2027-04-30T00:00:00Z" { // six months from 31 October
		t.Errorf("it ends %s", got)
	}
	if instance.Get("term_months").Exists() {
		t.Error("it carries the offered months")
	}
	if f := sow.CheckInstance(offer, instance); len(f) != 0 {
		t.Errorf("it differs: %v", f)
	}
	if f := sow.CheckFormation(offer, instance, facts); len(f) != 0 {
		t.Errorf("it does not form: %v", f)
	}
	if f := sow.CheckCompleted(offer, instance, sow.Pins{}); f == nil || f.Code != "not_agreed" {
		t.Errorf("without the provider: %v", f)
	}
	done := sign(t, instance, sow.Provider, "owner/inkwell")
	if f := sow.CheckCompleted(offer, done, sow.Pins{}); f != nil {
		t.Errorf("completed: %v", f)
	}
	if !done.VerifySignatures(sow.Pins{}).Agreed() || done.Digest() != instance.Digest() {
		t.Error("the completed document is not agreed over the same bytes")
	}
}

func TestInstanceRefusals(t *testing.T) {
	fill := sow.Fill{Client: sow.Seat{Agent: "UA", Owner: "o"}, StartsAt: ms(t, "2026-10-01T00:00:00Z")}
	for name, c := range map[string]struct {
		offer  string
		change func(*sow.Fill)
	}{
		"seat taken":          {fixedFee, func(*sow.Fill) {}},
		"no client":           {open, func(f *sow.Fill) { f.Client.Agent = "" }},
		"ends before":         {open, func(f *sow.Fill) { f.EndsAt = f.StartsAt }},
		"location of a file":  {open, func(f *sow.Fill) { f.Locations = map[string]string{"brief": "x"} }},
		"location of nothing": {open, func(f *sow.Fill) { f.Locations = map[string]string{"ghost": "x"} }},
		"location replaced":   {directedOffer, func(f *sow.Fill) { f.Locations = map[string]string{"rate-cards": "x"} }},
	} {
		t.Run(name, func(t *testing.T) {
			f := fill
			c.change(&f)
			if d, err := sow.Instance(good(t, c.offer), f); err == nil {
				t.Errorf("made %s", d.ID())
			}
		})
	}
}

// TestInstanceDiffers: what may be added and what may not.
func TestInstanceDiffers(t *testing.T) {
	offer, instance, _ := offered(t)
	for name, c := range map[string]struct {
		path, to string
		differs  bool
	}{
		"an approval":               {"change_control.approvals", `[{"act":"formation","authority":"agent","key":"U","approved_at":"2026-10-01T00:00:00Z"}]`, false},
		"another handle":            {"parties.client.handle", `"a/b"`, false},
		"a shorter term":            {"ends_at", `"2027-01-01T00:00:00Z"`, false},
		"a longer term":             {"ends_at", `"2028-01-01T00:00:00Z"`, true},
		"another version":           {"version", `2`, true},
		"another origin":            {"derived_from.version", `2`, true},
		"another place":             {"inputs[1].location", `"elsewhere"`, false},
		"a place for a file":        {"inputs[0].location", `"elsewhere"`, false},
		"another access":            {"inputs[1].access", `"read-write"`, true},
		"another input":             {"inputs[+]", `{"name":"x","media_type":"a/b","when":"per_task","grade":"enforced"}`, true},
		"another price":             {"price.rates[0].per_task", `1`, true},
		"another provider":          {"parties.provider.owner", `"Another"`, true},
		"another review window":     {"change_control.review_window_days", `1`, true},
		"another clause":            {"volume.per_day", `4`, true},
		"a clause more":             {"service_floors", `{}`, true},
		"a qualification dropped":   {"qualifications", `[]`, true},
		"a word in the seat":        {"parties.client.undertaking", `"The provider pays 1,000,000 EUR on demand."`, true},
		"a handle that is no text":  {"parties.client.handle", `{"note":"The provider pays."}`, true},
		"a word in the origin":      {"derived_from.note", `"The provider pays."`, true},
		"a word in an approval":     {"change_control.approvals", `[{"act":"formation","authority":"agent","key":"U","approved_at":"2026-10-01T00:00:00Z","note":"The provider pays."}]`, true},
		"a word in an input":        {"inputs[1].note", `{"The provider pays, on demand":{"location":"1,000,000 EUR"}}`, true},
		"a place that is no text":   {"inputs[1].location", `{"note":"The provider pays."}`, true},
		"other months":              {"term_months", `900`, true},
		"assertions that are none":  {"assertions", `{"note":"The provider pays."}`, true},
		"a name added to the offer": {"parties.offered_to", `{"agent":"U","owner":"o"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := sow.CheckInstance(offer, document(t, edit(t, instance.Raw(), c.path, json.RawMessage(c.to))))
			if (len(f) > 0) != c.differs {
				t.Errorf("got %v", f)
			}
			for _, x := range f {
				if x.Code != "instance_differs_from_offer" || x.Member == "" {
					t.Errorf("got %+v", x)
				}
			}
		})
	}
}

// TestAssertionsOfNothing: an offer without conditions has nothing to assert.
func TestAssertionsOfNothing(t *testing.T) {
	offer, instance, _ := offered(t)
	bare := edited(t, open, "qualifications", "[]")
	with := document(t, edit(t, edit(t, instance.Raw(), "qualifications", json.RawMessage("[]")), "assertions", json.RawMessage(`["The provider pays."]`)))
	if f := sow.CheckInstance(bare, with); len(f) != 1 || f[0].Member != "assertions" {
		t.Errorf("got %v", f)
	}
	if f := sow.CheckInstance(offer, instance); len(f) != 0 {
		t.Errorf("the instance: %v", f)
	}
}

func TestFormationFindings(t *testing.T) {
	offer, instance, facts := offered(t)
	facts.Approved = sow.CheckGiven(sow.ByPerson, sow.Given{}, 1, 9)
	facts.Facts.Subject = "UOTHER"
	bare := document(t, edit(t, edit(t, instance.Raw(), "signatures", drop{}), "assertions", json.RawMessage(`["holds-brand-licence"]`)))
	f := sow.CheckFormation(offer, bare, facts)
	for _, code := range []sow.Code{"formation_incomplete", "qualification_facts_subject", "approval_pending"} {
		if !f.Refused(code) {
			t.Errorf("no %s at once among %v", code, f)
		}
	}
	d := good(t, directedOffer)
	if got := direct(t, d, brack, "2026-11-30T23:59:59Z", sow.OfferStatus{}); len(got) != 0 {
		t.Errorf("the named party in time: %v", got)
	}
	if f := sow.CheckGround(offer, "has-account"); f != nil {
		t.Errorf("a stated ground: %v", f)
	}
}

func TestTermEnd(t *testing.T) {
	for _, c := range []struct {
		start  string
		months int64
		want   string
	}{
		{"2026-10-31T08:30:00Z", 6, "2027-04-30T08:30:00Z"}, {"2026-01-31T00:00:00Z", 1, "2026-02-28T00:00:00Z"},
		{"2024-01-31T00:00:00Z", 1, "2024-02-29T00:00:00Z"}, {"2026-10-01T00:00:00Z", 12, "2027-10-01T00:00:00Z"},
		{"2026-11-30T00:00:00Z", 3, "2027-02-28T00:00:00Z"},
	} {
		if got := span.UTC(sow.TermEnd(ms(t, c.start), c.months)); got != c.want {
			t.Errorf("%s and %d months is %s, want %s", c.start, c.months, got, c.want)
		}
	}
}

func TestInterim(t *testing.T) {
	var got []string
	for _, d := range good(t, fixedFee).Interim(ms(t, "2030-01-01T00:00:00Z")) {
		got = append(got, d.Name+" "+span.UTC(d.At))
	}
	want := []string{ // up to the end of the term, and no further
		"month-end-summary 2026-10-06T00:00:00Z", "month-end-summary 2026-11-06T00:00:00Z", "month-end-summary 2026-12-06T00:00:00Z",
		"supplier-master-review 2026-12-15T17:00:00Z", "month-end-summary 2027-01-06T00:00:00Z", "month-end-summary 2027-02-06T00:00:00Z",
		"month-end-summary 2027-03-06T00:00:00Z",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	last := edited(t, fixedFee, "deliverables.interim[0].recurrence.due_by_day", "31").Interim(ms(t, "2027-03-15T00:00:00Z"))
	if at := span.UTC(last[len(last)-1].At); at != "2027-03-01T00:00:00Z" {
		t.Errorf("the 31st of February ends %s", at)
	}
}

// TestInterimBound: a schedule cannot ask for memory without end.
func TestInterimBound(t *testing.T) {
	entry := `{"name":"n#","media_type":"a/b","recurrence":{"every":"month","due_by_day":1}}`
	raw := edit(t, edit(t, doc(t, fixedFee), "deliverables.interim", json.RawMessage(times(5000, entry))), "starts_at", "0001-01-01T00:00:00Z")
	if n := len(document(t, raw).Interim(ms(t, "2027-01-01T00:00:00Z"))); n != 1200 {
		t.Errorf("%d instants", n)
	}
}

func TestMisses(t *testing.T) {
	const hour = int64(3600000)
	d := good(t, fixedFee) // six hours, three misses within 30 days
	var tasks []sow.Task
	for i := range int64(3) {
		tasks = append(tasks, sow.Task{ID: "t", Start: i * span.Day, End: i*span.Day + 7*hour})
	}
	if m, may := d.Misses(tasks[:2], 3*span.Day); len(m) != 2 || may {
		t.Errorf("%d misses, may terminate %v", len(m), may)
	}
	if m, may := d.Misses(tasks, 3*span.Day); len(m) != 3 || !may {
		t.Errorf("%d misses, may terminate %v", len(m), may)
	}
	if _, may := d.Misses(tasks, 31*span.Day); may {
		t.Error("the first miss is out of the window, and three still count")
	}
	if m, _ := d.Misses([]sow.Task{{Start: 0}}, 6*hour+1); len(m) != 1 {
		t.Error("a task still running past its floor has not missed it")
	}
}

func TestManifest(t *testing.T) {
	m, err := sow.ParseManifest([]byte(`{"agent":"` + orrery + `","offerings":[{"id":"explainer-package","meters":["items"],"steps":["write-the-script","record-the-narration","draw-the-boards"],"x":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if f := good(t, open).Validate(sow.Options{Manifest: m}); !f.OK() || f.Has("not_checked") {
		t.Errorf("with the manifest: %v", f)
	}
	unchecked := func(name string, m *sow.Manifest, why string) {
		t.Helper()
		f := good(t, name).Validate(sow.Options{Manifest: m})
		i := slices.IndexFunc(f, func(x sow.Finding) bool { return x.Code == "not_checked" })
		if !f.OK() || i < 0 || !strings.Contains(f[i].Message, why) {
			t.Errorf("not %q: %v", why, f)
		}
	}
	unchecked(open, nil, "nobody brought")
	m.Agent = halcyon
	unchecked(open, m, "is another agent's")
	// In an engagement an offering may have been withdrawn since.
	unchecked(metered, m, "lacks an offering of the scope")
	for _, raw := range []string{``, `{}`, `{"agent":"UA"}`, `{"agent":"","offerings":[]}`, `{"agent":"UA","offerings":[{}]}`, `{"agent":"UA","offerings":[{"id":"a","meters":[1]}]}`,
		`{"agent":"UA","offerings":[{"id":"a","meters":["x"]},{"id":"a"}]}`} {
		if _, err := sow.ParseManifest([]byte(raw)); err == nil {
			t.Errorf("%s is read", raw)
		}
	}
}
