package derive

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"vault/derive/envelope"
	"vault/derive/jcs"
	"vault/derive/tag"
)

// A vector names an operation, its input and what the reference answers.
type vector struct {
	Name, Op, Strict string
	Input            json.RawMessage
	Now              int64
	Expect           map[string]json.RawMessage
}

// input is the union of all operations' arguments.
type input struct {
	JSON           string
	String         *string
	Seed           string
	Namespace      string
	DomainID       string `json:"domainId"`
	Kind           string
	IdentityRoot   string
	DomainInfo     json.RawMessage
	CreatedAt      string
	Domain         struct{ DomainID, DomainHash string }
	Fields         json.RawMessage
	ActionEnvelope json.RawMessage
	Payload        string
	Signature      any
	ExpectedAddr   string `json:"expectedAddress"`
	DomainCreated  string `json:"domainCreatedAt"`
	OwnerUserID    string `json:"ownerUserId"`
	Record         json.RawMessage
	ActionIndex    json.RawMessage
	ExpectedHash   *string `json:"expectedActionEnvelopeHash"`
	Delegate       json.RawMessage
	ExpectedIssuer string `json:"expectedIssuerAddress"`
	BotSeed        string
	Request        json.RawMessage
	DomainHash     string
	MintMaterial   string
	AttesterSeed   string
	Body           json.RawMessage
	Receipt        json.RawMessage
	ExpectedAttest string `json:"expectedAttesterAddress"`
	State          json.RawMessage
}

// outcome is what our implementation did: members to compare, or a refusal.
type outcome struct {
	members  map[string]any
	refused  error
	warnings []string
}

func refuse(err error) outcome                    { return outcome{refused: err} }
func answer(m map[string]any) outcome             { return outcome{members: m} }
func (o outcome) with(name string, v any) outcome { o.members[name] = v; return o }

// TestVectors runs our copy of the published set, and every further set of the
// same format under $VAULT_VECTORS/agentenvelope.
func TestVectors(t *testing.T) {
	if n := runSet(t, filepath.Join("testdata", "vectors.json"), true); n != 262 {
		t.Errorf("%d vectors ran, 262 expected", n)
	}
	for _, file := range further(t, "*.json") {
		runSet(t, file, false)
	}
}

func further(t *testing.T, pattern string) []string {
	dir := os.Getenv("VAULT_VECTORS")
	if dir == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "agentenvelope", pattern))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// acceptedStrict are the cases a careful implementation should refuse and we
// accept with exactly the reference's answer: a resource outside ASCII whose
// lower-casing changes nothing.
var acceptedStrict = map[string]bool{"deriveCapability/unicode-resources": true}

func runSet(t *testing.T, file string, own bool) int {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(raw) {
		t.Fatalf("%s is not JSON", file)
	}
	var set struct{ Vectors []vector }
	if err := json.Unmarshal(raw, &set); err != nil || len(set.Vectors) == 0 {
		return 0 // a file of another shape
	}
	pins := pinsOf(t, set.Vectors)
	for _, v := range set.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			got := run(t, v, pins)
			judge(t, v, got, own)
		})
	}
	return len(set.Vectors)
}

func judge(t *testing.T, v vector, got outcome, own bool) {
	_, wantError := v.Expect["error"]
	valid, isVerdict := v.Expect["valid"]
	ok := got.refused == nil
	if verdict, there := got.members["valid"]; there {
		ok = verdict == true
	}
	if isVerdict && got.refused != nil {
		if string(valid) == "true" || !errors.Is(got.refused, errIllTyped) {
			t.Fatalf("a verification did not answer: %v", got.refused)
		}
		return
	}
	if v.Strict == "reject" {
		if !ok {
			return
		}
		if own && !acceptedStrict[v.Name] {
			t.Fatalf("accepted: %v", got.members)
		}
	}
	if wantError {
		if ok {
			t.Fatalf("accepted: %v", got.members)
		}
		return
	}
	if got.refused != nil {
		t.Fatalf("refused: %v", got.refused)
	}
	if isVerdict && fmt.Sprint(got.members["valid"]) != string(valid) {
		t.Fatalf("valid %v, want %s: %v", got.members["valid"], valid, got.members)
	}
	for name, want := range v.Expect {
		if name == "reason" || name == "checks" {
			continue // the reference's words and flags
		}
		have, there := got.members[name]
		if !there {
			t.Errorf("%s is missing", name)
			continue
		}
		if h, w := canon(t, have), canon(t, want); h != w {
			t.Errorf("%s:\n have %s\n want %s", name, h, w)
		}
	}
	if v.Strict == "warn" && len(got.warnings) == 0 {
		t.Error("accepted without a warning")
	}
}

