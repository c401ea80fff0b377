package handshake_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault/approvals/handshake"
)

type vector struct {
	Name        string `json:"name"`
	Vault       string `json:"vault"`
	ClientNonce string `json:"client_nonce"`
	ServerNonce string `json:"server_nonce"`
	Secret      string `json:"secret"`
	Commitment  string `json:"commitment"`
	Digits      string `json:"digits"`
	VaultProof  string `json:"vault_proof"`
	ClientProof string `json:"client_proof"`
}

func files(t *testing.T) []string {
	out := []string{filepath.Join("testdata", "handshake.json")}
	if dir := os.Getenv("VAULT_VECTORS"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "handshake", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, more...)
	}
	return out
}

func dec(t *testing.T, text string) [32]byte {
	t.Helper()
	b, err := handshake.Decode(text)
	if err != nil {
		t.Fatalf("decode %q: %v", text, err)
	}
	return b
}

// The expected values were computed by an unrelated implementation (Python's
// hashlib and hmac).
func TestVectors(t *testing.T) {
	for _, file := range files(t) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var vs []vector
		if err := json.Unmarshal(raw, &vs); err != nil {
			t.Fatal(err)
		}
		if len(vs) == 0 {
			t.Fatalf("%s holds no vector", file)
		}
		for _, v := range vs {
			t.Run(v.Name, func(t *testing.T) {
				cn, sn := handshake.Nonce(dec(t, v.ClientNonce)), handshake.Nonce(dec(t, v.ServerNonce))
				secret := handshake.Secret(dec(t, v.Secret))
				commitment := handshake.Commit(cn)
				if got := handshake.Encode(commitment); got != v.Commitment {
					t.Errorf("commitment %s, want %s", got, v.Commitment)
				}
				if !handshake.Opens(commitment, cn) {
					t.Error("the commitment does not open")
				}
				if handshake.Opens(commitment, sn) {
					t.Error("the commitment opens with another nonce")
				}
				if got := handshake.Digits(v.Vault, cn, sn); got != v.Digits {
					t.Errorf("digits %s, want %s", got, v.Digits)
				}
				for role, want := range map[handshake.Role]string{handshake.RoleVault: v.VaultProof, handshake.RoleClient: v.ClientProof} {
					if got := handshake.Encode(handshake.Prove(&secret, role, "1", v.Vault, cn, sn)); got != want {
						t.Errorf("%s proof %s, want %s", role, got, want)
					}
				}
			})
		}
	}
}

func TestDigitsKeepLeadingZeros(t *testing.T) {
	var cn, sn handshake.Nonce
	binary.BigEndian.PutUint16(cn[30:], 15537)
	if got := handshake.Digits("00112233445566778899aabbccddeeff", cn, sn); got != "000064" {
		t.Errorf("digits %q, want 000064", got)
	}
}

// A proof is good for nothing but what it was made for.
func TestProofIsBoundToEverything(t *testing.T) {
	secret, other := handshake.Secret{1}, handshake.Secret{2}
	cn, sn := handshake.Nonce{3}, handshake.Nonce{4}
	const vault, vault2 = "00112233445566778899aabbccddeeff", "00112233445566778899aabbccddeefe"
	proof := handshake.Prove(&secret, handshake.RoleClient, "1", vault, cn, sn)
	flipped := proof
	flipped[31] ^= 1
	for name, ok := range map[string]bool{
		"same":          handshake.Check(proof, &secret, handshake.RoleClient, "1", vault, cn, sn),
		"secret":        !handshake.Check(proof, &other, handshake.RoleClient, "1", vault, cn, sn),
		"role":          !handshake.Check(proof, &secret, handshake.RoleVault, "1", vault, cn, sn),
		"version":       !handshake.Check(proof, &secret, handshake.RoleClient, "2", vault, cn, sn),
		"vault":         !handshake.Check(proof, &secret, handshake.RoleClient, "1", vault2, cn, sn),
		"nonces turned": !handshake.Check(proof, &secret, handshake.RoleClient, "1", vault, sn, cn),
		"one bit":       !handshake.Check(flipped, &secret, handshake.RoleClient, "1", vault, cn, sn),
	} {
		if !ok {
			t.Error(name)
		}
	}
}

func TestSecretDoesNotPrint(t *testing.T) {
	s := handshake.Secret([]byte("0123456789abcdefghijklmnopqrstuv"))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
		for _, v := range []any{s, &s, struct{ S handshake.Secret }{s}} {
			out := fmt.Sprintf(verb, v)
			if !strings.Contains(out, "[secret]") || strings.Contains(out, "0123") || strings.Contains(out, "30313233") || strings.Contains(out, "48 49") {
				t.Errorf("%s prints %s", verb, out)
			}
		}
	}
	if b, err := json.Marshal(struct{ S handshake.Secret }{s}); err == nil {
		t.Errorf("marshalled as %s", b)
	}
	s.Wipe()
	if s != (handshake.Secret{}) {
		t.Error("not wiped")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")
	f.Add("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9") // unused bits set
	f.Add("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	f.Add("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBka\nGxwdHh")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := handshake.Decode(text)
		if err != nil {
			if !errors.Is(err, handshake.ErrText) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if got := handshake.Encode(b); got != text {
			t.Fatalf("%q decodes and is encoded as %q", text, got)
		}
	})
}
