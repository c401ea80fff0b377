package approvals_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/journal"
	"vault/approvals/moment"
	"vault/approvals/receipt"
	"vault/derive/envelope"
)

const (
	shipText = `{"type":"example.message","text":"ship it"}`
	holdText = `{"type":"example.message","text":"hold it"}`
)

// momentText is a moment whose two options authorise shipText and holdText.
func momentText(t testing.TB, stem, hatches, meta string) []byte {
	t.Helper()
	digest := func(text string) string {
		d, err := moment.ActionDigest([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if hatches == "" {
		hatches = `{"free_text":true,"dialogue":true}`
	}
	if meta != "" {
		meta = `,"meta":` + meta
	}
	return []byte(fmt.Sprintf(`{"synopsis":"Ship today.","findings":["It is ready.","It is paid."],"recommendations":["Ship it."],"offer":"Ask about either.",`+
		`"question":{"stem":%q,"options":[{"label":"Ship","reasoning":"It is paid.","action_digest":%q},{"label":"Hold","reasoning":"It may rain.","action_digest":%q}],`+
		`"recommended_idx":0,"hatches":%s}%s}`, stem, digest(shipText), digest(holdText), hatches, meta))
}

// behind is what stands behind the options: the action and an envelope for the first, the
// action alone for the second.
func behind(signWith []byte) []byte {
	return []byte(`[{"option":0,"action":` + shipText + `,"sign_with":` + string(signWith) + `},{"option":1,"action":` + holdText + `}]`)
}

func (a *agent) present(session string, envelope, actions []byte) (approvals.Answer, error) {
	return a.conn.MomentPresent(context.Background(), approvals.Presentation{
		Session: session, BindingMoment: envelope, Fallback: "Shall I ship?", Actions: actions, ToolServer: "warehouse",
	})
}

// laid presents a moment that must come before the owner.
func (a *agent) laid(session string, envelope, actions []byte) string {
	a.w.t.Helper()
	ans, err := a.present(session, envelope, actions)
	if err != nil || ans.Pending == "" {
		a.w.t.Fatalf("present: %+v, %v", ans, err)
	}
	return ans.Pending
}

func (a *agent) await(session, id string) (approvals.Answer, error) {
	return a.conn.MomentAwait(context.Background(), session, id)
}

// reason is the reason of a fallback, or "" for another answer.
func reason(a approvals.Answer) string {
	var out struct {
		Fallback struct{ Reason string }
	}
	_ = json.Unmarshal(a.Result, &out)
	return out.Fallback.Reason
}

func (w *world) resolve(s approvals.Sheet, change func(*approvals.Decision)) approvals.Outcome {
	w.t.Helper()
	d := approvals.Decision{ID: s.ID, Digest: s.Digest}
	change(&d)
	out, err := w.owner.Decide(context.Background(), d)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func option(n int) func(*approvals.Decision) {
	return func(d *approvals.Decision) { d.Verdict, d.Option = approvals.VerdictOption, n }
}

func verdict(v approvals.Verdict) func(*approvals.Decision) {
	return func(d *approvals.Decision) { d.Verdict = v }
}

// momentWorld is an open vault with one agent.
func momentWorld(t *testing.T) (*world, *agent) {
	w := newWorld(t)
	w.create()
	return w, w.pair("Shipper")
}

func TestMomentSelectedAndSigned(t *testing.T) {
	w, a := momentWorld(t)
	text := momentText(t, "Ship it?", "", "")
	env := w.envelope(nil)
	id := a.laid("s1", text, behind(env))
	s := w.openFirst()
	m := s.Moment
	if s.Kind != approvals.ItemMoment || s.Agent != "Shipper" || m.Moment != id || m.ToolServer != "warehouse" || m.Addresses[0] == "" ||
		len(m.Addresses) != 1 || m.Sheet.Rows[0].Action == nil || m.Repetition != (moment.Repetition{}) {
		t.Fatalf("%+v", m)
	}
	if _, err := a.conn.MomentSign(context.Background(), approvals.MomentAction{Session: "s1", Moment: id, Action: []byte(shipText)}); code(err) != approvals.CodeMomentOpen {
		t.Fatalf("signed before it was resolved: %v", err)
	}
	out := w.resolve(s, option(0))
	if out.Code != approvals.OutcomeDone || out.Answered.Label != "Ship" || out.Answered.EnvelopeDigest != m.EnvelopeDigest {
		t.Fatalf("%+v", out)
	}
	want := `{"binding_moment_resolution":{"envelope_digest":"` + m.EnvelopeDigest + `","option_idx":0,"resolution":"option"}}`
	for range 2 {
		if ans, err := a.await("s1", id); err != nil || string(ans.Result) != want {
			t.Fatalf("%s, %v", ans.Result, err)
		}
	}
	if out := w.resolve(s, option(1)); out.Code != approvals.OutcomeDecided {
		t.Fatalf("resolved again: %+v", out)
	}
	sign := func(session, action string) (approvals.Answer, error) {
		return a.conn.MomentSign(context.Background(), approvals.MomentAction{Session: session, Moment: id, Action: []byte(action)})
	}
	if _, err := sign("s1", holdText); code(err) != "action_mismatch" {
		t.Fatalf("another action: %v", err)
	}
	if _, err := sign("s2", shipText); code(err) != approvals.CodeUnknownMoment {
		t.Fatalf("another session: %v", err)
	}
	if v, err := w.owner.Answered(0, 1); err != nil || v[0].Performed != "selected, not performed" {
		t.Fatalf("%+v, %v", v, err)
	}
	if n := w.keys.signed.Load(); n != 0 {
		t.Fatalf("%d signatures", n)
	}
	// The first answers are asked for at once; one signature comes of it.
	var first approvals.Answer
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i := range 4 {
		wg.Go(func() {
			ans, err := sign("s1", []string{shipText, `{ "text":"ship it", "type":"example.message" }`}[i%2])
			mu.Lock()
			defer mu.Unlock()
			if err != nil || first.Result != nil && !bytes.Equal(ans.Result, first.Result) {
				t.Errorf("%s, %v", ans.Result, err)
			}
			first = ans
		})
	}
	wg.Wait()
	var r struct {
		Signature string          `json:"signature"`
		Record    json.RawMessage `json:"record"`
		By        string          `json:"by"`
		Seq       uint64          `json:"seq"`
	}
	if err := json.Unmarshal(first.Result, &r); err != nil {
		t.Fatal(err)
	}
	if !envelope.VerifyRecord(r.Record, []byte(shipText), r.Signature, envelope.RecordOptions{Now: w.clock.Now()}).Valid || r.By != "click" {
		t.Fatalf("%s", first.Result)
	}
	if n := w.keys.signed.Load(); n != 1 || len(w.owner.Inbox()) != 0 {
		t.Fatalf("%d signatures, %+v", n, w.owner.Inbox())
	}
	// Who was answered at once knows the envelope's digest alone: it names the moment in its session.
	named := func(session, name string) (approvals.Answer, error) {
		return a.conn.MomentSign(context.Background(), approvals.MomentAction{Session: session, Moment: name, Action: []byte(shipText)})
	}
	if ans, err := named("s1", m.EnvelopeDigest); err != nil || !bytes.Equal(ans.Result, first.Result) {
		t.Fatalf("by the envelope's digest: %s, %v", ans.Result, err)
	}
	if ans, err := a.await("s1", m.EnvelopeDigest); err != nil || string(ans.Result) != want {
		t.Fatalf("by the envelope's digest: %s, %v", ans.Result, err)
	}
	for _, wrong := range [][2]string{{"s2", m.EnvelopeDigest}, {"s1", "sha256:" + strings.Repeat("0", 64)}, {"s1", strings.ToUpper(m.EnvelopeDigest)}, {"s1", m.EnvelopeDigest[7:]}} {
		if _, err := named(wrong[0], wrong[1]); code(err) != approvals.CodeUnknownMoment {
			t.Fatalf("%v: %v", wrong, err)
		}
	}
	if rec, err := a.conn.RecordGet(context.Background(), id); err != nil || !bytes.Equal(rec, r.Record) {
		t.Fatalf("record: %s, %v", rec, err)
	}
	if _, err := sign("s1", holdText); code(err) != "action_mismatch" {
		t.Fatalf("another action after the signature: %v", err)
	}
	for _, seq := range []uint64{out.Answered.Seq, r.Seq} {
		raw, err := w.owner.Receipt(context.Background(), seq)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := receipt.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if rep := rec.Verify(receipt.Pins{LogKey: w.owner.Status().Public.LogKey}); !rep.Valid || !rep.LogPinned || rep.By != "click" {
			t.Fatalf("%+v", rep)
		}
		if p := rec.Parts(); seq == out.Answered.Seq && (string(p.Resolution) != want || !bytes.Contains(p.Moment, []byte("Ship today."))) {
			t.Fatalf("%s %s", p.Resolution, p.Moment)
		}
		flipped := bytes.Replace(raw, []byte(`"option_idx":0`), []byte(`"option_idx":1`), 1)
		if rec, err := receipt.Parse(flipped); seq == out.Answered.Seq && (err != nil || rec.Verify(receipt.Pins{}).Valid) {
			t.Fatalf("another resolution verifies: %v", err)
		}
	}
	w.verified()
	if v, err := w.owner.Answered(0, 1); err != nil || v[0].Performed != "signed" {
		t.Fatalf("%+v, %v", v, err)
	}
}

func TestMomentResolutions(t *testing.T) {
	w, a := momentWorld(t)
	long := "Ship it\n  on Monday, not before. "
	for name, c := range map[string]struct {
		decide func(*approvals.Decision)
		want   string
		code   string
	}{
		"option":   {option(1), `{"binding_moment_resolution":{"envelope_digest":"%s","option_idx":1,"resolution":"option"}}`, "done"},
		"answer":   {func(d *approvals.Decision) { d.Verdict, d.Answer = approvals.VerdictAnswer, long }, `{"binding_moment_resolution":{"answer":"Ship it\n  on Monday, not before. ","envelope_digest":"%s","resolution":"answer"}}`, "done"},
		"question": {verdict(approvals.VerdictQuestion), `{"binding_moment_resolution":{"envelope_digest":"%s","resolution":"question"}}`, "done"},
		"declined": {verdict(approvals.VerdictDecline), `{"binding_moment_resolution":{"envelope_digest":"%s","resolution":"declined"}}`, "declined"},
	} {
		t.Run(name, func(t *testing.T) {
			id := a.laid("s1", momentText(t, "Ship "+name+"?", "", ""), nil)
			s := w.openFirst()
			if out := w.resolve(s, c.decide); out.Code != c.code || string(out.Answered.Choice) != name {
				t.Fatalf("%+v", out)
			}
			ans, err := a.await("s1", id)
			if want := fmt.Sprintf(c.want, s.Moment.EnvelopeDigest); err != nil || string(ans.Result) != want {
				t.Fatalf("%s, %v", ans.Result, err)
			}
			if _, err := a.await("s2", id); code(err) != approvals.CodeUnknownMoment {
				t.Fatalf("another session: %v", err)
			}
			_, err = a.conn.MomentSign(context.Background(), approvals.MomentAction{Session: "s1", Moment: id, Action: []byte(holdText)})
			if want := map[bool]string{true: "no_signing_envelope", false: "not_option"}[name == "option"]; code(err) != want {
				t.Fatalf("sign: %v", err)
			}
		})
	}
	if n := w.keys.signed.Load(); n != 0 {
		t.Fatalf("%d signatures", n)
	}
	w.verified()
}

// TestMomentHeldBack has decisions that resolve nothing.
func TestMomentHeldBack(t *testing.T) {
	w, a := momentWorld(t)
	env := w.envelope(nil)
	actions := []byte(strings.Replace(string(behind(env)), `"option":1,"action":`+holdText, `"option":1,"action":`+shipText, 1))
	id := a.laid("s1", momentText(t, "Ship it?", `{"free_text":true,"dialogue":false}`, ""), actions)
	s := w.openFirst()
	words := strings.Repeat("abandon ", 11) + "about"
	for name, c := range map[string]struct {
		decide func(*approvals.Decision)
		code   string
	}{
		"recovery words":     {func(d *approvals.Decision) { d.Verdict, d.Answer = approvals.VerdictAnswer, "Take 1. "+words }, approvals.OutcomeRecoveryWords},
		"blank answer":       {func(d *approvals.Decision) { d.Verdict, d.Answer = approvals.VerdictAnswer, " \n\t" }, "answer_empty"},
		"hatch that is off":  {verdict(approvals.VerdictQuestion), "hatch_disabled"},
		"blocked option":     {option(1), "action_mismatch"},
		"no such option":     {option(2), "option_idx_range"},
		"option of nobody":   {option(-1), "option_idx_range"},
		"another digest":     {func(d *approvals.Decision) { option(0)(d); d.Digest = journal.Zero }, approvals.OutcomeChanged},
		"an earlier opening": {func(d *approvals.Decision) { option(0)(d); d.Digest = "" }, approvals.OutcomeChanged},
	} {
		if out := w.resolve(s, c.decide); out.Code != c.code || out.Answered != nil {
			t.Errorf("%s: %+v", name, out)
		}
	}
	for _, v := range []approvals.Verdict{approvals.VerdictApprove, approvals.VerdictGrant, approvals.VerdictDeclineBlock, ""} {
		if _, err := w.owner.Decide(context.Background(), approvals.Decision{ID: s.ID, Digest: s.Digest, Verdict: v}); code(err) != approvals.CodeMalformed && v != approvals.VerdictApprove {
			t.Errorf("verdict %q: %v", v, err)
		}
	}
	w.owner.Closed(s.ID)
	if out := w.resolve(s, option(0)); out.Code != approvals.OutcomeChanged {
		t.Errorf("a sheet that is closed: %+v", out)
	}
	w.owner.SetAway(true)
	if out := w.resolve(s, verdict(approvals.VerdictDecline)); out.Code != approvals.OutcomeAway {
		t.Errorf("away: %+v", out)
	}
	w.owner.SetAway(false)
	if ans, err := a.await("s1", id); err != nil || ans.Pending != id {
		t.Fatalf("%+v, %v", ans, err)
	}
	if n := w.entries("moment.resolved") + w.entries("moment.declined"); n != 0 {
		t.Fatalf("%d entries of a resolution", n)
	}
}

// TestMomentIsDurable: closing, waiting, locking and quitting resolve nothing; what was resolved stays so.
func TestMomentIsDurable(t *testing.T) {
	w, a := momentWorld(t)
	text, env := momentText(t, "Ship it?", "", ""), w.envelope(nil)
	id := a.laid("s1", text, behind(env))
	other := a.laid("s1", momentText(t, "Ship the other?", "", ""), nil)
	if err := func() error {
		s := w.openFirst()
		return w.owner.Ask(context.Background(), s.ID, "findings.1", "By whom?")
	}(); err != nil {
		t.Fatal(err)
	}
	w.clock.pass(20 * 24 * time.Hour)
	w.desk.Tick(context.Background()) // locks: it was idle
	if s := w.owner.Status(); s.State != approvals.StateLocked {
		t.Fatalf("%+v", s)
	}
	if _, err := a.await("s1", id); code(err) != approvals.CodeLocked {
		t.Fatalf("%v", err)
	}
	w.stop()
	w.start()
	rows := w.owner.Inbox()
	if len(rows) != 2 || rows[0].ID != id || rows[0].Stem != "Ship it?" || rows[1].ID != other {
		t.Fatalf("%+v", rows)
	}
	a.connect()
	s := w.openFirst()
	if len(s.Moment.Asks) != 1 || len(s.Moment.Addresses) != 0 {
		t.Fatalf("%+v", s.Moment)
	}
	if out := w.resolve(s, option(0)); out.Code != approvals.OutcomeLocked {
		t.Fatalf("locked: %+v", out)
	}
	w.owner.Closed(s.ID)
	s = w.openFirst()
	if s.ID != other {
		t.Fatalf("%s is next", s.ID)
	}
	if out := w.resolve(s, verdict(approvals.VerdictDecline)); out.Code != approvals.OutcomeDeclined {
		t.Fatalf("declined while locked: %+v", out)
	}
	if ans, err := a.await("s1", other); err != nil || !strings.Contains(string(ans.Result), `"declined"`) {
		t.Fatalf("%s, %v", ans.Result, err)
	}
	if _, err := a.present("s1", text, nil); code(err) != approvals.CodeLocked {
		t.Fatalf("presented while locked: %v", err)
	}
	w.unlock()
	s = w.openFirst()
	if s.Moment.Moment != id || len(s.Moment.Addresses) != 1 {
		t.Fatalf("%+v", s.Moment)
	}
	if out := w.resolve(s, verdict(approvals.VerdictQuestion)); out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
	w.stop()
	w.start()
	a.connect()
	ans, err := a.await("s1", id)
	if err != nil || !strings.Contains(string(ans.Result), `"question"`) {
		t.Fatalf("%s, %v", ans.Result, err)
	}
	w.unlock()
	again, err := a.present("s1", text, nil)
	if err != nil || !bytes.Equal(again.Result, ans.Result) {
		t.Fatalf("%s, %v", again.Result, err)
	}
	w.verified()
}

// TestMomentKilledBetween: the key process has signed the entry, and the desk dies before or after it is kept.
func TestMomentKilledBetween(t *testing.T) {
	for name, kept := range map[string]bool{"before it is kept": false, "after it is kept": true} {
		t.Run(name, func(t *testing.T) {
			w, a := momentWorld(t)
			text := momentText(t, "Ship it?", "", "")
			id := a.laid("s1", text, nil)
			s := w.openFirst()
			if !kept {
				w.keys.last.after = func() error { return w.desk.BreakStore() }
			}
			out := w.resolve(s, option(1))
			if (out.Code == approvals.OutcomeDone) != kept {
				t.Fatalf("%+v", out)
			}
			_ = w.desk.Close() // nobody has awaited the answer
			w.start()
			w.unlock()
			a.connect()
			if !kept {
				if ans, err := a.await("s1", id); err != nil || ans.Pending != id {
					t.Fatalf("%+v, %v", ans, err)
				}
				if out := w.resolve(w.openFirst(), option(0)); out.Code != approvals.OutcomeDone {
					t.Fatalf("%+v", out)
				}
			}
			want := map[bool]string{true: `"option_idx":1`, false: `"option_idx":0`}[kept]
			for range 2 {
				if ans, err := a.await("s1", id); err != nil || !strings.Contains(string(ans.Result), want) {
					t.Fatalf("%s, %v", ans.Result, err)
				}
				if ans, err := a.present("s1", text, nil); err != nil || !strings.Contains(string(ans.Result), want) {
					t.Fatalf("%s, %v", ans.Result, err)
				}
			}
			if n := w.entries("moment.resolved"); n != 1 {
				t.Fatalf("%d resolutions", n)
			}
			w.verified()
		})
	}
}

func TestMomentsOfSeveralSessions(t *testing.T) {
	w, a := momentWorld(t)
	b := w.pair("Other")
	text := momentText(t, "Ship it?", "", "")
	here, there, foreign := a.laid("s1", text, nil), a.laid("s2", text, nil), b.laid("s1", text, nil)
	if here == there || here == foreign {
		t.Fatal("one id for several sessions")
	}
	if again := a.laid("s1", text, nil); again != here {
		t.Fatalf("not merged: %s", again)
	}
	if _, err := a.present("s1", text, behind(w.envelope(nil))); code(err) != approvals.CodeMomentDiffers {
		t.Fatalf("other actions behind the same: %v", err)
	}
	s := w.openFirst()
	if s.Moment.Moment != here || s.Merged != 2 {
		t.Fatalf("%+v", s)
	}
	if _, err := w.owner.Open(context.Background(), there); code(err) != approvals.CodeAnotherOpen {
		t.Fatalf("two sheets: %v", err)
	}
	w.resolve(s, option(0))
	if ans, err := a.await("s2", there); err != nil || ans.Pending != there {
		t.Fatalf("%+v, %v", ans, err)
	}
	if _, err := b.await("s1", here); code(err) != approvals.CodeUnknownMoment {
		t.Fatalf("another client's: %v", err)
	}
	s = w.openFirst()
	if s.Moment.Moment != there || !s.Moment.Repetition.Elsewhere {
		t.Fatalf("%+v", s.Moment)
	}
	w.resolve(s, verdict(approvals.VerdictQuestion))
	// The same question again in that session, in another envelope.
	third := a.laid("s2", bytes.Replace(text, []byte("Ship today."), []byte("Ship now."), 1), nil)
	w.resolve(w.openFirst(), verdict(approvals.VerdictDecline)) // of the other client
	if s = w.openFirst(); s.Moment.Moment != third || !s.Moment.Repetition.Rejected {
		t.Fatalf("%+v", s.Moment)
	}
	// A session that ends can be answered no longer, and nothing is sent.
	if err := a.conn.SessionEnd(context.Background(), "s2"); err != nil {
		t.Fatal(err)
	}
	if out := w.resolve(s, option(0)); out.Code != approvals.OutcomeDecided {
		t.Fatalf("%+v", out)
	}
	if _, err := a.await("s2", third); code(err) != approvals.CodeWithdrawn {
		t.Fatalf("%v", err)
	}
	// So can those of a client that ended.
	last := b.laid("s9", text, nil)
	if err := w.owner.RevokeClient(context.Background(), b.id); err != nil {
		t.Fatal(err)
	}
	if v, err := w.owner.Answered(0, 1); err != nil || v[0].Moment != last || v[0].Ended != "withdrawn" || v[0].Choice != "" {
		t.Fatalf("%+v, %v", v, err)
	}
	w.verified()
}

func TestMomentFallsBack(t *testing.T) {
	w, a := momentWorld(t)
	good := string(momentText(t, "Ship it?", "", ""))
	wrap := func(value string) []byte {
		return []byte(`{"content":[{"type":"text","text":"Shall I ship?"}],"binding_moment":` + value + `}`)
	}
	three := strings.Replace(good, `"recommended_idx":0`, `"recommended_idx":7`, 1)
	for name, c := range map[string]struct {
		p    approvals.Presentation
		want string
	}{
		"none":        {approvals.Presentation{ToolResult: []byte(`{"content":[{"type":"text","text":"Shall I ship?"}]}`)}, "no_envelope"},
		"nested":      {approvals.Presentation{ToolResult: []byte(`{"content":[{"type":"text","text":"Shall I ship?"}],"data":{"binding_moment":` + good + `}}`)}, "no_envelope"},
		"failed tool": {approvals.Presentation{ToolResult: append(bytes.TrimSuffix(wrap(good), []byte("}")), `,"isError":true}`...)}, "tool_error"},
		"index":       {approvals.Presentation{ToolResult: wrap(three)}, "recommended_idx_range"},
		"bare":        {approvals.Presentation{BindingMoment: []byte(three), Fallback: "Shall I ship?"}, "recommended_idx_range"},
		"null":        {approvals.Presentation{ToolResult: wrap("null")}, "wrong_type"},
		"actions":     {approvals.Presentation{BindingMoment: []byte(good), Fallback: "Shall I ship?", Actions: []byte(`[{"option":0}]`)}, "nothing_behind"},
	} {
		c.p.Session = "s1"
		ans, err := a.conn.MomentPresent(context.Background(), c.p)
		if err != nil || reason(ans) != c.want || bytes.Contains(ans.Result, []byte("binding_moment")) {
			t.Errorf("%s: %s, %v", name, ans.Result, err)
			continue
		}
		rows := w.owner.Inbox()
		row := rows[len(rows)-1]
		s, err := w.owner.Open(context.Background(), row.ID)
		if err != nil || row.Kind != approvals.ItemNote || s.Moment != nil || s.Note.Reason != c.want || s.Note.Payload.Text != "Shall I ship?" {
			t.Errorf("%s: %+v, %v", name, s.Note, err)
		}
		if _, err := w.owner.Decide(context.Background(), approvals.Decision{ID: row.ID, Digest: s.Digest, Verdict: approvals.VerdictOption}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, p := range []approvals.Presentation{
		{Session: "s1"}, {ToolResult: wrap(good)}, {Session: "s1", ToolResult: wrap(good), BindingMoment: []byte(good)}, {Session: "s1", ToolResult: wrap(good), Fallback: "x"},
	} {
		if ans, err := a.conn.MomentPresent(context.Background(), p); code(err) != approvals.CodeMalformed {
			t.Errorf("%+v, %v", ans, err)
		}
	}
	// A tool result with an envelope at its top is laid before the owner, and five of a session at most.
	for i := range approvals.MaxSessionMoments {
		ans, err := a.conn.MomentPresent(context.Background(), approvals.Presentation{Session: "s1", ToolResult: wrap(string(momentText(t, fmt.Sprint("Ship ", i, "?"), "", "")))})
		if err != nil || ans.Pending == "" {
			t.Fatalf("%d: %+v, %v", i, ans, err)
		}
	}
	for range 2 {
		if ans, err := a.present("s1", momentText(t, "One more?", "", ""), nil); err != nil || reason(ans) != "too_many_open" {
			t.Fatalf("%s, %v", ans.Result, err)
		}
	}
	rows := w.owner.Inbox()
	if last := rows[len(rows)-1]; last.Reason != "too_many_open" || last.Merged != 2 {
		t.Fatalf("%+v", last)
	}
	if _, err := a.present("s2", momentText(t, "One more?", "", ""), nil); err != nil {
		t.Fatal(err)
	}
	n := len(w.owner.Inbox())
	w.stop()
	w.start()
	if rows := w.owner.Inbox(); len(rows) != n || rows[len(rows)-1].Reason != "too_many_open" {
		t.Fatalf("%d rows of %d", len(rows), n)
	}
	rows = w.owner.Inbox()
	if err := w.owner.Dismiss(context.Background(), rows[len(rows)-1].ID); err != nil || len(w.owner.Inbox()) != len(rows)-1 {
		t.Fatalf("%v", err)
	}
	rates, err := w.owner.MomentRates()
	if err != nil || len(rates) != 1 || rates[0].Fallbacks != 8 || rates[0].Presented != 6 {
		t.Fatalf("%+v, %v", rates, err)
	}
	w.unlock()
	w.verified()
}

// TestMomentNotSeen: an action that did not stand in the row is shown on a sheet of its own before it is signed.
func TestMomentNotSeen(t *testing.T) {
	w, a := momentWorld(t)
	env := w.envelope(nil)
	id := a.laid("s1", momentText(t, "Ship it?", "", ""), []byte(`[{"option":0,"sign_with":`+string(env)+`}]`))
	s := w.openFirst()
	if s.Moment.Sheet.Rows[0].Action != nil || s.Moment.Addresses[0] == "" {
		t.Fatalf("%+v", s.Moment)
	}
	w.resolve(s, option(0))
	sign := func(action string) (approvals.Answer, error) {
		return a.conn.MomentSign(context.Background(), approvals.MomentAction{Session: "s1", Moment: id, Action: []byte(action)})
	}
	if _, err := sign(holdText); code(err) != "action_mismatch" {
		t.Fatalf("%v", err)
	}
	ans, err := sign(shipText)
	if err != nil || ans.Pending != id || w.keys.signed.Load() != 0 {
		t.Fatalf("%+v, %v", ans, err)
	}
	s = w.openFirst()
	if s.Kind != approvals.ItemAction || s.Action.Moment != id || s.Action.OptionLabel != "Ship" || s.Action.Grantable || !strings.Contains(s.Action.PayloadText, "ship it") {
		t.Fatalf("%+v", s.Action)
	}
	if out := w.resolve(s, func(d *approvals.Decision) {
		d.Verdict, d.GrantUses, d.GrantUntil = approvals.VerdictGrant, 1, w.clock.Now()+1000
	}); out.Code != approvals.OutcomeGrantLimit {
		t.Fatalf("a grant for a moment's action: %+v", out)
	}
	if out := w.decide(s, approvals.VerdictApprove); out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
	first, err := sign(shipText)
	if err != nil || first.Result == nil {
		t.Fatalf("%+v, %v", first, err)
	}
	if again, err := a.conn.Await(context.Background(), id); err != nil || !bytes.Equal(again.Result, first.Result) {
		t.Fatalf("%+v, %v", again, err)
	}
	if w.keys.signed.Load() != 1 {
		t.Fatal("signed twice")
	}
	if _, err := a.ask(id, env, []byte(shipText), true); code(err) != approvals.CodeMalformed {
		t.Fatalf("a request with a moment's id: %v", err)
	}
	w.verified()
}

// TestClassRemovesNoStep: whatever the agent calls its decision, nothing is resolved or signed without the owner.
func TestClassRemovesNoStep(t *testing.T) {
	w, a := momentWorld(t)
	env := w.envelope(nil)
	var steps []string
	for i, meta := range []string{"", `{"decision_class":"routine"}`, `{"decision_class":"auto-approve"}`, `{"decision_class":""}`, `{"decision_class":"passkey"}`} {
		session := fmt.Sprint("s", i)
		id := a.laid(session, momentText(t, "Ship it?", "", meta), behind(env))
		signed := w.keys.signed.Load()
		did := fmt.Sprint(len(w.owner.Inbox()))
		_, err := a.conn.MomentSign(context.Background(), approvals.MomentAction{Session: session, Moment: id, Action: []byte(shipText)})
		did += code(err)
		s := w.openFirst()
		did += s.Frame + fmt.Sprint(len(s.Moment.Sheet.Rows))
		did += w.resolve(s, option(0)).Code
		if w.keys.signed.Load() != signed {
			t.Fatalf("%s: signed without having been asked", meta)
		}
		steps = append(steps, did)
	}
	for _, s := range steps {
		if s != steps[0] {
			t.Errorf("the class changes what is asked: %q", steps)
		}
	}
	rates, err := w.owner.MomentRates()
	if err != nil || len(rates) != 5 || rates[0].HasClass || !rates[1].HasClass || rates[1].Class != "" {
		t.Fatalf("%+v, %v", rates, err)
	}
}

func TestMomentQuestions(t *testing.T) {
	w, a := momentWorld(t)
	id := a.laid("s1", momentText(t, "Ship it?", `{"free_text":false,"dialogue":false}`, `{"calibration_note":"I was wrong."}`), nil)
	s := w.openFirst()
	for _, line := range []string{"findings.2", "findings.-1", "findings.01", "options", "stem", "options.2", ""} {
		if err := w.owner.Ask(context.Background(), id, line, "Why?"); code(err) != approvals.CodeMalformed {
			t.Errorf("line %q: %v", line, err)
		}
	}
	if err := w.owner.Ask(context.Background(), id, "offer", strings.Repeat("zoo ", 12)); code(err) != approvals.OutcomeRecoveryWords {
		t.Errorf("recovery words: %v", err)
	}
	// Whoever waits comes back with the question, once; a lost answer is told again.
	w.stop()
	w.await = time.Minute
	w.start()
	w.unlock()
	a.connect()
	s = w.openFirst()
	got := make(chan approvals.Answer, 1)
	go func() {
		ans, err := a.await("s1", id)
		if err != nil {
			t.Error(err)
		}
		got <- ans
	}()
	if err := w.owner.Ask(context.Background(), id, "findings.1", "By whom?"); err != nil {
		t.Fatal(err)
	}
	ans := <-got
	if ans.Pending != id || len(ans.Asks) != 1 || ans.Asks[0].Line != "findings.1" || ans.Asks[0].Text != "By whom?" {
		t.Fatalf("%+v", ans)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if ans, err := a.conn.MomentAwait(ctx, "s1", id); err != nil || len(ans.Asks) != 1 {
		t.Fatalf("%+v, %v", ans, err)
	}
	say := func(session, ask, text string) error {
		return a.conn.MomentSay(context.Background(), approvals.Reply{Session: session, Moment: id, Question: ask, Text: text})
	}
	for _, c := range []struct{ session, ask, text, code string }{
		{"s2", "q1", "x", approvals.CodeUnknownMoment}, {"s1", "q2", "x", approvals.CodeUnknownAsk}, {"s1", "q1", " ", approvals.CodeMalformed},
		{"s1", "q1", "By Ada.", ""}, {"s1", "q1", "By Bob.", approvals.CodeAskAnswered},
	} {
		if err := say(c.session, c.ask, c.text); code(err) != c.code {
			t.Errorf("%+v: %v", c, err)
		}
	}
	again, err := w.owner.Open(context.Background(), id)
	if err != nil || again.Digest != s.Digest || again.Moment.Asks[0].Answer != "By Ada." {
		t.Fatalf("%+v, %v", again.Moment, err)
	}
	if n := w.entries("moment.resolved") + w.entries("moment.declined"); n != 0 {
		t.Fatal("a question resolved it")
	}
	if out := w.resolve(s, option(0)); out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
	if err := say("s1", "q1", "late"); code(err) != approvals.CodeUnknownMoment {
		t.Errorf("%v", err)
	}
	// The hatches were off: each showing is an entry.
	if n := w.entries("moment.seen"); n != 2 {
		t.Errorf("%d showings in the log", n)
	}
	rates, err := w.owner.MomentRates()
	if err != nil || len(rates) != 1 || rates[0].WithNote != 1 || rates[0].HatchesOff != 1 || rates[0].FreeTextOff != 1 || rates[0].DialogueOff != 1 || rates[0].Options != 1 {
		t.Fatalf("%+v, %v", rates, err)
	}
	w.verified()
}

// TestMomentDeclineAll declines what was seen; what was not is not said to be declined.
func TestMomentDeclineAll(t *testing.T) {
	w, a := momentWorld(t)
	seen, unseen := a.laid("s1", momentText(t, "Seen?", "", ""), nil), a.laid("s1", momentText(t, "Unseen?", "", ""), nil)
	w.owner.Closed(w.openFirst().ID)
	if err := w.owner.DeclineAll(context.Background(), a.id); err != nil {
		t.Fatal(err)
	}
	if ans, err := a.await("s1", seen); err != nil || !strings.Contains(string(ans.Result), `"declined"`) {
		t.Fatalf("%s, %v", ans.Result, err)
	}
	if _, err := a.await("s1", unseen); code(err) != approvals.CodeNotShown {
		t.Fatalf("%v", err)
	}
	// Nobody answered it, so it can be asked again.
	a.laid("s1", momentText(t, "Unseen?", "", ""), nil)
}

// TestMomentsAreBounded: an agent that floods is held back, and what it leaves behind has a bound.
func TestMomentsAreBounded(t *testing.T) {
	w, a := momentWorld(t)
	laid, fell, held := 0, 0, 0
	for i := range 60 {
		ans, err := a.present(fmt.Sprint("s", i), momentText(t, "Ship it?", "", ""), nil)
		switch {
		case code(err) == approvals.CodeTooMany:
			held++
		case err != nil:
			t.Fatal(err)
		case reason(ans) == "too_many_open":
			fell++
		default:
			laid++
		}
	}
	if laid > approvals.MaxClientMoments || laid < 20 || held == 0 {
		t.Errorf("%d before the owner, %d fell back, %d held back", laid, fell, held)
	}
	for i := range 2 * approvals.MaxClientNotes {
		w.clock.pass(2 * time.Second)
		if ans, err := a.conn.MomentPresent(context.Background(), approvals.Presentation{Session: "s", BindingMoment: []byte(fmt.Sprint(i)), Fallback: "x"}); err != nil || reason(ans) != "wrong_type" {
			t.Fatalf("%s, %v", ans.Result, err)
		}
	}
	notes := 0
	for _, row := range w.owner.Inbox() {
		if row.Kind == approvals.ItemNote {
			notes++
		}
	}
	if notes != approvals.MaxClientNotes {
		t.Errorf("%d notes", notes)
	}
	if s := w.openFirst(); s.Kind != approvals.ItemMoment {
		t.Errorf("a note stands before a moment: %+v", s)
	}
}
