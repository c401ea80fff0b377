package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/derive/envelope"
)

// BenchmarkCommit is what a signature costs in the real key process and on the line
// to it, alone and in batches. The metrics beside the time are processor time per
// signature, which other programs of the machine change less: of the key process, and
// of this one (the desk's half of the line, and the making of the entries).
func BenchmarkCommit(b *testing.B) {
	w := newBench(b)
	w.start()
	w.create()
	env, err := envelope.NewActionEnvelope(w.info, envelope.ActionFields{
		AgentID: "agent", Operation: "write", Resources: []string{"doc:1"}, Mode: envelope.ModeNone,
	})
	if err != nil {
		b.Fatal(err)
	}
	payload := []byte(`{"type":"bench.message","text":"0123456789012345678901234567890123456789"}`)
	p, err := envelope.ParsePayload(payload)
	if err != nil {
		b.Fatal(err)
	}
	address, err := w.keys.Address(b.Context(), env.Canonical())
	if err != nil {
		b.Fatal(err)
	}
	digest := p.Digest()
	body := journal.ActionSigned{
		Request: "r", Client: "c_0000000000000001", By: "click", DomainHash: w.info.Hash(), EnvelopeHash: env.Hash(),
		Digest: "0x" + hex.EncodeToString(digest[:]), Address: address,
	}
	seq, prev := w.state.Seq(), w.state.Hash()
	for _, batch := range []int{1, 64} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			here, there := processorTime(b, os.Getpid()), processorTime(b, w.key.Pid())
			for b.Loop() {
				acts := make([]keys.Act, batch)
				for i := range acts {
					seq++
					body.Use++
					raw, hash, err := journal.New(w.pub.Instance, seq, prev, time.Now().UnixMilli(), journal.KindActionSigned, body)
					if err != nil {
						b.Fatal(err)
					}
					prev = hash
					acts[i] = keys.Act{Entry: raw, Envelope: env.Canonical(), Payload: payload, Permits: []keys.Permit{w.client}}
				}
				answers, err := w.keys.Commit(b.Context(), acts)
				if err != nil || answers[batch-1].Err != nil {
					b.Fatal(err, answers)
				}
			}
			n := float64(b.N * batch)
			b.ReportMetric(float64((processorTime(b, w.key.Pid())-there).Microseconds())/n, "key-cpu-µs/sig")
			b.ReportMetric(float64((processorTime(b, os.Getpid())-here).Microseconds())/n, "desk-cpu-µs/sig")
		})
	}
}

// processorTime is what a process and its threads have used so far.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	if pid == os.Getpid() {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	// Behind the name, which may hold anything: state is the first field, user and
	// system time are the twelfth and thirteenth, in hundredths of a second.
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		b.Fatal(err)
	}
	return time.Duration(user+system) * (time.Second / 100)
}

// TestManyEnvelopes shows what the key process holds when so many envelopes were signed
// under, after they were and after it was opened again over a snapshot.
func TestManyEnvelopes(t *testing.T) {
	n := 200
	if os.Getenv("VAULT_TEST_LONG") == "1" {
		n = 100_000
	}
	w := newBench(t)
	w.start()
	w.create()
	payload := []byte(`{"type":"bench.message"}`)
	p, err := envelope.ParsePayload(payload)
	if err != nil {
		t.Fatal(err)
	}
	digest := p.Digest()
	seq, prev := w.state.Seq(), w.state.Hash()
	for made := 0; made < n; {
		var acts []keys.Act
		for len(acts) < 500 && made < n {
			env, err := envelope.NewActionEnvelope(w.info, envelope.ActionFields{
				AgentID: "agent", ActionIndex: int64(made), Operation: "write", Resources: []string{"doc:1"}, Mode: envelope.ModeNone,
			})
			if err != nil {
				t.Fatal(err)
			}
			address, err := w.keys.Address(t.Context(), env.Canonical())
			if err != nil {
				t.Fatal(err)
			}
			made++
			e, err := journal.Make(w.pub.Instance, seq+1, prev, time.Now().UnixMilli(), journal.KindActionSigned, journal.ActionSigned{
				Request: "r", Client: "c_0000000000000001", By: "click", DomainHash: w.info.Hash(), EnvelopeHash: env.Hash(),
				Digest: "0x" + hex.EncodeToString(digest[:]), Address: address, Use: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.state.Apply(e); err != nil {
				t.Fatal(err)
			}
			seq, prev = e.Seq, e.Hash()
			acts = append(acts, keys.Act{Entry: e.Raw(), Envelope: env.Canonical(), Payload: payload, Permits: []keys.Permit{w.client}})
		}
		answers, err := w.keys.Commit(t.Context(), acts)
		if err != nil || answers[len(acts)-1].Err != nil {
			t.Fatal(err, answers[len(acts)-1].Err)
		}
	}
	t.Logf("%d envelopes: resident %d KiB", n, resident(t, w.key.Pid()))
	snapshot := w.state.Canonical()
	w.raws = nil
	w.commit(journal.KindSnapshot, journal.Snapshot{StateSHA256: journal.HashOf(snapshot)}, keys.Act{})
	t.Logf("snapshot of %d KiB: resident %d KiB", len(snapshot)>>10, resident(t, w.key.Pid()))
	if err := w.keys.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.start()
	if _, err := w.keys.Unlock(t.Context(), keys.Unlock{Surface: keys.SurfaceTerminal}); err != nil {
		t.Fatal(err)
	}
	before, began := resident(t, w.key.Pid()), time.Now()
	loaded, err := w.keys.Load(t.Context(), keys.Load{Snapshot: snapshot, Entries: w.raws, Domains: w.domains, Last: true, Head: w.head})
	if err != nil || loaded.Seq != w.state.Seq() {
		t.Fatal(loaded, err)
	}
	t.Logf("opened again: resident %d KiB, loaded in %v, then %d KiB", before, time.Since(began), resident(t, w.key.Pid()))
	w.sign()
	until(t, "what the snapshot took is given back", func() bool { return resident(t, w.key.Pid()) < 40<<10 })
	t.Logf("with its log: resident %d KiB", resident(t, w.key.Pid()))
}

// resident is a process's resident memory in KiB.
func resident(t testing.TB, pid int) (kib int) {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kib); err == nil {
			return kib
		}
	}
	t.Fatal("the system does not say what is resident")
	return 0
}
