package receipt

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"vault/approvals/journal"
	"vault/approvals/moment"
	"vault/derive/envelope"
)

// momentAction is what the second option authorises.
const momentAction = `{"note":"ship it"}`

const momentText = `{"findings":["f"],"offer":"o","question":{"hatches":{"dialogue":true,"free_text":true},"options":[` +
	`{"action_digest":"sha256:0000000000000000000000000000000000000000000000000000000000000001","label":"a","reasoning":"x"},` +
	`{"action_digest":"sha256:ACTION","label":"b","reasoning":"y"}],` +
	`"recommended_idx":0,"stem":"Which?"},"recommendations":["r"],"synopsis":"s"}`

// resolved adds the entry of a resolution and gives the parts of its receipt.
func (w *world) resolved(r func(*moment.Envelope) (*moment.Resolution, error)) Parts {
	w.t.Helper()
	digest, err := moment.ActionDigest([]byte(momentAction))
	w.must(err)
	e, err := moment.Parse([]byte(strings.Replace(momentText, "sha256:ACTION", digest, 1)))
	w.must(err)
	with, err := envelope.NewActionEnvelope(w.domain.Info(), envelope.ActionFields{
		AgentID: "agent", Operation: "write", Resources: []string{"doc:1"}, Mode: envelope.ModeBoth, MaxUses: envelope.Some(3),
		Window: envelope.Window{NotAfter: envelope.Some(at + 1000)},
	})
	w.must(err)
	behind := []byte(`[{"option": 1, "action": ` + momentAction + `, "sign_with": ` + string(with.Canonical()) + `}]`)
	list, err := moment.ParseBehind(behind)
	w.must(err)
	sheet, err := moment.NewSheet(e, list)
	w.must(err)
	res, err := r(e)
	w.must(err)
	const client = "c_0000000000000001"
	id := journal.MomentID(client, "s1", e.Digest())
	if res.Choice() == moment.ChoseDecline {
		w.add(journal.KindMomentDeclined, journal.MomentDeclined{
			Moment: id, Client: client, Session: "s1", EnvelopeDigest: e.Digest(), SheetDigest: sheet.Digest(), ResolutionDigest: res.Digest(),
		})
	} else {
		b := journal.MomentResolved{
			Moment: id, Client: client, Session: "s1", EnvelopeDigest: e.Digest(), SheetDigest: sheet.Digest(), Choice: string(res.Choice()), Option: -1,
			ResolutionDigest: res.Digest(), By: "click",
		}
		if i, ok := res.Option(); ok {
			b.Option, b.ActionDigest = int64(i), e.Content().Options[i].ActionDigest
			if row := sheet.Rows[i]; row.SignWith != nil {
				b.SignWith = row.SignWith.Hash()
			}
		}
		w.add(journal.KindMomentResolved, b)
	}
	return Parts{Entries: w.raws[len(w.raws)-1:], Head: w.head(), Moment: e.Canonical(), Resolution: res.Canonical(), Behind: behind}
}

func selects(option int) func(*moment.Envelope) (*moment.Resolution, error) {
	return func(e *moment.Envelope) (*moment.Resolution, error) { return e.Select(option) }
}

func TestReceiptOfAResolution(t *testing.T) {
	for name, c := range map[string]struct {
		r  func(*moment.Envelope) (*moment.Resolution, error)
		by string
	}{
		"option":   {selects(1), "click"},
		"answer":   {func(e *moment.Envelope) (*moment.Resolution, error) { return e.Answer("Neither.") }, "click"},
		"question": {(*moment.Envelope).RejectQuestion, "click"},
		"declined": {func(e *moment.Envelope) (*moment.Resolution, error) { return e.Decline(), nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			parts := w.resolved(c.r)
			if r := w.receipt(parts).Verify(w.pins()); !r.Valid || !r.LogPinned || r.SignerPinned || r.By != c.by {
				t.Errorf("%+v", r)
			}
			raw, err := Encode(parts)
			w.must(err)
			for i := range raw {
				wrong := bytes.Clone(raw)
				wrong[i] ^= 1
				if r, err := Parse(wrong); err == nil && r.Verify(w.pins()).Valid {
					t.Errorf("byte %d may be another one: %s", i, wrong)
				}
			}
		})
	}
}