// canon gives comparable JSON of anything.
func canon(t *testing.T, v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out, err := jcs.Canonical(raw, jcs.SoW)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return string(out)
}

// pinTable is what an owner of the roots in a set would have pinned: the
// addresses of every domain hash, and the hash of every domain address.
type pinTable struct {
	addresses map[string][]string
	hashes    map[string]string
}

func pinsOf(t *testing.T, vectors []vector) pinTable {
	p := pinTable{map[string][]string{}, map[string]string{}}
	for _, v := range vectors {
		var in input
		if json.Unmarshal(v.Input, &in) != nil || in.IdentityRoot == "" || in.DomainInfo == nil {
			continue
		}
		root, err := unhex(in.IdentityRoot)
		if err != nil {
			continue
		}
		d, err := envelope.ParseDomainInfo(in.DomainInfo)
		if err != nil {
			continue
		}
		proj, err := Project(root, d, "2026-01-01T00:00:00.000Z")
		if err != nil {
			continue
		}
		p.addresses[d.Hash()] = append(p.addresses[d.Hash()], proj.Address())
		p.hashes[proj.Address()] = d.Hash()
	}
	return p
}

// forDelegate pins the issuer of a delegate: the owner's own address for its
// domain, where the owner knows that domain, else what the delegate says.
func (p pinTable) forDelegate(raw json.RawMessage) envelope.Pins {
	var d struct{ IssuerAddress, DomainHash any }
	if json.Unmarshal(raw, &d) != nil {
		return envelope.Pins{}
	}
	issuer, _ := d.IssuerAddress.(string)
	hash, _ := d.DomainHash.(string)
	known := p.addresses[hash]
	for _, a := range known {
		if strings.EqualFold(a, issuer) {
			return envelope.Pins{DomainAddress: a, DomainHash: hash}
		}
	}
	if len(known) > 0 {
		return envelope.Pins{DomainAddress: known[0], DomainHash: hash}
	}
	return envelope.Pins{DomainAddress: issuer}
}

func unhex(s string) ([]byte, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err == nil && len(b) != Size {
		err = ErrSecretSize
	}
	return b, err
}

func hex0x(b []byte) string { return "0x" + hex.EncodeToString(b) }

// errIllTyped stands for an argument of another type than our functions take.
var errIllTyped = errors.New("an argument is of another type")

func run(t *testing.T, v vector, pins pinTable) outcome {
	var in input
	if err := json.Unmarshal(v.Input, &in); err != nil {
		var typ *json.UnmarshalTypeError
		if errors.As(err, &typ) {
			return refuse(errIllTyped)
		}
		t.Fatal(err)
	}
	if p, ok := v.Expect["signedPayload"]; ok {
		// seedToKey names the payload it signs beside the results.
		if err := json.Unmarshal(p, &in.Payload); err != nil {
			t.Fatal(err)
		}
	}
	op, ok := operations[v.Op]
	if !ok {
		t.Fatalf("unknown operation %s", v.Op)
	}
	return op(in, v.Now, pins)
}

