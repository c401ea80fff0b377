package moment

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"vault/approvals/plain"
	"vault/derive/envelope"
)

// draft is an envelope that a test changes before it is written.
type draft struct {
	Synopsis        string        `json:"synopsis"`
	Findings        []string      `json:"findings"`
	Recommendations []string      `json:"recommendations"`
	Offer           string        `json:"offer"`
	Question        draftQuestion `json:"question"`
	Meta            *draftMeta    `json:"meta,omitempty"`
}

type draftQuestion struct {
	Stem        string        `json:"stem"`
	Options     []draftOption `json:"options"`
	Recommended int           `json:"recommended_idx"`
	Hatches     draftHatches  `json:"hatches"`
}

type draftOption struct {
	Label     string `json:"label"`
	Reasoning string `json:"reasoning"`
	Digest    string `json:"action_digest"`
}

type draftHatches struct {
	FreeText bool `json:"free_text"`
	Dialogue bool `json:"dialogue"`
}

type draftMeta struct {
	Class *string `json:"decision_class,omitempty"`
	Note  *string `json:"calibration_note,omitempty"`
}

const payload = `{"operation":"send-invoice","resource":"account:4411","actionIndex":0,"amount":129900}`

// permission is an action envelope that does not contradict payload.
const permission = `{"type":"agentenvelope.actionEnvelope","version":1,"agentId":"invoice-sender","domain":{"domainId":"billing-ops","domainHash":"0xb42f595b2fb9ce9f7875db02291dd450536d64cea2b7d4914ebd89fcf706be17"},"actionIndex":0,"operation":"send-invoice","resources":["account:4411","ledger:main"],"timeWindow":{"notBefore":null,"notAfter":1790000000000},"decayPolicy":{"mode":"BOTH"},"limits":{"maxUses":3,"enforcement":"external"}}`

func newDraft(actions ...string) *draft {
	if len(actions) == 0 {
		actions = []string{payload, `{"hold":41}`}
	}
	d := &draft{
		Synopsis:        "Send the invoice today.",
		Findings:        []string{"The order matches.", "The payee is known.", "The amount was agreed."},
		Recommendations: []string{"Send it now.", "File the copy."},
		Offer:           "Ask for the order.",
		Question:        draftQuestion{Stem: "What should happen with invoice 41?", Hatches: draftHatches{true, true}},
	}
	for i, a := range actions {
		d.Question.Options = append(d.Question.Options, draftOption{fmt.Sprintf("Way %d", i+1), fmt.Sprintf("Reason %d.", i+1), digestOf(a)})
	}
	return d
}

func digestOf(action string) string {
	d, err := ActionDigest([]byte(action))
	if err != nil {
		panic(err)
	}
	return d
}

