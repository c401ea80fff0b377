package approvals

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"

	"vault/approvals/handshake"
	"vault/approvals/journal"
	"vault/approvals/permit"
	"vault/approvals/store"
	"vault/derive/envelope"
)

// ledger is what the store says, in memory: the state that follows from the
// log, and the permits that the state shows. Guarded by the desk's lock.
type ledger struct {
	state         *journal.State
	lastKind      journal.Kind
	opened        bool   // the log says that the vault is open
	head          []byte // newest signed head
	covered       uint64
	snapshot      uint64
	snapshotState []byte

	clients map[string]*clientRow
	domains map[string]*domainRow
	grants  map[string]*grantRow
	under   map[string][]*grantRow // by envelope hash
	blocks  []store.Block

	delegates   map[string]*delegateRow     // by delegateHash; those without a permit are suspended
	pins        map[string]*pinRow          // by agent key
	allowed     map[string]*allowRow        // pre-authorisations, by id
	settled     map[string]map[int64]string // digest by engagement and version: as the log says
	deployments map[string]string           // by engagement, "" everywhere: as the log says
}

type clientRow struct {
	permit   permit.Client
	body     []byte
	mac      string
	secret   handshake.Secret
	sessions map[string]*sessionRow
	dropped  []string // sessions to be dropped from the store

	lastSeen  int64
	connected int
	signed    int64
	declined  int64
	noted     int64 // presented and not shown as a decision

	open       int // requests in the queue
	unanswered int // sheets in a row that were shown and ran out
	cool       deadline
	tokens     int64
	refilled   int64 // boot-time clock
	refusals   *refusals
}

type sessionRow struct {
	lastUsed int64
	written  int64 // what the store says
}

type domainRow struct {
	permit     permit.Domain
	body       []byte
	mac        string
	projection *envelope.Projection
	signed     int64
}

type grantRow struct {
	permit   permit.Grant
	body     []byte
	mac      string
	end      deadline
	envelope *envelope.ActionEnvelope
}

func newLedger() *ledger {
	return &ledger{state: &journal.State{}, clients: map[string]*clientRow{}, domains: map[string]*domainRow{}, grants: map[string]*grantRow{}, under: map[string][]*grantRow{},
		delegates: map[string]*delegateRow{}, pins: map[string]*pinRow{}, allowed: map[string]*allowRow{}, deployments: map[string]string{}, settled: map[string]map[int64]string{}}
}

// readLedger reads snapshot, entries and permits and compares them. What is
// wrong with them is a Trouble; the error is one of the disk. With heads, every
// signed head since the snapshot is verified as well, not only the newest.
func readLedger(s *store.Store, clock Clock, heads bool) (*ledger, *Trouble, error) {
	l := newLedger()
	trouble, err := l.readLog(s, heads)
	if err != nil || trouble != nil {
		return l, trouble, err
	}
	if trouble, err = l.readDelegates(s, clock); err != nil || trouble != nil {
		return l, trouble, err
	}
	if trouble, err = l.readPermits(s, clock); err != nil || trouble != nil {
		return l, trouble, err
	}
	sessions, err := s.Sessions()
	if err != nil {
		return l, nil, err
	}
	for _, x := range sessions {
		if c := l.clients[x.Client]; c != nil {
			c.sessions[x.ID] = &sessionRow{x.LastUsed, x.LastUsed}
		}
	}
	if l.blocks, err = s.Blocks(); err != nil {
		return l, nil, err
	}
	if err := l.readDeployments(s); err != nil {
		return l, nil, err
	}
	if err := l.readSettled(s); err != nil {
		return l, nil, err
	}
	return l, nil, nil
}

