package terminal

import (
	"bytes"
	"io"
)

// Rows writes lines of checked text to a terminal in rows of its own, as the console does: what
// goes on begins with a bar, and no text from outside stands at the margin.
type Rows struct {
	w    io.Writer
	cols int
	line []byte // begun and not ended
}

// NewRows gives a writer of rows for a terminal that is cols columns wide. Close it in the end.
func NewRows(w io.Writer, cols int) *Rows { return &Rows{w: w, cols: max(cols, leastColumns) - 1} }

// Write implements io.Writer. It keeps a line that has not ended.
func (r *Rows) Write(p []byte) (int, error) {
	end := bytes.LastIndexByte(p, '\n') + 1
	if end == 0 {
		r.line = append(r.line, p...)
		return len(p), nil
	}
	r.line = append(r.line, p[:end]...)
	if err := r.flush(); err != nil {
		return 0, err
	}
	r.line = append(r.line, p[end:]...)
	return len(p), nil
}

// Close writes what is left. It does not close what is written to.
func (r *Rows) Close() error { return r.flush() }

func (r *Rows) flush() error {
	_, err := io.WriteString(r.w, wrap(string(r.line), r.cols))
	r.line = r.line[:0]
	return err
}
