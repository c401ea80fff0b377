package journal

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"

	"vault/approvals/permit"
	"vault/derive/jcs"
)

// State is what follows from the entries of one log: which permits stand, how
// often each envelope was used, and where the log ends. The zero State is the
// state before the first entry. A State is not safe for concurrent use.
type State struct {
	seq      uint64
	hash     string
	at       int64
	latest   int64
	vault    string
	instance string
	ownerKey string
	logKey   string
	demo     bool
	reason   string
	started  int64
	words    bool

	domains map[string]DomainState
	clients map[string]ClientState
	grants  map[string]GrantState
	moments map[string]MomentState
	uses    map[[32]byte]useCount
	sow     sowState

	sockets    map[int64]SocketState      // nil where there are none
	readmitted map[string]ReadmittedState // the same, by hash
	delegates  map[string]*delegate
	exported   map[string]int64 // domains whose mint material was let out
	kept       int              // mints of delegates that have not ended

	parsed string // SHA256 of the bytes the state was parsed from, until an entry is applied
}

// useCount counts the signatures under one envelope hash, and those of them
// that a grant stood behind.
type useCount struct{ signed, granted uint64 }

// DomainState is an opened domain.
type DomainState struct {
	Hash         string `json:"hash"`
	ID           string `json:"id"`
	Address      string `json:"address"`
	PermitSHA256 string `json:"permit_sha256"`
	CreatedAt    int64  `json:"created_at"` // milliseconds since epoch, of the entry
}

// ClientState is a paired client.
type ClientState struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	By           string `json:"by"`
	PermitSHA256 string `json:"permit_sha256"` // of the permit in force
	PairedAt     int64  `json:"paired_at"`     // milliseconds since epoch, of the first entry
	Ended        string `json:"ended"`         // "" | "revoked" | "blocked"
}

// GrantState is a grant. What is used of it are the uses of its envelope hash
// that had a grant behind them, whoever the client was, since it was made;
// what the owner approved one by one is not taken from it.
type GrantState struct {
	ID           string `json:"id"`
	Client       string `json:"client"`
	EnvelopeHash string `json:"envelope_hash"`
	Uses         int64  `json:"uses"`
	NotAfter     int64  `json:"not_after"` // milliseconds since epoch
	By           string `json:"by"`
	PermitSHA256 string `json:"permit_sha256"`
	MadeAt       int64  `json:"made_at"` // milliseconds since epoch, of the entry
	Ended        string `json:"ended"`   // "" or the reason
	Before       uint64 `json:"before"`  // granted uses of the envelope hash when it was made
}

// MomentState is a resolved moment. Resolved moments are never forgotten: each is resolved once.
type MomentState struct {
	ID             string `json:"id"`
	Client         string `json:"client"`
	EnvelopeDigest string `json:"envelope_digest"`
	Option         int64  `json:"option"`        // -1 unless an option was selected
	ActionDigest   string `json:"action_digest"` // of the selected option, or empty
	SignWith       string `json:"sign_with"`     // hash of the action envelope that was shown with it, or empty
	Signed         bool   `json:"signed"`        // its action was signed
	By             string `json:"by,omitzero"`   // "passkey" where one confirmed the resolution and its action was shown, else empty
}

// Contradiction says that an entry cannot follow from the entries before it.
type Contradiction struct {
	Code   string // see the constants
	Detail string // a sentence of ours without text from the entry
}

// Error implements error.
func (c *Contradiction) Error() string { return c.Code + ": " + c.Detail }