func (l *ledger) readLog(s *store.Store, heads bool) (*Trouble, error) {
	damaged := func(seq uint64, detail string) (*Trouble, error) {
		return &Trouble{Code: "log_damaged", Seq: seq, Detail: detail}, nil
	}
	from := uint64(1)
	seq, state, err := s.Snapshot()
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return nil, err
	default:
		st, err := journal.ParseState(state)
		if err != nil || st.Seq()+1 != seq {
			return &Trouble{Code: "snapshot_edited", Seq: seq}, nil
		}
		l.state, l.snapshot, l.snapshotState, from = st, seq, state, seq
		l.opened = true // only an open vault makes snapshots
	}
	var last *store.Entry
	for {
		es, err := s.Entries(from, loadChunk)
		if err != nil {
			return nil, err
		}
		for i := range es {
			row := &es[i]
			if row.Seq != from {
				return damaged(from, "an entry is missing")
			}
			e, err := journal.Parse(row.Raw)
			if err != nil {
				return damaged(from, err.Error())
			}
			if why := rowDiffers(row, e); why != "" {
				return damaged(from, why)
			}
			if err := l.state.Apply(e); err != nil {
				if row.Seq == l.snapshot {
					return &Trouble{Code: "snapshot_edited", Seq: from, Detail: err.Error()}, nil
				}
				return damaged(from, err.Error())
			}
			l.applied(e.Kind)
			if row.Kind == string(journal.KindSnapshot) && row.Seq > l.snapshot {
				return &Trouble{Code: "snapshot_missing", Seq: from}, nil
			}
			if row.Head != nil {
				last = row
				l.head, l.covered = row.Head, row.Seq
				if heads {
					if why := headDiffers(l.state, row); why != "" {
						return damaged(from, why)
					}
				}
			} else if !e.Unkeyed() {
				return damaged(from, "an entry of the key process without a signed head")
			}
			from++
		}
		if len(es) < loadChunk {
			break
		}
	}
	if l.snapshot > 0 && l.state.Seq() < l.snapshot {
		return damaged(l.snapshot, "the entry of the snapshot is missing")
	}
	if last != nil && !heads {
		if why := headDiffers(l.state, last); why != "" {
			return damaged(last.Seq, why)
		}
	}
	return nil, nil
}

// rowDiffers says what a row repeats wrongly of its entry.
func rowDiffers(row *store.Entry, e journal.Entry) string {
	client, request, tag := subject(e)
	switch {
	case row.Hash != e.Hash():
		return "the hash beside the entry is not its own"
	case row.Kind != string(e.Kind), row.At != e.At, row.Client != client, row.Request != request, row.Tag != tag:
		return "a column beside the entry does not say what the entry says"
	}
	return ""
}

// headDiffers says why a head is not the log key's over the row's entry.
func headDiffers(st *journal.State, row *store.Entry) string {
	h, err := journal.ParseHead(row.Head)
	switch {
	case err != nil:
		return err.Error()
	case h.Seq != row.Seq || h.Hash != row.Hash:
		return "the head is over another entry"
	case h.Key != st.LogKey() || h.Instance != st.Instance() || h.Vault != st.Vault():
		return "the head is by another key, or of another log"
	}
	return ""
}

// subject is what an entry is about, as the columns beside it say.
func subject(e journal.Entry) (client, request, tag string) {
	switch b := e.Decoded().(type) {
	case journal.ActionSigned:
		return b.Client, b.Request, b.DomainHash
	case journal.RequestAnswered:
		return b.Client, b.Request, b.Outcome
	case journal.RequestSeen:
		return b.Client, b.Request, ""
	case journal.ClientPaired:
		return b.Client, "", ""
	case journal.ClientEnded:
		return b.Client, "", ""
	case journal.GrantMade:
		return b.Client, "", ""
	case journal.MomentSeen:
		return b.Client, b.Moment, ""
	case journal.MomentResolved:
		return b.Client, b.Moment, b.Choice
	case journal.MomentDeclined:
		return b.Client, b.Moment, outcomeDeclined
	case journal.MomentEnded:
		return b.Client, b.Moment, b.Reason
	case journal.MomentNoted:
		return b.Client, "", b.Reason
	case journal.MomentMissed:
		return b.Client, b.Moment, b.Reason
	case journal.CapabilityMinted:
		return b.Client, b.Mint, b.Delegate
	case journal.MintedSigned:
		return b.Client, b.Request, b.Delegate
	case journal.SoWSigned:
		return b.Client, "", b.Engagement
	case journal.SoWActSigned:
		return "", "", b.Engagement
	case journal.SoWPreauthorised:
		return b.Client, "", ""
	case journal.SoWIntent:
		return b.Client, "", b.Engagement
	case journal.SoWNoted:
		return "", "", b.Engagement
	}
	return "", "", ""
}

