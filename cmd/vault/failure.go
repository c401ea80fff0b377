package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"vault/approvals"
	"vault/approvals/bounds"
	"vault/approvals/folder"
	"vault/approvals/keys"
	"vault/approvals/plain"
	"vault/approvals/store"
	"vault/approvals/unconfirmed"
	"vault/cmd/internal/hygiene"
	"vault/cmd/vault/internal/elsewhere"
	"vault/cmd/vault/internal/offline"
	"vault/cmd/vault/internal/sentence"
	"vault/cmd/vault/internal/terminal"
	"vault/cmd/vault/internal/tty"
	"vault/ipc/client"
	"vault/ipc/socket"
)

// The exit statuses.
const (
	statusDone    = 0
	statusNotDone = 1
	statusUsage   = 2
)

// failure is an error with a stable code. Its detail may quote text from outside;
// it is checked when it is printed.
type failure struct {
	code   string
	detail string
	status int
	err    error
}

func (f *failure) Error() string {
	if f.err != nil {
		return f.code + ": " + f.err.Error()
	}
	return f.code + ": " + f.detail
}

func (f *failure) Unwrap() error { return f.err }

// verdict ends a command with a status after it has said everything itself.
type verdict int

func (v verdict) Error() string { return fmt.Sprintf("exit status %d", int(v)) }

func usageError(detail string) error {
	return &failure{code: "usage", detail: detail, status: statusUsage}
}

// fail is a failure with a cause, which may be nil and is not printed.
func fail(code string, err error) error {
	return &failure{code: code, status: statusNotDone, err: err}
}

// printf prints whole lines: on a terminal in rows of their own, so that no text from outside
// gets to the margin.
func (p *program) printf(format string, args ...any) error {
	w := p.rows()
	_, err := fmt.Fprintf(w, format, args...)
	return errors.Join(err, w.Close())
}

// rows is standard output for texts that quote what came from outside. Close it in the end;
// standard output stays open.
func (p *program) rows() io.WriteCloser {
	if p.columns == 0 {
		return unclosed{p.out}
	}
	return terminal.NewRows(p.out, p.columns)
}

// unclosed is a writer that Close does nothing to.
type unclosed struct{ io.Writer }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }

// report prints what an error means, in one place, and gives the exit status.
func (p *program) report(err error) int {
	if err == nil {
		return statusDone
	}
	var v verdict
	if errors.As(err, &v) {
		return int(v)
	}
	status := statusNotDone
	var f *failure
	if errors.As(err, &f) {
		status = f.status
	}
	if errors.Is(err, offline.ErrUsage) {
		status = statusUsage
	}
	_, _ = fmt.Fprintln(p.errOut, "vault: "+explain(err)) // there is nobody else to tell
	return status
}

// explain is one sentence, its remedy and the stable code of an error, as checked
// text on one line. What is not known gets a sentence of ours and the error's text.
func explain(err error) string {
	code, message, remedy, detail := meaning(err)
	if message == "" {
		var ok bool
		if message, remedy, ok = sentence.Of(code); !ok {
			if message, remedy, ok = unconfirmed.Of(code); ok {
				message = sentenceOf(message)
			} else {
				message, remedy, _ = sentence.Of("internal")
			}
		}
	}
	text := plain.TerminalLine(message)
	if detail != "" {
		text += " " + plain.TerminalLine(detail) + "."
	}
	if remedy != "" {
		text += " " + plain.TerminalLine(remedy)
	}
	return text + " (" + plain.TerminalLine(code) + ")"
}

// meaning finds the stable code of an error, its own sentence and remedy if it
// brings them, and a detail that may quote outside text.
func meaning(err error) (code, message, remedy, detail string) {
	var (
		f *failure
		r *approvals.Refusal
		k *keys.Error
		c *client.Error
		s *socket.Error
	)
	switch {
	case errors.As(err, &f):
		if f.err != nil && f.detail == "" && f.code == "internal" {
			return f.code, "", "", f.err.Error()
		}
		return f.code, "", "", f.detail
	case errors.As(err, &r):
		// The desk's own words are for agents; the owner has others where they differ.
		if r.Code == approvals.CodeMalformed {
			return r.Code, "", "", detailOf(r.Data)
		}
		if _, _, ok := sentence.Of(r.Code); ok {
			return r.Code, "", "", ""
		}
		if what, more, ok := bounds.Refused(r.Code); ok {
			return r.Code, what + ".", more, ""
		}
		return r.Code, r.Message, r.Remedy, ""
	case errors.As(err, &k):
		if _, _, ok := sentence.Of(k.Code); ok {
			return k.Code, "", "", ""
		}
		return k.Code, "", "", k.Detail
	case errors.As(err, &c):
		return c.Code, c.Message, c.Remedy, string(c.Detail)
	case errors.As(err, &s):
		if s.Code == socket.CodeFailed { // its detail is what was tried
			return string(s.Code), "The system does not let this program " + s.Detail + ".", s.Remedy(), withSystem(s.Path, s.Err)
		}
		return string(s.Code), sentenceOf(s.Detail), s.Remedy(), s.Path
	case errors.Is(err, client.ErrLost), errors.Is(err, elsewhere.ErrEnded):
		return "connection_lost", "", "", ""
	case errors.Is(err, client.ErrNotPaired):
		return "not_paired", "This program is not paired with the vault.", "Run vault agent pair.", ""
	case errors.Is(err, client.ErrOtherVault), errors.Is(err, client.ErrVaultProof):
		return "not_a_socket_of_ours", "", "", ""
	case errors.Is(err, folder.ErrInUse):
		return "in_use", "", "", ""
	case errors.Is(err, folder.ErrNetwork):
		return "folder_network", "", "", ""
	case errors.Is(err, folder.ErrUnsafe):
		return "folder_unsafe", "", "", ""
	case errors.Is(err, store.ErrDamaged):
		return "store_damaged", "", "", ""
	case errors.Is(err, hygiene.ErrTraced):
		return "traced", "", "", ""
	case errors.Is(err, tty.ErrNoTerminal):
		return "no_terminal", "", "", ""
	case errors.Is(err, terminal.ErrClosed), errors.Is(err, context.Canceled):
		return "cancelled", "", "", ""
	case errors.Is(err, offline.ErrUsage):
		return "usage", "", "", strings.TrimSuffix(sentenceOf(strings.TrimPrefix(err.Error(), offline.ErrUsage.Error()+": ")), ".")
	default:
		return "internal", "", "", err.Error()
	}
}

// withSystem is a path with what the system said of it, as far as that is one of its own errors.
func withSystem(path string, err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		return path + ": " + no.Error()
	}
	return path
}

// detailOf is the text that a refusal carries, or the empty string.
func detailOf(data json.RawMessage) string {
	var d struct {
		Detail string `json:"detail"`
	}
	_ = json.Unmarshal(data, &d) // a refusal without a detail has another form, or none
	return d.Detail
}

// sentenceOf makes a sentence of an error's lower-case detail.
func sentenceOf(detail string) string {
	if detail == "" {
		return ""
	}
	out := []byte(detail)
	if out[0] >= 'a' && out[0] <= 'z' {
		out[0] -= 'a' - 'A'
	}
	if out[len(out)-1] != '.' {
		out = append(out, '.')
	}
	return string(out)
}
