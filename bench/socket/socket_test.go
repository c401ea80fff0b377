//go:build linux

package socket_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/sys/unix"

	"vault/approvals"
	bench "vault/bench/socket"
	"vault/internal/needs"
	"vault/ipc"
	"vault/ipc/client"
	"vault/ipc/socket"
)

// folder is below TMPDIR: point that at the disk that is to be measured.
func folder(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// silent is a desk that answers at once: what is left is the socket.
type silent struct{ approvals.Conversation }

func (silent) Hello(context.Context, approvals.Peer, string, []byte) (approvals.Conversation, approvals.Greeting, error) {
	return silent{}, approvals.Greeting{Nonce: make([]byte, 32)}, nil
}

func (silent) Prove(context.Context, []byte, json.RawMessage) error { return nil }

func (silent) Close() {}

var answer = json.RawMessage(`{"agent_address":"0x0bfc3fdaea4dbad90a545c10621811bed8e91464","by":"grant","log_head":{"seq":8},"record":{},"seq":8,"signature":"0x` + strings.Repeat("a", 130) + `"}`)

func (silent) ActionSign(context.Context, approvals.Ask) (approvals.Answer, error) {
	return approvals.Answer{Result: answer}, nil
}

// BenchmarkSocketAlone is action.sign with a desk that does nothing: the cost of the
// socket itself, within the server's and the client's process being one.
func BenchmarkSocketAlone(b *testing.B) {
	path := filepath.Join(folder(b), "s.sock")
	l, err := socket.Listen(path)
	if err != nil {
		b.Fatal(err)
	}
	srv := ipc.New(ipc.Options{Agents: silent{}})
	go func() { _ = srv.Serve(l) }()
	defer srv.Shutdown(context.Background())
	envelope := json.RawMessage(`{"actionIndex":0,"agentId":"bench","decayPolicy":{"mode":"BOTH"},"domain":{"domainHash":"0x4676f92e9a52dc4e4b1cbe4345e779bec0dcccc2123305a7a598ccad844bd4b5","domainId":"deploy:prod"},"limits":{"enforcement":"external","maxUses":10},"operation":"send-message","resources":["channel:support"],"timeWindow":{"notAfter":1798761599999,"notBefore":null},"type":"agentenvelope.actionEnvelope","version":1}`)
	for _, conns := range bench.Conns {
		b.Run("conns="+strconv.Itoa(conns), func(b *testing.B) {
			bench.Load(b, conns, func() (func(int) error, func(), error) {
				ctx := context.Background()
				c, err := client.Dial(ctx, path)
				if err != nil {
					return nil, nil, err
				}
				nonce := map[string]string{"version": "1", "client": "c", "nonce": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}
				if err := c.Call(ctx, "hello", nonce, nil); err != nil {
					return nil, nil, err
				}
				if err := c.Call(ctx, "hello.prove", map[string]string{"proof": nonce["nonce"]}, nil); err != nil {
					return nil, nil, err
				}
				call := func(i int) error {
					_, err := c.ActionSign(ctx, client.Sign{RequestID: "r" + strconv.Itoa(i), Envelope: envelope, Payload: json.RawMessage(`{"type":"bench.message"}`), Grant: true})
					return err
				}
				return call, func() { _ = c.Close() }, nil
			})
		})
	}
}

// BenchmarkSSHAgent is OpenSSH's agent, signing a challenge of 256 bytes.
func BenchmarkSSHAgent(b *testing.B) {
	needs.Programs(b, "ssh-agent")
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	for _, k := range []struct {
		name string
		key  any
	}{{"ed25519", &ed}, {"ecdsa-p256", ec}} {
		path := filepath.Join(folder(b), "a.sock")
		cmd := exec.Command("ssh-agent", "-D", "-a", path)
		said, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		stop := func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		// It prints its socket's name once it listens.
		if _, err := bufio.NewReader(said).ReadString('\n'); err != nil {
			stop()
			b.Fatal(err)
		}
		first, err := net.Dial("unix", path)
		if err != nil {
			stop()
			b.Fatal(err)
		}
		if err := agent.NewClient(first).Add(agent.AddedKey{PrivateKey: k.key}); err != nil {
			stop()
			b.Fatal(err)
		}
		for _, conns := range bench.Conns {
			b.Run(k.name+"/conns="+strconv.Itoa(conns), func(b *testing.B) {
				bench.Load(b, conns, func() (func(int) error, func(), error) {
					conn, err := net.Dial("unix", path)
					if err != nil {
						return nil, nil, err
					}
					a := agent.NewClient(conn)
					keys, err := a.List()
					if err != nil {
						return nil, nil, err
					}
					data := make([]byte, 256)
					return func(int) error { _, err := a.Sign(keys[0], data); return err }, func() { _ = conn.Close() }, nil
				})
			})
		}
		_ = first.Close()
		stop()
	}
}

// BenchmarkFdatasync is the disk: append 4 KB and wait until they are there.
func BenchmarkFdatasync(b *testing.B) {
	f, err := os.Create(filepath.Join(folder(b), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	took := make([]time.Duration, 0, b.N)
	for b.Loop() {
		t := time.Now()
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(t))
	}
	bench.Report(b, took)
}

// TestLoad holds the measuring itself: every call is made once, and an error is told.
func TestLoad(t *testing.T) {
	var calls, ends atomic.Int64
	r := testing.Benchmark(func(b *testing.B) {
		calls.Store(0)
		bench.Load(b, 3, func() (func(int) error, func(), error) {
			return func(int) error { calls.Add(1); return nil }, func() { ends.Add(1) }, nil
		})
	})
	if calls.Load() != int64(r.N) || ends.Load()%3 != 0 {
		t.Errorf("%d calls of %d, %d ends", calls.Load(), r.N, ends.Load())
	}
	if r.Extra["req/s"] <= 0 || r.Extra["p99-µs"] < r.Extra["p50-µs"] {
		t.Errorf("reported %v", r.Extra)
	}
}