// readPermits compares the permits with the log: each must be the one whose
// digest the log shows, and each that the log shows in force must be there.
func (l *ledger) readPermits(s *store.Store, clock Clock) (*Trouble, error) {
	rows, err := s.Permits()
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if t := l.readPermit(row, clock); t != nil {
			return t, nil
		}
	}
	missing := func(id string) (*Trouble, error) { return &Trouble{Code: "permit_missing", Detail: id}, nil }
	for _, x := range l.state.Domains() {
		if l.domains[x.Hash] == nil {
			return missing(x.Hash)
		}
	}
	for _, x := range l.state.Clients() {
		if l.clients[x.ID] == nil {
			return missing(x.ID)
		}
	}
	for _, x := range l.state.Grants() {
		if l.grants[x.ID] == nil {
			return missing(x.ID)
		}
	}
	for _, x := range l.state.Delegates() {
		if row := l.delegates[x.Hash]; row == nil || row.body == nil {
			return missing(x.Hash)
		}
	}
	return l.missingSoW(), nil
}

func (l *ledger) readPermit(row store.Permit, clock Clock) *Trouble {
	edited := &Trouble{Code: CodeRowEdited, Detail: row.Kind + " " + row.ID}
	unknown := &Trouble{Code: CodePermitNotInLog, Detail: row.Kind + " " + row.ID}
	digest := permit.SHA256(row.Body)
	if !isMAC(row.MAC) {
		return edited
	}
	switch row.Kind {
	case permit.TypeDomain:
		d, ok := l.state.Domain(row.ID)
		if !ok {
			return unknown
		}
		p, err := permit.ParseDomain(row.Body)
		if err != nil || d.PermitSHA256 != digest || p.Hash != row.ID || row.Secret != nil || row.About != nil {
			return edited
		}
		proj, err := envelope.ParseProjection(p.Projection)
		if err != nil || proj.Info().Hash() != p.Hash || proj.Address() != d.Address {
			return edited
		}
		l.domains[row.ID] = &domainRow{permit: p, body: row.Body, mac: row.MAC, projection: proj}
	case permit.TypeClient:
		c, ok := l.state.Client(row.ID)
		if !ok {
			return unknown
		}
		p, err := permit.ParseClient(row.Body)
		sum := sha256.Sum256(row.Secret)
		if err != nil || c.PermitSHA256 != digest || p.ID != row.ID || row.About != nil ||
			len(row.Secret) != handshake.Size || p.SecretSHA256 != "0x"+hex.EncodeToString(sum[:]) {
			return edited
		}
		l.clients[row.ID] = newClientRow(p, row.Body, row.MAC, handshake.Secret(row.Secret))
	case permit.TypeGrant:
		g, ok := l.state.Grant(row.ID)
		if !ok {
			return unknown
		}
		p, err := permit.ParseGrant(row.Body)
		if err != nil || g.PermitSHA256 != digest || p.ID != row.ID || p.Client != g.Client || p.EnvelopeHash != g.EnvelopeHash || row.Secret != nil {
			return edited
		}
		env, err := envelope.ParseActionEnvelope(row.About)
		if err != nil || env.Hash() != p.EnvelopeHash || !bytes.Equal(env.Canonical(), row.About) {
			return edited
		}
		l.addGrant(&grantRow{permit: p, body: row.Body, mac: row.MAC, end: endAt(clock, p.NotAfter), envelope: env})
	case permit.TypeDelegate:
		known, ok := l.state.Delegate(row.ID)
		if !ok {
			return unknown
		}
		p, err := permit.ParseDelegate(row.Body)
		doc := l.delegates[row.ID]
		if err != nil || doc == nil || known.PermitSHA256 != digest || p.Hash != row.ID || p.DomainHash != known.DomainHash ||
			p.Mints != known.Mints || row.Secret != nil || row.About != nil {
			return edited
		}
		doc.permit, doc.body, doc.mac = p, row.Body, row.MAC
	case permit.TypePin, permit.TypePreauthorisation:
		return l.readSoWPermit(row, edited, unknown)
	default:
		return unknown
	}
	return nil
}

