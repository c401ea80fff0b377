package sign

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"slices"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/custody"
	"vault/derive/confirm"
	"vault/derive/confirm/answer"
)

// Page is one ceremony's page, in a helper of its own: it shows, and does not decide.
type Page interface {
	// Begin serves the page under the name and returns its origin. It blocks until then.
	Begin(ctx context.Context, rpID string) (origin string, err error)
	// Run has it opened and returns what the passkey answered, unread. It blocks until then; notify is told
	// of every step on the way. The error is a [PageEnd], or another.
	Run(ctx context.Context, task PageTask, notify func(keys.Step)) (answer []byte, err error)
	// Compared says whether window and page showed the same digits.
	Compared(same bool) error
	// Finish tells the page what came of it, and ends it; reason has no full stop.
	Finish(accepted bool, reason string)
	// Close ends it.
	Close()
}

// PageTask is what a page is for. Texts of bytes are base64url without padding.
type PageTask struct {
	Context   string // canonical context of a confirmation
	Challenge string
	Enrol     *PageEnrol // or a new passkey
	// Credentials may answer; in an enrolment they may not be enrolled again.
	Credentials []PageCredential
	Ends        int64 // milliseconds since epoch
}

// PageEnrol asks for a new passkey.
type PageEnrol struct {
	UserID string
	Name   string
	Says   []string
}

// PageCredential names an enrolled passkey to the browser.
type PageCredential struct {
	ID         string
	Transports []string
}

// PageEnd is why a page ended without an answer: a word of the ceremony, and its sentence.
type PageEnd struct{ Outcome, Detail string }

// Error implements error.
func (e *PageEnd) Error() string { return e.Detail }

// otherName is the RP ID for browsers that do not take the vault's own.
const otherName = "localhost"

// ownName is the vault's own RP ID (section 6 of the design).
func (s *Signer) ownName() string { return "vault-" + s.pub.Vault[:8] + ".localhost" }

// maxSteps bounds what is told of one ceremony; a page that says more is not listened to.
const maxSteps = 64

// ceremony is the one that is open, or the last one. It is guarded by Signer.mu, but for steps.
type ceremony struct {
	id      string
	rpID    string
	says    []string
	page    Page // nil until it is served
	stop    context.CancelFunc
	steps   chan keys.Step // closed when over
	ends    instant
	over    bool
	origin  string
	context *confirm.Context // nil in an enrolment
	kind    confirm.Kind
	digest  string // 64 hex digits
	// document, role and body are those of the entry, where its kind has them (journal.Confirmed).
	document *confirm.Document
	role     string
	body     string
	card     *confirm.OwnerCard
	try      bool

	challenge [32]byte
	assertion answer.Assertion
	record    *confirm.Record // of the answer, not verified
}

// tell adds a step. The caller holds s.mu.
func (c *ceremony) tell(st keys.Step) {
	if c.over {
		return
	}
	last := st.Kind == keys.StepAnswered || st.Kind == keys.StepPending || st.Kind == keys.StepEnded
	if !last && len(c.steps) >= maxSteps-2 { // an answer, and an end after it, always have their place
		return
	}
	select {
	case c.steps <- st:
	default:
	}
}

// close ends a ceremony; a second call does nothing. The caller holds s.mu.
func (c *ceremony) close() {
	if c == nil || c.over {
		return
	}
	c.over = true
	close(c.steps)
	c.stop()
}

// end closes it with the reason. The caller holds s.mu.
func (c *ceremony) end(outcome, detail string) {
	if c.over {
		return
	}
	c.tell(keys.Step{Kind: keys.StepEnded, Outcome: outcome, Detail: detail})
	c.close()
	if c.page != nil {
		c.page.Close()
	}
}

// Public implements [keys.Handler].
func (s *Signer) Public(context.Context) (keys.Public, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.vault == nil {
		return keys.Public{}, refuse(keys.CodeEnded, "the vault is locked")
	}
	s.refresh()
	return s.pub, nil
}

// Begin implements [keys.Handler].
func (s *Signer) Begin(ctx context.Context, ask keys.Ask) (keys.Begun, error) {
	s.mu.Lock()
	c, err := s.reserve(ask)
	if err == nil && s.cfg.Page == nil {
		c.close()
		err = refuse("no_browser", "this build serves no page")
	}
	s.mu.Unlock()
	if err != nil {
		return keys.Begun{}, s.fault(err)
	}
	begun, err := s.serve(ctx, c, ask)
	if err != nil {
		s.mu.Lock()
		c.end(string(answer.Malformed), "")
		s.mu.Unlock()
		var end *PageEnd
		if errors.As(err, &end) {
			return keys.Begun{}, refuse(end.Outcome, end.Detail)
		}
		return keys.Begun{}, s.fault(err)
	}
	return begun, nil
}

