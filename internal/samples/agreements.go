//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/keys"
	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/approvals/sow/span"
	"vault/custody"
	"vault/derive/confirm"
	"vault/derive/envelope"
	"vault/internal/softkey"
	"vault/ipc"
	"vault/ipc/client"
	"vault/ipc/socket"
	"vault/sign"
)

// offerText is the standing proposal of package sow's sample documents, without its signature and without the
// conditions that a client cannot assert of itself, and with a ceiling, as a pre-authorisation needs one.
//
//go:embed offer.json
var offerText []byte

// The parties of the offer. The provider's key is derived from a public text, as in the sample documents.
const (
	providerSeed = "agent-sow-doc-test/owner/inkwell"
	clientAgent  = "UDP4IIGSNLEY6ZF44DGNXQAEKM54BAPMP6G6VXRWHQHBSUSKHG32TEI7"
	clientOwner  = "Assay House"
	ceiling      = 9_000_000 // of the offer, in its smallest unit
)

// agreementKinds are those that are made here.
var agreementKinds = []confirm.Kind{confirm.SoWCountersign, confirm.SoWAmend, confirm.SoWTerminate, confirm.SoWDispute, confirm.SoWPreauthorise}

// tab answers every ceremony with one software passkey, in the place of the page and its helper.
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

// window types the passphrase.
type window struct{}

func (window) Ask(_ context.Context, _ sign.Question, _, answer []byte) (int, error) {
	return copy(answer, passphrase), nil
}

func (window) Finish(string) {}

// keyProcess is the key process's signer, in this process.
type keyProcess struct {
	*sign.Signer
	once *sync.Once
	done chan struct{}
}

func (p keyProcess) Lock(ctx context.Context) error {
	err := p.Signer.Lock(ctx)
	p.once.Do(func() { close(p.done) })
	return err
}

func (p keyProcess) Kill() { _ = p.Lock(context.Background()) }

func (p keyProcess) Done() <-chan struct{} { return p.done }

type launcher struct{ cfg sign.Config }

func (l launcher) Exists() (bool, error) {
	entries, err := os.ReadDir(l.cfg.Custody.Dir)
	return err == nil && len(entries) > 0, err
}

func (l launcher) Launch(context.Context) (approvals.KeyProcess, error) {
	return keyProcess{sign.New(l.cfg), new(sync.Once), make(chan struct{})}, nil
}

// agreements makes one record of each kind of act about an agreement, in a vault of its own in the folder place: through the
// desk's interface and with the key process's code, and without a page. It gives the owner card and the receipts.
func agreements(ctx context.Context, place string) (card []byte, receipts [][]byte, err error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	folder, sock := filepath.Join(place, "vault"), filepath.Join(place, "s")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, nil, err
	}
	key := softkey.New()
	cfg := sign.Config{
		Custody: custody.Config{Dir: folder, Rand: rand.Reader, Now: time.Now, KDF: custody.DirectKDF{}},
		Clock:   approvals.SystemClock(),
		Window:  func(context.Context, keys.Surface) (sign.Window, error) { return window{}, nil },
		Cost:    func(context.Context) (custody.Params, error) { return custody.Floor, nil },
		Page:    func(context.Context) (sign.Page, error) { return &tab{key: key}, nil },
		Fault:   func(err error) { fmt.Fprintln(os.Stderr, "samples: key process:", err) },
	}
	desk, err := approvals.New(ctx, approvals.Options{Folder: folder, Socket: sock, Launcher: launcher{cfg}})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, desk.Close()) }()
	a := &dealings{ctx: ctx, owner: desk.Owner()}
	if err := a.owner.Create(ctx, approvals.Creation{
		Protection: keys.ProtectPassphrase, Surface: keys.SurfaceTerminal, PutOff: true,
		Domain: approvals.DomainForm{Namespace: namespace, DomainID: domainID, Kind: domainKind},
	}); err != nil {
		return nil, nil, fmt.Errorf("create vault: %w", err)
	}
	l, err := socket.Listen(sock)
	if err != nil {
		return nil, nil, err
	}
	srv := ipc.New(ipc.Options{Agents: desk.Agents(), Log: func(err error) { fmt.Fprintln(os.Stderr, "samples: socket:", err) }})
	go func() { _ = srv.Serve(l) }()
	defer srv.Shutdown(context.Background())
	for _, step := range []func() error{func() error { return a.pair(sock) }, a.enrol, a.form, a.preauthorise, a.amend, a.dispute, a.terminate} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	card, out, err := a.owner.ExportCard(ctx)
	if err := done("export card", out, err); err != nil {
		return nil, nil, err
	}
	receipts, err = a.receipts()
	return card, receipts, err
}

