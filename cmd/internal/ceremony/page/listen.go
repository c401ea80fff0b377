package page

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
)

// listen takes one free port on 127.0.0.1 and ::1. A browser resolves the page's
// name to both, so a family that is left free is one in which another user can
// sit and be sent the token. Where this computer has no ::1, nobody can.
func listen() ([]net.Listener, int, error) {
	for range 20 {
		four, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, 0, fmt.Errorf("listen on loopback: %w", err)
		}
		port := four.Addr().(*net.TCPAddr).Port
		six, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(port)))
		switch {
		case err == nil:
			return []net.Listener{four, six}, port, nil
		case errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT):
			return []net.Listener{four}, port, nil
		}
		if err := four.Close(); err != nil {
			return nil, 0, fmt.Errorf("listen on loopback: %w", err)
		}
	}
	return nil, 0, errors.New("listen on loopback: no port is free in both families")
}

func closeAll(listeners []net.Listener) error {
	var errs []error
	for _, l := range listeners {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// forward is the command that makes the page reachable on the computer from which
// the owner came over SSH, or "".
func forward(env func(string) string, port int) string {
	// client address, client port, server address, server port
	f := strings.Fields(env("SSH_CONNECTION"))
	if len(f) != 4 || net.ParseIP(f[2]) == nil {
		return ""
	}
	if _, err := strconv.ParseUint(f[3], 10, 16); err != nil {
		return ""
	}
	user := env("USER")
	if user == "" || strings.ContainsFunc(user, func(r rune) bool {
		return r != '.' && r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) || user[0] == '-' {
		return ""
	}
	at := ""
	if f[3] != "22" {
		at = "-p " + f[3] + " "
	}
	return fmt.Sprintf("ssh -N -L %d:localhost:%d %s%s@%s", port, port, at, user, f[2])
}
