package approvals_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vault/approvals"
	"vault/approvals/journal"
	"vault/approvals/permit"
	"vault/approvals/receipt"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

// TestEvidenceEdited changes by hand what stands beside entries that a passkey confirmed: the check of the log names
// the first whose evidence is missing or another's.
func TestEvidenceEdited(t *testing.T) {
	w := newWorld(t)
	w.browse()
	w.create()
	w.enrol()
	a := w.pair("Planner")
	if out, err := w.owner.SetPolicy(context.Background(), permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeEvery}}}); err != nil || out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}
	var seqs []uint64
	for i := range 2 {
		if _, err := a.ask(fmt.Sprint("r", i), w.envelope(nil), payload(fmt.Sprint(i)), true); err != nil {
			t.Fatal(err)
		}
		if out := w.decide(w.openFirst(), approvals.VerdictApprove); out.Code != approvals.OutcomeDone {
			t.Fatalf("%+v", out)
		}
		events, err := w.owner.Events(approvals.EventFilter{Kind: string(journal.KindActionSigned), Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, events[0].Seq)
	}
	w.verified()
	w.stop()
	spare := filepath.Join(t.TempDir(), "spare")
	copyDir(t, w.dir, spare)
	first, second := seqs[0], seqs[1]
	edit := func(from, to string) string {
		return fmt.Sprintf("UPDATE evidence SET raw = CAST(replace(CAST(raw AS TEXT), '%s', '%s') AS BLOB) WHERE seq = %d", from, to, second)
	}
	for _, c := range []struct {
		name, edit string
		seq        uint64
		code       string
	}{
		{"whole", "", 0, ""},
		{"missing", fmt.Sprintf("DELETE FROM evidence WHERE seq = %d", second), second, "evidence_missing"},
		{"both missing", fmt.Sprintf("DELETE FROM evidence WHERE seq >= %d", first), first, "evidence_missing"},
		{"another word of the page", edit("Sign once", "Sign twice"), second, "evidence_edited"},
		{"another time of the log key", edit(`"at":1`, `"at":2`), second, "evidence_edited"},
		{"another flag of the record", edit(`"authenticator_data":"`, `"authenticator_data":"AAAA`), second, "evidence_edited"},
		{"not evidence", fmt.Sprintf("UPDATE evidence SET raw = x'7b7d' WHERE seq = %d", second), second, "evidence_edited"},
		{"that of another entry", fmt.Sprintf("UPDATE evidence SET raw = (SELECT raw FROM evidence WHERE seq = %d) WHERE seq = %d", first, second), second, "evidence_edited"},
		{"beside an entry that nobody confirmed", fmt.Sprintf("INSERT INTO evidence (seq, raw) SELECT 1, raw FROM evidence WHERE seq = %d", second), 1, "evidence_edited"},
	} {
		t.Run(c.name, func(t *testing.T) {
			restoreDir(t, spare, w.dir)
			if c.edit != "" && w.edit(c.edit) == 0 {
				t.Fatal("the edit changes nothing")
			}
			w.start()
			defer w.stop()
			// Neither what the desk makes of it locked, nor unlocked, overlooks it.
			for range 2 {
				r, err := w.owner.VerifyLog(context.Background())
				if err != nil || r.OK != (c.code == "") || r.Code != c.code || r.FirstWrong != c.seq {
					t.Fatalf("%+v, %v; want %s at %d", r, err, c.code, c.seq)
				}
				if w.owner.Status().State == approvals.StateLocked {
					w.unlock()
				}
			}
		})
	}
}

// The receipt of a resolution carries what stood behind the options, however deep it is, and whoever checks it computes
// from that what was approved.
func TestReceiptCarriesWhatWasShown(t *testing.T) {
	for name, behind := range map[string]func(env []byte) []byte{
		"nothing":      func([]byte) []byte { return nil },
		"both actions": behind,
		"a deep action": func([]byte) []byte {
			deep := strings.Repeat("[", jcs.MaxDocumentDepth) + strings.Repeat("]", jcs.MaxDocumentDepth)
			return []byte(`[ {"option":0,"action":` + shipText + `}, {"option":1,"action":` + deep + `} ]`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create()
			a := w.pair("Planner")
			presented := behind(w.envelope(nil))
			a.laid("s1", momentText(t, "Ship it?", "", ""), presented)
			w.resolve(w.openFirst(), option(0))
			r := w.receiptOf(journal.KindMomentResolved)
			if got := r.Parts().Behind; string(got) != string(presented) {
				t.Errorf("it carries %s", got)
			}
			report := r.Verify(receipt.Pins{})
			if !report.Valid || !slices.ContainsFunc(report.Checks, func(c envelope.Check) bool { return c.Name == "sheetInEntry" && c.OK }) {
				t.Errorf("%+v", report)
			}
		})
	}
}
