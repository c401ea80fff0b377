package reading

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"vault/approvals/moment"
)

const (
	exampleAction0 = `{ "disclose": ["travel_dates"], "recipient": "booking.example" }`
	exampleAction1 = `{ "disclose": ["passport_number", "travel_dates"], "recipient": "booking.example" }`
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
	d, err := moment.ActionDigest([]byte(action))
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

func (d *draft) parse(t testing.TB) *moment.Envelope {
	t.Helper()
	e, err := moment.Parse(d.json(t))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

type vector struct{ ID, Raw string }

// vectors reads a suite that the package above keeps.
func vectors(t testing.TB, suite string) []vector {
	t.Helper()
	var s struct{ Vectors []vector }
	b, err := os.ReadFile(filepath.Join("..", "testdata", suite+".json"))
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil || len(s.Vectors) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	return s.Vectors
}

func parse(t testing.TB, raw string) *moment.Envelope {
	t.Helper()
	e, err := moment.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func example(t testing.TB) *moment.Envelope {
	return parse(t, vectors(t, "envelopes-valid")[0].Raw)
}

func lines(t testing.TB, e *moment.Envelope, behind ...moment.Behind) []Line {
	t.Helper()
	s, err := moment.NewSheet(e, behind)
	if err != nil {
		t.Fatal(err)
	}
	return Lines(s, nil)
}

func TestRenderExample(t *testing.T) {
	s, err := moment.NewSheet(example(t), []moment.Behind{{Option: 0, Action: []byte(exampleAction0), SignWith: []byte(permission)}})
	if err != nil {
		t.Fatal(err)
	}
	got := Text(Lines(s, map[int]string{0: "0x9a1bb863cd7c32dbd916b8e3f9ba857558e68e21"}), 0)
	want := `Synopsis
  │ Share the travel dates and withhold the passport number.
Findings
  1. │ The booking service asks for dates and passport number.
  2. │ Dates are enough to hold the reservation.
  3. │ The passport number is only needed at check-in.
Recommendations
  1. │ Release the travel dates now.
  2. │ Withhold the passport number until check-in.
Offer
  │ Ask for detail on any item.
Question
  │ What should be shared with the booking service?
Options
  1. │ Share dates only
     * Agent recommends
     Why │ Holds the booking and keeps the passport number private.
     Authorises │ sha256:ff91e3166e64b892004d4b43b05ad6ed7ff0819463da80c72f27f47039c033fa
     The action, as a capability would sign it
     │ disclose[0] = "travel_dates"
     │ recipient = "booking.example"
     Choosing this lets the agent have this action signed once, under this envelope
     Signs as │ 0x9a1bb863cd7c32dbd916b8e3f9ba857558e68e21
     Domain │ billing-ops
     Agent │ invoice-sender
     Operation │ send-invoice
     May touch │ account:4411
     May touch │ ledger:main
     Valid from │ not bounded
     Valid until │ 2026-09-21T14:13:20.000Z
     Uses │ 3
     Ended by │ BOTH
     Action number │ 0
     Domain hash │ 0xb42f595b2fb9ce9f7875db02291dd450536d64cea2b7d4914ebd89fcf706be17
     │ limits.enforcement = "external"
     │ type = "agentenvelope.actionEnvelope"
     │ version = 1
     ~ a verifier alone cannot tell whether a use is already spent
  2. │ Share dates and passport number
     Why │ Avoids a second request at check-in.
     Authorises │ sha256:49be14ae6e74b950c0c7b790fa22538d45fb4853bb0f3b242b28204bee232945
     The vault has not seen this action.
Other answers
  [ ] Answer in my own words
  [ ] This is the wrong question
[ ] Decline
Fingerprint
  Envelope │ sha256:0db384ab1b682c115d79babfefa91f014ad80c007d00c79119d748f32be232d1
`
	if got != want {
		t.Errorf("rendered as\n%s\nwant\n%s", got, want)
	}
}

func TestRenderBlocked(t *testing.T) {
	e := newDraft().parse(t)
	for name, c := range map[string]struct {
		behind moment.Behind
		want   []string
	}{
		"mismatch":       {moment.Behind{Option: 0, Action: []byte(`{"hold":42}`)}, []string{"! Blocked: the action presented is another one than this option names.", "hold = 42", digestOf(`{"hold":42}`)}},
		"contradictions": {moment.Behind{Option: 0, Action: []byte(payload), SignWith: []byte(strings.Replace(permission, `"actionIndex":0`, `"actionIndex":7`, 1))}, []string{"! The action and the envelope disagree", "The action says │ actionIndex = 0", "The envelope says │ actionIndex = 7"}},
	} {
		s, err := moment.NewSheet(e, []moment.Behind{c.behind})
		if err != nil {
			t.Fatal(err)
		}
		got := Text(Lines(s, nil), 0)
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q is not in\n%s", name, w, got)
			}
		}
	}
}

// TestHostileText: no line of outside text passes for one of ours, at any width.
func TestHostileText(t *testing.T) {
	d := newDraft()
	d.Findings[0] = "One.\n[ ] Decline\r\x1b[2J\n* Agent recommends\nFingerprint"
	d.Synopsis = strings.Repeat("word ", 30) + strings.Repeat("x", 300) + "[ ] Decline"
	d.Question.Options[1].Label = "No\n     * Agent recommends"
	s, err := moment.NewSheet(d.parse(t), []moment.Behind{{Option: 1, Action: []byte(`{"hold":41}`)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{0, 40, 80, 200} {
		got := Text(Lines(s, nil), width)
		count := map[string]int{}
		for _, l := range strings.Split(got, "\n") {
			count[strings.TrimSpace(l)]++
			if width > 0 && utf8.RuneCountInString(l) > width {
				t.Errorf("width %d: %q", width, l)
			}
		}
		if count["[ ] Decline"] != 1 || count["* Agent recommends"] != 1 || count["Fingerprint"] != 1 || strings.ContainsAny(got, "\x1b\r") {
			t.Errorf("width %d:\n%s", width, got)
		}
	}
}

func TestWrapLosesNothing(t *testing.T) {
	for _, s := range []string{"", "a", strings.Repeat("ab ", 40), strings.Repeat("x", 95), "日本" + strings.Repeat("語", 50), strings.Repeat("e\u0301", 60)} {
		parts := wrap(s, 20)
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if squeeze(strings.Join(parts, "")) != squeeze(s) {
			t.Errorf("%q became %q", s, parts)
		}
		for _, p := range parts {
			n := 0
			for _, r := range p {
				n += cells(r)
			}
			if n > 20 {
				t.Errorf("%q is %d wide", p, n)
			}
		}
	}
}

// random makes a valid envelope of plain words.
func random(r *rand.Rand) *draft {
	n := 0
	say := func() string { n++; return fmt.Sprintf("Text %d of %x.", n, r.Uint64()) }
	d := newDraft()
	d.Synopsis, d.Offer, d.Question.Stem = say(), say(), say()
	d.Findings, d.Recommendations, d.Question.Options = []string{}, []string{}, nil
	for range r.IntN(9) {
		d.Findings = append(d.Findings, say())
	}
	for range r.IntN(6) {
		d.Recommendations = append(d.Recommendations, say())
	}
	for range moment.MinOptions + r.IntN(moment.MaxOptions-moment.MinOptions+1) {
		d.Question.Options = append(d.Question.Options, draftOption{say(), say(), digestOf(fmt.Sprint(r.IntN(1 << 30)))})
	}
	d.Question.Recommended = r.IntN(len(d.Question.Options))
	d.Question.Hatches = draftHatches{r.IntN(2) == 0, r.IntN(2) == 0}
	if r.IntN(2) == 0 {
		class, note := say(), say()
		d.Meta = &draftMeta{&class, &note}
	}
	return d
}

var order = []Slot{SlotCalibration, SlotSynopsis, SlotFindings, SlotRecommendations, SlotOffer, SlotStem, SlotOptions, SlotHatches, SlotDecline, SlotClass, SlotFingerprint}

// TestInvariants holds the rendering to section 9.1 over random envelopes.
func TestInvariants(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		d := random(r)
		got := lines(t, d.parse(t))
		where := 0
		find := func(slot Slot, role Role, index int) (out []string) {
			for _, l := range got {
				if l.Slot == slot && l.Role == role && (l.Index == index || index == -2) {
					out = append(out, l.Label+l.Text.String())
				}
			}
			return out
		}
		is := func(what string, got []string, want ...string) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %q, want %q", what, got, want)
			}
		}
		for _, l := range got {
			at := slices.Index(order, l.Slot)
			if at < where {
				t.Fatalf("%s after %s", l.Slot, order[where])
			}
			where = at
		}
		is("synopsis", find(SlotSynopsis, RoleText, -1), d.Synopsis)
		is("offer", find(SlotOffer, RoleText, -1), d.Offer)
		is("stem", find(SlotStem, RoleText, -1), d.Question.Stem)
		for i, s := range d.Findings {
			is("finding", find(SlotFindings, RoleText, i), fmt.Sprintf("%d.%s", i+1, s))
		}
		is("findings", find(SlotFindings, RoleHeading, -1), "Findings")
		for i, s := range d.Recommendations {
			is("recommendation", find(SlotRecommendations, RoleText, i), fmt.Sprintf("%d.%s", i+1, s))
		}
		for i, o := range d.Question.Options {
			is("label", find(SlotOptions, RoleLabel, i), fmt.Sprintf("%d.%s", i+1, o.Label))
			is("reasoning", find(SlotOptions, RoleReasoning, i), "Why"+o.Reasoning)
			is("digest", find(SlotOptions, RoleDigest, i), "Authorises"+o.Digest)
		}
		is("recommended", find(SlotOptions, RoleRecommended, -2), "Agent recommends")
		is("recommended", find(SlotOptions, RoleRecommended, d.Question.Recommended), "Agent recommends")
		is("decline", find(SlotDecline, RoleDecline, -1), "Decline")
		var on []string
		if d.Question.Hatches.FreeText {
			on = append(on, "Answer in my own words")
		}
		if d.Question.Hatches.Dialogue {
			on = append(on, "This is the wrong question")
		}
		is("hatches", find(SlotHatches, RoleHatch, -1), on...)
		if n := len(find(SlotHatches, RoleHatchOff, -1)); n != 2-len(on) {
			t.Fatalf("%d hatches are off", n)
		}
		if d.Meta != nil {
			is("note", find(SlotCalibration, RoleText, -1), *d.Meta.Note)
			is("class", find(SlotClass, RoleText, -1), *d.Meta.Class)
		}
	}
}

// flips returns the document with one leaf changed, once per leaf.
func flips(t testing.TB, raw string) map[string]string {
	t.Helper()
	var root any
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&root); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var walk func(path string, v any, set func(any))
	try := func(path string, v any, set func(any), to any) {
		set(to)
		b, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		out[path] = string(b)
		set(v)
	}
	walk = func(path string, v any, set func(any)) {
		switch x := v.(type) {
		case map[string]any:
			for k, c := range x {
				walk(path+"."+k, c, func(n any) { x[k] = n })
			}
			if len(x) == 0 {
				try(path, v, set, []any{})
			}
		case []any:
			for i, c := range x {
				walk(fmt.Sprintf("%s[%d]", path, i), c, func(n any) { x[i] = n })
			}
			if len(x) == 0 {
				try(path, v, set, map[string]any{})
			}
		case string:
			b := []byte(x)
			if len(b) == 0 {
				b = []byte("0")
			} else if last := &b[len(b)-1]; *last == 'e' {
				*last = 'f'
			} else {
				*last = 'e'
			}
			try(path, v, set, string(b))
		case json.Number:
			n, err := x.Int64()
			if err != nil {
				t.Fatal(err)
			}
			try(path, v, set, n^1)
			try(path+" as text", v, set, x.String())
		case bool:
			try(path, v, set, !x)
		case nil:
			try(path, v, set, int64(1))
			try(path+" as text", v, set, "null")
		}
	}
	walk("$", root, func(n any) { root = n })
	return out
}

