//go:build linux

package approvals_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"vault/approvals"
)

// The desk as a program of its own that is killed while its owner decides on a moment. It is this
// test binary, started with momentFolder.
const momentFolder = "VAULT_TEST_DESK_MOMENT"

// runMoment opens the vault, decides on the moment that is next, and says so.
func runMoment(dir string) {
	w := &world{t: &testing.T{}, dir: dir, clock: newTestClock()}
	w.keys = newLauncher(dir, w.clock)
	d, err := approvals.New(context.Background(), approvals.Options{Folder: dir, Launcher: w.keys, Clock: w.clock, Await: time.Second})
	if err != nil {
		panic(err)
	}
	owner := d.Owner()
	if err := owner.Unlock(context.Background(), "terminal"); err != nil {
		panic(err)
	}
	s, err := owner.Open(context.Background(), owner.Inbox()[0].ID)
	if err != nil {
		panic(err)
	}
	fmt.Println("deciding")
	out, err := owner.Decide(context.Background(), approvals.Decision{ID: s.ID, Digest: s.Digest, Verdict: approvals.VerdictOption, Option: 1})
	fmt.Println("decided", out.Code, err)
	select {} // until it is killed
}

// TestMomentDeskKilled kills the desk at any time around a decision: what was decided is what the same session
// gets afterwards, and nothing else can be decided any more.
func TestMomentDeskKilled(t *testing.T) {
	rounds := 6
	if long() {
		rounds = 60
	}
	w, a := momentWorld(t)
	kept, lost := 0, 0
	for round := range rounds {
		text := momentText(t, fmt.Sprint("Ship ", round, "?"), "", "")
		id := a.laid("s1", text, nil)
		w.stop()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), momentFolder+"="+w.dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		decided := false
		for lines := bufio.NewScanner(out); lines.Scan(); {
			switch {
			case lines.Text() == "deciding":
				kill.Reset(time.Duration(rand.IntN(4000)) * time.Microsecond)
			case strings.HasPrefix(lines.Text(), "decided done"):
				decided = true
			}
		}
		kill.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		w.clock.wall.Store(time.Now().UnixMilli())
		w.start()
		w.unlock()
		a.connect()
		ans, err := a.await("s1", id)
		if err != nil || decided && ans.Result == nil {
			t.Fatalf("decided %v: %+v, %v", decided, ans, err)
		}
		want := `"option_idx":1`
		if ans.Result == nil {
			lost++
			want = `"option_idx":0`
			if out := w.resolve(w.openFirst(), option(0)); out.Code != approvals.OutcomeDone {
				t.Fatalf("%+v", out)
			}
		} else {
			kept++
			for _, row := range w.owner.Inbox() {
				if row.ID == id {
					t.Fatalf("it is before the owner again: %+v", row)
				}
			}
		}
		for range 2 {
			if ans, err := a.await("s1", id); err != nil || !strings.Contains(string(ans.Result), want) {
				t.Fatalf("%s, %v", ans.Result, err)
			}
		}
		if n := w.entries("moment.resolved"); n != round+1 {
			t.Fatalf("%d resolutions in round %d", n, round)
		}
	}
	w.verified()
	t.Logf("%d kept, %d lost", kept, lost)
}
