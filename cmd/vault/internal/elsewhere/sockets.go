package elsewhere

import (
	"context"
	"fmt"
	"strings"
	"time"

	"vault/approvals"
	"vault/approvals/plain"
)

// Sockets is a list of sockets for further users, as a checked text.
func Sockets(list []approvals.SocketView, loc *time.Location) string {
	if len(list) == 0 {
		return "There is no socket for another user.\n"
	}
	var b strings.Builder
	for _, s := range list {
		who := fmt.Sprint(s.UserID)
		if s.User != "" {
			who += " (" + plain.TerminalLine(s.User) + ")"
		}
		state := "not served"
		switch {
		case s.Served:
			state = "served"
		case s.Trouble != "":
			state += ": " + plain.TerminalLine(s.Trouble)
		}
		fmt.Fprintf(&b, "User %s, since %s, %s\n  %s\n", who, time.UnixMilli(s.AddedAt).In(loc).Format("2006-01-02 15:04"), state, plain.TerminalLine(s.Path))
	}
	return b.String()
}

// sockets answers about sockets for further users. Adding opens a ceremony; listing and removing are free.
func sockets(ctx context.Context, owner approvals.Owner, loc *time.Location, q Question, tell func(Told)) {
	switch q.Do {
	case "socket.list":
		tell(Told{Text: Sockets(owner.Sockets(), loc), Code: "done"})
	case "socket.remove":
		if err := owner.RemoveSocket(ctx, q.UserID); err != nil {
			tell(refused(err))
			return
		}
		tell(Told{Code: "done"})
	default:
		if len(owner.Passkeys()) == 0 {
			tell(Told{Code: "no_passkey"})
			return
		}
		if _, open := owner.Ceremony(); open {
			tell(Told{Code: "ceremony_open"})
			return
		}
		stop := follow(ctx, owner, loc, "socket", tell)
		out, err := owner.AddSocket(ctx, approvals.FurtherUser{User: q.User, Path: q.Path, Elsewhere: true})
		stop()
		if err != nil {
			tell(refused(err))
			return
		}
		if out.Code != "done" {
			tell(Told{Code: out.Code})
			return
		}
		tell(Told{Text: Sockets(owner.Sockets(), loc), Code: "done"})
	}
}
