package sow_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vault/approvals/sow"
	"vault/derive/tag"
	"vault/internal/samplekey"
)

func TestSignatureText(t *testing.T) {
	k, _ := samplekey.Of(t, "owner/copperline")
	// A message whose signature has both of the letters that differ.
	var sig []byte
	for i := 0; ; i++ {
		sig = ed25519.Sign(k, fmt.Append(nil, i))
		if s := sow.SignatureText(sig); strings.ContainsAny(s, "-") && strings.ContainsAny(s, "_") {
			break
		}
	}
	for name, s := range map[string]string{"base64url": sow.SignatureText(sig), "base64": base64.StdEncoding.EncodeToString(sig)} {
		if got, err := sow.ParseSignature(s); err != nil || !slices.Equal(got, sig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	url := sow.SignatureText(sig)
	for name, s := range map[string]string{
		"empty": "", "truncated": url[:85], "longer": url + "A", "spaces": " " + url, "line end": url[:43] + "\n" + url[43:],
		"63 bytes": base64.RawURLEncoding.EncodeToString(sig[:63]), "base64 without padding": strings.TrimRight(base64.StdEncoding.EncodeToString(sig), "="),
		"base64url with padding": url + "==", "trailing bits": url[:85] + string(url[85]+1), "one padding": base64.StdEncoding.EncodeToString(sig)[:87],
		"hex": fmt.Sprintf("%x", sig),
	} {
		if _, err := sow.ParseSignature(s); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// TestSeats: who counts on which seat, with and without keys known.
func TestSeats(t *testing.T) {
	base := doc(t, fixedFee)
	other := func(raw []byte) []byte {
		var tree map[string]any
		if err := json.Unmarshal(raw, &tree); err != nil {
			t.Fatal(err)
		}
		records := tree["signatures"].([]any)
		r := records[0].(map[string]any)
		b, err := sow.ParseSignature(r["sig"].(string))
		if err != nil {
			t.Fatal(err)
		}
		r["sig"] = base64.StdEncoding.EncodeToString(b)
		out, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	swap := edit(t, edit(t, base, "signatures[0].role", "provider"), "signatures[1].role", "client")
	junk := edit(t, base, "signatures[+]", map[string]string{"role": "client", "key": "U", "sig": "x"})
	copied := edit(t, edit(t, base, "signatures[1]", drop{}), "signatures[+]", json.RawMessage(`{"role":"provider","key":"UBLV4KA2U2DVISX4C6YHORFOXSY5GK5ZBHNYAD6S7MVVT35S7Q4C7SKS","signed_at":"2026-09-28T10:16:05Z","sig":"FENTc_ZGWwd30Ld8KJLa2APi0pgb_0cMDvC0MKfeoVaCQNVjGMyP_rjKl0stNw6elAORtkjbDsLBgTKB47i-BA"}`))
	for name, c := range map[string]struct {
		raw             []byte
		pins            sow.Pins
		agreed          bool
		ignored         int
		finding, absent sow.Code
	}{
		"as signed":                   {base, sow.Pins{}, true, 0, "", "signature_invalid"},
		"by the keys known":           {base, pins(t), true, 0, "", "signer_not_owner"},
		"in the other base64":         {other(base), pins(t), true, 0, "", "signature_invalid"},
		"a junk record beside":        {junk, pins(t), true, 1, "signature_key", "not_agreed"},
		"roles exchanged, no keys":    {swap, sow.Pins{}, true, 0, "", ""}, // the signature does not cover the role
		"roles exchanged, keys known": {swap, pins(t), false, 2, "signer_not_owner", ""},
		"one copied to both seats":    {copied, sow.Pins{}, false, 0, "signature_same_key_both_roles", ""},
		"copied, keys known":          {copied, pins(t), false, 1, "signer_not_owner", ""},
		"one cut off":                 {edit(t, base, "signatures[1].sig", "AAAA"), pins(t), false, 1, "signature_invalid", ""},
		"a byte changed":              {edit(t, base, "volume.per_day", json.RawMessage("13")), pins(t), false, 2, "signature_invalid", ""},
		"none":                        {edit(t, base, "signatures", drop{}), pins(t), false, 0, "not_agreed", "one_signature"},
		"one":                         {edit(t, base, "signatures[0]", drop{}), pins(t), false, 0, "one_signature", ""},
		"the same twice":              {edit(t, base, "signatures[+]", json.RawMessage(`{"role":"client","key":"UBLV4KA2U2DVISX4C6YHORFOXSY5GK5ZBHNYAD6S7MVVT35S7Q4C7SKS","signed_at":"2026-09-28T10:16:05Z","sig":"FENTc_ZGWwd30Ld8KJLa2APi0pgb_0cMDvC0MKfeoVaCQNVjGMyP_rjKl0stNw6elAORtkjbDsLBgTKB47i-BA"}`)), pins(t), true, 1, "signature_role_duplicate", "signer_not_owner"},
	} {
		t.Run(name, func(t *testing.T) {
			s := document(t, c.raw).VerifySignatures(c.pins)
			if s.Agreed() != c.agreed || len(s.Ignored) != c.ignored {
				t.Errorf("agreed %v, ignored %v", s.Agreed(), s.Ignored)
			}
			if c.finding != "" && !s.Findings.Has(c.finding) || c.absent != "" && s.Findings.Has(c.absent) {
				t.Errorf("findings are %v", s.Findings)
			}
			if !c.agreed && c.ignored > 0 && s.Findings.OK() {
				t.Errorf("what is wrong with the records is no error: %v", s.Findings)
			}
			if c.agreed && !s.Findings.OK() {
				t.Errorf("agreed with errors: %v", s.Findings.Errors())
			}
		})
	}
}

// TestManyRecords: a document cannot make a reader verify without end.
func TestManyRecords(t *testing.T) {
	raw := edit(t, doc(t, fixedFee), "signatures", json.RawMessage(times(5000, `{"role":"client","key":"UBLV4KA2U2DVISX4C6YHORFOXSY5GK5ZBHNYAD6S7MVVT35S7Q4C7SKS","sig":"#"}`)))
	d := document(t, raw)
	if n := len(d.Signatures()); n != 32 {
		t.Errorf("%d records were looked at", n)
	}
	if s := d.VerifySignatures(sow.Pins{}); !s.Findings.Refused("signature_list") {
		t.Errorf("findings are %v", s.Findings.Errors())
	}
}

func TestState(t *testing.T) {
	d := good(t, fixedFee)
	agreed := d.VerifySignatures(pins(t))
	start, end, _, _ := d.Term()
	for name, c := range map[string]struct {
		doc  *sow.Document
		s    sow.Situation
		want sow.State
	}{
		"before its start":                  {d, sow.Situation{Seats: agreed, Now: start - 1}, sow.Agreed},
		"at its start":                      {d, sow.Situation{Seats: agreed, Now: start}, sow.Active},
		"just before its end":               {d, sow.Situation{Seats: agreed, Now: end - 1}, sow.Active},
		"at its end":                        {d, sow.Situation{Seats: agreed, Now: end}, sow.Lapsed},
		"cap reached":                       {d, sow.Situation{Seats: agreed, Now: start, CapReached: true}, sow.Exhausted},
		"cap reached and over":              {d, sow.Situation{Seats: agreed, Now: end, CapReached: true}, sow.Exhausted},
		"replaced":                          {d, sow.Situation{Seats: agreed, Now: start, CapReached: true, Superseded: true}, sow.Amended},
		"terminated":                        {d, sow.Situation{Seats: agreed, Now: end, Superseded: true, Terminated: true}, sow.Terminated},
		"not signed":                        {d, sow.Situation{Now: end, Terminated: true}, sow.Template},
		"signed by one":                     {d, sow.Situation{Seats: sow.Seats{Client: agreed.Client}, Now: start}, sow.PartiallySigned},
		"one version on, signed by one":     {good(t, "amendment-v2-proposal"), sow.Situation{Seats: sow.Seats{Provider: agreed.Provider}, Agreed: 1}, sow.AmendmentProposed},
		"two versions on, signed by one":    {edited(t, "amendment-v2-proposal", "version", "3"), sow.Situation{Seats: sow.Seats{Provider: agreed.Provider}, Agreed: 1}, sow.PartiallySigned},
		"an offer":                          {good(t, open), sow.Situation{Seats: sow.Seats{Provider: agreed.Provider}}, sow.StandingProposal},
		"an offer signed by its own client": {good(t, open), sow.Situation{Seats: sow.Seats{Client: agreed.Client}}, sow.PartiallySigned},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.doc.State(c.s); got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
		})
	}
}

func TestAuthority(t *testing.T) {
	approval := func(raw string) *sow.Document {
		return document(t, edit(t, doc(t, fixedFee), "change_control.approval", json.RawMessage(raw)))
	}
	v2 := func(raw string) *sow.Document {
		return document(t, edit(t, doc(t, "amendment-v2-proposal"), "change_control.approval", json.RawMessage(raw)))
	}
	for name, c := range map[string]struct {
		doc, inForce *sow.Document
		floor, want  sow.Authority
	}{
		"stated agent":             {approval(`{"formation":"agent"}`), nil, "", sow.ByAgent},
		"unstated":                 {approval(`{}`), nil, "", sow.ByAgent},
		"no approval member":       {document(t, edit(t, doc(t, fixedFee), "change_control.approval", drop{})), nil, "", sow.ByAgent},
		"unreadable value":         {approval(`{"formation":"robot"}`), nil, "", sow.ByPerson},
		"unreadable kind":          {approval(`{"formation":["agent"]}`), nil, "", sow.ByPerson},
		"null":                     {approval(`{"formation":null}`), nil, "", sow.ByPerson},
		"unreadable object":        {approval(`"agent"`), nil, "", sow.ByPerson},
		"no change control":        {document(t, edit(t, doc(t, fixedFee), "change_control", drop{})), nil, "", sow.ByPerson},
		"stated person":            {approval(`{"formation":"person"}`), nil, "", sow.ByPerson},
		"stated both":              {approval(`{"formation":"agent_then_person"}`), nil, "", sow.ByAgentThenPerson},
		"floor above":              {approval(`{"formation":"agent"}`), nil, sow.ByPerson, sow.ByPerson},
		"floor below":              {approval(`{"formation":"agent_then_person"}`), nil, sow.ByAgent, sow.ByAgentThenPerson},
		"floor unreadable":         {approval(`{"formation":"agent"}`), nil, "owner", sow.ByPerson},
		"amendment by agent":       {v2(`{"amendment":"agent"}`), approval(`{"amendment":"agent"}`), "", sow.ByPerson},
		"amendment unstated":       {v2(`{}`), approval(`{}`), sow.ByAgent, sow.ByPerson},
		"stricter in force":        {v2(`{"amendment":"agent"}`), approval(`{"amendment":"agent_then_person"}`), "", sow.ByAgentThenPerson},
		"stricter proposed":        {v2(`{"amendment":"agent_then_person"}`), approval(`{"amendment":"agent"}`), "", sow.ByAgentThenPerson},
		"version 2 alone":          {v2(`{"formation":"agent","amendment":"agent"}`), nil, "", sow.ByPerson},
		"version 1 beside another": {approval(`{"formation":"agent","amendment":"agent"}`), approval(`{"amendment":"agent"}`), "", sow.ByPerson},
		"version unreadable":       {document(t, edit(t, approval(`{"formation":"agent"}`).Raw(), "version", "1")), nil, "", sow.ByPerson},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sow.Needed(c.doc, c.inForce, c.floor); got != c.want {
				t.Errorf("needs %s, want %s", got, c.want)
			}
		})
	}
}

// TestIntent: an agent's intent is for one version and one act.
func TestIntent(t *testing.T) {
	d := good(t, metered)
	k, key := samplekey.Of(t, "agent/dray")
	sig := sow.SignatureText(ed25519.Sign(k, d.Intent("formation")))
	_, other := samplekey.Of(t, "agent/teal")
	want := tag.AgentIntent.Message([]byte(`{"act":"formation","digest":"` + d.Digest() + `","id":"` + d.ID() + `","version":1}`))
	if string(d.Intent("formation")) != string(want) || !d.VerifyIntent("formation", key, sig) {
		t.Errorf("the intent is %q", d.Intent("formation"))
	}
	if d.VerifyIntent("amendment", key, sig) || d.VerifyIntent("formation", other, sig) || d.VerifyIntent("formation", "U", sig) ||
		edited(t, metered, "version", "2").VerifyIntent("formation", key, sig) || edited(t, metered, "volume.per_day", "121").VerifyIntent("formation", key, sig) {
		t.Error("the intent verifies for something else")
	}
}

func TestParties(t *testing.T) {
	if p, ok := good(t, fixedFee).Party(sow.Client); !ok || p.Owner != "Saltmarsh & Finch Provisions" || p.Organization != "org_saltmarshfinch" || p.Handle == "" || p.Agent == "" {
		t.Errorf("the client is %+v", p)
	}
	if _, ok := good(t, open).Party(sow.Client); ok {
		t.Error("a blank seat has a party")
	}
	if p, ok := good(t, directedOffer).Party("offered_to"); !ok || p.Agent != brack {
		t.Errorf("the offer is for %+v", p)
	}
	var byHand []string
	for _, name := range []string{fixedFee, metered, free, open, directedOffer} {
		for _, g := range good(t, name).Grants() {
			if g.CloseByHand() {
				byHand = append(byHand, g.Name+" "+g.Via)
			}
		}
	}
	if !slices.Equal(byHand, []string{"invoice-scans link", "estate-register seat", "rate-cards link", "claims-queue "}) {
		t.Errorf("by hand: %q", byHand)
	}
}

func TestGiven(t *testing.T) {
	at := func(n int64) (g sow.Given) { g.Person.N, g.Person.Set = n, true; return g }
	both := func(a, p int64) sow.Given { g := at(p); g.Agent.N, g.Agent.Set = a, true; return g }
	agent := func() (g sow.Given) { g.Agent.Set = true; return g }
	for name, c := range map[string]struct {
		need  sow.Authority
		given sow.Given
		now   int64
		want  sow.Code
	}{
		"agent":                      {sow.ByAgent, agent(), 5, ""},
		"agent, nothing":             {sow.ByAgent, sow.Given{}, 5, "approval_authority_unmet"},
		"agent, a person is more":    {sow.ByAgent, at(3), 5, ""},
		"person":                     {sow.ByPerson, at(3), 5, ""},
		"person, an agent is less":   {sow.ByPerson, agent(), 5, "approval_pending"},
		"person, after the window":   {sow.ByPerson, sow.Given{}, 10, "approval_lapsed"},
		"person, at the window":      {sow.ByPerson, at(10), 11, "approval_lapsed"},
		"person, just in time":       {sow.ByPerson, at(9), 11, ""},
		"both":                       {sow.ByAgentThenPerson, both(3, 4), 5, ""},
		"both at one instant":        {sow.ByAgentThenPerson, both(3, 3), 5, ""},
		"both, person first":         {sow.ByAgentThenPerson, both(4, 3), 5, "approval_order"},
		"both, agent only":           {sow.ByAgentThenPerson, agent(), 5, "approval_pending"},
		"both, person only":          {sow.ByAgentThenPerson, at(3), 5, "approval_authority_unmet"},
		"both, person never arrived": {sow.ByAgentThenPerson, agent(), 10, "approval_lapsed"},
	} {
		t.Run(name, func(t *testing.T) {
			f := sow.CheckGiven(c.need, c.given, c.now, 10)
			if c.want == "" && f != nil || c.want != "" && (f == nil || f.Code != c.want) {
				t.Errorf("got %v", f)
			}
		})
	}
}

// TestJoin: copies of one document bring their records together, and none takes
// the place of a good one.
func TestJoin(t *testing.T) {
	d := good(t, fixedFee)
	keys := pins(t)
	only := func(i string) *sow.Document { return document(t, edit(t, d.Raw(), "signatures["+i+"]", drop{})) }
	flipped := document(t, edit(t, d.Raw(), "signatures[1].sig", sow.SignatureText(make([]byte, 64))))
	full := document(t, edit(t, d.Raw(), "signatures", json.RawMessage(times(32, `{"role":"client","key":"`+keys.Client+`","signed_at":"#","sig":"`+sow.SignatureText(make([]byte, 64))+`"}`))))
	for name, c := range map[string]struct {
		copies []*sow.Document
		agreed bool
		count  int
	}{
		"one":                             {[]*sow.Document{d}, true, 2},
		"the same twice":                  {[]*sow.Document{d, d}, true, 2},
		"a seat each":                     {[]*sow.Document{only("0"), only("1")}, true, 2},
		"a good one, then a forged one":   {[]*sow.Document{d, flipped}, true, 3},
		"a forged one, then a good one":   {[]*sow.Document{flipped, d}, true, 3},
		"as many forged ones as are read": {[]*sow.Document{full, d}, true, 32},
		"behind as many":                  {[]*sow.Document{d, full}, true, 32},
		"of other bytes":                  {[]*sow.Document{only("0"), good(t, "amendment-v2-proposal")}, false, 1},
		"none signed":                     {[]*sow.Document{document(t, edit(t, d.Raw(), "signatures", drop{}))}, false, 0},
	} {
		got, err := sow.Join(c.copies...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := got.VerifySignatures(keys)
		if s.Agreed() != c.agreed || got.Get("signatures").Len() != c.count || got.Digest() != c.copies[0].Digest() || c.agreed && !s.Findings.OK() {
			t.Errorf("%s: agreed %v, %d records, %v", name, s.Agreed(), got.Get("signatures").Len(), s.Findings.Errors())
		}
	}
	if same, err := sow.Join(d, only("0"), d); err != nil || string(same.Raw()) != string(d.Raw()) {
		t.Error("copies that add nothing change the first one's bytes")
	}
	if _, err := sow.Join(); err == nil {
		t.Error("no copies are joined")
	}
}
