package offline_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"vault/approvals/journal"
	"vault/approvals/receipt"
	"vault/cmd/vault/internal/offline"
	"vault/derive/confirm"
	answers "vault/derive/confirm/answer"
	"vault/derive/envelope"
	"vault/internal/softkey"
)

// confirmed are a receipt of a pairing that a passkey confirmed, and the owner card, made by hand.
func confirmed(t *testing.T) (rcpt, card offline.Document, owner string) {
	t.Helper()
	const vault, instance, name = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210", "vault-01234567.localhost"
	const at = int64(1_790_000_000_000)
	key := func(seed string) (ed25519.PrivateKey, string) {
		sum := sha256.Sum256([]byte("test key of the offline verifier: " + seed))
		k := ed25519.NewKeyFromSeed(sum[:])
		text, err := envelope.EncodeOwnerKey(k.Public().(ed25519.PublicKey))
		if err != nil {
			t.Fatal(err)
		}
		return k, text
	}
	logKey, logText := key("log")
	seat, owner := key("owner")
	passkey := softkey.New()
	cose, err := confirm.ParseKey(passkey.COSE())
	if err != nil {
		t.Fatal(err)
	}

	permit := sha256.Sum256([]byte("a permit"))
	digest := journal.HashOf([]byte("a permit"))
	c, err := confirm.NewContext(confirm.Fields{
		Kind: confirm.ClientPair, Digest: digest[2:], Says: []string{"Pair the program “Agent”."}, Origin: "http://" + name + ":40123", RPID: name,
		IssuedAt: at, ExpiresAt: at + 120_000, Nonce: permit, RequestID: "ce_1",
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := answers.ParseAssertion(passkey.Assert(c.ChallengeText(), "http://"+name+":40123", name))
	if err != nil {
		t.Fatal(err)
	}
	record, err := confirm.NewRecord(c, a.AuthenticatorData, a.ClientDataJSON, a.Signature)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := journal.Make(instance, 9, journal.HashOf(nil), at+5_000, journal.KindClientPaired, journal.ClientPaired{
		Client: "c_0000000000000001", Name: "Agent", By: "passkey", PermitSHA256: digest, Confirmation: record.Digest(),
	})
	if err != nil {
		t.Fatal(err)
	}
	head := journal.Head{Type: journal.HeadType, V: 1, Vault: vault, Instance: instance, Seq: 9, Hash: entry.Hash(), At: at + 5_000, Key: logText}
	head.Sig = base64.RawURLEncoding.EncodeToString(ed25519.Sign(logKey, head.SigningBytes()))
	says := confirm.Statement{
		Vault: vault, Instance: instance, RecordDigest: record.Digest(), Seq: 9, Head: entry.Hash(), At: at + 5_000, Passkey: cose, LogKey: logText,
	}
	message, err := says.SigningBytes()
	if err != nil {
		t.Fatal(err)
	}
	evidence, err := confirm.NewEvidence(record, says, ed25519.Sign(logKey, message))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := receipt.Encode(receipt.Parts{Entries: [][]byte{entry.Raw()}, Head: head.Canonical(), Evidence: evidence.Canonical()})
	if err != nil {
		t.Fatal(err)
	}
	unsigned, err := confirm.NewOwnerCard(confirm.CardFields{
		Vault: vault, IssuedAt: at + 10_000, Seats: []confirm.CardSeat{{Index: 0, Key: owner}}, LogKeys: []confirm.CardLogKey{{Instance: instance, Key: logText}},
		Passkeys: []confirm.CardPasskey{{Key: cose, Kind: confirm.SecurityKey, RPID: name, Added: at - 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := unsigned.Signed(ed25519.Sign(seat, unsigned.SigningBytes()))
	if err != nil {
		t.Fatal(err)
	}
	return offline.Document{Name: "receipt.json", Raw: raw}, offline.Document{Name: "card.json", Raw: signed.Canonical()}, owner
}

func failed(r *offline.Result) (out []string) {
	for _, l := range r.Lines {
		if !l.OK {
			out = append(out, l.Check)
		}
	}
	return out
}

func TestConfirmedReceipt(t *testing.T) {
	rcpt, card, owner := confirmed(t)
	pins := offline.Pins{Card: card.Raw, CardName: card.Name, Owner: owner}
	verify := func(t *testing.T, doc offline.Document, pins offline.Pins) *offline.Result {
		t.Helper()
		r, err := offline.Verify([]offline.Document{doc}, pins, now)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := verify(t, rcpt, pins)
	if r.Verdict != offline.Verified {
		t.Fatalf("failed: %v", failed(r))
	}
	var names []string
	for _, l := range r.Lines {
		names = append(names, l.Check)
	}
	for _, want := range []string{
		"cardSignature", "cardLogKey", "headSigned", "evidence.signature", "evidence.challengeIsContext", "evidence.contextCoversAct", "evidence.originOfContext",
		"evidence.rpIdHash", "evidence.userVerified", "evidence.notExpired", "evidence.logSignature", "evidence.passkeyOnCard", "evidence.logKeyPin",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no line %s", want)
		}
	}
	if r := verify(t, rcpt, offline.Pins{}); r.Verdict != offline.SelfConsistent {
		t.Errorf("without the card: %v", r.Verdict)
	}
	// Somebody else's card, also with his own owner key.
	_, other, stranger := confirmed(t)
	if r := verify(t, rcpt, offline.Pins{Card: other.Raw, CardName: "card.json", Owner: stranger}); r.Verdict != offline.NotValid {
		t.Errorf("another passkey on the card: %v", r.Verdict)
	}

	edit := func(from, to string) offline.Document {
		text := strings.Replace(string(rcpt.Raw), from, to, 1)
		if text == string(rcpt.Raw) {
			t.Fatalf("there is no %s", from)
		}
		return offline.Document{Name: rcpt.Name, Raw: []byte(text)}
	}
	for _, c := range []struct{ name, from, to, line string }{
		{"what the page said", "Pair the program", "Pair tbe program", "evidence.challengeIsContext"},
		{"the page", `"origin":"http://vault-01234567.localhost:40123"`, `"origin":"http://vault-01234567.localhost:40124"`, "evidence.originOfContext"},
		{"the name of the client", `"name":"Agent"`, `"name":"Agend"`, "headCoversEntry"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := edit(c.from, c.to)
			r, err := offline.Verify([]offline.Document{doc}, pins, now)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != offline.NotValid || !slices.Contains(failed(r), c.line) {
				t.Errorf("verdict %v, failed %v, want %s", r.Verdict, failed(r), c.line)
			}
		})
	}
	t.Run("the card", func(t *testing.T) {
		bad := pins
		bad.Card = []byte(strings.Replace(string(card.Raw), `"issued_at":17900000`, `"issued_at":17900001`, 1))
		if r := verify(t, rcpt, bad); r.Verdict != offline.NotValid || !slices.Contains(failed(r), "cardSignature") {
			t.Errorf("%v", failed(r))
		}
	})
	t.Run("no card", func(t *testing.T) {
		bad := pins
		bad.Card = []byte("{}")
		if r := verify(t, rcpt, bad); r.Verdict != offline.NotValid {
			t.Errorf("%v", failed(r))
		}
	})
}
