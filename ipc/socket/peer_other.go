//go:build unix && !linux && !darwin

package socket

import (
	"errors"
	"net"
)

var errNoCredentials = errors.New("peer credentials: not written for this system")

// PeerOf always fails here: a peer that cannot be told is refused.
func PeerOf(net.Conn) (Peer, error) { return Peer{UserID: -1}, errNoCredentials }

func userOf(net.Conn) (int64, error) { return -1, errNoCredentials }
