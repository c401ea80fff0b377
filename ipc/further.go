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

// Further serves agents to one further user of this machine, on a socket of its own ([socket.ListenFor]), and to nobody
// else, until stop is called: it blocks until no call is under way, and with removed takes away the socket's folder
// too. log is as in [Options]. The error is a *socket.Error. Design of the socket: one further user id.
func Further(agents approvals.Agents, userID int64, path string, log func(error)) (stop func(removed bool), err error) {
	l, err := socket.ListenFor(path, userID)
	if err != nil {
		return nil, err
	}
	s := New(Options{Agents: agents, UserID: &userID, Log: log})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Serve(l); !errors.Is(err, ErrStopped) && log != nil {
			log(err)
		}
	}()
	return func(removed bool) {
		ctx, cancel := context.WithTimeout(context.Background(), endingPatience)
		defer cancel()
		s.Shutdown(ctx)
		<-done
		if removed {
			l.Forget()
		}
	}, nil
}
