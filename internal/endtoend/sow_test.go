//go:build unix

package endtoend_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/internal/samplekey"
	"vault/internal/softkey"
	"vault/sign"
)

// sampleOffer is the sample standing proposal, as its provider signed it, without what nobody can check about a client.
func sampleOffer(t *testing.T) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "approvals", "sow", "testdata", "docs", "standing-proposal.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	list := tree["qualifications"].([]any)
	tree["qualifications"] = list[len(list)-1:]
	delete(tree, "signatures")
	if raw, err = json.Marshal(tree); err != nil {
		t.Fatal(err)
	}
	d, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	k, text := samplekey.Of(t, "owner/inkwell")
	if d, err = d.WithSignature(sow.Provider, text, "2026-10-01T00:00:00Z", ed25519.Sign(k, d.Signed())); err != nil {
		t.Fatal(err)
	}
	return d.Raw()
}

// TestSoWSign takes an offer from a program on the command line to a bundle that its owner has signed.
func TestSoWSign(t *testing.T) {
	program := filepath.Join(t.TempDir(), "vault")
	if out, err := exec.Command("go", "build", "-tags", "headless", "-o", program, "vault/cmd/vault").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := start(t, func(c *sign.Config) {
		key := softkey.New()
		c.Page = func(context.Context) (sign.Page, error) { return &tab{key: key}, nil }
	})
	r.decide(func(approvals.Sheet) approvals.Decision {
		return approvals.Decision{Verdict: approvals.VerdictApprove, Name: "Buyer"}
	})
	if out, errs, status := r.run(program, "agent", "pair", "--name", "buyer"); status != 0 {
		t.Fatalf("%s %s", out, errs)
	}
	r.enrol()
	ctx := t.Context()
	all := sow.Deployment{
		Scope: true, Inputs: true, DeliverableForm: true, Revisions: true, Volume: true, Term: true, ChangeControl: true, Termination: true, Rating: true, Sealed: true, Retention: true,
		ChecksFormation: true, VerifiesCounterparty: true,
	}
	if err := r.owner.SetDeployment(ctx, "", &all); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	offer, fill, out := filepath.Join(dir, "offer.json"), filepath.Join(dir, "fill.json"), filepath.Join(dir, "signed.json")
	raw := sampleOffer(t)
	doc, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{offer: raw, fill: []byte(
		`{"client":{"agent":"UDP4IIGSNLEY6ZF44DGNXQAEKM54BAPMP6G6VXRWHQHBSUSKHG32TEI7","owner":"Assay House"},"starts_at":"2027-01-01T00:00:00Z","assertions":["holds-brand-licence"]}`)} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Without a pinned key nobody is asked.
	words := []string{program, "sow", "sign", offer, "--name", "buyer", "--fill", fill}
	if _, errs, status := r.run(append(words, "--out", out)...); status != 1 || !strings.Contains(errs, "counterparty_not_pinned") {
		t.Fatalf("%d %s", status, errs)
	}
	provider, _ := doc.Party(sow.Provider)
	if err := r.owner.PinKey(ctx, approvals.PinAsk{Agent: provider.Agent, Key: doc.Signatures()[0].Key, Learned: "told"}); err != nil {
		t.Fatal(err)
	}
	// The owner signs what waits in the Inbox.
	signed := make(chan approvals.Outcome, 1)
	woken := make(chan struct{}, 1)
	stop := r.owner.Watch(func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	defer stop()
	go func() {
		for range woken {
			items := r.owner.Inbox()
			i := slices.IndexFunc(items, func(it approvals.Item) bool {
				return it.Kind == approvals.ItemSoW && it.Wants == agreement.WaitCountersign
			})
			if i < 0 {
				continue
			}
			v, err := r.owner.Engagement(items[i].ID)
			if err != nil || items[i].Agent != "Buyer" {
				t.Errorf("%+v, %v", items[i], err)
			}
			got, err := r.owner.SignSoW(ctx, approvals.Signing{Engagement: v.ID, Digest: v.Digest, Move: "countersign"})
			if err != nil {
				t.Error(err)
			}
			signed <- got
			return
		}
	}()
	if _, errs, status := r.run(append(words, "--out", out)...); status != 0 {
		t.Fatalf("%d %s", status, errs)
	}
	if got := <-signed; got.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", got)
	}
	file, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(bytes.TrimSpace(file))
	if err != nil {
		t.Fatal(err)
	}
	ours := r.owner.Status().Public.OwnerKey
	if report := bundle.Verify(b, bundle.Pins{Client: ours}); !report.Valid || len(b.Confirmations) != 1 {
		t.Fatalf("%+v", report)
	}
	for _, it := range r.owner.Inbox() {
		if it.Kind == approvals.ItemSoW {
			t.Errorf("%+v is still in the Inbox", it)
		}
	}
}
