package answer

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vault/derive/confirm"
)

const (
	rpID   = "vault-0123abcd.localhost"
	origin = "http://vault-0123abcd.localhost:41234"
	issued = int64(1_796_000_000_000)
)

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// authenticator is a key in software.
type authenticator struct {
	id   []byte
	cose []byte
	sign func(message []byte) []byte
}

func newAuthenticator(t testing.TB, alg confirm.Alg) *authenticator {
	t.Helper()
	a := &authenticator{id: []byte("credential of " + alg.String())}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	digest := func(m []byte) []byte { s := sha256.Sum256(m); return s[:] }
	switch alg {
	case confirm.ES256:
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(err)
		point, err := k.PublicKey.Bytes()
		must(err)
		a.cose = slices.Concat([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, point[1:33], []byte{0x22, 0x58, 32}, point[33:])
		a.sign = func(m []byte) []byte { s, err := ecdsa.SignASN1(rand.Reader, k, digest(m)); must(err); return s }
	case confirm.EdDSA:
		pub, k, err := ed25519.GenerateKey(rand.Reader)
		must(err)
		a.cose = append([]byte{0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21, 0x58, 32}, pub...)
		a.sign = func(m []byte) []byte { return ed25519.Sign(k, m) }
	case confirm.RS256:
		k, err := rsa.GenerateKey(rand.Reader, 2048)
		must(err)
		a.cose = slices.Concat([]byte{0xa4, 1, 3, 3, 0x39, 1, 0, 0x20, 0x59, 1, 0}, k.N.Bytes(), []byte{0x21, 0x43, 1, 0, 1})
		a.sign = func(m []byte) []byte {
			s, err := rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, digest(m))
			must(err)
			return s
		}
	}
	return a
}

const (
	up, uv, be, bs = 1, 4, 8, 16
)

func authData(rp string, flags byte, count uint32, rest ...byte) []byte {
	sum := sha256.Sum256([]byte(rp))
	return append(binary.BigEndian.AppendUint32(append(sum[:], flags), count), rest...)
}

func attested(id, cose []byte) []byte {
	return slices.Concat(make([]byte, 16), []byte{byte(len(id) >> 8), byte(len(id))}, id, cose)
}

func client(typ, challenge, origin string, more string) []byte {
	return []byte(fmt.Sprintf(`{"type":%q,"challenge":%q,"origin":%q,"crossOrigin":false%s}`, typ, challenge, origin, more))
}

func (a *authenticator) assertion(auth, client []byte) Assertion {
	sum := sha256.Sum256(client)
	return Assertion{bytes.Clone(a.id), auth, client, a.sign(slices.Concat(auth, sum[:]))}
}

func (a *authenticator) enrolled(t testing.TB) Credential {
	t.Helper()
	k, err := confirm.ParseKey(a.cose)
	if err != nil {
		t.Fatal(err)
	}
	return Credential{ID: a.id, Key: k, RPID: rpID}
}

