// Package socket measures signatures over the vault's socket beside OpenSSH's
// ssh-agent and the disk under both, in one run. It is for benchmarks only; no
// shipped program imports it.
//
// Different curves, and an agent that has one thread: a bar to compare with, not a
// like-for-like comparison.
package socket

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vault/ipc/client"
)

// Conns are the numbers of connections that every table has.
var Conns = []int{1, 8, 64}

// Load makes b.N calls over a number of connections, one call at a time on each, and
// reports p50-µs, p99-µs, req/s and, where it is known, cpu-µs/op: the processor time
// of this process, both ends of the connections where they are in it, which other
// programs of the machine change less than the rest. open makes one connection; i counts all calls.
func Load(b *testing.B, conns int, open func() (call func(i int) error, end func(), err error)) {
	b.Helper()
	calls := make([]func(int) error, conns)
	for i := range calls {
		call, end, err := open()
		if err != nil {
			b.Fatal(err)
		}
		defer end()
		calls[i] = call
	}
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	b.ResetTimer()
	used := processorTime()
	begin := time.Now()
	for _, call := range calls {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= b.N || failed.Load() != nil {
					return
				}
				t := time.Now()
				if err := call(i); err != nil {
					failed.Store(&err)
					return
				}
				took[i] = time.Since(t)
			}
		})
	}
	wg.Wait()
	all := time.Since(begin)
	used = processorTime() - used
	b.StopTimer()
	if err := failed.Load(); err != nil {
		b.Fatal(*err)
	}
	Report(b, took)
	b.ReportMetric(float64(b.N)/all.Seconds(), "req/s")
	if used > 0 {
		b.ReportMetric(float64(used.Nanoseconds())/1e3/float64(b.N), "cpu-µs/op")
	}
}

// Report reports p50-µs and p99-µs of single durations.
func Report(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	micros := func(q int) float64 { return float64(took[(len(took)-1)*q/100]) / 1e3 }
	b.ReportMetric(micros(50), "p50-µs")
	b.ReportMetric(micros(99), "p99-µs")
}

// Granted measures action.sign under grants, by a paired client, at each of Conns.
// envelope gives the action envelope of call i of a run: a grant has a bounded
// number of uses, so whoever sets up the vault says in prepare how many calls are
// about to be made, and hands out what it prepared. Every call must be covered; a
// pending answer fails the benchmark.
func Granted(b *testing.B, sock string, p *client.Pairing, prepare func(b *testing.B, calls int) (envelope func(i int) json.RawMessage)) {
	var run atomic.Int64
	for _, conns := range Conns {
		b.Run("conns="+strconv.Itoa(conns), func(b *testing.B) {
			envelope := prepare(b, b.N)
			round := run.Add(1)
			Load(b, conns, func() (func(int) error, func(), error) {
				ctx := context.Background()
				c, err := client.Dial(ctx, sock)
				if err != nil {
					return nil, nil, err
				}
				if _, err := c.Hello(ctx, p); err != nil {
					_ = c.Close()
					return nil, nil, err
				}
				call := func(i int) error {
					id := fmt.Sprintf("bench-%d-%d-%d", time.Now().UnixNano(), round, i)
					s, err := c.ActionSign(ctx, client.Sign{RequestID: id, Envelope: envelope(i), Grant: true, Payload: fmt.Appendf(nil, `{"n":%d,"type":"bench.message"}`, i)})
					if err == nil && s.Signature == "" {
						return fmt.Errorf("call %d: no signature", i)
					}
					return err
				}
				return call, func() { _ = c.Close() }, nil
			})
		})
	}
}
