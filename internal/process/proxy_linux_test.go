package process_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"

	"vault/ipc/client"
)

// proxy stands between the clients and the vault. It keeps every byte, and can stop
// the traffic when a number of signatures have passed.
type proxy struct {
	path, to string
	listener net.Listener

	mu     sync.Mutex
	kept   bytes.Buffer
	left   int // signatures that still pass; -1: all
	stop   chan struct{}
	let    chan struct{}
	opened sync.Once
}

func newProxy(path, to string) (*proxy, error) {
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, err
	}
	p := &proxy{path: path, to: to, listener: l, left: -1, stop: make(chan struct{}), let: make(chan struct{})}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p, nil
}

func (p *proxy) close() {
	p.release()
	_ = p.listener.Close() // nobody is left to tell
}

// hold stops everything before the nth signature from now on reaches its client.
func (p *proxy) hold(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = n - 1
}

// held is closed when the traffic stands.
func (p *proxy) held() <-chan struct{} { return p.stop }

// release lets traffic pass again.
func (p *proxy) release() { p.opened.Do(func() { close(p.let) }) }

func (p *proxy) bytes() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.kept.Bytes())
}

func (p *proxy) serve(c net.Conn) {
	defer c.Close()
	v, err := net.Dial("unix", p.to)
	if err != nil {
		return // no vault is there at the moment
	}
	defer v.Close()
	go func() {
		p.pass(v, c, false)
		_ = v.Close() // it ends the other direction
	}()
	p.pass(c, v, true)
}

func (p *proxy) pass(to io.Writer, from io.Reader, answers bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if !p.keep(buf[:n], answers) {
				<-p.let
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// keep notes what passes and says whether it may go on now.
func (p *proxy) keep(b []byte, answers bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.Write(b)
	if !answers || p.left < 0 {
		return true
	}
	if bytes.Contains(b, []byte(`"signature":"0x`)) {
		if p.left == 0 {
			select {
			case <-p.stop:
			default:
				close(p.stop)
			}
		} else {
			p.left--
		}
	}
	if p.left > 0 {
		return true
	}
	select {
	case <-p.stop:
	default:
		return true
	}
	select {
	case <-p.let:
		return true
	default:
		return false
	}
}

// connections gives one connection to the goroutines of a process, and a new one
// when it has ended.
type connections struct {
	ctx     context.Context
	sock    string
	pairing *client.Pairing

	mu   sync.Mutex
	conn *client.Conn
}

func (c *connections) get() (*client.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		return c.conn, nil
	}
	conn, err := client.Dial(c.ctx, c.sock)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Hello(c.ctx, c.pairing); err != nil {
		_ = conn.Close()
		return nil, err
	}
	c.conn = conn
	return conn, nil
}

func (c *connections) sign(s client.Sign) (client.Signed, error) {
	conn, err := c.get()
	if err != nil {
		return client.Signed{}, err
	}
	signed, err := conn.ActionSign(c.ctx, s)
	var answered *client.Error
	if err != nil && !errors.As(err, &answered) {
		c.mu.Lock()
		if c.conn == conn {
			c.conn = nil
			_ = conn.Close() // it has ended
		}
		c.mu.Unlock()
	}
	return signed, err
}
