package approvals_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/derive"
	"vault/derive/envelope"
	"vault/derive/jcs"
	"vault/derive/tag"
)

// The roots of the published vectors. The first is one byte repeated, which no vault takes: its documents are
// signed anew under the second.
const (
	vectorRoot   = "0xfffefdfcfbfaf9f8f7f6f5f4f3f2f1f0efeeedecebeae9e8e7e6e5e4e3e2e1e0"
	weakIssuer   = "0x17af0c0fd81fc8def9b955f660ef6c5bdebf8835" // acme, billing-ops under the first root
	vectorBot    = "0xa256798afa0cdb9575575c1fc545e39f95179249b88d4c074d08231fec75567d"
	vectorBotTwo = "0xd83ab67e5ebcca132c1559589b1b2a7efd49499da9d7d74a9ffea0103895785a"
)

func fromHex(t testing.TB, s string) (out [32]byte) {
	t.Helper()
	raw, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil || len(raw) != 32 {
		t.Fatalf("%s: %v", s, err)
	}
	copy(out[:], raw)
	return out
}

// vectorWorld is a vault of the vectors' second root at an instant, with the two domains of the vectors.
func vectorWorld(t *testing.T, now int64) (w *world, issuer [32]byte, a *agent) {
	t.Helper()
	w = newWorld(t)
	w.browse()
	w.clock.wall.Store(now)
	*w.keys.owner.saw = []byte(vectorRoot)
	if err := w.owner.Restore(context.Background(), keys.ProtectPassphrase, keys.SurfaceTerminal); err != nil {
		t.Fatal(err)
	}
	for _, f := range []approvals.DomainForm{{"acme", "billing-ops", "finance"}, {"acme.eu", "deploy:prod", "ci-runner"}} {
		if _, err := w.owner.CreateDomain(context.Background(), f); err != nil {
			t.Fatal(err)
		}
	}
	info, err := envelope.NewDomainInfo("acme", "billing-ops", "finance")
	if err != nil {
		t.Fatal(err)
	}
	root := fromHex(t, vectorRoot)
	var seed derive.Secret
	if err := derive.DomainSeed(&seed, root[:], info); err != nil {
		t.Fatal(err)
	}
	a = w.pair("bot")
	w.enrol()
	return w, seed, a
}

// document is a wire object that may be edited into anything.
type document map[string]any

