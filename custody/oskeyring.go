package custody

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/zalando/go-keyring"
)

// Service is the name under which the vault's items lie in the keyring.
const Service = "agent-vault"

// Deadlines of one keyring call.
const (
	keyringDeadline = 2 * time.Second  // nobody is asked
	promptDeadline  = 60 * time.Second // the keyring may ask the owner
)

// OSKeyring is the keyring of the operating system.
//
// Each call first asks, on a connection of its own, whether a keyring is there
// and unlocked; that never prompts, never starts a message bus, and ends at the
// deadline. The call itself runs in a helper process (`vault-key keyring`) that
// is killed at the deadline, because it can hang for ever.
type OSKeyring struct {
	// Runner starts the helper.
	Runner Runner
	// Prompt lets the keyring ask the owner to unlock it, for up to a minute. Set
	// it only after the owner was asked and is there.
	Prompt bool
	// Deadline of a call; zero: two seconds, or a minute where it may prompt.
	Deadline time.Duration
}

// Exit codes of the helper.
const (
	exitOK       = 0
	exitUsage    = 2
	exitNotFound = 44
	exitRefused  = 45
)

// Get implements [Keyring].
func (k OSKeyring) Get(ctx context.Context, user string, dst *Secret) (int, error) {
	return k.call(ctx, "get", user, nil, dst)
}

// Set implements [Keyring].
func (k OSKeyring) Set(ctx context.Context, user string, value []byte) error {
	_, err := k.call(ctx, "set", user, value, nil)
	return err
}

// Delete implements [Keyring].
func (k OSKeyring) Delete(ctx context.Context, user string) error {
	_, err := k.call(ctx, "delete", user, nil, nil)
	if errors.Is(err, ErrKeyringNotFound) {
		return nil
	}
	return err
}

// Available says whether a keyring is there and unlocked: nil, or the error that
// a call would have now. It blocks for at most the deadline and never prompts.
func (k OSKeyring) Available(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, k.within(keyringDeadline))
	defer cancel()
	return preflight(ctx)
}

// within returns the deadline that was set, else usual.
func (k OSKeyring) within(usual time.Duration) time.Duration {
	if k.Deadline > 0 {
		return k.Deadline
	}
	return usual
}

func (k OSKeyring) call(ctx context.Context, verb, user string, in []byte, out *Secret) (int, error) {
	if err := k.Available(ctx); err != nil && (!k.Prompt || !errors.Is(err, ErrKeyringLocked)) {
		return 0, err
	}
	wait := k.within(keyringDeadline)
	if k.Prompt {
		wait = k.within(promptDeadline)
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	n, exit, err := exchange(limited, k.Runner, in, out, "keyring", verb, Service, user)
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case limited.Err() != nil:
		return 0, ErrKeyringTimeout
	case err != nil:
		return 0, fmt.Errorf("ask the keyring: %w", err)
	case exit == exitOK:
		return n, nil
	case exit == exitNotFound:
		return 0, ErrKeyringNotFound
	}
	// It may have been locked in between, or the owner closed its window.
	if err := k.Available(ctx); errors.Is(err, ErrKeyringLocked) {
		return 0, err
	}
	return 0, ErrKeyringRefused
}

// itemName is what service and user of an item may look like.
var itemName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,79}$`)

// KeyringMain is the helper `keyring get|set|delete SERVICE USER`: the value
// comes in on in, or goes out on out. It returns the exit code of the process:
// 0 done, 44 no such item, 45 the keyring refused, 2 wrong use. It may block for
// ever; whoever started it ends it.
func KeyringMain(args []string, in io.Reader, out io.Writer) int {
	if len(args) != 3 || !itemName.MatchString(args[1]) || !itemName.MatchString(args[2]) {
		return exitUsage
	}
	var err error
	switch args[0] {
	case "get":
		var value string
		if value, err = keyring.Get(args[1], args[2]); err == nil {
			if len(value) > maxItem {
				return exitRefused
			}
			_, err = io.WriteString(out, value)
		}
	case "set":
		var value []byte
		if value, err = io.ReadAll(io.LimitReader(in, maxItem+1)); err == nil {
			if len(value) == 0 || len(value) > maxItem {
				return exitUsage
			}
			err = keyring.Set(args[1], args[2], string(value))
		}
	case "delete":
		err = keyring.Delete(args[1], args[2])
	default:
		return exitUsage
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, keyring.ErrNotFound):
		return exitNotFound
	}
	return exitRefused
}
