package terminal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"vault/approvals"
	"vault/approvals/plain"
)

// readRegular reads a regular file of at most most bytes; of a longer one, one byte more. The error is an [*approvals.Refusal].
func readRegular(name string, most int64) ([]byte, error) {
	unreadable := &approvals.Refusal{Code: "file_unreadable", Message: fmt.Sprintf("The file %s cannot be read.", plain.TerminalLine(name)), Remedy: "Give a regular file that you may read."}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, unreadable
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, unreadable
	}
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if errors.Join(err, f.Close()) != nil {
		return nil, unreadable
	}
	return raw, nil
}

// writeNew writes a file that must not exist yet. The error is an [*approvals.Refusal].
func writeNew(name string, content []byte) error {
	unwritable := &approvals.Refusal{Code: "file_unwritable", Message: fmt.Sprintf("The file %s cannot be written.", plain.TerminalLine(name)), Remedy: "Name a new file in a folder that you may write."}
	file, err := filepath.Abs(name)
	if err != nil {
		return unwritable
	}
	w, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return &approvals.Refusal{Code: "file_exists", Message: fmt.Sprintf("The file %s exists. Nothing was written.", plain.TerminalLine(name)), Remedy: "Name a new file."}
	case err != nil:
		return unwritable
	}
	_, err = w.Write(content)
	if errors.Join(err, w.Close()) != nil {
		return unwritable
	}
	return nil
}
