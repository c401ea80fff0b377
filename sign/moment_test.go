package sign

import (
	"fmt"
	"strings"
	"testing"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/moment"
)

const momentAction = `{"note":"ship it"}`

// momentOf is an envelope of two options, the first of which authorises momentAction.
func momentOf(t testing.TB, stem string) *moment.Envelope {
	t.Helper()
	digest, err := moment.ActionDigest([]byte(momentAction))
	if err != nil {
		t.Fatal(err)
	}
	e, err := moment.Parse([]byte(fmt.Sprintf(`{"synopsis":"s","findings":["f"],"recommendations":["r"],"offer":"o","question":{"stem":%q,`+
		`"options":[{"label":"a","reasoning":"x","action_digest":%q},{"label":"b","reasoning":"y","action_digest":"sha256:%s"}],`+
		`"recommended_idx":0,"hatches":{"free_text":true,"dialogue":false}}}`, stem, digest, strings.Repeat("0", 64))))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// sheetOf is what is laid before the owner with that behind the options.
func sheetOf(t testing.TB, env *moment.Envelope, behind []byte) *moment.Sheet {
	t.Helper()
	list, err := moment.ParseBehind(behind)
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := moment.NewSheet(env, list)
	if err != nil {
		t.Fatal(err)
	}
	return sheet
}

// resolved is an act that selects the first option, to be made worse by a test.
func (d *desk) resolved(env *moment.Envelope, signWith []byte) (journal.MomentResolved, keys.Act) {
	d.t.Helper()
	behind := []byte(fmt.Sprintf(`[{"option":0,"action":%s,"sign_with":%s}]`, momentAction, signWith))
	sheet := sheetOf(d.t, env, behind)
	r, err := sheet.Select(0)
	if err != nil {
		d.t.Fatal(err)
	}
	return journal.MomentResolved{
			Moment: journal.MomentID(d.clientID, "s1", env.Digest()), Client: d.clientID, Session: "s1", EnvelopeDigest: env.Digest(),
			SheetDigest: sheet.Digest(), Choice: "option", Option: 0, ActionDigest: sheet.Rows[0].ActionDigest,
			SignWith: sheet.Rows[0].SignWith.Hash(), ResolutionDigest: r.Digest(), By: "click",
		}, keys.Act{
			Payload: r.Canonical(), Moment: env.Canonical(), Behind: behind, Permits: []keys.Permit{d.client},
		}
}

// TestMomentGuards has a row for each lie about a resolution.
func TestMomentGuards(t *testing.T) {
	type lie func(d *desk, b *journal.MomentResolved, a *keys.Act)
	for _, tt := range []struct {
		name string
		lie  lie
		code string
	}{
		{"another envelope", func(d *desk, _ *journal.MomentResolved, a *keys.Act) { a.Moment = momentOf(d.t, "other?").Canonical() }, "wrong_moment"},
		{"no envelope", func(_ *desk, _ *journal.MomentResolved, a *keys.Act) { a.Moment = nil }, "wrong_moment"},
		{"nothing was shown behind", func(_ *desk, _ *journal.MomentResolved, a *keys.Act) { a.Behind = nil }, "wrong_sheet"},
		{"another action was shown", func(_ *desk, _ *journal.MomentResolved, a *keys.Act) {
			a.Behind = []byte(strings.Replace(string(a.Behind), "ship", "skip", 1))
		}, "wrong_sheet"},
		{"another option", func(_ *desk, b *journal.MomentResolved, _ *keys.Act) { b.Option = 1 }, "wrong_resolution"},
		{"the resolution of another option", func(d *desk, b *journal.MomentResolved, a *keys.Act) {
			r, _ := momentOf(d.t, "which?").Select(1)
			a.Payload = r.Canonical()
		}, "wrong_resolution"},
		{"a hatch that is off", func(_ *desk, b *journal.MomentResolved, a *keys.Act) {
			text := `{"binding_moment_resolution":{"envelope_digest":"` + b.EnvelopeDigest + `","resolution":"question"}}`
			r, _ := moment.ParseResolution([]byte(text))
			a.Payload, b.ResolutionDigest, b.Choice, b.Option, b.ActionDigest, b.SignWith = r.Canonical(), r.Digest(), "question", -1, "", ""
		}, "wrong_resolution"},
		{"another action", func(_ *desk, b *journal.MomentResolved, _ *keys.Act) {
			b.ActionDigest = "sha256:" + strings.Repeat("0", 64)
		}, "wrong_resolution"},
		{"another signing envelope", func(_ *desk, b *journal.MomentResolved, _ *keys.Act) { b.SignWith = journal.HashOf(nil) }, "wrong_resolution"},
		{"an action that was shown, said not to be", func(_ *desk, b *journal.MomentResolved, _ *keys.Act) { b.Unseen = true }, "wrong_resolution"},
		{"the id of another session", func(_ *desk, b *journal.MomentResolved, _ *keys.Act) { b.Session = "s2" }, "moment_name"},
		{"an answer that selects", func(_ *desk, b *journal.MomentResolved, _ *keys.Act) { b.Choice = "answer" }, "moment_form"},
		{"a passkey that is not there", func(_ *desk, b *journal.MomentResolved, _ *keys.Act) {
			b.By, b.Confirmation = "passkey", journal.Zero
		}, "no_passkey"},
		{"client without a row", func(_ *desk, _ *journal.MomentResolved, a *keys.Act) { a.Permits = nil }, "bad_permit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t)
			_, signing := d.action(d.fields(), momentAction)
			body, act := d.resolved(momentOf(t, "which?"), signing.Envelope)
			right, rightAct := body, act
			tt.lie(d, &body, &act)
			d.refused(tt.code, journal.KindMomentResolved, body, act)
			d.must(journal.KindMomentResolved, right, rightAct)
			d.refused("twice", journal.KindMomentResolved, right, rightAct)
		})
	}
	t.Run("a blocked option", func(t *testing.T) {
		d := open(t)
		env := momentOf(t, "which?")
		_, signing := d.action(d.fields(), momentAction)
		body, act := d.resolved(env, signing.Envelope)
		behind := []byte(strings.Replace(string(act.Behind), `"option":0`, `"option":1`, 1))
		sheet := sheetOf(t, env, behind)
		r, err := env.Select(1) // the envelope has it; what was presented behind it is another action
		if err != nil {
			t.Fatal(err)
		}
		body.Option, body.ActionDigest, body.SheetDigest, body.ResolutionDigest = 1, sheet.Rows[1].ActionDigest, sheet.Digest(), r.Digest()
		act.Behind, act.Payload = behind, r.Canonical()
		d.refused("action_mismatch", journal.KindMomentResolved, body, act)
	})
}

