package facts_test

import (
	"fmt"
	"reflect"
	"testing"

	"vault/approvals/facts"
	"vault/approvals/moment"
	"vault/approvals/permit"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

func parsed(t *testing.T, text string) jcs.Value {
	t.Helper()
	v, err := jcs.Parse([]byte(text), jcs.Binding)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func signWith(t *testing.T) *envelope.ActionEnvelope {
	t.Helper()
	info, err := envelope.NewDomainInfo("acme", "ops", "finance")
	if err != nil {
		t.Fatal(err)
	}
	e, err := envelope.NewActionEnvelope(info, envelope.ActionFields{AgentID: "bot", Operation: "pay", Resources: []string{"account:1"}, Mode: envelope.ModeAction, MaxUses: envelope.Some(1)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The envelope's words always count; the payload's too, where it has its own.
func TestSignature(t *testing.T) {
	e := signWith(t)
	ofEnvelope := permit.Facts{Client: "c", Domain: e.DomainHash(), Operation: "pay", Resources: []string{"account:1"}, Known: true, Selects: true}
	for text, own := range map[string]*permit.Facts{
		`{"type":"x"}`:           nil,
		`{"domainHash":"0x01"}`:  nil,
		`{"operation":"refund"}`: {Client: "c", Operation: "refund", Known: true, Selects: true},
		`{"resource":"a"}`:       {Client: "c", Resources: []string{"a"}, Known: true, Selects: true},
		`{"domainHash":"0x01","operation":"refund","resource":"c","resources":["a","b"]}`: {Client: "c", Domain: "0x01", Operation: "refund", Resources: []string{"a", "b", "c"}, Known: true, Selects: true},
	} {
		want := []permit.Facts{ofEnvelope}
		if own != nil {
			want = []permit.Facts{*own, ofEnvelope}
		}
		if got := facts.Signature("c", e, parsed(t, text)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

// option is the row of an option with what stands behind it.
func option(t *testing.T, action string, with *envelope.ActionEnvelope, shown bool) moment.Row {
	t.Helper()
	digest, err := moment.ActionDigest([]byte(action))
	if err != nil {
		t.Fatal(err)
	}
	e, err := moment.Parse(fmt.Appendf(nil, `{"synopsis":"S.","findings":["F."],"recommendations":["R."],"offer":"O.","question":{"stem":"Which?","options":[`+
		`{"label":"One","reasoning":"R.","action_digest":%q},{"label":"Two","reasoning":"R.","action_digest":"sha256:%064x"}],"recommended_idx":0,"hatches":{"free_text":true,"dialogue":true}}}`, digest, 7))
	if err != nil {
		t.Fatal(err)
	}
	b := moment.Behind{Option: 0}
	if shown {
		b.Action = []byte(action)
	}
	if with != nil {
		b.SignWith = with.Canonical()
	}
	var behind []moment.Behind
	if shown || with != nil {
		behind = append(behind, b)
	}
	s, err := moment.NewSheet(e, behind)
	if err != nil {
		t.Fatal(err)
	}
	return s.Rows[0]
}

// An option asks for itself and, where it lets something be signed, for that signature; what was not shown may be any.
func TestOption(t *testing.T) {
	e := signWith(t)
	const plain, named = `{"type":"x"}`, `{"operation":"refund","type":"x"}`
	of := permit.Facts{Client: "c", Domain: e.DomainHash(), Operation: "pay", Resources: []string{"account:1"}, Known: true, Selects: true}
	refund := permit.Facts{Client: "c", Operation: "refund", Known: true, Selects: true}
	unseen := permit.Facts{Client: "c", Selects: true}
	shownAny := permit.Facts{Client: "c", Known: true, Selects: true}
	moments := func(f permit.Facts) permit.Facts { f.Moment, f.Class = true, "class"; return f }
	for name, c := range map[string]struct {
		row  moment.Row
		want []permit.Facts
	}{
		"nothing shown":              {option(t, plain, nil, false), []permit.Facts{moments(unseen)}},
		"shown, without words":       {option(t, plain, nil, true), []permit.Facts{moments(shownAny)}},
		"shown":                      {option(t, named, nil, true), []permit.Facts{moments(refund)}},
		"an envelope, nothing shown": {option(t, named, e, false), []permit.Facts{moments(of), of, moments(unseen), unseen}},
		"an envelope, shown":         {option(t, named, e, true), []permit.Facts{moments(refund), refund, moments(of), of}},
		"an envelope, without words": {option(t, plain, e, true), []permit.Facts{moments(of), of}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := facts.Option("c", "class", c.row); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
	if got := facts.Resolution("c", "class"); !reflect.DeepEqual(got, permit.Facts{Moment: true, Client: "c", Class: "class"}) {
		t.Errorf("%+v", got)
	}
}
