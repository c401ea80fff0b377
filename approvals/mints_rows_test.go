package approvals_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"vault/approvals"
	"vault/derive/envelope"
)

// TestMintRowsEdited changes by hand what the store says of delegates and mints: no row gives a mint, a use or a record that the
// log does not show.
func TestMintRowsEdited(t *testing.T) {
	other := strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		edit  string
		start string // trouble at the start, which makes the vault read-only
		again string // code of the same request again
		use   string // code of a signature
	}{
		"nothing":                  {"UPDATE mints SET used = used", "", "", ""},
		"a delegate of more":       {"UPDATE delegates SET raw = CAST(replace(CAST(raw AS TEXT), '\"maxMints\":3', '\"maxMints\":9') AS BLOB)", approvals.CodeRowEdited, "", ""},
		"a delegate unsigned":      {"UPDATE delegates SET raw = CAST(replace(CAST(raw AS TEXT), '\"issuerSignature\"', '\"issuerSignaturE\"') AS BLOB)", approvals.CodeRowEdited, "", ""},
		"a delegate gone":          {"DELETE FROM delegates", approvals.CodeRowEdited, "", ""},
		"a permit of more":         {"UPDATE permits SET body = CAST(replace(CAST(body AS TEXT), '\"mints\":3', '\"mints\":9') AS BLOB) WHERE kind = 'vault.delegate'", approvals.CodeRowEdited, "", ""},
		"a permit while away":      {"UPDATE permits SET body = CAST(replace(CAST(body AS TEXT), '\"while_away\":false', '\"while_away\":true') AS BLOB) WHERE kind = 'vault.delegate'", approvals.CodeRowEdited, "", ""},
		"a permit gone":            {"DELETE FROM permits WHERE kind = 'vault.delegate'", "permit_missing", "", ""},
		"a permit of another":      {"UPDATE permits SET id = '0x" + other + "' WHERE kind = 'vault.delegate'", approvals.CodePermitNotInLog, "", ""},
		"a permit's MAC":           {"UPDATE permits SET mac = '0x" + other + "' WHERE kind = 'vault.delegate'", "", "", "bad_permit"},
		"a mint gone":              {"DELETE FROM mints", "", approvals.CodeUnknownMint, approvals.CodeUnknownMint},
		"a mint of another entry":  {"UPDATE mints SET seq = seq - 1", "", approvals.CodeRowEdited, approvals.CodeRowEdited},
		"a mint's number":          {"UPDATE mints SET number = 9", "", approvals.CodeRowEdited, approvals.CodeRowEdited},
		"a mint's time":            {"UPDATE mints SET at = at + 1", "", approvals.CodeRowEdited, approvals.CodeRowEdited},
		"a mint's request":         {"UPDATE mints SET request = CAST(replace(CAST(request AS TEXT), 'thread:1', 'thread:2') AS BLOB)", "", approvals.CodeRowEdited, approvals.CodeRowEdited},
		"a mint under another bot": {"UPDATE mints SET bot = '0x" + other[:40] + "'", "", approvals.CodeRowEdited, approvals.CodeRowEdited},
		"a mint's address":         {"UPDATE mints SET address = '0x" + other[:40] + "'", "", "", ""}, // the domain's key says otherwise: it is derived anew
		"uses given back":          {"UPDATE mints SET used = 0, max_uses = 99", "", "", ""},
		"a signature's answer":     {"UPDATE requests SET answer = CAST(replace(CAST(answer AS TEXT), '\"uses_left\":1', '\"uses_left\":9') AS BLOB) WHERE method = 'mint.sign'", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, b := mintWorld(t)
			raw := w.issue(w.form(b))
			request := b.request(t, raw, "n", nil)
			first, err := b.mint(request)
			if err != nil {
				t.Fatal(err)
			}
			used, err := b.use("u1", first.Mint, []byte(mintPayload))
			if err != nil {
				t.Fatal(err)
			}
			w.stop()
			if w.edit(c.edit) == 0 {
				t.Fatal("the edit changes nothing")
			}
			w.start()
			err = w.owner.Unlock(t.Context(), "terminal")
			if c.start != "" {
				if st := w.owner.Status(); err == nil || st.State != approvals.StateReadOnly || st.Trouble == nil || st.Trouble.Code != c.start {
					t.Errorf("%v, %+v", err, st.Trouble)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			b.connect()
			b.prove()
			again, err := b.mint(request)
			if code(err) != c.again || err == nil && (again.AgentAddress != first.AgentAddress || !bytes.Equal(again.Record, first.Record)) {
				t.Errorf("again: %+v, %v", again, err)
			}
			if _, err := b.use("u2", first.Mint, []byte(mintPayload)); code(err) != c.use {
				t.Errorf("sign: %v", err)
			}
			if c.use == "" {
				if _, err := b.use("u3", first.Mint, []byte(mintPayload)); code(err) != approvals.CodeMintUsesSpent {
					t.Errorf("sign once more: %v", err)
				}
				switch same, err := b.use("u1", first.Mint, []byte(mintPayload)); {
				case err == nil && same.Signature != used.Signature, err != nil && code(err) != approvals.CodeRowEdited:
					t.Errorf("the first again: %+v, %v", same, err)
				}
			}
			if n := w.entries("capability.minted"); n != 1 {
				t.Errorf("%d mints", n)
			}
		})
	}
}

