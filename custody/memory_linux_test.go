package custody

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"
	"vault/internal/memscan"
)

// roleHolder opens and locks a vault as often as it is told to. The passphrase
// comes on descriptor 3 each time. Commands: "open", "show" (keep careless copies
// of everything, so that a scan has something to find), "lock".
func roleHolder(args []string) int {
	in := bufio.NewScanner(os.Stdin)
	passphrases := os.NewFile(3, "passphrases")
	cfg := Config{Dir: args[0], Rand: rand.Reader, Now: time.Now, KDF: HelperKDF{testRunner{}}}
	var v *Vault
	var careless [][]byte
	for in.Scan() {
		switch in.Text() {
		case "open":
			pass, err := NewSecret(len(goodPass))
			if err != nil {
				return 1
			}
			if _, err := pass.Fill(passphrases); err != nil {
				return 1
			}
			if v, err = Open(context.Background(), cfg, pass); err != nil {
				fmt.Println(err)
				return 1
			}
			// What a day's work does with a root.
			for range 50 {
				err = v.WithRoot(func(root []byte) error {
					key, err := hkdf.Key(sha256.New, root, nil, "some seed", 32)
					clear(key)
					return err
				})
				if err != nil {
					return 1
				}
			}
			var words *Secret
			if err := v.WithRoot(func(root []byte) error { words, err = Words(root); return err }); err != nil {
				return 1
			}
			back, err := ParseWords(words.Bytes())
			if err != nil {
				return 1
			}
			back.Destroy()
			words.Destroy()
			if err := v.Update(context.Background(), func(s *State) { s.Log.Seq++ }); err != nil {
				return 1
			}
			if args[1] == "careless" {
				careless = append(careless, bytes.Clone(pass.Bytes()), bytes.Clone(v.root.Bytes()), bytes.Clone(v.pass.Bytes()))
				words, err := Words(v.root.Bytes())
				if err != nil {
					return 1
				}
				careless = append(careless, bytes.Clone(words.Bytes()), hex.AppendEncode(nil, v.root.Bytes()))
				words.Destroy()
			}
			pass.Destroy()
			fmt.Println("OPEN")
		case "lock":
			v.Lock()
			fmt.Println("LOCKED")
		}
	}
	return len(careless) % 2
}

// TestNothingIsLeftInMemory scans a process from outside, unlocked and locked.
func TestNothingIsLeftInMemory(t *testing.T) {
	b := newBench(t)
	b.cfg.KDF = HelperKDF{testRunner{}}
	// Not a constant: those of the program lie in its memory too.
	random := make([]byte, len(goodPass))
	rand.Read(random)
	passphrase := hex.EncodeToString(random)[:len(goodPass)]
	v, err := Create(t.Context(), b.cfg, Request{Protection: PassphraseOnly, Passphrase: secretOf(t, passphrase)})
	must(t, err)
	root := rootOf(t, v)
	v.Lock()
	f, err := parseSealed(b.file(t))
	must(t, err)
	kdf := argon2.IDKey([]byte(passphrase), f.salt[:], f.Params.Time, f.Params.MemoryKiB, f.Params.Threads, 32)
	seal, err := hkdf.Key(sha256.New, kdf, f.salt[:], "agent-vault sealed file v1", 32)
	must(t, err)
	seed, err := hkdf.Key(sha256.New, root, nil, "some seed", 32)
	must(t, err)
	words, err := Words(root)
	must(t, err)
	defer words.Destroy()
	set := memscan.Secret("root", root)
	set = append(set, memscan.Secret("passphrase result", kdf)...)
	set = append(set, memscan.Secret("sealing key", seal)...)
	set = append(set, memscan.Secret("seed", seed)...)
	set = append(set, memscan.Words("words", strings.Fields(string(words.Bytes())))...)
	set = append(set, memscan.Pattern{Name: "passphrase", Bytes: []byte(passphrase)})

	rounds := 3
	if os.Getenv("VAULT_TEST_LONG") == "1" {
		rounds = 50
	}
	run := func(t *testing.T, mode string, rounds int, look func(state string, r memscan.Result)) {
		r, w, err := os.Pipe()
		must(t, err)
		defer r.Close()
		defer w.Close()
		cmd := exec.Command(os.Args[0], "holder", b.cfg.Dir, mode)
		cmd.ExtraFiles = []*os.File{r}
		in, err := cmd.StdinPipe()
		must(t, err)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		defer func() { in.Close(); _ = cmd.Wait() }()
		lines := bufio.NewScanner(out)
		for range rounds {
			_, err = w.WriteString(passphrase)
			must(t, err)
			for _, step := range [][2]string{{"open", "OPEN"}, {"lock", "LOCKED"}} {
				fmt.Fprintln(in, step[0])
				if !lines.Scan() || lines.Text() != step[1] {
					t.Fatalf("%s: %q", step[0], lines.Text())
				}
				got, err := memscan.Process(cmd.Process.Pid, set)
				if err != nil {
					t.Skipf("this user may not read the memory of a child: %v", err)
				}
				look(step[0], got)
			}
		}
	}
	// A process that keeps copies is caught, so that an absence means something.
	t.Run("control", func(t *testing.T) {
		run(t, "careless", 1, func(state string, r memscan.Result) {
			for _, name := range []string{"passphrase", "root raw", "root hex", "passphrase result raw", "words 1-6, spaces", "words 19-24, spaces"} {
				if r.Counts[name] == 0 {
					t.Errorf("%s: %s is there and was not found", state, name)
				}
			}
		})
	})
	if !Erasing {
		return // the end of the process erases; the build that is shipped is tested as well
	}
	t.Run("careful", func(t *testing.T) {
		run(t, "careful", rounds, func(state string, r memscan.Result) {
			if state == "lock" && r.Total() != 0 {
				t.Errorf("left after locking: %v", r.Counts)
			}
		})
	})
}
