package store

import (
	"database/sql"
	"fmt"
	"iter"
	"math"
)

// Tx is a transaction of the writer. It is good only inside the function that
// [Store.Do] calls.
type Tx struct{ s *Store }

func (t *Tx) exec(query string, args ...any) error {
	_, err := t.count(query, args...)
	return err
}

func (t *Tx) count(query string, args ...any) (int64, error) {
	st, err := t.s.stmt(query)
	if err != nil {
		return 0, fmt.Errorf("write store: %w", err)
	}
	res, err := st.Exec(args...)
	if err != nil {
		return 0, fmt.Errorf("write store: %w", err)
	}
	return res.RowsAffected()
}

// Entry is one log entry as it is kept. Kind, At, Client, Request and Tag
// repeat what Raw says, so that entries can be found and counted.
type Entry struct {
	Seq     uint64
	Raw     []byte // canonical entry
	Hash    string // 0x and 64 hex digits
	Kind    string
	At      int64 // milliseconds since epoch
	Client  string
	Request string
	Tag     string // what it is counted by: the domain hash of a signature, the outcome of an answer, or empty
	Head    []byte // canonical signed head over this entry, or nil
}

// Permit is a row that permits something.
type Permit struct {
	Kind   string // type of the permit document
	ID     string
	Body   []byte // canonical permit document
	MAC    string // by the key process, 0x and 64 hex digits
	Secret []byte // clients: the 32-byte pairing secret; else nil
	About  []byte // grants: the canonical action envelope; else nil
}

// Request is a request of a client that has ended, and what came of it.
type Request struct {
	Client   string
	ID       string
	Digest   string // of what was asked
	State    string // "done" or "ended"
	Method   string
	Session  string
	Envelope []byte // as received
	Payload  []byte // as received
	Seq      uint64 // entry that ended it
	Answer   []byte // JSON
}

// Block keeps a program from asking to pair again.
type Block struct {
	ID         string
	UserID     int64
	Executable string
	Claimed    string
	At         int64 // milliseconds since epoch
}

// Session is a session of a client.
type Session struct {
	Client, ID string
	LastUsed   int64 // milliseconds since epoch
}