// TestLegitimacyIsCarriedApart issues a delegate that requires a legitimacy id: it is enforced, told beside the record, and
// changes nothing that is derived or verified.
func TestLegitimacyIsCarriedApart(t *testing.T) {
	w, b := mintWorld(t)
	version := int64(3)
	f := w.form(b)
	f.Legitimacy = &approvals.LegitimacyView{LegitimacyID: "ae-legit-1", Required: true, PolicyID: "p", StateVersion: &version, StateHash: "0x" + strings.Repeat("ab", 32)}
	raw := w.issue(f)
	naming := func(id, nonce string) []byte {
		return b.request(t, raw, nonce, func(f *envelope.RequestFields) { f.LegitimacyID = id })
	}
	for nonce, id := range map[string]string{"a": "", "b": "ae-legit-2"} {
		if _, err := b.mint(naming(id, nonce)); code(err) != approvals.CodeLegitimacy {
			t.Errorf("%q: %v", id, err)
		}
	}
	got, err := b.mint(naming("ae-legit-1", "c"))
	if err != nil || got.Legitimacy == nil || got.Legitimacy.LegitimacyID != "ae-legit-1" || !got.Legitimacy.Required || *got.Legitimacy.StateVersion != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if bytes.Contains(got.Record, []byte("ae-legit")) {
		t.Errorf("the record names it: %s", got.Record)
	}
	// Legitimacy is named last: a reused nonce and spent mints come first.
	if _, err := b.mint(naming("ae-legit-2", "c")); code(err) != approvals.CodeNonceReused {
		t.Error(err)
	}
	for _, nonce := range []string{"d", "e"} {
		if _, err := b.mint(naming("ae-legit-1", nonce)); err != nil {
			t.Fatal(err)
		}
	}
	_, err = b.mint(naming("ae-legit-2", "f"))
	if code(err) != approvals.CodeMintsSpent {
		t.Error(err)
	}
	var told struct {
		Bound        string
		Value, Asked int64
	}
	if r, ok := err.(*approvals.Refusal); !ok || json.Unmarshal(r.Data, &told) != nil || told.Bound != "maxMints" || told.Value != 3 || told.Asked != 4 {
		t.Errorf("%+v", told)
	}
	v := w.delegate(hashOf(t, raw))
	if l := v.Bounds.Legitimacy; l == nil || l.LegitimacyID != "ae-legit-1" || l.StateHash == "" {
		t.Errorf("%+v", v)
	}
	mints, err := w.owner.Mints(approvals.MintFilter{Delegate: v.Hash, Limit: 1})
	if err != nil || len(mints) != 1 || mints[0].Legitimacy != "ae-legit-1" || mints[0].Nonce != "e" {
		t.Errorf("%+v, %v", mints, err)
	}
	next, err := w.owner.Mints(approvals.MintFilter{Delegate: v.Hash, Before: mints[0].Seq})
	if err != nil || len(next) != 2 || next[0].Nonce != "d" || next[1].Nonce != "c" {
		t.Errorf("%+v, %v", next, err)
	}
}

// TestMintsWhileAway goes on only under a delegate that the owner marked so.
func TestMintsWhileAway(t *testing.T) {
	w, b := mintWorld(t)
	stays := w.issue(w.form(b))
	f := w.form(b)
	f.WhileAway = true
	goes := w.issue(f)
	w.owner.SetAway(true)
	if _, err := b.mint(b.request(t, stays, "n", nil)); code(err) != approvals.CodeAway {
		t.Error(err)
	}
	got, err := b.mint(b.request(t, goes, "n", nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.use("u", got.Mint, []byte(mintPayload)); err != nil {
		t.Error(err)
	}
	p, err := w.owner.PlanDelegate(w.form(b))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := w.owner.IssueDelegate(context.Background(), p); err != nil || out.Code != approvals.CodeAway {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestNoPasskeyNoDelegate refuses everything person-grade where no passkey is enrolled.
func TestNoPasskeyNoDelegate(t *testing.T) {
	w := newWorld(t)
	w.browse()
	w.create()
	b := newBot(t, w.pair("bot"), "one")
	p, err := w.owner.PlanDelegate(w.form(b))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := w.owner.IssueDelegate(t.Context(), p); err != nil || out.Code != approvals.OutcomeNoPasskey {
		t.Errorf("%+v, %v", out, err)
	}
	if sealed, out, err := w.owner.ExportMint(t.Context(), w.owner.Domains()[0].Hash, "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"); err != nil || out.Code != approvals.OutcomeNoPasskey || sealed != nil {
		t.Errorf("%+v, %v", out, err)
	}
	if n := w.entries("delegate.issued") + w.entries("mint.exported"); n != 0 {
		t.Errorf("%d entries", n)
	}
}
