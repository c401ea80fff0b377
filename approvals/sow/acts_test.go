package sow_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"strings"
	"testing"

	"vault/approvals/sow"
	"vault/derive/tag"
	"vault/internal/samplekey"
)

var kinds = []sow.ActKind{sow.Denial, sow.Withdrawal, sow.Termination, sow.FormationRefusal, sow.Dispute, sow.Review, sow.Probe}

// TestActs: every act is made, signed under its own prefix, read again, and is
// no other act.
func TestActs(t *testing.T) {
	d := good(t, fixedFee)
	k, _ := samplekey.Of(t, "owner/saltmarsh")
	stranger, _ := samplekey.Of(t, "owner/gable")
	seen := map[tag.Tag]bool{}
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			prefix, ok := kind.Tag()
			if !ok || seen[prefix] || string(prefix) != "sow-vault-"+string(kind)+"-v1\n" {
				t.Fatalf("prefix %q", prefix)
			}
			seen[prefix] = true
			a, err := sow.NewAct(act(t, kind))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a.Signed(), prefix.Message(a.Canonical())) || a.Verify() == nil || !a.About(d) || a.About(good(t, metered)) {
				t.Error("the unsigned act is wrong")
			}
			signed, err := a.WithSignature(ed25519.Sign(k, a.Signed()))
			if err != nil {
				t.Fatal(err)
			}
			if signed.Verify() != nil || !bytes.Equal(signed.Canonical(), a.Canonical()) {
				t.Error("the signed act does not verify")
			}
			again, err := sow.ParseAct(signed.Bytes())
			if err != nil || again.Verify() != nil || !bytes.Equal(again.Bytes(), signed.Bytes()) {
				t.Errorf("read again: %v", err)
			}
			if f := again.Fields(); f.Kind != kind || f.Document != d.Digest() || f.Version != 1 || f.Role != sow.Client {
				t.Errorf("fields are %+v", f)
			}
			if _, err := a.WithSignature(ed25519.Sign(stranger, a.Signed())); err == nil {
				t.Error("another key signs it")
			}
			if _, err := a.WithSignature(ed25519.Sign(k, a.Canonical())); err == nil {
				t.Error("it verifies without its prefix")
			}
			other := edit(t, signed.Bytes(), "at", "2026-11-01T09:00:01Z")
			if b, err := sow.ParseAct(other); err != nil || b.Verify() == nil {
				t.Errorf("it verifies at another time: %v", err)
			}
		})
	}
}

func TestActRefusals(t *testing.T) {
	base := func(kind sow.ActKind) []byte {
		a, err := sow.NewAct(act(t, kind))
		if err != nil {
			t.Fatal(err)
		}
		return a.Bytes()
	}
	for _, c := range []struct {
		kind     sow.ActKind
		path, to string
		code     string
	}{
		{sow.Denial, "act", `"approval"`, "act_shape"},
		{sow.Denial, "type", `"vault.other"`, "act_shape"},
		{sow.Denial, "v", `2`, "act_shape"},
		{sow.Denial, "extra", `1`, "act_shape"},
		{sow.Denial, "ground", `"cause"`, "act_shape"},
		{sow.Denial, "disputed", `{"amount":1,"currency":"XCR"}`, "act_shape"},
		{sow.Denial, "reason", `""`, "denial_without_reason"},
		{sow.Denial, "sow", `""`, "act_shape"},
		{sow.Denial, "version", `0`, "act_shape"},
		{sow.Denial, "document_sha256", `"AB"`, "act_shape"},
		{sow.Denial, "role", `"witness"`, "act_shape"},
		{sow.Denial, "at", `"2026-13-01T00:00:00Z"`, "act_shape"},
		{sow.Denial, "key", `"SUA"`, "act_shape"},
		{sow.Denial, "cites", `[]`, "act_shape"},
		{sow.Denial, "cites", `"a"`, "act_shape"},
		{sow.Withdrawal, "reason", `" "`, "act_shape"},
		{sow.Termination, "ground", `"cause"`, "act_shape"}, // for cause needs its reason
		{sow.Review, "ground", `"silence"`, "act_shape"},
		{sow.Review, "cites", `[""]`, "act_shape"},
		{sow.Dispute, "disputed.amount", `0.5`, "dispute_amount"},
		{sow.Dispute, "disputed.of", `1`, "dispute_amount"},
		{sow.Dispute, "cites", ``, "dispute_cites_nothing"},
		{sow.Probe, "inputs", `[]`, "probe_unrecorded"},
		{sow.Probe, "inputs[0].passed", `false`, "probe_unrecorded"},
		{sow.Probe, "inputs[1].problem.description", `" "`, "probe_unrecorded"},
	} {
		t.Run(string(c.kind)+"/"+c.path+"="+c.to, func(t *testing.T) {
			var to any = drop{}
			if c.to != "" {
				to = json.RawMessage(c.to)
			}
			_, err := sow.ParseAct(edit(t, base(c.kind), c.path, to))
			if err == nil || !strings.Contains(err.Error(), c.code+" at ") {
				t.Errorf("got %v", err)
			}
		})
	}
}
