package store

import (
	"fmt"
	"testing"
)

// TestApprovalsCountOnePressOnce: what one press of the owner's approved is one approval, however many entries it left.
func TestApprovalsCountOnePressOnce(t *testing.T) {
	click, passkey := `"by":"click"`, `"by":"passkey"`
	type line struct{ kind, request, raw string }
	for name, c := range map[string]struct {
		lines            []line
		clicks, passkeys int64
	}{
		"a signature":                      {[]line{{"request.seen", "r1", ""}, {"action.signed", "r1", click}}, 1, 0},
		"a signature and its grant":        {[]line{{"grant.made", "", click}, {"action.signed", "r1", click}}, 1, 0},
		"a grant by passkey":               {[]line{{"grant.made", "", passkey}, {"action.signed", "r1", `"by":"grant"`}}, 0, 1},
		"a pairing":                        {[]line{{"client.paired", "", click + `,"replaces":""`}}, 1, 0},
		"another name":                     {[]line{{"client.paired", "", click + `,"replaces":"0x12"`}}, 0, 0},
		"an option and its action":         {[]line{{"moment.resolved", "m_1", click + `,"choice":"option"`}, {"action.signed", "r1", click + `,"moment":"m_1"`}}, 1, 0},
		"an option by passkey, its action": {[]line{{"moment.resolved", "m_1", passkey + `,"choice":"option"`}, {"action.signed", "r1", click + `,"moment":"m_1"`}}, 0, 1},
		"an action that had its own sheet": {[]line{{"moment.resolved", "m_1", click + `,"choice":"option"`}, {"request.seen", "r1", ""}, {"action.signed", "r1", click + `,"moment":"m_1"`}}, 2, 0},
		"an answer in own words":           {[]line{{"moment.resolved", "m_1", click + `,"choice":"answer"`}}, 0, 0},
		"under a grant":                    {[]line{{"action.signed", "r1", `"by":"grant"`}}, 0, 0},
		"a name that says by click":        {[]line{{"client.paired", "", passkey + `,"name":"x\",\"by\":\"click\"","replaces":""`}}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, t.TempDir())
			if err := s.Do(func(tx *Tx) error {
				for i, l := range c.lines {
					seq := uint64(i + 1)
					e := Entry{Seq: seq, Raw: []byte("{" + l.raw + "}"), Hash: fmt.Sprintf("0x%064d", seq), Kind: l.kind, At: 3_600_000 + int64(seq), Client: "c_1", Request: l.request}
					if err := tx.AddEntry(e); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			got, err := s.Approvals(0, 3_600_000)
			if err != nil {
				t.Fatal(err)
			}
			var clicks, passkeys int64
			for _, a := range got {
				if a.From != 3_600_000 || a.Client != "c_1" {
					t.Errorf("%+v", a)
				}
				clicks, passkeys = clicks+a.Clicks, passkeys+a.Passkeys
			}
			if clicks != c.clicks || passkeys != c.passkeys {
				t.Errorf("%d clicks and %d passkeys, want %d and %d", clicks, passkeys, c.clicks, c.passkeys)
			}
		})
	}
}
