package confirm

import (
	"encoding/base64"
	"testing"

	"github.com/go-webauthn/webauthn/protocol"
)

// TestLibraryAgrees has a library that is not ours verify every record that we
// accept: what is stored is ordinary WebAuthn. It is laxer than we are, so its
// word on what we refuse is not asked for.
func TestLibraryAgrees(t *testing.T) {
	for _, s := range vectorSets(t) {
		for _, v := range s.Vectors {
			if v.Expect != "accepted" {
				continue
			}
			t.Run(v.ID, func(t *testing.T) {
				pins, at := s.pins(t, v)
				rec, err := ParseRecord(v.raw())
				if err != nil {
					t.Fatal(err)
				}
				if r := rec.Verify(pins, at); !r.Valid {
					t.Fatalf("we refuse it: %s", r.Reason)
				}
				a := protocol.CredentialAssertionResponse{}
				a.Type, a.RawID, a.ID = "public-key", []byte{1}, base64.RawURLEncoding.EncodeToString([]byte{1})
				a.AssertionResponse.AuthenticatorData = rec.authData
				a.AssertionResponse.ClientDataJSON = rec.clientData
				a.AssertionResponse.Signature = rec.signature
				p, err := a.Parse()
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Verify(rec.Context().ChallengeText(), pins.RPID, "", pins.Origins, nil, nil,
					protocol.TopOriginExplicitVerificationMode, false, true, true, pins.Key.COSE(), protocol.SignaturePolicy{}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
