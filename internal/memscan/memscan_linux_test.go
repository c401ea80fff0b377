package memscan

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain is also the process that is scanned: it reads patterns in hex, one a
// line, keeps them, says READY, and on the next line from its parent forgets them.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "role-holder" {
		in := bufio.NewReader(os.Stdin)
		var kept [][]byte
		for {
			line, _ := in.ReadString('\n')
			if line == "\n" || line == "" {
				break
			}
			b, _ := hex.DecodeString(strings.TrimSpace(line))
			kept = append(kept, b)
		}
		fmt.Println("READY")
		_, _ = in.ReadString('\n')
		for _, b := range kept {
			clear(b)
		}
		fmt.Println("WIPED")
		_, _ = io.Copy(io.Discard, in)
		os.Exit(len(kept) % 2)
	}
	os.Exit(m.Run())
}

func TestFindsAndMisses(t *testing.T) {
	secret := make([]byte, 32)
	rand.Read(secret)
	set := Secret("root", secret)
	cmd := exec.Command(os.Args[0], "role-holder")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	lines := bufio.NewScanner(out)
	for _, p := range set {
		// Each is stored a byte away from what is sent, so that the text of the pipe is no copy.
		fmt.Fprintf(in, "%x\n", p.Bytes)
	}
	fmt.Fprintln(in)
	lines.Scan()
	found, err := Process(cmd.Process.Pid, set)
	if err != nil {
		t.Skipf("this user may not read the memory of a child: %v", err)
	}
	for _, p := range set {
		if found.Counts[p.Name] == 0 {
			t.Errorf("%s is there and was not found", p.Name)
		}
	}
	other := make([]byte, 32)
	rand.Read(other)
	absent, err := Process(cmd.Process.Pid, Secret("other", other))
	if err != nil || absent.Total() != 0 {
		t.Errorf("a secret that is not there was found: %v %v", absent.Counts, err)
	}
	fmt.Fprintln(in)
	lines.Scan()
	wiped, err := Process(cmd.Process.Pid, set[:1])
	if err != nil || lines.Text() != "WIPED" || wiped.Total() >= found.Counts[set[0].Name] {
		t.Errorf("%q, before %d, after wiping %d, %v", lines.Text(), found.Counts[set[0].Name], wiped.Total(), err)
	}
}

func TestWordsPatterns(t *testing.T) {
	set := Words("w", strings.Fields("a b c d e f g"))
	if len(set) != 6 {
		t.Fatalf("%d patterns", len(set))
	}
	for _, want := range []string{"a b c d e f", "b\nc\nd\ne\nf\ng", `a","b","c","d","e","f`} {
		ok := false
		for _, p := range set {
			ok = ok || string(p.Bytes) == want
		}
		if !ok {
			t.Errorf("no %q", want)
		}
	}
}

func TestCountAcrossChunks(t *testing.T) {
	got := map[string]int{}
	set := []Pattern{{"p", []byte("abab")}}
	b := bytes.Repeat([]byte("ab"), 5)
	count(b, len(b), set, got)
	count(b, 4, set, got)
	if got["p"] != 4+2 {
		t.Errorf("counted %d", got["p"])
	}
}