// again writes the newest entry anew, with a head of its own: what the log key would say if it lied too.
func (w *world) again(p *Parts, change func(*journal.MomentResolved)) {
	w.raws = w.raws[:len(w.raws)-1]
	w.prev = journal.HashOf(w.raws[len(w.raws)-1])
	e, err := journal.Parse(p.Entries[0])
	w.must(err)
	b := e.Decoded().(journal.MomentResolved)
	change(&b)
	w.add(journal.KindMomentResolved, b)
	p.Entries, p.Head = w.raws[len(w.raws)-1:], w.head()
}

func TestOneLieAboutAResolution(t *testing.T) {
	for name, c := range map[string]struct {
		check string
		lie   func(*world, *Parts)
	}{
		"another envelope": {"momentInEntry", func(_ *world, p *Parts) { p.Moment = bytes.Replace(p.Moment, []byte("Which?"), []byte("Which!"), 1) }},
		"no envelope":      {"momentWellFormed", func(_ *world, p *Parts) { p.Moment = []byte(`{"a":1}`) }},
		"another resolution": {"resolutionInEntry", func(_ *world, p *Parts) {
			p.Resolution = bytes.Replace(p.Resolution, []byte(`"option_idx":1`), []byte(`"option_idx":0`), 1)
		}},
		"a resolution of nothing": {"resolutionOfMoment", func(_ *world, p *Parts) {
			p.Resolution = bytes.Replace(p.Resolution, []byte(`"option_idx":1`), []byte(`"option_idx":3`), 1)
		}},
		"nothing behind":        {"sheetInEntry", func(_ *world, p *Parts) { p.Behind = nil }},
		"another action behind": {"sheetInEntry", func(_ *world, p *Parts) { p.Behind = bytes.Replace(p.Behind, []byte("ship"), []byte("skip"), 1) }},
		"no action behind": {"sheetInEntry", func(_ *world, p *Parts) {
			p.Behind = bytes.Replace(p.Behind, []byte(`"action": `+momentAction+", "), nil, 1)
		}},
		"another signing envelope behind": {"sheetInEntry", func(_ *world, p *Parts) {
			p.Behind = bytes.Replace(p.Behind, []byte(`"maxUses":3`), []byte(`"maxUses":4`), 1)
		}},
		"another option behind": {"sheetInEntry", func(_ *world, p *Parts) {
			p.Behind = bytes.Replace(p.Behind, []byte(`"option": 1`), []byte(`"option": 0`), 1)
		}},
		"behind that is none": {"sheetInEntry", func(_ *world, p *Parts) { p.Behind = []byte(`{}`) }},
		"an entry with another signing envelope": {"signWithInEntry", func(w *world, p *Parts) {
			w.again(p, func(b *journal.MomentResolved) { b.SignWith = journal.HashOf(nil) })
		}},
		"the id of another session": {"momentID", func(w *world, p *Parts) {
			w.again(p, func(b *journal.MomentResolved) { b.Session = "s2" })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.resolved(selects(1))
			p.Entries = slices.Clone(p.Entries)
			c.lie(w, &p)
			r := w.receipt(p).Verify(w.pins())
			var failed []string
			for _, x := range r.Checks {
				if !x.OK {
					failed = append(failed, x.Name)
				}
			}
			if r.Valid || r.LogPinned || !slices.Contains(failed, c.check) {
				t.Errorf("failed: %v, want %s", failed, c.check)
			}
		})
	}
	w := newWorld(t)
	raw, err := Encode(w.resolved(selects(0)))
	w.must(err)
	v := string(raw)
	for name, text := range map[string]string{
		"no moment":     v[:strings.Index(v, `"binding_moment":`)] + v[strings.Index(v, `"entries":`):],
		"behind empty":  v[:strings.Index(v, `"behind":`)] + `"behind":"",` + v[strings.Index(v, `"binding_moment":`):],
		"behind parsed": v[:strings.Index(v, `"behind":`)] + `"behind":[],` + v[strings.Index(v, `"binding_moment":`):],
		"no resolution": strings.Replace(v, v[strings.Index(v, `"resolution":{`):strings.Index(v, `"type":"vault.receipt"`)], "", 1),
	} {
		if _, err := Parse([]byte(text)); err == nil || text == v {
			t.Errorf("%s: it is read", name)
		}
	}
	signed := w.act(0)
	signed.Behind = []byte(`[]`)
	if _, err := Encode(signed); err == nil {
		t.Error("behind a signature something is said to have stood")
	}
}