func isMAC(s string) bool { return envelope.IsHash(s) }

func newClientRow(p permit.Client, body []byte, mac string, secret handshake.Secret) *clientRow {
	return &clientRow{permit: p, body: body, mac: mac, secret: secret, sessions: map[string]*sessionRow{}, tokens: askBurst, refusals: &refusals{}}
}

// keepObserved carries over what only memory knows.
func (l *ledger) keepObserved(old *ledger) {
	for id, c := range l.clients {
		if o := old.clients[id]; o != nil {
			c.lastSeen, c.connected, c.open = o.lastSeen, o.connected, o.open
			c.unanswered, c.cool, c.tokens, c.refilled, c.refusals = o.unanswered, o.cool, o.tokens, o.refilled, o.refusals
		}
	}
	for id, g := range l.grants {
		if o := old.grants[id]; o != nil {
			g.end = o.end
		}
	}
	for hash, x := range l.delegates {
		if o := old.delegates[hash]; o != nil {
			x.end = o.end
		}
	}
}

// keepCounts carries over what was counted of the same log.
func (l *ledger) keepCounts(old *ledger) {
	for id, c := range l.clients {
		if o := old.clients[id]; o != nil {
			c.signed, c.declined, c.noted = o.signed, o.declined, o.noted
		}
	}
	for hash, x := range l.domains {
		if o := old.domains[hash]; o != nil {
			x.signed = o.signed
		}
	}
}

// applied follows the kinds of entries.
func (l *ledger) applied(k journal.Kind) {
	l.lastKind = k
	switch k {
	case journal.KindCreated, journal.KindInstanceStarted, journal.KindUnlocked:
		l.opened = true
	case journal.KindLocked:
		l.opened = false
	}
}

// add counts what people see numbers of.
func (l *ledger) add(client, kind, tag string, n int64) {
	c := l.clients[client]
	if c == nil {
		return
	}
	switch {
	case kind == string(journal.KindActionSigned):
		c.signed += n
		if d := l.domains[tag]; d != nil {
			d.signed += n
		}
	case kind == string(journal.KindRequestAnswered) && tag == outcomeDeclined, kind == string(journal.KindMomentDeclined):
		c.declined += n
	case kind == string(journal.KindMomentNoted):
		c.noted += n
	}
}

// client returns a client that may act, or why not.
func (l *ledger) client(id string) (*clientRow, *Refusal) {
	c := l.clients[id]
	if c == nil {
		return nil, refuse(CodeNotPaired)
	}
	st, ok := l.state.Client(id)
	switch {
	case !ok || st.PermitSHA256 != permit.SHA256(c.body):
		return nil, refuse(CodePermitNotInLog)
	case st.Ended == "blocked":
		return nil, refuse(CodeBlocked)
	case st.Ended != "":
		return nil, refuse(CodeRevoked)
	}
	return c, nil
}

func (l *ledger) addGrant(g *grantRow) {
	l.grants[g.permit.ID] = g
	l.under[g.permit.EnvelopeHash] = append(l.under[g.permit.EnvelopeHash], g)
}

// grantFor finds a grant that covers one more signature, in order of ids so that it
// is always the same one. extra is what the batch under way has added.
func (l *ledger) grantFor(clock Clock, client, hash string, away bool, extra uint64) *grantRow {
	if l.clockBehind(clock) {
		return nil
	}
	var best *grantRow
	for _, g := range l.under[hash] {
		if g.permit.Client != client || away && !g.permit.WhileAway || g.end.passed(clock) {
			continue
		}
		if l.state.GrantOpen(g.permit.ID, client, hash, clock.Now()) != nil || l.state.GrantUsed(g.permit.ID)+extra >= uint64(g.permit.Uses) {
			continue
		}
		if best == nil || g.permit.ID < best.permit.ID {
			best = g
		}
	}
	return best
}

