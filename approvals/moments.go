package approvals

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/moment"
	"vault/approvals/permit"
	"vault/approvals/store"
	"vault/derive/envelope"
)

// Limits of moments.
const (
	MaxSessionMoments = 5  // open ones of one session
	MaxClientMoments  = 32 // open ones of one client
	MaxClientNotes    = 16 // of one client in the Inbox; the oldest gives way
	MaxAsks           = 32 // questions about one moment
	MaxQuestion       = 4 << 10
	MaxReply          = 16 << 10

	maxMissed = 3 // entries about other actions that an agent comes with, for one moment
)

// methodMomentSign is a request for the action of a resolved moment. Its request id is the moment's.
const methodMomentSign = "moment.sign"

// Reasons of a fallback beside those of package moment.
const (
	reasonNoEnvelope = "no_envelope"
	reasonToolError  = "tool_error"
	reasonTooMany    = "too_many_open"
	reasonAnswered   = "already_answered"
)

// Reasons for which a moment ends without a resolution.
const (
	endWithdrawn = "withdrawn"
	endNotShown  = "not_shown"
)

// laid is an open moment. What may change is guarded by the desk's lock.
type laid struct {
	id, client, session string
	sheet               *moment.Sheet
	behind              []byte // as received
	server              string

	repeats   moment.Repetition
	asks      []AskView
	told      map[string]bool // questions that an answer has carried
	stir      chan struct{}   // closed, and made anew, when a question is asked
	addresses map[int]string

	done   chan struct{} // closed once what follows is durable
	result json.RawMessage
	ended  *Refusal
}

func newLaid(client, session string, sheet *moment.Sheet) *laid {
	return &laid{
		id: journal.MomentID(client, session, sheet.Envelope.Digest()), client: client, session: session, sheet: sheet,
		told: map[string]bool{}, stir: make(chan struct{}), done: make(chan struct{}),
	}
}

// finish lets whoever waits know; the caller holds mu.
func (m *laid) finish(result json.RawMessage, ended *Refusal) {
	select {
	case <-m.done:
	default:
		m.result, m.ended = result, ended
		close(m.done)
	}
}

// open are the questions that are not answered; the caller holds mu.
func (m *laid) open() (out []Question) {
	for _, a := range m.asks {
		if a.AnswerAt == 0 {
			out = append(out, Question{a.ID, a.Line, a.Question, a.At})
		}
	}
	return out
}

// hatchesOff names the ways of answering that the agent turned off.
func hatchesOff(e *moment.Envelope) string {
	switch c := e.Content(); {
	case !c.FreeText && !c.Dialogue:
		return "both"
	case !c.FreeText:
		return "free_text"
	case !c.Dialogue:
		return "dialogue"
	}
	return ""
}

// note is an Inbox row for reading only.
type note struct{ store.Note }

// sheetOf reads what is laid before the owner from the bytes that are kept of it.
func sheetOf(raw, behind []byte) (*moment.Sheet, error) {
	e, err := moment.Parse(raw)
	if err != nil {
		return nil, err
	}
	var list []moment.Behind
	if behind != nil {
		if list, err = moment.ParseBehind(behind); err != nil {
			return nil, err
		}
	}
	return moment.NewSheet(e, list)
}

