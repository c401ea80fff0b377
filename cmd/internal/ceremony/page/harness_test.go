package page

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"vault/cmd/internal/ceremony"
	"vault/derive/confirm"
	"vault/derive/confirm/answer"
)

const vaultRPID = "vault-0123abcd.localhost"

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// noBrowser only says what link it was given.
type noBrowser struct {
	links chan string
	fails error // what the program that was asked ended with
	kills *sync.WaitGroup
}

func (b noBrowser) Open(link string) *Opening {
	b.links <- link
	ended := make(chan error, 1)
	if b.fails != nil {
		ended <- b.fails
	}
	return &Opening{Ended: ended, kill: func() {
		if b.kills != nil {
			b.kills.Done()
		}
	}}
}

// act is a ceremony under test, with the key process's end of the line.
type act struct {
	t      *testing.T
	line   *ceremony.Line
	origin string
	link   string
	token  string
	events chan ceremony.Event
	served chan error

	context   *confirm.Context
	challenge [32]byte // of an enrolment
	done      chan struct{}
	answer    []byte
	err       error
}

type option func(*Config, *ceremony.Task)

// begin starts a ceremony under the RP ID. The task is made when the origin is known.
func begin(t *testing.T, rpID string, task func(a *act) ceremony.Task, options ...option) *act {
	t.Helper()
	here, there := net.Pipe()
	a := &act{
		t: t, line: ceremony.NewLine(here), events: make(chan ceremony.Event, 16), served: make(chan error, 1), done: make(chan struct{}),
	}
	browser := noBrowser{links: make(chan string, 1)}
	cfg := Config{
		Rand: rand.Reader, Now: time.Now, Browser: browser, UserOf: UserOf, UID: os.Getuid(),
		Environment: func(string) string { return "" }, OpenTime: time.Hour,
	}
	var none ceremony.Task
	for _, o := range options {
		o(&cfg, &none)
	}
	go func() { a.served <- Serve(there, cfg) }()
	var err error
	if a.origin, err = a.line.Begin(t.Context(), rpID); err != nil {
		t.Fatal(err)
	}
	sent := task(a)
	for _, o := range options {
		o(&cfg, &sent)
	}
	go func() {
		defer close(a.done)
		a.answer, a.err = a.line.Run(context.Background(), sent, func(e ceremony.Event) { a.events <- e })
	}()
	a.link = <-browser.links
	a.token = a.link[len(a.origin)+2:]
	t.Cleanup(a.line.Close)
	return a
}

// event waits for an event of the kind.
func (a *act) event(kind ceremony.EventKind) ceremony.Event {
	a.t.Helper()
	for {
		select {
		case e := <-a.events:
			if e.Kind == kind {
				return e
			}
		case <-a.done:
			a.t.Fatalf("no event %s: the ceremony ended with %v", kind, a.err)
		}
	}
}

// wait waits for the end of Run.
func (a *act) wait() ([]byte, error) {
	<-a.done
	return a.answer, a.err
}

// ends expects the outcome, and that the helper ends with it.
func (a *act) ends(want ceremony.Outcome) {
	a.t.Helper()
	if _, err := a.wait(); err != want {
		a.t.Fatalf("ended with %v, want %v", err, want)
	}
	if err := <-a.served; err != nil {
		a.t.Errorf("the helper ended with %v", err)
	}
}

// fields is an act to be confirmed on the page.
func fields(origin, rpID string, says ...string) confirm.Fields {
	digest := sha256.Sum256([]byte("the act"))
	now := time.Now().Truncate(time.Second)
	f := confirm.Fields{
		Kind: confirm.ActionSign, Digest: hex.EncodeToString(digest[:]), Says: says, Origin: origin, RPID: rpID,
		IssuedAt: now.UnixMilli(), ExpiresAt: now.Add(time.Minute).UnixMilli(), RequestID: "request-1",
	}
	_, _ = rand.Read(f.Nonce[:])
	return f
}

// confirming asks the enrolled passkeys to confirm.
func confirming(rpID string, enrolled []answer.Credential, says ...string) func(*act) ceremony.Task {
	if len(says) == 0 {
		says = []string{"Sign one bitcoin transaction.", "It pays 0.40000000 to bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq."}
	}
	return func(a *act) ceremony.Task {
		a.t.Helper()
		c, err := confirm.NewContext(fields(a.origin, rpID, says...))
		if err != nil {
			a.t.Fatal(err)
		}
		a.context = c
		return taskOf(c, enrolled)
	}
}

func taskOf(c *confirm.Context, enrolled []answer.Credential) ceremony.Task {
	task := ceremony.Task{Context: string(c.Canonical()), Challenge: c.ChallengeText(), Ends: c.Fields().ExpiresAt}
	for _, e := range enrolled {
		task.Credentials = append(task.Credentials, ceremony.Credential{ID: b64(e.ID)})
	}
	return task
}

// enrolling asks for a new passkey.
func enrolling(enrolled []answer.Credential) func(*act) ceremony.Task {
	return func(a *act) ceremony.Task {
		_, _ = rand.Read(a.challenge[:])
		var user [32]byte
		_, _ = rand.Read(user[:])
		task := ceremony.Task{
			Enrol: &ceremony.Enrol{Challenge: b64(a.challenge[:]), UserID: b64(user[:]), Name: "Vault 0123abcd",
				Says: []string{"A new passkey for the vault 0123 abcd."}},
			Credentials: []ceremony.Credential{}, Ends: time.Now().Add(time.Minute).UnixMilli(),
		}
		for _, e := range enrolled {
			task.Credentials = append(task.Credentials, ceremony.Credential{ID: b64(e.ID)})
		}
		return task
	}
}