// reserve checks what can be checked before anybody is asked, and makes the ceremony. The caller holds s.mu.
func (s *Signer) reserve(ask keys.Ask) (*ceremony, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	asked := 0
	for _, set := range []bool{ask.Act != nil, ask.Owner != nil, ask.Enrol != nil, ask.Try} {
		if set {
			asked++
		}
	}
	if asked != 1 {
		return nil, refuse(codeMalformed, "a ceremony is for one thing")
	}
	if old := s.ceremony; old != nil && !old.over {
		if !s.clock.reached(old.ends) {
			return nil, refuse(keys.CodeCeremonyOpen, "a ceremony is open already")
		}
		old.end(keys.CodeTimedOut, "its time is over")
	}
	now := s.cfg.Clock.Now()
	c := &ceremony{steps: make(chan keys.Step, maxSteps), stop: func() {}, ends: s.clock.after(now-now%1000, confirm.MaxLifetime), rpID: s.ownName()}
	if ask.OtherName {
		c.rpID = otherName
	}
	if err := s.describe(c, ask); err != nil {
		return nil, err
	}
	id := make([]byte, 8)
	if _, err := io.ReadFull(s.cfg.Custody.Rand, id); err != nil {
		return nil, err
	}
	c.id = "ce_" + hex.EncodeToString(id)
	s.ceremony = c
	return c, nil
}

// describe says what the ceremony is for: kind, digest and words, from the bytes that will be signed.
func (s *Signer) describe(c *ceremony, ask keys.Ask) error {
	switch {
	case ask.Enrol != nil:
		if s.vault.State().Protection == custody.KeyringOnly {
			return refuse(keys.CodeNoPassphrase, custody.ErrPasskeysNeedPassphrase.Error())
		}
		if len(s.sealed.passkeys) == 0 && s.sealed.first != 0 {
			return errPasskeyOnce
		}
		if len(s.sealed.passkeys) >= maxEnrolled {
			return errManyPasskeys
		}
		s.pending = nil
		c.says = []string{"Enrol a new passkey for this vault.", "Afterwards it confirms the acts that bind you."}
		return nil
	case ask.Try:
		p := s.pending
		if p == nil || !p.mine {
			return refuse(keys.CodeNothingPending, "no new passkey has been compared")
		}
		p.tried = nil
		c.try, c.rpID, c.kind = true, p.passkey.RPID, confirm.PasskeyTry
		c.digest = s.tryDigest(p.passkey)
		c.says = []string{"Try the new passkey.", "Its key: " + p.passkey.key.Digits() + ", " + kindWords(p.passkey) + ".", "Nothing else is done."}
		return nil
	case ask.Owner != nil:
		from := ""
		if confirm.Kind(ask.Owner.Act) == confirm.ProtectionChange {
			from = string(s.vault.State().Protection)
		}
		if err := s.ownerAct(ask.Owner.Act, from, ask.Owner.To); err != nil {
			return err
		}
		c.kind = confirm.Kind(ask.Owner.Act)
		c.says = ownerSays(c.kind, from, ask.Owner.To)
		if c.kind == confirm.CardExport {
			card, err := s.newCard(s.cfg.Clock.Now())
			if err != nil {
				return err
			}
			c.card, c.digest = card, sha256hex(card.Canonical())
		} else {
			c.digest = sha256hex(journal.CanonicalAct(c.kind, journal.OwnerAct{From: from, To: ask.Owner.To}))
		}
	default:
		e, err := journal.Parse(ask.Act.Entry)
		if err != nil {
			return refuse(codeMalformed, "the entry is not one of a log")
		}
		if e, err = s.placed(e); err != nil {
			return err
		}
		want, ok := e.Confirmation()
		if !ok || want.Record != journal.Zero || want.Kind == confirm.PasskeyTry || e.Kind == journal.KindActConfirmed {
			return refuse(codeMalformed, "this is not an act that a ceremony begins with")
		}
		if err := s.checkTime(e); err != nil {
			return err
		}
		if err := s.state.Check(e); err != nil {
			return err
		}
		if _, err := s.guard(e, *ask.Act); err != nil {
			return err
		}
		if c.says, err = s.says(e, *ask.Act); err != nil {
			return err
		}
		c.kind, c.digest, c.document, c.role, c.body = want.Kind, want.Digest, want.Document, want.Role, want.Body
	}
	if len(s.sealed.passkeys) == 0 {
		return errNoPasskey
	}
	if !ask.OtherName {
		c.rpID = s.usedName()
	}
	return nil
}