func contextOf(t testing.TB) *confirm.Context {
	t.Helper()
	digest := sha256.Sum256([]byte("act"))
	c, err := confirm.NewContext(confirm.Fields{
		Kind: confirm.ActionSign, Digest: hex.EncodeToString(digest[:]), Says: []string{"Sign one."}, Origin: origin, RPID: rpID,
		IssuedAt: issued, ExpiresAt: issued + 60_000, Nonce: digest, RequestID: "r1",
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func code(err error) Code {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}

func TestCheck(t *testing.T) {
	c := contextOf(t)
	for _, alg := range []confirm.Alg{confirm.ES256, confirm.EdDSA, confirm.RS256} {
		a := newAuthenticator(t, alg)
		good := func() (auth, cd []byte) {
			return authData(rpID, up|uv, 5), client("webauthn.get", c.ChallengeText(), origin, "")
		}
		for _, tc := range []struct {
			name string
			edit func(auth, cd *[]byte, as *Assertion, e *Credential, at *int64)
			want Code
		}{
			{"good", nil, ""},
			{"no counter", func(auth, _ *[]byte, _ *Assertion, e *Credential, _ *int64) {
				*auth = authData(rpID, up|uv, 0)
				e.SignCount = 0
			}, ""},
			{"first second", func(_, _ *[]byte, _ *Assertion, _ *Credential, at *int64) { *at = issued }, ""},
			{"last millisecond", func(_, _ *[]byte, _ *Assertion, _ *Credential, at *int64) { *at = issued + 59_999 }, ""},
			{"backed up", func(auth, _ *[]byte, _ *Assertion, e *Credential, _ *int64) {
				*auth, e.BackupEligible = authData(rpID, up|uv|be|bs, 5), true
			}, ""},
			{"expired", func(_, _ *[]byte, _ *Assertion, _ *Credential, at *int64) { *at = issued + 60_000 }, Expired},
			{"early", func(_, _ *[]byte, _ *Assertion, _ *Credential, at *int64) { *at = issued - 1 }, TooEarly},
			{"not verified", func(auth, _ *[]byte, _ *Assertion, _ *Credential, _ *int64) { *auth = authData(rpID, up, 5) }, NotVerified},
			{"not present", func(auth, _ *[]byte, _ *Assertion, _ *Credential, _ *int64) { *auth = authData(rpID, uv, 5) }, NotPresent},
			{"other rp", func(auth, _ *[]byte, _ *Assertion, _ *Credential, _ *int64) { *auth = authData("localhost", up|uv, 5) }, WrongRPID},
			{"other port", func(_, cd *[]byte, _ *Assertion, _ *Credential, _ *int64) {
				*cd = client("webauthn.get", c.ChallengeText(), origin+"5", "")
			}, WrongOrigin},
			{"origin with a slash", func(_, cd *[]byte, _ *Assertion, _ *Credential, _ *int64) {
				*cd = client("webauthn.get", c.ChallengeText(), origin+"/", "")
			}, WrongOrigin},
			{"registration", func(_, cd *[]byte, _ *Assertion, _ *Credential, _ *int64) {
				*cd = client("webauthn.create", c.ChallengeText(), origin, "")
			}, WrongType},
			{"other challenge", func(_, cd *[]byte, _ *Assertion, _ *Credential, _ *int64) {
				*cd = client("webauthn.get", b64(make([]byte, 32)), origin, "")
			}, WrongChallenge},
			{"framed", func(_, cd *[]byte, _ *Assertion, _ *Credential, _ *int64) {
				*cd = bytes.Replace(client("webauthn.get", c.ChallengeText(), origin, ""), []byte("false"), []byte("true"), 1)
			}, Framed},
			{"member twice", func(_, cd *[]byte, _ *Assertion, _ *Credential, _ *int64) {
				*cd = client("webauthn.get", c.ChallengeText(), origin, `,"type":"webauthn.get"`)
			}, Malformed},
			{"short data", func(auth, _ *[]byte, _ *Assertion, _ *Credential, _ *int64) { *auth = (*auth)[:36] }, Malformed},
			{"counter equal", func(_, _ *[]byte, _ *Assertion, e *Credential, _ *int64) { e.SignCount = 5 }, CounterBack},
			{"counter gone", func(auth, _ *[]byte, _ *Assertion, e *Credential, _ *int64) {
				*auth, e.SignCount = authData(rpID, up|uv, 0), 4
			}, CounterBack},
			{"now eligible", func(auth, _ *[]byte, _ *Assertion, _ *Credential, _ *int64) { *auth = authData(rpID, up|uv|be, 5) }, BackupChanged},
			{"backed up and not eligible", func(auth, _ *[]byte, _ *Assertion, _ *Credential, _ *int64) { *auth = authData(rpID, up|uv|bs, 5) }, BackupChanged},
			{"other id", func(_, _ *[]byte, _ *Assertion, e *Credential, _ *int64) { e.ID = []byte("other") }, UnknownCredential},
			{"empty id", func(_, _ *[]byte, as *Assertion, e *Credential, _ *int64) { as.CredentialID, e.ID = nil, nil }, UnknownCredential},
			{"enrolled for another rp", func(_, _ *[]byte, _ *Assertion, e *Credential, _ *int64) { e.RPID = "localhost" }, UnknownCredential},
			{"other key", func(_, _ *[]byte, _ *Assertion, e *Credential, _ *int64) {
				e.Key = newAuthenticator(t, confirm.ES256).enrolled(t).Key
			}, WrongSignature},
		} {
			t.Run(alg.String()+" "+tc.name, func(t *testing.T) {
				auth, cd := good()
				e, at := a.enrolled(t), issued+1000
				e.SignCount = 4
				var as Assertion
				if tc.edit != nil {
					tc.edit(&auth, &cd, &as, &e, &at)
				}
				as = a.assertion(auth, cd)
				if tc.name == "empty id" {
					as.CredentialID = nil
				}
				got, err := Check(c, as, []Credential{{ID: []byte("x"), RPID: rpID}, e}, at)
				if code(err) != tc.want || (err == nil) != (tc.want == "") {
					t.Fatalf("got %v, want %q", err, tc.want)
				}
				if err == nil && (got.Index != 1 || got.Record == nil || got.Data.UserVerified != true) {
					t.Errorf("got %+v", got)
				}
			})
		}
	}
}

func TestEveryByteCounts(t *testing.T) {
	c, a := contextOf(t), newAuthenticator(t, confirm.EdDSA)
	good := a.assertion(authData(rpID, up|uv, 5), client("webauthn.get", c.ChallengeText(), origin, ""))
	if _, err := Check(c, good, []Credential{a.enrolled(t)}, issued); err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string]*[]byte{"data": &good.AuthenticatorData, "client data": &good.ClientDataJSON, "signature": &good.Signature, "id": &good.CredentialID} {
		for i := range *part {
			(*part)[i] ^= 1
			if _, err := Check(c, good, []Credential{a.enrolled(t)}, issued); err == nil {
				t.Errorf("byte %d of %s does not count", i, name)
			}
			(*part)[i] ^= 1
		}
	}
}

func TestParseAssertion(t *testing.T) {
	good := `{"id":"AQ","authenticator_data":"AQI","client_data_json":"e30","signature":"MA"}`
	if a, err := ParseAssertion([]byte(good)); err != nil || string(a.ClientDataJSON) != "{}" || a.CredentialID[0] != 1 {
		t.Fatalf("%+v %v", a, err)
	}
	for name, text := range map[string]string{
		"empty": ``, "not an object": `[]`, "trailing": good + `{}`,
		"padding":         strings.Replace(good, `"AQ"`, `"AQ=="`, 1),
		"unused bits":     strings.Replace(good, `"AQ"`, `"AR"`, 1),
		"line end":        strings.Replace(good, `"AQ"`, `"AQ\n"`, 1),
		"other alphabet":  strings.Replace(good, `"AQI"`, `"+/8"`, 1),
		"empty id":        strings.Replace(good, `"AQ"`, `""`, 1),
		"number":          strings.Replace(good, `"AQ"`, `1`, 1),
		"missing":         strings.Replace(good, `,"signature":"MA"`, ``, 1),
		"unknown":         strings.Replace(good, `{"id"`, `{"type":"public-key","id"`, 1),
		"twice":           strings.Replace(good, `{"id"`, `{"id":"AQ","id"`, 1),
		"name in capital": strings.Replace(good, `{"id"`, `{"Id"`, 1),
		"long id":         strings.Replace(good, `"AQ"`, `"`+b64(make([]byte, 1024))+`"`, 1),
		"long":            `{"id":"` + strings.Repeat("A", MaxAnswer) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseAssertion([]byte(text)); code(err) != Malformed {
				t.Errorf("got %v", err)
			}
		})
	}
}

