package sow_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vault/approvals/sow"
	"vault/approvals/sow/span"
	"vault/derive/jcs"
	"vault/internal/samplekey"
)

// quiet reports findings that would let a reader miss what was changed: no
// error and no warning.
func quiet(f sow.Findings) bool {
	return !slices.ContainsFunc(f, func(x sow.Finding) bool { return x.Severity != sow.Info })
}

// TestWrongKinds: no leaf of a good document can be of another kind unnoticed.
func TestWrongKinds(t *testing.T) {
	leaves := 0
	for _, name := range samples {
		d := good(t, name)
		d.Value().Without("signatures").Leaves(func(path string, leaf jcs.Value) {
			leaves++
			var others []string
			switch leaf.Kind() {
			case jcs.Number:
				others = []string{`"7"`, `null`, `true`, `[1]`, `{}`}
			case jcs.String:
				others = []string{`7`, `null`, `false`, `["a"]`, `{"a":"b"}`}
			case jcs.Bool:
				others = []string{`"true"`, `1`, `null`, `[]`, `{}`}
			default: // an open seat or start, or an empty list
				others = []string{`7`, `true`, `{}`}
			}
			for _, to := range others {
				if _, f := sow.Read(edit(t, d.Raw(), path, json.RawMessage(to)), sow.Options{}); quiet(f) {
					t.Errorf("%s: %s may be %s", name, path, to)
				}
			}
		})
	}
	if leaves < 400 {
		t.Errorf("only %d leaves were changed", leaves)
	}
}

// TestFloats: where a whole number belongs, nothing else stands: no fraction,
// nothing beyond what every reader holds exactly, nothing below zero. Another
// spelling of the same number is the same document.
func TestFloats(t *testing.T) {
	numbers := 0
	for _, name := range samples {
		d := good(t, name)
		d.Value().Without("signatures").Leaves(func(path string, leaf jcs.Value) {
			n, whole := leaf.Int()
			if !whole {
				return
			}
			numbers++
			for _, to := range []string{fmt.Sprintf("%d.5", n), "1e-1", "9007199254740992", "1e300", "-1", "-0.5"} {
				if _, f := sow.Read(edit(t, d.Raw(), path, json.RawMessage(to)), sow.Options{}); quiet(f) {
					t.Errorf("%s: %s may be %s", name, path, to)
				}
			}
			for _, to := range []string{fmt.Sprintf("%d.0", n), fmt.Sprintf("%de0", n), fmt.Sprintf("%de-1", n*10)} {
				same, f := sow.Read(edit(t, d.Raw(), path, json.RawMessage(to)), sow.Options{})
				if same == nil || same.Digest() != d.Digest() || !quiet(f) || len(sow.Compare(d, same)) != 0 {
					t.Errorf("%s: %s spelt %s is another document", name, path, to)
				}
			}
		})
	}
	if numbers < 60 {
		t.Errorf("only %d numbers were changed", numbers)
	}
}

// TestImpossibleDates: no instant of a good document can be one that never is.
func TestImpossibleDates(t *testing.T) {
	never := []string{
		"2026-13-45T00:00:00Z", "2026-02-30T00:00:00Z", "2027-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-04-31T12:00:00Z", "2026-00-10T00:00:00Z",
		"2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+00:60",
		"2026-01-01T00:00:00", "2026-01-01", "2026-1-1T0:0:0Z", "2026-01-01 00:00:00Z", "20260101T000000Z", "2026-W01-1T00:00:00Z", "tomorrow", "",
		"2026-01-01T00:00:00Z ", "+2026-01-01T00:00:00Z", "12026-01-01T00:00:00Z", "2026-01-01T00:00:00,5Z",
	}
	dates := 0
	for _, name := range samples {
		d := good(t, name)
		d.Value().Without("signatures").Leaves(func(path string, leaf jcs.Value) {
			if _, err := span.Instant(leaf.Text()); err != nil {
				return
			}
			dates++
			for _, to := range never {
				if _, f := sow.Read(edit(t, d.Raw(), path, to), sow.Options{}); f.OK() {
					t.Errorf("%s: %s may be %q", name, path, to)
				}
			}
		})
	}
	if dates < 12 {
		t.Errorf("only %d dates were changed", dates)
	}
}

