package derive

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"vault/derive/envelope"
)

// TestEachMintBound breaks one bound at a time, with both signatures right;
// exactly the check named may fail.
func TestEachMintBound(t *testing.T) {
	root, d := testRoot(), testDomain(t)
	var issuerSeed Secret
	if err := DomainSeed(&issuerSeed, root, d); err != nil {
		t.Fatal(err)
	}
	issuer, err := Address(issuerSeed[:])
	if err != nil {
		t.Fatal(err)
	}
	bot := bytes.Repeat([]byte{7}, Size)
	botAddress, err := Address(bot)
	if err != nil {
		t.Fatal(err)
	}
	type delegate = envelope.DelegateFields
	type request = envelope.RequestFields
	legitimacy := &envelope.LegitimacyRef{LegitimacyID: "l", Required: true}
	for name, c := range map[string]struct {
		fails   string
		issued  func(*delegate) // the delegate that is verified
		changed func(*delegate) // the delegate the request was made for, if another
		asked   func(*request)
		now     int64
	}{
		"nothing":       {},
		"hash, same id": {fails: "delegateHashMatches", changed: func(f *delegate) { f.MaxMints++ }},
		"bot":           {fails: "botAllowed", issued: func(f *delegate) { f.BotPolicy, f.AllowedBotAddresses = envelope.BotSet, []string{issuer} }},
		"bot in set": {issued: func(f *delegate) {
			f.BotPolicy, f.AllowedBotAddresses = envelope.BotSet, []string{issuer, "0x" + strings.ToUpper(botAddress[2:])}
		}},
		"operation":           {fails: "operationAllowed", asked: func(f *request) { f.Operation = "send" }},
		"operation's case":    {fails: "operationAllowed", asked: func(f *request) { f.Operation = "Send-message" }},
		"resource":            {fails: "resourcesAllowed", asked: func(f *request) { f.Resources = []string{"thread:1", "other:1"} }},
		"bare prefix":         {fails: "resourcesAllowed", asked: func(f *request) { f.Resources = []string{"thread"} }},
		"index below":         {fails: "actionIndexInRange", asked: func(f *request) { f.ActionIndex = 1 }},
		"index lowest":        {asked: func(f *request) { f.ActionIndex = 2 }},
		"index highest":       {asked: func(f *request) { f.ActionIndex = 9 }},
		"index above":         {fails: "actionIndexInRange", asked: func(f *request) { f.ActionIndex = 10 }},
		"uses":                {fails: "maxUsesWithinLimit", asked: func(f *request) { f.MaxUses = 3 }},
		"start":               {fails: "timeWindowContained", asked: func(f *request) { f.Window.NotBefore.N-- }},
		"no start":            {fails: "timeWindowContained", asked: func(f *request) { f.Window.NotBefore = envelope.Opt{} }},
		"end":                 {fails: "timeWindowContained", asked: func(f *request) { f.Window.NotAfter.N++ }},
		"no end":              {fails: "timeWindowContained", asked: func(f *request) { f.Window.NotAfter = envelope.Opt{} }},
		"before the delegate": {fails: "delegateWithinTimeWindow", now: 999},
		"delegate's start":    {now: 1_000},
		"delegate's end":      {now: 2_000},
		"after the delegate":  {fails: "delegateWithinTimeWindow", now: 2_001},
		"no legitimacy":       {fails: "legitimacyIdMatches", issued: func(f *delegate) { f.Legitimacy = legitimacy }},
		"other legitimacy": {fails: "legitimacyIdMatches", issued: func(f *delegate) { f.Legitimacy = legitimacy },
			asked: func(f *request) { f.LegitimacyID = "m" }},
		"legitimacy": {issued: func(f *delegate) { f.Legitimacy = legitimacy }, asked: func(f *request) { f.LegitimacyID = "l" }},
	} {
		t.Run(name, func(t *testing.T) {
			window := envelope.Window{NotBefore: envelope.Some(1_000), NotAfter: envelope.Some(2_000)}
			df := delegate{
				DomainHash: d.Hash(), AllowedOperations: []string{"send-message"}, AllowedResources: []string{"thread:*"},
				BotPolicy: envelope.BotAny, IndexMin: 2, IndexMax: 9, MaxMints: 3, MaxUsesPerAction: 2, Window: window,
				Nonce: "0x" + strings.Repeat("11", 32), IssuedAt: "2026-07-24T15:24:00.000Z",
			}
			rf := request{
				AgentID: "Sender", Operation: "send-message", Resources: []string{"thread:1"}, ActionIndex: 3, MaxUses: 1,
				Window: window, Nonce: "n", RequestedAt: "2026-07-24T15:25:00.000Z",
			}
			if c.issued != nil {
				c.issued(&df)
			}
			issue := func() *envelope.MintDelegate {
				m, err := envelope.NewMintDelegate(issuer, df)
				if err != nil {
					t.Fatal(err)
				}
				sig, err := SignDigest(issuerSeed[:], m.Digest())
				if err != nil {
					t.Fatal(err)
				}
				if m, err = m.Signed(sig); err != nil {
					t.Fatal(err)
				}
				return m
			}
			del := issue()
			named := del
			if c.changed != nil {
				c.changed(&df)
				named = issue()
			}
			if c.asked != nil {
				c.asked(&rf)
			}
			q, err := envelope.NewMintRequest(botAddress, named, rf)
			if err != nil {
				t.Fatal(err)
			}
			sig, err := SignDigest(bot, q.Digest())
			if err != nil {
				t.Fatal(err)
			}
			if q, err = q.Signed(sig); err != nil {
				t.Fatal(err)
			}
			now := c.now
			if now == 0 {
				now = 1_500
			}
			r, m := envelope.VerifyMintRequest(q.Canonical(), del.Canonical(), envelope.Pins{DomainAddress: issuer, DomainHash: d.Hash()}, now)
			var failed []string
			for _, check := range r.Checks {
				if !check.OK {
					failed = append(failed, check.Name)
				}
			}
			if strings.Join(failed, " ") != c.fails || r.Valid != (c.fails == "") || (m.Request() != nil) != r.Valid {
				t.Errorf("failed %v, want %q; %+v", failed, c.fails, r)
			}
		})
	}
}

