//go:build unix

package approvals_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/handshake"
	bench "vault/bench/socket"
	"vault/derive"
	"vault/derive/envelope"
	"vault/ipc"
	"vault/ipc/client"
	"vault/ipc/socket"
)

// benchBot is a bot's key as the client wants it.
type benchBot struct{ *bot }

func (b benchBot) Address() string { return b.address }
func (b benchBot) Prove(c envelope.BotChallenge) string {
	sig, err := derive.SignDigest(b.seed[:], c.Digest())
	if err != nil {
		panic(err)
	}
	return sig
}

// Rates of the published JavaScript SDK (1.4.5, Node 20, a machine of two processors), which has no socket, no disk and no
// log: to verify a request and mint, 1/(1/400+1/4570), and to sign.
const (
	sdkMint = 368.0
	sdkSign = 4000.0
)

// BenchmarkMintSocket mints and signs over the socket, durably, with a store that is empty and with one that holds many
// delegates and mints, which were made one by one. The key process's code runs in this process.
func BenchmarkMintSocket(b *testing.B) {
	sizes := [][2]int{{0, 0}, {100, 2_000}}
	if long() {
		sizes = append(sizes, [2]int{10_000, 100_000})
	}
	for _, size := range sizes {
		w := benchWorld(b)
		w.browse()
		me := int64(os.Geteuid())
		w.uid = &me
		w.stop()
		w.start()
		w.unlock()
		a := w.pair("bench")
		w.enrol()
		bt := newBot(b, a, "bench")
		bt.prove()
		f := w.form(bt)
		f.MaxMints, f.MaxUsesPerAction = 100_000_000, 100_000_000
		began := time.Now()
		w.many(bt, f, size[0], size[1])
		filled := time.Since(began)
		raw := w.issue(f)
		w.stop()
		began = time.Now()
		w.start()
		opened := time.Since(began)
		w.unlock()
		unlocked := time.Since(began) - opened
		if size[1] > 0 {
			b.Logf("%d delegates and %d mints made in %v; opened in %v, unlocked in %v", size[0], size[1], filled, opened, unlocked)
		}
		dir, err := os.MkdirTemp("", "v") // of mode 0700
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = os.RemoveAll(dir) })
		path := filepath.Join(dir, "s")
		l, err := socket.Listen(path)
		if err != nil {
			b.Fatal(err)
		}
		srv := ipc.New(ipc.Options{Agents: w.desk.Agents()})
		go func() { _ = srv.Serve(l) }()
		file := filepath.Join(dir, "pairing.json")
		if err := os.WriteFile(file, fmt.Appendf(nil, `{"version":1,"vault":%q,"client":%q,"secret":%q}`, w.owner.Status().Public.Vault, a.id, handshake.Encode(a.secret)), 0o600); err != nil {
			b.Fatal(err)
		}
		connect := func() (*client.Conn, error) {
			p, err := client.Load(file)
			if err != nil {
				return nil, err
			}
			c, err := client.Dial(context.Background(), path)
			if err != nil {
				return nil, err
			}
			if _, err := c.Hello(context.Background(), p); err != nil {
				return nil, err
			}
			return c, c.ProveBot(context.Background(), benchBot{bt})
		}
		var round atomic.Int64
		for _, conns := range bench.Conns {
			b.Run(fmt.Sprintf("mint/%d delegates, %d mints/%d connections", size[0], size[1], conns), func(b *testing.B) {
				requests := make([][]byte, b.N)
				n := round.Add(1)
				for i := range requests {
					requests[i] = bt.request(b, raw, fmt.Sprint("bench ", n, " ", i), nil)
				}
				runtime.GC()
				bench.Load(b, conns, func() (func(int) error, func(), error) {
					c, err := connect()
					if err != nil {
						return nil, nil, err
					}
					return func(i int) error { _, err := c.Mint(context.Background(), requests[i]); return err }, func() { _ = c.Close() }, nil
				})
				b.ReportMetric(float64(unlocked.Milliseconds()), "unlock-ms")
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/sdkMint, "×SDK")
			})
		}
		bt.connect()
		bt.prove()
		got, err := bt.mint(bt.request(b, raw, "to sign with", func(f *envelope.RequestFields) { f.MaxUses = 100_000_000 }))
		if err != nil {
			b.Fatal(err)
		}
		for _, conns := range bench.Conns {
			b.Run(fmt.Sprintf("sign/%d delegates, %d mints/%d connections", size[0], size[1], conns), func(b *testing.B) {
				n := round.Add(1)
				runtime.GC()
				bench.Load(b, conns, func() (func(int) error, func(), error) {
					c, err := connect()
					if err != nil {
						return nil, nil, err
					}
					return func(i int) error {
						_, err := c.MintSign(context.Background(), client.MintSign{RequestID: fmt.Sprint("s", n, "-", i), Mint: got.Mint, Payload: payload(fmt.Sprint(i))})
						return err
					}, func() { _ = c.Close() }, nil
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/sdkSign, "×SDK")
			})
		}
		srv.Shutdown(context.Background())
		w.stop()
	}
}

// many issues delegates and has capabilities minted under them, as an owner and a bot do.
func (w *world) many(bt *bot, f approvals.DelegateForm, delegates, mints int) {
	w.t.Helper()
	var raws [][]byte
	for range delegates {
		raws = append(raws, w.issue(f))
	}
	if delegates == 0 {
		return
	}
	var wg sync.WaitGroup
	var next atomic.Int64
	for range 64 {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= mints {
					return
				}
				if _, err := bt.mint(bt.request(w.t, raws[i%delegates], fmt.Sprint("many ", i), nil)); err != nil {
					w.t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
