package receipt

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"vault/approvals/journal"
	"vault/derive"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

const (
	vaultID  = "00112233445566778899aabbccddeeff"
	instance = "ffeeddccbbaa99887766554433221100"
	at       = int64(1_760_000_000_000)
)

// world is a vault with a fixed root, made with the pure functions alone.
type world struct {
	t      testing.TB
	root   []byte
	owner  string
	log    derive.Secret
	logKey string
	domain *envelope.Projection
	raws   [][]byte
	prev   string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, root: bytes.Repeat([]byte{1, 2}, 16), prev: journal.Zero}
	w.must(derive.LogSeed(&w.log, w.root, instance))
	pub, err := derive.PublicKey(w.log[:])
	w.must(err)
	w.logKey, err = envelope.EncodeOwnerKey(pub)
	w.must(err)
	w.owner = w.logKey
	info, err := envelope.NewDomainInfo("example.org", "main", "agent")
	w.must(err)
	w.domain, err = derive.Project(w.root, info, "2025-10-09T08:00:00.000Z")
	w.must(err)
	w.add(journal.KindCreated, journal.Created{Vault: vaultID, OwnerKey: w.owner, LogKey: w.logKey})
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) add(kind journal.Kind, body any) {
	w.t.Helper()
	raw, hash, err := journal.New(instance, uint64(len(w.raws)+1), w.prev, at, kind, body)
	w.must(err)
	w.raws, w.prev = append(w.raws, raw), hash
}

// head signs a head over the newest entry.
func (w *world) head() []byte {
	w.t.Helper()
	h := journal.Head{
		Type: journal.HeadType, V: 1, Vault: vaultID, Instance: instance, Seq: uint64(len(w.raws)), Hash: w.prev, At: at, Key: w.logKey,
	}
	sig, err := derive.SignMessage(w.log[:], h.SigningBytes())
	w.must(err)
	h.Sig = base64.RawURLEncoding.EncodeToString(sig)
	return h.Canonical()
}

// act signs a payload and returns the parts of its receipt, under a head so many entries later.
func (w *world) act(later int) Parts {
	w.t.Helper()
	env, err := envelope.NewActionEnvelope(w.domain.Info(), envelope.ActionFields{
		AgentID: "agent", ActionIndex: 1, Operation: "write", Resources: []string{"doc:1"}, Mode: envelope.ModeBoth,
		Window: envelope.Window{NotAfter: envelope.Some(at + 1000)}, MaxUses: envelope.Some(3),
	})
	w.must(err)
	var seed, domain derive.Secret
	address, err := derive.Capability(&seed, w.root, w.domain.Info(), env)
	w.must(err)
	payload, err := envelope.ParsePayload([]byte(`{"note":"hello"}`))
	w.must(err)
	digest := payload.Digest()
	signature, err := derive.SignDigest(seed[:], digest)
	w.must(err)
	says := envelope.AddressAttestation{DomainHash: env.DomainHash(), ActionEnvelopeHash: env.Hash(), AgentAddress: address}
	toSign, err := says.Digest()
	w.must(err)
	w.must(derive.DomainSeed(&domain, w.root, w.domain.Info()))
	by, err := derive.SignDigest(domain[:], toSign)
	w.must(err)
	attestation, err := says.Signed(w.domain.Address(), by)
	w.must(err)
	record, err := envelope.NewRecord(envelope.RecordInput{
		OwnerUserID: envelope.OwnerUserID(w.owner), CustodyMode: envelope.CustodyExternal, CreatedAt: w.domain.CreatedAt(),
		AgentAddress: address, Domain: w.domain, Envelope: env,
	})
	w.must(err)
	w.add(journal.KindActionSigned, journal.ActionSigned{
		Request: "r", Client: "c_0000000000000001", By: "click", DomainHash: env.DomainHash(), EnvelopeHash: env.Hash(),
		Digest: "0x" + hex.EncodeToString(digest[:]), Address: address, Use: 1,
	})
	from := len(w.raws) - 1
	for range later {
		w.add(journal.KindRequestSeen, journal.RequestSeen{Request: "s", Client: "c_0000000000000001", Digest: journal.Zero})
	}
	return Parts{
		Entries: slices.Clone(w.raws[from:]), Head: w.head(), Signature: signature, Payload: payload.Canonical(),
		Record: record.Canonical(), Attestation: attestation,
	}
}

func (w *world) pins() Pins {
	return Pins{LogKey: w.logKey, Vault: vaultID, DomainAddress: w.domain.Address()}
}

func (w *world) receipt(p Parts) *Receipt {
	w.t.Helper()
	raw, err := Encode(p)
	w.must(err)
	r, err := Parse(raw)
	w.must(err)
	return r
}

func TestReceiptOfASignature(t *testing.T) {
	for name, later := range map[string]int{"head over the entry": 0, "head three entries later": 3} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := w.receipt(w.act(later)).Verify(w.pins())
			if !r.Valid || !r.LogPinned || !r.SignerPinned || r.By != "click" || r.At != at || r.Address == "" {
				t.Errorf("%+v", r)
			}
			r = w.receipt(w.act(later)).Verify(Pins{})
			if !r.Valid || r.LogPinned || r.SignerPinned {
				t.Errorf("unpinned: %+v", r)
			}
		})
	}
}

