package custody

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// Secret is a stretch of memory for secret bytes, outside the Go heap. Where the
// kernel offers it the pages are memfd_secret; else a private mapping between
// guard pages, locked, kept out of core dumps and wiped in a forked child.
//
// It prints as a placeholder and refuses every encoding. Its owner calls
// [Secret.Destroy]; using it afterwards panics or sees length 0, it never reads
// freed memory. It is not safe for concurrent writing.
type Secret struct {
	mem     []byte // the n usable bytes
	release func() error
	kind    SecretKind
}

// SecretKind says what protects the memory of a [Secret].
type SecretKind string

// The kinds of memory, best first.
const (
	SecretUnmapped SecretKind = "memfd_secret" // not even in the kernel's own mapping
	SecretLocked   SecretKind = "locked"       // own mapping, guard pages, mlock, no dump, wiped on fork
	SecretUnlocked SecretKind = "unlocked"     // own mapping that may be swapped: the limit on locked memory was reached
	SecretHeap     SecretKind = "heap"         // no such mapping on this system
)

// NewSecret returns n zero bytes, n between 1 and 2 MiB.
func NewSecret(n int) (*Secret, error) {
	if n < 1 || n > 2<<20 {
		return nil, fmt.Errorf("allocate secret memory: %d bytes are out of range", n)
	}
	mem, release, kind, err := allocate(n)
	if err != nil {
		return nil, fmt.Errorf("allocate secret memory: %w", err)
	}
	return &Secret{mem: mem, release: release, kind: kind}, nil
}

// Bytes returns the memory itself, not a copy. It is valid until Destroy. A
// destroyed or nil secret has none.
func (s *Secret) Bytes() []byte {
	if s == nil {
		return nil
	}
	return s.mem
}

// Len returns the number of bytes.
func (s *Secret) Len() int { return len(s.Bytes()) }

// Kind says what protects the memory.
func (s *Secret) Kind() SecretKind { return s.kind }

// Fill reads from r straight into the memory until it is full or r ends, and
// returns the number of bytes read. Give it a file or pipe: those copy nothing
// on the way. It blocks as r does.
func (s *Secret) Fill(r io.Reader) (int, error) {
	n, err := io.ReadFull(r, s.mem)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// Shrink shortens the secret to its first n bytes; the rest is wiped.
func (s *Secret) Shrink(n int) {
	clear(s.mem[n:])
	s.mem = s.mem[:n:n]
}

// Wipe overwrites the bytes with zeros.
func (s *Secret) Wipe() { clear(s.Bytes()) }

// Destroy wipes the bytes and gives the memory back. A second call, or one on
// nil, does nothing.
func (s *Secret) Destroy() {
	if s == nil || s.mem == nil {
		return
	}
	clear(s.mem)
	s.mem = nil
	// A failed unmapping leaves a wiped page behind, which hurts nobody.
	_ = s.release()
}

const redacted = "[secret]"

// String implements fmt.Stringer with a placeholder.
func (*Secret) String() string { return redacted }

// GoString implements fmt.GoStringer with a placeholder.
func (*Secret) GoString() string { return redacted }

// Format implements fmt.Formatter with a placeholder, whatever the verb.
func (*Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

var errNoEncoding = errors.New("a secret has no encoding")

// MarshalJSON refuses.
func (*Secret) MarshalJSON() ([]byte, error) { return nil, errNoEncoding }

// MarshalText refuses.
func (*Secret) MarshalText() ([]byte, error) { return nil, errNoEncoding }

// MarshalBinary refuses.
func (*Secret) MarshalBinary() ([]byte, error) { return nil, errNoEncoding }

// GobEncode refuses.
func (*Secret) GobEncode() ([]byte, error) { return nil, errNoEncoding }

// Collect runs the garbage collector so that memory which [Do] marked is erased,
// and gives free memory back to the system. Called after a secret was dropped;
// it blocks for some milliseconds.
func Collect() {
	for range 3 {
		runtime.GC()
	}
	debug.FreeOSMemory()
}