// Codes of a [Contradiction].
const (
	CodeNotNext       = "not_next"       // does not extend the head
	CodeOtherInstance = "other_instance" // belongs to another log
	CodeNotFirst      = "not_first"      // a log begins once
	CodeTwice         = "twice"          // already so
	CodeUnknownDomain = "unknown_domain" // no such domain in the log
	CodeUnknownClient = "unknown_client" // no such client in the log
	CodeClientEnded   = "client_ended"   // revoked or blocked
	CodeUnknownGrant  = "unknown_grant"  // no such grant in the log
	CodeGrantEnded    = "grant_ended"    // ended by the owner
	CodeGrantExpired  = "grant_expired"  // past its end
	CodeGrantSpent    = "grant_spent"    // no uses left
	CodeGrantOther    = "grant_other"    // of another client or envelope
	CodeGrantLimits   = "grant_limits"   // asks for more than a grant may give
	CodeUseNotNext    = "use_not_next"   // not the next use of its envelope
	CodeWrongSnapshot = "wrong_snapshot" // not the hash of the state before it
	CodeWrongPermit   = "wrong_permit"   // takes the place of a permit that is not in force
	CodeMomentName    = "moment_name"    // not the id of this client, session and envelope
	CodeMomentForm    = "moment_form"    // option, action and signing envelope do not fit the choice
	CodeUnknownMoment = "unknown_moment" // no such resolved moment of this client
	CodeMomentOther   = "moment_other"   // selected nothing that is signed under this envelope
	CodeMomentSigned  = "moment_signed"  // its action was signed before
	CodeConfirmation  = "confirmation"   // names a record and is not by passkey, or the other way round
	CodeNoGrantNamed  = "no_grant_named" // by grant, but names none, or the other way round
)

func contradict(code, detail string) error { return &Contradiction{code, detail} }

// Seq is the number of the last entry, 0 before the first.
func (s *State) Seq() uint64 { return s.seq }

// Hash is the hash of the last entry, Zero before the first.
func (s *State) Hash() string {
	if s.seq == 0 {
		return Zero
	}
	return s.hash
}

// At is the time of the last entry, milliseconds since epoch.
func (s *State) At() int64 { return s.at }

// Latest is the latest time of any entry, milliseconds since epoch: later than At where the clock was set back.
func (s *State) Latest() int64 { return s.latest }

// Vault is the vault id, 32 hex digits.
func (s *State) Vault() string { return s.vault }

// Instance is the instance id, 32 hex digits.
func (s *State) Instance() string { return s.instance }

// OwnerKey is the owner key of the first entry, nkey text.
func (s *State) OwnerKey() string { return s.ownerKey }

// LogKey is the log key of the first entry, nkey text.
func (s *State) LogKey() string { return s.logKey }

// Demo says whether the log is one of a throw-away vault.
func (s *State) Demo() bool { return s.demo }

// Reason is why this instance does not begin with the root's creation, or
// empty where it does.
func (s *State) Reason() string { return s.reason }

// StartedAt is the time of the first entry, milliseconds since epoch.
func (s *State) StartedAt() int64 { return s.started }

// WordsShown says whether the recovery words were shown and asked back.
func (s *State) WordsShown() bool { return s.words }

// Domain returns an opened domain.
func (s *State) Domain(hash string) (DomainState, bool) { d, ok := s.domains[hash]; return d, ok }

// Client returns a client, ended ones included.
func (s *State) Client(id string) (ClientState, bool) { c, ok := s.clients[id]; return c, ok }

// Grant returns a grant, ended ones included.
func (s *State) Grant(id string) (GrantState, bool) { g, ok := s.grants[id]; return g, ok }

// Domains returns all domains, ordered by hash.
func (s *State) Domains() []DomainState {
	return sorted(s.domains, func(d DomainState) string { return d.Hash })
}

// Clients returns all clients, ordered by id.
func (s *State) Clients() []ClientState {
	return sorted(s.clients, func(c ClientState) string { return c.ID })
}

// Grants returns all grants, ordered by id.
func (s *State) Grants() []GrantState {
	return sorted(s.grants, func(g GrantState) string { return g.ID })
}

// Moment returns a resolved moment.
func (s *State) Moment(id string) (MomentState, bool) { m, ok := s.moments[id]; return m, ok }

// Uses is how often an envelope hash was used.
func (s *State) Uses(envelopeHash string) uint64 { return s.uses[key(envelopeHash)].signed }

// GrantUsed is how much is used of a grant; 0 for a grant that is not known.
func (s *State) GrantUsed(id string) uint64 {
	g, ok := s.grants[id]
	if !ok {
		return 0
	}
	return s.uses[key(g.EnvelopeHash)].granted - g.Before
}

