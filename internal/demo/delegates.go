//go:build linux

package main

import "errors"

// delegates looks at the page for bots, and at the form: what is typed is said as a sentence. Without a passkey
// nothing is issued.
func (t *tour) delegates() error {
	if err := t.press(rail, "Delegates", main1, "No bot may mint anything"); err != nil {
		return err
	}
	if err := t.press(main1, "Issue…", main1, "Issue a delegate"); err != nil {
		return err
	}
	// The name has the keyboard, and without a window manager the pointer says which window has.
	at, err := t.see(main1, "Issue a delegate")
	if err != nil {
		return err
	}
	if err := errors.Join(t.screen.Move(t.ctx, middle(at)), t.screen.Type(t.ctx, "support-bot")); err != nil {
		return err
	}
	if err := t.picture(main1, "Name an operation.", "delegates-issue"); err != nil {
		return err
	}
	if err := t.press(main1, "Back", main1, "No bot may mint anything"); err != nil {
		return err
	}
	t.tell("Delegates: the form says in one sentence what a bot would be allowed. A passkey issues it, and there is none here.")
	return t.press(rail, "Inbox", main1, "No one is waiting for you")
}
