package envelope

import (
	"strings"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

func testChallenge() BotChallenge {
	return BotChallenge{Client: "c_0123456789abcdef", Nonce: "0x" + strings.Repeat("ab", 32), Vault: strings.Repeat("0f", 16)}
}

func TestBotChallenge(t *testing.T) {
	c := testChallenge()
	const want = `{"client":"c_0123456789abcdef","nonce":"0xabababababababababababababababababababababababababababababababab","vault":"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"}`
	if got := string(c.Canonical()); got != want {
		t.Errorf("%s", got)
	}
	if back, err := ParseBotChallenge([]byte(want)); err != nil || back != c {
		t.Errorf("%+v, %v", back, err)
	}
	key := secp256k1.PrivKeyFromBytes([]byte(strings.Repeat("k", 32)))
	address := AddressOf(key.PubKey())
	sign := func(c BotChallenge) string {
		digest := c.Digest()
		return SignatureOf([65]byte(ecdsa.SignCompact(key, digest[:], false)))
	}
	if err := c.Verify(address, sign(c)); err != nil {
		t.Error(err)
	}
	other := func(change func(*BotChallenge)) string { x := c; change(&x); return sign(x) }
	for name, sig := range map[string]string{
		"another client": other(func(c *BotChallenge) { c.Client = "c_0000000000000000" }),
		"another nonce":  other(func(c *BotChallenge) { c.Nonce = "0x" + strings.Repeat("00", 32) }),
		"another vault":  other(func(c *BotChallenge) { c.Vault = strings.Repeat("00", 16) }),
		"no signature":   "0x12",
		"nothing":        "",
	} {
		if c.Verify(address, sig) == nil {
			t.Errorf("%s: it verifies", name)
		}
	}
	for _, a := range []string{"", "0x12", strings.ToUpper(address), "0x" + strings.Repeat("1", 40)} {
		if c.Verify(a, sign(c)) == nil {
			t.Errorf("address %q: it verifies", a)
		}
	}
	for name, text := range map[string]string{
		"no client":  `{"client":"","nonce":"` + c.Nonce + `","vault":"` + c.Vault + `"}`,
		"more":       strings.Replace(want, "{", `{"a":1,`, 1),
		"twice":      strings.Replace(want, "{", `{"client":"x",`, 1),
		"short":      strings.Replace(want, "abab", "", 1),
		"in capital": strings.Replace(want, "0xabab", "0xABab", 1),
		"none":       `[]`,
	} {
		if _, err := ParseBotChallenge([]byte(text)); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}

func FuzzBotChallenge(f *testing.F) {
	f.Add(testChallenge().Canonical())
	f.Add([]byte(`{"client":"c","nonce":"0x","vault":""}`))
	f.Fuzz(func(t *testing.T, raw []byte) { stable(t, raw, ParseBotChallenge) })
}

// TestEveryMintCheckHasACode holds the table of codes to the checks that there are.
func TestEveryMintCheckHasACode(t *testing.T) {
	r, _ := VerifyMintRequest([]byte(`{}`), []byte(`{}`), Pins{DomainAddress: "0x" + strings.Repeat("1", 40), DomainHash: "0x" + strings.Repeat("1", 64), ExpectHash: "0x" + strings.Repeat("1", 64)}, 0)
	seen := map[string]bool{}
	for _, c := range r.Checks {
		seen[c.Name] = true
		if mintCodes[c.Name] == "" {
			t.Errorf("%s has no code", c.Name)
		}
		one := &Report{Checks: []Check{{Name: c.Name, Detail: "why"}}}
		if b, failed := FirstBound(one, nil, nil, 0); !failed || b.Code == "" || b.Why != "why" {
			t.Errorf("%s: %+v", c.Name, b)
		}
	}
	for name := range mintCodes {
		if !seen[name] {
			t.Errorf("there is no check %s", name)
		}
	}
	if _, failed := FirstBound(&Report{Valid: true, Checks: []Check{{Name: "botAllowed", OK: true}}}, nil, nil, 0); failed {
		t.Error("a report without a fault names a bound")
	}
	// Legitimacy is named only where nothing else is wrong.
	both := &Report{Checks: []Check{{Name: "legitimacyIdMatches"}, {Name: "operationAllowed"}, {Name: "maxUsesWithinLimit"}}}
	if b, _ := FirstBound(both, nil, nil, 0); b.Code != "operation_not_allowed" {
		t.Errorf("%+v", b)
	}
}

func TestResourceMatch(t *testing.T) {
	for _, c := range []struct {
		allowed  []string
		resource string
		by, why  string
	}{
		{[]string{"thread:*"}, "thread:1", "thread:*", ""},
		{[]string{"thread:*"}, "thread:1:2", "thread:*", ""},
		{[]string{"thread:*"}, "thread", "", "bare_prefix"},
		{[]string{"thread:*"}, "thread:*", "", "is_wildcard"},
		{[]string{"*"}, "*", "", "is_wildcard"},
		{[]string{"*"}, "x", "*", ""},
		{[]string{"thread:1"}, "thread:1", "thread:1", ""},
		{[]string{"thread:1"}, "thread:2", "", "no_match"},
		{[]string{"a:b:*"}, "a:b:c", "", "no_match"},
		{nil, "x", "", "no_match"},
	} {
		by, why := ResourceMatch(c.allowed, c.resource)
		if by != c.by || why != c.why {
			t.Errorf("%v, %s: %q, %q", c.allowed, c.resource, by, why)
		}
		// What the preview says is what a request is told.
		if allowed := resourceAllowed(set(c.allowed), c.resource); why != "is_wildcard" && allowed != (why == "") {
			t.Errorf("%v, %s: a request is told %v", c.allowed, c.resource, allowed)
		}
	}
}
