package custody

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/crypto/argon2"
)

// Params is the cost of Argon2id.
type Params struct {
	Time      uint32 // passes
	MemoryKiB uint32 // memory in KiB
	Threads   uint8
}

// Floor is the least cost that is used: 3 passes over 64 MiB with 4 threads.
var Floor = Params{Time: 3, MemoryKiB: 64 << 10, Threads: 4}

// Bounds of the cost, so that a header cannot ask for more than a computer has.
const (
	maxTime      = 32
	maxMemoryKiB = 1 << 20
	maxThreads   = 16
	minPassLen   = 8
	maxPassLen   = 1024
	kdfKeyLen    = 32
	kdfFixedLen  = 4 + 4 + 1 + saltLen
)

// Check refuses a cost outside the floor and 32 passes, 1 GiB, 16 threads.
func (p Params) Check() error {
	if p.Time < Floor.Time || p.Time > maxTime || p.MemoryKiB < Floor.MemoryKiB || p.MemoryKiB > maxMemoryKiB ||
		p.Threads < Floor.Threads || p.Threads > maxThreads {
		return errors.New("cost of the passphrase function is out of bounds")
	}
	return nil
}

// KDF turns a passphrase into 32 bytes in secret memory.
type KDF interface {
	// Derive writes 32 bytes to out. It blocks for about a second, until it is
	// done or ctx ends, and checks the bounds of p before it spends anything.
	Derive(ctx context.Context, p Params, passphrase []byte, salt [16]byte, out *Secret) error
}

// Runner starts this program again as one of its helpers and waits for it.
type Runner interface {
	// Run starts the helper named by args with in as standard input and out as
	// standard output, and returns its exit code. It ends the helper when ctx ends
	// and returns the error of ctx then.
	Run(ctx context.Context, in, out *os.File, args ...string) (exit int, err error)
}

// HelperKDF runs Argon2id in a helper process (`vault-key kdf`): its goroutines
// and its memory end with it, and nothing of the passphrase stays here.
type HelperKDF struct {
	Runner Runner
}

// Derive implements [KDF].
func (k HelperKDF) Derive(ctx context.Context, p Params, passphrase []byte, salt [16]byte, out *Secret) error {
	if err := p.Check(); err != nil {
		return err
	}
	if len(passphrase) > maxPassLen || out.Len() != kdfKeyLen {
		return errors.New("run the passphrase function: sizes are out of bounds")
	}
	frame, err := NewSecret(kdfFixedLen + max(len(passphrase), 1))
	if err != nil {
		return err
	}
	defer frame.Destroy()
	b := frame.Bytes()
	binary.BigEndian.PutUint32(b, p.Time)
	binary.BigEndian.PutUint32(b[4:], p.MemoryKiB)
	b[8] = p.Threads
	copy(b[9:], salt[:])
	copy(b[kdfFixedLen:], passphrase)
	n, exit, err := exchange(ctx, k.Runner, b[:kdfFixedLen+len(passphrase)], out, "kdf")
	if err != nil {
		return fmt.Errorf("run the passphrase function: %w", err)
	}
	if exit != 0 || n != kdfKeyLen {
		out.Wipe()
		return fmt.Errorf("run the passphrase function: the helper ended with code %d", exit)
	}
	return nil
}

// DirectKDF runs Argon2id in this process. The helper is where it belongs; a
// system without helpers can use it.
type DirectKDF struct{}

// Derive implements [KDF]. It does not end early when ctx does.
func (DirectKDF) Derive(_ context.Context, p Params, passphrase []byte, salt [16]byte, out *Secret) error {
	return DeriveInProcess(p, passphrase, salt, out)
}

// DeriveInProcess runs Argon2id here and writes 32 bytes to out. What its
// goroutines leave on heap and stacks is not erased: see [HelperKDF].
func DeriveInProcess(p Params, passphrase []byte, salt [16]byte, out *Secret) error {
	if err := p.Check(); err != nil {
		return err
	}
	if out.Len() != kdfKeyLen {
		return errors.New("run the passphrase function: the result is 32 bytes")
	}
	Do(func() {
		key := argon2.IDKey(passphrase, salt[:], p.Time, p.MemoryKiB, p.Threads, kdfKeyLen)
		copy(out.Bytes(), key)
		clear(key)
	})
	Collect()
	return nil
}

// KDFMain is the helper `kdf`: it reads cost, salt and passphrase from in until
// its end, writes 32 bytes to out, and returns the exit code of the process.
func KDFMain(in io.Reader, out io.Writer) int {
	frame, err := NewSecret(kdfFixedLen + maxPassLen + 1)
	if err != nil {
		return 1
	}
	defer frame.Destroy()
	n, err := frame.Fill(in)
	if err != nil || n < kdfFixedLen || n > kdfFixedLen+maxPassLen {
		return 2
	}
	b := frame.Bytes()[:n]
	key, err := NewSecret(kdfKeyLen)
	if err != nil {
		return 1
	}
	defer key.Destroy()
	p := Params{Time: binary.BigEndian.Uint32(b), MemoryKiB: binary.BigEndian.Uint32(b[4:]), Threads: b[8]}
	if err := DeriveInProcess(p, b[kdfFixedLen:], [saltLen]byte(b[9:kdfFixedLen]), key); err != nil {
		return 2
	}
	if _, err := out.Write(key.Bytes()); err != nil {
		return 1
	}
	return 0
}

// Calibrate runs kdf at the floor on a throw-away passphrase and returns the
// cost that should take about a second here. It blocks for as long as one run
// takes. now is the clock.
func Calibrate(ctx context.Context, kdf KDF, now func() time.Time) (Params, error) {
	out, err := NewSecret(kdfKeyLen)
	if err != nil {
		return Params{}, err
	}
	defer out.Destroy()
	start := now()
	if err := kdf.Derive(ctx, Floor, []byte("calibration"), [saltLen]byte{}, out); err != nil {
		return Params{}, fmt.Errorf("calibrate: %w", err)
	}
	return costFor(now().Sub(start)), nil
}

// costFor scales the floor, which took d, to about a second: memory first, up to
// 256 MiB, then passes.
func costFor(d time.Duration) Params {
	p := Floor
	for p.MemoryKiB < 256<<10 && 2*d <= time.Second {
		p.MemoryKiB *= 2
		d *= 2
	}
	if d > 0 && d < time.Second {
		p.Time = uint32(min(int64(p.Time)*int64(time.Second)/int64(d), maxTime))
	}
	return p
}

// exchange runs a helper that reads all of in and answers with at most
// out.Len() bytes. Both fit into a pipe, so nothing needs to be pumped.
func exchange(ctx context.Context, r Runner, in []byte, out *Secret, args ...string) (n, exit int, err error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return 0, 0, err
	}
	defer inR.Close()
	_, err = inW.Write(in)
	if err := errors.Join(err, inW.Close()); err != nil {
		return 0, 0, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return 0, 0, err
	}
	defer outR.Close()
	exit, err = r.Run(ctx, inR, outW, args...)
	if err := errors.Join(err, outW.Close()); err != nil || exit != 0 || out == nil {
		return 0, exit, err
	}
	n, err = out.Fill(outR)
	return n, exit, err
}