// dealings are a client's owner and what they do about one offer and the engagement that is formed under it.
type dealings struct {
	ctx    context.Context
	owner  approvals.Owner
	buyer  string // the paired client
	offer  agreement.Imported
	id     string // the engagement
	digest string // the version in force
	doc    *sow.Document
}

// done is an error unless the owner's act was.
func done(what string, out approvals.Outcome, err error) error {
	if err == nil && out.Code != approvals.OutcomeDone {
		err = errors.New(out.Code)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// during looks each time that something changed, until act, which runs beside it, has ended.
func (a *dealings) during(act func() error, look func() error) error {
	woken, ended := make(chan struct{}, 1), make(chan error, 1)
	stop := a.owner.Watch(func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	defer stop()
	go func() { ended <- act() }()
	for {
		select {
		case err := <-ended:
			return err
		case <-woken:
			if err := look(); err != nil {
				return err
			}
		case <-a.ctx.Done():
			return a.ctx.Err()
		}
	}
}

// pair pairs a program by a click, as there is no passkey yet.
func (a *dealings) pair(sock string) error {
	conn, err := client.Dial(a.ctx, sock)
	if err != nil {
		return err
	}
	defer conn.Close()
	err = a.during(func() error {
		p, err := conn.Pair(a.ctx, "buyer", func(string) {})
		if err == nil {
			a.buyer = p.Client
		}
		return err
	}, func() error {
		for _, it := range a.owner.Inbox() {
			if it.Kind == approvals.ItemWords || !it.Next {
				continue
			}
			sheet, err := a.owner.Open(a.ctx, it.ID)
			if err != nil {
				continue // it was decided since
			}
			out, err := a.owner.Decide(a.ctx, approvals.Decision{ID: sheet.ID, Digest: sheet.Digest, Verdict: approvals.VerdictApprove, Name: "Buyer"})
			if err := done("pair", out, err); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("pair: %w", err)
	}
	return nil
}

// enrol enrols the passkey, and the owner says that it is theirs.
func (a *dealings) enrol() error {
	return a.during(func() error {
		out, err := a.owner.EnrolPasskey(a.ctx, approvals.Enrolment{Surface: keys.SurfaceTerminal})
		return done("enrol", out, err)
	}, func() error {
		if v, _ := a.owner.Ceremony(); v.State == approvals.CeremonyMine {
			return a.owner.Compared(a.ctx, true)
		}
		return nil
	})
}

// provider signs a document in the provider's place.
func provider(raw []byte) (*sow.Document, string, error) {
	d, err := sow.Parse(raw)
	if err != nil {
		return nil, "", err
	}
	seed := sha256.Sum256([]byte(providerSeed))
	k := ed25519.NewKeyFromSeed(seed[:])
	text, err := envelope.EncodeOwnerKey(k.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, "", err
	}
	d, err = d.WithSignature(sow.Provider, text, span.UTC(time.Now().UnixMilli()), ed25519.Sign(k, d.Signed()))
	return d, text, err
}

// bring imports what the other side sent.
func (a *dealings) bring(raw []byte) (agreement.Imported, error) {
	out, err := a.owner.Import(a.ctx, raw, "", agreement.Source{Kind: "file", Name: "sample.json"})
	if err == nil && out.Code != "" {
		err = errors.New(out.Code)
	}
	if err != nil {
		return out, fmt.Errorf("import: %w", err)
	}
	return out, nil
}

func (a *dealings) sign(engagement, digest, move string) error {
	out, err := a.owner.SignSoW(a.ctx, approvals.Signing{Engagement: engagement, Digest: digest, Move: move})
	return done(move, out, err)
}

// form takes up the offer and countersigns; the provider's signature makes it an agreement in force.
func (a *dealings) form() error {
	// The runtimes that act for this owner keep what the document calls enforced.
	if err := a.owner.SetDeployment(a.ctx, "", &sow.Deployment{
		Scope: true, Inputs: true, DeliverableForm: true, Revisions: true, Volume: true, Term: true, ChangeControl: true, Termination: true, Rating: true,
		RefusesCharge: true, ClientMeters: true, Sealed: true, Retention: true, ChecksFormation: true, VerifiesCounterparty: true,
	}); err != nil {
		return err
	}
	offer, key, err := provider(offerText)
	if err != nil {
		return fmt.Errorf("sign the offer: %w", err)
	}
	if a.offer, err = a.bring(offer.Raw()); err != nil {
		return err
	}
	seat, _ := offer.Party(sow.Provider)
	if err := a.owner.PinKey(a.ctx, approvals.PinAsk{Agent: seat.Agent, Key: key, Learned: "told"}); err != nil {
		return err
	}
	v, err := a.owner.Complete(a.ctx, approvals.Formation{Offer: a.offer.Engagement, Digest: a.offer.Digest, Fill: sow.Fill{
		Client: sow.Seat{Agent: clientAgent, Owner: clientOwner}, StartsAt: time.Now().Add(-time.Second).UnixMilli(), Assertions: []string{"holds-brand-licence"},
	}})
	if err != nil {
		return fmt.Errorf("take up the offer: %w", err)
	}
	if err := a.sign(v.ID, v.Digest, "countersign"); err != nil {
		return err
	}
	raw, err := a.owner.ExportSoW(a.ctx, v.ID, v.Digest)
	if err != nil {
		return err
	}
	b, err := bundle.Parse(raw)
	if err != nil {
		return err
	}
	if a.doc, _, err = provider(b.Document); err != nil {
		return fmt.Errorf("complete: %w", err)
	}
	if _, err := a.bring(a.doc.Raw()); err != nil {
		return err
	}
	a.id, a.digest = v.ID, v.Digest
	if v, err = a.owner.Engagement(a.id); err == nil && v.State != sow.Active {
		err = fmt.Errorf("the agreement is %s", v.State)
	}
	return err
}

// preauthorise lets the paired program form under the offer.
func (a *dealings) preauthorise() error {
	out, err := a.owner.Preauthorise(a.ctx, agreement.Preauthorisation{
		Offer: a.offer.Engagement, Digest: a.offer.Digest, Client: a.buyer, Party: sow.Seat{Agent: clientAgent, Owner: clientOwner},
		MaxCommitted: ceiling, Times: 3, NotAfter: time.Now().Add(time.Hour).UnixMilli(),
	})
	return done("preauthorise", out, err)
}

// amend approves a version that moves the price.
func (a *dealings) amend() error {
	raw := a.doc.Canonical()
	for _, edit := range [][2]string{{`"per_task":4200000`, `"per_task":4300000`}, {`"version":1,"volume"`, `"version":2,"volume"`}} {
		if !bytes.Contains(raw, []byte(edit[0])) {
			return fmt.Errorf("amend: the document has no %s", edit[0])
		}
		raw = bytes.Replace(raw, []byte(edit[0]), []byte(edit[1]), 1)
	}
	next, _, err := provider(raw)
	if err != nil {
		return fmt.Errorf("amend: %w", err)
	}
	out, err := a.bring(next.Raw())
	if err != nil {
		return err
	}
	if out.Engagement != a.id {
		return errors.New("amend: it came in as another engagement")
	}
	a.digest = out.Digest
	return a.sign(a.id, a.digest, "approve")
}

// dispute disputes a settlement whose operator fee is off by one.
func (a *dealings) dispute() error {
	settled, err := a.bring(fmt.Appendf(nil, `{"engagement":%q,"task":"task-1","lines":[{"meter":"items","unit":"package","count":1,"per":1,"per_unit":4300000,"amount":4300000}],`+
		`"total":4730001,"currency":"XCR","operator_fee":{"operator":"mesh.example","basis":{"kind":"percent","percent":10},"base":4300000,"amount":430001}}`, a.doc.ID()))
	if err != nil {
		return err
	}
	v, err := a.owner.Engagement(a.id)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(v.Records, func(r agreement.RecordView) bool { return r.SHA256 == settled.SHA256 && r.Dispute != "" }) {
		return errors.New("dispute: nothing is wrong with the settlement")
	}
	return a.act(approvals.ActAsk{Kind: sow.Dispute, Disputed: &sow.Disputed{Amount: 1, Currency: "XCR"}, Cites: []string{settled.SHA256}})
}

func (a *dealings) terminate() error {
	return a.act(approvals.ActAsk{Kind: sow.Termination, Ground: "convenience"})
}

func (a *dealings) act(ask approvals.ActAsk) error {
	ask.Engagement, ask.Digest = a.id, a.digest
	out, err := a.owner.ActOn(a.ctx, ask)
	return done(string(ask.Kind), out, err)
}

// receipts are those of every entry, the oldest first.
func (a *dealings) receipts() (out [][]byte, err error) {
	events, err := a.owner.Events(approvals.EventFilter{Limit: 500})
	if err != nil {
		return nil, err
	}
	slices.Reverse(events)
	for _, e := range events {
		raw, err := a.owner.Receipt(a.ctx, e.Seq)
		if err != nil {
			return nil, fmt.Errorf("receipt of entry %d: %w", e.Seq, err)
		}
		out = append(out, raw)
	}
	return out, nil
}
