// Package session hears from the owner's desktop session that the screen was
// locked or unlocked, and from the system that it is about to sleep. What is not
// there is not heard: the vault then locks by its own idle clock alone.
//
// It starts no bus and no service, and decides nothing.
package session

import (
	"context"
	"errors"

	"github.com/godbus/dbus/v5"
)

// Events are what the desk does about it. Sleep is called before the system
// sleeps, which waits for its return for as long as the system allows.
type Events struct {
	Away  func(bool)
	Sleep func()
}

// savers are the names under which screen savers tell of the lock.
var savers = []string{"org.freedesktop.ScreenSaver", "org.gnome.ScreenSaver", "org.mate.ScreenSaver", "org.cinnamon.ScreenSaver"}

// Watch hears until ctx ends. It connects in the background, so that nobody waits
// for a bus that does not answer, and gives up quietly where there is none.
func Watch(ctx context.Context, e Events) {
	go func() { _ = screen(ctx, e.Away) }()
	go func() { _ = sleep(ctx, e.Sleep) }()
}

func screen(ctx context.Context, away func(bool)) error {
	// Not the library's usual call: that one starts a bus where none runs.
	c, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
	if err != nil {
		return err
	}
	defer c.Close()
	if err := errors.Join(c.Auth(nil), c.Hello()); err != nil {
		return err
	}
	for _, name := range savers {
		if err := c.AddMatchSignalContext(ctx, dbus.WithMatchSender(name), dbus.WithMatchInterface(name), dbus.WithMatchMember("ActiveChanged")); err != nil {
			return err
		}
	}
	return signals(ctx, c, func(s *dbus.Signal) {
		if active, ok := first(s); ok {
			away(active)
		}
	})
}

func sleep(ctx context.Context, before func()) error {
	c, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return err
	}
	defer c.Close()
	const manager = "org.freedesktop.login1.Manager"
	if err := c.AddMatchSignalContext(ctx, dbus.WithMatchInterface(manager), dbus.WithMatchMember("PrepareForSleep"),
		dbus.WithMatchSender("org.freedesktop.login1")); err != nil {
		return err
	}
	hold := inhibit(ctx, c)
	defer func() { hold.release() }()
	return signals(ctx, c, func(s *dbus.Signal) {
		begins, ok := first(s)
		switch {
		case !ok:
		case begins:
			before()
			hold.release()
		default:
			hold = inhibit(ctx, c)
		}
	})
}

// signals calls on for each signal until ctx or the bus ends.
func signals(ctx context.Context, c *dbus.Conn, on func(*dbus.Signal)) error {
	ch := make(chan *dbus.Signal, 16)
	c.Signal(ch)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case s, ok := <-ch:
			if !ok {
				return errors.New("session: the bus has ended")
			}
			on(s)
		}
	}
}

// first is the one boolean that these signals carry.
func first(s *dbus.Signal) (value, ok bool) {
	if len(s.Body) == 0 {
		return false, false
	}
	value, ok = s.Body[0].(bool)
	return value, ok
}
