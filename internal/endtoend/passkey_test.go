//go:build unix

package endtoend_test

import (
	"context"
	"time"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/internal/softkey"
	"vault/sign"
)

// tab answers every ceremony with one software passkey.
type tab struct {
	key          *softkey.Key
	origin, rpID string
}

func (p *tab) Begin(_ context.Context, rpID string) (string, error) {
	p.rpID, p.origin = rpID, "http://"+rpID+":40123"
	return p.origin, nil
}

func (p *tab) Run(_ context.Context, task sign.PageTask, notify func(keys.Step)) ([]byte, error) {
	notify(keys.Step{Kind: keys.StepReady})
	if task.Enrol != nil {
		return p.key.Register(task.Challenge, p.origin, p.rpID), nil
	}
	return p.key.Assert(task.Challenge, p.origin, p.rpID), nil
}

func (*tab) Compared(bool) error { return nil }
func (*tab) Finish(bool, string) {}
func (*tab) Close()              {}

// enrol enrols the first passkey: the owner says that it is theirs.
func (r *rig) enrol() {
	r.t.Helper()
	done := make(chan approvals.Outcome, 1)
	seen := make(chan struct{}, 1)
	stop := r.owner.Watch(func() {
		select {
		case seen <- struct{}{}:
		default:
		}
	})
	defer stop()
	go func() {
		out, err := r.owner.EnrolPasskey(r.t.Context(), approvals.Enrolment{Surface: keys.SurfaceTerminal})
		if err != nil {
			r.t.Error(err)
		}
		done <- out
	}()
	for {
		select {
		case out := <-done:
			if out.Code != approvals.OutcomeDone {
				r.t.Fatalf("%+v", out)
			}
			return
		case <-seen:
			if v, _ := r.owner.Ceremony(); v.State == approvals.CeremonyMine {
				_ = r.owner.Compared(r.t.Context(), true)
			}
		case <-time.After(time.Minute):
			r.t.Fatal("no passkey was enrolled")
		}
	}
}