func readDocument(t testing.TB, raw []byte) document {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	out := document{}
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (d document) raw(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(map[string]any(d)); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// body is the canonical form without the signature, or nil where there is none.
func (d document) body(t testing.TB, member string) []byte {
	t.Helper()
	v, err := jcs.Parse(d.raw(t), jcs.AgentEnvelope)
	if err != nil {
		return nil
	}
	return v.Without(member).Canonical()
}

func (d document) text(name string) string { s, _ := d[name].(string); return s }

// sign signs the document as it stands.
func (d document) sign(t testing.TB, member string, prefix tag.Tag, seed [32]byte) {
	t.Helper()
	sig, err := derive.SignDigest(seed[:], envelope.Digest(prefix, d.body(t, member)))
	if err != nil {
		t.Fatal(err)
	}
	d[member] = sig
}

var order, _ = new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)

// flipped is the signature with the other s, which the same key could have made.
func flipped(t testing.TB, sig string) string {
	t.Helper()
	raw, err := hex.DecodeString(sig[2:])
	if err != nil || len(raw) != 65 {
		t.Fatal(err)
	}
	s := new(big.Int).SetBytes(raw[32:64])
	s.Sub(order, s).FillBytes(raw[32:64])
	raw[64] ^= 27 ^ 28
	return "0x" + hex.EncodeToString(raw)
}

// signedBy says whether the member is a signature of the address over the document, low or high.
func (d document) signedBy(t testing.TB, member, address string, prefix tag.Tag) (ok, high bool) {
	body := d.body(t, member)
	text := d.text(member)
	if body == nil || len(text) != 132 {
		return false, false
	}
	for _, high := range []bool{false, true} {
		if high {
			text = flipped(t, text)
		}
		sig, err := envelope.ParseSignature(text)
		if err != nil {
			continue
		}
		if got, err := sig.Recover(envelope.Digest(prefix, body)); err == nil && got == strings.ToLower(address) {
			return true, high
		}
	}
	return false, false
}

// resigned moves a delegate and a request of the weak root under the vault's own domain, each as valid or
// invalid as it was.
func resigned(t testing.TB, delegate, request document, issuer [32]byte, address string, bots map[string][32]byte) {
	t.Helper()
	before := envelope.HashText(string(delegate.body(t, "issuerSignature")))
	ok, high := delegate.signedBy(t, "issuerSignature", weakIssuer, tag.MintDelegate)
	botOK, botHigh := request.signedBy(t, "botSignature", request.text("botAddress"), tag.MintRequest)
	if named := delegate.text("issuerAddress"); strings.EqualFold(named, weakIssuer) && named[:2] == "0x" {
		delegate["issuerAddress"] = address
	}
	if ok {
		delegate.sign(t, "issuerSignature", tag.MintDelegate, issuer)
		if high {
			delegate["issuerSignature"] = flipped(t, delegate.text("issuerSignature"))
		}
	}
	after := envelope.HashText(string(delegate.body(t, "issuerSignature")))
	switch named := request.text("delegateHash"); {
	case named == before:
		request["delegateHash"] = after
	case strings.EqualFold(named, before):
		request["delegateHash"] = "0x" + strings.ToUpper(after[2:])
	}
	if seed, known := bots[strings.ToLower(request.text("botAddress"))]; botOK && known {
		request.sign(t, "botSignature", tag.MintRequest, seed)
		if botHigh {
			request["botSignature"] = flipped(t, request.text("botSignature"))
		}
	}
}

type mintVector struct {
	Name, Op, Strict string
	Now              int64
	Input            struct {
		Delegate, Request json.RawMessage
		MintMaterial      string
	}
	Expect struct {
		Valid        bool
		AgentAddress string
		ActionSeed   string
	}
}

// mintVectors are the published vectors of the op, and those of $VAULT_VECTORS.
func mintVectors(t *testing.T, op string) []mintVector {
	t.Helper()
	files := []string{filepath.Join("..", "derive", "testdata", "vectors.json")}
	if dir := os.Getenv("VAULT_VECTORS"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "agentenvelope", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	var out []mintVector
	seen := map[string]bool{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var set struct{ Vectors []json.RawMessage }
		if err := json.Unmarshal(raw, &set); err != nil {
			continue // of another shape
		}
		for _, raw := range set.Vectors {
			var text bytes.Buffer
			if err := json.Compact(&text, raw); err != nil {
				t.Fatal(err)
			}
			var head struct{ Name, Op string }
			if err := json.Unmarshal(raw, &head); err != nil || head.Op != op || seen[text.String()] {
				continue // of another op, or the very vector again
			}
			var v mintVector
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Fatalf("%s: %v", head.Name, err)
			}
			seen[text.String()] = true
			out = append(out, v)
		}
	}
	return out
}

// admit imports and admits a delegate.
func (w *world) admit(raw []byte) error {
	view, err := w.owner.ImportDelegate(context.Background(), raw)
	if err != nil {
		return err
	}
	if view.State != approvals.DelegateSuspended {
		w.t.Errorf("%+v", view)
	}
	out, err := w.owner.AdmitDelegate(context.Background(), view.Hash, view.Bounds.MaxMints, "")
	if err == nil && out.Code != approvals.OutcomeDone {
		w.t.Fatalf("admit: %+v", out)
	}
	return err
}

// TestMintVectors runs every published mint request through the whole path: its delegate is imported and admitted, the
// bot proves its address, and the vault mints, or refuses with the code of the bound that the document check names.
func TestMintVectors(t *testing.T) {
	bots := map[string][32]byte{}
	for _, seed := range []string{vectorBot, vectorBotTwo} {
		s := fromHex(t, seed)
		address, err := derive.Address(s[:])
		if err != nil {
			t.Fatal(err)
		}
		bots[address] = s
	}
	list := mintVectors(t, "verifyMintRequest")
	if len(list) < 51 {
		t.Fatalf("%d vectors", len(list))
	}
	for _, v := range list {
		t.Run(v.Name, func(t *testing.T) {
			w, issuer, a := vectorWorld(t, v.Now)
			address, err := derive.Address(issuer[:])
			if err != nil {
				t.Fatal(err)
			}
			delegate, request := readDocument(t, v.Input.Delegate), readDocument(t, v.Input.Request)
			if strings.EqualFold(delegate.text("issuerAddress"), weakIssuer) || delegate.text("domainHash") == w.owner.Domains()[0].Hash {
				resigned(t, delegate, request, issuer, address, bots)
			}
			// The vectors' other bots are unknown: whoever asks for them has proven another address.
			b := &bot{agent: a, address: request.text("botAddress")}
			var known bool
			if b.seed, known = bots[strings.ToLower(b.address)]; !known {
				b.seed = fromHex(t, vectorBot)
				if b.address, err = derive.Address(b.seed[:]); err != nil {
					t.Fatal(err)
				}
			}
			b.prove()
			domain := map[string]string{}
			for _, d := range w.owner.Domains() {
				domain[d.Hash] = d.Address
			}
			report, _ := envelope.VerifyMintRequest(request.raw(t), delegate.raw(t),
				envelope.Pins{DomainAddress: domain[delegate.text("domainHash")], DomainHash: delegate.text("domainHash")}, v.Now)
			want := v.Expect.Valid && v.Strict != "reject"
			if want != report.Valid {
				t.Fatalf("the documents alone: %+v", report)
			}
			if err := w.admit(delegate.raw(t)); err != nil {
				if want || !strings.HasPrefix(code(err), "delegate_") && code(err) != approvals.CodeUnknownDomain {
					t.Fatalf("import: %v", err)
				}
				return
			}
			got, err := b.mint(request.raw(t))
			// The documents are valid under a delegate that is open; a key that could sign nothing is not minted all the same.
			if q, bad := envelope.ParseMintRequest(request.raw(t)); want && bad == nil && q.Fields().Window.NotAfter.Set && q.Fields().Window.NotAfter.N < v.Now {
				if code(err) != approvals.CodeMintExpired || w.entries("capability.minted") != 0 {
					t.Errorf("its own window is over: %+v, %v", got, err)
				}
				return
			}
			if want {
				if err != nil || w.entries("capability.minted") != 1 {
					t.Fatalf("%+v, %v", got, err)
				}
				return
			}
			d, _ := envelope.ParseMintDelegate(delegate.raw(t))
			q, _ := envelope.ParseMintRequest(request.raw(t))
			bound, _ := envelope.FirstBound(report, d, q, v.Now)
			wanted := bound.Code
			if wanted == "delegate_hash" {
				wanted = approvals.CodeUnknownDelegate
			}
			if c := code(err); c != wanted && !(c == approvals.CodeBotOther && !known) || w.entries("capability.minted") != 0 {
				t.Errorf("refused with %v, want %s", err, wanted)
			}
		})
	}
}

// TestMintedKeyIsTheSDKs mints what the published SDK minted under a root that a vault takes, and signs with it.
func TestMintedKeyIsTheSDKs(t *testing.T) {
	n := 0
	for _, v := range mintVectors(t, "mintActionCapability") {
		delegate, request := readDocument(t, v.Input.Delegate), readDocument(t, v.Input.Request)
		if v.Strict != "" || strings.EqualFold(delegate.text("issuerAddress"), weakIssuer) {
			continue // of the weak root: package derive has them
		}
		n++
		t.Run(v.Name, func(t *testing.T) {
			w, _, a := vectorWorld(t, 1790000005000)
			b := &bot{agent: a, address: request.text("botAddress"), seed: fromHex(t, vectorBotTwo)}
			b.prove()
			if err := w.admit(delegate.raw(t)); err != nil {
				t.Fatal(err)
			}
			got, err := b.mint(request.raw(t))
			if err != nil || got.AgentAddress != v.Expect.AgentAddress {
				t.Fatalf("%+v, %v; want %s", got, err, v.Expect.AgentAddress)
			}
			payload := []byte(`{"type":"example.message","n":1}`)
			use, err := b.use("u", got.Mint, payload)
			if err != nil {
				t.Fatal(err)
			}
			p, err := envelope.ParsePayload(payload)
			if err != nil {
				t.Fatal(err)
			}
			seed := fromHex(t, v.Expect.ActionSeed)
			if want, err := derive.SignDigest(seed[:], p.Digest()); err != nil || use.Signature != want {
				t.Errorf("signed %s, the published seed gives %s, %v", use.Signature, want, err)
			}
		})
	}
	if n == 0 {
		t.Error("no vector was run")
	}
}
