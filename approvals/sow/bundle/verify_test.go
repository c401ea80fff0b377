package bundle_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/derive/confirm"
	"vault/internal/samplekey"
)

func failed(r *bundle.Result) (out []string) {
	for _, l := range r.Lines {
		if !l.OK {
			out = append(out, l.Check)
		}
	}
	return out
}

// TestVerify: what is valid, what is tied to a pin, and which check fails.
func TestVerify(t *testing.T) {
	w := newWorld(t)
	both := bundle.Pins{Provider: w.provider, Client: w.client}
	_, stranger := samplekey.Of(t, "owner/gable")
	copied := func(role string, first bool) []byte { // the provider's record, with another role's label
		return with(t, w.agreed, func(records []map[string]any) []map[string]any {
			junk := map[string]any{}
			for _, r := range records {
				if r["role"] == sow.Provider {
					for k, v := range r {
						junk[k] = v
					}
				}
			}
			junk["role"] = role
			if first {
				return append([]map[string]any{junk}, records...)
			}
			return append(records, junk)
		})
	}
	swapped := with(t, w.agreed, func(records []map[string]any) []map[string]any {
		for _, r := range records {
			r["role"] = map[any]string{sow.Provider: sow.Client, sow.Client: sow.Provider}[r["role"]]
		}
		return records
	})
	only := func(role string) []byte {
		return with(t, w.agreed, func(records []map[string]any) []map[string]any {
			return slices.DeleteFunc(records, func(r map[string]any) bool { return r["role"] != role })
		})
	}
	edited := func(old, new string) []byte {
		out := strings.Replace(string(w.agreed), old, new, 1)
		if out == string(w.agreed) {
			t.Fatalf("nothing to change: %s", old)
		}
		return []byte(out)
	}
	other := with(t, w.agreed, func(records []map[string]any) []map[string]any {
		for _, r := range records {
			b, err := base64.RawURLEncoding.DecodeString(r["sig"].(string))
			if err != nil {
				t.Fatal(err)
			}
			r["sig"] = base64.StdEncoding.EncodeToString(b)
		}
		return records
	})
	junk := with(t, w.agreed, func(records []map[string]any) []map[string]any {
		return append(records, map[string]any{"role": "client", "key": "U", "sig": "x"}, map[string]any{"role": "witness"})
	})
	for name, c := range map[string]struct {
		document            []byte
		pins                bundle.Pins
		valid, tied, agreed bool
		fails               string // one check that fails
	}{
		"both seats pinned":                     {w.agreed, both, true, true, true, ""},
		"nothing pinned":                        {w.agreed, bundle.Pins{}, true, false, true, ""},
		"one seat pinned":                       {w.agreed, bundle.Pins{Provider: w.provider}, true, false, true, ""},
		"owners pinned":                         {w.agreed, bundle.Pins{Owners: []string{w.client, w.provider}}, true, true, true, ""},
		"one owner pinned":                      {w.agreed, bundle.Pins{Owners: []string{w.client}}, true, false, true, ""},
		"an owner pinned who did not sign":      {w.agreed, bundle.Pins{Owners: []string{stranger}}, false, false, true, "ownerPin"},
		"a card and the other seat":             {w.agreed, bundle.Pins{Card: w.card, Provider: w.provider}, true, true, true, ""},
		"another key pinned":                    {w.agreed, bundle.Pins{Provider: w.provider, Client: stranger}, false, true, false, "signer_not_owner"},
		"the seats' keys exchanged":             {w.agreed, bundle.Pins{Provider: w.client, Client: w.provider}, false, false, false, "signer_not_owner"},
		"one key pinned for both":               {w.agreed, bundle.Pins{Provider: w.client, Client: w.client}, false, true, false, "signer_not_owner"},
		"roles exchanged":                       {swapped, both, false, false, false, "signer_not_owner"},
		"roles exchanged, nothing pinned":       {swapped, bundle.Pins{}, true, false, true, ""},
		"in the other base64":                   {other, both, true, true, true, ""},
		"junk records beside":                   {junk, both, true, true, true, ""},
		"a record copied to the other seat":     {copied(sow.Client, false), both, true, true, true, ""},
		"the copy first":                        {copied(sow.Client, true), both, true, true, true, ""},
		"the copy first, owners pinned":         {copied(sow.Client, true), bundle.Pins{Owners: []string{w.client, w.provider}}, true, true, true, ""},
		"the copy first, its owner pinned":      {copied(sow.Client, true), bundle.Pins{Owners: []string{w.provider}}, true, false, true, ""},
		"the same record twice":                 {copied(sow.Provider, false), both, true, true, true, ""},
		"one signature":                         {only(sow.Provider), both, true, true, false, ""},
		"one signature, nothing pinned":         {only(sow.Client), bundle.Pins{}, true, false, false, ""},
		"a byte changed":                        {edited(`"per_day": 12`, `"per_day": 13`), both, false, false, false, "signature_invalid"},
		"a word changed":                        {edited(`Pay the outstanding balance`, `Pay the outstanding balances`), both, false, false, false, "signature_invalid"},
		"another spelling of the same document": {edited(`"version": 1,`, `"version":1.0,`), both, true, true, true, ""},
		"a signature cut off":                   {edited(`mUwE23Dw"`, `mUwE23D"`), both, false, true, false, "signature_invalid"},
		"another identifier":                    {edited(`sow_bzttz65jns42x8tp`, `sow_bzttz65jns42x8tq`), both, false, false, false, "signature_invalid"},
		"no document":                           {[]byte(`[]`), both, false, false, false, "documentWellFormed"},
		"nobody signed":                         {with(t, w.agreed, func([]map[string]any) []map[string]any { return []map[string]any{} }), both, true, false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := bundle.Verify(bundle.Bundle{Document: c.document}, c.pins)
			if r.Valid != c.valid || r.Tied != c.tied || r.Agreed != c.agreed {
				t.Errorf("valid %v, tied %v, agreed %v: failed %v, loose %v, %v", r.Valid, r.Tied, r.Agreed, failed(r), r.Loose, r.Notes)
			}
			if f := failed(r); c.fails != "" && !slices.Contains(f, c.fails) || c.fails == "" && len(f) > 0 {
				t.Errorf("failed: %v, want %q", f, c.fails)
			}
		})
	}
}

