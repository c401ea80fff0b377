// Package secretterm is the terminal form of the secret window: it asks for
// passphrases and recovery words on the controlling terminal, without echo, and
// shows the words on a screen that is cleared afterwards.
//
// It runs in a process of its own, which the key process starts and which ends with
// one conversation. It keeps nothing: every buffer is wiped by the time a method
// returns, or by its caller.
package secretterm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"vault/approvals/fourwords"
	"vault/approvals/plain"
	"vault/cmd/internal/secret"
	"vault/cmd/vault/internal/tty"
)

// Prompter asks on one terminal. It implements [secret.Prompter].
type Prompter struct {
	dev tty.Device
}

var _ secret.Prompter = (*Prompter)(nil)

// New gives a prompter on dev.
func New(dev tty.Device) *Prompter { return &Prompter{dev: dev} }

var purposes = map[secret.Purpose]string{
	secret.ForCreate:     "A new vault.",
	secret.ForUnlock:     "Unlock the vault.",
	secret.ForRestore:    "Restore a vault.",
	secret.ForBackupFile: "Restore a vault from a backup file. Its passphrase is the one that was typed when the file was written.",
	secret.ForProtection: "What opens the vault is changed.",
	secret.ForWords:      "The recovery words are to be shown.",
	secret.ForBackup:     "A passphrase for the backup file. It opens that file and nothing else.",
	secret.ForProve:      "You approve what was shown.",
	secret.ForInstance:   "A new instance of this vault is started.",
	secret.ForPasskey:    "The first passkey of this vault is enrolled. Afterwards it, and not the passphrase, confirms what binds you.",
}

var problems = map[secret.Problem]string{
	secret.WrongPassphrase: "That passphrase does not open this vault. Nothing was changed.",
	secret.TooShort:        fmt.Sprintf("At least %d characters are needed.", secret.MinPassphrase),
	secret.TooLong:         fmt.Sprintf("At most %d bytes can be taken.", secret.MaxAnswer),
	secret.OneCharacter:    "One character over and over is too easy to guess.",
	secret.NotText:         "That is not text.",
	secret.BadWords:        "These words do not belong together. Look at your paper and try again.",
	secret.BadRoot:         "No vault would have made that root. Look at your paper and try again.",
}

func (p *Prompter) say(format string, args ...any) error {
	_, err := fmt.Fprintf(p.dev, format, args...)
	return noWindow(err)
}

// noWindow turns a fault of the terminal into what the key process understands.
func noWindow(err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(secret.ErrNoWindow, err)
}

// head says what is asked and what was wrong with the answer before.
func (p *Prompter) head(a secret.Ask) error {
	if a.Problem != secret.NoProblem {
		return p.say("%s\n", problem(a))
	}
	if a.Demo {
		if err := p.say("Demonstration vault. Its keys are thrown away.\n"); err != nil {
			return err
		}
	}
	if a.Vault != "" {
		if err := p.say("Vault: %s\n", plain.TerminalLine(a.Vault)); err != nil {
			return err
		}
	}
	return p.say("%s\n", purposes[a.Purpose])
}

func problem(a secret.Ask) string {
	switch a.Problem {
	case secret.WrongWord:
		return fmt.Sprintf("That is not word %d. Look at your paper and try again.", a.Place)
	case secret.WrongPassphrase:
		if a.Purpose == secret.ForBackupFile {
			return "That passphrase does not open the backup. Nothing was changed."
		}
	case secret.OtherVault:
		return fmt.Sprintf("These words open another vault than the one here, %s. Nothing was changed.", plain.TerminalLine(a.Vault))
	}
	if s, ok := problems[a.Problem]; ok {
		return s
	}
	return "That was not taken. Nothing was changed."
}

// NewPassphrase implements [secret.Prompter].
func (p *Prompter) NewPassphrase(ctx context.Context, a secret.Ask) ([]byte, error) {
	if err := p.head(a); err != nil {
		return nil, err
	}
	for {
		first, err := p.line(ctx, fmt.Sprintf("New passphrase, at least %d characters: ", secret.MinPassphrase), false)
		if err != nil {
			return nil, err
		}
		if wrong := secret.CheckPassphrase(first); wrong != secret.NoProblem {
			clear(first)
			if err := p.say("%s\n", problem(secret.Ask{Problem: wrong})); err != nil {
				return nil, err
			}
			continue
		}
		again, err := p.line(ctx, "The same again: ", false)
		if err != nil {
			clear(first)
			return nil, err
		}
		same := string(again) == string(first) // compared in place; no copy is made
		clear(again)
		if same {
			return first, p.say("One moment.\n")
		}
		clear(first)
		if err := p.say("The two are not the same.\n"); err != nil {
			return nil, err
		}
	}
}

// Passphrase implements [secret.Prompter].
func (p *Prompter) Passphrase(ctx context.Context, a secret.Ask) ([]byte, error) {
	if err := p.head(a); err != nil {
		return nil, err
	}
	if a.Purpose == secret.ForProve {
		words, err := fourwords.Of(a.Digest)
		if err != nil {
			return nil, noWindow(err)
		}
		if err := p.say("Its four words: %s\nThey must be those that you typed.\n", strings.Join(words[:], " ")); err != nil {
			return nil, err
		}
	}
	answer, err := p.line(ctx, "Passphrase: ", false)
	if err != nil {
		return nil, err
	}
	return answer, p.say("One moment.\n")
}

// The other screen of a terminal keeps nothing in its history.
const (
	otherScreen = "\x1b[?1049h\x1b[2J\x1b[H"
	backAgain   = "\x1b[2J\x1b[H\x1b[?1049l"
)