// GrantOpen says why a grant gives nothing to that client under that envelope
// at that time (milliseconds since epoch), or nil. The error is a [*Contradiction].
func (s *State) GrantOpen(id, client, envelopeHash string, at int64) error {
	g, ok := s.grants[id]
	switch {
	case !ok:
		return contradict(CodeUnknownGrant, "the log shows no such grant")
	case g.Ended != "":
		return contradict(CodeGrantEnded, "the grant was ended")
	case g.Client != client || g.EnvelopeHash != envelopeHash:
		return contradict(CodeGrantOther, "the grant is for another client or envelope")
	case at > g.NotAfter:
		return contradict(CodeGrantExpired, "the grant is past its end")
	case s.GrantUsed(id) >= uint64(g.Uses):
		return contradict(CodeGrantSpent, "the grant has no uses left")
	}
	return nil
}

// Apply takes the next entry. It refuses, with a [*Contradiction] and without
// any change, an entry that does not extend the log or contradicts it.
func (s *State) Apply(e Entry) error {
	change, err := s.check(e)
	if err != nil {
		return err
	}
	if change != nil {
		change()
	}
	s.seq, s.hash, s.at, s.parsed = e.Seq, e.hash, e.At, ""
	s.latest = max(s.latest, e.At)
	return nil
}

// Check says whether Apply would take the entry.
func (s *State) Check(e Entry) error {
	_, err := s.check(e)
	return err
}

// check returns what the entry changes.
func (s *State) check(e Entry) (func(), error) {
	if e.decoded == nil {
		return nil, contradict(CodeNotNext, "the entry was not parsed")
	}
	if e.Seq != s.seq+1 || e.Prev != s.Hash() {
		return nil, contradict(CodeNotNext, "the entry does not extend the head")
	}
	if s.seq == 0 {
		return s.checkFirst(e)
	}
	if e.Instance != s.instance {
		return nil, contradict(CodeOtherInstance, "the entry belongs to another instance")
	}
	if err := e.CheckRecord(); err != nil {
		return nil, err
	}
	if change, ok, err := s.checkMints(e); ok {
		return change, err
	}
	switch b := e.decoded.(type) {
	case Created, InstanceStarted:
		return nil, contradict(CodeNotFirst, "a log begins once")
	case WordsShown:
		return func() { s.words = true }, nil
	case DomainCreated:
		if _, ok := s.domains[b.DomainHash]; ok {
			return nil, contradict(CodeTwice, "the domain is open already")
		}
		return func() {
			s.domains[b.DomainHash] = DomainState{b.DomainHash, b.DomainID, b.DomainAddress, b.PermitSHA256, e.At}
		}, nil
	case ClientPaired:
		return s.checkPaired(e, b)
	case ClientEnded:
		c, ok := s.clients[b.Client]
		switch {
		case !ok:
			return nil, contradict(CodeUnknownClient, "the log shows no such client")
		case c.Ended == b.Reason:
			return nil, contradict(CodeTwice, "the client has ended already")
		}
		c.Ended = b.Reason
		return func() { s.clients[b.Client] = c }, nil
	case GrantMade:
		return s.checkGrant(e, b)
	case GrantEnded:
		g, ok := s.grants[b.Grant]
		switch {
		case !ok:
			return nil, contradict(CodeUnknownGrant, "the log shows no such grant")
		case g.Ended != "":
			return nil, contradict(CodeTwice, "the grant has ended already")
		}
		g.Ended = b.Reason
		return func() { s.grants[b.Grant] = g }, nil
	case ActionSigned:
		return s.checkSigned(e, b)
	case MomentResolved:
		if (b.Choice == "option") != (b.Option >= 0) || (b.Option >= 0) != (b.ActionDigest != "") || b.Option < 0 && b.SignWith != "" {
			return nil, contradict(CodeMomentForm, "option, action and signing envelope do not fit the choice")
		}
		if err := s.clientOpen(b.Client); err != nil {
			return nil, err
		}
		if b.Unseen && b.Option < 0 {
			return nil, contradict(CodeMomentForm, "an action is unseen only where an option was selected")
		}
		by := byPasskey(b.By)
		if b.Unseen {
			by = ""
		}
		return s.checkMoment(b.Session, MomentState{b.Moment, b.Client, b.EnvelopeDigest, b.Option, b.ActionDigest, b.SignWith, false, by})
	case MomentDeclined:
		if _, ok := s.clients[b.Client]; !ok {
			return nil, contradict(CodeUnknownClient, "the log shows no such client")
		}
		return s.checkMoment(b.Session, MomentState{ID: b.Moment, Client: b.Client, EnvelopeDigest: b.EnvelopeDigest, Option: -1})
	case SocketAdded:
		return s.checkSocket(e, b)
	case SocketRemoved:
		if _, ok := s.sockets[b.UserID]; !ok {
			return nil, contradict(CodeUnknownSocket, "the log shows no socket for this user")
		}
		return func() { delete(s.sockets, b.UserID) }, nil
	case Readmitted:
		return s.checkReadmitted(e, b)
	case Snapshot:
		if b.StateSHA256 != s.SHA256() {
			return nil, contradict(CodeWrongSnapshot, "the snapshot is not of the state before it")
		}
	default:
		return s.checkSoW(e)
	}
	return nil, nil
}