func (d *draft) json(t testing.TB) []byte {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (d *draft) parse(t testing.TB) *Envelope {
	t.Helper()
	e, err := Parse(d.json(t))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func want(t *testing.T, err error, r Reason) {
	t.Helper()
	if ReasonOf(err) != r || !errors.Is(err, &Fault{Reason: r}) && r != "" {
		t.Errorf("%v, want %q", err, r)
	}
}

func TestLimits(t *testing.T) {
	d := newDraft()
	d.Offer = ""
	d.Offer = strings.Repeat("a", MaxEnvelope-len(d.json(t)))
	if n := len(d.json(t)); n != MaxEnvelope {
		t.Fatalf("%d bytes", n)
	}
	d.parse(t)
	d.Offer += "a"
	_, err := Parse(d.json(t))
	want(t, err, TooLarge)
	if r := Bare(d.json(t), "x"); r.Outcome != OverLimit || r.Fault.Reason != TooLarge || r.Payload.Text != "x" {
		t.Errorf("%+v", r)
	}

	d = newDraft()
	d.Findings = slices.Repeat([]string{"A finding."}, MaxFindings)
	d.Recommendations = slices.Repeat([]string{"Do it."}, MaxRecommendations)
	d.parse(t)
	d.Findings = append(d.Findings, "One more.")
	_, err = Parse(d.json(t))
	want(t, err, TooManyFindings)
	d.Findings = nil
	d.Findings, d.Recommendations = []string{}, append(d.Recommendations, "One more.")
	if r := Bare(d.json(t), ""); r.Outcome != OverLimit || r.Fault.Reason != TooManyRecommendations {
		t.Errorf("%+v", r)
	}
	r := ToolResult([]byte(`{"content":[{"type":"text","text":"` + strings.Repeat("a", 1<<20) + `"}]}`))
	if r.Outcome != OverLimit || len(r.Payload.Text) != 1<<20 {
		t.Errorf("%s, %d bytes", r.Outcome, len(r.Payload.Text))
	}
}

func TestConventionalPayload(t *testing.T) {
	for _, c := range []struct {
		name, in string
		outcome  Outcome
		payload  Payload
	}{
		{"texts and an image", `{"content":[{"type":"text","text":"a"},{"type":"image","data":"x"},{"type":"text","text":"b"}]}`, NoEnvelope, Payload{Text: "a\nb", Other: []string{"image"}}},
		{"no text", `{"structuredContent":{"x":1e-7},"n":-0}`, NoEnvelope, Payload{Text: `{"structuredContent":{"x":1e-7},"n":-0}`, JSON: true}},
		{"only an envelope", `{"binding_moment":null}`, Malformed, Payload{}},
		{"content of another type", `{"content":"text","binding_moment":1}`, Malformed, Payload{Text: `{"content":"text"}`, JSON: true}},
		{"not an object", `["a"]`, NoEnvelope, Payload{Text: `["a"]`}},
		{"not JSON", "plain words \xff", Malformed, Payload{Text: "plain words \uFFFD"}},
		{"cut short", `{"content":[{"type":"text","text":"a"}],"binding_moment":{`, Malformed, Payload{Text: "a"}},
		{"duplicate far from the envelope", `{"content":[{"type":"text","text":"a"}],"_meta":{"k":1,"k":2}}`, Malformed, Payload{Text: "a"}},
		{"error flag of another type", `{"content":[{"type":"text","text":"a"}],"isError":"no","binding_moment":{}}`, ToolError, Payload{Text: "a"}},
		{"two contents", `{"content":[{"type":"text","text":"a"}],"content":[{"type":"text","text":"b"}]}`, Malformed, Payload{Text: "a\nb"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ToolResult([]byte(c.in))
			if r.Outcome != c.outcome || r.Payload.Text != c.payload.Text || r.Payload.JSON != c.payload.JSON || !slices.Equal(r.Payload.Other, c.payload.Other) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestToolResultDepth: the envelope's nesting is counted from itself, so that
// where it was placed does not matter.
func TestToolResultDepth(t *testing.T) {
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	r := ToolResult([]byte(`{"x":` + deep + `,"binding_moment":` + string(newDraft().json(t)) + `}`))
	if r.Outcome != Render {
		t.Errorf("%+v", r)
	}
}

// TestBlank compares with what is drawn as it was sent.
func TestBlank(t *testing.T) {
	for s, w := range map[string]bool{"": true, " \t\n": true, "\u200b\u00a0\u3164": true, strings.Repeat(" ", 400): true, "\u202e": true, "\u0301": true, "a": false, "é": false, "日": false, "👍": false} {
		if Blank(s) != w {
			t.Errorf("%q", s)
		}
	}
	for r := rune(0); r <= 0x10ffff; r++ {
		if r == '<' || !utf8.ValidRune(r) {
			continue
		}
		drawn := false
		for _, l := range plain.Check(string(r)).Lines {
			for _, span := range l.Spans {
				drawn = drawn || span.Kind != plain.Mark && span.Kind != plain.Fold
			}
		}
		if !unicode.Is(unicode.M, r) && Blank(string(r)) == drawn {
			t.Errorf("%U is drawn: %v", r, drawn)
		}
	}
}

func TestSheetBehind(t *testing.T) {
	delegate := `{"type":"agentenvelope.mintDelegate"}`
	minus := `{"n":-0}`
	for _, c := range []struct {
		name    string
		actions []string // of the options
		behind  []Behind
		kind    Kind
		blocked Reason
		differ  int
	}{
		{"unseen", []string{payload, "1"}, nil, "", "", 0},
		{"seen", []string{`[1]`, "1"}, []Behind{{Option: 0, Action: []byte(` [ 1.0 ] `)}}, KindOther, "", 0},
		{"a payload, by its members", []string{payload, "1"}, []Behind{{Option: 0, Action: []byte(payload)}}, KindPayload, "", 0},
		{"a payload, because it would be signed", []string{`{"a":1}`, "1"}, []Behind{{Option: 0, Action: []byte(`{"a":1}`), SignWith: []byte(permission)}}, KindPayload, "", 0},
		{"a permission", []string{permission, "1"}, []Behind{{Option: 0, Action: []byte(permission)}}, KindEnvelope, "", 0},
		{"another action", []string{payload, "1"}, []Behind{{Option: 0, Action: []byte(`{"hold":42}`)}}, KindOther, ActionMismatch, 0},
		{"another action, to be signed", []string{payload, "1"}, []Behind{{Option: 0, Action: []byte(`{"hold":42}`), SignWith: []byte(permission)}}, KindPayload, ActionMismatch, 0},
		{"a typed document", []string{delegate, "1"}, []Behind{{Option: 0, Action: []byte(delegate), SignWith: []byte(permission)}}, KindPayload, ActionNotSignable, 0},
		{"a number that AgentEnvelope refuses", []string{minus, "1"}, []Behind{{Option: 0, Action: []byte(minus), SignWith: []byte(permission)}}, KindPayload, ActionNotSignable, 0},
		{"contradictions", []string{`{"operation":"pay","agentId":"x"}`, "1"}, []Behind{{Option: 0, Action: []byte(`{"operation":"pay","agentId":"x"}`), SignWith: []byte(permission)}}, KindPayload, "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newDraft(c.actions...).parse(t)
			s, err := NewSheet(e, c.behind)
			if err != nil {
				t.Fatal(err)
			}
			row := s.Rows[0]
			kind := Kind("")
			if row.Action != nil {
				kind = row.Action.Kind
				if want := digestOf(string(c.behind[0].Action)); row.Action.Digest != want {
					t.Errorf("digest %s, want %s", row.Action.Digest, want)
				}
			}
			if kind != c.kind || row.Blocked != c.blocked || len(row.Contradictions) != c.differ {
				t.Errorf("%s, blocked %q, contradictions %v", kind, row.Blocked, row.Contradictions)
			}
			_, err = s.Select(0)
			want(t, err, c.blocked)
			if _, err := s.Select(1); err != nil {
				t.Error(err)
			}
			_, err = s.Select(2)
			want(t, err, OptionIdxRange)
		})
	}
}

func TestSheetRefuses(t *testing.T) {
	e := newDraft().parse(t)
	for _, c := range []struct {
		name   string
		behind []Behind
		reason Reason
	}{
		{"index", []Behind{{Option: 2, Action: []byte("1")}}, OptionIdxRange},
		{"negative index", []Behind{{Option: -1, Action: []byte("1")}}, OptionIdxRange},
		{"twice", []Behind{{Option: 0, Action: []byte("1")}, {Option: 0, Action: []byte("1")}}, OptionTwice},
		{"nothing", []Behind{{Option: 0}}, NothingBehind},
		{"duplicate name", []Behind{{Option: 0, Action: []byte(`{"a":1,"a":1}`)}}, DuplicateMember},
		{"half", []Behind{{Option: 0, Action: []byte(`0.5`)}}, NumberNotInteger},
		{"too deep", []Behind{{Option: 0, Action: []byte(strings.Repeat("[", 65) + strings.Repeat("]", 65))}}, DepthExceeded},
		{"not an envelope", []Behind{{Option: 0, Action: []byte(payload), SignWith: []byte(`{}`)}}, SignWithMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := NewSheet(e, c.behind)
			if s != nil {
				t.Error("a sheet was made")
			}
			want(t, err, c.reason)
		})
	}
}

// TestSheetDigest: what is approved changes with each part, and with nothing else.
func TestSheetDigest(t *testing.T) {
	other := strings.Replace(permission, `"maxUses":3`, `"maxUses":4`, 1)
	d := newDraft()
	e := d.parse(t)
	d.Offer += " "
	f := d.parse(t)
	seen := map[string]string{}
	digest := func(name string, e *Envelope, behind ...Behind) string {
		s, err := NewSheet(e, behind)
		if err != nil {
			t.Fatal(err)
		}
		if before, ok := seen[s.Digest()]; ok {
			t.Errorf("%s and %s have one digest", name, before)
		}
		seen[s.Digest()] = name
		if !envelope.IsHash(s.Digest()) {
			t.Errorf("%q", s.Digest())
		}
		return s.Digest()
	}
	action, sign := []byte(payload), []byte(permission)
	digest("alone", e)
	digest("another envelope", f)
	digest("an action", e, Behind{Option: 0, Action: action})
	digest("the action of the other option", e, Behind{Option: 1, Action: []byte(`{"hold":41}`)})
	digest("a mismatch", e, Behind{Option: 0, Action: []byte(`{"hold":42}`)})
	digest("sign_with", e, Behind{Option: 0, SignWith: sign})
	digest("both", e, Behind{Option: 0, Action: action, SignWith: sign})
	digest("another sign_with", e, Behind{Option: 0, Action: action, SignWith: []byte(other)})
	two := digest("two", e, Behind{Option: 0, Action: action, SignWith: sign}, Behind{Option: 1, Action: []byte(`{"hold":41}`)})
	s, err := NewSheet(e, []Behind{{Option: 1, Action: []byte(` {"hold":4.1e1}`)}, {Option: 0, Action: action, SignWith: sign}})
	if err != nil || s.Digest() != two {
		t.Errorf("order or spelling changed the digest: %v", err)
	}
}

func TestSigning(t *testing.T) {
	e := newDraft().parse(t)
	sheet := func(behind ...Behind) *Sheet {
		s, err := NewSheet(e, behind)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	choose := func(i int) *Resolution {
		r, err := e.Select(i)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	action, sign := []byte(payload), []byte(permission)
	full := sheet(Behind{Option: 0, Action: action, SignWith: sign})
	got, err := full.Signing(choose(0), action)
	if err != nil || !got.Seen || got.Option != 0 || string(got.Payload.Canonical()) == "" || got.Envelope.Hash() != full.Rows[0].SignWith.Hash() {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = sheet(Behind{Option: 0, SignWith: sign}).Signing(choose(0), action)
	if err != nil || got.Seen {
		t.Errorf("not shown, but seen: %+v, %v", got, err)
	}
	refuse := func(s *Sheet, r *Resolution, action string, reason Reason) {
		t.Helper()
		_, err := s.Signing(r, []byte(action))
		want(t, err, reason)
	}
	refuse(full, choose(0), `{"hold":41}`, ActionMismatch)
	refuse(full, choose(1), payload, ActionMismatch)
	refuse(full, choose(1), `{"hold":41}`, NoSigningEnvelope)
	refuse(full, e.Decline(), payload, NotOption)
	refuse(full, choose(0), `{`, Syntax)
	other := newDraft()
	other.Offer = "Another."
	r, err := other.parse(t).Select(0)
	if err != nil {
		t.Fatal(err)
	}
	refuse(full, r, payload, HeldEnvelopeMismatch)
}

func TestParseBehind(t *testing.T) {
	for _, c := range []struct {
		name, in string
		n        int
		reason   Reason
	}{
		{"none", `[]`, 0, ""},
		{"one", `[{"option":0,"action":{"a": 1}}]`, 1, ""},
		{"both", `[{"option":1.0,"action":null,"sign_with":{}},{"option":0,"sign_with":{}}]`, 2, ""},
		{"not an array", `{}`, 0, WrongType},
		{"not an object", `[1]`, 0, WrongType},
		{"no option", `[{"action":1}]`, 0, MissingMember},
		{"option text", `[{"option":"0","action":1}]`, 0, WrongType},
		{"option null", `[{"option":null,"action":1}]`, 0, WrongType},
		{"option half", `[{"option":0.5,"action":1}]`, 0, NumberNotInteger},
		{"option range", `[{"option":4,"action":1}]`, 0, OptionIdxRange},
		{"sign_with null", `[{"option":0,"sign_with":null}]`, 0, WrongType},
		{"unknown", `[{"option":0,"Action":1}]`, 0, UnknownMember},
		{"duplicate", `[{"option":0,"action":1,"acti\u006fn":2}]`, 0, DuplicateMember},
		{"five", `[{},{},{},{},{}]`, 0, OptionCount},
		{"trailing", `[] []`, 0, TrailingData},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := ParseBehind([]byte(c.in))
			want(t, err, c.reason)
			if len(b) != c.n {
				t.Errorf("%d entries", len(b))
			}
		})
	}
	b, err := ParseBehind([]byte(`[{"option":2,"action": {"b": 1, "a":-0} ,"sign_with":{"x":[]}}]`))
	if err != nil || b[0].Option != 2 || string(b[0].Action) != `{"b": 1, "a":-0}` || string(b[0].SignWith) != `{"x":[]}` {
		t.Errorf("%v, %v", b, err)
	}
}

func TestAnswer(t *testing.T) {
	e := newDraft().parse(t)
	for _, text := range []string{"x", "  two\n\nlines\t\r\n ", "\"quoted\" \\ / \u2028 \x00 \x1f \x7f", "日付のみ 📅", "e\u0301 é"} {
		r, err := e.Answer(text)
		if err != nil {
			t.Fatal(err)
		}
		var sent struct {
			R struct{ Answer string } `json:"binding_moment_resolution"`
		}
		if err := json.Unmarshal(r.Canonical(), &sent); err != nil || sent.R.Answer != text {
			t.Errorf("sent %q, typed %q, %v", sent.R.Answer, text, err)
		}
		back, err := ParseResolution(r.Canonical())
		if err != nil || string(back.Canonical()) != string(r.Canonical()) {
			t.Errorf("%v", err)
		}
	}
	for text, reason := range map[string]Reason{"": AnswerEmpty, " \u200b\n": AnswerEmpty, "a\xff": InvalidUTF8, strings.Repeat("a", MaxAnswer+1): AnswerTooLarge} {
		_, err := e.Answer(text)
		want(t, err, reason)
	}
	d := newDraft()
	d.Question.Hatches = draftHatches{}
	off := d.parse(t)
	_, err := off.Answer("x")
	want(t, err, HatchDisabled)
	_, err = off.RejectQuestion()
	want(t, err, HatchDisabled)
	if got := string(off.Decline().Canonical()); got != `{"binding_moment_resolution":{"envelope_digest":"`+off.Digest()+`","resolution":"declined"}}` {
		t.Error(got)
	}
}

func TestRepeats(t *testing.T) {
	d := newDraft()
	e := d.parse(t)
	d.Synopsis = "Send the invoice, now with the order attached."
	reworded := d.parse(t)
	d.Question.Options[0].Reasoning = "Another reason."
	changed := d.parse(t)
	if e.Question() != reworded.Question() || e.Question() == changed.Question() || e.Digest() == reworded.Digest() {
		t.Fatal("the question's digest covers something else than stem and options")
	}
	const now = 1_000_000_000
	past := func(e *Envelope, client, session string, c Choice, at int64) Earlier {
		return Earlier{Key{client, session, e.Digest()}, e.Question(), c, at}
	}
	for _, c := range []struct {
		name    string
		earlier []Earlier
		want    Repetition
	}{
		{"new", nil, Repetition{}},
		{"open", []Earlier{past(e, "c", "s", "", 0)}, Repetition{Open: true}},
		{"open elsewhere", []Earlier{past(e, "c", "t", "", 0)}, Repetition{}},
		{"answered", []Earlier{past(e, "c", "s", ChoseDecline, 1)}, Repetition{Answered: ChoseDecline}},
		{"answered in another session", []Earlier{past(e, "c", "t", ChoseOption, 1)}, Repetition{Elsewhere: true}},
		{"answered for another client", []Earlier{past(e, "d", "s", ChoseOption, 1)}, Repetition{Elsewhere: true}},
		{"rejected, reworded", []Earlier{past(reworded, "c", "s", ChoseQuestion, now-1)}, Repetition{Rejected: true}},
		{"rejected at the edge", []Earlier{past(reworded, "c", "s", ChoseQuestion, now-AskedAgainMS+1)}, Repetition{Rejected: true}},
		{"rejected long ago", []Earlier{past(reworded, "c", "s", ChoseQuestion, now-AskedAgainMS)}, Repetition{}},
		{"rejected elsewhere", []Earlier{past(reworded, "c", "t", ChoseQuestion, now-1)}, Repetition{}},
		{"declined, reworded", []Earlier{past(reworded, "c", "s", ChoseDecline, now-1)}, Repetition{}},
		{"rejected, other options", []Earlier{past(changed, "c", "s", ChoseQuestion, now-1)}, Repetition{}},
		{"rejected and identical", []Earlier{past(e, "c", "s", ChoseQuestion, now-1)}, Repetition{Answered: ChoseQuestion, Rejected: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := e.Repeats("c", "s", c.earlier, now); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestHoldsRecoveryWords(t *testing.T) {
	twelve := "abandon ability able about above absent absorb abstract absurd abuse access accident"
	for text, w := range map[string]bool{
		twelve: true,
		"My words: " + strings.ToUpper(twelve) + ", that is all": true,
		"1. " + strings.ReplaceAll(twelve, " ", "\n2) "):         true,
		strings.TrimSuffix(twelve, " accident"):                  false,
		strings.Replace(twelve, "abuse", "and", 1):               false,
		"Share only the month and keep the rest for later.":      false,
		"": false,
	} {
		if HoldsRecoveryWords(text) != w {
			t.Errorf("%q", text)
		}
	}
}

func TestWhole(t *testing.T) {
	for lit, w := range map[string]bool{"1e400": true, "9007199254740992": true, "1e21": true, "0.5": false, "1e-400": false, "12.50e1": true, "12.55e1": false, "1e99999999999999": true, "1e-99999999999999": false, "-1.5,": false, "100e-2}": true, "100e-3": false} {
		if whole([]byte(lit)) != w {
			t.Error(lit)
		}
	}
}

func TestFaultSaysNothingFromOutside(t *testing.T) {
	raw := strings.Replace(string(newDraft().json(t)), `"offer"`, `"zweites":1,"offer"`, 1)
	_, err := Parse([]byte(raw))
	var f *Fault
	if !errors.As(err, &f) || f.Member != "zweites" || strings.Contains(err.Error(), "zweites") {
		t.Errorf("%v", err)
	}
}