func TestReceiptOfAnotherEntry(t *testing.T) {
	w := newWorld(t)
	r := w.receipt(Parts{Entries: w.raws, Head: w.head()}).Verify(w.pins())
	if !r.Valid || !r.LogPinned || r.SignerPinned || r.By != "" {
		t.Errorf("%+v", r)
	}
}

func TestOneLieNamesItsCheck(t *testing.T) {
	for _, tt := range []struct {
		name, check string
		lie         func(*world, *Parts, *Pins)
	}{
		{"another payload", "digestInEntry", func(_ *world, p *Parts, _ *Pins) { p.Payload = []byte(`{"note":"hullo"}`) }},
		{"signature of another payload", "signedByAddress", func(w *world, p *Parts, _ *Pins) {
			var seed derive.Secret
			seed[0] = 1
			sig, err := derive.SignDigest(seed[:], [32]byte{1})
			w.must(err)
			p.Signature = sig
		}},
		{"head of another entry", "headCoversEntry", func(w *world, p *Parts, _ *Pins) {
			w.add(journal.KindRequestSeen, journal.RequestSeen{Request: "s", Digest: journal.Zero})
			p.Head = w.head()
		}},
		{"head with a changed time", "headSigned", func(_ *world, p *Parts, _ *Pins) {
			p.Head = bytes.Replace(p.Head, []byte(`"at":1`), []byte(`"at":2`), 1)
		}},
		{"an entry left out", "entriesChained", func(w *world, p *Parts, _ *Pins) {
			*p = w.act(2)
			p.Entries = slices.Delete(p.Entries, 1, 2)
		}},
		{"record of another address", "recordOfEntry", func(w *world, p *Parts, _ *Pins) {
			v, err := jcs.Parse(p.Record, jcs.AgentEnvelope)
			w.must(err)
			p.Record = bytes.Replace(p.Record, []byte(v.Get("agentAddress").Text()), []byte(w.domain.Address()), 1)
		}},
		{"another log key", "logKeyPin", func(_ *world, _ *Parts, p *Pins) { p.LogKey = "U" + strings.Repeat("A", 55) }},
		{"another vault", "vaultPin", func(_ *world, _ *Parts, p *Pins) { p.Vault = instance }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			p, pins := w.act(0), w.pins()
			tt.lie(w, &p, &pins)
			r := w.receipt(p).Verify(pins)
			var failed []string
			for _, c := range r.Checks {
				if !c.OK {
					failed = append(failed, c.Name)
				}
			}
			if r.Valid || r.LogPinned || !slices.Contains(failed, tt.check) {
				t.Errorf("failed: %v, want %s", failed, tt.check)
			}
		})
	}
}

// TestBytesCount: no byte of a receipt can be another one, but for a record's own
// claims (when it was made, for which user), which nobody signs. Every fifth byte
// is tried, which reaches every member.
func TestBytesCount(t *testing.T) {
	w := newWorld(t)
	parts := w.act(1)
	raw, err := Encode(parts)
	w.must(err)
	from := bytes.Index(raw, parts.Record)
	for i := 0; i < len(raw); i += 5 {
		if from <= i && i < from+len(parts.Record) {
			continue
		}
		wrong := bytes.Clone(raw)
		wrong[i] ^= 1
		r, err := Parse(wrong)
		if err == nil && r.Verify(w.pins()).Valid {
			t.Errorf("byte %d may be another one: %s", i, wrong)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	w := newWorld(t)
	raw, err := Encode(w.act(0))
	w.must(err)
	for name, text := range map[string]string{
		"another type":                strings.Replace(string(raw), Type, "vault.other", 1),
		"another version":             strings.Replace(string(raw), `"type":"`+Type+`","v":1`, `"type":"`+Type+`","v":2`, 1),
		"unknown member":              strings.Replace(string(raw), `{"attestation"`, `{"a":1,"attestation"`, 1),
		"no entries":                  `{"entries":[],"head":{},"type":"vault.receipt","v":1}`,
		"no payload":                  strings.Replace(string(raw), `"payload":{"note":"hello"},`, ``, 1),
		"an entry that is no entry":   `{"entries":[{}],"head":{},"type":"vault.receipt","v":1}`,
		"not an object":               `[]`,
		"a passkey that nobody asked": strings.Replace(string(raw), `"by":"click"`, `"by":"passkey"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			if text == string(raw) {
				t.Fatal("the case changes nothing")
			}
			if _, err := Parse([]byte(text)); err == nil {
				t.Error("it is read")
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	w := newWorld(f)
	raw, err := Encode(w.act(1))
	w.must(err)
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := Parse(raw)
		if err != nil {
			return
		}
		again, err := Encode(r.Parts())
		if err != nil {
			t.Fatalf("%q is read and cannot be written: %v", raw, err)
		}
		back, err := Parse(again)
		if err != nil || back.Entry().Hash() != r.Entry().Hash() {
			t.Fatalf("%q is read back as another receipt: %v", raw, err)
		}
	})
}
