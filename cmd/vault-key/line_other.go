//go:build !unix

package main

import (
	"errors"
	"net"
	"os"
)

// linePair says that this system has no socketpairs.
func linePair() (net.Conn, *os.File, error) {
	return nil, nil, errors.New("no line can be inherited on this system")
}