// TestNothingIsRepaired: what is read is what came, byte for byte, and a fault
// stays in it.
func TestNothingIsRepaired(t *testing.T) {
	for _, m := range mutations {
		if m.to == "" {
			continue
		}
		raw := edit(t, doc(t, m.base), m.path, json.RawMessage(m.to))
		d, err := sow.Parse(raw)
		if err != nil {
			continue
		}
		d.Validate(sow.Options{Authoring: true})
		d.VerifySignatures(sow.Pins{})
		again, err := sow.Parse(d.Canonical())
		if string(d.Raw()) != string(raw) || err != nil || again.Digest() != d.Digest() {
			t.Errorf("%s=%s was changed by being read", m.path, m.to)
		}
	}
}

// TestMany: long lists of every sort are judged to the end.
func TestMany(t *testing.T) {
	inputs := document(t, edit(t, doc(t, fixedFee), "inputs", json.RawMessage(times(10000, `{"name":"n#","media_type":"a/b","when":"per_task","grade":"enforced"}`))))
	if f := inputs.Validate(sow.Options{}); !quiet(f) {
		t.Errorf("10,000 inputs: %v", f.Errors())
	}
	last := document(t, edit(t, inputs.Raw(), "inputs[9999].name", "n0"))
	if f := last.Validate(sow.Options{}).Errors(); len(f) != 1 || f[0].Code != "input_duplicate" || f[0].Member != "inputs[9999].name" {
		t.Errorf("the last of 10,000 inputs: %v", f)
	}
	offerings := edit(t, doc(t, fixedFee), "scope.offerings", json.RawMessage(times(200, `"o#"`)))
	priced := document(t, edit(t, offerings, "price.rates", json.RawMessage(times(200, `{"offering":"o#","per_task":#}`))))
	if f := priced.Validate(sow.Options{}); !quiet(f) {
		t.Errorf("200 offerings: %v", f)
	}
	if f := document(t, edit(t, priced.Raw(), "price.rates[199]", drop{})).Validate(sow.Options{}); !f.Has("offering_unpriced") {
		t.Errorf("one of 200 offerings has no rate: %v", f)
	}
	digests, ids := map[string]bool{}, map[string]bool{}
	for i := range 200 {
		offer := document(t, edit(t, doc(t, open), "price.rates[0].per_task", json.RawMessage(fmt.Sprint(i))))
		offer = document(t, edit(t, offer.Raw(), "id", offer.Mint()))
		if f := offer.Validate(sow.Options{Authoring: true}); !f.OK() {
			t.Fatalf("offer %d: %v", i, f.Errors())
		}
		digests[offer.Digest()], ids[offer.ID()] = true, true
	}
	if len(digests) != 200 || len(ids) != 200 {
		t.Errorf("200 offers have %d digests and %d identifiers", len(digests), len(ids))
	}
}

