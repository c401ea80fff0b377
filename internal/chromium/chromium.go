//go:build linux

// Package chromium is the owner's browser in tests and in the tour: a real Chromium
// with passkeys that answer by themselves when they are asked. The vault has its pages
// opened by what BROWSER names; that is a small program (testbed.Opener), which hands
// the link over to the one tab that has the passkeys. It has no other way
// into the vault, and is linked into neither program of the product.
//
// The passkeys are virtual authenticators. Chromium keeps those for one tab alone, the
// one in which they were made: a page that is opened in any other tab, by a second
// start of Chromium for example, finds none, and waits.
package chromium

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"

	cdpwa "github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"vault/internal/testbed"
)

// Browser is a Chromium with one tab. Its methods are for one goroutine.
type Browser struct {
	// Opener is the path of the program for BROWSER.
	Opener string

	ctx   context.Context // of the tab
	links <-chan string
	ends  []func()
}

// Options say how the browser is started.
type Options struct {
	Dir string // an existing folder of its own, which stays the caller's to remove
	// Display has the browser draw its window at a place of a display; else nothing is drawn.
	Display *Display
}

// Display is a place on a screen.
type Display struct {
	Environ       []string // DISPLAY and XAUTHORITY, "NAME=value"
	X, Y          int
	Width, Height int
}

// Allocate says how a Chromium is started for a first tab: with its profile in a folder, on a display or, where that is
// nil, without anything drawn, and with further options. It ends with stop or with ctx.
func Allocate(ctx context.Context, profile string, d *Display, more ...chromedp.ExecAllocatorOption) (alloc context.Context, stop context.CancelFunc, err error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, nil, err
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("password-store", "basic"), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true),
	}
	if d == nil {
		options = append(options, chromedp.Flag("headless", "new"), chromedp.WindowSize(800, 900))
	} else {
		// test-type: no strip about the sandbox, which Chromium does without where root runs it.
		options = append(options, chromedp.Env(d.Environ...), chromedp.Flag("test-type", true), chromedp.WindowSize(d.Width, d.Height),
			chromedp.Flag("window-position", fmt.Sprintf("%d,%d", d.X, d.Y)))
	}
	alloc, stop = chromedp.NewExecAllocator(ctx, append(options, more...)...)
	return alloc, stop, nil
}

// Start starts the browser on an empty page. It ends with [Browser.Close] or with ctx.
func Start(ctx context.Context, o Options) (*Browser, error) {
	opener, err := testbed.NewOpener(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("start browser: %w", err)
	}
	b := &Browser{Opener: opener.Program, links: opener.Links, ends: []func(){opener.Close}}
	alloc, stop, err := Allocate(ctx, filepath.Join(o.Dir, "profile"), o.Display)
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("start browser: %w", err)
	}
	b.ends = append(b.ends, stop)
	tab, cancel := chromedp.NewContext(alloc)
	b.ends = append(b.ends, cancel)
	b.ctx = tab
	if err = chromedp.Do(tab, chromedp.Navigate("about:blank")); err == nil {
		_, err = chromedp.Call(tab, cdpwa.Enable, cdpwa.EnableParams{})
	}
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("start browser: %w", err)
	}
	return b, nil
}

// Close ends the browser and waits for it.
func (b *Browser) Close() {
	for _, end := range slices.Backward(b.ends) {
		end()
	}
	b.ends = nil
}