// placed is an entry as it would stand at the head now. Others are committed while one is drafted, and what is
// confirmed is the act, not its place.
func (s *Signer) placed(e journal.Entry) (journal.Entry, error) {
	body := e.Decoded()
	if b, ok := body.(journal.ActionSigned); ok {
		b.Use = s.state.Uses(b.EnvelopeHash) + 1
		body = b
	}
	return journal.Make(e.Instance, s.state.Seq()+1, s.state.Hash(), e.At, e.Kind, body)
}

// tryDigest is what the pending passkey's own first answer is over: the entry that enrols it as the first.
func (s *Signer) tryDigest(p sealedPasskey) string {
	return sha256hex(journal.CanonicalAct(confirm.PasskeyTry, journal.PasskeyAdded{
		Passkey: p.Key, Kind: p.Kind, BackupEligible: p.BackupEligible, RPID: p.RPID, By: "passphrase",
	}))
}

// usedName is the name that the passkey used or enrolled last answers for; the vault's own name goes before "localhost".
// A page can ask for passkeys of one name only: where none of that name answered the last time, it is the turn of those
// of the other, so that a passkey that was lost does not keep the others from confirming.
func (s *Signer) usedName() string {
	name, newest, other := otherName, int64(-1), false
	for _, p := range s.sealed.passkeys {
		other = other || p.RPID == otherName
		if at := max(p.EnrolledAt, p.LastUse); p.RPID != otherName && at > newest {
			name, newest = p.RPID, at
		}
	}
	if other && name == s.unanswered {
		return otherName
	}
	return name
}

// noAnswer are the ends of a page that can mean that none of the passkeys it asked for is at hand.
var noAnswer = []string{"cancelled", keys.CodeTimedOut, "no_means", "name_refused"}

// turn notes whether a passkey of the ceremony's name has answered. The caller holds s.mu.
func (s *Signer) turn(c *ceremony, err error) {
	var end *PageEnd
	switch {
	case c.context == nil || c.try:
	case err == nil && s.unanswered == c.rpID:
		s.unanswered = ""
	case errors.As(err, &end) && slices.Contains(noAnswer, end.Outcome):
		s.unanswered = c.rpID
	}
}

