//go:build headless

package main

import (
	"context"
	"io"

	"vault/cmd/internal/secret"
)

// form names this build.
const form = "without a window"

const hasWindow = false

// window says that there is none.
func (p *program) window(context.Context) error { return fail("no_window", nil) }

// secretWindow answers the key process that there is none.
func secretWindow(conn io.ReadWriteCloser) error { return secret.Serve(conn, nowhere{}) }
