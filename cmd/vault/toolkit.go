//go:build !headless

package main

import (
	"bytes"
	"io"
)

// busless is where the toolkit's log goes in a session without a message bus. It drops the one
// complaint that follows from that, with the lines that belong to it, and nothing else.
type busless struct {
	w    io.Writer
	skip bool // the complaint was dropped, and its cause and place are still to come
}

// noBus is what the toolkit says of a session without a bus: it cannot hear there that the
// theme has changed.
const noBus = "Fyne error:  failed to watch theme settings"

// Write implements io.Writer. The standard logger calls it once for each line.
func (q *busless) Write(p []byte) (int, error) {
	switch {
	case bytes.Contains(p, []byte(noBus)):
		q.skip = true
		return len(p), nil
	case q.skip && (bytes.Contains(p, []byte("  Cause: ")) || bytes.Contains(p, []byte("  At: "))):
		return len(p), nil
	}
	q.skip = false
	return q.w.Write(p)
}
