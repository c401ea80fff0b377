//go:build linux

package testbed

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Opener is what the vault has its pages opened by: it hands their links over, and opens nothing.
type Opener struct {
	Program string        // path of the program for BROWSER
	Links   <-chan string // as they were given, in order

	pipe *os.File
}

// NewOpener makes the program "open" in an existing folder, and beside it the pipe through which it hands links over.
func NewOpener(dir string) (*Opener, error) {
	links := make(chan string, 4)
	o := &Opener{Program: filepath.Join(dir, "open"), Links: links}
	pipe := filepath.Join(dir, "links")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		return nil, fmt.Errorf("make opener: %w", err)
	}
	if err := os.WriteFile(o.Program, fmt.Appendf(nil, "#!/bin/sh\nprintf '%%s\\n' \"$1\" > '%s'\n", pipe), 0o700); err != nil {
		return nil, fmt.Errorf("make opener: %w", err)
	}
	var err error
	// For reading and writing: so it never ends between two links.
	if o.pipe, err = os.OpenFile(pipe, os.O_RDWR, 0); err != nil {
		return nil, fmt.Errorf("make opener: %w", err)
	}
	go func() {
		for r := bufio.NewReader(o.pipe); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			links <- strings.TrimSpace(line)
		}
	}()
	return o, nil
}

// Close ends the handing over.
func (o *Opener) Close() { _ = o.pipe.Close() }
