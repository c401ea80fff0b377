package approvals

import (
	"context"
	"sync/atomic"
	"time"
)

// A key process that was stopped answers nothing and ends no call, not even one whose
// context has ended. What can be done about it is to end the process: then every call ends.

// patient makes a call that waits for no person. A key process that has not answered in
// time is ended, and the call is refused with CodeKeysEnded.
func (d *Desk) patient(ctx context.Context, k KeyProcess, call func(context.Context) error) error {
	late := time.AfterFunc(d.o.Patience, k.Kill)
	err := call(ctx)
	if !late.Stop() {
		return refuse(CodeKeysEnded)
	}
	return err
}

// attended makes a call that may wait for a person for as long as that takes. Meanwhile the
// key process is asked again and again whether it is there; one that is not is ended.
func (d *Desk) attended(ctx context.Context, k KeyProcess, call func(context.Context) error) error {
	over := make(chan struct{})
	var ended atomic.Bool
	go func() {
		again := time.NewTicker(d.o.Patience)
		defer again.Stop()
		for {
			// What it answers does not matter, also that it is not open yet.
			if d.patient(ctx, k, func(ctx context.Context) error { _, _ = k.Public(ctx); return nil }) != nil {
				ended.Store(true)
				return
			}
			select {
			case <-over:
				return
			case <-k.Done():
				return
			case <-again.C:
			}
		}
	}()
	err := call(ctx)
	close(over)
	if ended.Load() || err != nil && isDone(k) {
		return refuse(CodeKeysEnded)
	}
	return err
}

// isDone says whether a key process has ended.
func isDone(k KeyProcess) bool {
	select {
	case <-k.Done():
		return true
	default:
		return false
	}
}
