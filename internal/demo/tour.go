//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vault/internal/chromium"
	"vault/internal/eyes"
	"vault/internal/testbed"
)

// tour is one run: the bed, the person who looks at its screen and works its
// keys and pointer, and what the steps leave to each other.
type tour struct {
	ctx               context.Context
	vault, agent, out string
	bed               *testbed.Bed
	screen            *testbed.Display
	eyes              *eyes.Eyes
	browser           *chromium.Browser
	shots, told       int
	keyring           bool
	card              []byte // the owner card, once it was exported
}

// The screen, with room for the main window, a second one beside it, and the browser.
var (
	size   = image.Pt(3080, 1000)
	main1  = image.Rect(0, 0, 1180, 1000)
	rail   = image.Rect(0, 0, 209, 1000)
	beside = image.Rect(1190, 0, 2110, 1000)
	paper  = image.Rect(1190, 0, 2270, 1000) // where a contract's window is
	page1  = image.Rect(2280, 0, 3080, 1000)
	aside  = image.Pt(1185, 990)
)

// emptyOut makes the folder for the pictures and removes those of a run before.
func (t *tour) emptyOut() error {
	if err := os.MkdirAll(t.out, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(t.out, "*.png"))
	if err != nil {
		return err
	}
	for _, name := range append(old, filepath.Join(t.out, "log.txt")) {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// open makes the bed with all that a desktop has. Where no keyring is installed the
// vault is protected by a passphrase only.
func (t *tour) open(dir string) error {
	if missing := testbed.Missing("Xvfb", "xdotool", "python3", "chromium"); len(missing) > 0 {
		return fmt.Errorf("not installed here: %s", strings.Join(missing, ", "))
	}
	var err error
	if t.bed, err = testbed.New(dir); err != nil {
		return err
	}
	if t.screen, err = t.bed.StartDisplay(t.ctx, size.X, size.Y); err != nil {
		return err
	}
	if t.keyring = len(testbed.Missing(testbed.KeyringPrograms...)) == 0; t.keyring {
		if err := errors.Join(t.bed.StartBus(t.ctx), t.bed.StartKeyring(t.ctx)); err != nil {
			return err
		}
	}
	t.bed.Set("BROWSER", filepath.Join(t.browserDir(), "open"))
	t.eyes = eyes.New()
	return nil
}

// tell prints one line of what happened.
func (t *tour) tell(format string, args ...any) {
	t.told++
	fmt.Printf("%2d. %s\n", t.told, fmt.Sprintf(format, args...))
}

// shot takes a picture of the whole screen.
func (t *tour) shot(name string) error {
	img, err := t.screen.Screen()
	if err != nil {
		return err
	}
	t.shots++
	f, err := os.OpenFile(filepath.Join(t.out, fmt.Sprintf("%02d-%s.png", t.shots, name)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(f, img), f.Close())
}

// still takes a picture once the screen has stood still: a browser draws when it likes.
func (t *tour) still(name string) error {
	var last *image.RGBA
	var since time.Time
	err := t.until("a screen that stands still", func() (bool, error) {
		img, err := t.screen.Screen()
		if img != last {
			last, since = img, time.Now()
		}
		return time.Since(since) > again/3, err
	})
	if err != nil {
		return err
	}
	return t.shot(name)
}

// keepLog keeps what the programs printed.
func (t *tour) keepLog() error {
	raw, err := os.ReadFile(t.bed.Log)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.out, "log.txt"), raw, 0o644)
}

// look gives the places of a text in a part of the screen.
func (t *tour) look(in image.Rectangle, text string) ([]image.Rectangle, error) {
	img, err := t.screen.Screen()
	if err != nil {
		return nil, err
	}
	return t.eyes.Find(img, in, text), nil
}

// until waits for an effect, as long as one effect may take.
func (t *tour) until(what string, met func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(t.ctx, 40*time.Second)
	defer cancel()
	return testbed.Until(ctx, what, met)
}

// see waits until a text stands in a part of the screen, and gives its first place.
func (t *tour) see(in image.Rectangle, text string) (at image.Rectangle, err error) {
	err = t.until("“"+text+"” on the screen", func() (bool, error) {
		found, err := t.look(in, text)
		if len(found) > 0 {
			at = found[0]
		}
		return len(found) > 0, err
	})
	return at, err
}

// picture waits for a text and takes a picture.
func (t *tour) picture(in image.Rectangle, text, name string) error {
	if _, err := t.see(in, text); err != nil {
		return err
	}
	return t.shot(name)
}

// again is how long a press may take to show an effect. A control takes nothing in
// its first second; then the person presses it again.
const again = 1500 * time.Millisecond

// press presses what bears a text until another text appears.
func (t *tour) press(in image.Rectangle, text string, then image.Rectangle, effect string) error {
	for tries := 0; ; tries++ {
		if tries == 20 {
			return fmt.Errorf("“%s” was pressed %d times and “%s” has not come", text, tries, effect)
		}
		done, at := false, image.Rectangle{}
		err := t.until("“"+text+"” on the screen", func() (bool, error) {
			img, err := t.screen.Screen()
			if err != nil {
				return false, err
			}
			if done = len(t.eyes.Find(img, then, effect)) > 0; done {
				return true, nil
			}
			found := t.eyes.Find(img, in, text)
			if len(found) > 0 {
				at = found[0]
			}
			return len(found) > 0, nil
		})
		if done || err != nil {
			return err
		}
		if err := t.click(middle(at)); err != nil {
			return err
		}
		ok, err := t.within(again, func() (bool, error) {
			found, err := t.look(then, effect)
			return len(found) > 0, err
		})
		if ok || err != nil {
			return err
		}
	}
}

// click clicks, and takes the pointer off what it would hide.
func (t *tour) click(at image.Point) error {
	return errors.Join(t.screen.Click(t.ctx, at, 1), t.screen.Move(t.ctx, aside))
}

// within waits a while for something that may also not come.
func (t *tour) within(d time.Duration, met func() (bool, error)) (bool, error) {
	short, cancel := context.WithTimeout(t.ctx, d)
	defer cancel()
	err := testbed.Until(short, "it", met)
	switch {
	case err == nil:
		return true, nil
	case t.ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return false, nil
	}
	return false, err
}

func middle(r image.Rectangle) image.Point { return r.Min.Add(r.Max).Div(2) }

// bring puts a second window beside the main one and waits until a text stands in it.
func (t *tour) bring(title, text string) error { return t.bringTo(beside, title, text) }

// bringTo puts a window into a part of the screen and waits until a text stands in it. A
// window that is just being made may move once more by itself, and one that is just
// ending may be found and not moved any more, so it is looked for again.
func (t *tour) bringTo(in image.Rectangle, title, text string) error {
	return t.until("“"+text+"” in a second window", func() (bool, error) {
		found, err := t.look(in, text)
		if len(found) > 0 || err != nil {
			return err == nil, err
		}
		ids, err := t.screen.Windows(t.ctx, title)
		for _, id := range ids {
			_ = t.screen.Place(t.ctx, id, in.Min)
		}
		return false, err
	})
}