// nothing gives an empty blob for nil where a column may not be null.
func nothing(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// AddEntry appends an entry; its number must be free.
func (t *Tx) AddEntry(e Entry) error {
	return t.exec("INSERT INTO entries (seq, raw, hash, kind, at, client, request, tag, head) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		int64(e.Seq), e.Raw, e.Hash, e.Kind, e.At, e.Client, e.Request, e.Tag, e.Head)
}

// PutPermit writes a permit, in the place of one with the same kind and id.
func (t *Tx) PutPermit(p Permit) error {
	return t.exec("INSERT OR REPLACE INTO permits (kind, id, body, mac, secret, about) VALUES (?, ?, ?, ?, ?, ?)",
		p.Kind, p.ID, p.Body, p.MAC, p.Secret, p.About)
}

// AddRequest writes a request that has ended; its client and id must be free.
func (t *Tx) AddRequest(r Request) error {
	return t.exec("INSERT INTO requests (client, request, digest, state, method, session, envelope, payload, seq, answer) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		r.Client, r.ID, r.Digest, r.State, r.Method, r.Session, nothing(r.Envelope), nothing(r.Payload), int64(r.Seq), nothing(r.Answer))
}

// TouchSession notes when a session was last used.
func (t *Tx) TouchSession(s Session) error {
	return t.exec("INSERT OR REPLACE INTO sessions (client, session, last_used) VALUES (?, ?, ?)", s.Client, s.ID, s.LastUsed)
}

// DropSession forgets a session, or with id "" every session of the client.
func (t *Tx) DropSession(client, id string) error {
	return t.exec("DELETE FROM sessions WHERE client = ? AND (? = '' OR session = ?)", client, id, id)
}

// PutBlock writes a block.
func (t *Tx) PutBlock(b Block) error {
	return t.exec("INSERT OR REPLACE INTO blocks (id, user_id, executable, claimed, at) VALUES (?, ?, ?, ?, ?)",
		b.ID, b.UserID, b.Executable, b.Claimed, b.At)
}

// DropBlock removes a block.
func (t *Tx) DropBlock(id string) error {
	return t.exec("DELETE FROM blocks WHERE id = ?", id)
}

// PutSetting writes one setting.
func (t *Tx) PutSetting(name, value string) error {
	return t.exec("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", name, value)
}

// PutMeta writes one fact about the store itself.
func (t *Tx) PutMeta(key string, value []byte) error {
	return t.exec("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", key, nothing(value))
}

// PutSnapshot keeps the state that the snapshot entry seq is the hash of, and
// forgets older ones.
func (t *Tx) PutSnapshot(seq uint64, state []byte) error {
	if err := t.exec("INSERT OR REPLACE INTO snapshots (seq, state) VALUES (?, ?)", int64(seq), state); err != nil {
		return err
	}
	return t.exec("DELETE FROM snapshots WHERE seq < ?", int64(seq))
}

// Archive moves the log and the permits of an instance aside, where they are
// kept, and empties everything that belongs to them. Signed delegates stay: without a
// permit they give nothing.
func (t *Tx) Archive(instance string) error {
	for _, q := range []string{
		"INSERT INTO old_entries (instance, seq, raw, hash, kind, at, client, request, tag, head) SELECT ?, seq, raw, hash, kind, at, client, request, tag, head FROM entries",
		"INSERT INTO old_permits (instance, kind, id, body, mac) SELECT ?, kind, id, body, mac FROM permits",
		"INSERT INTO old_evidence (instance, seq, raw) SELECT ?, seq, raw FROM evidence",
	} {
		if err := t.exec(q, instance); err != nil {
			return err
		}
	}
	for _, table := range []string{"entries", "permits", "requests", "sessions", "snapshots", "moments", "moment_asks", "notes", "evidence", "mints", "sow_asks"} {
		if err := t.exec("DELETE FROM " + table); err != nil {
			return err
		}
	}
	return t.forgetEntries()
}

// PutEvidence keeps the evidence of a confirmation beside its entry.
func (t *Tx) PutEvidence(seq uint64, raw []byte) error {
	return t.exec("INSERT INTO evidence (seq, raw) VALUES (?, ?)", int64(seq), raw)
}

// Evidence is what was kept beside an entry. [ErrNotFound] means that nothing was.
func (s *Store) Evidence(seq uint64) ([]byte, error) {
	return one(s.blobs("SELECT raw FROM evidence WHERE seq = ?", int64(seq)))
}

func (s *Store) blobs(query string, args ...any) ([][]byte, error) {
	return rows(s, query, args, func(r *sql.Rows, raw *[]byte) error { return r.Scan(raw) })
}

// Approval counts what was approved for one client in one span of time.
type Approval struct {
	Client           string
	From             int64 // milliseconds since epoch
	Clicks, Passkeys int64
}

// Approvals counts what a person approved, by client and by spans of that length (milliseconds), from an instant on;
// the newest span first. What one press approved is counted once: a signature with the grant that it was clicked
// with, a selected option with the action that is signed for it unless that had a sheet of its own. A new name for a
// client, an answer in own words and a rejected question approve nothing.
func (s *Store) Approvals(since, span int64) ([]Approval, error) {
	return rows(s, "SELECT client, start, SUM(clicked), SUM(keyed) FROM (SELECT client, at - at % ? AS start,"+
		" instr(raw, CAST(? AS BLOB)) > 0 AND kind <> 'grant.made' AS clicked, instr(raw, CAST(? AS BLOB)) > 0 AS keyed FROM entries AS e WHERE at >= ? AND CASE kind"+
		" WHEN 'grant.made' THEN 1 WHEN 'client.paired' THEN instr(raw, CAST(? AS BLOB)) > 0 WHEN 'moment.resolved' THEN instr(raw, CAST(? AS BLOB)) > 0"+
		" WHEN 'action.signed' THEN instr(raw, CAST(? AS BLOB)) = 0 OR"+
		" EXISTS (SELECT 1 FROM entries AS s WHERE s.client = e.client AND s.client <> '' AND s.kind = 'request.seen' AND s.request = e.request AND s.seq < e.seq) ELSE 0 END)"+
		" GROUP BY client, start HAVING SUM(clicked) + SUM(keyed) > 0 ORDER BY start DESC, client LIMIT 4096",
		[]any{span, clicked, keyed, since, fresh, selected, ofMoment}, func(r *sql.Rows, a *Approval) error {
			return r.Scan(&a.Client, &a.From, &a.Clicks, &a.Passkeys)
		})
}

// How an entry's canonical bytes say what stood behind it. A name in the entry has its quotation marks escaped.
const (
	clicked  = `"by":"click"`
	keyed    = `"by":"passkey"`
	fresh    = `"replaces":""`
	selected = `"choice":"option"`
	ofMoment = `"moment":"m_`
)

const entryColumns = "seq, raw, hash, kind, at, client, request, tag, head"

func scanEntry(r *sql.Rows, e *Entry) error {
	var seq int64 // an unsigned one is read by way of text
	err := r.Scan(&seq, &e.Raw, &e.Hash, &e.Kind, &e.At, &e.Client, &e.Request, &e.Tag, &e.Head)
	e.Seq = uint64(seq)
	return err
}

// Entries reads at most limit entries from a number on, in order. Others may
// write between two pages.
func (s *Store) Entries(from uint64, limit int) ([]Entry, error) {
	return rows(s, "SELECT "+entryColumns+" FROM entries WHERE seq >= ? ORDER BY seq LIMIT ?", []any{int64(from), limit}, scanEntry)
}

// EntriesBefore reads at most limit entries with numbers below before (0: no
// bound), newest first, of a kind and of a client where these are not empty.
func (s *Store) EntriesBefore(before uint64, kind, client string, limit int) ([]Entry, error) {
	if before == 0 || before > 1<<62 {
		before = 1 << 62
	}
	q, args := "SELECT "+entryColumns+" FROM entries WHERE seq < ?", []any{int64(before)}
	if kind != "" {
		q, args = q+" AND kind = ?", append(args, kind)
	}
	if client != "" {
		q, args = q+" AND client = ? AND client <> ''", append(args, client)
	}
	return rows(s, q+" ORDER BY seq DESC LIMIT ?", append(args, limit), scanEntry)
}

// LastEntry is the newest entry. [ErrNotFound] means that the log is empty.
func (s *Store) LastEntry() (Entry, error) {
	return one(s.EntriesBefore(0, "", "", 1))
}

// LastHead is the newest entry with a signed head. [ErrNotFound] means that there is none.
func (s *Store) LastHead() (Entry, error) {
	return one(rows(s, "SELECT "+entryColumns+" FROM entries WHERE head IS NOT NULL ORDER BY seq DESC LIMIT 1", nil, scanEntry))
}

// Permits reads every permit, in order of kind and id.
func (s *Store) Permits() ([]Permit, error) {
	return rows(s, "SELECT kind, id, body, mac, secret, about FROM permits ORDER BY kind, id", nil, func(r *sql.Rows, p *Permit) error {
		return r.Scan(&p.Kind, &p.ID, &p.Body, &p.MAC, &p.Secret, &p.About)
	})
}

// OldPermits reads the permits of archived instances, of one kind.
func (s *Store) OldPermits(kind string) ([]Permit, error) {
	return rows(s, "SELECT kind, id, body, mac FROM old_permits WHERE kind = ? ORDER BY id, instance", []any{kind}, func(r *sql.Rows, p *Permit) error {
		return r.Scan(&p.Kind, &p.ID, &p.Body, &p.MAC)
	})
}

// OldEntries gives the log of an archived instance, in order, until an error. The
// store is held meanwhile.
func (s *Store) OldEntries(instance string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := s.read("SELECT "+entryColumns+" FROM old_entries WHERE instance = ? ORDER BY seq", []any{instance}, func(r *sql.Rows) error {
			var e Entry
			err := scanEntry(r, &e)
			if err == nil && !yield(e, nil) {
				err = errStopped
			}
			return err
		})
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

func (s *Store) requests(where string, args ...any) ([]Request, error) {
	return rows(s, "SELECT client, request, digest, state, method, session, envelope, payload, seq, answer FROM requests WHERE "+where, args, func(row *sql.Rows, r *Request) error {
		return row.Scan(&r.Client, &r.ID, &r.Digest, &r.State, &r.Method, &r.Session, &r.Envelope, &r.Payload, &r.Seq, &r.Answer)
	})
}

// Request reads one request. [ErrNotFound] means that there is none.
func (s *Store) Request(client, id string) (Request, error) {
	return one(s.requests("client = ? AND request = ?", client, id))
}

// RequestsOf reads the requests that an entry ended.
func (s *Store) RequestsOf(seq uint64) ([]Request, error) {
	return s.requests("seq = ? ORDER BY rowid", int64(seq))
}

const (
	namesQuery = "SELECT seq, client, request, digest, state FROM requests WHERE (seq, client, request) > (?, ?, ?) ORDER BY seq, client, request LIMIT ?"
	tagsQuery  = "WITH RECURSIVE t (tag) AS (SELECT min(tag) FROM entries WHERE client = ?1 AND client <> '' AND kind = ?2" +
		" UNION ALL SELECT (SELECT min(tag) FROM entries WHERE client = ?1 AND client <> '' AND kind = ?2 AND tag > t.tag) FROM t WHERE t.tag IS NOT NULL)" +
		" SELECT tag FROM t WHERE tag IS NOT NULL"
	countQuery = "SELECT count(*), coalesce(max(seq), 0) FROM (SELECT seq FROM entries WHERE client = ? AND client <> '' AND kind = ? AND tag = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?)"
)

// RequestName is what a request is known by.
type RequestName struct {
	Seq                       int64 // entry that ended it
	Client, ID, Digest, State string
}

// FirstName comes before every name.
var FirstName = RequestName{Seq: math.MinInt64}

// RequestNames reads at most limit names that come after one, in order of entry, client and id: each lies
// behind those written before. Others may write between two pages.
func (s *Store) RequestNames(after RequestName, limit int) ([]RequestName, error) {
	return rows(s, namesQuery, []any{after.Seq, after.Client, after.ID, limit}, func(r *sql.Rows, n *RequestName) error {
		return r.Scan(&n.Seq, &n.Client, &n.ID, &n.Digest, &n.State)
	})
}

// Tags reads the different tags of a client's entries of one kind, in order.
func (s *Store) Tags(client, kind string) ([]string, error) {
	return rows(s, tagsQuery, []any{client, kind}, func(r *sql.Rows, tag *string) error {
		return r.Scan(tag)
	})
}

// Count counts at most limit of a client's entries of one kind and tag with numbers above after and
// up to upto; last is the number of the last one that was counted.
func (s *Store) Count(client, kind, tag string, after, upto uint64, limit int) (n int64, last uint64, err error) {
	err = s.read(countQuery, []any{client, kind, tag, int64(after), int64(upto), limit}, func(r *sql.Rows) error {
		return r.Scan(&n, &last)
	})
	return n, last, err
}

// Sessions reads every session.
func (s *Store) Sessions() ([]Session, error) {
	return rows(s, "SELECT client, session, last_used FROM sessions", nil, func(r *sql.Rows, x *Session) error {
		return r.Scan(&x.Client, &x.ID, &x.LastUsed)
	})
}

// Blocks reads every block.
func (s *Store) Blocks() ([]Block, error) {
	return rows(s, "SELECT id, user_id, executable, claimed, at FROM blocks", nil, func(r *sql.Rows, b *Block) error {
		return r.Scan(&b.ID, &b.UserID, &b.Executable, &b.Claimed, &b.At)
	})
}

// Settings reads every setting.
func (s *Store) Settings() (map[string]string, error) {
	out := map[string]string{}
	err := s.read("SELECT name, value FROM settings", nil, func(r *sql.Rows) error {
		var name, value string
		err := r.Scan(&name, &value)
		out[name] = value
		return err
	})
	return out, err
}

// Meta reads one fact about the store. [ErrNotFound] means that it was never written.
func (s *Store) Meta(key string) ([]byte, error) {
	return one(s.blobs("SELECT value FROM meta WHERE key = ?", key))
}

// Snapshot is the newest state kept and the number of its entry.
// [ErrNotFound] means that there is none.
func (s *Store) Snapshot() (uint64, []byte, error) {
	var seq int64
	var state []byte
	err := s.read("SELECT seq, state FROM snapshots ORDER BY seq DESC LIMIT 1", nil, func(r *sql.Rows) error { return r.Scan(&seq, &state) })
	if err == nil && seq == 0 {
		err = ErrNotFound
	}
	return uint64(seq), state, err
}