var operations = map[string]func(in input, now int64, pins pinTable) outcome{
	"canonicalJSON": func(in input, _ int64, _ pinTable) outcome {
		out, err := jcs.Canonical([]byte(in.JSON), jcs.AgentEnvelope)
		if err != nil {
			return refuse(err)
		}
		return answer(map[string]any{"canonical": string(out), "sha256": envelope.HashCanonical(out)})
	},
	"contentHash": func(in input, _ int64, _ pinTable) outcome {
		if in.String != nil {
			return answer(map[string]any{"hash": envelope.HashText(*in.String)})
		}
		out, err := jcs.Canonical([]byte(in.JSON), jcs.AgentEnvelope)
		if err != nil {
			return refuse(err)
		}
		return answer(map[string]any{"hash": envelope.HashCanonical(out)})
	},
	"seedToKey": func(in input, _ int64, _ pinTable) outcome {
		seed, err := unhex(in.Seed)
		if err != nil {
			return refuse(err)
		}
		var key [32]byte
		if err := withKey(seed, func(k *secp256k1.PrivateKey) { key = k.Key.Bytes() }); err != nil {
			return refuse(err)
		}
		o := signPayload(seed, in.Payload)
		if o.refused != nil {
			return o
		}
		return o.with("key", hex0x(key[:])).with("signedPayload", in.Payload)
	},
	"createDomainInfo": func(in input, _ int64, _ pinTable) outcome {
		d, err := envelope.NewDomainInfo(in.Namespace, in.DomainID, in.Kind)
		if err != nil {
			return refuse(err)
		}
		return answer(map[string]any{"domainInfo": json.RawMessage(d.Canonical())})
	},
	"projectDomain": func(in input, _ int64, _ pinTable) outcome {
		root, d, err := rootAndDomain(in)
		if err != nil {
			return refuse(err)
		}
		p, err := Project(root, d, in.CreatedAt)
		if err != nil {
			return refuse(err)
		}
		var seed Secret
		if err := DomainSeed(&seed, root, d); err != nil {
			return refuse(err)
		}
		return answer(object(p.Canonical())).with("domainSeed", hex0x(seed[:]))
	},
	"buildActionEnvelope": func(in input, _ int64, _ pinTable) outcome {
		f, err := envelope.ParseActionFields(in.Fields)
		if err != nil {
			return refuse(err)
		}
		e, err := envelope.NewActionEnvelopeFor(in.Domain.DomainID, in.Domain.DomainHash, f)
		if err != nil {
			return refuse(err)
		}
		return answer(map[string]any{"actionEnvelope": json.RawMessage(e.Canonical())})
	},
	"deriveCapability": func(in input, _ int64, _ pinTable) outcome {
		root, d, err := rootAndDomain(in)
		if err != nil {
			return refuse(err)
		}
		e, err := envelopeOf(in, d)
		if err != nil {
			return refuse(err)
		}
		var seed Secret
		address, err := Capability(&seed, root, d, e)
		if err != nil {
			return refuse(err)
		}
		return answer(map[string]any{
			"actionEnvelope": json.RawMessage(e.Canonical()), "canonicalActionEnvelope": string(e.Canonical()),
			"actionEnvelopeHash": e.Hash(), "actionSeed": hex0x(seed[:]), "agentAddress": address,
		})
	},
	"signAction": func(in input, _ int64, _ pinTable) outcome {
		seed, err := unhex(in.Seed)
		if err != nil {
			return refuse(err)
		}
		return signPayload(seed, in.Payload)
	},
	"verifyAction": func(in input, _ int64, _ pinTable) outcome {
		sig, _ := in.Signature.(string)
		return verdict(envelope.VerifyAction([]byte(in.Payload), sig, in.ExpectedAddr), true)
	},
	"createPublicActionRecord": func(in input, _ int64, _ pinTable) outcome {
		root, d, err := rootAndDomain(in)
		if err != nil {
			return refuse(err)
		}
		p, err := Project(root, d, in.DomainCreated)
		if err != nil {
			return refuse(err)
		}
		e, err := envelopeOf(in, d)
		if err != nil {
			return refuse(err)
		}
		var seed Secret
		address, err := Capability(&seed, root, d, e)
		if err != nil {
			return refuse(err)
		}
		r, err := envelope.NewRecord(envelope.RecordInput{
			OwnerUserID: in.OwnerUserID, CustodyMode: envelope.CustodyBrowser, CreatedAt: in.CreatedAt,
			AgentAddress: address, Domain: p, Envelope: e,
		})
		if err != nil {
			return refuse(err)
		}
		if _, err := envelope.ParseRecord(r.Canonical()); err != nil {
			return refuse(err)
		}
		return answer(map[string]any{"record": json.RawMessage(r.Canonical())})
	},
	"verifyRecord": func(in input, now int64, _ pinTable) outcome {
		sig, _ := in.Signature.(string)
		o := envelope.RecordOptions{Now: now, ExpectedHash: in.ExpectedHash, ActionIndex: envelope.Some(-1)}
		if v, err := jcs.Parse(in.ActionIndex, jcs.AgentEnvelope); err == nil {
			if n, ok := v.Int(); ok {
				o.ActionIndex = envelope.Some(n)
			}
		}
		return verdict(envelope.VerifyRecord(in.Record, []byte(in.Payload), sig, o), true)
	},
	"buildMintDelegate": func(in input, _ int64, _ pinTable) outcome {
		root, d, err := rootAndDomain(in)
		if err != nil {
			return refuse(err)
		}
		f, err := envelope.ParseDelegateFields(in.Fields)
		if err != nil {
			return refuse(err)
		}
		var seed Secret
		if err := DomainSeed(&seed, root, d); err != nil {
			return refuse(err)
		}
		issuer, err := Address(seed[:])
		if err != nil {
			return refuse(err)
		}
		m, err := envelope.NewMintDelegate(issuer, f)
		if err != nil {
			return refuse(err)
		}
		sig, err := SignDigest(seed[:], m.Digest())
		if err != nil {
			return refuse(err)
		}
		if m, err = m.Signed(sig); err != nil {
			return refuse(err)
		}
		return answer(map[string]any{"delegate": json.RawMessage(m.Canonical()), "delegateHash": m.Hash()})
	},
	"verifyMintDelegate": func(in input, _ int64, pins pinTable) outcome {
		r, _ := envelope.VerifyMintDelegate(in.Delegate, envelope.Pins{
			DomainAddress: in.ExpectedIssuer, DomainHash: pins.hashes[strings.ToLower(in.ExpectedIssuer)],
		})
		return verdict(r, false).with("valid", r.Valid && r.Pinned)
	},
	"buildMintRequest": func(in input, _ int64, _ pinTable) outcome {
		seed, err := unhex(in.BotSeed)
		if err != nil {
			return refuse(err)
		}
		d, err := envelope.ParseMintDelegate(in.Delegate)
		if err != nil {
			return refuse(err)
		}
		f, err := envelope.ParseRequestFields(in.Fields)
		if err != nil {
			return refuse(err)
		}
		bot, err := Address(seed)
		if err != nil {
			return refuse(err)
		}
		q, err := envelope.NewMintRequest(bot, d, f)
		if err != nil {
			return refuse(err)
		}
		sig, err := SignDigest(seed, q.Digest())
		if err != nil {
			return refuse(err)
		}
		if q, err = q.Signed(sig); err != nil {
			return refuse(err)
		}
		return answer(map[string]any{"request": json.RawMessage(q.Canonical())})
	},
	"verifyMintRequest": func(in input, now int64, pins pinTable) outcome {
		r, m := envelope.VerifyMintRequest(in.Request, in.Delegate, pins.forDelegate(in.Delegate), now)
		if (m.Request() != nil) != r.Valid {
			return refuse(errors.New("the verified mint does not follow the verdict"))
		}
		return verdict(r, false)
	},
	"deriveMintMaterial": func(in input, _ int64, _ pinTable) outcome {
		root, err := unhex(in.IdentityRoot)
		if err != nil {
			return refuse(err)
		}
		var material Secret
		if err := MintMaterial(&material, root, in.DomainHash); err != nil {
			return refuse(err)
		}
		return answer(map[string]any{"mintMaterial": hex0x(material[:])})
	},
	"mintActionCapability": func(in input, _ int64, pins pinTable) outcome {
		material, err := unhex(in.MintMaterial)
		if err != nil {
			return refuse(err)
		}
		// The operation has no clock; the delegate's own window gives one.
		var now int64
		if d, err := envelope.ParseMintDelegate(in.Delegate); err == nil {
			if w := d.Fields().Window; w.NotBefore.Set {
				now = w.NotBefore.N
			} else if w.NotAfter.Set {
				now = w.NotAfter.N
			}
		}
		r, m := envelope.VerifyMintRequest(in.Request, in.Delegate, pins.forDelegate(in.Delegate), now)
		if !r.Valid {
			return refuse(errors.New(r.Reason))
		}
		var seed Secret
		if err := RemoteMintSeed(&seed, material, m); err != nil {
			return refuse(err)
		}
		address, err := Address(seed[:])
		if err != nil {
			return refuse(err)
		}
		return answer(map[string]any{
			"custodyMode": envelope.CustodyRemoteMint, "delegateId": m.Delegate().ID(), "requestId": m.Request().ID(),
			"delegateHash": m.Delegate().Hash(), "agentAddress": address, "actionSeed": hex0x(seed[:]),
		})
	},
	"signReceipt": func(in input, _ int64, _ pinTable) outcome {
		seed, err := unhex(in.AttesterSeed)
		if err != nil {
			return refuse(err)
		}
		digest, err := envelope.ReceiptDigest(in.Body)
		if err != nil {
			return refuse(err)
		}
		address, err := Address(seed)
		if err != nil {
			return refuse(err)
		}
		sig, err := SignDigest(seed, digest)
		if err != nil {
			return refuse(err)
		}
		a, err := envelope.Attestation(address, sig)
		if err != nil {
			return refuse(err)
		}
		return answer(map[string]any{"attestation": json.RawMessage(a), "digest": hex0x(digest[:])})
	},
	"verifyReceipt": func(in input, _ int64, _ pinTable) outcome {
		r := envelope.VerifyReceipt(in.Receipt, envelope.Pins{DomainAddress: in.ExpectedAttest})
		o := verdict(r, true)
		var a struct{ Attestation struct{ AttesterAddress any } }
		if json.Unmarshal(in.Receipt, &a) == nil {
			o.with("attesterAddress", a.Attestation.AttesterAddress)
		}
		return o.with("valid", r.Valid && r.Pinned)
	},
	"isAuthorityLegitimate": func(in input, now int64, _ pinTable) outcome {
		return verdict(envelope.VerifyLegitimacy(in.State, nil, now), false)
	},
}

