package approvals_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vault/approvals"
	"vault/derive/envelope"
)

// BenchmarkGranted signs under grants, with the real signer in this process: what
// the desk, its commits and the store add to a signature. No line and no socket is in it.
func BenchmarkGranted(b *testing.B) {
	for _, conns := range []int{1, 64} {
		b.Run(fmt.Sprintf("%d connections", conns), func(b *testing.B) {
			w := benchWorld(b)
			a := w.pair("bench")
			var next atomic.Int64
			work := make(chan []byte, b.N)
			// A grant by click gives ten uses: as many grants as are needed are made first.
			for made := 0; made < b.N; made += 10 {
				env := w.envelope(func(f *envelope.ActionFields) { f.ActionIndex = int64(made) })
				a.grant(env, 10)
				w.clock.pass(2 * time.Second)
				for range min(10, b.N-made) {
					work <- env
				}
			}
			close(work)
			b.ResetTimer()
			var wg sync.WaitGroup
			for range conns {
				wg.Go(func() {
					for env := range work {
						id := fmt.Sprint("b", next.Add(1))
						ans, err := a.conn.ActionSign(context.Background(), approvals.Ask{RequestID: id, Envelope: env, Payload: payload(id)})
						if err != nil || ans.Result == nil {
							b.Errorf("%+v, %v", ans, err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

func benchWorld(b *testing.B) *world {
	b.Helper()
	w := &world{t: b, dir: filepath.Join(b.TempDir(), "vault"), clock: newTestClock(), await: 20 * time.Millisecond}
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		b.Fatal(err)
	}
	w.keys = newLauncher(w.dir, w.clock)
	w.start()
	w.create()
	return w
}

// BenchmarkStart opens a desk over a log with so many signatures, and unlocks it. The KDF is not in it.
func BenchmarkStart(b *testing.B) {
	sizes := []int{0, 1000}
	if long() {
		sizes = append(sizes, 100_000)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("%d signatures", n), func(b *testing.B) {
			w := benchWorld(b)
			a := w.pair("bench")
			for made := 0; made < n; made += 10 {
				env := w.envelope(func(f *envelope.ActionFields) { f.ActionIndex = int64(made) })
				a.grant(env, 10)
				w.clock.pass(2 * time.Second)
				for i := range 9 {
					if _, err := a.ask(fmt.Sprint("b", made+i), env, payload("x"), false); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				w.stop()
				b.StartTimer()
				w.start()
				w.unlock()
			}
		})
	}
}
