package opened_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/keys"
	"vault/approvals/opened"
	"vault/approvals/sow"
	"vault/approvals/sow/page"
)

// kept gives copies and texts by their SHA-256.
type kept map[string][]byte

func (k kept) SoWCopy(_, sha256 string) ([]byte, error) {
	if raw, ok := k[sha256]; ok {
		return raw, nil
	}
	return nil, &approvals.Refusal{Code: "gone"}
}

func (k kept) LanguageText(sha256 string) ([]byte, error) { return k[sha256], nil }

func (k kept) add(raw []byte) agreement.CopyView {
	sum := sha256.Sum256(raw)
	name := hex.EncodeToString(sum[:])
	k[name] = raw
	return agreement.CopyView{SHA256: name, Size: len(raw)}
}

func sample(t *testing.T, name string) *sow.Document {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "sow", "testdata", "docs", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Each copy of a version has other records; the page has those of all of them, and which count is known by where they stand in
// the joined document.
func TestCopiesAreJoined(t *testing.T) {
	doc := sample(t, "fixed-fee-engagement")
	k := kept{}
	only := func(role string) []byte {
		bare := unsigned(t, doc)
		for _, x := range doc.Value().Get("signatures").Items() {
			if x.Get("role").Text() != role {
				continue
			}
			sig, err := sow.ParseSignature(x.Get("sig").Text())
			if err != nil {
				t.Fatal(err)
			}
			out, err := bare.WithSignature(role, x.Get("key").Text(), x.Get("signed_at").Text(), sig)
			if err != nil {
				t.Fatal(err)
			}
			return out.Raw()
		}
		t.Fatalf("no record of the %s", role)
		return nil
	}
	first, second := only(sow.Client), only(sow.Provider)
	joined, err := sow.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	other, err := sow.Parse(second)
	if err != nil {
		t.Fatal(err)
	}
	if joined, err = sow.Join(joined, other); err != nil {
		t.Fatal(err)
	}
	seats := joined.VerifySignatures(sow.Pins{})
	v := agreement.View{Row: agreement.Row{ID: "e", Role: sow.Client}, Versions: []agreement.VersionView{{
		Version: 1, Digest: doc.Digest(), Copies: []agreement.CopyView{k.add(first), k.add(second)}, Seats: seats}}}
	o, err := opened.Read(k, v, "")
	if err != nil {
		t.Fatal(err)
	}
	p := page.Of(o.Doc, o.Facts(0, words()))
	counts := 0
	for _, r := range p.Records {
		if r.Counts {
			counts++
		}
	}
	if len(p.Records) != 2 || counts != 2 {
		t.Errorf("%d records, of which %d count", len(p.Records), counts)
	}
}

func unsigned(t *testing.T, d *sow.Document) *sow.Document {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(d.Canonical(), &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "signatures")
	raw, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	out, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func words() opened.Words {
	return opened.Words{Learned: func(p agreement.PartyView) string { return p.Learned }, Seat: func(s agreement.SeatView) string { return "the seat " + s.Name },
		Agent: func(c string) string { return "agent " + c }}
}

// What is there under the name of a copy is checked: every one of them, and that of the version in force too.
func TestCopiesAreChecked(t *testing.T) {
	one, two, other := sample(t, "fixed-fee-engagement"), sample(t, "amendment-v2-proposal"), sample(t, "no-charge-engagement")
	for name, c := range map[string]struct {
		change func(k kept, v *agreement.View)
		code   string
	}{
		"honest":           {func(kept, *agreement.View) {}, ""},
		"the only copy":    {func(k kept, v *agreement.View) { k[v.Versions[0].Copies[0].SHA256] = other.Raw() }, "changed"},
		"the one in force": {func(k kept, v *agreement.View) { k[v.Versions[1].Copies[0].SHA256] = other.Raw() }, "changed"},
		"a second copy": {func(k kept, v *agreement.View) {
			v.Versions[0].Copies = append(v.Versions[0].Copies, k.add(other.Raw()))
		}, "changed"},
		"no copy":               {func(_ kept, v *agreement.View) { v.Versions[0].Copies = nil }, "gone"},
		"a copy that is gone":   {func(k kept, v *agreement.View) { delete(k, v.Versions[0].Copies[0].SHA256) }, "gone"},
		"no version":            {func(_ kept, v *agreement.View) { v.Versions = nil }, "gone"},
		"a version not in view": {func(_ kept, v *agreement.View) { v.Versions[0].Digest = one.Digest() }, "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			k := kept{}
			v := agreement.View{Versions: []agreement.VersionView{
				{Version: 2, Digest: two.Digest(), State: sow.AmendmentProposed, Copies: []agreement.CopyView{k.add(two.Raw())}},
				{Version: 1, Digest: one.Digest(), InForce: true, Copies: []agreement.CopyView{k.add(one.Raw())}}}}
			c.change(k, &v)
			o, err := opened.Read(k, v, two.Digest())
			code := ""
			var r *approvals.Refusal
			var e *keys.Error
			switch {
			case errors.As(err, &r):
				code = r.Code
			case errors.As(err, &e):
				code = e.Code
			case err != nil:
				t.Fatal(err)
			}
			if code != c.code {
				t.Fatalf("%v, want %q", err, c.code)
			}
			if c.code == "" && (o.Doc.Digest() != two.Digest() || o.Before == nil || o.Before.Digest() != one.Digest() || o.Facts(5, words()).InForce != 1) {
				t.Errorf("%+v", o.Version)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	v := func(moves []agreement.Move, list ...agreement.VersionView) agreement.View {
		return agreement.View{Moves: moves, Versions: list}
	}
	force, lapsed, draft := agreement.VersionView{Digest: "a", InForce: true}, agreement.VersionView{Digest: "b", State: sow.AmendmentProposed, Outcome: "lapsed"}, agreement.VersionView{Digest: "c"}
	open := agreement.VersionView{Digest: "d", State: sow.AmendmentProposed}
	for name, c := range map[string]struct {
		view agreement.View
		want int
	}{
		"nothing":                   {v(nil), -1},
		"the newest":                {v(nil, draft, lapsed), 0},
		"in force":                  {v(nil, lapsed, force), 1},
		"proposed":                  {v(nil, lapsed, open, force), 1},
		"a draft of ours":           {v([]agreement.Move{{What: "propose", Digest: "c"}}, draft, force), 0},
		"what can only be ended":    {v([]agreement.Move{{What: "terminate", Digest: "a"}, {What: "withdraw", Digest: "c"}}, draft, force), 1},
		"barred, and to be read":    {v([]agreement.Move{{What: "approve", Digest: "c", Blocked: "x"}}, draft, force), 0},
		"of another version's move": {v([]agreement.Move{{What: "approve", Digest: "z"}}, draft, force), 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := opened.Choose(c.view); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func TestFacts(t *testing.T) {
	doc := sample(t, "standing-proposal")
	text := []byte("the text of the language\n")
	raw := bytes.Replace(doc.Canonical(), []byte("beffbd918cb404d49bd0bb16e95eb3124115344e2a98e8ab2a97a30f98be4b56"), []byte(sow.LanguageHash(text)), 1)
	doc, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	k := kept{}
	k.add(text)
	c := k.add(raw)
	c.At, c.From = 7, agreement.Source{Kind: "agent", Client: "c1"}
	v := agreement.View{Row: agreement.Row{Kind: agreement.KindOffer}, Seat: agreement.SeatView{Name: "Studio", Key: "U"},
		Versions: []agreement.VersionView{{Version: 1, Digest: doc.Digest(), Copies: []agreement.CopyView{c}, State: sow.StandingProposal}},
		Parties:  []agreement.PartyView{{Role: sow.Provider, Key: "UT", Learned: "told", Confirmation: agreement.ConfirmedVerified}}}
	o, err := opened.Read(k, v, doc.Digest())
	if err != nil {
		t.Fatal(err)
	}
	f := o.Facts(9, words())
	if f.Now != 9 || f.Ours != sow.Client || f.Seat != "the seat Studio" || f.BroughtBy != "agent c1" || f.BroughtAt != 7 || f.InForce != 0 || f.State != sow.StandingProposal ||
		f.Provider != (page.Known{Key: "UT", How: "told", Person: page.Verified}) || !slices.Equal(f.LanguageText, text) {
		t.Errorf("%+v", f)
	}
	if got := page.Of(o.Doc, f).Language.Text; got != string(text) {
		t.Errorf("the page has %q", got)
	}
	v.Versions[0].Copies[0].From.Kind = "own"
	if o, err = opened.Read(k, v, doc.Digest()); err != nil || o.Facts(9, words()).BroughtAt != 0 {
		t.Errorf("a draft of the owner's was brought: %v", err)
	}
}

// What a review stands beside: deliveries that the provider's agent has signed for, with what the form checks find, and no others.
func TestDeliveries(t *testing.T) {
	doc := sample(t, "fixed-fee-engagement")
	var whole string
	for _, p := range doc.Get("deliverables").Get("per_task").Items() {
		whole += `,{"name":"` + p.Get("name").Text() + `","media_type":"` + p.Get("media_type").Text() + `"}`
	}
	manifest := func(task, pieces string) string {
		return `{"task_id":"` + task + `","job":"job of ` + task + `","pieces":[` + pieces + `]}`
	}
	v := agreement.View{Records: []agreement.RecordView{
		{SHA256: "a", Kind: agreement.RecordJobManifest, Verified: true, Text: manifest("t1", whole[1:])},
		{SHA256: "b", Kind: agreement.RecordJobManifest, Text: manifest("t2", whole[1:])},
		{SHA256: "c", Kind: agreement.RecordJobManifest, Verified: true, Text: manifest("t3", "")},
		{SHA256: "d", Kind: agreement.RecordQuote, Verified: true, Text: manifest("t4", "")},
		{SHA256: "e", Kind: agreement.RecordJobManifest, Verified: true, Text: "{"},
	}, Reviews: []agreement.Review{{Cites: []string{"t1"}}}}
	got := opened.Agreement{View: v, Doc: doc}.Deliveries()
	if len(got) != 2 || got[0].Name() != "t3" || got[1].Name() != "t1" {
		t.Fatalf("%+v", got)
	}
	if got[0].Form.OK() || !got[1].Form.OK() || got[0].Reviewed || !got[1].Reviewed {
		t.Errorf("%+v", got)
	}
	if n := (opened.Delivery{Job: "j"}).Name(); n != "j" {
		t.Errorf("a delivery without a task is called %q", n)
	}
}

func TestWhoMayRecordATrial(t *testing.T) {
	seat := agreement.SeatView{Key: "U"}
	for name, c := range map[string]struct {
		view agreement.View
		want bool
	}{
		"a seat":      {agreement.View{Row: agreement.Row{Role: sow.Provider}, Seat: seat}, true},
		"no key":      {agreement.View{Row: agreement.Row{Role: sow.Client}}, false},
		"neither one": {agreement.View{Seat: seat}, false},
	} {
		if got := (opened.Agreement{View: c.view}).MayProbe(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	names := opened.Agreement{Doc: sample(t, "fixed-fee-engagement")}.Inputs()
	if len(names) == 0 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("%q", names)
	}
}

// Every kind and state has words of its own; what is not known is said plainly and cannot hide anything.
func TestWords(t *testing.T) {
	seen := map[string]string{}
	for _, k := range []agreement.ReminderKind{agreement.RemindEnds, agreement.RemindStarts, agreement.RemindReview, agreement.RemindInterim, agreement.RemindDeemed, agreement.RemindReservation,
		agreement.RemindRevision, agreement.RemindOffer, agreement.RemindNotice, agreement.RemindClose, agreement.RemindVerdict, agreement.RemindProblem, agreement.RemindDeadline, ""} {
		words := opened.ReminderWords(agreement.Reminder{Kind: k})
		if words == "" || seen[words] != "" {
			t.Errorf("%q has the words of %q: %q", k, seen[words], words)
		}
		seen[words] = "a reminder of the kind " + string(k)
	}
	if a, b := opened.ReminderWords(agreement.Reminder{Kind: agreement.RemindDeemed}), opened.ReminderWords(agreement.Reminder{Kind: agreement.RemindDeemed, Last: true}); a == b {
		t.Error("the last reminder is not told from the first")
	}
	for want, m := range map[string]agreement.Moved{
		"It comes into force":             {What: "active", Due: true},
		"In force":                        {What: "active"},
		"A problem report was brought in": {What: "brought problem_report"},
		"something else <U+202E>happened": {What: "something_else_\u202ehappened"},
	} {
		if got := opened.MovedWords(m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for row, want := range map[string]agreement.Row{"Offer, withdrawn": {Withdrawn: true, Spent: true}, "Offer, spent": {Spent: true}, "In force": {State: sow.Active}, "Not known": {}} {
		if got := opened.StateWords(want); got != row {
			t.Errorf("%q, want %q", got, row)
		}
	}
}

// Every claim that a deployment can make has one row and one word.
func TestRuntimes(t *testing.T) {
	var d sow.Deployment
	words := map[string]bool{}
	for i, r := range opened.Runtimes {
		if at := r.Of(&d); *at || words[r.Word] {
			t.Errorf("%s stands twice", r.Word)
		} else {
			*at, words[r.Word] = true, true
		}
		if i > 0 && r.Group != opened.Runtimes[i-1].Group && slices.ContainsFunc(opened.Runtimes[:i], func(x opened.Runtime) bool { return x.Group == r.Group }) {
			t.Errorf("%s begins anew", r.Group)
		}
	}
	if v := reflect.ValueOf(d); v.NumField() != len(opened.Runtimes) {
		t.Errorf("%d rows for %d claims", len(opened.Runtimes), v.NumField())
	}
}

// TestCrowdedPage: of a document of more values than a person is shown no page is made.
func TestCrowdedPage(t *testing.T) {
	k := kept{}
	raw := []byte(`{"a":[0` + strings.Repeat(",0", sow.MaxLeaves) + `]}`)
	doc, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	v := agreement.View{Versions: []agreement.VersionView{{Version: 1, Digest: doc.Digest(), Copies: []agreement.CopyView{k.add(raw)}}}}
	_, err = opened.Read(k, v, doc.Digest())
	if r := (*approvals.Refusal)(nil); !errors.As(err, &r) || r.Code != agreement.CodePageTooLong || r.Remedy == "" {
		t.Errorf("%v", err)
	}
}
