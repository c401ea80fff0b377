//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vault/approvals/moment"
	"vault/internal/chromium"
)

// hands hold what the owner confirms with: one passkey at a time.
type hands struct {
	first, second *chromium.Passkey
	digits        string // of the first, as the window writes them
}

func (h hands) take(first bool) error {
	err := h.first.Touched(first)
	if h.second != nil {
		err = errors.Join(err, h.second.Touched(!first))
	}
	return err
}

// confirmations are what an owner does with passkeys, and what a stranger can check of it.
func (t *tour) confirmations(h *host) error {
	var in hands
	if err := t.openBrowser(); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return t.enrolFirst(&in) },
		func() error { return t.enrolSecond(&in) },
		t.putBehind,
		func() error { return t.cancelAndConfirm(h) },
		t.giveAway,
		func() error { return t.removeFirst(in) },
		func() error { return t.confirmWithSecond(h) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// openBrowser starts the owner's browser on the display, beside the vault's windows, and makes
// the main one as high as the screen: what Settings asks stands below its row.
func (t *tour) openBrowser() error {
	id, err := t.screen.AwaitWindow(t.ctx, "Vault")
	if err != nil {
		return err
	}
	if err := t.screen.Resize(t.ctx, id, main1.Size()); err != nil {
		return err
	}
	if err := os.MkdirAll(t.browserDir(), 0o700); err != nil {
		return err
	}
	t.browser, err = chromium.Start(t.ctx, chromium.Options{Dir: t.browserDir(), Display: &chromium.Display{
		Environ: t.bed.Environ(), X: page1.Min.X, Y: page1.Min.Y, Width: page1.Dx(), Height: page1.Dy(),
	}})
	return err
}

func (t *tour) browserDir() string { return filepath.Join(t.bed.Dir, "browser") }

// overMain is a place in the middle of the main window.
var overMain = image.Pt(700, 400)

// scroll turns the wheel over the main window until a text is seen.
func (t *tour) scroll(text string) (image.Rectangle, error) { return t.scrollIn(main1, overMain, text) }

// scrollIn turns the wheel at a place of a window until a text is seen.
func (t *tour) scrollIn(in image.Rectangle, over image.Point, text string) (image.Rectangle, error) {
	for range 60 {
		found, err := t.look(in, text)
		if err != nil || len(found) > 0 {
			return append(found, image.Rectangle{})[0], err
		}
		was, err := t.screen.Screen()
		if err != nil {
			return image.Rectangle{}, err
		}
		if err := t.screen.Wheel(t.ctx, over, 6); err != nil {
			return image.Rectangle{}, err
		}
		if _, err := t.within(again, func() (bool, error) {
			now, err := t.screen.Screen()
			return now != was, err
		}); err != nil {
			return image.Rectangle{}, err
		}
	}
	return t.see(in, text)
}

// enrolling goes from the button in Settings to the digits of the new passkey, and takes it for the owner's.
// The secret window comes for the first one, before the page.
func (t *tour) enrolling(button, name, next string, passphrase func() error) (digits string, err error) {
	if err := errors.Join(t.press(rail, "Settings", main1, "Recovery words"), t.press(main1, button, main1, "Nothing is enrolled.")); err != nil {
		return "", err
	}
	const enrol = "Enrol a passkey"
	if err := t.press(main1, "A page opens in your browser. Nothing counts before", main1, "Confirm: "+enrol); err != nil {
		return "", err
	}
	if err := t.shot(name); err != nil {
		return "", err
	}
	if err := t.press(main1, "Confirm: "+enrol, main1, next); err != nil {
		return "", err
	}
	if err := passphrase(); err != nil {
		return "", err
	}
	if err := t.browser.Open(); err != nil {
		return "", err
	}
	if err := errors.Join(t.browser.Await("ready"), t.still(name+"-page"), t.browser.Press("#go"), t.browser.Await("over")); err != nil {
		return "", err
	}
	if digits, err = t.browser.Text("digits"); err != nil {
		return "", err
	}
	if len(digits) != 6 {
		return "", fmt.Errorf("the page shows %q", digits)
	}
	digits = digits[:3] + " " + digits[3:]
	// The person compares what the page shows with what the window shows.
	if _, err := t.see(main1, digits); err != nil {
		return "", fmt.Errorf("the two numbers are not the same: %w", err)
	}
	const mine = "It is mine"
	if err := t.press(main1, mine, main1, "Confirm: "+mine); err != nil {
		return "", err
	}
	if err := t.shot(name + "-digits"); err != nil {
		return "", err
	}
	if err := t.press(main1, "Confirm: "+mine, main1, "The new passkey answers once"); err != nil {
		return "", err
	}
	return digits, t.browser.Confirm()
}

func (t *tour) enrolFirst(in *hands) (err error) {
	if in.first, err = t.browser.Plug(chromium.Stick); err != nil {
		return err
	}
	in.digits, err = t.enrolling("Enrol a passkey…", "enrol", "Your passphrase", func() error {
		if err := t.bring(secret, "Passphrase"); err != nil {
			return err
		}
		return errors.Join(t.shot("secret-window-enrol"), t.screen.Type(t.ctx, passphrase), t.screen.Press(t.ctx, "Return"), t.screen.AwaitGone(t.ctx, secret))
	})
	if err != nil {
		return err
	}
	t.tell("A security key was enrolled: after the passphrase, six digits compared in window and page, and one answer more.")
	return t.picture(main1, "The passkey is enrolled", "enrolled")
}

func (t *tour) enrolSecond(in *hands) (err error) {
	if in.second, err = t.browser.Plug(chromium.Device); err != nil {
		return err
	}
	if err := in.take(false); err != nil {
		return err
	}
	if _, err := t.enrolling("Enrol another…", "enrol-second", "The new passkey answers", func() error { return nil }); err != nil {
		return err
	}
	// Nothing but an enrolled one adds another.
	if err := errors.Join(in.take(true), t.browser.Confirm()); err != nil {
		return err
	}
	t.tell("This computer was enrolled as a second passkey. The first one confirmed it.")
	return t.picture(main1, "2 are enrolled", "enrolled-second")
}

// putBehind asks a passkey for all that the agent behind the host wants decided.
func (t *tour) putBehind() error {
	if err := t.press(rail, "Settings", main1, "Recovery words"); err != nil {
		return err
	}
	if _, err := t.scroll("All of " + traveller); err != nil {
		return err
	}
	const asked = "Ask a passkey for this"
	// The page may still be moving, so the row is looked for again with each try.
	err := t.until("“"+asked+"”", func() (bool, error) {
		rows, err := t.look(main1, "All of "+traveller)
		if len(rows) == 0 || err != nil {
			return false, err
		}
		// The button of the row stands at its end.
		buttons, err := t.look(image.Rect(main1.Min.X, rows[0].Min.Y-12, main1.Max.X, rows[0].Max.Y+12), "Ask a passkey")
		if err != nil {
			return false, err
		}
		if len(buttons) == 0 { // the row is at the edge
			return false, t.screen.Wheel(t.ctx, overMain, 3)
		}
		if err := t.click(middle(buttons[0])); err != nil {
			return false, err
		}
		return t.within(again, func() (bool, error) {
			found, err := t.look(main1, asked)
			return len(found) > 0, err
		})
	})
	if err != nil {
		return err
	}
	if err := t.press(main1, asked, main1, "Confirm: "+asked); err != nil {
		return err
	}
	if err := t.shot("rule"); err != nil {
		return err
	}
	if err := t.press(main1, "Confirm: "+asked, main1, "This needs a passkey now"); err != nil {
		return err
	}
	t.tell("All that “%s” asks was put behind a passkey. That is free; taking it back is not.", traveller)
	return t.shot("rule-done")
}

// choose presents a decision and goes on the sheet as far as the passkey.
func (t *tour) choose(h *host, synopsis string) (*moment.Envelope, *besides, error) {
	e, err := document(synopsis, bothWays)
	if err != nil {
		return nil, nil, err
	}
	asked := h.begin("present_moment", present(e, fmt.Sprintf(`[{"option":0,"action":%s},{"option":1,"action":%s}]`, datesOnly, datesAll)))
	if err := t.press(rail, "Inbox", main1, "asks you to decide, session trip"); err != nil {
		return nil, nil, err
	}
	if err := t.openSheet(stem); err != nil {
		return nil, nil, err
	}
	return e, asked, t.toPasskey()
}

const datesLabel = "Share dates only"

// toPasskey takes the first option and confirms it, as far as a click goes.
func (t *tour) toPasskey() error {
	if err := t.press(beside, datesLabel, beside, "Confirm: "+datesLabel); err != nil {
		return err
	}
	if err := t.press(beside, "Confirm: "+datesLabel, beside, "Action, complete"); err != nil {
		return err
	}
	return t.press(beside, "Confirm: "+datesLabel, beside, "Confirm with your passkey")
}

// cancelAndConfirm has the browser ask twice: the owner goes back on the page, and then confirms.
func (t *tour) cancelAndConfirm(h *host) error {
	e, asked, err := t.choose(h, "Share the travel dates with the hotel.")
	if err != nil {
		return err
	}
	if err := errors.Join(t.browser.Open(), t.browser.Await("ready")); err != nil {
		return err
	}
	if says, err := t.browser.Text("says"); err != nil || !strings.Contains(says, datesLabel) {
		return fmt.Errorf("the page shows %q (%v)", says, err)
	}
	if _, err := t.see(beside, "Waiting for your passkey"); err != nil {
		return err
	}
	if err := t.still("browser-asks"); err != nil {
		return err
	}
	if err := errors.Join(t.browser.Press("#back"), t.browser.Await("over")); err != nil {
		return err
	}
	if _, err := t.see(beside, "The passkey was not used"); err != nil {
		return err
	}
	if err := t.still("browser-cancelled"); err != nil {
		return err
	}
	select {
	case <-asked.done:
		return fmt.Errorf("cancelled, and the agent was told %s (%v)", asked.reply.text, asked.err)
	default:
	}
	t.tell("A decision waited for the passkey. It was cancelled on the page: nothing was decided, and the agent still waits.")
	if err := t.press(beside, "Open the page again", beside, "Waiting for your passkey"); err != nil {
		return err
	}
	if err := t.browser.Confirm(); err != nil {
		return err
	}
	if err := t.picture(beside, "You selected “"+datesLabel+"”", "browser-confirmed"); err != nil {
		return err
	}
	if err := t.closeSheet(); err != nil {
		return err
	}
	if _, err := asked.is(e.Select(0)); err != nil {
		return err
	}
	t.tell("The same again, and the passkey confirmed it: the key process checked it, and the agent was told.")
	return nil
}

// giveAway exports the receipt and the owner card, and has them checked where there is no vault.
func (t *tour) giveAway() error {
	if err := errors.Join(t.press(rail, "Activity", main1, "Verify now"), t.press(main1, "by passkey", main1, "Export the receipt")); err != nil {
		return err
	}
	if err := t.shot("activity-passkey"); err != nil {
		return err
	}
	if err := t.press(main1, "Export the receipt", main1, "The receipt was exported"); err != nil {
		return err
	}
	if err := t.exportCard(); err != nil {
		return err
	}
	dir := filepath.Join(t.bed.Dir, "stranger")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	receipts, err := filepath.Glob(filepath.Join(t.bed.Home, "vault-receipt-*.json"))
	if err != nil || len(receipts) == 0 { // a button that was pressed twice has written two
		return fmt.Errorf("no receipt was exported (%v)", err)
	}
	if err := errors.Join(os.Rename(receipts[0], filepath.Join(dir, "answer.json")), os.WriteFile(filepath.Join(dir, "card.json"), t.card, 0o600)); err != nil {
		return err
	}
	if err := errors.Join(t.verify(dir, []string{"--card", "card.json"}, 0, "Verified against your pin."),
		t.verify(dir, nil, 3, "Self-consistent. Not pinned: anybody could have made this file")); err != nil {
		return err
	}
	t.tell("A stranger with the receipt and the owner card, and no vault: verified (status 0). With the receipt alone: status 3.")
	return t.changeADigit(dir)
}

// exportCard exports the owner card, and keeps what is in it.
func (t *tour) exportCard() error {
	if err := errors.Join(t.press(rail, "Settings", main1, "Recovery words"), t.press(main1, "Export…", main1, "Export the owner card"),
		t.press(main1, "Export the owner card", main1, "Confirm: Export the owner card"),
		t.press(main1, "Confirm: Export the owner card", main1, "Confirm the export of the owner card with your passkey"),
		t.browser.Confirm(), t.picture(main1, "The owner card was exported", "card")); err != nil {
		return err
	}
	var err error
	t.card, err = os.ReadFile(filepath.Join(t.bed.Home, "vault-owner-card.json"))
	return err
}

// changeADigit changes the receipt, and reads which line of the verification fails.
func (t *tour) changeADigit(dir string) error {
	name := filepath.Join(dir, "answer.json")
	raw, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	const was, is = "Select option 1", "Select option 2"
	changed := bytes.Replace(raw, []byte(was), []byte(is), 1)
	if bytes.Equal(changed, raw) || !json.Valid(changed) {
		return fmt.Errorf("the receipt has no %s: %s", was, raw)
	}
	if err := os.WriteFile(name, changed, 0o600); err != nil {
		return err
	}
	wrong, err := t.verifies(dir, []string{"--card", "card.json"}, 1, "Not valid.")
	if err == nil && !slices.Contains(wrong, "evidence.challengeIsContext") {
		err = fmt.Errorf("wrong are %v", wrong)
	}
	if err != nil {
		return err
	}
	t.tell("With one digit of what was shown changed: not valid (status 1). Wrong: %s.", strings.Join(wrong, ", "))
	return nil
}

// removeFirst removes the first passkey. The second one confirms it.
func (t *tour) removeFirst(in hands) error {
	if err := in.take(false); err != nil {
		return err
	}
	if err := errors.Join(t.press(rail, "Settings", main1, "Recovery words"), t.press(main1, "Remove "+in.digits+"…", main1, "Remove this passkey"),
		t.press(main1, "Remove this passkey", main1, "Confirm: Remove this passkey"), t.shot("remove"),
		t.press(main1, "Confirm: Remove this passkey", main1, "Confirm the removal with a passkey"),
		t.browser.Confirm(), t.picture(main1, "The passkey was removed", "removed")); err != nil {
		return err
	}
	t.tell("The first passkey was removed. The second one confirmed it.")
	return nil
}

func (t *tour) confirmWithSecond(h *host) error {
	e, asked, err := t.choose(h, "Share the travel dates with the airline.")
	if err != nil {
		return err
	}
	if err := errors.Join(t.browser.Confirm(), t.picture(beside, "You selected “"+datesLabel+"”", "second-confirmed"), t.closeSheet()); err != nil {
		return err
	}
	if _, err := asked.is(e.Select(0)); err != nil {
		return err
	}
	t.tell("The second passkey confirms alone.")
	return nil
}