// clockBehind says that the wall clock stands before the log's last entry: it
// was set back, and no grant can be trusted to have time left.
func (l *ledger) clockBehind(clock Clock) bool {
	return l.state.Seq() > 0 && clock.Now() < l.state.At()-clockToleranceMS
}

// dropSessions forgets sessions that were not used for 30 days.
func (l *ledger) dropSessions(now int64) []store.Session {
	var out []store.Session
	for id, c := range l.clients {
		for _, name := range c.dropped {
			if c.sessions[name] == nil {
				out = append(out, store.Session{Client: id, ID: name})
			}
		}
		c.dropped = nil
		for name, s := range c.sessions {
			if now-s.lastUsed > SessionMS {
				delete(c.sessions, name)
				out = append(out, store.Session{Client: id, ID: name})
			}
		}
	}
	return out
}

// dropOldest makes room for a session: the one that was not used for longest goes.
func (c *clientRow) dropOldest() {
	oldest := ""
	for name, s := range c.sessions {
		if oldest == "" || s.lastUsed < c.sessions[oldest].lastUsed || s.lastUsed == c.sessions[oldest].lastUsed && name < oldest {
			oldest = name
		}
	}
	delete(c.sessions, oldest)
	c.dropped = append(c.dropped, oldest)
}

// logged are the settings whose changes are log entries, because they say when
// the vault locks and what it warns of.
var logged = []string{settingIdle, settingWarn}

const (
	settingTheme  = "theme"
	settingScale  = "text_scale"
	settingIdle   = "idle_minutes"
	settingNotify = "notifications"
	settingWarn   = "warn_passkey"
)

func defaultSettings() Settings {
	return Settings{Theme: "system", TextScale: 100, IdleMinutes: 15, Notifications: true, WarnPasskey: true}
}

func (s Settings) rows() map[string]string {
	return map[string]string{
		settingTheme: s.Theme, settingScale: strconv.Itoa(s.TextScale), settingIdle: strconv.Itoa(s.IdleMinutes),
		settingNotify: strconv.FormatBool(s.Notifications), settingWarn: strconv.FormatBool(s.WarnPasskey),
	}
}

func (s Settings) valid() bool {
	return slices.Contains([]string{"system", "light", "dark"}, s.Theme) && s.TextScale >= 100 && s.TextScale <= 200 &&
		s.IdleMinutes >= 1 && s.IdleMinutes <= 240
}

// readSettings reads the settings and compares those that are logged with the log.
func readSettings(s *store.Store) (Settings, *Trouble, error) {
	out := defaultSettings()
	rows, err := s.Settings()
	if err != nil {
		return out, nil, err
	}
	want := out.rows()
	changes, err := s.EntriesBefore(0, string(journal.KindSettingChanged), "", 1<<20)
	if err != nil {
		return out, nil, err
	}
	seen := map[string]bool{}
	for _, row := range changes {
		e, err := journal.Parse(row.Raw)
		if err != nil {
			return out, &Trouble{Code: "log_damaged", Seq: row.Seq}, nil
		}
		if b, ok := e.Decoded().(journal.SettingChanged); ok && !seen[b.Name] {
			seen[b.Name], want[b.Name] = true, b.To
		}
	}
	edited := func(name string) (Settings, *Trouble, error) {
		return defaultSettings(), &Trouble{Code: CodeRowEdited, Detail: "setting " + name}, nil
	}
	for _, name := range logged {
		if got, ok := rows[name]; ok && got != want[name] || !ok && seen[name] {
			return edited(name)
		}
	}
	for name, text := range rows {
		var err error
		switch name {
		case settingTheme:
			out.Theme = text
		case settingScale:
			out.TextScale, err = strconv.Atoi(text)
		case settingIdle:
			out.IdleMinutes, err = strconv.Atoi(text)
		case settingNotify:
			out.Notifications, err = strconv.ParseBool(text)
		case settingWarn:
			out.WarnPasskey, err = strconv.ParseBool(text)
		default:
			return edited(name)
		}
		if err != nil {
			return edited(name)
		}
	}
	if !out.valid() {
		return edited("value")
	}
	return out, nil, nil
}
