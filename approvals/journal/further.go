package journal

import (
	"path"
	"strings"
	"unicode"
)

// Bounds of what may be added.
const (
	MaxSockets    = 8   // at a time
	MaxReadmitted = 512 // in one instance
	MaxSocketPath = 512 // bytes
	MaxUserID     = 1<<32 - 2
)

// SocketAdded is the body of socket.added: one further user of this machine may ask, over a socket of its own. It
// is a permit and needs no row beside it: all that it permits is in it, a passkey confirmed it, and a signed
// head is over it.
type SocketAdded struct {
	UserID       int64  `json:"user_id"` // as the kernel counts
	Path         string `json:"path"`    // see [IsSocketPath]
	Confirmation string `json:"confirmation,omitzero"`
}

// SocketRemoved is the body of socket.removed.
type SocketRemoved struct {
	UserID int64 `json:"user_id"`
}

// Readmitted is the body of instance.readmitted: an action envelope whose uses before this instance are not
// known may be used again, so often at most.
type Readmitted struct {
	What         string `json:"what"` // "envelope"
	Hash         string `json:"hash"` // of the action envelope, 0x and 64 hex digits
	Uses         int64  `json:"uses"` // in this instance, from its first use on
	Confirmation string `json:"confirmation,omitzero"`
}

// SocketState is a socket for a further user, in force.
type SocketState struct {
	UserID  int64  `json:"user_id"`
	Path    string `json:"path"`
	AddedAt int64  `json:"added_at"` // milliseconds since epoch, of the entry
}

// ReadmittedState is an action envelope that was admitted again in this instance.
type ReadmittedState struct {
	What string `json:"what"`
	Hash string `json:"hash"`
	Uses int64  `json:"uses"`
	At   int64  `json:"at"` // milliseconds since epoch, of the entry
}

// Codes of a [Contradiction] about them.
const (
	CodeUnknownSocket = "unknown_socket" // no such socket in the log
	CodeTooMany       = "too_many"       // as many as there may be
	CodeNotSuspended  = "not_suspended"  // nothing is suspended in a log that begins with its root
)

// IsSocketPath says whether a text is an absolute, clean path that can be shown on one line.
func IsSocketPath(s string) bool {
	return len(s) <= MaxSocketPath && strings.HasPrefix(s, "/") && s != "/" && path.Clean(s) == s &&
		strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) < 0
}

// Sockets returns the sockets for further users, ordered by user id.
func (s *State) Sockets() []SocketState {
	return sorted(s.sockets, func(x SocketState) int64 { return x.UserID })
}

// Socket returns the socket for a user.
func (s *State) Socket(userID int64) (SocketState, bool) { x, ok := s.sockets[userID]; return x, ok }

// Readmitted returns what was admitted again of an envelope hash.
func (s *State) Readmitted(envelopeHash string) (ReadmittedState, bool) {
	x, ok := s.readmitted[envelopeHash]
	return x, ok
}

// AllReadmitted returns what was admitted again, ordered by hash.
func (s *State) AllReadmitted() []ReadmittedState {
	return sorted(s.readmitted, func(x ReadmittedState) string { return x.Hash })
}

func (s *State) checkSocket(e Entry, b SocketAdded) (func(), error) {
	switch _, ok := s.sockets[b.UserID]; {
	case ok:
		return nil, contradict(CodeTwice, "there is a socket for this user already")
	case len(s.sockets) >= MaxSockets:
		return nil, contradict(CodeTooMany, "there are as many sockets as there may be")
	}
	return func() { put(&s.sockets, b.UserID, SocketState{b.UserID, b.Path, e.At}) }, nil
}

func (s *State) checkReadmitted(e Entry, b Readmitted) (func(), error) {
	switch _, ok := s.readmitted[b.Hash]; {
	case s.reason == "":
		return nil, contradict(CodeNotSuspended, "this log begins with its root: nothing is suspended in it")
	case ok:
		return nil, contradict(CodeTwice, "it was admitted again already")
	case len(s.readmitted) >= MaxReadmitted:
		return nil, contradict(CodeTooMany, "as much was admitted again as may be")
	}
	return func() { put(&s.readmitted, b.Hash, ReadmittedState{b.What, b.Hash, b.Uses, e.At}) }, nil
}
