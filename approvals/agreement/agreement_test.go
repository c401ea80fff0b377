package agreement_test

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vault/approvals/agreement"
	"vault/approvals/facts"
	"vault/approvals/journal"
	"vault/approvals/permit"
	"vault/approvals/sow"
	"vault/approvals/sow/span"
	"vault/approvals/store"
	"vault/internal/samplekey"
)

// The sample agreement: a fixed fee, signed by both; the owner is the client, by seat 0.
const (
	provider = "owner/copperline"
	client   = "owner/saltmarsh"
	stranger = "owner/gable"
	hour     = int64(60 * 60 * 1000)
	day      = 24 * hour
)

func at(t testing.TB, text string) int64 {
	t.Helper()
	ms, err := span.Instant(text)
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

func parsed(t testing.TB, raw []byte) *sow.Document {
	t.Helper()
	d, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// sample is a sample document with edits of its text, as pairs of old and new.
func sample(t testing.TB, name string, edits ...string) *sow.Document {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "sow", "testdata", "docs", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(edits); i += 2 {
		if !bytes.Contains(raw, []byte(edits[i])) {
			t.Fatalf("the sample has no %q", edits[i])
		}
		raw = bytes.Replace(raw, []byte(edits[i]), []byte(edits[i+1]), 1)
	}
	return parsed(t, parsed(t, raw).Value().Canonical())
}

func agreed(t testing.TB) *sow.Document { return sample(t, "fixed-fee-engagement") }

// proposed is the provider's amendment of it.
func proposed(t testing.TB) *sow.Document { return sample(t, "amendment-v2-proposal") }

func signed(t testing.TB, d *sow.Document, role, label string) *sow.Document {
	t.Helper()
	k, key := samplekey.Of(t, label)
	out, err := d.WithSignature(role, key, "2026-09-28T10:00:00Z", ed25519.Sign(k, d.Signed()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// bare is a document without the signatures.
func bare(t testing.TB, d *sow.Document) *sow.Document {
	t.Helper()
	return parsed(t, d.Value().Without("signatures").Canonical())
}

func copyOf(d *sow.Document, when int64) store.SoWCopy {
	return store.SoWCopy{
		Engagement: facts.EngagementID(d), SHA256: agreement.SHA256(d.Raw()), Digest: d.Digest(), Version: d.Version(), Raw: d.Raw(), At: when,
		SoWSource: store.SoWSource{Source: "file"},
	}
}

func copies(when int64, docs ...*sow.Document) (out []store.SoWCopy) {
	for i, d := range docs {
		out = append(out, copyOf(d, when+int64(i)))
	}
	return out
}

func recordOf(kind agreement.RecordKind, raw []byte, when int64) store.SoWRecord {
	return store.SoWRecord{SHA256: agreement.SHA256(raw), Kind: string(kind), Raw: raw, At: when, SoWSource: store.SoWSource{Source: "file"}}
}

// act signs an act about a document.
func act(t testing.TB, d *sow.Document, f sow.ActFields, label string, when int64) store.SoWRecord {
	t.Helper()
	k, key := samplekey.Of(t, label)
	f.SoW, f.Version, f.Document, f.Key, f.At = d.ID(), d.Version(), d.Digest(), key, span.UTC(when)
	a, err := sow.NewAct(f)
	if err != nil {
		t.Fatal(err)
	}
	a, err = a.WithSignature(ed25519.Sign(k, a.Signed()))
	if err != nil {
		t.Fatal(err)
	}
	return recordOf(agreement.RecordKind(f.Kind), a.Bytes(), when)
}

// knowing is what an owner knows who signed the first version as the client, and pinned the provider's key.
func knowing(t testing.TB, now int64) agreement.Known {
	t.Helper()
	_, ours := samplekey.Of(t, client)
	_, theirs := samplekey.Of(t, provider)
	d := agreed(t)
	p, _ := d.Party(sow.Provider)
	return agreement.Known{Now: now, Log: agreement.Log{
		Documents: []journal.SoWState{{Engagement: facts.EngagementID(d), DocumentSHA256: "0x" + d.Digest(), Version: 1, Role: sow.Client, Key: ours, Counterparty: theirs, Agreed: true}},
		Seats:     []journal.SeatState{{Seat: 0, Key: ours}},
		Pins:      map[string]permit.Pin{p.Agent: {Agent: p.Agent, Key: theirs, Learned: "told"}},
		Passkeys:  1,
	}}
}

func judged(t testing.TB, rows agreement.Rows, k agreement.Known) *agreement.Held {
	t.Helper()
	p := agreement.Read(facts.EngagementID(agreed(t)), rows)
	if len(p.Edited) > 0 || len(p.Docs) == 0 {
		t.Fatalf("%d documents, not what they say: %v", len(p.Docs), p.Edited)
	}
	return p.Judge(k)
}

// TestInForce: a version is in force where each seat has one valid record by the key that is known for it, and time does the rest.
func TestInForce(t *testing.T) {
	active := at(t, "2026-11-01T00:00:00Z")
	v2 := signed(t, proposed(t), sow.Client, client)
	_, other := samplekey.Of(t, stranger)
	unpinned := func(k *agreement.Known) { k.Log.Documents, k.Log.Pins = nil, nil }
	for name, c := range map[string]struct {
		docs    []*sow.Document
		now     int64
		change  func(*agreement.Known)
		version int64 // in force, or 0
		state   sow.State
	}{
		"agreed, before it starts":         {[]*sow.Document{agreed(t)}, at(t, "2026-09-30T23:59:59Z"), nil, 1, sow.Agreed},
		"at the instant it starts":         {[]*sow.Document{agreed(t)}, at(t, "2026-10-01T00:00:00Z"), nil, 1, sow.Active},
		"just before it ends":              {[]*sow.Document{agreed(t)}, at(t, "2027-04-01T00:00:00Z") - 1, nil, 1, sow.Active},
		"at the instant it ends":           {[]*sow.Document{agreed(t)}, at(t, "2027-04-01T00:00:00Z"), nil, 1, sow.Lapsed},
		"signed by us alone":               {[]*sow.Document{signed(t, bare(t, agreed(t)), sow.Client, client)}, active, nil, 0, ""},
		"nobody's key is known":            {[]*sow.Document{agreed(t)}, active, unpinned, 0, ""},
		"a stranger on the other seat":     {[]*sow.Document{signed(t, signed(t, bare(t, agreed(t)), sow.Client, client), sow.Provider, stranger)}, active, nil, 0, ""},
		"our key on both seats":            {[]*sow.Document{signed(t, signed(t, bare(t, agreed(t)), sow.Client, client), sow.Provider, client)}, active, nil, 0, ""},
		"a stranger beside the right ones": {[]*sow.Document{signed(t, agreed(t), sow.Provider, stranger)}, active, nil, 1, sow.Active},
		"another key was pinned since": {[]*sow.Document{agreed(t)}, active, func(k *agreement.Known) {
			for agent := range k.Log.Pins {
				k.Log.Pins[agent] = permit.Pin{Agent: agent, Key: other}
			}
		}, 1, sow.Active}, // the log has the counterparty that was agreed with
		"the log has seen the end":   {[]*sow.Document{agreed(t)}, active, func(k *agreement.Known) { k.Log.Terminated = true }, 1, sow.Terminated},
		"signatures on two copies":   {[]*sow.Document{signed(t, bare(t, agreed(t)), sow.Client, client), signed(t, bare(t, agreed(t)), sow.Provider, provider)}, active, nil, 1, sow.Active},
		"the amendment is unsigned":  {[]*sow.Document{agreed(t), proposed(t)}, active, nil, 1, sow.Active},
		"the amendment is agreed":    {[]*sow.Document{agreed(t), v2}, active, nil, 2, sow.Active},
		"the amendment was denied":   {[]*sow.Document{agreed(t), v2}, active, func(k *agreement.Known) { closed(k, v2, "denied") }, 1, sow.Active},
		"the first was replaced":     {[]*sow.Document{agreed(t), v2}, active, func(k *agreement.Known) { k.Log.Documents[0].Closed = "superseded" }, 2, sow.Active},
		"the amendment comes before": {[]*sow.Document{v2, agreed(t)}, active, nil, 2, sow.Active},
	} {
		t.Run(name, func(t *testing.T) {
			k := knowing(t, c.now)
			if c.change != nil {
				c.change(&k)
			}
			h := judged(t, agreement.Rows{Copies: copies(1000, c.docs...)}, k)
			got := int64(0)
			if h.InForce != nil {
				got = h.InForce.View.Version
			}
			if got != c.version || c.version > 0 && h.View.State != c.state {
				t.Errorf("version %d is in force and %s", got, h.View.State)
			}
			if n := len(slices.DeleteFunc(slices.Clone(h.View.Versions), func(v agreement.VersionView) bool { return !v.InForce })); n > 1 || n == 1 != (got > 0) {
				t.Errorf("%d versions say that they are in force", n)
			}
		})
	}
}

func closed(k *agreement.Known, d *sow.Document, why string) {
	k.Log.Documents = append(k.Log.Documents, journal.SoWState{DocumentSHA256: "0x" + d.Digest(), Version: d.Version(), Closed: why})
}

// TestIgnoredRecords: what does not count says why, and changes nothing.
func TestIgnoredRecords(t *testing.T) {
	now := at(t, "2026-11-01T00:00:00Z")
	d := agreed(t)
	ends := sow.ActFields{Kind: sow.Termination, Role: sow.Provider, Ground: "convenience"}
	ours := act(t, d, sow.ActFields{Kind: sow.Review, Role: sow.Client, Ground: "acceptance", Cites: []string{"t-1"}}, client, now-hour)
	edited := act(t, d, ends, provider, now-hour)
	edited.Raw = bytes.Replace(edited.Raw, []byte(`"convenience"`), []byte(`"inconvenience"`), 1)
	edited.SHA256 = agreement.SHA256(edited.Raw)
	for name, c := range map[string]struct {
		record  store.SoWRecord
		ignored string
		counts  bool
	}{
		"the provider's own termination":      {act(t, d, ends, provider, now-hour), "", true},
		"a stranger's termination":            {act(t, d, ends, stranger, now-hour), "signer_not_owner", false},
		"the owner's key on the other seat":   {act(t, d, ends, client, now-hour), "signer_not_owner", false},
		"about a document that nobody has":    {act(t, proposed(t), ends, provider, now-hour), agreement.CodeNoEngagement, false},
		"with another ground than was signed": {edited, "act_shape", false},
		"our own review":                      {ours, "", true},
		"no JSON":                             {recordOf(agreement.RecordProblem, []byte("{"), now), "not_i_json", false},
		"a confirmation that is none":         {recordOf(agreement.RecordConfirmation, []byte(`{"type":"x"}`), now), "wrong_signature", false},
		"a card that is none":                 {recordOf(agreement.RecordCard, []byte(`{"type":"x"}`), now), "wrong_signature", false},
		"a delivery that is none":             {recordOf(agreement.RecordJobManifest, fmt.Appendf(nil, `{"format":%q,"agent":"x"}`, sow.JobFormat), now), "malformed", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := judged(t, agreement.Rows{Copies: copies(1000, d), Records: []store.SoWRecord{c.record}}, knowing(t, now))
			got := h.View.Records[0]
			if got.Ignored != c.ignored || got.Verified != c.counts {
				t.Errorf("ignored %q, verified %v", got.Ignored, got.Verified)
			}
			if a := h.Act(c.record); (a != nil) != c.counts {
				t.Errorf("the act counts: %v", a)
			}
			if h.View.State != sow.Active || h.InForce == nil {
				t.Errorf("the engagement is %s", h.View.State)
			}
			notice := slices.ContainsFunc(h.View.Reminders, func(r agreement.Reminder) bool { return r.Kind == agreement.RemindNotice })
			if notice != (c.counts && c.record.Kind == string(agreement.RecordTermination)) {
				t.Errorf("a notice runs: %v", notice)
			}
			if _, end, _, _ := d.Term(); (h.View.EndsAt < end) != notice {
				t.Errorf("it ends at %d, and its term at %d", h.View.EndsAt, end)
			}
		})
	}
}

// TestInForceSince: a version that both have signed after its start is in force from then on, and not before.
func TestInForceSince(t *testing.T) {
	start, now := at(t, "2026-10-01T00:00:00Z"), at(t, "2026-11-01T00:00:00Z")
	for name, c := range map[string]struct {
		moves []store.SoWMove
		since int64
	}{
		"signed before":        {[]store.SoWMove{{At: start - day, Version: 1, What: "agreed"}}, start},
		"signed after":         {[]store.SoWMove{{At: start + day, Version: 1, What: "agreed"}}, start + day},
		"a change approved":    {[]store.SoWMove{{At: start + day, Version: 1, What: "approved"}}, start + day},
		"of another version":   {[]store.SoWMove{{At: start + day, Version: 2, What: "agreed"}}, start},
		"something else of it": {[]store.SoWMove{{At: start + day, Version: 1, What: "disputed"}}, start},
	} {
		t.Run(name, func(t *testing.T) {
			h := judged(t, agreement.Rows{Copies: copies(1000, agreed(t)), Moves: c.moves}, knowing(t, now))
			i := slices.IndexFunc(h.View.Timeline, func(m agreement.Moved) bool { return m.What == "active" })
			if i < 0 || h.View.Timeline[i].At != c.since {
				t.Errorf("the timeline is %+v", h.View.Timeline)
			}
		})
	}
}

// TestConflict: other bytes under one version are a conflict until the owner has said which counts.
func TestConflict(t *testing.T) {
	now := at(t, "2026-12-01T00:00:00Z")
	one := proposed(t)
	two := signed(t, bare(t, sample(t, "amendment-v2-proposal", `"review_window_days": 7`, `"review_window_days": 8`)), sow.Provider, provider)
	if one.Digest() == two.Digest() || one.Version() != two.Version() {
		t.Fatal("the samples do not conflict")
	}
	rows := agreement.Rows{Copies: copies(now-hour, agreed(t), one, two)}
	h := judged(t, rows, knowing(t, now))
	if !h.View.Conflict || !slices.Contains(h.View.Waiting, agreement.WaitConflict) || h.InForce == nil || h.InForce.View.Conflict {
		t.Errorf("%+v", h.View.Row)
	}
	for _, d := range []*sow.Document{one, two} {
		if code, _ := h.Barred(h.By(d.Digest()), journal.MoveApprove); code != journal.CodeVersionConflict {
			t.Errorf("%q bars it", code)
		}
	}
	settled := knowing(t, now)
	settled.Log.Settled = map[int64]string{2: one.Digest()}
	h = judged(t, rows, settled)
	if h.View.Conflict || h.By(two.Digest()).Closed != "settled_against" || h.By(one.Digest()).Closed != "" {
		t.Errorf("settled: %+v", h.View.Versions)
	}
	if code, _ := h.Barred(h.By(two.Digest()), journal.MoveApprove); code != agreement.CodeNotOpen {
		t.Errorf("settled against, and %q bars it", code)
	}
}

// TestRehomed: a handle that is remembered for another agent bars every signature, and waits.
func TestRehomed(t *testing.T) {
	now := at(t, "2026-12-01T00:00:00Z")
	d := agreed(t)
	p, _ := d.Party(sow.Provider)
	for name, c := range map[string]struct {
		was     string
		rehomed bool
	}{"the same agent": {p.Agent, false}, "another agent": {"UAOTHER", true}} {
		t.Run(name, func(t *testing.T) {
			k := knowing(t, now)
			k.Handles = map[string]string{p.Handle: c.was}
			h := judged(t, agreement.Rows{Copies: copies(now-hour, d, proposed(t))}, k)
			if h.View.Row.Rehomed != c.rehomed || slices.Contains(h.View.Waiting, agreement.WaitHandle) != c.rehomed {
				t.Errorf("%+v", h.View.Rehomed)
			}
			want := []agreement.RehomedView{{Handle: p.Handle, Was: c.was, Is: p.Agent}}
			if c.rehomed && !reflect.DeepEqual(h.View.Rehomed, want) {
				t.Errorf("%+v", h.View.Rehomed)
			}
			if code, _ := h.Barred(h.By(proposed(t).Digest()), journal.MoveApprove); (code == "handle_rehomed") != c.rehomed {
				t.Errorf("%q bars the amendment", code)
			}
		})
	}
}

// TestLapse: a proposal lapses at the end of the review window of the version in force, at the instant.
func TestLapse(t *testing.T) {
	came := at(t, "2026-12-01T00:00:00Z")
	for name, c := range map[string]struct {
		now     int64
		noted   int64 // when the proposal is noted, or 0: when its first copy came
		outcome string
	}{
		"when it comes":           {came, 0, ""},
		"just before the end":     {came + 7*day - 1, 0, ""},
		"at the end":              {came + 7*day, 0, "lapsed"},
		"noted a day later":       {came + 7*day, came + day, ""},
		"noted, at its own end":   {came + 8*day, came + day, "lapsed"},
		"long after, not noted":   {came + 60*day, 0, "lapsed"},
		"the clock was set back":  {came - day, 0, ""},
		"noted before it came in": {came + 7*day - hour, came - hour, "lapsed"},
	} {
		t.Run(name, func(t *testing.T) {
			rows := agreement.Rows{Copies: []store.SoWCopy{copyOf(agreed(t), came-30*day), copyOf(proposed(t), came)}}
			if c.noted > 0 {
				rows.Facts = []store.SoWFact{{Name: agreement.FactProposed, Key: proposed(t).Digest(), At: c.noted}}
			}
			h := judged(t, rows, knowing(t, c.now))
			x := h.By(proposed(t).Digest())
			if x.View.Outcome != c.outcome || x.View.ProposedBy != sow.Provider {
				t.Errorf("%q, proposed by the %s, to be answered until %s", x.View.Outcome, x.View.ProposedBy, span.UTC(x.View.ReviewEnds))
			}
			if open := slices.Contains(h.View.Waiting, agreement.WaitApprove); open != (c.outcome == "") {
				t.Errorf("waits for the owner: %v", open)
			}
		})
	}
}

// TestReminders: what becomes due, and when, by the sample's own terms.
func TestReminders(t *testing.T) {
	d := agreed(t)
	came := at(t, "2026-12-01T00:00:00Z")
	type due struct {
		kind  agreement.ReminderKind
		at    string
		about string
	}
	for name, c := range map[string]struct {
		now    int64
		rows   agreement.Rows
		want   []due
		beyond []agreement.ReminderKind // kinds that must not be there
	}{
		"before it starts": {at(t, "2026-09-29T00:00:00Z"), agreement.Rows{Copies: copies(1000, d)}, []due{
			{agreement.RemindStarts, "2026-10-01T00:00:00Z", ""}, {agreement.RemindEnds, "2027-04-01T00:00:00Z", ""},
		}, []agreement.ReminderKind{agreement.RemindClose, agreement.RemindReview}},
		"while it runs": {at(t, "2026-12-02T00:00:00Z"), agreement.Rows{Copies: copies(1000, d)}, []due{
			{agreement.RemindEnds, "2027-04-01T00:00:00Z", ""}, {agreement.RemindInterim, "2026-12-15T17:00:00Z", "supplier-master-review"},
		}, []agreement.ReminderKind{agreement.RemindStarts, agreement.RemindClose}},
		"an amendment is proposed": {came + day, agreement.Rows{Copies: []store.SoWCopy{copyOf(d, 1000), copyOf(proposed(t), came)}}, []due{
			{agreement.RemindReview, "2026-12-08T00:00:00Z", ""},
		}, nil},
		"a notice runs": {came + day, agreement.Rows{Copies: copies(1000, d), Records: []store.SoWRecord{
			act(t, d, sow.ActFields{Kind: sow.Termination, Role: sow.Provider, Ground: "convenience"}, provider, came),
		}}, []due{{agreement.RemindNotice, "2026-12-03T00:00:00Z", ""}}, []agreement.ReminderKind{agreement.RemindClose}},
		"it was ended for cause": {came + day, agreement.Rows{Copies: copies(1000, d), Records: []store.SoWRecord{
			act(t, d, sow.ActFields{Kind: sow.Termination, Role: sow.Provider, Ground: "cause", Reason: "r"}, provider, came),
		}}, []due{{agreement.RemindClose, "2026-12-01T00:00:00Z", "invoice-scans"}}, []agreement.ReminderKind{agreement.RemindEnds, agreement.RemindInterim}},
		"it has lapsed": {at(t, "2027-04-02T00:00:00Z"), agreement.Rows{Copies: copies(1000, d)}, []due{
			{agreement.RemindClose, "2027-04-01T00:00:00Z", "invoice-scans"},
		}, []agreement.ReminderKind{agreement.RemindEnds, agreement.RemindInterim}},
		"and the grant was closed": {at(t, "2027-04-02T00:00:00Z"), agreement.Rows{
			Copies: copies(1000, d), Facts: []store.SoWFact{{Name: agreement.FactGrant, Key: "invoice-scans", Value: "closed"}},
		}, nil, []agreement.ReminderKind{agreement.RemindClose}},
	} {
		t.Run(name, func(t *testing.T) {
			h := judged(t, c.rows, knowing(t, c.now))
			for _, w := range c.want {
				if !slices.ContainsFunc(h.View.Reminders, func(r agreement.Reminder) bool { return r.Kind == w.kind && r.At == at(t, w.at) && r.About == w.about }) {
					t.Errorf("no %s at %s in %+v", w.kind, w.at, h.View.Reminders)
				}
			}
			for _, r := range h.View.Reminders {
				if slices.Contains(c.beyond, r.Kind) || r.Engagement != h.ID || r.Due != (r.At <= c.now) {
					t.Errorf("%+v", r)
				}
			}
			if !slices.IsSortedFunc(h.View.Reminders, func(a, b agreement.Reminder) int { return int(a.At - b.At) }) {
				t.Error("the soonest is not first")
			}
		})
	}
}

// TestEditedRows: a row that is not what it says is named, and not used.
func TestEditedRows(t *testing.T) {
	d := agreed(t)
	record := recordOf(agreement.RecordProblem, []byte(`{"problem":"p"}`), 1000)
	for name, edit := range map[string]func(*agreement.Rows){
		"a copy's bytes":          func(r *agreement.Rows) { r.Copies[0].Raw = append(r.Copies[0].Raw, ' ') },
		"a copy's digest":         func(r *agreement.Rows) { r.Copies[0].Digest = proposed(t).Digest() },
		"another document":        func(r *agreement.Rows) { r.Copies[0].Raw = proposed(t).Raw() },
		"no document":             func(r *agreement.Rows) { r.Copies[0].Raw = []byte("{}") },
		"a record's bytes":        func(r *agreement.Rows) { r.Records[0].Raw = []byte(`{"problem":"q"}`) },
		"another record's digest": func(r *agreement.Rows) { r.Records[0].SHA256 = r.Copies[0].SHA256 },
	} {
		t.Run(name, func(t *testing.T) {
			rows := agreement.Rows{Copies: copies(1000, d), Records: []store.SoWRecord{record}}
			edit(&rows)
			p := agreement.Read(facts.EngagementID(d), rows)
			if len(p.Edited) != 1 || len(p.Docs)+len(p.Records) != 1 {
				t.Errorf("%d documents and %d records are used; named: %v", len(p.Docs), len(p.Records), p.Edited)
			}
		})
	}
	if p := agreement.Read("e_00000000000000000000000000000000", agreement.Rows{Copies: copies(1000, d)}); len(p.Docs) != 0 {
		t.Error("a copy that stands under another engagement is used")
	}
}

// TestQuestions: what a judgement depends on is asked for, once.
func TestQuestions(t *testing.T) {
	d := agreed(t)
	p := agreement.Read(facts.EngagementID(d), agreement.Rows{
		Copies: copies(1000, d, signed(t, d, sow.Provider, stranger)), Facts: []store.SoWFact{{Name: agreement.FactFormed, Key: "of", Value: "e_1"}},
	})
	q := p.Questions()
	prov, _ := d.Party(sow.Provider)
	cl, _ := d.Party(sow.Client)
	_, a := samplekey.Of(t, client)
	_, b := samplekey.Of(t, provider)
	_, c := samplekey.Of(t, stranger)
	want := agreement.Questions{
		Digests: []string{d.Digest()}, Agents: []string{prov.Agent, cl.Agent}, Keys: []string{prov.Agent, cl.Agent, a, b, c},
		Approvals: []string{"0x" + d.Approvals()[0].SHA256()}, Handles: []string{prov.Handle, cl.Handle}, Languages: []string{agreement.LanguageKey(d)}, Offer: "e_1",
	}
	if !reflect.DeepEqual(q, want) {
		t.Errorf("%+v\nwant %+v", q, want)
	}
}

// TestLine: a line of the list is read back as it was shown, and only under its own row.
func TestLine(t *testing.T) {
	h := judged(t, agreement.Rows{Copies: copies(1000, agreed(t))}, knowing(t, at(t, "2026-09-29T00:00:00Z")))
	row := h.Listed()
	line, ok := agreement.LineOf(row)
	if !ok || !reflect.DeepEqual(line.Row, h.View.Row) || !reflect.DeepEqual(line.Reminders, h.View.Reminders) {
		t.Errorf("%+v\n%+v", line, h.View.Row)
	}
	if row.Again != at(t, "2026-10-01T00:00:00Z") {
		t.Errorf("time changes the row at %s", span.UTC(row.Again))
	}
	row.ID = "e_00000000000000000000000000000000"
	if _, ok := agreement.LineOf(row); ok {
		t.Error("a line under another row's name is taken")
	}
}

// TestSilence: a problem report that nobody resolves comes before the owner again by itself: after the quiet window, before the task
// is due, and then as a failed obligation; one that was resolved does not.
func TestSilence(t *testing.T) {
	d := agreed(t) // a task is due within six hours
	came := at(t, "2026-12-01T00:00:00Z")
	report := recordOf(agreement.RecordProblem, []byte(`{"input":"bank-statement","problem":"unreadable","description":"It does not open."}`), came)
	answered := func(answer string) store.SoWRecord {
		r := report
		r.Answer = answer
		return r
	}
	deadline := d.TaskDeadline(came)
	first, last := sow.Escalations(came, deadline)
	if deadline <= came || first <= came || last <= first || last >= deadline {
		t.Fatalf("%d %d %d %d", came, first, last, deadline)
	}
	for name, c := range map[string]struct {
		record store.SoWRecord
		now    int64
		answer string
		waits  agreement.Waiting
		failed bool
		noted  bool // something is to be noted
	}{
		"as it came":          {report, came, "", agreement.WaitProblem, false, false},
		"just before":         {report, first - 1, "", agreement.WaitProblem, false, false},
		"the quiet is over":   {report, first, "escalated", agreement.WaitUnanswered, false, true},
		"noted":               {answered("escalated"), first, "escalated", agreement.WaitUnanswered, false, false},
		"by the owner, early": {answered("escalated"), came, "escalated", agreement.WaitUnanswered, false, false},
		"nearly due":          {answered("escalated"), last, "escalated_twice", agreement.WaitUrgent, false, true},
		"nearly due, unnoted": {report, last, "escalated_twice", agreement.WaitUrgent, false, true},
		"due":                 {answered("escalated_twice"), deadline, "escalated_twice", agreement.WaitUrgent, true, false},
		"resolved":            {answered("resolved"), deadline + day, "resolved", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := judged(t, agreement.Rows{Copies: copies(1000, d), Records: []store.SoWRecord{c.record}}, knowing(t, c.now))
			v := h.View.Records[0]
			if v.Answer != c.answer || v.Findings.Refused("problem_unresolved") != c.failed || string(v.Text) == "" {
				t.Errorf("%+v", v)
			}
			for _, w := range []agreement.Waiting{agreement.WaitProblem, agreement.WaitUnanswered, agreement.WaitUrgent} {
				if slices.Contains(h.View.Waiting, w) != (w == c.waits) {
					t.Errorf("%v", h.View.Waiting)
				}
			}
			if c.waits == agreement.WaitUrgent && h.View.Waiting[0] != agreement.WaitUrgent {
				t.Errorf("what cannot wait is not first: %v", h.View.Waiting)
			}
			if got := h.Escalated(); len(got) != 0 != c.noted || c.noted && (got[0].Answer != c.answer || got[0].SHA256 != report.SHA256) {
				t.Errorf("%+v", got)
			}
			var reminded []int64
			for _, r := range h.View.Reminders {
				if r.Kind == agreement.RemindProblem || r.Kind == agreement.RemindDeadline {
					reminded = append(reminded, r.At)
					if r.About != "bank-statement" {
						t.Errorf("%+v", r)
					}
				}
			}
			want := []int64{first, last, deadline}
			switch {
			case c.waits == "":
				want = nil
			case c.now >= last:
				want = want[1:]
			}
			if !slices.Equal(reminded, want) {
				t.Errorf("%v, want %v", reminded, want)
			}
		})
	}
}

// TestCrowded: a document of more values than a person is shown is not signed.
func TestCrowded(t *testing.T) {
	now := at(t, "2026-12-01T00:00:00Z")
	for n, want := range map[int]string{10: "", sow.MaxLeaves: agreement.CodePageTooLong} {
		d := sample(t, "amendment-v2-proposal", `"examples": {`, `"x": [0`+strings.Repeat(",0", n)+`], "examples": {`)
		d = signed(t, bare(t, d), sow.Provider, provider)
		h := judged(t, agreement.Rows{Copies: copies(now-hour, agreed(t), d)}, knowing(t, now))
		code, _ := h.Barred(h.By(d.Digest()), journal.MoveApprove)
		if (code == agreement.CodePageTooLong) != (want != "") {
			t.Errorf("%d values more: %q", n, code)
		}
	}
}
