package keys

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// echo answers every call with what it was given.
type echo struct {
	Handler // the calls that no test makes
	mu      sync.Mutex
	got     any
	entered chan struct{}
}

func (e *echo) keep(v any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.got = v
}

func (e *echo) Create(_ context.Context, a Create) (Public, error) {
	e.keep(a)
	return Public{Vault: "v", Passkeys: 2, Anchor: Anchor{Seq: 3, Hash: "h"}}, nil
}

func (e *echo) Load(_ context.Context, a Load) (Loaded, error) {
	e.keep(a)
	return Loaded{}, &Error{Code: "rolled_back", Detail: "sentence", Seq: 7}
}

func (e *echo) Commit(ctx context.Context, acts []Act) ([]Answer, error) {
	e.keep(acts)
	return []Answer{{Signature: "s", MACs: []string{"a", "b"}}, {Err: &Error{Code: "not_tried"}}}, nil
}

func (e *echo) Plan(_ context.Context, b []byte) ([]byte, error) { return b, nil }

func (e *echo) SeatKey(context.Context, int64) (string, error)  { return "U", nil }
func (e *echo) Address(context.Context, []byte) (string, error) { panic("a document found a fault") }

func (e *echo) Unlock(ctx context.Context, _ Unlock) (Public, error) {
	e.entered <- struct{}{}
	<-ctx.Done()
	return Public{}, &Error{Code: "cancelled"}
}

func (e *echo) Anchor(context.Context) error                 { return errors.New("not for the desk's eyes") }
func (e *echo) Lock(context.Context) error                   { return nil }
func (e *echo) Prove(context.Context, string, Surface) error { return nil }
func (e *echo) BotNonce(_ context.Context, client string) (string, error) {
	return "nonce of " + client, nil
}
func (e *echo) Minted(_ context.Context, m MintAsk) (MintAnswer, error) {
	return MintAnswer{Address: string(m.Delegate), Attestation: m.Request}, nil
}

func line(t *testing.T, h Handler) (c *Client, server net.Conn, served chan error, panics *[]string) {
	t.Helper()
	here, there := net.Pipe()
	panics = new([]string)
	served = make(chan error, 1)
	go func() {
		served <- Serve(there, h, func(m string, _ []byte) { *panics = append(*panics, m) })
		there.Close()
	}()
	c = NewClient(here)
	t.Cleanup(func() { here.Close() })
	return c, there, served, panics
}

func TestCallsArriveWhole(t *testing.T) {
	h := &echo{entered: make(chan struct{})}
	c, _, served, panics := line(t, h)
	ctx := t.Context()

	create := Create{Protection: ProtectPassphrase, Surface: SurfaceTerminal, Demo: true, PutOff: true}
	p, err := c.Create(ctx, create)
	if err != nil || p.Passkeys != 2 || p.Anchor.Hash != "h" || !reflect.DeepEqual(h.got, create) {
		t.Errorf("create: %+v %v, got %+v", p, err, h.got)
	}
	acts := []Act{{Entry: []byte("e"), Envelope: []byte("v"), Payload: []byte("p"), Permits: []Permit{{[]byte("b"), "m"}}}}
	answers, err := c.Commit(ctx, acts)
	if err != nil || !reflect.DeepEqual(h.got, acts) || answers[0].MACs[1] != "b" || answers[1].Err.Code != "not_tried" {
		t.Errorf("commit: %+v %v", answers, err)
	}
	var e *Error
	if _, err := c.Load(ctx, Load{Last: true, Entries: [][]byte{{1}}}); !errors.As(err, &e) || e.Code != "rolled_back" || e.Seq != 7 {
		t.Errorf("load: %v", err)
	}
	if err := c.Anchor(ctx); !errors.As(err, &e) || e.Code != CodeInternal || strings.Contains(e.Detail, "eyes") {
		t.Errorf("anchor: %v", err)
	}
	if _, err := c.Address(ctx, nil); !errors.As(err, &e) || e.Code != CodeInternal {
		t.Errorf("panic: %v", err)
	}
	if len(*panics) != 1 || (*panics)[0] != "address" {
		t.Errorf("panics %v", *panics)
	}
	large := bytes.Repeat([]byte("x"), largeFrame+1)
	for range 2 {
		if b, err := c.Plan(ctx, large); err != nil || !bytes.Equal(b, large) {
			t.Errorf("large: %d bytes, %v", len(b), err)
		}
	}
	if n, err := c.BotNonce(ctx, "c_1"); err != nil || n != "nonce of c_1" {
		t.Errorf("bot nonce: %q, %v", n, err)
	}
	if m, err := c.Minted(ctx, MintAsk{Delegate: []byte("d"), Request: []byte("q")}); err != nil || m.Address != "d" || string(m.Attestation) != "q" {
		t.Errorf("minted: %+v, %v", m, err)
	}
	if err := c.Prove(ctx, "d", SurfaceWindow); err != nil {
		t.Errorf("prove: %v", err)
	}
	if err := c.Lock(ctx); err != nil {
		t.Errorf("lock: %v", err)
	}
	if err := <-served; err != nil {
		t.Errorf("served: %v", err)
	}
	<-c.Done()
	if _, err := c.Plan(ctx, nil); !errors.As(err, &e) || e.Code != CodeEnded {
		t.Errorf("after the end: %v", err)
	}
}