// TestDelegateIsRefused gives a delegate shapes that no issuer may sign.
func TestDelegateIsRefused(t *testing.T) {
	raw, request, _ := mintPair(t, testRoot(), testDomain(t))
	for _, c := range [][2]string{
		{`"min":0`, `"min":-1`}, {`"max":9`, `"max":-1`}, {`"max":9`, `"max":9,"x":1`}, {`"maxMints":3`, `"maxMints":"3"`},
		{`"maxMints":3`, `"maxMints":0`}, {`"maxUsesPerAction":1`, `"maxUsesPerAction":1.5`}, {`"notAfter":2000`, `"notAfter":1000`},
		{`,"notBefore":1000`, ``}, {`"any-signed-bot"`, `"address-set"`}, {`"any-signed-bot"`, `"any-signed-bot","allowedBotAddresses":["0x1"]`},
		{`["thread:*"]`, `[]`}, {`["thread:*"]`, `"*"`}, {`["send-message"]`, `"send-message"`}, {`"version":1`, `"version":1,"extra":1`},
		{`"nonce":"0x11`, `"nonce":"0x1`}, {`2026-07-24T15:24:00.000Z`, `2026-13-24T15:24:00.000Z`}, {`"issuerSignature":"0x`, `"issuerSignature":["0x`},
	} {
		bad := strings.Replace(string(raw), c[0], c[1], 1)
		if bad == string(raw) {
			t.Fatalf("%s is not in the delegate", c[0])
		}
		if _, err := envelope.ParseMintDelegate([]byte(bad)); err == nil {
			t.Errorf("%s passed", c[1])
		}
	}
	for _, c := range [][2]string{
		{`"maxUses":1`, `"maxUses":0`}, {`"maxUses":1`, `"maxUses":null`}, {`"actionIndex":0`, `"actionIndex":-1`}, {`"actionIndex":0`, `"actionIndex":"0"`},
		{`["thread:1"]`, `["thread:*"]`}, {`["thread:1"]`, `["*"]`}, {`["thread:1"]`, `["thread:1","thread:1"]`}, {`["thread:1"]`, `[]`},
		{`"nonce":"n-1"`, `"nonce":""`}, {`"nonce":"n-1"`, `"nonce":5`}, {`"version":1`, `"version":1,"extra":1`}, {`"requestedAt":"2026`, `"requestedAt":"x2026`},
		{`"notAfter":2000`, `"notAfter":999`}, {`"nonce":"n-1"`, `"nonce":"n-1","legitimacyId":null`},
	} {
		bad := strings.Replace(string(request), c[0], c[1], 1)
		if bad == string(request) {
			t.Fatalf("%s is not in the request", c[0])
		}
		if _, err := envelope.ParseMintRequest([]byte(bad)); err == nil {
			t.Errorf("%s passed", c[1])
		}
	}
}

// TestCopiesOfFields holds the promise that documents cannot be changed.
func TestCopiesOfFields(t *testing.T) {
	m := verifiedMint(t, testRoot(), testDomain(t))
	df, rf := m.Delegate().Fields(), m.Request().Fields()
	df.AllowedResources[0], df.AllowedOperations[0], rf.Resources[0] = "x", "x", "x"
	if slices.Contains(m.Delegate().Fields().AllowedResources, "x") || slices.Contains(m.Delegate().Fields().AllowedOperations, "x") || slices.Contains(m.Request().Fields().Resources, "x") {
		t.Error("changed through its fields")
	}
}