func (s *State) checkFirst(e Entry) (func(), error) {
	begin := func(vault, owner, log, reason string, demo bool) func() {
		return func() {
			s.vault, s.instance, s.ownerKey, s.logKey = vault, e.Instance, owner, log
			s.reason, s.started, s.demo = reason, e.At, demo
			s.domains, s.clients = map[string]DomainState{}, map[string]ClientState{}
			s.grants, s.uses = map[string]GrantState{}, map[[32]byte]useCount{}
		}
	}
	switch b := e.decoded.(type) {
	case Created:
		return begin(b.Vault, b.OwnerKey, b.LogKey, "", b.Demo), nil
	case InstanceStarted:
		return begin(b.Vault, b.OwnerKey, b.LogKey, b.Reason, false), nil
	}
	return nil, contradict(CodeNotFirst, "a log begins with vault.created or instance.started")
}

func (s *State) checkPaired(e Entry, b ClientPaired) (func(), error) {
	c, ok := s.clients[b.Client]
	switch {
	case !ok && b.Replaces != "":
		return nil, contradict(CodeUnknownClient, "the log shows no such client")
	case ok && b.Replaces == "":
		return nil, contradict(CodeTwice, "the client is paired already")
	case c.Ended != "":
		return nil, contradict(CodeClientEnded, "the client has ended")
	case b.Replaces != c.PermitSHA256:
		return nil, contradict(CodeWrongPermit, "the permit to be replaced is not the one in force")
	case !ok:
		c = ClientState{ID: b.Client, PairedAt: e.At}
	}
	if b.Replaces == "" {
		c.By = b.By // a rename changes nothing about the pairing
	}
	c.Name, c.PermitSHA256 = b.Name, b.PermitSHA256
	return func() { s.clients[b.Client] = c }, nil
}

func (s *State) checkGrant(e Entry, b GrantMade) (func(), error) {
	if _, ok := s.grants[b.Grant]; ok {
		return nil, contradict(CodeTwice, "the grant is made already")
	}
	if err := s.clientOpen(b.Client); err != nil {
		return nil, err
	}
	uses, span := int64(permit.GrantUsesBeforePasskey), int64(permit.GrantMillisBeforePasskey)
	if b.By == "passkey" {
		uses, span = permit.GrantUsesMax, permit.GrantMillisMax
	}
	if b.Uses > uses || b.NotAfter <= e.At || b.NotAfter-e.At > span {
		return nil, contradict(CodeGrantLimits, "the grant asks for more uses or time than it may give")
	}
	return func() {
		s.grants[b.Grant] = GrantState{
			ID: b.Grant, Client: b.Client, EnvelopeHash: b.EnvelopeHash, Uses: b.Uses, NotAfter: b.NotAfter,
			By: b.By, PermitSHA256: b.PermitSHA256, MadeAt: e.At, Before: s.uses[key(b.EnvelopeHash)].granted,
		}
	}, nil
}

