package approvals_test

import (
	"context"
	"strings"
	"testing"

	"vault/approvals"
	"vault/approvals/journal"
)

// TestMomentRowsEdited changes by hand what the store says of moments: no row makes a resolution
// that the log does not show, or makes one anew.
func TestMomentRowsEdited(t *testing.T) {
	for name, c := range map[string]struct {
		edit  string
		await string // code, or part of the result
		sign  string
	}{
		"nothing": {"UPDATE moments SET repeats = repeats", `"option_idx":0`, ""},
		"another option": {
			"UPDATE moments SET resolution = CAST(replace(CAST(resolution AS TEXT), '\"option_idx\":0', '\"option_idx\":1') AS BLOB) WHERE state = 'resolved'",
			approvals.CodeRowEdited, approvals.CodeRowEdited,
		},
		"another session":    {"UPDATE moments SET session = 's2' WHERE state = 'resolved'", approvals.CodeUnknownMoment, approvals.CodeUnknownMoment},
		"another entry":      {"UPDATE moments SET seq = seq - 1 WHERE state = 'resolved'", approvals.CodeRowEdited, approvals.CodeRowEdited},
		"another choice":     {"UPDATE moments SET choice = 'declined' WHERE state = 'resolved'", approvals.CodeRowEdited, approvals.CodeRowEdited},
		"another label":      {"UPDATE moments SET envelope = CAST(replace(CAST(envelope AS TEXT), 'Ship', 'Shop') AS BLOB) WHERE state = 'resolved'", approvals.CodeRowEdited, approvals.CodeRowEdited},
		"other actions":      {"UPDATE moments SET behind = NULL WHERE state = 'resolved'", approvals.CodeRowEdited, approvals.CodeRowEdited},
		"open again":         {"UPDATE moments SET state = 'open', choice = '', resolution = x'' WHERE state = 'resolved'", approvals.CodeRowEdited, approvals.CodeRowEdited},
		"not resolved":       {"UPDATE moments SET state = 'ended', ended = 'not_shown' WHERE state = 'resolved'", approvals.CodeNotShown, approvals.CodeNotShown},
		"gone":               {"DELETE FROM moments WHERE state = 'resolved'", approvals.CodeUnknownMoment, approvals.CodeUnknownMoment},
		"an open one edited": {"UPDATE moments SET envelope = CAST(replace(CAST(envelope AS TEXT), 'Ship', 'Shop') AS BLOB) WHERE state = 'open'", `"option_idx":0`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, a := momentWorld(t)
			text, env := momentText(t, "Ship it?", "", ""), w.envelope(nil)
			id := a.laid("s1", text, behind(env))
			w.resolve(w.openFirst(), option(0))
			a.laid("s1", momentText(t, "Ship more?", "", ""), nil)
			w.stop()
			if w.edit(c.edit) == 0 {
				t.Fatal("the edit changes nothing")
			}
			w.start()
			w.unlock()
			told := w.owner.Status().Trouble
			if hidden := name == "open again" || name == "an open one edited"; (told != nil && told.Code == approvals.CodeRowEdited) != hidden {
				t.Errorf("the owner is told %+v", told)
			}
			a.connect()
			ans, err := a.await("s1", id)
			if code(err) != c.await && !strings.Contains(string(ans.Result), c.await) || err != nil && ans.Result != nil {
				t.Errorf("await: %s, %v", ans.Result, err)
			}
			_, err = a.conn.MomentSign(context.Background(), approvals.MomentAction{Session: "s1", Moment: id, Action: []byte(shipText)})
			if code(err) != c.sign {
				t.Errorf("sign: %v", err)
			}
			if n := w.keys.signed.Load(); (n == 1) != (c.sign == "") {
				t.Errorf("%d signatures", n)
			}
			// Whatever the store says, the log knows that it was resolved.
			if name != "nothing" && name != "an open one edited" {
				if ans, err := a.present("s1", text, behind(env)); code(err) != approvals.CodeRowEdited {
					t.Errorf("presented again: %+v, %v", ans, err)
				}
			}
			for _, row := range w.owner.Inbox() {
				if row.ID == id || name == "an open one edited" && row.Kind == approvals.ItemMoment {
					t.Errorf("before the owner again: %+v", row)
				}
			}
			if n := w.entries(string(journal.KindMomentResolved)); n != 1 {
				t.Errorf("%d resolutions", n)
			}
		})
	}
}
