package approvals_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/approvals/store"
	"vault/derive/envelope"
)

// fill lengthens the log of a vault whose desk is closed, with the real signer and
// store: so many envelopes are signed under once, and what is missing to so many
// entries are sheets that were seen. The key process judges each of them.
func (w *world) fill(envelopes, entries int, client string) {
	w.t.Helper()
	ctx := context.Background()
	check := func(err error) {
		if err != nil {
			w.t.Helper()
			w.t.Fatal(err)
		}
	}
	k, err := w.keys.Launch(ctx)
	check(err)
	pub, err := k.Unlock(ctx, keys.Unlock{Surface: keys.SurfaceTerminal})
	check(err)
	s, err := store.Open(ctx, w.dir)
	check(err)
	log, err := s.Entries(1, 1000)
	check(err)
	load := keys.Load{Last: true}
	st := &journal.State{}
	for _, row := range log {
		e, err := journal.Parse(row.Raw)
		check(err)
		check(st.Apply(e))
		load.Entries = append(load.Entries, row.Raw)
		if row.Head != nil {
			load.Head = row.Head
		}
	}
	permits, err := s.Permits()
	check(err)
	var row keys.Permit
	for _, p := range permits {
		switch {
		case p.Kind == permit.TypeDomain:
			load.Domains = append(load.Domains, keys.Permit{Body: p.Body, MAC: p.MAC})
		case p.Kind == permit.TypeClient && p.ID == client:
			row = keys.Permit{Body: p.Body, MAC: p.MAC}
		}
	}
	_, err = k.Load(ctx, load)
	check(err)
	body := payload("filled")
	parsed, err := envelope.ParsePayload(body)
	check(err)
	digest := parsed.Digest()
	domain := w.domainHash()
	seq, prev := st.Seq(), st.Hash()
	add := func(kind journal.Kind, of any, a keys.Act) (journal.Entry, keys.Act) {
		e, err := journal.Make(pub.Instance, seq+1, prev, w.clock.Now(), kind, of)
		check(err)
		check(st.Apply(e))
		seq, prev, a.Entry = e.Seq, e.Hash(), e.Raw()
		return e, a
	}
	for made := 0; seq < uint64(entries); {
		var es []journal.Entry
		var acts []keys.Act
		for len(acts) < 500 && seq < uint64(entries) {
			var e journal.Entry
			var a keys.Act
			if made < envelopes {
				env := w.envelope(func(f *envelope.ActionFields) { f.ActionIndex = int64(1_000_000 + made) })
				address, err := k.Address(ctx, env)
				check(err)
				read, err := envelope.ParseActionEnvelope(env)
				check(err)
				e, a = add(journal.KindActionSigned, journal.ActionSigned{
					Request: fmt.Sprint("f", made), Client: client, By: "click", DomainHash: domain, EnvelopeHash: read.Hash(),
					Digest: "0x" + hex.EncodeToString(digest[:]), Address: address, Use: 1,
				}, keys.Act{Envelope: env, Payload: body, Permits: []keys.Permit{row}})
				made++
			} else {
				e, a = add(journal.KindRequestSeen, journal.RequestSeen{Request: fmt.Sprint("s", seq), Client: client, Digest: journal.Zero}, keys.Act{})
			}
			es, acts = append(es, e), append(acts, a)
		}
		answers, err := k.Commit(ctx, acts)
		check(err)
		check(s.Do(func(tx *store.Tx) error {
			for i, e := range es {
				if answers[i].Err != nil {
					return answers[i].Err
				}
				id, tag := "", ""
				switch b := e.Decoded().(type) {
				case journal.ActionSigned:
					id, tag = b.Request, domain
				case journal.RequestSeen:
					id = b.Request
				}
				if err := tx.AddEntry(store.Entry{
					Seq: e.Seq, Raw: e.Raw(), Hash: e.Hash(), Kind: string(e.Kind), At: e.At, Client: client, Request: id, Tag: tag, Head: answers[i].Head,
				}); err != nil {
					return err
				}
				if e.Kind == journal.KindActionSigned {
					// As large as a real answer, so that the pages are as many.
					if err := tx.AddRequest(store.Request{
						Client: client, ID: id, Digest: e.Hash(), State: "done", Method: "action.sign", Envelope: acts[i].Envelope, Payload: acts[i].Payload,
						Seq: e.Seq, Answer: append(make([]byte, 0, 3000), fmt.Sprintf(`{"filled":"%02500d"}`, e.Seq)...),
					}); err != nil {
						return err
					}
				}
			}
			return nil
		}))
	}
	// As the desk does every so many entries, so that its start reads this and not the log.
	state := st.Canonical()
	e, a := add(journal.KindSnapshot, journal.Snapshot{StateSHA256: journal.HashOf(state)}, keys.Act{})
	answers, err := k.Commit(ctx, []keys.Act{a})
	check(err)
	check(s.Do(func(tx *store.Tx) error {
		if answers[0].Err != nil {
			return answers[0].Err
		}
		return errors.Join(tx.PutSnapshot(e.Seq, state), tx.AddEntry(store.Entry{
			Seq: e.Seq, Raw: e.Raw(), Hash: e.Hash(), Kind: string(e.Kind), At: e.At, Head: answers[0].Head,
		}))
	}))
	check(k.Lock(ctx))
	check(s.Close())
}