// TestParts: acts, confirmations and versions beside a document.
func TestParts(t *testing.T) {
	w := newWorld(t)
	pins := bundle.Pins{Provider: w.provider, Card: w.card}
	d := document(t, w.agreed)
	terminated, err := sow.ParseAct(w.act)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change      func(*bundle.Bundle, *bundle.Pins)
		valid, tied bool
		fails       string
		loose       string
	}{
		"all of it":             {func(*bundle.Bundle, *bundle.Pins) {}, true, true, "", ""},
		"nothing pinned":        {func(_ *bundle.Bundle, p *bundle.Pins) { *p = bundle.Pins{} }, true, false, "", "confirmations[0]"},
		"keys pinned, no card":  {func(_ *bundle.Bundle, p *bundle.Pins) { *p = bundle.Pins{Provider: w.provider, Client: w.client} }, true, false, "", "confirmations[0]"},
		"an act by another key": {func(b *bundle.Bundle, _ *bundle.Pins) { b.Acts[0] = w.signAct("owner/gable", func(*sow.ActFields) {}) }, false, true, "signer", ""},
		"an act by the other seat": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Acts[0] = w.signAct("owner/copperline", func(*sow.ActFields) {})
		}, false, true, "signer", ""},
		"an act of the other seat": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Acts[0] = w.signAct("owner/copperline", func(f *sow.ActFields) { f.Role = sow.Provider })
		}, true, true, "", ""},
		"an act that nobody signed": {func(b *bundle.Bundle, _ *bundle.Pins) { b.Acts[0] = terminated.Canonical() }, false, true, "signature", ""},
		"an act of another version": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Acts[0] = w.signAct("owner/saltmarsh", func(f *sow.ActFields) { f.Version = 2 })
		}, false, false, "aboutDocument", "acts[0]"},
		"an act of other bytes": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Acts[0] = w.signAct("owner/saltmarsh", func(f *sow.ActFields) { f.Document = strings.Repeat("0", 64) })
		}, false, false, "aboutDocument", "acts[0]"},
		"an act that is none": {func(b *bundle.Bundle, _ *bundle.Pins) { b.Acts[0] = []byte(`{}`) }, false, false, "actWellFormed", "acts[0]"},
		"an act changed": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Acts[0] = []byte(strings.Replace(string(w.act), "2026-11-01", "2026-11-02", 1))
		}, false, true, "signature", ""},
		"a confirmation of other bytes": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Confirmations[0] = w.confirm(confirm.SoWCountersign, sow.Client, document(t, w.amendment).Signed(), 7)
		}, false, true, "confirmsWhatIsHere", ""},
		"a confirmation of the bytes without their prefix": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Confirmations[0] = w.confirm(confirm.SoWCountersign, sow.Client, d.Canonical(), 7)
		}, false, true, "confirmsWhatIsHere", ""},
		"a confirmation of another act": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Confirmations[0] = w.confirm(confirm.SoWTerminate, sow.Client, d.Signed(), 7)
		}, false, true, "confirmsWhatIsHere", ""},
		"of the termination": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Confirmations = append(b.Confirmations, w.confirm(confirm.SoWTerminate, sow.Client, terminated.Canonical(), 8))
		}, true, true, "", ""},
		"of the termination, with its signature": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Confirmations[0] = w.confirm(confirm.SoWTerminate, sow.Client, terminated.Bytes(), 8)
		}, false, true, "confirmsWhatIsHere", ""},
		"of the termination, under the other role": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Confirmations[0] = w.confirm(confirm.SoWTerminate, sow.Provider, terminated.Canonical(), 8)
		}, false, true, "confirmsWhatIsHere", ""},
		"for the other seat, with this owner's passkey": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Confirmations[0] = w.confirm(confirm.SoWCountersign, sow.Provider, d.Signed(), 7)
		}, false, true, "confirmedBySeat", ""},
		"a confirmation changed": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Confirmations[0] = []byte(strings.Replace(string(w.evidence), `"seq":7`, `"seq":8`, 1))
		}, false, false, "evidence.logSignature", "confirmations[0]"},
		"a confirmation that is none": {func(b *bundle.Bundle, _ *bundle.Pins) { b.Confirmations[0] = []byte(`{}`) }, false, false, "confirmationWellFormed", "confirmations[0]"},
		"with the amendment proposed": {func(b *bundle.Bundle, _ *bundle.Pins) { b.Versions = [][]byte{w.amendment} }, true, true, "", ""},
		"with another document":       {func(b *bundle.Bundle, _ *bundle.Pins) { b.Versions = [][]byte{w.offer} }, false, false, "sameEngagement", ""},
		"with something else":         {func(b *bundle.Bundle, _ *bundle.Pins) { b.Versions = [][]byte{[]byte(`{}`)} }, false, false, "sameEngagement", ""},
		"with claims": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Records = []bundle.Record{{Kind: "quote", Raw: []byte(`{"total":1}`)}, {Kind: "new\nkind", Raw: []byte(`1`)}}
		}, true, true, "", ""},
		"with a job manifest of nobody": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Records = []bundle.Record{{Kind: "job_manifest", Raw: []byte(`{"format":"job-manifest-v1"}`)}}
		}, true, true, "", ""},
		"with a verdict nobody signed": {func(b *bundle.Bundle, _ *bundle.Pins) {
			b.Records = []bundle.Record{{Kind: "verdict", Raw: []byte(`{"verdict":"v1"}`)}}
		}, true, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := bundle.Bundle{Document: w.agreed, Acts: [][]byte{w.act}, Confirmations: [][]byte{w.evidence}}
			p := pins
			c.change(&b, &p)
			r := bundle.Verify(b, p)
			if r.Valid != c.valid || r.Tied != c.tied {
				t.Errorf("valid %v, tied %v: failed %v, loose %v, %v", r.Valid, r.Tied, failed(r), r.Loose, r.Notes)
			}
			if f := failed(r); c.fails != "" && !slices.Contains(f, c.fails) || c.fails == "" && len(f) > 0 {
				t.Errorf("failed: %v, want %q", f, c.fails)
			}
			if c.loose != "" && !slices.Contains(r.Loose, c.loose) {
				t.Errorf("loose are %v, and not %s", r.Loose, c.loose)
			}
		})
	}
}

