package ceremony

import (
	"bytes"
	"context"
	"errors"
	"net"
	"testing"
)

func TestRPID(t *testing.T) {
	for vault, want := range map[string]string{
		"0123abcd0123abcd0123abcd0123abcd": "vault-0123abcd.localhost",
		"0123ABCD0123abcd0123abcd0123abcd": "", "0123abc": "", "": "", "0123abcg": "", "..%2f0000": "",
	} {
		if got := RPID(vault); got != want {
			t.Errorf("%q: %q, want %q", vault, got, want)
		}
		if want != "" && !IsRPID(want) {
			t.Errorf("%q is not taken", want)
		}
	}
	for _, name := range []string{"", "vault-.localhost", "vault-0123abcd", "vault-0123abcdef.localhost", "vault-0123abcd.localhost.localhost", "localhost.localhost", "LOCALHOST"} {
		if IsRPID(name) {
			t.Errorf("%q is taken", name)
		}
	}
}

// helper plays the other end.
type helper struct {
	t    *testing.T
	conn net.Conn
}

func (h helper) expect(want Type) []byte {
	h.t.Helper()
	kind, body, err := Read(h.conn)
	if err != nil || kind != want {
		h.t.Errorf("got %c %s %v, want %c", kind, body, err, want)
	}
	return body
}

func (h helper) say(kind Type, v any) {
	h.t.Helper()
	if err := Write(h.conn, kind, v); err != nil {
		h.t.Error(err)
	}
}

func pair(t *testing.T, play func(helper)) *Line {
	here, there := net.Pipe()
	played := make(chan struct{})
	go func() {
		defer close(played)
		defer there.Close()
		play(helper{t, there})
	}()
	l := NewLine(here)
	t.Cleanup(func() { l.Close(); <-played })
	return l
}

func TestLine(t *testing.T) {
	l := pair(t, func(h helper) {
		if got := h.expect(MsgName); string(got) != `"localhost"` {
			t.Errorf("name %s", got)
		}
		h.say(MsgOrigin, "http://localhost:4711")
		h.expect(MsgTask)
		h.say(MsgEvent, Event{Kind: Compare, Digits: "012345"})
		if got := h.expect(MsgCompared); string(got) != "true" {
			t.Errorf("compared %s", got)
		}
		if err := WriteRaw(h.conn, MsgAnswer, []byte(`{ "raw" :1}`)); err != nil {
			t.Error(err)
		}
		if got := h.expect(MsgVerdict); string(got) != `{"accepted":true}` {
			t.Errorf("verdict %s", got)
		}
	})
	origin, err := l.Begin(t.Context(), FallbackRPID)
	if origin != "http://localhost:4711" || err != nil {
		t.Fatal(origin, err)
	}
	var seen []Event
	answer, err := l.Run(t.Context(), Task{}, func(e Event) {
		seen = append(seen, e)
		if err := l.Compared(true); err != nil {
			t.Error(err)
		}
	})
	if err != nil || string(answer) != `{ "raw" :1}` || len(seen) != 1 || seen[0].Digits != "012345" {
		t.Fatalf("%s %v %v", answer, err, seen)
	}
	l.Finish(Verdict{Accepted: true})
}

func TestLineEnds(t *testing.T) {
	for name, c := range map[string]struct {
		play func(helper)
		want error
	}{
		"outcome":         {func(h helper) { h.say(MsgOutcome, Contested) }, Contested},
		"unknown outcome": {func(h helper) { h.say(MsgOutcome, Outcome("approved")) }, LineEnded},
		"gone":            {func(helper) {}, LineEnded},
		"out of turn":     {func(h helper) { h.say(MsgOrigin, "http://localhost:1") }, LineEnded},
		"broken event":    {func(h helper) { h.say(MsgEvent, 7) }, LineEnded},
		"too long":        {func(h helper) { _, _ = h.conn.Write([]byte{byte(MsgAnswer), 0x7f, 0, 0, 0}) }, LineEnded},
	} {
		t.Run(name, func(t *testing.T) {
			l := pair(t, func(h helper) { h.expect(MsgTask); c.play(h) })
			if answer, err := l.Run(t.Context(), Task{}, func(Event) {}); err != c.want || answer != nil {
				t.Errorf("%s %v, want %v", answer, err, c.want)
			}
		})
	}
	t.Run("no port", func(t *testing.T) {
		l := pair(t, func(h helper) { h.expect(MsgName); h.say(MsgOutcome, NoPort) })
		if _, err := l.Begin(t.Context(), FallbackRPID); err != NoPort {
			t.Errorf("got %v", err)
		}
	})
	t.Run("context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := pair(t, func(h helper) {
			h.expect(MsgTask)
			cancel()
			_, _, _ = Read(h.conn) // until the line ends
		})
		if _, err := l.Run(ctx, Task{}, func(Event) {}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("name", func(t *testing.T) {
		if _, err := NewLine(nil).Begin(t.Context(), "example.com"); err != NameRefused {
			t.Errorf("got %v", err)
		}
	})
}

func TestOutcomesHaveWords(t *testing.T) {
	seen := map[string]Outcome{}
	for o := range sentences {
		if other, twice := seen[o.Error()]; twice {
			t.Errorf("%s and %s say the same", o, other)
		}
		seen[o.Error()] = o
	}
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	_ = Write(&b, MsgEvent, Event{Kind: Opened})
	f.Add(b.Bytes())
	f.Add([]byte{byte(MsgAnswer), 0, 0, 0, 0})
	f.Add([]byte{byte(MsgAnswer), 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, raw []byte) {
		kind, body, err := Read(bytes.NewReader(raw))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := WriteRaw(&out, kind, body); err != nil || !bytes.HasPrefix(raw, out.Bytes()) {
			t.Errorf("%x was read as %x", raw, out.Bytes())
		}
	})
}
