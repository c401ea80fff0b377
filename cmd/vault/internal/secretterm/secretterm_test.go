package secretterm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cosmos/go-bip39"

	"vault/cmd/internal/secret"
)

// device types each text when the prompt before it is on the screen.
type device struct {
	t     *testing.T
	out   bytes.Buffer
	seen  int
	steps [][2]string // what must be on the screen, what is then typed
	queue []byte
	raw   bool
}

func (d *device) Write(p []byte) (int, error) { return d.out.Write(p) }
func (d *device) Read(p []byte) (int, error) {
	if !d.raw {
		d.t.Error("a secret is read with echo by the kernel")
	}
	if len(d.queue) == 0 {
		if len(d.steps) == 0 {
			return 0, io.EOF
		}
		at := strings.Index(d.out.String()[d.seen:], d.steps[0][0])
		if at < 0 {
			d.t.Errorf("the screen never showed %q; it showed %q", d.steps[0][0], d.out.String()[d.seen:])
			return 0, io.EOF
		}
		d.seen += at + len(d.steps[0][0])
		d.queue = []byte(d.steps[0][1])
		d.steps = d.steps[1:]
	}
	n := copy(p, d.queue)
	d.queue = d.queue[n:]
	return n, nil
}
func (d *device) Raw() (func() error, error) {
	d.raw = true
	return func() error { d.raw = false; return nil }, nil
}
func (d *device) Flush() error                    { d.queue = nil; return nil }
func (d *device) Size() (int, int, error)         { return 80, 24, nil }
func (d *device) SetReadDeadline(time.Time) error { return nil }

const good = "correct horse battery"

func TestNewPassphrase(t *testing.T) {
	d := &device{t: t, steps: [][2]string{
		{"New passphrase", "short\r"},
		{"At least 12", good + "\r"},
		{"The same again", "correct horse batterz\r"},
		{"not the same", good + "x\x7f\r"},
		{"The same again", "wrong\x15" + good + "\r"},
	}}
	got, err := New(d).NewPassphrase(t.Context(), secret.Ask{Form: secret.FormNewPassphrase, Purpose: secret.ForCreate})
	if err != nil || string(got) != good {
		t.Errorf("%q, %v", got, err)
	}
	if strings.Contains(d.out.String(), "horse") {
		t.Error("the passphrase was echoed")
	}
	if d.raw {
		t.Error("the terminal was left in raw mode")
	}
}