// TestOrder: which version counts, and what a proposal breaks, is said; a
// proposal that nobody has agreed to makes nothing invalid.
func TestOrder(t *testing.T) {
	w := newWorld(t)
	amended := func(agreed bool, changes ...string) []byte {
		text := string(w.amendment)
		for i := 0; i < len(changes); i += 2 {
			if text = strings.Replace(text, changes[i], changes[i+1], 1); !strings.Contains(text, changes[i+1]) {
				t.Fatalf("nothing to change: %s", changes[i])
			}
		}
		d := document(t, []byte(text))
		for role, label := range map[string]string{sow.Provider: "owner/copperline", sow.Client: "owner/saltmarsh"} {
			if role == sow.Provider || agreed {
				k, key := samplekey.Of(t, label)
				var err error
				if d, err = d.WithSignature(role, key, "2027-02-11T08:30:00Z", ed25519.Sign(k, d.Signed())); err != nil {
					t.Fatal(err)
				}
			}
		}
		return d.Raw()
	}
	const (
		instead   = "document: both seats have signed version 2 too"
		noForce   = "in other bytes; these have no force"
		two       = "two proposals"
		notToBe   = "it is not to be agreed to"
		otherEnd  = `"ends_at": "2027-12-01T00:00:00Z"`
		statedEnd = `"ends_at": "2027-10-01T00:00:00Z"`
	)
	for name, c := range map[string]struct {
		document []byte
		versions [][]byte
		fails    string
		notes    []string // those among the four above that stand there
	}{
		"the version before":            {amended(true), [][]byte{w.agreed}, "", nil},
		"the version after":             {w.agreed, [][]byte{amended(true)}, "", []string{instead}},
		"a proposal":                    {w.agreed, [][]byte{w.amendment}, "", nil},
		"two proposals":                 {w.agreed, [][]byte{w.amendment, amended(false, statedEnd, otherEnd)}, "", []string{two}},
		"one proposal twice":            {w.agreed, [][]byte{w.amendment, amended(false)}, "", nil},
		"one taken up, one not":         {w.agreed, [][]byte{amended(true), amended(false, statedEnd, otherEnd)}, "", []string{instead, noForce}},
		"two agreed":                    {w.agreed, [][]byte{amended(true), amended(true, statedEnd, otherEnd)}, "version_conflict", []string{instead}},
		"a version left out":            {w.agreed, [][]byte{amended(true, `"version": 2`, `"version": 3`)}, "amendment_version_not_next", []string{"document: both seats have signed version 3 too"}},
		"a proposal of other parties":   {w.agreed, [][]byte{amended(false, "Teal.accounts@", "Tern.accounts@")}, "", []string{notToBe}},
		"an agreement of other parties": {w.agreed, [][]byte{amended(true, "Teal.accounts@", "Tern.accounts@")}, "amendment_parties_changed", []string{instead}},
	} {
		t.Run(name, func(t *testing.T) {
			r := bundle.Verify(bundle.Bundle{Document: c.document, Versions: c.versions}, bundle.Pins{Provider: w.provider, Client: w.client})
			if f := failed(r); r.Valid != (c.fails == "") || c.fails != "" && !slices.Contains(f, c.fails) {
				t.Errorf("failed: %v, want %q", f, c.fails)
			}
			for _, note := range append([]string{instead, noForce, two, notToBe}, c.notes...) {
				stands := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, note) })
				if stands != slices.Contains(c.notes, note) {
					t.Errorf("%q stands there: %v, among %q", note, stands, r.Notes)
				}
			}
		})
	}
}