func (w *world) domainHash() string {
	w.t.Helper()
	info, err := envelope.NewDomainInfo("example", "support-ops", "communication")
	if err != nil {
		w.t.Fatal(err)
	}
	return info.Hash()
}

// BenchmarkGrantedFull is BenchmarkGranted on an empty store and on one with many
// envelopes and entries, made once. What it takes to open such a store after a lock is
// reported as start-ms, and what it takes to unlock it (no KDF) as unlock-ms.
func BenchmarkGrantedFull(b *testing.B) {
	sizes := [][2]int{{0, 0}, {2_000, 10_000}}
	if long() {
		sizes = append(sizes, [2]int{100_000, 1_000_000})
	}
	for _, size := range sizes {
		name := fmt.Sprintf("%d envelopes, %d entries", size[0], size[1])
		w := benchWorld(b)
		w.keys.bend = func(k *keyProcess) { k.signed = &w.keys.signed }
		a := w.pair("bench")
		w.stop()
		w.fill(size[0], size[1], a.id)
		w.start()
		w.unlock()
		w.stop() // it makes a snapshot as it locks
		began := time.Now()
		w.start()
		opened := time.Since(began)
		w.unlock()
		unlocked := time.Since(began) - opened
		a.connect()
		round := 0
		for _, conns := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d connections", name, conns), func(b *testing.B) {
				round++
				work := make(chan []byte, b.N)
				for made := 0; made < b.N; made += 10 {
					env := w.envelope(func(f *envelope.ActionFields) {
						f.ActionIndex, f.AgentID = int64(made), fmt.Sprint("bench", round, "-", b.N)
					})
					a.grant(env, 10)
					w.clock.pass(2 * time.Second)
					for range min(10, b.N-made) {
						work <- env
					}
				}
				close(work)
				runtime.GC()
				before := used(b)
				b.ResetTimer()
				done := make(chan error, conns)
				for c := range conns {
					go func() {
						n := 0
						for env := range work {
							n++
							id := fmt.Sprint("b", round, "-", b.N, "-", c, "-", n)
							ans, err := a.conn.ActionSign(context.Background(), approvals.Ask{RequestID: id, Envelope: env, Payload: payload(id)})
							if err == nil && ans.Result == nil {
								err = fmt.Errorf("%+v", ans)
							}
							if err != nil {
								done <- err
								return
							}
						}
						done <- nil
					}()
				}
				for range conns {
					if err := <-done; err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				b.ReportMetric(float64((used(b)-before).Microseconds())/float64(b.N), "cpu-µs/sig")
				b.ReportMetric(float64(opened.Milliseconds()), "start-ms")
				b.ReportMetric(float64(unlocked.Milliseconds()), "unlock-ms")
			})
		}
		w.stop()
	}
}
