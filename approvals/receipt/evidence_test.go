package receipt

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"vault/approvals/journal"
	"vault/derive/confirm"
	"vault/derive/envelope"
	"vault/internal/softkey"
)

// TestEvidenceOfADocument: document, version and part of the confirmation are those of the entry.
func TestEvidenceOfADocument(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	nkey, err := envelope.EncodeOwnerKey(public)
	if err != nil {
		t.Fatal(err)
	}
	passkey, err := confirm.ParseKey(softkey.New().COSE())
	if err != nil {
		t.Fatal(err)
	}
	const vault, instance, at = "00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100", 1_700_000_000_000
	digest := strings.Repeat("ab", 32)
	for _, c := range []struct {
		name    string
		change  func(*confirm.Fields)
		refused bool
	}{
		{"the act's own", func(*confirm.Fields) {}, false},
		{"another part", func(f *confirm.Fields) { f.Role = "provider" }, true},
		{"another version", func(f *confirm.Fields) { f.Document.Version = 3 }, true},
		{"another document", func(f *confirm.Fields) { f.Document.ID = "sow-2" }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := confirm.Fields{
				Kind: confirm.SoWTerminate, Document: &confirm.Document{ID: "sow-1", Version: 2}, Role: "client", Digest: digest, Says: []string{"End it."},
				Origin: "http://localhost:40123", RPID: "localhost", IssuedAt: at - 1000, ExpiresAt: at + 60_000, RequestID: "ce_1",
			}
			c.change(&f)
			context, err := confirm.NewContext(f)
			if err != nil {
				t.Fatal(err)
			}
			record, err := confirm.NewRecord(context, []byte{1}, []byte{1}, []byte{1})
			if err != nil {
				t.Fatal(err)
			}
			e, err := journal.Make(instance, 2, "0x"+digest, at, journal.KindSoWActSigned, journal.SoWActSigned{
				Engagement: "e_" + digest[:32], Act: "termination", SoW: "sow-1", Version: 2, DocumentSHA256: "0x" + digest, ActSHA256: "0x" + digest,
				Role: "client", Key: nkey, By: "passkey", Confirmation: record.Digest(),
			})
			if err != nil {
				t.Fatal(err)
			}
			says := confirm.Statement{Vault: vault, Instance: instance, RecordDigest: record.Digest(), Seq: 2, Head: e.Hash(), At: at, Passkey: passkey, LogKey: nkey}
			message, err := says.SigningBytes()
			if err != nil {
				t.Fatal(err)
			}
			evidence, err := confirm.NewEvidence(record, says, ed25519.Sign(private, message))
			if err != nil {
				t.Fatal(err)
			}
			for _, check := range EvidenceOf(e, evidence, vault, nkey) {
				if check.OK == (c.refused && check.Name == "documentOfAct") {
					t.Errorf("%+v", check)
				}
			}
			if n := len(EvidenceOf(e, evidence, vault, nkey)); n != 6 {
				t.Errorf("%d checks", n)
			}
		})
	}
}
