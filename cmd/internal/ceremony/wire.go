package ceremony

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A message is a type, a length of four bytes, big endian, and that many bytes:
// JSON, or for an answer what the page sent, unread.

// Type is the first byte of a message.
type Type byte

// The messages, in the order in which they come.
const (
	MsgName     Type = 'n' // key process: the RP ID
	MsgOrigin   Type = 'o' // helper: origin of the page
	MsgTask     Type = 't' // key process: [Task]
	MsgEvent    Type = 'e' // helper: [Event], any number of times
	MsgCompared Type = 'c' // key process: whether the digits were the same
	MsgAnswer   Type = 'a' // helper: what the passkey answered
	MsgVerdict  Type = 'v' // key process: [Verdict]
	MsgOutcome  Type = 'x' // helper: [Outcome]; the last one
)

// MaxMessage is the longest body of a message, in bytes.
const MaxMessage = 256 << 10

// Write writes one message with v as JSON.
func Write(w io.Writer, t Type, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("ceremony: write message: %w", err)
	}
	return WriteRaw(w, t, body)
}

// WriteRaw writes one message with the given body.
func WriteRaw(w io.Writer, t Type, body []byte) error {
	if len(body) > MaxMessage {
		return errors.New("ceremony: message is too long")
	}
	msg := binary.BigEndian.AppendUint32([]byte{byte(t)}, uint32(len(body)))
	_, err := w.Write(append(msg, body...))
	return err
}

// Read reads one message. It blocks until there is one, or the line has ended.
func Read(r io.Reader) (Type, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > MaxMessage {
		return 0, nil, errors.New("ceremony: message is too long")
	}
	body := make([]byte, n)
	_, err := io.ReadFull(r, body)
	return Type(head[0]), body, err
}
