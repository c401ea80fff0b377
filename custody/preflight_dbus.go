//go:build linux || freebsd || netbsd || openbsd || dragonfly

package custody

import (
	"context"
	"errors"
	"slices"

	"github.com/godbus/dbus/v5"
)

const (
	secretsName  = "org.freedesktop.secrets"
	secretsPath  = dbus.ObjectPath("/org/freedesktop/secrets")
	loginPath    = dbus.ObjectPath("/org/freedesktop/secrets/collection/login")
	propertyGet  = "org.freedesktop.DBus.Properties.Get"
	serviceFace  = "org.freedesktop.Secret.Service"
	collectFace  = "org.freedesktop.Secret.Collection"
	errorUnknown = "org.freedesktop.DBus.Error.ServiceUnknown"
)

// preflight asks whether a keyring is there and unlocked. It uses a connection
// of its own, starts no message bus, shows nothing and ends when ctx does.
func preflight(ctx context.Context) error {
	conn, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
	if err != nil {
		return timeoutOr(ctx, ErrNoBus)
	}
	defer conn.Close()
	if conn.Auth(nil) != nil || conn.Hello() != nil {
		return timeoutOr(ctx, ErrNoBus)
	}
	call := func(o dbus.BusObject, into any, method string, args ...any) error {
		return o.CallWithContext(ctx, method, 0, args...).Store(into)
	}
	// StartServiceByName answers ServiceUnknown for a service that runs without
	// an activation file, so it is asked only for one that does not run.
	var owned bool
	if err := call(conn.BusObject(), &owned, "org.freedesktop.DBus.NameHasOwner", secretsName); err != nil {
		return timeoutOr(ctx, ErrNoBus)
	}
	if !owned {
		var result uint32
		if err := call(conn.BusObject(), &result, "org.freedesktop.DBus.StartServiceByName", secretsName, uint32(0)); err != nil {
			return timeoutOr(ctx, ErrNoService)
		}
	}
	service := conn.Object(secretsName, secretsPath)
	var listed dbus.Variant
	if err := call(service, &listed, propertyGet, serviceFace, "Collections"); err != nil {
		return timeoutOr(ctx, serviceError(err))
	}
	// The same choice as go-keyring makes: "login" where it is listed, else the default.
	collection := loginPath
	if paths, _ := listed.Value().([]dbus.ObjectPath); !slices.Contains(paths, loginPath) {
		if err := call(service, &collection, serviceFace+".ReadAlias", "default"); err != nil {
			return timeoutOr(ctx, serviceError(err))
		}
		if collection == "/" {
			return ErrNoDefault
		}
	}
	var locked dbus.Variant
	if err := call(conn.Object(secretsName, collection), &locked, propertyGet, collectFace, "Locked"); err != nil {
		return timeoutOr(ctx, serviceError(err))
	}
	if is, ok := locked.Value().(bool); !ok {
		return ErrKeyringRefused
	} else if is {
		return ErrKeyringLocked
	}
	return nil
}

// serviceError tells a service that went away from one that refuses.
func serviceError(err error) error {
	var e dbus.Error
	if errors.As(err, &e) && e.Name == errorUnknown {
		return ErrNoService
	}
	return ErrKeyringRefused
}

// timeoutOr is the timeout where ctx has ended, else err.
func timeoutOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrKeyringTimeout
	}
	return err
}
