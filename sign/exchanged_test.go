package sign

import (
	"fmt"
	"strings"
	"testing"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/derive/confirm"
)

// TestExchangedAfterTheAsking offers a confirmation for another act than the page spoke of, where the digest in its
// context, which is a document's, is the same: nothing that the entry says may differ.
func TestExchangedAfterTheAsking(t *testing.T) {
	t.Run("an option that was confirmed without its signing envelope", func(t *testing.T) {
		d := open(t)
		b := d.browse()
		d.enrol()
		env := momentOf(t, "which?")
		_, signing := d.action(d.fields(), momentAction)
		with, lie := d.resolved(env, signing.Envelope)
		plain, act := with, lie
		act.Behind = []byte(fmt.Sprintf(`[{"option":0,"action":%s}]`, momentAction))
		sheet := sheetOf(t, env, act.Behind)
		plain.SheetDigest, plain.SignWith = sheet.Digest(), ""
		by := func(b journal.MomentResolved) func(string) any {
			return func(record string) any { b.By, b.Confirmation = "passkey", record; return b }
		}
		id, record := d.ask(journal.KindMomentResolved, act, by(plain))
		if said := b.saidLast(t); strings.Contains(said, "signed once") || !strings.Contains(said, "ship it") {
			t.Error(said)
		}
		lie.Confirmation = id
		d.refused(keys.CodeOtherAct, journal.KindMomentResolved, by(with)(record), lie)
		d.confirmed(journal.KindMomentResolved, act, by(plain))

		// Of one that may be signed the page says under what, and of one that was not shown that it was not.
		for _, c := range []struct{ behind, want string }{
			{fmt.Sprintf(`[{"option":0,"action":%s,"sign_with":%s}]`, momentAction, signing.Envelope), "signed once, under this action envelope.\nOperation: “write”\nDomain: “main”"},
			{`[]`, "The vault has not seen the action."},
		} {
			env = momentOf(t, "which, "+c.behind[:2])
			sheet = sheetOf(t, env, []byte(c.behind))
			body, act := d.resolved(env, signing.Envelope)
			act.Behind, body.SheetDigest, body.SignWith, body.Unseen = []byte(c.behind), sheet.Digest(), "", sheet.Rows[0].Action == nil
			if row := sheet.Rows[0]; row.SignWith != nil {
				body.SignWith = row.SignWith.Hash()
			}
			d.confirmed(journal.KindMomentResolved, act, by(body))
			contains(t, b.saidLast(t), c.want)
		}
	})
	t.Run("the same moment of another session", func(t *testing.T) {
		d := open(t)
		d.browse()
		d.enrol()
		env := momentOf(t, "which?")
		_, signing := d.action(d.fields(), momentAction)
		body, act := d.resolved(env, signing.Envelope)
		other := body
		other.Session, other.Moment = "s2", journal.MomentID(d.clientID, "s2", env.Digest())
		by := func(b journal.MomentResolved) func(string) any {
			return func(record string) any { b.By, b.Confirmation = "passkey", record; return b }
		}
		id, record := d.ask(journal.KindMomentResolved, act, by(body))
		act.Confirmation = id
		d.refused(keys.CodeOtherAct, journal.KindMomentResolved, by(other)(record), act)
	})
	t.Run("a decline of another session", func(t *testing.T) {
		d := open(t)
		d.browse()
		d.enrol()
		env := momentOf(t, "which?")
		_, signing := d.action(d.fields(), momentAction)
		resolved, act := d.resolved(env, signing.Envelope)
		r := env.Decline()
		act.Payload = r.Canonical()
		by := func(session string) func(string) any {
			return func(record string) any {
				return journal.MomentDeclined{
					Moment: journal.MomentID(d.clientID, session, env.Digest()), Client: d.clientID, Session: session, EnvelopeDigest: env.Digest(),
					SheetDigest: resolved.SheetDigest, ResolutionDigest: r.Digest(), Confirmation: record,
				}
			}
		}
		id, record := d.ask(journal.KindMomentDeclined, act, by("s1"))
		act.Confirmation = id
		d.refused(keys.CodeOtherAct, journal.KindMomentDeclined, by("s2")(record), act)
		act.Confirmation = ""
		d.confirmed(journal.KindMomentDeclined, act, by("s1"))
	})
	t.Run("the row of a delegate", func(t *testing.T) {
		d := openMint(t)
		m := d.body(d.form())
		b, row, act := d.issuing(m)
		of := func(row permit.Delegate) (func(string) any, keys.Act) {
			body, a := b, act
			raw := encode(t, row)
			a.Permits, body.PermitSHA256 = []keys.Permit{{Body: raw}}, permit.SHA256(raw)
			return func(record string) any { body.Confirmation = record; return body }, a
		}
		shown, asked := of(row)
		row.WhileAway = true
		other, lie := of(row)
		id, record := d.ask(journal.KindDelegateIssued, asked, shown)
		lie.Confirmation = id
		d.refused(keys.CodeOtherAct, journal.KindDelegateIssued, other(record), lie)
	})
}