func rootAndDomain(in input) ([]byte, *envelope.DomainInfo, error) {
	root, err := unhex(in.IdentityRoot)
	if err != nil {
		return nil, nil, err
	}
	d, err := envelope.ParseDomainInfo(in.DomainInfo)
	return root, d, err
}

func envelopeOf(in input, d *envelope.DomainInfo) (*envelope.ActionEnvelope, error) {
	if in.ActionEnvelope != nil {
		return envelope.ParseActionEnvelope(in.ActionEnvelope)
	}
	f, err := envelope.ParseActionFields(in.Fields)
	if err != nil {
		return nil, err
	}
	return envelope.NewActionEnvelope(d, f)
}

func signPayload(seed []byte, text string) outcome {
	p, err := envelope.ParsePayload([]byte(text))
	if err != nil {
		return refuse(err)
	}
	digest := p.Digest()
	sig, err := SignDigest(seed, digest)
	if err != nil {
		return refuse(err)
	}
	address, err := Address(seed)
	if err != nil {
		return refuse(err)
	}
	if r := envelope.VerifyAction([]byte(text), sig, address); !r.Valid {
		return refuse(errors.New(r.Reason))
	}
	return answer(map[string]any{
		"canonical": string(p.Canonical()), "digest": hex0x(digest[:]), "signature": sig, "address": address,
	})
}