// TestBadRecords: signature records that were moved, cut or made up count for
// no seat, and take nothing from those that count.
func TestBadRecords(t *testing.T) {
	d := good(t, fixedFee)
	keys := pins(t)
	k, _ := samplekey.Of(t, "owner/copperline")
	record := func(role, key, sig string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"role":%q,"key":%q,"signed_at":"2026-09-28T10:16:31Z","sig":%q}`, role, key, sig))
	}
	sig := ed25519.Sign(k, d.Signed())
	text := sow.SignatureText(sig)
	flipped := slices.Clone(sig)
	flipped[0] ^= 1
	high := slices.Clone(sig) // S above the order of the group: another text of the same signature
	carry := 0
	for i, l := range []byte{0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 31: 0x10} {
		sum := int(high[32+i]) + int(l) + carry
		high[32+i], carry = byte(sum), sum>>8
	}
	for name, c := range map[string]struct {
		record json.RawMessage
		fault  sow.Code
	}{
		"the signature itself":             {record("provider", keys.Provider, text), ""},
		"in the other base64":              {record("provider", keys.Provider, base64.StdEncoding.EncodeToString(sig)), ""},
		"under the other seat":             {record("client", keys.Provider, text), "signer_not_owner"},
		"under the other seat's key":       {record("provider", keys.Client, text), "signature_invalid"},
		"under no seat":                    {record("", keys.Provider, text), "signature_role"},
		"under a seat there is not":        {record("Provider", keys.Provider, text), "signature_role"},
		"over the canonical form alone":    {record("provider", keys.Provider, sow.SignatureText(ed25519.Sign(k, d.Canonical()))), "signature_invalid"},
		"over the hashed bytes":            {record("provider", keys.Provider, sow.SignatureText(ed25519.Sign(k, d.Hashed()))), "signature_invalid"},
		"over the bytes as they came":      {record("provider", keys.Provider, sow.SignatureText(ed25519.Sign(k, d.Raw()))), "signature_invalid"},
		"over the prefix without its end":  {record("provider", keys.Provider, sow.SignatureText(ed25519.Sign(k, append([]byte("agent-sow-v1"), d.Canonical()...)))), "signature_invalid"},
		"of another version":               {record("provider", keys.Provider, sow.SignatureText(ed25519.Sign(k, good(t, "amendment-v2-proposal").Signed()))), "signature_invalid"},
		"of an act about the document":     {record("provider", keys.Provider, sow.SignatureText(ed25519.Sign(k, d.Intent("formation")))), "signature_invalid"},
		"one bit":                          {record("provider", keys.Provider, sow.SignatureText(flipped)), "signature_invalid"},
		"another text of the same":         {record("provider", keys.Provider, sow.SignatureText(high)), "signature_invalid"},
		"one byte short":                   {record("provider", keys.Provider, sow.SignatureText(sig[:63])), "signature_invalid"},
		"one byte long":                    {record("provider", keys.Provider, sow.SignatureText(append(slices.Clone(sig), 0))), "signature_invalid"},
		"with padding in base64url":        {record("provider", keys.Provider, text+"=="), "signature_invalid"},
		"with a line end":                  {record("provider", keys.Provider, text[:40]+"\n"+text[40:]), "signature_invalid"},
		"in hex":                           {record("provider", keys.Provider, fmt.Sprintf("%x", sig)), "signature_invalid"},
		"empty":                            {record("provider", keys.Provider, ""), "signature_invalid"},
		"a key cut short":                  {record("provider", keys.Provider[:55], text), "signature_key"},
		"a key in small letters":           {record("provider", strings.ToLower(keys.Provider), text), "signature_key"},
		"a key with its check bytes wrong": {record("provider", keys.Provider[:55]+"A", text), "signature_key"},
		"a seed instead of a key":          {record("provider", "S"+keys.Provider, text), "signature_key"},
		"a number as signature":            {json.RawMessage(`{"role":"provider","key":"` + keys.Provider + `","sig":7}`), "signature_invalid"},
		"a list as role":                   {json.RawMessage(`{"role":["provider"],"key":"` + keys.Provider + `","sig":"` + text + `"}`), "signature_role"},
		"no record":                        {json.RawMessage(`"signed"`), "signature_role"},
		"null":                             {json.RawMessage(`null`), "signature_role"},
	} {
		t.Run(name, func(t *testing.T) {
			alone := document(t, edit(t, d.Raw(), "signatures", json.RawMessage("["+string(c.record)+"]"))).VerifySignatures(keys)
			if counts := alone.Provider != nil; counts != (c.fault == "") || alone.Client != nil {
				t.Errorf("alone it counts: %v, %v", alone.Provider, alone.Client)
			}
			if c.fault != "" && !alone.Findings.Refused(c.fault) {
				t.Errorf("no %s among %v", c.fault, alone.Findings)
			}
			good := string(d.Get("signatures").Raw())
			for where, list := range map[string]string{
				"behind": good[:len(good)-1] + "," + string(c.record) + "]",
				"before": "[" + string(c.record) + "," + good[1:],
			} {
				raw := edit(t, d.Raw(), "signatures", json.RawMessage(list))
				s := document(t, raw).VerifySignatures(keys)
				if !s.Agreed() || !s.Findings.OK() {
					t.Errorf("%s the good ones: agreed %v, %v", where, s.Agreed(), s.Findings.Errors())
				}
				if len(s.Ignored) != 1 {
					t.Errorf("%s the good ones: ignored are %v", where, s.Ignored)
				}
			}
		})
	}
}

// TestApprovalClaims: a record in the document that says this owner approved.
func TestApprovalClaims(t *testing.T) {
	ours := pins(t).Client
	d := good(t, fixedFee)
	claim := func(key string) *sow.Document {
		return document(t, edit(t, d.Raw(), "change_control.approvals[0].key", key))
	}
	yes, no := func(jcs.Value) bool { return true }, func(jcs.Value) bool { return false }
	made := func(a jcs.Value) bool { return a.Get("approved_at").Text() == "2026-09-28T10:15:42Z" }
	for name, c := range map[string]struct {
		doc     *sow.Document
		o       sow.Options
		refused bool
	}{
		"made here":                       {d, sow.Options{Ours: []string{ours}, Made: made}, false},
		"under another key":               {d, sow.Options{Ours: []string{pins(t).Provider}}, false},
		"nobody remembers":                {d, sow.Options{Ours: []string{ours}}, true},
		"not made here":                   {d, sow.Options{Ours: []string{ours}, Made: no}, true},
		"made at another time":            {document(t, edit(t, d.Raw(), "change_control.approvals[0].approved_at", "2026-09-28T10:15:43Z")), sow.Options{Ours: []string{ours}, Made: made}, true},
		"under a second key of ours":      {d, sow.Options{Ours: []string{pins(t).Provider, ours}, Made: no}, true},
		"a key with a space behind it":    {claim(ours + " "), sow.Options{Ours: []string{ours}, Made: yes}, true},
		"a key with a hidden character":   {claim(ours[:9] + "\u200b" + ours[9:]), sow.Options{Ours: []string{ours}, Made: yes}, true},
		"a key in small letters":          {claim(strings.ToLower(ours)), sow.Options{Ours: []string{ours}, Made: yes}, true},
		"a key in groups":                 {claim(ours[:28] + "-" + ours[28:]), sow.Options{Ours: []string{ours}, Made: yes}, true},
		"part of a key":                   {claim(ours[:55]), sow.Options{Ours: []string{ours}, Made: yes}, false},
		"a second record beside ours":     {document(t, edit(t, d.Raw(), "change_control.approvals[+]", json.RawMessage(`{"act":"amendment","authority":"person","key":"`+ours+`","approved_at":"2026-09-28T10:15:43Z"}`))), sow.Options{Ours: []string{ours}, Made: made}, true},
		"a record of the other side":      {document(t, edit(t, d.Raw(), "change_control.approvals[+]", json.RawMessage(`{"act":"amendment","authority":"person","key":"`+pins(t).Provider+`","approved_at":"2026-09-28T10:15:43Z"}`))), sow.Options{Ours: []string{ours}, Made: made}, false},
		"no records, and nothing claimed": {document(t, edit(t, d.Raw(), "change_control.approvals", drop{})), sow.Options{Ours: []string{ours}}, false},
	} {
		if f := c.doc.Validate(c.o); f.Refused("approval_not_ours") != c.refused {
			t.Errorf("%s: %v", name, f.Errors())
		}
	}
}