// TestPageNamesWhatIsGiven: what a row or a policy gives beyond its numbers stands on the page too.
func TestPageNamesWhatIsGiven(t *testing.T) {
	d := open(t)
	b := d.browse()
	d.enrol()
	says := func(kind journal.Kind, act keys.Act, body func(string) any) string {
		t.Helper()
		d.ask(kind, act, body)
		said := b.saidLast(t)
		if err := d.signer.Stop(t.Context(), d.signer.ceremony.id); err != nil {
			t.Fatal(err)
		}
		return said
	}
	a, act := d.action(d.fields(), `{"note":1}`)
	_, row := d.grantRow(a, 5)
	row.By, row.WhileAway = "passkey", true
	raw := encode(t, row)
	act.Permits = append(act.Permits, keys.Permit{Body: raw})
	said := says(journal.KindGrantMade, act, func(record string) any {
		return journal.GrantMade{
			Grant: row.ID, Client: row.Client, EnvelopeHash: row.EnvelopeHash, Uses: row.Uses, NotAfter: row.NotAfter, By: "passkey",
			PermitSHA256: permit.SHA256(raw), Confirmation: record,
		}
	})
	contains(t, said, "It goes on while the screen is locked.")

	policy := func(p permit.Policy) func(string) any {
		body, err := d.setPolicy("passkey", p)
		if err != nil {
			t.Fatal(err)
		}
		return func(record string) any { body.Confirmation = record; return body }
	}
	tight, err := d.setPolicy("click", permit.Policy{SoWFloor: "agent_then_person", Ordinary: []string{"food"}})
	if err != nil {
		t.Fatal(err)
	}
	d.must(journal.KindPolicyChanged, tight, keys.Act{})
	said = says(journal.KindPolicyChanged, keys.Act{}, policy(permit.Policy{}))
	contains(t, said, "Some things will need only a click.")
	contains(t, said, "Your signature under agreements, until now: your agent asks, then you")
	contains(t, said, "Your signature under agreements, afterwards: as each document says")
	contains(t, said, "Classes that are ordinary no more: 1")
	said = says(journal.KindPolicyChanged, keys.Act{}, policy(permit.Policy{SoWFloor: "agent_then_person"}))
	contains(t, said, "Nothing will need less than until now.")
}

func contains(t *testing.T, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("the page does not say %q:\n%s", want, text)
	}
}

// TestPolicySaysFit: the largest change of rules can be shown whole, and so be confirmed.
func TestPolicySaysFit(t *testing.T) {
	policy := func(prefix string) (p permit.Policy) {
		for i := range permit.MaxRules {
			p.Rules = append(p.Rules, permit.Rule{Scope: permit.ScopeAction, Operation: fmt.Sprintf("%s%d", prefix, i)})
		}
		for i := range permit.MaxClasses {
			p.Ordinary = append(p.Ordinary, fmt.Sprintf("%s%02d", prefix, i))
		}
		return p
	}
	now, next := policy("a"), policy("b")
	now.SoWFloor = "person"
	for _, p := range []permit.Policy{now, next} {
		if _, err := p.Canonical(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(policySays(now, next)); n > confirm.MaxLines {
		t.Errorf("%d lines", n)
	}
}

// TestHostileTextCanBeShown: text of which every character has to be spelled out is cut, and does not keep the act from
// being asked about.
func TestHostileTextCanBeShown(t *testing.T) {
	d := open(t)
	b := d.browse()
	d.enrol()
	body, act := d.action(d.fields(), fmt.Sprintf(`{"note":"%s"}`, strings.Repeat("\U000E0001", 12_000)))
	body.By = "passkey"
	d.confirmed(journal.KindActionSigned, act, func(record string) any { body.Confirmation = record; return body })
	said := b.saidLast(t)
	contains(t, said, "<U+E0001>")
	contains(t, said, "bytes more, shown in the vault’s window")
}

// TestLastStepIsTold: a page that says more than is listened to does not keep its end from being heard.
func TestLastStepIsTold(t *testing.T) {
	for _, last := range []keys.StepKind{keys.StepAnswered, keys.StepPending, keys.StepEnded} {
		c := &ceremony{steps: make(chan keys.Step, maxSteps), stop: func() {}}
		for range 2 * maxSteps {
			c.tell(keys.Step{Kind: keys.StepAsking})
		}
		c.tell(keys.Step{Kind: last})
		c.close()
		var kind keys.StepKind
		for st := range c.steps {
			kind = st.Kind
		}
		if kind != last {
			t.Errorf("%s was not told", last)
		}
	}
}