// TestCards: what an owner card pins, and what it does not.
func TestCards(t *testing.T) {
	w := newWorld(t)
	b := bundle.Bundle{Document: w.agreed, Confirmations: [][]byte{w.evidence}}
	stranger := w.ownerCard("owner/gable") // with the very passkey, of another owner
	if r := bundle.Verify(b, bundle.Pins{Provider: w.provider, Client: w.client, Card: stranger}); r.Valid || !slices.Contains(failed(r), "confirmedBySeat") {
		t.Errorf("another owner's card confirms a seat: %v", failed(r))
	}
	forged, err := confirm.NewOwnerCard(w.card.Fields())
	if err != nil {
		t.Fatal(err)
	}
	if r := bundle.Verify(b, bundle.Pins{Provider: w.provider, Card: forged}); r.Valid || r.Tied || !slices.Contains(failed(r), "cardSignature") {
		t.Errorf("a card nobody signed pins something: %v, loose %v", failed(r), r.Loose)
	}
}

// TestPerson: what is known of a person behind each seat.
func TestPerson(t *testing.T) {
	w := newWorld(t)
	d := document(t, w.agreed)
	other := w.confirm(confirm.SoWCountersign, sow.Provider, d.Signed(), 7)
	broken := []byte(strings.Replace(string(w.evidence), `"seq":7`, `"seq":8`, 1))
	pins := bundle.Pins{Provider: w.provider, Client: w.client, Card: w.card}
	for name, c := range map[string]struct {
		confirmations    [][]byte
		pins             bundle.Pins
		provider, client bundle.Person
	}{
		"nothing":                        {nil, pins, bundle.NoPerson, bundle.NoPerson},
		"with its card":                  {[][]byte{w.evidence}, pins, bundle.NoPerson, bundle.Confirmed},
		"without a card":                 {[][]byte{w.evidence}, bundle.Pins{Client: w.client}, bundle.NoPerson, bundle.NotPinned},
		"both, one pinned":               {[][]byte{w.evidence, w.evidence}, pins, bundle.NoPerson, bundle.Confirmed},
		"for the seat of another owner":  {[][]byte{other}, pins, bundle.NotPinned, bundle.NoPerson},
		"that does not verify":           {[][]byte{broken}, pins, bundle.NoPerson, bundle.NoPerson},
		"of other bytes":                 {[][]byte{w.confirm(confirm.SoWCountersign, sow.Client, d.Canonical(), 7)}, pins, bundle.NoPerson, bundle.NoPerson},
		"of a termination, no signature": {[][]byte{w.confirm(confirm.SoWTerminate, sow.Client, d.Signed(), 7)}, pins, bundle.NoPerson, bundle.NoPerson},
	} {
		r := bundle.Verify(bundle.Bundle{Document: w.agreed, Confirmations: c.confirmations}, c.pins)
		if r.Provider != c.provider || r.Client != c.client {
			t.Errorf("%s: %q and %q", name, r.Provider, r.Client)
		}
	}
}