// serve asks for the passphrase where a first passkey wants it, serves the page and lets it run.
func (s *Signer) serve(ctx context.Context, c *ceremony, ask keys.Ask) (keys.Begun, error) {
	if ask.Enrol != nil {
		if err := s.beforeFirst(ctx, ask.Enrol.Surface); err != nil {
			return keys.Begun{}, err
		}
	}
	page, err := s.cfg.Page(ctx)
	if err != nil {
		return keys.Begun{}, err
	}
	origin, err := page.Begin(ctx, c.rpID)
	if err != nil {
		page.Close()
		return keys.Begun{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.over || s.phase != phaseOpen {
		page.Close()
		return keys.Begun{}, refuse(keys.CodeNotConfirmed, "the ceremony was ended")
	}
	c.page, c.origin = page, origin
	task, err := s.task(c, ask)
	if err != nil {
		return keys.Begun{}, err
	}
	running, stop := context.WithCancel(context.Background())
	c.stop = stop
	s.background.Add(1)
	go func() {
		defer s.background.Done()
		s.run(running, c, task)
	}()
	begun := keys.Begun{ID: c.id, Says: slices.Clone(c.says), Ends: c.ends.wall}
	if c.context != nil {
		begun.Context, begun.Digest = c.context.Canonical(), "0x"+c.digest
	}
	return begun, nil
}

// beforeFirst asks for the passphrase before the first passkey of a root.
func (s *Signer) beforeFirst(ctx context.Context, surface keys.Surface) error {
	v, err := s.opened()
	if err != nil {
		return err
	}
	st := v.State()
	if len(st.Passkeys) > 0 {
		return nil
	}
	if err := s.begin(); err != nil {
		return err
	}
	defer s.window.Unlock()
	q := Question{Purpose: "passkey", Vault: st.VaultID.String(), Demo: st.Demo}
	return s.talk(ctx, surface, func(t *talk) error {
		return t.passphrase(q, 0, func(p *custody.Secret) error { return s.verify(ctx, p) })
	})
}

// task makes the context, with this process's own clock and nonce, and what the page gets. The caller holds s.mu.
func (s *Signer) task(c *ceremony, ask keys.Ask) (PageTask, error) {
	issued := s.cfg.Clock.Now()
	issued -= issued % 1000
	c.ends = s.clock.after(issued, confirm.MaxLifetime)
	task := PageTask{Ends: c.ends.wall}
	name := func(p sealedPasskey) {
		task.Credentials = append(task.Credentials, PageCredential{ID: p.Credential, Transports: p.Transports})
	}
	if ask.Enrol != nil {
		var user [32]byte
		for _, b := range [][]byte{c.challenge[:], user[:]} {
			if _, err := io.ReadFull(s.cfg.Custody.Rand, b); err != nil {
				return PageTask{}, err
			}
		}
		for _, p := range s.sealed.passkeys {
			name(p)
		}
		task.Challenge = base64text(c.challenge[:])
		task.Enrol = &PageEnrol{UserID: base64text(user[:]), Name: "Vault " + s.pub.Vault[:8], Says: c.says}
		return task, nil
	}
	f := confirm.Fields{
		Kind: c.kind, Digest: c.digest, Says: c.says, Origin: c.origin, RPID: c.rpID, IssuedAt: issued, ExpiresAt: c.ends.wall, RequestID: c.id,
	}
	f.Document, f.Role = c.document, c.role
	if ask.Act != nil && c.kind == confirm.MomentResolution {
		f.Binding = bindingOf(*ask.Act)
	}
	if _, err := io.ReadFull(s.cfg.Custody.Rand, f.Nonce[:]); err != nil {
		return PageTask{}, err
	}
	var err error
	if c.context, err = confirm.NewContext(f); err != nil {
		return PageTask{}, err
	}
	if c.try {
		name(s.pending.passkey)
	} else {
		for _, p := range s.sealed.passkeys {
			if p.RPID == c.rpID {
				name(p)
			}
		}
	}
	if len(task.Credentials) == 0 {
		return PageTask{}, errNotThisPasskey
	}
	task.Context, task.Challenge = string(c.context.Canonical()), c.context.ChallengeText()
	return task, nil
}

// run waits for the answer.
func (s *Signer) run(ctx context.Context, c *ceremony, task PageTask) {
	raw, err := c.page.Run(ctx, task, func(st keys.Step) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.tell(st)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.over {
		c.page.Close()
		return
	}
	s.turn(c, err)
	if err == nil {
		err = s.answered(c, raw)
	}
	if err == nil {
		return
	}
	outcome, detail := s.reasonOf(err)
	c.page.Finish(false, detail)
	c.end(outcome, detail)
}

// reasonOf is code and sentence of why a ceremony came to nothing.
func (s *Signer) reasonOf(err error) (code, detail string) {
	var end *PageEnd
	var refused *answer.Refusal
	var own *keys.Error
	switch {
	case errors.As(err, &end):
		return end.Outcome, end.Detail
	case errors.As(err, &refused) && refused.Code == answer.Expired:
		// What expires elsewhere is a request or a grant.
		return keys.CodeTimedOut, refused.Detail
	case errors.As(err, &refused):
		return string(refused.Code), refused.Detail
	case errors.As(s.fault(err), &own):
		return own.Code, own.Detail
	}
	return keys.CodeInternal, ""
}

// answered reads an answer. The caller holds s.mu.
func (s *Signer) answered(c *ceremony, raw []byte) error {
	if c.context == nil {
		return s.registered(c, raw)
	}
	a, err := answer.ParseAssertion(raw)
	if err != nil {
		return err
	}
	c.record, err = confirm.NewRecord(c.context, a.AuthenticatorData, a.ClientDataJSON, a.Signature)
	if err != nil {
		return &answer.Refusal{Code: answer.Malformed, Detail: "the answer is not complete"}
	}
	c.assertion = a
	if c.try {
		p := s.pending
		if p == nil || s.tryDigest(p.passkey) != c.digest {
			return refuse(keys.CodeNothingPending, "the new passkey was forgotten")
		}
		if p.tried, err = s.check(c, []sealedPasskey{p.passkey}, s.cfg.Clock.Now()); err != nil {
			return err
		}
	}
	c.tell(keys.Step{Kind: keys.StepAnswered, Record: c.record.Digest()})
	if c.try && len(s.sealed.passkeys) > 0 {
		// That it answered is all there is to it; an enrolled one confirms the rest.
		c.close()
		c.page.Finish(true, "")
	}
	return nil
}

// registered reads a new passkey, which is pending from now on.
func (s *Signer) registered(c *ceremony, raw []byte) error {
	want := answer.Expect{Challenge: c.challenge, Origin: c.origin, RPID: c.rpID}
	for _, p := range s.sealed.passkeys {
		want.Enrolled = append(want.Enrolled, p.credential().ID)
	}
	r, err := answer.ParseRegistration(raw, want)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(s.sealed.passkeys, func(p sealedPasskey) bool { return p.key.Equal(r.Key) }) {
		return &answer.Refusal{Code: answer.KnownCredential, Detail: "this passkey is enrolled already"}
	}
	p := sealedPasskey{
		Credential: base64text(r.CredentialID), Key: base64text(r.Key.COSE()), Kind: string(r.Kind()), BackupEligible: r.BackupEligible,
		RPID: c.rpID, Transports: r.Transports, Counter: r.SignCount, key: r.Key,
	}
	s.pending = &pendingPasskey{passkey: p}
	public := p.public()
	c.tell(keys.Step{Kind: keys.StepPending, Digits: public.Digits, Passkey: &public})
	c.close()
	c.page.Finish(true, "")
	return nil
}

// check verifies the answer of a ceremony at an instant that its entry claims, and by both clocks.
func (s *Signer) check(c *ceremony, enrolled []sealedPasskey, at int64) (*answer.Accepted, error) {
	var list []answer.Credential
	for _, p := range enrolled {
		list = append(list, p.credential())
	}
	accepted, err := answer.Check(c.context, c.assertion, list, at)
	if err != nil {
		return nil, err
	}
	if s.clock.reached(c.ends) {
		return nil, &answer.Refusal{Code: answer.Expired, Detail: "it was confirmed after its end"}
	}
	return accepted, nil
}

// named returns the open ceremony with that id. The caller holds s.mu.
func (s *Signer) named(id string) (*ceremony, error) {
	if c := s.ceremony; c != nil && c.id == id {
		return c, nil
	}
	return nil, errNotConfirmed
}

var errNotConfirmed = refuse(keys.CodeNotConfirmed, "there is no such ceremony, or it is over")

// Next implements [keys.Handler].
func (s *Signer) Next(ctx context.Context, id string) (keys.Step, error) {
	s.mu.Lock()
	c, err := s.named(id)
	s.mu.Unlock()
	if err != nil {
		return keys.Step{}, err
	}
	select {
	case st, ok := <-c.steps:
		if !ok {
			return keys.Step{}, errNotConfirmed
		}
		return st, nil
	case <-ctx.Done():
		return keys.Step{}, refuse("cancelled", "nobody waits for the ceremony any more")
	}
}

// Compared implements [keys.Handler].
func (s *Signer) Compared(_ context.Context, id string, same bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.named(id)
	if err != nil {
		return err
	}
	if c.context == nil && s.pending != nil {
		s.pending.mine = same
		if !same {
			s.pending = nil
		}
		return nil
	}
	if c.over || c.page == nil {
		return errNotConfirmed
	}
	return s.fault(c.page.Compared(same))
}

// Stop implements [keys.Handler].
func (s *Signer) Stop(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.named(id)
	if err != nil {
		return err
	}
	c.end("cancelled", "the owner ended it")
	if c.context == nil || c.try {
		s.pending = nil
	}
	return nil
}

// take uses up the ceremony with that id, before anything about it is looked at. The caller holds s.mu.
func (s *Signer) take(id string) (*ceremony, error) {
	c, err := s.named(id)
	if err != nil || c.over || c.record == nil {
		return nil, errNotConfirmed
	}
	c.close()
	return c, nil
}

// confirmed verifies that a ceremony which was taken was for this entry. The caller holds s.mu.
func (s *Signer) confirmed(e journal.Entry, want journal.Confirmed, c *ceremony) (*answer.Accepted, *confirm.Key, error) {
	if c.kind != want.Kind || c.digest != want.Digest || c.role != want.Role || c.body != want.Body || c.record.Digest() != want.Record {
		return nil, nil, refuse(keys.CodeOtherAct, "what was confirmed is another act than this one")
	}
	enrolled := s.sealed.passkeys
	if c.try {
		if s.pending == nil || s.pending.tried == nil || s.pending.tried.Record.Digest() != want.Record {
			return nil, nil, errNotConfirmed
		}
		enrolled = []sealedPasskey{s.pending.passkey}
	}
	accepted, err := s.check(c, enrolled, e.At)
	if err != nil {
		code, detail := s.reasonOf(err)
		return nil, nil, refuse(code, detail)
	}
	return accepted, enrolled[accepted.Index].key, nil
}