func registration(auth, cd []byte, transports, attachment string) []byte {
	return []byte(fmt.Sprintf(`{"authenticator_data":%q,"client_data_json":%q,"transports":%s,"attachment":%q}`, b64(auth), b64(cd), transports, attachment))
}

func TestParseRegistration(t *testing.T) {
	want := Expect{Challenge: [32]byte{7}, Origin: origin, RPID: rpID, Enrolled: [][]byte{[]byte("known")}}
	cd := client("webauthn.create", b64(want.Challenge[:]), origin, `,"other_keys_can_be_added_here":"x"`)
	const at, ed = 64, 128
	for _, alg := range []confirm.Alg{confirm.ES256, confirm.EdDSA, confirm.RS256} {
		a := newAuthenticator(t, alg)
		whole := attested(a.id, a.cose)
		auth := authData(rpID, up|uv|at, 3, whole...)
		r, err := ParseRegistration(registration(auth, cd, `["internal"]`, "platform"), want)
		if err != nil || !bytes.Equal(r.CredentialID, a.id) || !bytes.Equal(r.Key.COSE(), a.cose) || r.SignCount != 3 || r.Kind() != confirm.ThisDevice {
			t.Fatalf("%s: %+v %v", alg, r, err)
		}
		with := func(rest ...byte) []byte { return append(bytes.Clone(whole), rest...) }
		for _, tc := range []struct {
			name string
			auth []byte
			cd   []byte
			want Code
		}{
			{"extensions", authData(rpID, up|uv|at|ed, 3, with(0xa1, 0x6b, 'c', 'r', 'e', 'd', 'P', 'r', 'o', 't', 'e', 'c', 't', 2)...), cd, ""},
			{"more than extensions", authData(rpID, up|uv|at|ed, 3, with(0xa0, 0)...), cd, Malformed},
			{"extensions not a map", authData(rpID, up|uv|at|ed, 3, with(0x80)...), cd, Malformed},
			{"extensions cut", authData(rpID, up|uv|at|ed, 3, with(0xa1, 0x6b)...), cd, Malformed},
			{"extensions nested", authData(rpID, up|uv|at|ed, 3, with(0xa1, 1, 0x81, 0x81, 0x81, 0x81, 0x81, 1)...), cd, Malformed},
			{"flag without extensions", authData(rpID, up|uv|at|ed, 3, whole...), cd, Malformed},
			{"extensions without flag", authData(rpID, up|uv|at, 3, with(0xa0)...), cd, Malformed},
			{"no credential", authData(rpID, up|uv, 3), cd, Malformed},
			{"flag without credential", authData(rpID, up|uv|at, 3), cd, Malformed},
			{"credential cut", authData(rpID, up|uv|at, 3, whole[:len(whole)-1]...), cd, Malformed},
			{"empty id", authData(rpID, up|uv|at, 3, attested(nil, a.cose)...), cd, Malformed},
			{"id too long", authData(rpID, up|uv|at, 3, attested(make([]byte, 1024), a.cose)...), cd, Malformed},
			{"id longer than all", authData(rpID, up|uv|at, 3, slices.Concat(make([]byte, 16), []byte{3, 255, 1})...), cd, Malformed},
			{"known", authData(rpID, up|uv|at, 3, attested([]byte("known"), a.cose)...), cd, KnownCredential},
			{"other key", authData(rpID, up|uv|at, 3, attested(a.id, []byte{0xa1, 1, 2})...), cd, UnsupportedKey},
			{"key with a long head", authData(rpID, up|uv|at, 3, attested(a.id, append([]byte{0xb8, 5}, a.cose[1:]...))...), cd, Malformed},
			{"not verified", authData(rpID, up|at, 3, whole...), cd, NotVerified},
			{"not present", authData(rpID, uv|at, 3, whole...), cd, NotPresent},
			{"other rp", authData("localhost", up|uv|at, 3, whole...), cd, WrongRPID},
			{"backed up and not eligible", authData(rpID, up|uv|at|bs, 3, whole...), cd, BackupChanged},
			{"assertion", auth, client("webauthn.get", b64(want.Challenge[:]), origin, ""), WrongType},
			{"other challenge", auth, client("webauthn.create", b64(make([]byte, 32)), origin, ""), WrongChallenge},
			{"other origin", auth, client("webauthn.create", b64(want.Challenge[:]), origin+"1", ""), WrongOrigin},
			{"framed", auth, bytes.Replace(cd, []byte("false"), []byte("true"), 1), Framed},
			{"not json", auth, []byte("{"), Malformed},
		} {
			t.Run(alg.String()+" "+tc.name, func(t *testing.T) {
				_, err := ParseRegistration(registration(tc.auth, tc.cd, `[]`, ""), want)
				if code(err) != tc.want || (err == nil) != (tc.want == "") {
					t.Errorf("got %v, want %q", err, tc.want)
				}
			})
		}
		for name, raw := range map[string][]byte{
			"transports unsorted": registration(auth, cd, `["usb","nfc"]`, ""),
			"transport twice":     registration(auth, cd, `["usb","usb"]`, ""),
			"transport in words":  registration(auth, cd, `["a b"]`, ""),
			"too many":            registration(auth, cd, `["a","b","c","d","e","f","g","h","i"]`, ""),
			"transports text":     registration(auth, cd, `"usb"`, ""),
			"attachment":          registration(auth, cd, `[]`, "mine"),
		} {
			if _, err := ParseRegistration(raw, want); code(err) != Malformed {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
}

func TestKind(t *testing.T) {
	for _, c := range []struct {
		attachment string
		transports []string
		eligible   bool
		want       confirm.PasskeyKind
	}{
		{"cross-platform", []string{"nfc", "usb"}, false, confirm.SecurityKey},
		{"cross-platform", []string{"hybrid", "internal"}, true, confirm.Phone},
		{"platform", []string{"internal"}, false, confirm.ThisDevice},
		{"platform", []string{"internal"}, true, confirm.Program},
		{"platform", []string{"hybrid", "internal"}, true, confirm.Program},
		{"cross-platform", []string{"internal", "usb"}, false, confirm.Program},
		{"cross-platform", nil, false, confirm.Program},
		{"", []string{"usb"}, false, confirm.Program},
		{"", nil, false, confirm.Program},
	} {
		r := Registration{Attachment: c.attachment, Transports: c.transports, BackupEligible: c.eligible}
		if got := r.Kind(); got != c.want {
			t.Errorf("%q %q %v: %s, want %s", c.attachment, c.transports, c.eligible, got, c.want)
		}
	}
}

func FuzzParseAssertion(f *testing.F) {
	f.Add([]byte(`{"id":"AQ","authenticator_data":"AQI","client_data_json":"e30","signature":"MA"}`))
	f.Add([]byte(`{"id":"AQ=="}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := ParseAssertion(raw)
		if err != nil {
			if code(err) != Malformed {
				t.Errorf("got %v", err)
			}
			return
		}
		again, err := json.Marshal(map[string]string{"id": b64(a.CredentialID), "authenticator_data": b64(a.AuthenticatorData),
			"client_data_json": b64(a.ClientDataJSON), "signature": b64(a.Signature)})
		if err != nil {
			t.Fatal(err)
		}
		if b, err := ParseAssertion(again); err != nil || !bytes.Equal(a.Signature, b.Signature) {
			t.Errorf("%s is read as %s: %v", raw, again, err)
		}
	})
}

func FuzzAttested(f *testing.F) {
	a := newAuthenticator(f, confirm.EdDSA)
	f.Add(authData(rpID, up|uv|64, 1, attested(a.id, a.cose)...))
	f.Add(authData(rpID, up|uv|64|128, 1, append(attested(a.id, a.cose), 0xa0)...))
	f.Fuzz(func(t *testing.T, auth []byte) {
		if len(auth) < 37 {
			return
		}
		var r Registration
		cose, err := r.attested(auth)
		if err != nil {
			return
		}
		// What was read and what was left over are all there is.
		rest := len(auth) - 37 - 18 - len(r.CredentialID) - len(cose)
		if rest < 0 || (rest > 0) != (auth[32]&128 != 0) || !bytes.Contains(auth, append(bytes.Clone(r.CredentialID), cose...)) {
			t.Errorf("%x: id %x, key %x", auth, r.CredentialID, cose)
		}
	})
}

func FuzzItemLength(f *testing.F) {
	for _, s := range []string{"a0", "a10102", "1818", "1817", "8181818101", "f6", "5f", "3901ff", "1b0000000100000000", "c000"} {
		b, _ := hex.DecodeString(s)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, err := itemLength(raw)
		if err != nil {
			return
		}
		if n < 1 || n > len(raw) {
			t.Fatalf("%x has %d bytes", raw, n)
		}
		// The item alone is the same item, and nothing shorter is one.
		if m, err := itemLength(raw[:n]); m != n || err != nil {
			t.Errorf("%x: %d, %v", raw[:n], m, err)
		}
		if _, err := itemLength(raw[:n-1]); err == nil {
			t.Errorf("%x is one without its end", raw[:n])
		}
	})
}