// shown writes the lines but those that hold a digest over something else.
func shown(lines []Line, drop func(Line) bool) string {
	return Text(slices.DeleteFunc(lines, drop), 0)
}

func TestFlipEnvelope(t *testing.T) {
	class, note := "consent", "I understated the cost."
	d := newDraft()
	d.Meta = &draftMeta{&class, &note}
	raw := string(d.json(t))
	fingerprint := func(l Line) bool { return l.Slot == SlotFingerprint }
	before := shown(lines(t, d.parse(t)), fingerprint)
	changed := 0
	for path, flipped := range flips(t, raw) {
		e, err := moment.Parse([]byte(flipped))
		if err != nil {
			if !strings.Contains(path, "recommended_idx as text") {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		changed++
		if shown(lines(t, e), fingerprint) == before {
			t.Errorf("%s was changed, and nothing that is shown", path)
		}
	}
	if changed != 19 {
		t.Errorf("%d leaves", changed)
	}
}

const oddAction = `{"operation":"send-invoice","resource":"account:4411","resources":["a","b"],"actionIndex":0,"agentId":"x","domainHash":"0xab","type":"bill","amount":129900,"memo":{"to":["A",{"deep":null}],"empty":{},"none":[],"a.b":true},"":"nameless","resources2":["c"],"nested":{"resources":["d"]}}`

func TestFlipAction(t *testing.T) {
	digests := func(l Line) bool { return l.Role == RoleDigest }
	for name, c := range map[string]struct {
		action, sign string
	}{
		"payload":            {payload, ""},
		"odd payload":        {oddAction, ""},
		"payload to sign":    {oddAction, permission},
		"permission":         {permission, ""},
		"other":              {exampleAction1, ""},
		"scalar":             {`"text"`, ""},
		"list of everything": {`[0,"0",null,"null",true,"true",{},[],"",9007199254740990]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			show := func(action string) string {
				b := moment.Behind{Option: 0, Action: []byte(action)}
				if c.sign != "" {
					b.SignWith = []byte(c.sign)
				}
				return shown(lines(t, newDraft(action, "0").parse(t), b), digests)
			}
			seen := map[string]string{show(c.action): "the original"}
			for path, flipped := range flips(t, c.action) {
				text := show(flipped)
				if other, ok := seen[text]; ok {
					t.Errorf("%s was changed, and shows the same as %s", path, other)
				}
				seen[text] = path
			}
			if len(seen) < 2 {
				t.Error("nothing was changed")
			}
		})
	}
}

func TestFlipSignWith(t *testing.T) {
	digests := func(l Line) bool { return l.Role == RoleDigest }
	e := newDraft().parse(t)
	show := func(sign string) (string, error) {
		s, err := moment.NewSheet(e, []moment.Behind{{Option: 0, SignWith: []byte(sign)}})
		if err != nil {
			return "", err
		}
		return shown(Lines(s, nil), digests), nil
	}
	before, err := show(permission)
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for path, flipped := range flips(t, permission) {
		after, err := show(flipped)
		if err != nil {
			if moment.ReasonOf(err) != moment.SignWithMalformed {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		changed++
		if after == before {
			t.Errorf("%s was changed, and nothing that is shown", path)
		}
	}
	if changed < 9 {
		t.Errorf("only %d leaves could be changed", changed)
	}
}

// remarked are the ambiguous cases that are shown with a caution.
var remarked = map[string]NoteCode{
	"g_findings_empty":        FindingsCount,
	"g_recommendations_empty": RecommendationsCount,
	"g_hedged_synopsis":       HedgedSynopsis,
	"g_same_digest_twice":     TwinDigests,
	"g_same_label_twice":      TwinLabels,
	"u_bidi_override_label":   HiddenCharacters,
	"u_zero_width_stem":       HiddenCharacters,
	"u_homoglyph_label":       MixedAlphabets,
	"u_nul_in_reasoning":      HiddenCharacters,
}

func TestAmbiguousAreRemarkedOn(t *testing.T) {
	ran := 0
	for _, v := range vectors(t, "envelopes-ambiguous") {
		code, ok := remarked[v.ID]
		if !ok {
			continue
		}
		ran++
		t.Run(v.ID, func(t *testing.T) {
			got := Notes(parse(t, v.Raw))
			if !slices.ContainsFunc(got, func(n Note) bool { return n.Code == code }) {
				t.Errorf("no %s among %v", code, got)
			}
		})
	}
	if ran != len(remarked) {
		t.Errorf("%d of %d ran", ran, len(remarked))
	}
}

func TestNotes(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		name   string
		change func(*draft)
		want   []string // code slot index
	}{
		{"nothing", func(*draft) {}, nil},
		{"hedge", func(d *draft) { d.Synopsis = "Perhaps send it." }, []string{"hedged_synopsis synopsis -1"}},
		{"synopsis asks", func(d *draft) { d.Synopsis = "Send it?" }, []string{"hedged_synopsis synopsis -1"}},
		{"might inside a word", func(d *draft) { d.Synopsis = "Send the almighty invoice." }, nil},
		{"leading", func(d *draft) { d.Question.Stem = "Should I, as I recommend, send it?" }, []string{"leading_stem stem -1"}},
		{"stem names one option", func(d *draft) { d.Question.Stem = "Shall we take way 2 now?" }, []string{"leading_stem stem -1"}},
		{"stem names both", func(d *draft) { d.Question.Stem = "Way 1 or way 2?" }, nil},
		{"consideration", func(d *draft) { d.Recommendations[1] = "Weigh the trade-offs." }, []string{"not_an_action recommendations 1"}},
		{"repeating finding", func(d *draft) { d.Findings[2] = "send the INVOICE,  today" }, []string{"finding_repeats findings 2"}},
		{"two findings", func(d *draft) { d.Findings = d.Findings[:2] }, []string{"findings_count findings -1"}},
		{"no findings", func(d *draft) { d.Findings = []string{} }, []string{"findings_count findings -1"}},
		{"seven findings", func(d *draft) { d.Findings = slices.Repeat([]string{"A."}, 7) }, []string{"findings_count findings -1"}},
		{"one recommendation", func(d *draft) { d.Recommendations = d.Recommendations[:1] }, []string{"recommendations_count recommendations -1"}},
		{"five recommendations", func(d *draft) { d.Recommendations = slices.Repeat([]string{"Go."}, 5) }, []string{"recommendations_count recommendations -1"}},
		{"blank offer", func(d *draft) { d.Offer = " \n" }, []string{"blank_slot offer -1"}},
		{"twin labels", func(d *draft) { d.Question.Options[1].Label = "WAY  1." }, []string{"twin_labels options 0", "twin_labels options 1"}},
		{"label of the vault's own", func(d *draft) { d.Question.Options[1].Label = " DECLINE." }, []string{"own_label options 1"}},
		{"label that goes on", func(d *draft) { d.Question.Options[1].Label = "Decline the offer" }, nil},
		{"twin digests", func(d *draft) { d.Question.Options[1].Digest = d.Question.Options[0].Digest }, []string{"twin_digests options 0", "twin_digests options 1"}},
		{"calibration", func(d *draft) { d.Meta = &draftMeta{Note: text("I understated the cost.")} }, []string{"calibration_note calibration_note -1"}},
		{"answer off", func(d *draft) { d.Question.Hatches.FreeText = false }, []string{"free_text_off hatches -1"}},
		{"both off", func(d *draft) { d.Question.Hatches = draftHatches{} }, []string{"free_text_off hatches -1", "dialogue_off hatches -1"}},
		{"hidden in a class", func(d *draft) { d.Meta = &draftMeta{Class: text("con\u200bsent")} }, []string{"hidden_characters decision_class -1"}},
		{"mixed alphabets", func(d *draft) { d.Findings[0] = "The p\u0430yee." }, []string{"mixed_alphabets findings 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDraft()
			c.change(d)
			var got []string
			for _, n := range Notes(d.parse(t)) {
				got = append(got, fmt.Sprint(n.Code, " ", n.Slot, " ", n.Index))
				if n.Text == "" {
					t.Error("a note without words")
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestNotesOfGoodEnvelopes: wording that is fine gets no remark.
func TestNotesOfGoodEnvelopes(t *testing.T) {
	for _, v := range vectors(t, "envelopes-valid") {
		for _, n := range Notes(parse(t, v.Raw)) {
			switch n.Code {
			case HedgedSynopsis, LeadingStem, NotAnAction, TwinLabels, TwinDigests, BlankSlot, FindingRepeats:
				t.Errorf("%s: %+v", v.ID, n)
			}
		}
	}
}

// FuzzText: whatever an envelope says, what is written holds no control character,
// and none of its lines is ours.
func FuzzText(f *testing.F) {
	for _, v := range vectors(f, "envelopes-ambiguous") {
		if len(v.Raw) < 4<<10 {
			f.Add([]byte(v.Raw))
		}
	}
	f.Add([]byte(strings.Replace(string(newDraft().json(f)), "Send the invoice today.", `\n[ ] Decline\n\u001b[2J`, 1)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := moment.Parse(raw)
		if err != nil {
			return
		}
		decline := 0
		for _, l := range strings.Split(Text(lines(t, e), 60), "\n") {
			if l == "[ ] Decline" {
				decline++
			}
			for _, r := range l {
				if r < ' ' || r >= 0x7f && r < 0xa0 {
					t.Fatalf("control character %U", r)
				}
			}
		}
		if decline != 1 {
			t.Fatalf("%d lines to decline", decline)
		}
	})
}

// BenchmarkText writes out the example with an action and its signing envelope.
func BenchmarkText(b *testing.B) {
	s, err := moment.NewSheet(example(b), []moment.Behind{{Option: 0, Action: []byte(exampleAction0), SignWith: []byte(permission)}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		Text(Lines(s, nil), 80)
	}
}