func (s *State) checkSigned(e Entry, b ActionSigned) (func(), error) {
	if _, ok := s.domains[b.DomainHash]; !ok {
		return nil, contradict(CodeUnknownDomain, "the log shows no such domain")
	}
	if err := s.clientOpen(b.Client); err != nil {
		return nil, err
	}
	if (b.By == "grant") != (b.Grant != "") {
		return nil, contradict(CodeNoGrantNamed, "a grant is named exactly where one stands behind the signature")
	}
	if b.Grant != "" {
		if err := s.GrantOpen(b.Grant, b.Client, b.EnvelopeHash, e.At); err != nil {
			return nil, err
		}
	}
	k := key(b.EnvelopeHash)
	n := s.uses[k]
	if b.Use != n.signed+1 {
		return nil, contradict(CodeUseNotNext, "the use is not the next one of its envelope")
	}
	n.signed++
	if b.Grant != "" {
		n.granted++
	}
	if b.Moment != "" {
		if b.By == "grant" {
			return nil, contradict(CodeMomentOther, "a grant stands behind no moment")
		}
		m, err := s.momentOpen(b)
		if err != nil {
			return nil, err
		}
		m.Signed = true
		return func() { s.uses[k], s.moments[m.ID] = n, m }, nil
	}
	return func() { s.uses[k] = n }, nil
}

func byPasskey(by string) string {
	if by == "passkey" {
		return by
	}
	return ""
}

// checkMoment lets a moment be resolved that was not.
func (s *State) checkMoment(session string, m MomentState) (func(), error) {
	if MomentID(m.Client, session, m.EnvelopeDigest) != m.ID {
		return nil, contradict(CodeMomentName, "the id is not that of the client, session and envelope named")
	}
	if _, ok := s.moments[m.ID]; ok {
		return nil, contradict(CodeTwice, "the moment is resolved already")
	}
	return func() { put(&s.moments, m.ID, m) }, nil
}

// momentOpen returns the resolved moment that a signature stands on.
func (s *State) momentOpen(b ActionSigned) (MomentState, error) {
	m, ok := s.moments[b.Moment]
	switch {
	case !ok || m.Client != b.Client:
		return m, contradict(CodeUnknownMoment, "the log shows no such resolved moment of this client")
	case m.SignWith == "" || m.SignWith != b.EnvelopeHash:
		return m, contradict(CodeMomentOther, "nothing was selected that is signed under this envelope")
	case m.Signed:
		return m, contradict(CodeMomentSigned, "the moment's action was signed already")
	}
	return m, nil
}

func (s *State) clientOpen(id string) error {
	c, ok := s.clients[id]
	switch {
	case !ok:
		return contradict(CodeUnknownClient, "the log shows no such client")
	case c.Ended != "":
		return contradict(CodeClientEnded, "the client has ended")
	}
	return nil
}

// key is the hash that 0x and 64 hex digits stand for, zeros for other texts.
func key(hash string) (k [32]byte) {
	if len(hash) == 66 {
		if n, err := hex.Decode(k[:], []byte(hash[2:])); err != nil || n != 32 {
			return [32]byte{}
		}
	}
	return k
}

func sorted[K, O cmp.Ordered, V any](m map[K]V, by func(V) O) []V {
	out := slices.AppendSeq(make([]V, 0, len(m)), maps.Values(m))
	slices.SortFunc(out, func(a, b V) int { return cmp.Compare(by(a), by(b)) })
	return out
}

