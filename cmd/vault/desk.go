package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"vault/approvals"
	"vault/approvals/folder"
	"vault/approvals/plain"
	"vault/cmd/vault/internal/elsewhere"
	"vault/cmd/vault/internal/session"
	"vault/cmd/vault/internal/wake"
	"vault/ipc"
	"vault/ipc/socket"
)

// opened is a desk over the vault's folder, with what has to be closed after it.
type opened struct {
	desk *approvals.Desk
	undo []func() error // in the order in which they were opened
}

// openDesk takes the folder and makes the desk, locked. No agent reaches it yet; with serves, further users do once it was
// unlocked.
func (p *program) openDesk(ctx context.Context, serves bool) (_ *opened, err error) {
	home, err := p.home()
	if err != nil {
		return nil, err
	}
	o := &opened{}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close())
		}
	}()
	lock, err := folder.Take(home)
	if err != nil {
		return nil, folderError(home, err)
	}
	o.undo = append(o.undo, lock.Close)
	path, err := socket.PathFrom(p.getenv)
	if err != nil {
		path = "" // serve says why; the other commands need no socket
	}
	options := approvals.Options{
		Folder: home, Socket: path, Launcher: launcher{folder: home}, Demo: p.demo, SocketPlace: socket.FurtherPath, Languages: knownLanguages(),
	}
	if serves {
		options.SocketServe = func(userID int64, path string) (approvals.ServedSocket, error) {
			return ipc.Further(o.desk.Agents(), userID, path, p.log)
		}
	}
	o.desk, err = approvals.New(ctx, options)
	if err != nil {
		return nil, err
	}
	o.undo = append(o.undo, o.desk.Close)
	return o, nil
}

// folderError types what the file system said of a folder that cannot be taken.
func folderError(home string, err error) error {
	for _, typed := range []error{folder.ErrInUse, folder.ErrNetwork, folder.ErrUnsafe} {
		if errors.Is(err, typed) {
			return err
		}
	}
	return &failure{code: "folder_unusable", detail: withSystem(home, err), status: statusNotDone, err: err}
}

// close locks the vault and gives everything back, newest first.
func (o *opened) close() error {
	var errs []error
	for i := len(o.undo) - 1; i >= 0; i-- {
		errs = append(errs, o.undo[i]())
	}
	o.undo = nil
	return errors.Join(errs...)
}

// shutdownPatience is how long agents' connections may take to end.
const shutdownPatience = 3 * time.Second

// startDesk opens the desk and lets agents in, runs surface, and locks and closes
// everything when it returns. show is what a second start of the program asks for.
func (p *program) startDesk(ctx context.Context, show func(), surface func(context.Context, *approvals.Desk) error) (err error) {
	o, err := p.openDesk(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	path, err := socket.PathFrom(p.getenv)
	if err != nil {
		return err
	}
	listener, err := socket.Listen(path)
	if err != nil {
		return err
	}
	server := ipc.New(ipc.Options{Agents: o.desk.Agents(), Log: p.log})
	var tasks sync.WaitGroup
	run, stop := context.WithCancel(ctx)
	tasks.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, ipc.ErrStopped) {
			p.log(err)
		}
	})
	tasks.Go(func() { o.desk.Run(run) })
	defer func() {
		stop()
		ending, cancel := context.WithTimeout(context.Background(), shutdownPatience)
		defer cancel()
		server.Shutdown(ending)
		tasks.Wait()
	}()

	owner := o.desk.Owner()
	lock := func(reason string) {
		if owner.Status().State == approvals.StateOpen || owner.Status().State == approvals.StateAway {
			if err := owner.Lock(run, reason); err != nil {
				p.log(err)
			}
		}
	}
	// Without the wake socket a second start says that a vault is open, and no more.
	if l, err := wake.Listen(o.home(), func(w wake.Word) {
		switch w {
		case wake.Show:
			show()
		case wake.Lock:
			lock("asked")
		}
	}); err != nil {
		p.log(fmt.Errorf("a second start cannot show this window, and vault lock does not reach this vault: its folder takes no socket: %s", withSystem(o.home(), err)))
	} else {
		defer func() { err = errors.Join(err, l.Close()) }()
	}
	if l, err := elsewhere.Listen(run, o.home(), owner, time.Local); err != nil {
		p.log(err) // vault pending, show and decide then say that no vault is open
	} else {
		defer func() { err = errors.Join(err, l.Close()) }()
	}
	session.Watch(run, session.Events{Away: owner.SetAway, Sleep: func() { lock("suspend") }})
	return surface(run, o.desk)
}

func (o *opened) home() string { return o.desk.Owner().Status().Folder }

// log tells whoever started the program of a fault of the vault itself.
func (p *program) log(err error) {
	_, _ = fmt.Fprintln(p.errOut, "vault: "+plain.TerminalLine(err.Error())) // there is nobody else to tell
}