func TestPassphraseForAnApprovalShowsTheWords(t *testing.T) {
	d := &device{t: t, steps: [][2]string{{"abandon abandon abandon abandon", good + "\r"}}}
	got, err := New(d).Passphrase(t.Context(), secret.Ask{Purpose: secret.ForProve, Digest: "0x" + strings.Repeat("0", 64)})
	if err != nil || string(got) != good {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := New(d).Passphrase(t.Context(), secret.Ask{Purpose: secret.ForProve, Digest: "0x"}); !errors.Is(err, secret.ErrNoWindow) {
		t.Errorf("without a digest: %v", err)
	}
}

func TestCancelling(t *testing.T) {
	for name, typed := range map[string]string{"control-c": "abc\x03", "control-d": "\x04", "hang-up": ""} {
		d := &device{t: t, steps: [][2]string{{"Passphrase: ", typed}}}
		if typed == "" {
			d.steps = nil
		}
		if got, err := New(d).Passphrase(t.Context(), secret.Ask{Purpose: secret.ForUnlock}); !errors.Is(err, secret.ErrCancelled) || got != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestWordsAreShownOnAScreenThatIsCleared(t *testing.T) {
	d := &device{t: t, steps: [][2]string{{"on paper: ", "\r"}}}
	words := make([][]byte, 24)
	for i := range words {
		words[i] = []byte(bip39.WordList[i*7])
	}
	if err := New(d).ShowWords(t.Context(), secret.Ask{Form: secret.FormShowWords}, words); err != nil {
		t.Fatal(err)
	}
	out := d.out.String()
	last := -1
	for i, w := range words {
		at := strings.Index(out, string(w)+"\n")
		if at < last {
			t.Errorf("word %d stands before the one before it", i+1)
		}
		last = at
	}
	if !strings.HasPrefix(out, otherScreen) || !strings.HasSuffix(out, backAgain) {
		t.Error("the words stay in the terminal's history")
	}
}

func TestAskWords(t *testing.T) {
	d := &device{t: t, steps: [][2]string{{"number 3", "zebra\r"}, {"number 11", "acid\r"}}}
	got, err := New(d).AskWords(t.Context(), secret.Ask{Places: []int{3, 11}, Problem: secret.WrongWord, Place: 3})
	if err != nil || len(got) != 2 || string(got[0]) != "zebra" || string(got[1]) != "acid" {
		t.Errorf("%q, %v", got, err)
	}
	if !strings.Contains(d.out.String(), "That is not word 3.") || strings.Contains(d.out.String(), "zebra") {
		t.Errorf("screen %q", d.out.String())
	}
	d = &device{t: t, steps: [][2]string{{"number 3", "back\r"}}}
	if _, err := New(d).AskWords(t.Context(), secret.Ask{Places: []int{3}}); !errors.Is(err, secret.ErrBack) {
		t.Errorf("back: %v", err)
	}
	for _, w := range bip39.WordList {
		if w == "back" {
			t.Error("back is a recovery word")
		}
	}
}

func TestRestoreIsSeenAndCleared(t *testing.T) {
	d := &device{t: t, steps: [][2]string{{"hex digits:", "0x12\x7f3\x1b[A4\r"}}}
	got, err := New(d).RestoreInput(t.Context(), secret.Ask{Purpose: secret.ForRestore})
	if err != nil || string(got) != "0x134" {
		t.Errorf("%q, %v", got, err)
	}
	out := d.out.String()
	if !strings.Contains(out, "0x12\b \b34") || strings.LastIndex(out, "0x1") > strings.LastIndex(out, backAgain) {
		t.Errorf("screen %q", out)
	}
}

// The whole conversation, over the line that the key process uses.
func TestOverTheLine(t *testing.T) {
	keys, helper := net.Pipe()
	d := &device{t: t, steps: [][2]string{{"Passphrase: ", "wrong one, really\r"}, {"does not open this vault", good + "\r"}}}
	served := make(chan error, 1)
	go func() { served <- secret.Serve(helper, New(d)) }()
	w := secret.NewWindow(keys)
	answer := make([]byte, secret.MaxAnswer)
	for i, a := range []secret.Ask{{Form: secret.FormPassphrase, Purpose: secret.ForUnlock},
		{Form: secret.FormPassphrase, Purpose: secret.ForUnlock, Problem: secret.WrongPassphrase}} {
		n, err := w.Ask(context.Background(), a, nil, answer)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"wrong one, really", good}[i]; string(answer[:n]) != want {
			t.Errorf("answer %q, want %q", answer[:n], want)
		}
	}
	w.Finish("keyring_locked")
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	if strings.Contains(d.out.String(), "keyring") {
		t.Errorf("the helper speaks where the desk does: %q", d.out.String())
	}
}

func FuzzEditor(f *testing.F) {
	f.Add([]byte("abc\x7f\x7fü\x08\x15xyz\r"))
	f.Add([]byte("\x1b[200~paste\x1b[201~\r"))
	f.Fuzz(func(t *testing.T, keys []byte) {
		l := editor{line: make([]byte, 0, 16)}
		for _, k := range keys {
			if _, e := l.key(k); e != goesOn {
				break
			}
			if len(l.line) > 16 || cap(l.line) != 16 {
				t.Fatalf("the line was grown to %d", cap(l.line))
			}
			for _, rest := range l.line[len(l.line):cap(l.line)] {
				if rest != 0 {
					t.Fatal("what was deleted is still in the buffer")
				}
			}
		}
		for _, b := range l.line {
			if b < 32 || b == 127 {
				t.Fatalf("a control byte %d in the line", b)
			}
		}
	})
}
