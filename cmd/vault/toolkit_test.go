//go:build !headless

package main

import (
	"bytes"
	"errors"
	"log"
	"testing"

	"fyne.io/fyne/v2"
)

// Of the toolkit's errors only the one that every session without a bus has is dropped.
func TestTheToolkitsOtherErrorsAreKept(t *testing.T) {
	var out bytes.Buffer
	before, flags := log.Writer(), log.Flags()
	log.SetOutput(&busless{w: &out})
	defer func() { log.SetOutput(before); log.SetFlags(flags) }()
	fyne.LogError("failed to watch theme settings", errors.New("dial unix /nonexistent/bus"))
	if out.Len() > 0 {
		t.Errorf("said %q", out.String())
	}
	fyne.LogError("the display is gone", errors.New("a cause"))
	for _, want := range []string{"Fyne error:  the display is gone\n", "  Cause: a cause\n", "  At: "} {
		if !bytes.Contains(out.Bytes(), []byte(want)) {
			t.Errorf("%q is missing in %q", want, out.String())
		}
	}
}
