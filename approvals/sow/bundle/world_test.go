package bundle_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"vault/approvals/sow"
	"vault/derive/confirm"
	"vault/derive/confirm/answer"
	"vault/internal/samplekey"
	"vault/internal/softkey"
)

const (
	vaultID  = "0123456789abcdef0123456789abcdef"
	instance = "fedcba9876543210fedcba9876543210"
	page     = "vault-01234567.localhost"
	when     = int64(1_790_000_000_000)
)

// world is an engagement of the sample documents as one side exports it.
type world struct {
	t         testing.TB
	agreed    []byte // version 1, signed by both
	amendment []byte // version 2, signed by the provider only
	offer     []byte // an open standing proposal
	act       []byte // the client's termination
	evidence  []byte // of a countersign of version 1
	card      *confirm.OwnerCard

	provider, client string // owner keys
	passkey          *softkey.Key
}

func sample(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "testdata", "docs", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func document(t testing.TB, raw []byte) *sow.Document {
	t.Helper()
	d, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, agreed: sample(t, "fixed-fee-engagement"), amendment: sample(t, "amendment-v2-proposal"), offer: sample(t, "standing-proposal"), passkey: softkey.New()}
	_, w.provider = samplekey.Of(t, "owner/copperline")
	_, w.client = samplekey.Of(t, "owner/saltmarsh")
	w.act = w.signAct("owner/saltmarsh", func(*sow.ActFields) {})
	w.evidence = w.confirm(confirm.SoWCountersign, sow.Client, document(t, w.agreed).Signed(), 7)
	w.card = w.ownerCard("owner/saltmarsh")
	return w
}

// signAct is a termination by the owner of a label.
func (w *world) signAct(label string, change func(*sow.ActFields)) []byte {
	w.t.Helper()
	d := document(w.t, w.agreed)
	k, text := samplekey.Of(w.t, label)
	f := sow.ActFields{Kind: sow.Termination, SoW: d.ID(), Version: d.Version(), Document: d.Digest(), Role: sow.Client, At: "2026-11-01T09:00:00Z", Key: text, Ground: "convenience"}
	change(&f)
	a, err := sow.NewAct(f)
	if err != nil {
		w.t.Fatal(err)
	}
	if a, err = a.WithSignature(ed25519.Sign(k, a.Signed())); err != nil {
		w.t.Fatal(err)
	}
	return a.Bytes()
}

func (w *world) ownerCard(label string) *confirm.OwnerCard {
	w.t.Helper()
	k, owner := samplekey.Of(w.t, label)
	_, log := samplekey.Of(w.t, "log")
	cose, err := confirm.ParseKey(w.passkey.COSE())
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := confirm.NewOwnerCard(confirm.CardFields{
		Vault: vaultID, IssuedAt: when, Seats: []confirm.CardSeat{{Key: owner}}, LogKeys: []confirm.CardLogKey{{Instance: instance, Key: log}},
		Passkeys: []confirm.CardPasskey{{Key: cose, Kind: confirm.SecurityKey, RPID: page, Added: when - 1000}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if c, err = c.Signed(ed25519.Sign(k, c.SigningBytes())); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// confirm is evidence that the passkey confirmed an act over these bytes.
func (w *world) confirm(kind confirm.Kind, role string, over []byte, seq int64) []byte {
	w.t.Helper()
	t := w.t
	sum := sha256.Sum256(over)
	d := document(t, w.agreed)
	c, err := confirm.NewContext(confirm.Fields{
		Kind: kind, Document: &confirm.Document{ID: d.ID(), Version: d.Version()}, Role: role, Digest: hex.EncodeToString(sum[:]), Says: []string{"Sign."},
		Origin: "http://" + page + ":40123", RPID: page, IssuedAt: when, ExpiresAt: when + 120_000, Nonce: sum, RequestID: "ce_1",
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := answer.ParseAssertion(w.passkey.Assert(c.ChallengeText(), "http://"+page+":40123", page))
	if err != nil {
		t.Fatal(err)
	}
	record, err := confirm.NewRecord(c, a.AuthenticatorData, a.ClientDataJSON, a.Signature)
	if err != nil {
		t.Fatal(err)
	}
	cose, err := confirm.ParseKey(w.passkey.COSE())
	if err != nil {
		t.Fatal(err)
	}
	k, log := samplekey.Of(t, "log")
	says := confirm.Statement{Vault: vaultID, Instance: instance, RecordDigest: record.Digest(), Seq: seq, Head: "0x" + hex.EncodeToString(sum[:]), At: when + 5000, Passkey: cose, LogKey: log}
	message, err := says.SigningBytes()
	if err != nil {
		t.Fatal(err)
	}
	e, err := confirm.NewEvidence(record, says, ed25519.Sign(k, message))
	if err != nil {
		t.Fatal(err)
	}
	return e.Canonical()
}

// with changes the signature records of a document, as JSON text.
func with(t testing.TB, raw []byte, change func(records []map[string]any) []map[string]any) []byte {
	t.Helper()
	var tree map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	var records []map[string]any
	for _, r := range tree["signatures"].([]any) {
		records = append(records, r.(map[string]any))
	}
	tree["signatures"] = change(records)
	out, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
