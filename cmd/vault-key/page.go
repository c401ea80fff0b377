package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"vault/approvals/keys"
	"vault/cmd/internal/ceremony"
	"vault/cmd/internal/hygiene"
	"vault/sign"
)

// openPage starts the ceremony helper, a process of the program `vault` that
// stands beside this one. The desk has no part in it.
func openPage(context.Context) (sign.Page, error) {
	path, err := hygiene.Sibling("vault")
	if err != nil {
		return nil, fmt.Errorf("open ceremony: %w", err)
	}
	line, err := ceremony.Open(path, os.Stderr)
	if err != nil {
		return nil, err
	}
	return openedPage{line}, nil
}

// openedPage puts sign's ceremonies onto the line.
type openedPage struct{ line *ceremony.Line }

// Begin implements sign.Page.
func (p openedPage) Begin(ctx context.Context, rpID string) (string, error) {
	origin, err := p.line.Begin(ctx, rpID)
	return origin, ended(err)
}

// Run implements sign.Page.
func (p openedPage) Run(ctx context.Context, t sign.PageTask, notify func(keys.Step)) ([]byte, error) {
	task := ceremony.Task{Ends: t.Ends, Credentials: []ceremony.Credential{}}
	if t.Enrol != nil {
		task.Enrol = &ceremony.Enrol{Challenge: t.Challenge, UserID: t.Enrol.UserID, Name: t.Enrol.Name, Says: t.Enrol.Says}
	} else {
		task.Context, task.Challenge = t.Context, t.Challenge
	}
	for _, c := range t.Credentials {
		task.Credentials = append(task.Credentials, ceremony.Credential{ID: c.ID, Transports: c.Transports})
	}
	answer, err := p.line.Run(ctx, task, func(e ceremony.Event) {
		// The kinds have the same words on both lines.
		notify(keys.Step{Kind: keys.StepKind(e.Kind), Link: e.Link, Forward: e.Forward, Digits: e.Digits, Detail: e.Detail})
	})
	return answer, ended(err)
}

// Compared implements sign.Page.
func (p openedPage) Compared(same bool) error { return p.line.Compared(same) }

// Finish implements sign.Page.
func (p openedPage) Finish(accepted bool, reason string) {
	p.line.Finish(ceremony.Verdict{Accepted: accepted, Reason: reason})
}

// Close implements sign.Page.
func (p openedPage) Close() { p.line.Close() }

// ended is an outcome in the words of package sign.
func ended(err error) error {
	var o ceremony.Outcome
	if errors.As(err, &o) {
		return &sign.PageEnd{Outcome: string(o), Detail: o.Error()}
	}
	return err
}