// stateHead is the first line of a state's canonical bytes.
type stateHead struct {
	Type      string `json:"type"` // "vault.logState"
	V         int    `json:"v"`    // 1
	Vault     string `json:"vault"`
	Instance  string `json:"instance"`
	OwnerKey  string `json:"owner_key"`
	LogKey    string `json:"log_key"`
	Demo      bool   `json:"demo"`
	Reason    string `json:"reason"`
	StartedAt int64  `json:"started_at"`
	Words     bool   `json:"words_shown"`
	Seq       uint64 `json:"seq"`
	Hash      string `json:"hash"`
	At        int64  `json:"at"`
	Latest    int64  `json:"latest,omitzero"` // only where it is later than At
	Domains   int    `json:"domains"`         // numbers of lines that follow, in this order
	Clients   int    `json:"clients"`
	Grants    int    `json:"grants"`
	Moments   int    `json:"moments,omitzero"`
	Sockets   int    `json:"sockets,omitzero"`
	Readmits  int    `json:"readmitted,omitzero"`
	Exports   int    `json:"exports,omitzero"`
	Delegates int    `json:"delegates,omitzero"` // each followed by its mints
	Uses      int    `json:"uses"`
	// Lines about Agent SoW, after those of the delegates.
	SoW *sowCounts `json:"sow,omitzero"`
}

