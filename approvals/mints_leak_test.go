//go:build linux

package approvals_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"filippo.io/age"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/derive"
	"vault/derive/envelope"
	"vault/internal/memscan"
)

// watched starts key processes whose line is read along.
type watched struct {
	*launcher
	mu  sync.Mutex
	out bytes.Buffer
}

func (l *watched) Launch(ctx context.Context) (approvals.KeyProcess, error) {
	k, err := l.launcher.Launch(ctx)
	if err != nil {
		return nil, err
	}
	near, far := net.Pipe()
	go func() {
		_ = keys.Serve(&tee{far, l}, k, nil)
		_ = far.Close()
	}()
	return &onLine{keys.NewClient(near), far}, nil
}

// tee keeps what the key process writes.
type tee struct {
	net.Conn
	l *watched
}

func (t *tee) Write(b []byte) (int, error) {
	t.l.mu.Lock()
	t.l.out.Write(b)
	t.l.mu.Unlock()
	return t.Conn.Write(b)
}

type onLine struct {
	*keys.Client
	line net.Conn
}

func (k *onLine) Kill() { _ = k.line.Close() }

// TestNothingOfAMintLeaves reads along on the line of the key process, and looks at every answer, the store and every export
// for mint material, minted seeds and the domain's seed. Nothing holds them but the sealed export, opened with its recipient's key.
func TestNothingOfAMintLeaves(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.stop()
	w.browse()
	l := &watched{launcher: w.keys}
	d, err := approvals.New(ctx, approvals.Options{Folder: w.dir, Launcher: l, Clock: w.clock, Await: w.await})
	if err != nil {
		t.Fatal(err)
	}
	w.desk, w.owner, w.agents = d, d.Owner(), d.Agents()
	t.Cleanup(func() { _ = d.Close() })
	*w.keys.owner.saw = []byte(vectorRoot)
	if err := w.owner.Restore(ctx, keys.ProtectPassphrase, keys.SurfaceTerminal); err != nil {
		t.Fatal(err)
	}
	if _, err := w.owner.CreateDomain(ctx, approvals.DomainForm{Namespace: "acme", DomainID: "billing-ops", Kind: "finance"}); err != nil {
		t.Fatal(err)
	}
	b := newBot(t, w.pair("bot"), "one")
	w.enrol()
	b.prove()
	var all bytes.Buffer
	said := func(v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		raw, ok := v.([]byte)
		if !ok {
			if raw, err = json.Marshal(v); err != nil {
				t.Fatal(err)
			}
		}
		all.Write(raw)
	}
	raw := w.issue(w.form(b))
	request := b.request(t, raw, "n", nil)
	said(b.conn.MintRequest(ctx, request))
	got, err := b.mint(request)
	if err != nil {
		t.Fatal(err)
	}
	said(b.conn.MintSign(ctx, approvals.MintSignAsk{RequestID: "u", Mint: got.Mint, Payload: []byte(mintPayload)}))
	said(b.conn.MintRecord(ctx, got.Mint))
	said(b.conn.MintDelegates(ctx))
	to, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	sealed, out, err := w.owner.ExportMint(ctx, w.owner.Domains()[0].Hash, to.Recipient().String())
	if err != nil || out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}
	said(sealed, nil)
	said(w.owner.Delegates(), nil)
	said(w.owner.Mints(approvals.MintFilter{}))
	said(w.owner.MintRecord(ctx, got.Mint))
	said(w.owner.Events(approvals.EventFilter{Limit: 500}))
	for _, kind := range []string{"delegate.issued", "capability.minted", "minted.signed", "mint.exported"} {
		events, err := w.owner.Events(approvals.EventFilter{Kind: kind})
		if err != nil || len(events) != 1 {
			t.Fatalf("%s: %d, %v", kind, len(events), err)
		}
		said(w.owner.Receipt(ctx, events[0].Seq))
	}
	for _, format := range []string{"jsonl", "csv"} {
		if err := w.owner.ExportLog(ctx, &all, format); err != nil {
			t.Fatal(err)
		}
	}
	w.stop()
	files, err := os.ReadDir(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		said(os.ReadFile(filepath.Join(w.dir, f.Name())))
	}
	l.mu.Lock()
	said(l.out.Bytes(), nil)
	l.mu.Unlock()
	if !bytes.Contains(all.Bytes(), []byte(got.AgentAddress)) || l.out.Len() < 10_000 {
		t.Fatal("nothing was watched")
	}

	root := fromHex(t, vectorRoot)
	info, err := envelope.NewDomainInfo("acme", "billing-ops", "finance")
	if err != nil {
		t.Fatal(err)
	}
	var domain, material, seed derive.Secret
	if err := derive.DomainSeed(&domain, root[:], info); err != nil {
		t.Fatal(err)
	}
	if err := derive.MintMaterial(&material, root[:], info.Hash()); err != nil {
		t.Fatal(err)
	}
	address, err := derive.Address(domain[:])
	if err != nil {
		t.Fatal(err)
	}
	report, m := envelope.VerifyMintRequest(request, raw, envelope.Pins{DomainAddress: address}, w.clock.Now())
	if !report.Valid {
		t.Fatalf("%+v", report)
	}
	if err := derive.RemoteMintSeed(&seed, material[:], m); err != nil {
		t.Fatal(err)
	}
	if minted, err := derive.Address(seed[:]); err != nil || minted != got.AgentAddress {
		t.Fatalf("the test looks for another seed: %s, %v", minted, err)
	}
	for name, secret := range map[string]derive.Secret{"mint material": material, "minted seed": seed, "domain seed": domain, "root": root} {
		for _, p := range memscan.Secret(name, secret[:]) {
			if bytes.Contains(all.Bytes(), p.Bytes) {
				t.Errorf("%s has left", p.Name)
			}
		}
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), to)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, p := range memscan.Secret("mint material", material[:]) {
		found = found || bytes.Contains(text, p.Bytes)
	}
	if !found {
		t.Error("the sealed export does not hold the mint material: what is looked for could not be found")
	}
}