func TestCancelReachesTheCall(t *testing.T) {
	h := &echo{entered: make(chan struct{}, 1)}
	c, _, _, _ := line(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-h.entered; cancel() }()
	var e *Error
	if _, err := c.Unlock(ctx, Unlock{}); !errors.As(err, &e) || e.Code != "cancelled" {
		t.Errorf("got %v", err)
	}
}

func TestLockEndsACallThatWaits(t *testing.T) {
	h := &echo{entered: make(chan struct{}, 1)}
	c, _, served, _ := line(t, h)
	waits := make(chan error, 1)
	go func() { _, err := c.Unlock(t.Context(), Unlock{}); waits <- err }()
	<-h.entered
	if err := c.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if err := <-waits; !errors.As(err, &e) || e.Code != "cancelled" {
		t.Errorf("the call that waited: %v", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestEndOfTheLineEndsCalls(t *testing.T) {
	h := &echo{entered: make(chan struct{}, 1)}
	c, there, _, _ := line(t, h)
	waits := make(chan error, 1)
	go func() { _, err := c.Unlock(t.Context(), Unlock{}); waits <- err }()
	<-h.entered
	there.Close()
	var e *Error
	if err := <-waits; !errors.As(err, &e) || e.Code != CodeEnded {
		t.Errorf("got %v", err)
	}
	<-c.Done()
}

func TestDamagedMessagesEndTheLine(t *testing.T) {
	for name, msg := range map[string][]byte{
		"too long": binary.BigEndian.AppendUint32(nil, MaxFrame+1),
		"not gob":  append(binary.BigEndian.AppendUint32(nil, 4), 1, 2, 3, 4),
		"empty":    binary.BigEndian.AppendUint32(nil, 0),
		"cut":      append(binary.BigEndian.AppendUint32(nil, 400), 1, 2, 3, 4),
	} {
		t.Run(name, func(t *testing.T) {
			if err := Serve(&script{r: bytes.NewReader(msg)}, &echo{}, nil); err == nil {
				t.Error("taken for a clean end")
			}
		})
	}
}

// script is a line whose other end has said what it says.
type script struct{ r io.Reader }

func (s *script) Read(p []byte) (int, error)  { return s.r.Read(p) }
func (s *script) Write(p []byte) (int, error) { return len(p), nil }

func TestOneNumberTwiceEndsTheLine(t *testing.T) {
	var calls bytes.Buffer
	e := newEnd(&calls)
	for range 2 {
		if err := e.send(&request{ID: 1, Method: "unlock"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := Serve(&script{r: &calls}, &echo{entered: make(chan struct{}, 2)}, nil); err == nil {
		t.Error("taken for a clean end")
	}
}

func TestEveryCallHasItsMethod(t *testing.T) {
	h := reflect.TypeFor[Handler]()
	if h.NumMethod() != len(methods) {
		t.Errorf("%d calls, %d on the line", h.NumMethod(), len(methods))
	}
}

func FuzzServe(f *testing.F) {
	var seed bytes.Buffer
	e := newEnd(&seed)
	for _, q := range []*request{
		{ID: 1, Method: "create", Create: &Create{}},
		{ID: 2, Method: "commit", Acts: []Act{{Entry: []byte("e")}}},
		{ID: 2, Cancel: true},
	} {
		if err := e.send(q); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(seed.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		h := &echo{entered: make(chan struct{}, 1000)}
		// Whatever arrives, Serve comes to an end.
		_ = Serve(&script{r: bytes.NewReader(b)}, nilSafe{h}, nil)
	})
}

// nilSafe has an answer for every call.
type nilSafe struct{ *echo }

func (nilSafe) Restore(context.Context, Restore) (Public, error) { return Public{}, nil }

func BenchmarkCall(b *testing.B) {
	here, there := net.Pipe()
	go Serve(there, &echo{}, nil)
	c := NewClient(here)
	defer here.Close()
	acts := []Act{{Entry: make([]byte, 700), Envelope: make([]byte, 400), Payload: make([]byte, 500), Permits: make([]Permit, 3)}}
	for b.Loop() {
		if _, err := c.Commit(b.Context(), acts); err != nil {
			b.Fatal(err)
		}
	}
}