func object(raw []byte) map[string]any {
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		panic(err)
	}
	return m
}

// verdict turns a report into the members of a vector, and holds the report to
// its own promises.
func verdict(r *envelope.Report, recovered bool) outcome {
	m := map[string]any{"valid": r.Valid}
	if recovered && r.Recovered != "" {
		m["recoveredAddress"] = r.Recovered
	}
	failed := ""
	for _, c := range r.Checks {
		if !c.OK && failed == "" {
			failed = c.Detail
		}
	}
	if r.Valid != (failed == "") || r.Reason != failed {
		return refuse(fmt.Errorf("report contradicts its checks: %+v", r))
	}
	return outcome{members: m, warnings: r.Warnings}
}

// TestUpstream runs the small set that the SDK publishes, and every file of its
// shape beside the further sets.
func TestUpstream(t *testing.T) {
	files := append(further(t, "*.json"), filepath.Join("..", "..", "shared", "vectors", "agentenvelope", "upstream-v1-core.json"))
	ran := false
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var u upstream
		if json.Unmarshal(raw, &u) != nil || u.Type != "agentenvelope.testVectorSet" {
			continue
		}
		ran = true
		t.Run(filepath.Base(file), u.run)
	}
	if !ran {
		t.Skip("upstream-v1-core.json is not here")
	}
}

type upstream struct {
	Type   string
	Seeds  struct{ IdentityRootHex, BotSeedHex string }
	Domain struct {
		Input               struct{ Namespace, DomainID, Kind string }
		DomainInfo          json.RawMessage
		CanonicalDomainInfo string
		DomainHash          string
		DomainAddress       string
		DomainFingerprint   string
		CreatedAt           string
	}
	Action struct {
		Envelope                json.RawMessage
		CanonicalActionEnvelope string
		ActionEnvelopeHash      string
		AgentAddress            string
		ActionSeedHex           string
		Payload                 json.RawMessage
		Signature               string
		RecoveredAddress        string
	}
	MintDelegation struct {
		BotAddress       string
		MintMaterialHex  string
		Delegate         json.RawMessage
		Request          json.RawMessage
		RemoteCapability struct{ CustodyMode, DelegateID, RequestID, AgentAddress, ActionSeedHex string }
		RemotePayload    json.RawMessage
		RemoteSignature  string
	}
}

