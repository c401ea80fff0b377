package main

import (
	"errors"
	"os"
	"strings"
)

// keeper writes an answer to where it was asked to be kept.
type keeper func(answer []byte) error

// keeping has an answer fetched and kept in a new file, or on standard output where none is named. The file is
// there before anything is asked or spent for an answer that could not be kept; without an answer it is gone again. An answer that
// could not be written all the same is printed: what was spent is told.
func (p *program) keeping(name string, fetch func(keeper) error) error {
	if name == "" {
		return fetch(func(answer []byte) error { _, err := p.out.Write(answer); return err })
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return unwritten(name, err)
	}
	err = fetch(func(answer []byte) error {
		_, err := f.Write(answer)
		if err = errors.Join(err, f.Close()); err != nil {
			_, _ = p.out.Write(answer)
			return &failure{code: "file_unwritable", detail: name, status: statusNotDone, err: err}
		}
		return nil
	})
	if err != nil {
		_ = f.Close()
		_ = os.Remove(name)
	}
	return err
}

// misfit is the failure of a file that does not hold what it was given for.
func misfit(name string, err error) error {
	return &failure{code: "document_malformed", detail: name + ": " + err.Error(), status: statusUsage, err: err}
}

// maxID is how many characters a request's or session's id may have (docs/protocol.md).
const maxID = 128

// askIDs checks the ids that a program chooses for what it asks; an empty one is none.
func askIDs(request, session string) error {
	outside := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	for _, id := range [][2]string{{"--request", request}, {"--session", session}} {
		if len(id[1]) > maxID || strings.ContainsFunc(id[1], outside) {
			return usageError(id[0] + " takes at most 128 printable ASCII characters without a space")
		}
	}
	return nil
}
