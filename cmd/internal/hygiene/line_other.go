//go:build !unix

package hygiene

import (
	"errors"
	"net"
	"os"
)

// LinePair says that this system has no socketpairs.
func LinePair(string) (net.Conn, *os.File, error) {
	return nil, nil, errors.New("no line can be inherited on this system")
}
