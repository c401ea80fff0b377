package elsewhere

import (
	"context"
	"strings"
	"testing"

	"vault/approvals"
)

func (d *desk) Sockets() []approvals.SocketView { return d.sockets }

func (d *desk) AddSocket(_ context.Context, f approvals.FurtherUser) (approvals.Outcome, error) {
	if !f.Elsewhere {
		return approvals.Outcome{Code: "not said to be from elsewhere"}, nil
	}
	if d.outcome.Code == "done" {
		d.sockets = append(d.sockets, approvals.SocketView{UserID: 1001, User: f.User, Path: f.Path, Served: true})
	}
	return d.outcome, nil
}

func (d *desk) RemoveSocket(_ context.Context, id int64) error {
	if len(d.sockets) == 0 || d.sockets[0].UserID != id {
		return &approvals.Refusal{Code: "unknown_socket"}
	}
	d.sockets = nil
	return nil
}

func TestSockets(t *testing.T) {
	d := newDesk()
	texts, last := ask(d, Question{Do: "socket.list"})
	if last.Code != "done" || !strings.Contains(texts, "no socket") {
		t.Errorf("%q, %+v", texts, last)
	}
	add := Question{Do: "socket.add", User: "bu\x1b[2Jild", Path: "/srv/b/s.sock"}
	d.passkeys = 0
	if _, last := ask(d, add); last.Code != "no_passkey" || d.sockets != nil {
		t.Errorf("without a passkey: %+v", last)
	}
	d.passkeys, d.asking = 1, true
	if _, last := ask(d, add); last.Code != "ceremony_open" || d.sockets != nil {
		t.Errorf("beside another ceremony: %+v", last)
	}
	d.asking = false
	d.outcome.Code = "page_closed"
	if texts, last := ask(d, add); last.Code != "page_closed" || texts != "" {
		t.Errorf("%q, %+v", texts, last)
	}
	d.outcome.Code = "done"
	texts, last = ask(d, add)
	if last.Code != "done" || !strings.Contains(texts, "/srv/b/s.sock") || strings.Contains(texts, "\x1b") {
		t.Errorf("%q, %+v", texts, last)
	}
	d.sockets[0].Served, d.sockets[0].Trouble = false, "socket_path_unsafe"
	if texts, _ := ask(d, Question{Do: "socket.list"}); !strings.Contains(texts, "not served: socket_path_unsafe") {
		t.Errorf("%q", texts)
	}
	if _, last := ask(d, Question{Do: "socket.remove", UserID: 1002}); last.Code != "unknown_socket" || len(d.sockets) != 1 {
		t.Errorf("%+v", last)
	}
	if _, last := ask(d, Question{Do: "socket.remove", UserID: 1001}); last.Code != "done" || d.sockets != nil {
		t.Errorf("%+v", last)
	}
}