// Canonical returns the state's canonical bytes: one line of canonical JSON
// with what there is once, one for each domain, client, grant, moment, export and delegate, ordered by
// hash or id, behind a delegate one for each of its mints (64 hex digits of nonce and request, and the uses),
// and one for each envelope hash (64 hex digits, uses, granted
// uses, separated by one space). Two equal states have equal bytes. Lines, and
// not one JSON value, because there may be hundreds of thousands.
func (s *State) Canonical() []byte {
	out := s.appendRows(make([]byte, 0, 1024+len(s.uses)*72+s.kept*(mintLine+4)+len(s.delegates)*360))
	hashes := make([][32]byte, 0, len(s.uses))
	for k := range s.uses {
		hashes = append(hashes, k)
	}
	slices.SortFunc(hashes, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	for _, k := range hashes {
		out = appendUses(out, k, s.uses[k])
	}
	return out
}

// appendRows writes everything but the uses.
func (s *State) appendRows(out []byte) []byte {
	out = appendLine(out, stateHead{
		Type: "vault.logState", V: 1, Vault: s.vault, Instance: s.instance, OwnerKey: s.ownerKey, LogKey: s.logKey,
		Demo: s.demo, Reason: s.reason, StartedAt: s.started, Words: s.words, Seq: s.seq, Hash: s.Hash(), At: s.at,
		Domains: len(s.domains), Clients: len(s.clients), Grants: len(s.grants), Moments: len(s.moments), Sockets: len(s.sockets), Readmits: len(s.readmitted), Uses: len(s.uses),
		Exports: len(s.exported), Delegates: len(s.delegates), Latest: later(s.latest, s.at), SoW: s.sow.counts(),
	})
	for _, d := range s.Domains() {
		out = appendLine(out, d)
	}
	for _, c := range s.Clients() {
		out = appendLine(out, c)
	}
	for _, g := range s.Grants() {
		out = appendLine(out, g)
	}
	for _, m := range sorted(s.moments, func(m MomentState) string { return m.ID }) {
		out = appendLine(out, m)
	}
	for _, x := range s.Sockets() {
		out = appendLine(out, x)
	}
	for _, x := range s.AllReadmitted() {
		out = appendLine(out, x)
	}
	return s.sow.appendRows(s.appendDelegates(out))
}

func later(latest, at int64) int64 {
	if latest > at {
		return latest
	}
	return 0
}

func appendUses(out []byte, k [32]byte, n useCount) []byte {
	out = append(hex.AppendEncode(out, k[:]), ' ')
	out = append(strconv.AppendUint(out, n.signed, 10), ' ')
	return append(strconv.AppendUint(out, n.granted, 10), '\n')
}

// SHA256 is the digest of the canonical bytes, 0x and 64 hex digits.
func (s *State) SHA256() string {
	if s.parsed != "" {
		return s.parsed
	}
	return HashOf(s.Canonical())
}

// ParseState reads canonical bytes of a state; other bytes are refused. Whether
// a log leads to this state is for its snapshot entry to say.
func ParseState(raw []byte) (*State, error) {
	var h stateHead
	rest, err := readLine(raw, &h)
	if err != nil {
		return nil, err
	}
	if h.Seq == 0 || h.Uses < 0 || h.Uses > len(rest)/68 {
		return nil, errors.New("parse log state: numbers do not fit")
	}
	s := &State{
		seq: h.Seq, hash: h.Hash, at: h.At, latest: max(h.At, h.Latest), vault: h.Vault, instance: h.Instance, ownerKey: h.OwnerKey, logKey: h.LogKey,
		demo: h.Demo, reason: h.Reason, started: h.StartedAt, words: h.Words,
		domains: map[string]DomainState{}, clients: map[string]ClientState{},
		grants: map[string]GrantState{}, uses: make(map[[32]byte]useCount, h.Uses),
	}
	in := &lines{rest: rest}
	readRows(in, h.Domains, &s.domains, func(d DomainState) string { return d.Hash })
	readRows(in, h.Clients, &s.clients, func(c ClientState) string { return c.ID })
	readRows(in, h.Grants, &s.grants, func(g GrantState) string { return g.ID })
	readRows(in, h.Moments, &s.moments, func(m MomentState) string { return m.ID })
	readRows(in, h.Sockets, &s.sockets, func(x SocketState) int64 { return x.UserID })
	readRows(in, h.Readmits, &s.readmitted, func(x ReadmittedState) string { return x.Hash })
	s.readDelegates(in, h.Exports, h.Delegates)
	s.sow.readRows(in, h.SoW)
	if in.err != nil {
		return nil, in.err
	}
	rest = in.rest
	notCanonical := errors.New("parse log state: bytes are not in canonical form")
	rows := raw[:len(raw)-len(rest)]
	var last [32]byte
	var again []byte
	for len(rest) > 0 {
		all := rest
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if len(line) < 68 {
			return nil, errors.New("parse log state: a line is too short")
		}
		var k [32]byte
		if _, err := hex.Decode(k[:], line[:64]); err != nil {
			return nil, errors.New("parse log state: not a hash")
		}
		signed, granted, _ := bytes.Cut(line[65:], []byte(" "))
		var n useCount
		var err1, err2 error
		n.signed, err1 = strconv.ParseUint(string(signed), 10, 53)
		n.granted, err2 = strconv.ParseUint(string(granted), 10, 53)
		if err1 != nil || err2 != nil || n.signed == 0 || n.granted > n.signed {
			return nil, errors.New("parse log state: not a count of uses")
		}
		// Each line in its one spelling, behind the one before: no line needs sorting to be compared.
		again = appendUses(again[:0], k, n)
		if !bytes.HasPrefix(all, again) || len(again) != len(all)-len(rest) || len(s.uses) > 0 && bytes.Compare(k[:], last[:]) <= 0 {
			return nil, notCanonical
		}
		s.uses[k], last = n, k
	}
	// Whatever else was spelled, ordered or named otherwise shows here.
	if !bytes.Equal(s.appendRows(make([]byte, 0, len(rows))), rows) {
		return nil, notCanonical
	}
	s.parsed = HashOf(raw)
	return s, nil
}

// appendLine writes one row. It cannot fail: rows hold integers and texts that
// were canonical JSON when their entry was parsed.
func appendLine(out []byte, row any) []byte {
	b, _ := jcs.Marshal(row, jcs.Binding)
	return append(append(out, b...), '\n')
}

// lines are what is left of a state's bytes, until one is found that is none of a state.
type lines struct {
	rest []byte
	err  error
}

// read reads the next line into a row.
func (l *lines) read(row any) bool {
	if l.err == nil {
		l.rest, l.err = readLine(l.rest, row)
	}
	return l.err == nil
}

// readRows reads the next n lines into a map.
func readRows[K comparable, V any](l *lines, n int, to *map[K]V, key func(V) K) {
	for range n {
		var x V
		if !l.read(&x) {
			return
		}
		put(to, key(x), x)
	}
}

func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

func readLine(raw []byte, row any) (rest []byte, err error) {
	line, rest, ok := bytes.Cut(raw, []byte("\n"))
	if !ok {
		return nil, errors.New("parse log state: a line is missing")
	}
	if err := json.Unmarshal(line, row); err != nil {
		return nil, errors.New("parse log state: a line is not a row of a state")
	}
	return rest, nil
}
