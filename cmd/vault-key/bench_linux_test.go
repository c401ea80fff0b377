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
