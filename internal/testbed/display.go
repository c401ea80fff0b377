//go:build linux

package testbed

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Display is a screen without glass. Only who has its cookie reaches it.
type Display struct {
	bed    *Bed
	frames string // file that the server keeps the screen in

	mu   sync.Mutex
	raw  []byte // of the last picture
	last *image.RGBA

	spare []byte // for the next one
}

// StartDisplay starts Xvfb on a number that is free, with a cookie of its own, and
// puts both into the bed's environment. It returns when the server takes connections.
func (b *Bed) StartDisplay(ctx context.Context, width, height int) (*Display, error) {
	authority := filepath.Join(b.Dir, "Xauthority")
	if err := os.WriteFile(authority, cookie(), 0o600); err != nil {
		return nil, fmt.Errorf("start display: %w", err)
	}
	frames := filepath.Join(b.Dir, "frames")
	if err := os.Mkdir(frames, 0o700); err != nil {
		return nil, fmt.Errorf("start display: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start display: %w", err)
	}
	defer r.Close()
	cmd := b.Command(context.WithoutCancel(ctx), "Xvfb", "-displayfd", "3", "-screen", "0", fmt.Sprintf("%dx%dx24", width, height),
		"-auth", authority, "-nolisten", "tcp", "-noreset", "-fbdir", frames)
	cmd.ExtraFiles = []*os.File{w}
	_, err = b.Start(cmd)
	_ = w.Close() // the server has its own
	if err != nil {
		return nil, err
	}
	number, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("start display: the server said no number; see %s: %w", b.Log, err)
	}
	b.Set("DISPLAY", ":"+strings.TrimSpace(number))
	b.Set("XAUTHORITY", authority)
	return &Display{bed: b, frames: filepath.Join(frames, "Xvfb_screen0")}, nil
}

// cookie is an authority file of one entry, for every display (family wild).
func cookie() []byte {
	var key [16]byte
	_, _ = rand.Read(key[:]) // never fails
	out := binary.BigEndian.AppendUint16(nil, 0xffff)
	for _, field := range [][]byte{nil, nil, []byte("MIT-MAGIC-COOKIE-1"), key[:]} {
		out = binary.BigEndian.AppendUint16(out, uint16(len(field)))
		out = append(out, field...)
	}
	return out
}

// Screen is what the screen shows now; the same picture again as long as nothing has
// changed. It is not to be drawn into.
func (d *Display) Screen() (*image.RGBA, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// It is looked at many times a second: two buffers take turns.
	raw, err := readInto(d.spare, d.frames)
	if err != nil {
		return nil, fmt.Errorf("read screen: %w", err)
	}
	d.spare = raw
	if d.last == nil || !bytes.Equal(raw, d.raw) {
		img, err := picture(raw)
		if err != nil {
			return nil, err
		}
		d.raw, d.spare, d.last = raw, d.raw, img
	}
	return d.last, nil
}

// readInto reads a whole file, into buf where that is large enough.
func readInto(buf []byte, name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if n := int(info.Size()); cap(buf) < n {
		buf = make([]byte, n)
	} else {
		buf = buf[:n]
	}
	_, err = io.ReadFull(f, buf)
	return buf, err
}

// picture reads the form in which the server keeps its screen (X window dump, 32 bits).
func picture(raw []byte) (*image.RGBA, error) {
	if len(raw) < 100 {
		return nil, errors.New("read screen: the picture has no head")
	}
	head := func(i int) int { return int(binary.BigEndian.Uint32(raw[4*i:])) }
	width, height, bits, line := head(4), head(5), head(11), head(12)
	at := head(0) + head(19)*12
	if bits != 32 || head(7) != 0 || at+line*height > len(raw) {
		return nil, errors.New("read screen: the picture is of another kind")
	}
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		row := raw[at+y*line:]
		for x := range width {
			img.Pix[y*img.Stride+4*x] = row[4*x+2]
			img.Pix[y*img.Stride+4*x+1] = row[4*x+1]
			img.Pix[y*img.Stride+4*x+2] = row[4*x]
			img.Pix[y*img.Stride+4*x+3] = 255
		}
	}
	return img, nil
}

// do runs xdotool, which makes real input events.
func (d *Display) do(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "xdotool", args...)
	cmd.Env = d.bed.Environ()
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("xdotool %s: %w", args[0], err)
	}
	return string(out), nil
}

// Click moves the pointer and presses its first button, n times.
func (d *Display) Click(ctx context.Context, at image.Point, n int) error {
	_, err := d.do(ctx, "mousemove", strconv.Itoa(at.X), strconv.Itoa(at.Y), "click", "--repeat", strconv.Itoa(n), "--delay", "20", "1")
	return err
}

// Move moves the pointer.
func (d *Display) Move(ctx context.Context, at image.Point) error {
	_, err := d.do(ctx, "mousemove", strconv.Itoa(at.X), strconv.Itoa(at.Y))
	return err
}

// Wheel turns the wheel down under the pointer.
func (d *Display) Wheel(ctx context.Context, at image.Point, n int) error {
	_, err := d.do(ctx, "mousemove", strconv.Itoa(at.X), strconv.Itoa(at.Y), "click", "--repeat", strconv.Itoa(n), "--delay", "5", "5")
	return err
}

// Press presses keys by their X names, one after the other.
func (d *Display) Press(ctx context.Context, keys ...string) error {
	_, err := d.do(ctx, append([]string{"key", "--delay", "15"}, keys...)...)
	return err
}

// Type types text.
func (d *Display) Type(ctx context.Context, text string) error {
	_, err := d.do(ctx, "type", "--delay", "10", "--", text)
	return err
}

// Windows lists the windows on the screen whose title is exactly so.
func (d *Display) Windows(ctx context.Context, title string) ([]string, error) {
	out, err := d.do(ctx, "search", "--onlyvisible", "--name", "^"+title+"$")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && out == "" {
		return nil, nil // there is none
	}
	return strings.Fields(out), err
}

// AwaitWindow waits for a window with the title.
func (d *Display) AwaitWindow(ctx context.Context, title string) (id string, err error) {
	err = Until(ctx, "the window “"+title+"”", func() (bool, error) {
		ids, err := d.Windows(ctx, title)
		if len(ids) > 0 {
			id = ids[0]
		}
		return len(ids) > 0, err
	})
	return id, err
}

// AwaitGone waits until no window has the title.
func (d *Display) AwaitGone(ctx context.Context, title string) error {
	return Until(ctx, "the end of the window “"+title+"”", func() (bool, error) {
		ids, err := d.Windows(ctx, title)
		return len(ids) == 0, err
	})
}

// Place puts a window somewhere and gives it the keyboard, as a window manager does
// for a person; there is none on this display.
func (d *Display) Place(ctx context.Context, window string, at image.Point) error {
	_, err := d.do(ctx, "windowmove", window, strconv.Itoa(at.X), strconv.Itoa(at.Y), "windowraise", window, "windowfocus", window)
	return err
}

// Resize gives a window another size, as a person does at its edge.
func (d *Display) Resize(ctx context.Context, window string, size image.Point) error {
	_, err := d.do(ctx, "windowsize", "--sync", window, strconv.Itoa(size.X), strconv.Itoa(size.Y))
	return err
}
