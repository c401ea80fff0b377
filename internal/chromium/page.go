//go:build linux

package chromium

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/chromedp"
)

// patience is how long one step in the browser may take.
const patience = 40 * time.Second

func (b *Browser) soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.ctx, patience)
}

// Link waits for the vault to have a page opened, and gives its link, unopened.
func (b *Browser) Link() (string, error) {
	ctx, stop := b.soon()
	defer stop()
	select {
	case link := <-b.links:
		return link, nil
	case <-ctx.Done():
		return "", errors.New("no page was to be opened in time")
	}
}

// Open waits for the vault to have a page opened, and opens it in the tab that has the
// passkeys. It returns when the page has loaded.
func (b *Browser) Open() error {
	link, err := b.Link()
	if err != nil {
		return err
	}
	return b.Go(link)
}

// Go loads an address in the tab.
func (b *Browser) Go(address string) error {
	ctx, stop := b.soon()
	defer stop()
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		return fmt.Errorf("open a page: %w", err)
	}
	return nil
}

// Press waits until an element can be pressed and presses it with the pointer. The
// ceremony page has "#go" and "#back".
func (b *Browser) Press(selector string) error {
	ctx, stop := b.soon()
	defer stop()
	if err := chromedp.Do(ctx, chromedp.WaitEnabled(selector), chromedp.Click(selector)); err != nil {
		return fmt.Errorf("press %s: %w; the page says %q", selector, err, b.Steps())
	}
	return nil
}

// Await waits until the ceremony page is in a state: ready, asking, compare, over.
func (b *Browser) Await(state string) error {
	ctx, stop := b.soon()
	defer stop()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](fmt.Sprintf(`document.documentElement.dataset.state === %q`, state), chromedp.WithPollingInterval(50*time.Millisecond)))
	if err != nil {
		return fmt.Errorf("await the page's state %s: %w; it says %q", state, err, b.Steps())
	}
	return nil
}

// Text is what an element of the page shows.
func (b *Browser) Text(id string) (string, error) {
	ctx, stop := b.soon()
	defer stop()
	s, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf(`document.getElementById(%q).innerText`, id)))
	if err != nil {
		return "", fmt.Errorf("read %s of the page: %w", id, err)
	}
	return s, nil
}

// Steps is what the ceremony page says of its course, for an error.
func (b *Browser) Steps() string {
	ctx, stop := context.WithTimeout(b.ctx, time.Second)
	defer stop()
	s, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(document.getElementById('steps') || document.body).innerText`))
	if err != nil {
		return err.Error()
	}
	return s
}

// Confirm has the page that the vault opens next confirmed with whichever passkey is touched,
// and waits until the page says how it ended.
func (b *Browser) Confirm() error {
	for _, step := range []func() error{b.Open, func() error { return b.Press("#go") }, func() error { return b.Await("over") }} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