// openMoments puts the open moments and the notes of the store before the owner; a row that is not as the
// vault wrote it is left out and told.
func (d *Desk) openMoments() error {
	rows, err := d.db().OpenMoments()
	if err != nil {
		return err
	}
	notes, err := d.db().Notes()
	if err != nil {
		return err
	}
	for _, row := range rows {
		sheet, err := sheetOf(row.Envelope, row.Behind)
		if err == nil && (journal.MomentID(row.Client, row.Session, sheet.Envelope.Digest()) != row.ID || sheet.Envelope.Digest() != row.Digest) {
			err = errors.New("another envelope than its id says")
		}
		d.mu.Lock()
		_, resolved := d.led.state.Moment(row.ID)
		_, refusal := d.led.client(row.Client)
		if err == nil && refusal != nil && (refusal.Code == CodeRevoked || refusal.Code == CodeBlocked) {
			// The desk was killed after its client had ended.
			d.mu.Unlock()
			row.State, row.Ended, row.At = store.MomentEnded, endWithdrawn, d.clock.Now()
			_ = d.db().Do(func(tx *store.Tx) error { return tx.EndMoment(row) })
			continue
		}
		if err != nil || resolved || refusal != nil {
			d.badRow = &Trouble{Code: CodeRowEdited, Detail: "moment " + row.ID}
			if d.trouble == nil {
				d.trouble = d.badRow
			}
			d.mu.Unlock()
			continue
		}
		d.mu.Unlock()
		m := newLaid(row.Client, row.Session, sheet)
		m.behind, m.server = row.Behind, row.Server
		asks, err := d.db().Asks(row.ID)
		if err != nil {
			return err
		}
		for _, a := range asks {
			m.asks = append(m.asks, AskView{a.ID, a.Line, a.Question, a.At, a.Answer, a.AnswerAt})
		}
		if m.repeats, err = d.repetition(m, row.Since); err != nil {
			return err
		}
		d.mu.Lock()
		d.lay(m, row.Since, int(row.Count))
		d.mu.Unlock()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range notes {
		d.notes = append(d.notes, &note{n})
	}
	return nil
}

// lay puts a moment into the queue; the caller holds mu.
func (d *Desk) lay(m *laid, since int64, count int) {
	d.moments[m.id] = m
	d.items = append(d.items, &item{
		id: m.id, kind: ItemMoment, client: m.client, session: m.session, digest: m.sheet.Digest(), since: since, count: count, moment: m,
	})
}

// repetition compares a moment with those before it.
func (d *Desk) repetition(m *laid, now int64) (moment.Repetition, error) {
	e := m.sheet.Envelope
	like, err := d.db().LikeMoments(m.client, m.session, e.Digest(), e.Question())
	if err != nil {
		return moment.Repetition{}, err
	}
	var earlier []moment.Earlier
	for _, row := range like {
		if row.State == store.MomentResolved && row.ID != m.id && row.At <= now {
			earlier = append(earlier, moment.Earlier{
				Key: moment.Key{Client: row.Client, Session: row.Session, Digest: row.Digest}, Question: row.Question,
				Choice: moment.Choice(row.Choice), ResolvedAt: row.At,
			})
		}
	}
	return e.Repeats(m.client, m.session, earlier, now), nil
}

// MomentPresent implements [Conversation].
func (c *conversation) MomentPresent(ctx context.Context, p Presentation) (Answer, error) {
	client, refusal := c.who()
	if refusal != nil {
		return Answer{}, refusal
	}
	return c.d.present(ctx, client, p)
}

func (d *Desk) present(ctx context.Context, client string, p Presentation) (Answer, error) {
	switch {
	case !validID(p.Session, false):
		return Answer{}, refuseWith(CodeMalformed, "a moment belongs to a session, 1 to 128 bytes of text without control characters")
	case (p.ToolResult == nil) == (p.BindingMoment == nil), p.ToolResult != nil && p.Fallback != "":
		return Answer{}, refuseWith(CodeMalformed, "present either tool_result, or binding_moment with fallback")
	case len(p.ToolServer) > maxClaimed || !utf8.ValidString(p.ToolServer), !utf8.ValidString(p.Fallback):
		return Answer{}, refuseWith(CodeMalformed, "a text is too long or not UTF-8")
	}
	d.mu.Lock()
	refusal := d.gateClient(client)
	if refusal == nil {
		refusal = d.takeToken(d.led.clients[client])
	}
	d.mu.Unlock()
	if refusal != nil {
		return Answer{}, refusal
	}
	raw := p.ToolResult
	var got moment.Received
	if raw != nil {
		got = moment.ToolResult(raw)
	} else {
		raw = p.BindingMoment
		got = moment.Bare(raw, p.Fallback)
	}
	n := note{store.Note{Client: client, Session: p.Session, Server: p.ToolServer, Digest: permit.SHA256(raw), Payload: mustJSON(got.Payload)}}
	switch got.Outcome {
	case moment.Render:
	case moment.NoEnvelope:
		return d.fallBack(n, reasonNoEnvelope, "")
	case moment.ToolError:
		return d.fallBack(n, reasonToolError, "")
	default:
		return d.fallBack(n, string(got.Fault.Reason), got.Fault.Path)
	}
	sheet, err := sheetOf(got.Envelope.Canonical(), p.Actions)
	if err != nil {
		var f *moment.Fault
		if !errors.As(err, &f) {
			return Answer{}, refuse(CodeInternal)
		}
		return d.fallBack(n, string(f.Reason), f.Path)
	}
	m := newLaid(client, p.Session, sheet)
	m.behind, m.server = p.Actions, p.ToolServer

	d.laying.Lock()
	m, answer, err := d.layDown(m, n)
	d.laying.Unlock()
	if m == nil || err != nil {
		return answer, err
	}
	d.changed()
	return d.waitMoment(ctx, m)
}

// layDown makes a moment durable and puts it into the queue, or finds what became of it before.
// Without a moment the answer is final. The caller holds laying.
func (d *Desk) layDown(m *laid, n note) (*laid, Answer, error) {
	d.mu.Lock()
	open := d.moments[m.id]
	_, resolved := d.led.state.Moment(m.id)
	inSession, inAll := 0, 0
	for _, o := range d.moments {
		if o.client == m.client {
			inAll++
			if o.session == m.session {
				inSession++
			}
		}
	}
	d.mu.Unlock()
	failed := func(error) (*laid, Answer, error) { return nil, Answer{}, refuse(CodeStoreFailed) }
	if open != nil {
		if open.sheet.Digest() != m.sheet.Digest() {
			return nil, Answer{}, refuse(CodeMomentDiffers)
		}
		if err := d.db().Do(func(tx *store.Tx) error { return tx.CountMoment(m.id, 1, 0, 0) }); err != nil {
			return failed(err)
		}
		d.mu.Lock()
		if i := slices.IndexFunc(d.items, func(it *item) bool { return it.moment == open }); i >= 0 {
			d.items[i].count++
		}
		d.mu.Unlock()
		return open, Answer{}, nil
	}
	row, err := d.db().Moment(m.id)
	switch {
	case errors.Is(err, store.ErrNotFound) || err == nil && row.State == store.MomentEnded:
		if resolved {
			return nil, Answer{}, refuse(CodeRowEdited)
		}
	case err != nil:
		return failed(err)
	default:
		answer, err := d.resolvedAnswer(row)
		if err != nil {
			return nil, Answer{}, err
		}
		if err := d.db().Do(func(tx *store.Tx) error { return tx.CountMoment(m.id, 0, 0, 1) }); err != nil {
			return failed(err)
		}
		n.Reason, n.Moment, n.Digest = reasonAnswered, m.id, m.id
		if err := d.addNote(n, false); err != nil {
			return nil, Answer{}, err
		}
		return nil, answer, nil
	}
	if inSession >= MaxSessionMoments || inAll >= MaxClientMoments {
		answer, err := d.fallBack(n, reasonTooMany, "")
		return nil, answer, err
	}
	now := d.clock.Now()
	if m.repeats, err = d.repetition(m, now); err != nil {
		return failed(err)
	}
	e, c := m.sheet.Envelope, m.sheet.Envelope.Content()
	err = d.db().Do(func(tx *store.Tx) error {
		if err := tx.TouchSession(store.Session{Client: m.client, ID: m.session, LastUsed: now}); err != nil {
			return err
		}
		return tx.PutMoment(store.Moment{
			ID: m.id, Client: m.client, Session: m.session, Digest: e.Digest(), Question: e.Question(), State: store.MomentOpen, Since: now, Count: 1,
			Envelope: e.Canonical(), Behind: m.behind, Server: m.server, HasClass: c.HasClass, Class: c.DecisionClass, Note: c.HasNote,
			FreeText: c.FreeText, Dialogue: c.Dialogue,
		})
	})
	if err != nil {
		return failed(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, refusal := d.led.client(m.client); refusal != nil {
		return nil, Answer{}, refusal // the next start finds the row, and its client ended
	}
	d.useSession(m.client, m.session)
	if s := d.led.clients[m.client].sessions[m.session]; s != nil {
		s.written = now
	}
	d.lay(m, now, 1)
	for _, row := range m.sheet.Rows {
		if row.SignWith != nil && d.isSuspended(row.SignWith) {
			d.noteSuspended(m.client, row.SignWith)
		}
	}
	return m, Answer{}, nil
}

// takeToken slows down who asks too fast; the caller holds mu.
func (d *Desk) takeToken(c *clientRow) *Refusal {
	if boot := d.clock.Boot(); boot > c.refilled {
		c.tokens = min(askBurst, c.tokens+(boot-c.refilled)/askEveryMS)
		c.refilled = boot - (boot-c.refilled)%askEveryMS
	}
	if c.tokens <= 0 {
		return refuseAfter(CodeTooMany, askEveryMS)
	}
	c.tokens--
	return nil
}

// fallBack shows the conventional payload in the place of a decision (section 9.3).
func (d *Desk) fallBack(n note, reason, path string) (Answer, error) {
	n.Reason, n.Path = reason, path
	if err := d.addNote(n, true); err != nil {
		return Answer{}, err
	}
	type fell struct {
		Reason   string `json:"reason"`
		Sentence string `json:"sentence"`
		Path     string `json:"path,omitempty"`
	}
	return Answer{Result: mustJSON(map[string]fell{"fallback": {reason, fallbackSentence(reason), path}})}, nil
}

func fallbackSentence(reason string) string {
	switch reason {
	case reasonNoEnvelope:
		return "The tool result carries no decision at its top level."
	case reasonToolError:
		return "The tool result says that its tool failed."
	case reasonTooMany:
		return "Too many moments of this session or client are open."
	}
	return "The decision could not be shown: " + moment.Reason(reason).Sentence() + "."
}

// addNote puts a note into the Inbox; the same again is counted.
func (d *Desk) addNote(n note, logged bool) error {
	d.mu.Lock()
	var same *note
	var old []*note
	for _, x := range d.notes {
		if x.Client != n.Client {
			continue
		}
		old = append(old, x)
		if x.Session == n.Session && x.Digest == n.Digest && x.Reason == n.Reason {
			same = x
		}
	}
	d.mu.Unlock()
	if same != nil {
		next := same.Note
		next.Count++
		if err := d.db().Do(func(tx *store.Tx) error { return tx.PutNote(next) }); err != nil {
			return refuse(CodeStoreFailed)
		}
		d.mu.Lock()
		same.Count = next.Count
		d.mu.Unlock()
		d.changed()
		return nil
	}
	id, err := d.newID("n_")
	if err != nil {
		return refuse(CodeInternal)
	}
	n.ID, n.At, n.Count = id, d.clock.Now(), 1
	drop := ""
	if len(old) >= MaxClientNotes {
		drop = old[0].ID
	}
	write := func(tx *store.Tx) error {
		if err := tx.DropNote(drop); err != nil {
			return err
		}
		return tx.PutNote(n.Note)
	}
	applied := func() {
		d.notes = slices.DeleteFunc(d.notes, func(x *note) bool { return x.ID == drop })
		d.notes = append(d.notes, &n)
	}
	if !logged {
		if err := d.db().Do(write); err != nil {
			return refuse(CodeStoreFailed)
		}
		d.mu.Lock()
		applied()
		d.mu.Unlock()
		d.changed()
		return nil
	}
	if err := d.do(&op{build: func(b *batch) error {
		a, err := b.add(journal.KindMomentNoted, journal.MomentNoted{Client: n.Client, Session: n.Session, Reason: n.Reason, Digest: n.Digest})
		if err != nil {
			return err
		}
		a.write, a.applied = write, applied
		return nil
	}}); err != nil {
		return asRefusal(err)
	}
	return nil
}

// waitMoment waits for a moment to be resolved, or for a question of the owner's that was not told yet.
func (d *Desk) waitMoment(ctx context.Context, m *laid) (Answer, error) {
	limit := time.NewTimer(d.o.Await)
	defer limit.Stop()
	pending := func() Answer {
		d.mu.Lock()
		defer d.mu.Unlock()
		asks := m.open()
		for _, q := range asks {
			m.told[q.ID] = true
		}
		return Answer{Pending: m.id, Asks: asks}
	}
	for {
		d.mu.Lock()
		gate, stir := d.gate, m.stir
		news := slices.ContainsFunc(m.open(), func(q Question) bool { return !m.told[q.ID] })
		d.mu.Unlock()
		select {
		case <-m.done:
			if m.ended != nil {
				return Answer{}, m.ended
			}
			return Answer{Result: m.result}, nil
		default:
		}
		select {
		case <-gate:
			return Answer{}, lockedMeanwhile()
		default:
		}
		if news {
			return pending(), nil
		}
		select {
		case <-m.done:
		case <-stir:
		case <-gate:
		case <-ctx.Done():
			return pending(), nil
		case <-limit.C:
			return pending(), nil
		}
	}
}

// MomentAwait implements [Conversation]. What was resolved is told also while the vault is locked.
func (c *conversation) MomentAwait(ctx context.Context, session, id string) (Answer, error) {
	client, refusal := c.who()
	if refusal != nil {
		return Answer{}, refusal
	}
	id = momentNamed(client, session, id)
	d := c.d
	d.mu.Lock()
	_, refusal = d.led.client(client)
	m := d.moments[id]
	write := func(*store.Tx) error { return nil }
	if refusal == nil && m != nil && m.client == client && m.session == session && d.file.Load().Mode() == store.ModeReadWrite {
		d.useSession(client, session)
		write = d.writeSession(client, session)
	}
	d.mu.Unlock()
	if refusal != nil {
		return Answer{}, refusal
	}
	if m != nil {
		if m.client != client || m.session != session {
			return Answer{}, refuse(CodeUnknownMoment)
		}
		_ = d.db().Do(write) // a session that is written later is none the worse
		return d.waitMoment(ctx, m)
	}
	row, m, err := d.findMoment(client, session, id)
	switch {
	case err != nil:
		return Answer{}, err
	case m != nil:
		return d.waitMoment(ctx, m)
	}
	return d.resolvedAnswer(row)
}

// findMoment reads one of a session's moments, and finds it where it is before the owner. A row is in the store
// a moment before it is laid before the owner: that is waited for.
func (d *Desk) findMoment(client, session, id string) (store.Moment, *laid, error) {
	row, err := d.moment(client, session, id)
	if err != nil || row.State != store.MomentOpen {
		return row, nil, err
	}
	d.laying.Lock()
	d.mu.Lock()
	m := d.moments[id]
	d.mu.Unlock()
	d.laying.Unlock()
	if m == nil {
		row, err = d.moment(client, session, id) // it may have been resolved meanwhile
	}
	return row, m, err
}

// moment reads one of a session's moments.
func (d *Desk) moment(client, session, id string) (store.Moment, error) {
	if d.db() == nil {
		return store.Moment{}, refuse(CodeNoVault)
	}
	row, err := d.db().Moment(id)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && (row.Client != client || row.Session != session):
		return store.Moment{}, refuse(CodeUnknownMoment)
	case err != nil:
		return store.Moment{}, refuse(CodeStoreFailed)
	}
	return row, nil
}

// resolvedAnswer answers from the store; a row that does not say what the log says is not used.
func (d *Desk) resolvedAnswer(row store.Moment) (Answer, error) {
	switch row.State {
	case store.MomentResolved:
		if _, err := d.checkMoment(row); err != nil {
			return Answer{}, err
		}
		return Answer{Result: row.Resolution}, nil
	case store.MomentEnded:
		return Answer{}, endedRefusal(row.Ended)
	}
	return Answer{}, refuse(CodeRowEdited) // open, and yet not before the owner
}

func endedRefusal(reason string) *Refusal {
	if reason == endNotShown {
		return refuse(CodeNotShown)
	}
	return refuse(CodeWithdrawn)
}

// checkMoment compares a resolved moment's row with its log entry and with itself, and returns the sheet.
func (d *Desk) checkMoment(row store.Moment) (*moment.Sheet, error) {
	edited := refuse(CodeRowEdited)
	sheet, err := sheetOf(row.Envelope, row.Behind)
	if err != nil || sheet.Envelope.Digest() != row.Digest {
		return nil, edited
	}
	r, err := moment.ParseResolution(row.Resolution)
	if err != nil || string(r.Canonical()) != string(row.Resolution) || string(r.Choice()) != row.Choice || r.Check(sheet.Envelope, false) != nil {
		return nil, edited
	}
	es, err := d.db().Entries(row.Seq, 1)
	if err != nil || len(es) != 1 || es[0].Seq != row.Seq {
		return nil, edited
	}
	e, err := journal.Parse(es[0].Raw)
	if err != nil || rowDiffers(&es[0], e) != "" {
		return nil, edited
	}
	ok := false
	switch b := e.Decoded().(type) {
	case journal.MomentResolved:
		ok = b.Moment == row.ID && b.Client == row.Client && b.Session == row.Session && b.SheetDigest == sheet.Digest() &&
			b.EnvelopeDigest == row.Digest && b.ResolutionDigest == r.Digest()
	case journal.MomentDeclined:
		ok = b.Moment == row.ID && b.Client == row.Client && b.Session == row.Session && b.SheetDigest == sheet.Digest() &&
			b.EnvelopeDigest == row.Digest && b.ResolutionDigest == r.Digest() && r.Choice() == moment.ChoseDecline
	}
	if !ok {
		return nil, edited
	}
	return sheet, nil
}

// MomentSay implements [Conversation].
func (c *conversation) MomentSay(_ context.Context, r Reply) error {
	client, refusal := c.who()
	if refusal != nil {
		return refusal
	}
	if len(r.Text) > MaxReply || !utf8.ValidString(r.Text) || moment.Blank(r.Text) {
		return refuseWith(CodeMalformed, "an answer is 1 to 16 KiB of text that shows something")
	}
	d := c.d
	r.Moment = momentNamed(client, r.Session, r.Moment)
	d.laying.Lock()
	defer d.laying.Unlock()
	d.mu.Lock()
	refusal = d.gateClient(client)
	m := d.moments[r.Moment]
	i := -1
	var a AskView
	switch {
	case refusal != nil:
	case m == nil || m.client != client || m.session != r.Session:
		refusal = refuse(CodeUnknownMoment)
	default:
		if i = slices.IndexFunc(m.asks, func(a AskView) bool { return a.ID == r.Question }); i < 0 {
			refusal = refuse(CodeUnknownAsk)
		} else if a = m.asks[i]; a.AnswerAt != 0 {
			refusal = refuse(CodeAskAnswered)
		}
	}
	d.mu.Unlock()
	if refusal != nil {
		return refusal
	}
	a.Answer, a.AnswerAt = r.Text, d.clock.Now()
	if err := d.db().Do(func(tx *store.Tx) error { return tx.PutAsk(m.askRow(a)) }); err != nil {
		return refuse(CodeStoreFailed)
	}
	d.mu.Lock()
	m.asks[i] = a
	d.mu.Unlock()
	d.changed()
	return nil
}

func (m *laid) askRow(a AskView) store.MomentAsk {
	return store.MomentAsk{Moment: m.id, ID: a.ID, Line: a.Line, Question: a.Question, At: a.At, Answer: a.Answer, AnswerAt: a.AnswerAt}
}

// Ask implements [Owner].
func (v ownerView) Ask(_ context.Context, id, line, text string) error {
	d := v.d
	switch {
	case len(text) > MaxQuestion || !utf8.ValidString(text) || moment.Blank(text):
		return refuseWith(CodeMalformed, "a question is 1 to 4,096 bytes of text that shows something")
	case moment.HoldsRecoveryWords(text):
		return refuse(OutcomeRecoveryWords)
	}
	if _, err := d.openKeys(); err != nil {
		return err
	}
	d.laying.Lock()
	defer d.laying.Unlock()
	d.mu.Lock()
	m := d.moments[id]
	asked := 0
	if m != nil {
		asked = len(m.asks)
	}
	d.mu.Unlock()
	switch {
	case m == nil:
		return refuse(CodeGone)
	case !hasLine(m.sheet.Envelope.Content(), line):
		return refuseWith(CodeMalformed, "the moment has no such line")
	case asked >= MaxAsks:
		return refuse(CodeTooMany)
	}
	a := AskView{ID: "q" + strconv.Itoa(asked+1), Line: line, Question: text, At: d.clock.Now()}
	if err := d.db().Do(func(tx *store.Tx) error { return tx.PutAsk(m.askRow(a)) }); err != nil {
		return refuse(CodeStoreFailed)
	}
	d.mu.Lock()
	m.asks = append(m.asks, a)
	close(m.stir)
	m.stir = make(chan struct{})
	d.mu.Unlock()
	d.changed()
	return nil
}

// hasLine says whether a moment has a line of that name.
func hasLine(c moment.Content, line string) bool {
	name, number, numbered := strings.Cut(line, ".")
	if !numbered {
		return name == "synopsis" || name == "offer" || name == "question"
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || strconv.Itoa(n) != number {
		return false
	}
	switch name {
	case "findings":
		return n < len(c.Findings)
	case "recommendations":
		return n < len(c.Recommendations)
	case "options":
		return n < len(c.Options)
	}
	return false
}

// Dismiss implements [Owner].
func (v ownerView) Dismiss(_ context.Context, id string) error {
	d := v.d
	d.mu.Lock()
	i := slices.IndexFunc(d.notes, func(n *note) bool { return n.ID == id })
	d.mu.Unlock()
	if i < 0 {
		return refuse(CodeGone)
	}
	if err := d.db().Do(func(tx *store.Tx) error { return tx.DropNote(id) }); err != nil {
		return refuse(CodeStoreFailed)
	}
	d.mu.Lock()
	d.notes = slices.DeleteFunc(d.notes, func(n *note) bool { return n.ID == id })
	d.mu.Unlock()
	d.changed()
	return nil
}

// noteSheet is what is shown of a note; the caller holds mu.
func (d *Desk) noteSheet(n *note) (Sheet, error) {
	s := Sheet{ID: n.ID, Kind: ItemNote, Session: n.Session, Since: n.At, Merged: int(n.Count), Demo: d.public.Demo || d.led.state.Demo()}
	if c := d.led.clients[n.Client]; c != nil {
		s.Agent, s.PairedAt = c.permit.Name, c.permit.PairedAt
	}
	out := &NoteSheet{Reason: n.Reason, Path: n.Path, ToolServer: n.Server, Moment: n.Moment}
	if err := json.Unmarshal(n.Payload, &out.Payload); err != nil {
		return Sheet{}, refuse(CodeRowEdited)
	}
	s.Note = out
	digest, err := sheetDigest(s)
	s.Digest = digest
	return s, err
}

// learnAddresses asks the key process for the addresses that would sign. While the vault is
// locked, or where a domain is not open, there are none.
func (d *Desk) learnAddresses(ctx context.Context, m *laid) {
	got := map[int]string{}
	for _, row := range m.sheet.Rows {
		if row.SignWith == nil {
			continue
		}
		if address, refusal := d.addressOf(ctx, row.SignWith, row.SignWith.Canonical()); refusal == nil {
			got[row.Index] = address
		}
	}
	d.mu.Lock()
	m.addresses = got
	d.mu.Unlock()
}

// momentSheet is what is shown of a moment; the caller holds mu.
func (d *Desk) momentSheet(m *laid) *MomentSheet {
	out := &MomentSheet{
		Moment: m.id, Sheet: m.sheet, Addresses: map[int]string{}, Used: map[int]int64{}, Problems: map[int]string{}, ToolServer: m.server,
		Repetition: m.repeats, Asks: slices.Clone(m.asks), EnvelopeDigest: m.sheet.Envelope.Digest(),
	}
	for _, row := range m.sheet.Rows {
		if row.SignWith == nil {
			continue
		}
		out.Used[row.Index] = d.usedOf(row.SignWith)
		if r := d.admits(row.SignWith, 0); r != nil {
			out.Problems[row.Index] = r.Code
		}
		if a := m.addresses[row.Index]; a != "" && d.keys != nil {
			out.Addresses[row.Index] = a
		}
	}
	return out
}

// seenMoment adds the entry that a moment was on the screen.
func (d *Desk) seenMoment(b *batch, m *laid, digest string) (*act, error) {
	return b.add(journal.KindMomentSeen, journal.MomentSeen{
		Moment: m.id, Client: m.client, Digest: digest, HatchesOff: hatchesOff(m.sheet.Envelope),
	})
}

// resolutionOf makes the resolution that the owner decided on. The error is a *Refusal or a *moment.Fault.
func resolutionOf(m *laid, dec Decision) (*moment.Resolution, error) {
	e := m.sheet.Envelope
	switch dec.Verdict {
	case VerdictOption:
		return m.sheet.Select(dec.Option)
	case VerdictAnswer:
		if moment.HoldsRecoveryWords(dec.Answer) {
			return nil, refuse(OutcomeRecoveryWords)
		}
		return e.Answer(dec.Answer)
	case VerdictQuestion:
		return e.RejectQuestion()
	case VerdictDecline:
		return e.Decline(), nil
	}
	return nil, refuseWith(CodeMalformed, "a moment is resolved by an option, an answer, the question's rejection, or a decline")
}

// decideMoment carries out the owner's decision on a moment.
func (d *Desk) decideMoment(ctx context.Context, it *item, dec Decision) (Outcome, error) {
	m := it.moment
	r, err := resolutionOf(m, dec)
	var f *moment.Fault
	switch {
	case errors.As(err, &f):
		return Outcome{Code: string(f.Reason), Detail: f.Reason.Sentence()}, nil
	case err != nil:
		var refusal *Refusal
		if errors.As(err, &refusal) && refusal.Code == OutcomeRecoveryWords {
			return Outcome{Code: refusal.Code, Detail: refusal.Message}, nil
		}
		return Outcome{}, err
	}
	c := byClick()
	if err := d.prove(ctx, dec, c); err != nil {
		return d.outcome(it, err, "")
	}
	o, row := d.resolveOp(it, r, c, func() error {
		switch {
		case dec.Verdict != VerdictDecline && d.state() != StateOpen:
			return refuse(string(d.state()))
		case it.shown != dec.Digest:
			return errChanged
		}
		return nil
	})
	done := OutcomeDone
	if dec.Verdict == VerdictDecline {
		done = OutcomeDeclined
	}
	err = d.byClickOrPasskey(ctx, it, c, o)
	out, err2 := d.outcome(it, err, done)
	if err == nil {
		v := d.answeredView(*row)
		out.Answered = &v
	}
	return out, err2
}

// resolveOp resolves a moment; may is asked under the lock first.
func (d *Desk) resolveOp(it *item, r *moment.Resolution, c *behind, may func() error) (*op, *store.Moment) {
	m := it.moment
	row := &store.Moment{}
	held := false
	o := &op{undo: func() {
		if held {
			it.busy, held = false, false
		}
	}}
	o.build = func(b *batch) error {
		if it.gone || it.busy {
			return errGone
		}
		if err := may(); err != nil {
			return err
		}
		a, err := d.addResolved(b, m, r, c)
		if err != nil {
			return err
		}
		*row = d.momentRow(it)
		row.State, row.Choice, row.Resolution, row.Seq, row.At = store.MomentResolved, string(r.Choice()), r.Canonical(), a.entry.Seq, b.now
		a.write = func(tx *store.Tx) error { return tx.EndMoment(*row) }
		a.applied = func() {
			it.busy = false
			delete(d.moments, m.id)
			for _, other := range d.moments {
				if other.sheet.Envelope.Digest() == row.Digest {
					other.repeats.Elsewhere = true
				}
			}
			m.finish(row.Resolution, nil)
			d.remove(it)
		}
		it.busy, held = true, true
		return nil
	}
	return o, row
}

// momentRow is an open moment as the store keeps it; the caller holds mu.
func (d *Desk) momentRow(it *item) store.Moment {
	m := it.moment
	c := m.sheet.Envelope.Content()
	return store.Moment{
		ID: m.id, Client: m.client, Session: m.session, Digest: m.sheet.Envelope.Digest(), Question: m.sheet.Envelope.Question(),
		State: store.MomentOpen, Since: it.since, Count: int64(it.count), Envelope: m.sheet.Envelope.Canonical(), Behind: m.behind, Server: m.server,
		HasClass: c.HasClass, Class: c.DecisionClass, Note: c.HasNote, FreeText: c.FreeText, Dialogue: c.Dialogue,
	}
}

// addResolved adds the entry of a resolution, with what the key process checks it by.
func (d *Desk) addResolved(b *batch, m *laid, r *moment.Resolution, c *behind) (*act, error) {
	if r.Choice() == moment.ChoseDecline {
		a, err := b.add(journal.KindMomentDeclined, journal.MomentDeclined{
			Moment: m.id, Client: m.client, Session: m.session, EnvelopeDigest: r.EnvelopeDigest(), SheetDigest: m.sheet.Digest(), ResolutionDigest: r.Digest(),
			Confirmation: c.record,
		})
		if err == nil && c.record != "" {
			c.of(a)
			a.keyed.Payload, a.keyed.Moment, a.keyed.Behind = r.Canonical(), m.sheet.Envelope.Canonical(), m.behind
		}
		return a, err
	}
	cl, refusal := d.led.client(m.client)
	if refusal != nil {
		return nil, refusal
	}
	body := journal.MomentResolved{
		Moment: m.id, Client: m.client, Session: m.session, EnvelopeDigest: r.EnvelopeDigest(), SheetDigest: m.sheet.Digest(),
		Choice: string(r.Choice()), Option: -1, ResolutionDigest: r.Digest(), By: c.by, Confirmation: c.record,
	}
	if i, ok := r.Option(); ok {
		row := m.sheet.Rows[i]
		body.Option, body.ActionDigest, body.Unseen = int64(i), row.ActionDigest, row.Action == nil
		if row.SignWith != nil {
			body.SignWith = row.SignWith.Hash()
		}
	}
	a, err := b.add(journal.KindMomentResolved, body)
	if err != nil {
		return nil, err
	}
	c.of(a)
	a.keyed.Payload, a.keyed.Moment, a.keyed.Behind = r.Canonical(), m.sheet.Envelope.Canonical(), m.behind
	a.keyed.Permits = permitsOf([]permitRow{{cl.body, cl.mac}})
	return a, nil
}

// endMoment ends a moment without a resolution: nothing is sent, and it can be answered no longer.
func (d *Desk) endMoment(it *item, reason string) *op {
	m := it.moment
	held := false
	o := &op{undo: func() {
		if held {
			it.busy, held = false, false
		}
	}}
	o.build = func(b *batch) error {
		if it.gone || it.busy {
			return errGone
		}
		a, err := b.add(journal.KindMomentEnded, journal.MomentEnded{Moment: m.id, Client: m.client, Reason: reason})
		if err != nil {
			return err
		}
		row := d.momentRow(it)
		row.State, row.Ended, row.Seq, row.At = store.MomentEnded, reason, a.entry.Seq, b.now
		a.write = func(tx *store.Tx) error { return tx.EndMoment(row) }
		a.applied = func() {
			it.busy = false
			delete(d.moments, m.id)
			m.finish(nil, endedRefusal(reason))
			d.remove(it)
		}
		it.busy, held = true, true
		return nil
	}
	return o
}

// endSessions ends the open moments of sessions that were dropped.
func (d *Desk) endSessions(gone []store.Session) {
	for _, s := range gone {
		d.mu.Lock()
		var items []*item
		for _, it := range d.items {
			if it.moment != nil && it.client == s.Client && it.session == s.ID {
				items = append(items, it)
			}
		}
		d.mu.Unlock()
		for _, it := range items {
			_ = d.do(d.endMoment(it, endWithdrawn)) // tried again at the next tick
		}
	}
}

// Answered implements [Owner].
func (v ownerView) Answered(before int64, limit int) ([]AnsweredMoment, error) {
	d := v.d
	if d.db() == nil {
		return nil, refuse(CodeNoVault)
	}
	if limit < 1 || limit > 500 {
		limit = 500
	}
	rows, err := d.db().EndedMoments(before, limit)
	if err != nil {
		return nil, err
	}
	out := make([]AnsweredMoment, len(rows))
	for i, row := range rows {
		out[i] = d.answeredView(row)
	}
	return out, nil
}

func (d *Desk) answeredView(row store.Moment) AnsweredMoment {
	out := AnsweredMoment{
		Moment: row.ID, Client: row.Client, Session: row.Session, Class: row.Class, Choice: moment.Choice(row.Choice), Ended: row.Ended,
		Option: -1, EnvelopeDigest: row.Digest, Seq: row.Seq, At: row.At, Repeats: row.Repeats,
	}
	d.mu.Lock()
	if c := d.led.clients[row.Client]; c != nil {
		out.Agent = c.permit.Name
	}
	st, _ := d.led.state.Moment(row.ID)
	d.mu.Unlock()
	switch {
	case st.Signed:
		out.Performed = "signed"
	case row.Missed > 0:
		out.Performed = "selected, not performed"
	}
	sheet, err := sheetOf(row.Envelope, row.Behind)
	if err != nil {
		return out // a row that was edited: what it says of itself is all there is
	}
	c := sheet.Envelope.Content()
	out.Stem, out.SheetDigest = c.Stem, sheet.Digest()
	if r, err := moment.ParseResolution(row.Resolution); err == nil {
		if i, ok := r.Option(); ok && i < len(c.Options) {
			out.Option, out.Label = i, c.Options[i].Label
		}
		out.Answer, _ = r.Answer()
	}
	return out
}

// MomentRates implements [Owner].
func (v ownerView) MomentRates() ([]MomentRate, error) {
	d := v.d
	if d.db() == nil {
		return nil, refuse(CodeNoVault)
	}
	counts, err := d.db().MomentCounts()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []MomentRate
	for _, c := range counts {
		out = append(out, MomentRate{
			Client: c.Client, Class: c.Class, HasClass: c.HasClass, Presented: c.All, WithNote: c.Note, HatchesOff: c.Off, FreeTextOff: c.FreeOff,
			DialogueOff: c.DialogueOff, Options: c.Option, Answers: c.Answer, Questions: c.Question, Declined: c.Decl,
		})
	}
	for id, c := range d.led.clients {
		if c.noted == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(r MomentRate) bool { return r.Client == id && !r.HasClass })
		if i < 0 {
			i = len(out)
			out = append(out, MomentRate{Client: id})
		}
		out[i].Fallbacks = c.noted
	}
	for i := range out {
		if c := d.led.clients[out[i].Client]; c != nil {
			out[i].Agent = c.permit.Name
		}
	}
	slices.SortFunc(out, func(a, b MomentRate) int {
		if a.Client != b.Client {
			return strings.Compare(a.Client, b.Client)
		}
		if a.HasClass != b.HasClass {
			if b.HasClass {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Class, b.Class)
	})
	return out, nil
}

// --- signing what was selected

// selected is the moment behind a request for a signature.
type selected struct {
	id       string
	envelope []byte // canonical binding moment
	label    string
}

// isMomentID says whether a text has the form of a moment's id.
func isMomentID(s string) bool {
	return len(s) == 66 && strings.HasPrefix(s, "m_") && envelope.IsHash("0x"+s[2:])
}

// momentNamed gives the id of a moment that is named by its id or by its envelope's digest, which is
// all that a resolution says: who was answered at once was told no id.
func momentNamed(client, session, name string) string {
	if hex, ok := strings.CutPrefix(name, "sha256:"); ok && envelope.IsHash("0x"+hex) {
		return journal.MomentID(client, session, name)
	}
	return name
}

// MomentSign implements [Conversation].
func (c *conversation) MomentSign(ctx context.Context, a MomentAction) (Answer, error) {
	client, refusal := c.who()
	if refusal != nil {
		return Answer{}, refusal
	}
	a.Moment = momentNamed(client, a.Session, a.Moment)
	return c.d.momentSign(ctx, client, a)
}

func (d *Desk) momentSign(ctx context.Context, client string, ask MomentAction) (Answer, error) {
	d.mu.Lock()
	refusal := d.gateClient(client)
	d.mu.Unlock()
	if refusal != nil {
		return Answer{}, refusal
	}
	row, open, err := d.findMoment(client, ask.Session, ask.Moment)
	switch {
	case err != nil:
		return Answer{}, err
	case open != nil:
		return Answer{}, refuse(CodeMomentOpen)
	case row.State == store.MomentEnded:
		return Answer{}, endedRefusal(row.Ended)
	}
	sheet, err := d.checkMoment(row)
	if err != nil {
		return Answer{}, err
	}
	r, err := moment.ParseResolution(row.Resolution)
	if err != nil {
		return Answer{}, refuse(CodeRowEdited)
	}
	s, err := sheet.Signing(r, ask.Action)
	if err != nil {
		return Answer{}, d.missed(row, ask.Action, err)
	}
	canonical := s.Payload.Canonical()
	key := requestKey{client, ask.Moment}
	with := s.Envelope.Canonical()
	digest := journal.AskDigest(methodMomentSign, ask.Session, with, canonical)
	d.mu.Lock()
	other := d.requests[key]
	maybe := d.mayKnow(client, ask.Moment)
	d.mu.Unlock()
	if other != nil {
		return d.again(ctx, other, digest)
	}
	if maybe {
		answer, known, err := d.stored(key, &digest)
		if known || err != nil {
			return answer, err
		}
	}
	a, refusal := d.understand(ctx, Ask{Envelope: with, Payload: canonical})
	if refusal != nil {
		d.refusedAsSuspended(client, s.Envelope, refusal)
		d.refused(key, methodMomentSign, digest, with, refusal.Code)
		return Answer{}, refusal
	}
	a.moment = &selected{row.ID, row.Envelope, sheet.Rows[s.Option].Label}
	req := &request{key: key, digest: digest, method: methodMomentSign, session: ask.Session, ask: a, end: endIn(d.clock, MaxLifetimeMS), done: make(chan struct{})}
	return d.admit(ctx, req, admission{
		interactive: true,
		begin: func() *Refusal {
			if d.away {
				return refuse(CodeAway)
			}
			return nil
		},
		unasked: func() *op {
			if !s.Seen {
				return nil
			}
			return &op{build: func(b *batch) error {
				if refusal := d.gateClient(client); refusal != nil {
					return refusal
				}
				if d.away {
					return refuse(CodeAway)
				}
				if refusal := d.admits(a.envelope, b.signed[a.envelope.Hash()]); refusal != nil {
					return refusal
				}
				return d.addSigned(b, []*request{req}, byClick(), nil)
			}}
		},
		// A rule came after the selection: the owner is asked for the action too.
		asks: func(err error) bool {
			var k *keys.Error
			return errors.As(err, &k) && k.Code == keys.CodePasskeyNeeded
		},
	})
}

// missed notes that an agent came with another action than was selected, and says why it is not signed.
func (d *Desk) missed(row store.Moment, action []byte, why error) error {
	reason := moment.ReasonOf(why)
	refusal := refuse(CodeMalformed)
	switch reason {
	case moment.NotOption, moment.NoSigningEnvelope:
		return refuse(string(reason))
	case moment.ActionMismatch, moment.ActionNotSignable:
		refusal = refuse(string(reason))
	default:
		refusal.Data = mustJSON(map[string]string{"detail": reason.Sentence()})
	}
	d.mu.Lock()
	st, _ := d.led.state.Moment(row.ID)
	d.mu.Unlock()
	if row.Missed >= maxMissed || st.Signed {
		return refusal
	}
	if err := d.do(&op{build: func(b *batch) error {
		a, err := b.add(journal.KindMomentMissed, journal.MomentMissed{Moment: row.ID, Client: row.Client, Reason: string(reason), Digest: permit.SHA256(action)})
		if err != nil {
			return err
		}
		a.write = func(tx *store.Tx) error { return tx.CountMoment(row.ID, 0, 1, 0) }
		return nil
	}}); err != nil {
		return asRefusal(err)
	}
	return refusal
}

// momentDoc is the part of a sheet's canonical content that a moment has.
type momentDoc struct {
	Moment     string         `json:"moment"`
	Sheet      string         `json:"sheet_digest"`
	Addresses  []optionSigner `json:"addresses"`
	ToolServer string         `json:"tool_server"`
}

type optionSigner struct {
	Option  int    `json:"option"`
	Address string `json:"address"`
}

func docOf(m *MomentSheet) *momentDoc {
	out := &momentDoc{m.Moment, m.Sheet.Digest(), []optionSigner{}, m.ToolServer}
	for i := range m.Sheet.Rows {
		if a := m.Addresses[i]; a != "" {
			out.Addresses = append(out.Addresses, optionSigner{i, a})
		}
	}
	return out
}
