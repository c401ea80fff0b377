//go:build linux

package approvals_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/handshake"
	"vault/approvals/sow"
)

// formFolder has this test binary form agreements under a pre-authorisation until it is killed.
const formFolder = "VAULT_TEST_FORM_FOLDER"

func runForming(dir string) {
	w := &world{t: &testing.T{}, dir: dir, clock: newTestClock(), await: 20 * time.Millisecond}
	w.keys = newLauncher(dir, w.clock)
	d, err := approvals.New(context.Background(), approvals.Options{Folder: dir, Launcher: w.keys, Clock: w.clock, Await: 10 * time.Millisecond})
	if err != nil {
		panic(err)
	}
	w.desk, w.owner, w.agents = d, d.Owner(), d.Agents()
	if err := w.owner.Unlock(context.Background(), "terminal"); err != nil {
		panic(err)
	}
	id, secret, _ := strings.Cut(os.Getenv(childClient), " ")
	raw, err := hex.DecodeString(secret)
	if err != nil {
		panic(err)
	}
	a := &agent{w: w, id: id, secret: handshake.Secret(raw)}
	if a.conn, err = a.dial(nil); err != nil {
		panic(err)
	}
	document, err := os.ReadFile(filepath.Join(dir, "..", "offer.json"))
	if err != nil {
		panic(err)
	}
	var round, begin int64
	if _, err := fmt.Sscan(os.Getenv(childRound), &round, &begin); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	var mu sync.Mutex
	var wg sync.WaitGroup
	for worker := range int64(4) {
		wg.Go(func() {
			for i := range int64(100) {
				n := (round*4+worker)*100 + i
				got, err := a.conn.SoWSubmit(context.Background(), approvals.SoWAsk{RequestID: fmt.Sprint("k", n), Document: document, Move: "form", Fill: &sow.Fill{
					Client: sow.Seat{Agent: ourAgent, Owner: "Assay House"}, StartsAt: begin + n*1000, Assertions: []string{"holds-brand-licence"},
				}})
				if code(err) == approvals.CodeTooMany {
					w.clock.pass(time.Second)
					continue
				}
				if err != nil {
					panic(err)
				}
				if strings.Contains(string(got.Result), `"outcome":"signed"`) {
					mu.Lock()
					fmt.Println(fmt.Sprint("k", n), "signed")
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
}

// TestFormationsUnderKills kills the desk again and again while agents form agreements under a pre-authorisation: whatever was
// answered is there, and it signs exactly as often as it may.
func TestFormationsUnderKills(t *testing.T) {
	const times = 100
	w := owned(t)
	a := w.pair("Buyer")
	offer, id := w.allowed(a.id, times)
	if err := os.WriteFile(filepath.Join(w.dir, "..", "offer.json"), offer.Raw(), 0o600); err != nil {
		t.Fatal(err)
	}
	begin := w.clock.Now()
	w.stop()
	answered := map[string]bool{}
	rounds := 8
	if long() {
		rounds = 40
	}
	for round := range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), formFolder+"="+w.dir, childClient+"="+a.id+" "+hex.EncodeToString(a.secret[:]), fmt.Sprintf("%s=%d %d", childRound, round, begin))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		after, seen := 1+rand.IntN(5), 0
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			request, ok := strings.CutSuffix(lines.Text(), " signed")
			if !ok {
				continue
			}
			if answered[request] {
				t.Errorf("%s was answered twice", request)
			}
			answered[request] = true
			if seen++; seen == after {
				kill.Reset(time.Duration(rand.IntN(3000)) * time.Microsecond)
			}
		}
		kill.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	w.clock.wall.Store(time.Now().UnixMilli())
	w.start()
	w.unlock()
	a.w = w
	a.connect()
	for request := range answered {
		got, err := a.conn.SoWAwait(context.Background(), request)
		if err != nil || resultOf(t, got).Outcome != "signed" {
			t.Errorf("%s was answered, and the store says %s, %v", request, got.Result, err)
		}
	}
	left := w.engagement(id).Preauthorisations[0]
	if int(left.Used) < len(answered) || left.Used > times {
		t.Fatalf("%d answered, %d used of %d", len(answered), left.Used, times)
	}
	// What is left is signed, and no more.
	for i := range int64(2 * times) {
		ask := formAsk(fmt.Sprint("end", i), offer, begin+(1_000_000+i)*1000)
		_, err := a.conn.SoWSubmit(context.Background(), ask)
		if err != nil && code(err) != approvals.CodeTooMany {
			t.Fatal(err)
		}
		w.clock.pass(2 * time.Second)
	}
	if p := w.engagement(id).Preauthorisations[0]; p.Used != times || p.State != "spent" {
		t.Errorf("%+v", p)
	}
	if n := w.entries("sow.signed"); n != times {
		t.Errorf("%d signatures of %d", n, times)
	}
	if len(answered) == 0 {
		t.Error("no answer before any kill: nothing was shown")
	}
	w.verified()
	t.Logf("%d rounds, %d answers before the last kill, %d used then", rounds, len(answered), left.Used)
}
