//go:build linux

package approvals_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/handshake"
	"vault/derive/envelope"
)

// The desk as a program of its own, which is killed. It is this test binary,
// started with childFolder.
const (
	childFolder = "VAULT_TEST_DESK_FOLDER"
	childClient = "VAULT_TEST_DESK_CLIENT" // id and hex secret
	childRound  = "VAULT_TEST_DESK_ROUND"
	childGrants = 28
)

func TestMain(m *testing.M) {
	for _, child := range []struct {
		variable string
		run      func(string)
	}{
		{childFolder, runChild}, {diskFolder, runDisk}, {momentFolder, runMoment},
		{mintFolder, runMintDesk}, {mintBot, runMintBot}, {formFolder, runForming},
	} {
		if value := os.Getenv(child.variable); value != "" {
			child.run(value)
			return
		}
	}
	os.Exit(m.Run())
}

// killEnvelope is the nth envelope of the kill test.
func (w *world) killEnvelope(n int64, begin int64) []byte {
	return w.envelope(func(f *envelope.ActionFields) {
		f.ActionIndex = n
		f.Window = envelope.Window{NotBefore: envelope.Some(begin), NotAfter: envelope.Some(begin + 40*3600_000)}
	})
}

// runChild opens the vault and signs under every grant until it is killed. It
// writes a line for each answer after it has it.
func runChild(dir string) {
	t := &testing.T{}
	id, secret, _ := strings.Cut(os.Getenv(childClient), " ")
	var round int
	var begin int64
	if _, err := fmt.Sscan(os.Getenv(childRound), &round, &begin); err != nil {
		panic(err)
	}
	w := &world{t: t, dir: dir, clock: newTestClock(), await: 20 * time.Millisecond}
	w.keys = newLauncher(dir, w.clock)
	d, err := approvals.New(context.Background(), approvals.Options{Folder: dir, Launcher: w.keys, Clock: w.clock, Await: 10 * time.Second})
	if err != nil {
		panic(err)
	}
	w.desk, w.owner, w.agents = d, d.Owner(), d.Agents()
	if err := w.owner.Unlock(context.Background(), "terminal"); err != nil {
		panic(err)
	}
	a := &agent{w: w, id: id}
	raw, err := hex.DecodeString(secret)
	if err != nil {
		panic(err)
	}
	a.secret = handshake.Secret(raw)
	if a.conn, err = a.dial(nil); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	var mu sync.Mutex
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i, spent := 0, 0; spent < 20*childGrants; i++ {
				g := rand.IntN(childGrants)
				req := fmt.Sprintf("k%d-%d-%d", round, worker, i)
				ans, err := a.ask(req, w.killEnvelope(int64(g), begin), payload(req), false)
				if code(err) == approvals.CodeNotShown {
					spent++
					continue
				}
				if err != nil {
					panic(err)
				}
				var r struct{ Signature string }
				if err := json.Unmarshal(ans.Result, &r); err != nil {
					panic(err)
				}
				mu.Lock()
				fmt.Println(req, r.Signature)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// TestKilled kills the desk again and again while it signs under grants, and checks that
// every answer that left is in the store, and that each grant gave what it
// promised and no more.
func TestKilled(t *testing.T) {
	times := 1
	if long() {
		times = 10
	}
	for range times {
		killed(t, 20)
	}
}

func killed(t *testing.T, rounds int) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	begin := w.clock.Now() - 1000
	for g := range childGrants {
		if out := a.grant(w.killEnvelope(int64(g), begin), 10); out.Code != approvals.OutcomeDone {
			t.Fatalf("%+v", out)
		}
	}
	w.stop()
	answers := map[string]string{}
	killedEarly := 0
	for round := range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childFolder+"="+w.dir, childClient+"="+a.id+" "+hex.EncodeToString(a.secret[:]),
			fmt.Sprintf("%s=%d %d", childRound, round, begin))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		if round%4 == 3 { // while it opens
			kill.Reset(time.Duration(rand.IntN(60)) * time.Millisecond)
		}
		ready, after, seen := false, rand.IntN(8), 0
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if lines.Text() == "ready" {
				ready = true
			} else {
				seen++
			}
			if seen == after {
				kill.Reset(time.Duration(rand.IntN(3000)) * time.Microsecond)
			}
			id, sig, ok := strings.Cut(lines.Text(), " ")
			if !ok || len(sig) != 132 {
				continue // cut by the kill
			}
			if answers[id] != "" {
				t.Errorf("%s was answered twice", id)
			}
			answers[id] = sig
		}
		kill.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if !ready {
			killedEarly++
		}
	}
	w.clock.wall.Store(time.Now().UnixMilli())
	w.start()
	w.unlock()
	a.w = w
	a.connect()
	w.verified()
	for id, sig := range answers {
		ans, err := a.conn.Await(context.Background(), id)
		var r struct{ Signature string }
		if err == nil {
			err = json.Unmarshal(ans.Result, &r)
		}
		if err != nil || r.Signature != sig {
			t.Errorf("%s was answered, and the store says %+v, %v", id, ans, err)
		}
	}
	already := w.entries("action.signed") - childGrants
	if already < len(answers) {
		t.Errorf("%d answers, %d entries", len(answers), already)
	}
	for g := range childGrants {
		for i := 0; ; i++ {
			req := fmt.Sprintf("end%d-%d", g, i)
			if _, err := a.ask(req, w.killEnvelope(int64(g), begin), payload(req), false); err != nil {
				if code(err) != approvals.CodeNotShown {
					t.Fatal(err)
				}
				break
			}
		}
	}
	for _, g := range w.owner.Clients()[0].Grants {
		if g.Used != 10 || g.State != "spent" {
			t.Errorf("%+v", g)
		}
	}
	if n := w.entries("action.signed"); n != childGrants*11 {
		t.Errorf("%d signatures instead of %d", n, childGrants*11)
	}
	w.verified()
	if len(answers) == 0 {
		t.Error("no answer before any kill: nothing was shown")
	}
	t.Logf("%d rounds, %d killed while opening, %d answers before the last kill, %d entries", rounds, killedEarly, len(answers), already)
}