// ShowWords implements [secret.Prompter].
func (p *Prompter) ShowWords(ctx context.Context, a secret.Ask, words [][]byte) error {
	screen := make([]byte, 0, 2048) // never grown: growing would leave a copy
	defer func() { clear(screen[:cap(screen)]) }()
	screen = append(screen, otherScreen...)
	screen = append(screen, "Write down these 24 words. They are your vault. Whoever has them can be you;\n"+
		"without them a lost computer is a lost vault. Nobody else has a copy.\n"+
		"On paper, in this order. A photograph or a file can be copied without your noticing.\n\n"...)
	for i, w := range words {
		if len(screen)+len(w)+16 > cap(screen) {
			return secret.ErrNoWindow
		}
		screen = fmt.Appendf(screen, "%2d. ", i+1)
		screen = append(screen, w...)
		screen = append(screen, '\n')
	}
	if _, err := p.dev.Write(screen); err != nil {
		return noWindow(err)
	}
	answer, err := p.line(ctx, "\nEnter, when they are on paper: ", false)
	clear(answer)
	if serr := p.say(backAgain); err == nil {
		err = serr
	}
	return err
}

// AskWords implements [secret.Prompter].
func (p *Prompter) AskWords(ctx context.Context, a secret.Ask) ([][]byte, error) {
	if a.Problem != secret.NoProblem {
		if err := p.say("%s\n", problem(a)); err != nil {
			return nil, err
		}
	}
	if err := p.say("Type back to see the words again.\n"); err != nil {
		return nil, err
	}
	var out [][]byte
	wipe := func() {
		for _, w := range out {
			clear(w)
		}
	}
	for _, n := range a.Places {
		w, err := p.line(ctx, fmt.Sprintf("Which word is number %d? ", n), false)
		if err == nil && string(w) == "back" {
			clear(w)
			err = secret.ErrBack
		}
		if err != nil {
			wipe()
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// RestoreInput implements [secret.Prompter]. What is typed is seen, on a screen that
// is cleared: 24 words cannot be typed blindly.
func (p *Prompter) RestoreInput(ctx context.Context, a secret.Ask) ([]byte, error) {
	if err := p.say(otherScreen); err != nil {
		return nil, err
	}
	err := p.head(a)
	var answer []byte
	if err == nil {
		answer, err = p.line(ctx, "The 24 recovery words with spaces between them, or 0x and 64 hex digits:\n", true)
	}
	if serr := p.say(backAgain); err == nil {
		err = serr
	}
	if err != nil {
		clear(answer)
		return nil, err
	}
	return answer, p.say("One moment.\n")
}

// Finish implements [secret.Prompter]. It says nothing: the desk, which sits on the
// same terminal, says what came of it, and two would write at once.
func (p *Prompter) Finish(context.Context, string) {}

// line reads one line, of at most secret.MaxAnswer bytes, that is typed after the
// prompt. Ctrl-C, and Ctrl-D on an empty line, are ErrCancelled; so is the end of
// ctx. The caller wipes the line.
func (p *Prompter) line(ctx context.Context, prompt string, echo bool) ([]byte, error) {
	restore, err := p.dev.Raw()
	if err != nil {
		return nil, noWindow(err)
	}
	defer func() { _ = restore() }()
	if err := errors.Join(p.dev.Flush(), p.dev.SetReadDeadline(time.Time{})); err != nil {
		return nil, noWindow(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = p.dev.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := p.say("%s", strings.ReplaceAll(prompt, "\n", "\r\n")); err != nil {
		return nil, err
	}
	l := editor{line: make([]byte, 0, secret.MaxAnswer)}
	var chunk [64]byte
	defer clear(chunk[:])
	for {
		n, err := p.dev.Read(chunk[:])
		for _, b := range chunk[:n] {
			shown, end := l.key(b)
			if echo && len(shown) > 0 {
				_, _ = p.dev.Write(shown)
			}
			switch end {
			case ended:
				return l.line, p.say("\r\n")
			case cancelled:
				clear(l.line[:cap(l.line)])
				return nil, errors.Join(secret.ErrCancelled, p.say("\r\n"))
			}
		}
		if err != nil {
			clear(l.line[:cap(l.line)])
			if ctx.Err() != nil || errors.Is(err, io.EOF) {
				return nil, secret.ErrCancelled
			}
			return nil, noWindow(err)
		}
	}
}

type end uint8

const (
	goesOn end = iota
	ended
	cancelled
)

// editor is a line that is typed, with the few keys that change it.
type editor struct {
	line   []byte
	escape bool // within an escape sequence, which is dropped
}

// key takes one byte and says what a screen with echo would show for it.
func (l *editor) key(b byte) (shown []byte, e end) {
	if l.escape {
		// A sequence ends with a letter or a tilde; the bracket only begins it.
		l.escape = !(b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b == '~')
		return nil, goesOn
	}
	switch {
	case b == '\r' || b == '\n':
		return nil, ended
	case b == 3, b == 4 && len(l.line) == 0:
		return nil, cancelled
	case b == 27:
		l.escape = true
	case b == 8 || b == 127:
		if len(l.line) == 0 {
			return nil, goesOn
		}
		_, n := utf8.DecodeLastRune(l.line)
		clear(l.line[len(l.line)-n:])
		l.line = l.line[:len(l.line)-n]
		return []byte("\b \b"), goesOn
	case b == 21: // Ctrl-U
		n := utf8.RuneCount(l.line)
		clear(l.line)
		l.line = l.line[:0]
		return []byte(strings.Repeat("\b \b", n)), goesOn
	case b < 32:
	case len(l.line) == cap(l.line):
		return []byte{7}, goesOn
	default:
		l.line = append(l.line, b)
		return l.line[len(l.line)-1:], goesOn
	}
	return nil, goesOn
}
