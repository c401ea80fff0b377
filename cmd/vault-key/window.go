package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"vault/approvals/keys"
	"vault/cmd/internal/hygiene"
	"vault/cmd/internal/secret"
	"vault/sign"
)

// openWindow starts the secret window, a process of the program `vault` that
// stands beside this one, with its end of the line as descriptor 3. The
// desk has no part in it.
func openWindow(_ context.Context, surface keys.Surface) (sign.Window, error) {
	if surface != keys.SurfaceWindow && surface != keys.SurfaceTerminal {
		return nil, &keys.Error{Code: "no_window", Detail: "there is no such form of the secret window"}
	}
	path, err := hygiene.Sibling("vault")
	if err != nil {
		return nil, fmt.Errorf("open secret window: %w", err)
	}
	here, there, err := hygiene.LinePair("secret window")
	if err != nil {
		return nil, fmt.Errorf("open secret window: %w", err)
	}
	defer there.Close()
	p, err := hygiene.Start(hygiene.Command{
		Path: path, Args: []string{"secret", "--form", string(surface)}, Stderr: os.Stderr, Files: []*os.File{there},
	})
	if err != nil {
		here.Close()
		return nil, errors.Join(sign.ErrNoWindow, err)
	}
	go func() {
		// It ends by itself when its line does; how it ended changes nothing.
		_, _ = p.Wait()
	}()
	return window{secret.NewWindow(here)}, nil
}

// window puts sign's questions onto the line.
type window struct{ line *secret.Window }

// Ask implements sign.Window.
func (w window) Ask(ctx context.Context, q sign.Question, words, answer []byte) (int, error) {
	n, err := w.line.Ask(ctx, secret.Ask{
		Form: secret.Form(q.Form), Purpose: secret.Purpose(q.Purpose), Problem: secret.Problem(q.Problem),
		Place: q.Place, Places: q.Places, Digest: q.Digest, Vault: q.Vault, Demo: q.Demo,
	}, words, answer)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, secret.ErrCancelled):
		return 0, sign.ErrCancelled
	case errors.Is(err, secret.ErrBack):
		return 0, sign.ErrBack
	case errors.Is(err, secret.ErrNoWindow):
		return 0, sign.ErrNoWindow
	}
	return 0, errors.Join(sign.ErrClosed, err)
}

// Finish implements sign.Window.
func (w window) Finish(code string) { w.line.Finish(code) }
