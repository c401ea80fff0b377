package ipc

import (
	"context"
	"errors"
	"time"

	"vault/approvals"
	"vault/ipc/socket"
)

// endingPatience is how long the connections of a further user may take to end.
const endingPatience = 3 * time.Second

// FurtherSocket serves one further user. It is an [approvals.ServedSocket].
type FurtherSocket struct {
	listener *socket.Listener
	server   *Server
	done     chan struct{}
}

// Further serves agents to one further user of this machine, on a socket of its own ([socket.ListenFor]), and to nobody
// else, until it is stopped. log is as in [Options]. The error is a *socket.Error. Design of the socket: one further
// user id.
func Further(agents approvals.Agents, userID int64, path string, log func(error)) (*FurtherSocket, error) {
	l, err := socket.ListenFor(path, userID)
	if err != nil {
		return nil, err
	}
	f := &FurtherSocket{listener: l, server: New(Options{Agents: agents, UserID: &userID, Log: log}), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		if err := f.server.Serve(l); !errors.Is(err, ErrStopped) && log != nil {
			log(err)
		}
	}()
	return f, nil
}

// Stands implements [approvals.ServedSocket].
func (f *FurtherSocket) Stands() bool { return f.listener.Stands() }

// Stop implements [approvals.ServedSocket]. With removed it takes away the socket's folder too.
func (f *FurtherSocket) Stop(removed bool) {
	ctx, cancel := context.WithTimeout(context.Background(), endingPatience)
	defer cancel()
	f.server.Shutdown(ctx)
	<-f.done
	if removed {
		f.listener.Forget()
	}
}