// TestMomentAction has a row for each lie about the action of a resolved moment.
func TestMomentAction(t *testing.T) {
	type lie func(d *desk, b *journal.ActionSigned, a *keys.Act)
	for _, tt := range []struct {
		name string
		lie  lie
		code string
	}{
		{"another action", func(d *desk, b *journal.ActionSigned, a *keys.Act) {
			b2, a2 := d.action(d.fields(), `{"note":"skip it"}`)
			b.Digest, a.Payload = b2.Digest, a2.Payload
		}, "action_mismatch"},
		{"another moment's envelope", func(d *desk, _ *journal.ActionSigned, a *keys.Act) { a.Moment = momentOf(d.t, "other?").Canonical() }, "wrong_moment"},
		{"no envelope", func(_ *desk, _ *journal.ActionSigned, a *keys.Act) { a.Moment = nil }, "wrong_moment"},
		{"another signing envelope", func(d *desk, b *journal.ActionSigned, a *keys.Act) {
			f := d.fields()
			f.ActionIndex = 9
			b2, a2 := d.action(f, momentAction)
			b2.Moment = b.Moment
			*b, a.Envelope = b2, a2.Envelope
		}, "moment_other"},
		{"a moment that is not resolved", func(d *desk, b *journal.ActionSigned, _ *keys.Act) {
			b.Moment = journal.MomentID(d.clientID, "s2", momentOf(d.t, "which?").Digest())
		}, "unknown_moment"},
		{"another client's moment", func(d *desk, b *journal.ActionSigned, a *keys.Act) {
			client, row := d.clientID, d.client
			d.pair("c_0000000000000002")
			b.Client, a.Permits = d.clientID, []keys.Permit{d.client}
			d.clientID, d.client = client, row
		}, "unknown_moment"},
		{"a declined moment", func(d *desk, b *journal.ActionSigned, a *keys.Act) {
			env := momentOf(d.t, "declined?")
			b.Moment = journal.MomentID(d.clientID, "s1", env.Digest())
			a.Moment = env.Canonical()
			d.must(journal.KindMomentDeclined, journal.MomentDeclined{
				Moment: b.Moment, Client: d.clientID, Session: "s1", EnvelopeDigest: env.Digest(),
				SheetDigest: journal.HashOf(nil), ResolutionDigest: env.Decline().Digest(),
			}, keys.Act{})
		}, "moment_other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t)
			env := momentOf(t, "which?")
			body, act := d.action(d.fields(), momentAction)
			made, madeAct := d.resolved(env, act.Envelope)
			d.must(journal.KindMomentResolved, made, madeAct)
			body.Request, body.Session, body.Moment, act.Moment = made.Moment, "s1", made.Moment, env.Canonical()
			right, rightAct := body, act
			tt.lie(d, &body, &act)
			d.refused(tt.code, journal.KindActionSigned, body, act)
			if answer := d.must(journal.KindActionSigned, right, rightAct); answer.Signature == "" {
				t.Fatal("nothing was signed")
			}
			right.Use++
			d.refused("moment_signed", journal.KindActionSigned, right, rightAct)
		})
	}
}