func (u upstream) run(t *testing.T) {
	eq := func(what, have, want string) {
		t.Helper()
		if have != want {
			t.Errorf("%s:\n have %s\n want %s", what, have, want)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := unhex(u.Seeds.IdentityRootHex)
	must(err)
	bot, err := unhex(u.Seeds.BotSeedHex)
	must(err)
	d, err := envelope.NewDomainInfo(u.Domain.Input.Namespace, u.Domain.Input.DomainID, u.Domain.Input.Kind)
	must(err)
	eq("canonical domain", string(d.Canonical()), u.Domain.CanonicalDomainInfo)
	p, err := Project(root, d, u.Domain.CreatedAt)
	must(err)
	eq("domain hash", p.Info().Hash(), u.Domain.DomainHash)
	eq("domain address", p.Address(), u.Domain.DomainAddress)
	eq("fingerprint", p.Fingerprint(), u.Domain.DomainFingerprint)

	e, err := envelope.ParseActionEnvelope(u.Action.Envelope)
	must(err)
	eq("canonical envelope", string(e.Canonical()), u.Action.CanonicalActionEnvelope)
	eq("envelope hash", e.Hash(), u.Action.ActionEnvelopeHash)
	var seed Secret
	address, err := Capability(&seed, root, d, e)
	must(err)
	eq("action seed", hex.EncodeToString(seed[:]), u.Action.ActionSeedHex)
	eq("agent address", address, u.Action.AgentAddress)
	eq("signature", signPayload(seed[:], string(u.Action.Payload)).members["signature"].(string), u.Action.Signature)

	var material Secret
	must(MintMaterial(&material, root, d.Hash()))
	eq("mint material", hex.EncodeToString(material[:]), u.MintDelegation.MintMaterialHex)
	botAddress, err := Address(bot)
	must(err)
	eq("bot address", botAddress, u.MintDelegation.BotAddress)

	del, err := envelope.ParseMintDelegate(u.MintDelegation.Delegate)
	must(err)
	domainSeed := new(Secret)
	must(DomainSeed(domainSeed, root, d))
	built, err := envelope.NewMintDelegate(p.Address(), del.Fields())
	must(err)
	sig, err := SignDigest(domainSeed[:], built.Digest())
	must(err)
	built, err = built.Signed(sig)
	must(err)
	eq("delegate", string(built.Canonical()), string(del.Canonical()))
	req, err := envelope.ParseMintRequest(u.MintDelegation.Request)
	must(err)
	again, err := envelope.NewMintRequest(botAddress, del, req.Fields())
	must(err)
	sig, err = SignDigest(bot, again.Digest())
	must(err)
	again, err = again.Signed(sig)
	must(err)
	eq("request", string(again.Canonical()), string(req.Canonical()))

	pins := envelope.Pins{DomainAddress: p.Address(), DomainHash: d.Hash()}
	r, m := envelope.VerifyMintRequest(u.MintDelegation.Request, u.MintDelegation.Delegate, pins, del.Fields().Window.NotBefore.N)
	if !r.Valid || !r.Pinned {
		t.Fatalf("mint request: %+v", r)
	}
	must(RemoteMintSeed(&seed, material[:], m))
	eq("minted seed", hex.EncodeToString(seed[:]), u.MintDelegation.RemoteCapability.ActionSeedHex)
	address, err = Address(seed[:])
	must(err)
	eq("minted address", address, u.MintDelegation.RemoteCapability.AgentAddress)
	eq("minted signature", signPayload(seed[:], string(u.MintDelegation.RemotePayload)).members["signature"].(string), u.MintDelegation.RemoteSignature)
}

// TestPathsArePinned fixes every released path of the tree. A change here
// changes every address and key that owners have handed out.
func TestPathsArePinned(t *testing.T) {
	root := make([]byte, Size)
	for i := range root {
		root[i] = byte(i)
	}
	d, err := envelope.NewDomainInfo("agentenvelope", "support-ops", "communication")
	if err != nil {
		t.Fatal(err)
	}
	e, err := envelope.NewActionEnvelope(d, envelope.ActionFields{
		AgentID: "support-sender", Operation: "send-message", Resources: []string{"channel:support"}, Mode: envelope.ModeNone,
	})
	if err != nil {
		t.Fatal(err)
	}
	const instance = "00112233445566778899aabbccddeeff"
	mint := verifiedMint(t, root, d)
	for _, path := range []struct {
		name   string
		derive func(*Secret) error
		want   string
	}{
		{"domain", func(s *Secret) error { return DomainSeed(s, root, d) }, pinnedDomain},
		{"action", func(s *Secret) error { _, err := Capability(s, root, d, e); return err }, pinnedAction},
		{"mint-material", func(s *Secret) error { return MintMaterial(s, root, d.Hash()) }, pinnedMaterial},
		{"remote-mint", func(s *Secret) error { return RemoteMintSeed(s, root, mint) }, pinnedMint},
		{"sow-owner 0", func(s *Secret) error { return OwnerSeed(s, root, 0) }, pinnedOwner0},
		{"sow-owner 1", func(s *Secret) error { return OwnerSeed(s, root, 1) }, pinnedOwner1},
		{"vault-log", func(s *Secret) error { return LogSeed(s, root, instance) }, pinnedLog},
		{"vault-store", func(s *Secret) error { return StoreKey(s, root) }, pinnedStore},
	} {
		t.Run(path.name, func(t *testing.T) {
			var s Secret
			if err := path.derive(&s); err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(s[:]); got != path.want {
				t.Errorf("got %s", got)
			}
		})
	}
	var s Secret
	if err := OwnerSeed(&s, root, 0); err != nil {
		t.Fatal(err)
	}
	pub, err := PublicKey(s[:])
	if err != nil {
		t.Fatal(err)
	}
	key, err := envelope.EncodeOwnerKey(pub)
	if err != nil || key != pinnedOwnerKey {
		t.Errorf("owner key %s, %v", key, err)
	}
	sig, err := SignMessage(s[:], tag.SoW.Message([]byte("{}")))
	if err != nil || !envelope.VerifyOwner(pub, tag.SoW, []byte("{}"), sig) || envelope.VerifyOwner(pub, tag.OwnerCard, []byte("{}"), sig) {
		t.Errorf("owner signature, %v", err)
	}
}

func verifiedMint(t testing.TB, root []byte, d *envelope.DomainInfo) envelope.VerifiedMint {
	del, req, pins := mintPair(t, root, d)
	r, m := envelope.VerifyMintRequest(req, del, pins, 1_500)
	if !r.Valid || !r.Pinned {
		t.Fatalf("%+v", r)
	}
	return m
}

// mintPair builds a signed delegate and request.
func mintPair(t testing.TB, root []byte, d *envelope.DomainInfo) (delegate, request []byte, pins envelope.Pins) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var seed Secret
	must(DomainSeed(&seed, root, d))
	issuer, err := Address(seed[:])
	must(err)
	window := envelope.Window{NotBefore: envelope.Some(1_000), NotAfter: envelope.Some(2_000)}
	del, err := envelope.NewMintDelegate(issuer, envelope.DelegateFields{
		DomainHash: d.Hash(), AllowedOperations: []string{"send-message"}, AllowedResources: []string{"thread:*"},
		BotPolicy: envelope.BotAny, IndexMax: 9, MaxMints: 3, MaxUsesPerAction: 1, Window: window,
		Nonce: "0x" + strings.Repeat("11", 32), IssuedAt: "2026-07-24T15:24:00.000Z",
	})
	must(err)
	sig, err := SignDigest(seed[:], del.Digest())
	must(err)
	del, err = del.Signed(sig)
	must(err)
	bot := bytes.Repeat([]byte{7}, Size)
	botAddress, err := Address(bot)
	must(err)
	req, err := envelope.NewMintRequest(botAddress, del, envelope.RequestFields{
		AgentID: "support-sender", Operation: "send-message", Resources: []string{"thread:1"}, MaxUses: 1, Window: window,
		Nonce: "n-1", RequestedAt: "2026-07-24T15:25:00.000Z",
	})
	must(err)
	sig, err = SignDigest(bot, req.Digest())
	must(err)
	req, err = req.Signed(sig)
	must(err)
	return del.Canonical(), req.Canonical(), envelope.Pins{DomainAddress: issuer, DomainHash: d.Hash()}
}
