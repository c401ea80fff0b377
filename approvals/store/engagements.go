package store

import (
	"database/sql"
	"strings"
)

// migrateSoW makes the tables of Agent SoW: engagements as they are listed, every copy of every document and
// everything brought in byte for byte, what was noted of them, and what agents ask for.
const migrateSoW = `
CREATE TABLE sow_engagements (
	id      TEXT NOT NULL PRIMARY KEY,
	sow     TEXT NOT NULL,
	kind    TEXT NOT NULL,
	role    TEXT NOT NULL,
	state   TEXT NOT NULL,
	offer   TEXT NOT NULL,
	waiting INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	again   INTEGER NOT NULL,
	remind  INTEGER NOT NULL,
	search  TEXT NOT NULL
);
CREATE TABLE sow_rows (
	id  TEXT NOT NULL PRIMARY KEY,
	row BLOB NOT NULL
);
CREATE INDEX sow_engagements_at ON sow_engagements (at, id);
CREATE INDEX sow_engagements_sow ON sow_engagements (sow);
CREATE INDEX sow_engagements_again ON sow_engagements (again) WHERE again > 0;
CREATE INDEX sow_engagements_remind ON sow_engagements (remind) WHERE remind > 0;
CREATE INDEX sow_engagements_offer ON sow_engagements (offer) WHERE offer <> '';
CREATE INDEX sow_engagements_waiting ON sow_engagements (at) WHERE waiting > 0;
CREATE TABLE sow_copies (
	engagement TEXT NOT NULL,
	sha256     TEXT NOT NULL,
	version    INTEGER NOT NULL,
	digest     TEXT NOT NULL,
	raw        BLOB NOT NULL,
	at         INTEGER NOT NULL,
	source     TEXT NOT NULL,
	name       TEXT NOT NULL,
	client     TEXT NOT NULL,
	PRIMARY KEY (engagement, sha256)
);
CREATE INDEX sow_copies_digest ON sow_copies (digest);
CREATE INDEX sow_copies_client ON sow_copies (client) WHERE client <> '';
CREATE TABLE sow_records (
	engagement TEXT NOT NULL,
	sha256     TEXT NOT NULL,
	kind       TEXT NOT NULL,
	digest     TEXT NOT NULL,
	version    INTEGER NOT NULL,
	raw        BLOB NOT NULL,
	at         INTEGER NOT NULL,
	source     TEXT NOT NULL,
	name       TEXT NOT NULL,
	client     TEXT NOT NULL,
	own        INTEGER NOT NULL,
	seq        INTEGER NOT NULL,
	answer     TEXT NOT NULL,
	PRIMARY KEY (engagement, sha256)
);
CREATE INDEX sow_records_kind ON sow_records (kind, at);
CREATE INDEX sow_records_client ON sow_records (client) WHERE client <> '';
CREATE TABLE sow_facts (
	engagement TEXT NOT NULL,
	name       TEXT NOT NULL,
	key        TEXT NOT NULL,
	value      TEXT NOT NULL,
	at         INTEGER NOT NULL,
	seq        INTEGER NOT NULL,
	PRIMARY KEY (engagement, name, key)
) WITHOUT ROWID;
CREATE INDEX sow_facts_name ON sow_facts (name, key);
CREATE TABLE sow_moves (
	id         INTEGER NOT NULL PRIMARY KEY,
	engagement TEXT NOT NULL,
	at         INTEGER NOT NULL,
	version    INTEGER NOT NULL,
	what       TEXT NOT NULL,
	by         TEXT NOT NULL,
	seq        INTEGER NOT NULL,
	claimed    INTEGER NOT NULL
);
CREATE INDEX sow_moves_engagement ON sow_moves (engagement, id);
CREATE TABLE sow_asks (
	client     TEXT NOT NULL,
	request    TEXT NOT NULL,
	digest     TEXT NOT NULL,
	engagement TEXT NOT NULL,
	document   TEXT NOT NULL,
	move       TEXT NOT NULL,
	session    TEXT NOT NULL,
	at         INTEGER NOT NULL,
	result     BLOB NOT NULL,
	PRIMARY KEY (client, request)
);
CREATE INDEX sow_asks_open ON sow_asks (engagement) WHERE length(result) = 0;
`

// Engagement is a document's history as it is listed. Row is what the desk shows of it, as JSON; the members beside it are
// there to be searched.
type Engagement struct {
	ID, SoW, Kind, Role, State, Offer string
	Waiting                           int64
	At                                int64  // milliseconds since epoch, of the last change
	Again                             int64  // when time alone changes the row, or 0
	Remind                            int64  // when the first of what is due is due, or 0
	Search                            string // lower case
	Row                               []byte
}

// SoWSource says where bytes came from.
type SoWSource struct{ Source, Name, Client string }

// SoWCopy is a document exactly as it came.
type SoWCopy struct {
	Engagement, SHA256, Digest string
	Version                    int64
	Raw                        []byte
	At                         int64 // milliseconds since epoch
	SoWSource
}

// SoWRecord is anything else that was brought in, exactly as it came, or an act of the owner's.
type SoWRecord struct {
	Engagement, SHA256, Kind string
	Digest                   string // of the version it is about, or empty
	Version                  int64
	Raw                      []byte
	At                       int64 // milliseconds since epoch
	SoWSource
	Own    bool
	Seq    uint64
	Answer string
}

// SoWFact is something noted about an engagement, one for each name and key.
type SoWFact struct {
	Engagement, Name, Key, Value string
	At                           int64
	Seq                          uint64
}

// SoWMove is a point of an engagement's timeline.
type SoWMove struct {
	Engagement string
	At         int64
	Version    int64
	What, By   string
	Seq        uint64
	Claimed    bool
}

// SoWAsk is what an agent asked for; Result is empty while it waits.
type SoWAsk struct {
	Client, Request, Digest, Engagement, Document, Move, Session string
	At                                                           int64
	Result                                                       []byte
}

// forgetEntries has what stays of engagements name no entry of a log that was put aside.
func (t *Tx) forgetEntries() error {
	for _, table := range []string{"sow_moves", "sow_records", "sow_facts"} {
		if err := t.exec("UPDATE " + table + " SET seq = 0"); err != nil {
			return err
		}
	}
	return t.MarkEngagement("")
}

// PutEngagement writes a row of the list, in the place of one with the same id.
func (t *Tx) PutEngagement(e Engagement) error {
	// What is searched and counted stands apart from what is shown: a look at all rows does not read the latter.
	if err := t.exec("INSERT OR REPLACE INTO sow_rows (id, row) VALUES (?, ?)", e.ID, nothing(e.Row)); err != nil {
		return err
	}
	return t.exec("INSERT OR REPLACE INTO sow_engagements (id, sow, kind, role, state, offer, waiting, at, again, remind, search) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		e.ID, e.SoW, e.Kind, e.Role, e.State, e.Offer, e.Waiting, e.At, e.Again, e.Remind, e.Search)
}

// PutSoWCopy writes a copy; the same again changes nothing.
func (t *Tx) PutSoWCopy(c SoWCopy) error {
	return t.exec("INSERT OR IGNORE INTO sow_copies (engagement, sha256, version, digest, raw, at, source, name, client) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		c.Engagement, c.SHA256, c.Version, c.Digest, c.Raw, c.At, c.Source, c.Name, c.Client)
}

// PutSoWRecord writes a record; of one that is there it writes the answer.
func (t *Tx) PutSoWRecord(r SoWRecord) error {
	return t.exec("INSERT INTO sow_records (engagement, sha256, kind, digest, version, raw, at, source, name, client, own, seq, answer) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"+
		" ON CONFLICT (engagement, sha256) DO UPDATE SET answer = excluded.answer",
		r.Engagement, r.SHA256, r.Kind, r.Digest, r.Version, r.Raw, r.At, r.Source, r.Name, r.Client, r.Own, int64(r.Seq), r.Answer)
}

// PutSoWFact writes a fact, in the place of the one before.
func (t *Tx) PutSoWFact(f SoWFact) error {
	return t.exec("INSERT OR REPLACE INTO sow_facts (engagement, name, key, value, at, seq) VALUES (?, ?, ?, ?, ?, ?)", f.Engagement, f.Name, f.Key, f.Value, f.At, int64(f.Seq))
}

// DropSoWFact removes a fact.
func (t *Tx) DropSoWFact(engagement, name, key string) error {
	return t.exec("DELETE FROM sow_facts WHERE engagement = ? AND name = ? AND key = ?", engagement, name, key)
}

// AddSoWMove adds a point to a timeline.
func (t *Tx) AddSoWMove(m SoWMove) error {
	return t.exec("INSERT INTO sow_moves (engagement, at, version, what, by, seq, claimed) VALUES (?, ?, ?, ?, ?, ?, ?)", m.Engagement, m.At, m.Version, m.What, m.By, int64(m.Seq), m.Claimed)
}

// PutSoWAsk writes what an agent asks for, or what came of it.
func (t *Tx) PutSoWAsk(a SoWAsk) error {
	return t.exec("INSERT INTO sow_asks (client, request, digest, engagement, document, move, session, at, result) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"+
		" ON CONFLICT (client, request) DO UPDATE SET result = excluded.result",
		a.Client, a.Request, a.Digest, a.Engagement, a.Document, a.Move, a.Session, a.At, nothing(a.Result))
}

const engagementColumns = "id, sow, kind, role, state, offer, waiting, at, again, remind, search, (SELECT row FROM sow_rows WHERE sow_rows.id = sow_engagements.id)"

// EngagementQuery selects rows of the list. Zero values select everything.
type EngagementQuery struct {
	Text     string // lower case, part of Search
	Kind     string
	Role     string
	States   []string
	Waiting  bool
	Offer    string
	BeforeAt int64 // page: rows changed before, or at that instant with a smaller id
	BeforeID string
	Limit    int
}

func (q EngagementQuery) where() (string, []any) {
	parts, args := []string{"1"}, []any{}
	add := func(sql string, arg ...any) { parts, args = append(parts, sql), append(args, arg...) }
	if q.Text != "" {
		add("instr(search, ?) > 0", q.Text)
	}
	if q.Kind != "" {
		add("kind = ?", q.Kind)
	}
	if q.Role != "" {
		add("role = ?", q.Role)
	}
	if q.Offer != "" {
		add("offer = ?", q.Offer)
	}
	if q.Waiting {
		add("waiting > 0")
	}
	if len(q.States) > 0 {
		marks := make([]string, len(q.States))
		for i, s := range q.States {
			marks[i] = "?"
			args = append(args, s)
		}
		parts = append(parts, "state IN ("+strings.Join(marks, ", ")+")")
	}
	return strings.Join(parts, " AND "), args
}

// Engagements reads a page of the list, the newest change first, and how many rows there are on all pages.
func (s *Store) Engagements(q EngagementQuery) (out []Engagement, total int, err error) {
	where, args := q.where()
	if err := s.read("SELECT count(*) FROM sow_engagements WHERE "+where, args, func(r *sql.Rows) error { return r.Scan(&total) }); err != nil {
		return nil, 0, err
	}
	if q.BeforeID != "" {
		where += " AND (at, id) < (?, ?)"
		args = append(args, q.BeforeAt, q.BeforeID)
	}
	out, err = s.engagements(where+" ORDER BY at DESC, id DESC LIMIT ?", append(args, q.Limit)...)
	return out, total, err
}

func (s *Store) engagements(where string, args ...any) ([]Engagement, error) {
	return rows(s, "SELECT "+engagementColumns+" FROM sow_engagements WHERE "+where, args, func(r *sql.Rows, e *Engagement) error {
		return r.Scan(&e.ID, &e.SoW, &e.Kind, &e.Role, &e.State, &e.Offer, &e.Waiting, &e.At, &e.Again, &e.Remind, &e.Search, &e.Row)
	})
}

// Engagement reads one row of the list. [ErrNotFound] means that there is none.
func (s *Store) Engagement(id string) (Engagement, error) { return one(s.engagements("id = ?", id)) }

// EngagementsOf reads the rows of one document identifier.
func (s *Store) EngagementsOf(sow string) ([]Engagement, error) {
	return s.engagements("sow = ? ORDER BY id LIMIT 64", sow)
}

// EngagementsAgain reads at most limit rows that time has changed by an instant.
func (s *Store) EngagementsAgain(now int64, limit int) ([]Engagement, error) {
	return s.engagements("again > 0 AND again <= ? ORDER BY again LIMIT ?", now, limit)
}

// EngagementsDue reads at most limit rows in which something is due by an instant, the soonest first.
func (s *Store) EngagementsDue(until int64, limit int) ([]Engagement, error) {
	return s.engagements("remind > 0 AND remind <= ? ORDER BY remind, id LIMIT ?", until, limit)
}

// MarkEngagement has a row made anew at the next look; with "" every row.
func (t *Tx) MarkEngagement(id string) error {
	return t.exec("UPDATE sow_engagements SET again = 1 WHERE ? = '' OR id = ?", id, id)
}

const copyColumns = "engagement, sha256, version, digest, raw, at, source, name, client"

func (s *Store) copies(where string, args ...any) ([]SoWCopy, error) {
	return rows(s, "SELECT "+copyColumns+" FROM sow_copies WHERE "+where, args, func(r *sql.Rows, c *SoWCopy) error {
		return r.Scan(&c.Engagement, &c.SHA256, &c.Version, &c.Digest, &c.Raw, &c.At, &c.Source, &c.Name, &c.Client)
	})
}

// SoWCopies reads every copy of an engagement, as they came.
func (s *Store) SoWCopies(engagement string) ([]SoWCopy, error) {
	return s.copies("engagement = ? ORDER BY at, rowid", engagement)
}

// SoWCopyOf reads the first copy of a document with that digest. [ErrNotFound] means that there is none.
func (s *Store) SoWCopyOf(digest string) (SoWCopy, error) {
	return one(s.copies("digest = ? ORDER BY at, rowid LIMIT 1", digest))
}

const recordColumns = "engagement, sha256, kind, digest, version, raw, at, source, name, client, own, seq, answer"

func (s *Store) records(where string, args ...any) ([]SoWRecord, error) {
	return rows(s, "SELECT "+recordColumns+" FROM sow_records WHERE "+where, args, func(r *sql.Rows, x *SoWRecord) error {
		return r.Scan(&x.Engagement, &x.SHA256, &x.Kind, &x.Digest, &x.Version, &x.Raw, &x.At, &x.Source, &x.Name, &x.Client, &x.Own, &x.Seq, &x.Answer)
	})
}

// SoWRecords reads what was brought in for an engagement, as it came.
func (s *Store) SoWRecords(engagement string) ([]SoWRecord, error) {
	return s.records("engagement = ? ORDER BY at, rowid", engagement)
}

// SoWRecordsOf reads the newest records of a kind, whatever they belong to.
func (s *Store) SoWRecordsOf(kind string, limit int) ([]SoWRecord, error) {
	return s.records("kind = ? ORDER BY at DESC, rowid DESC LIMIT ?", kind, limit)
}

// SoWFacts reads what was noted of an engagement; with "" what was noted of none.
func (s *Store) SoWFacts(engagement string) ([]SoWFact, error) {
	return s.facts("engagement = ?", engagement)
}

// SoWFactsNamed reads the facts of that name and key, whatever they belong to.
func (s *Store) SoWFactsNamed(name, key string) ([]SoWFact, error) {
	return s.facts("name = ? AND key = ? LIMIT 256", name, key)
}

func (s *Store) facts(where string, args ...any) ([]SoWFact, error) {
	return rows(s, "SELECT engagement, name, key, value, at, seq FROM sow_facts WHERE "+where, args, func(r *sql.Rows, f *SoWFact) error {
		return r.Scan(&f.Engagement, &f.Name, &f.Key, &f.Value, &f.At, &f.Seq)
	})
}

// SoWMoves reads an engagement's timeline, oldest first.
func (s *Store) SoWMoves(engagement string) ([]SoWMove, error) {
	return rows(s, "SELECT engagement, at, version, what, by, seq, claimed FROM sow_moves WHERE engagement = ? ORDER BY at, id", []any{engagement}, func(r *sql.Rows, m *SoWMove) error {
		return r.Scan(&m.Engagement, &m.At, &m.Version, &m.What, &m.By, &m.Seq, &m.Claimed)
	})
}

func (s *Store) sowAsks(where string, args ...any) ([]SoWAsk, error) {
	return rows(s, "SELECT client, request, digest, engagement, document, move, session, at, result FROM sow_asks WHERE "+where, args, func(r *sql.Rows, a *SoWAsk) error {
		return r.Scan(&a.Client, &a.Request, &a.Digest, &a.Engagement, &a.Document, &a.Move, &a.Session, &a.At, &a.Result)
	})
}

// SoWAsk reads what a client asked for under a request id. [ErrNotFound] means that there is none.
func (s *Store) SoWAsk(client, request string) (SoWAsk, error) {
	return one(s.sowAsks("client = ? AND request = ?", client, request))
}

// SoWAsksOpen reads what waits about an engagement; with "" about any.
func (s *Store) SoWAsksOpen(engagement string) ([]SoWAsk, error) {
	return s.sowAsks("length(result) = 0 AND (? = '' OR engagement = ?) ORDER BY at, rowid", engagement, engagement)
}

// SoWKeptFor counts what a client has brought, what it was answered, and what both take, in bytes.
func (s *Store) SoWKeptFor(client string) (brought, asks, size int64, err error) {
	err = s.read("SELECT coalesce(sum(brought), 0), coalesce(sum(1 - brought), 0), coalesce(sum(size), 0) FROM ("+
		"SELECT 1 AS brought, length(raw) AS size FROM sow_copies WHERE client = ?1 AND client <> ''"+
		" UNION ALL SELECT 1, length(raw) FROM sow_records WHERE client = ?1 AND client <> ''"+
		" UNION ALL SELECT 0, coalesce(length(result), 0) FROM sow_asks WHERE client = ?1)", []any{client}, func(r *sql.Rows) error { return r.Scan(&brought, &asks, &size) })
	return brought, asks, size, err
}

// SoWKeptOf counts the bytes of what came from a source to an engagement: documents and what is about them.
func (s *Store) SoWKeptOf(engagement, source string) (size int64, err error) {
	err = s.read("SELECT coalesce(sum(size), 0) FROM (SELECT length(raw) AS size FROM sow_copies WHERE engagement = ?1 AND source = ?2"+
		" UNION ALL SELECT length(raw) FROM sow_records WHERE engagement = ?1 AND source = ?2)", []any{engagement, source}, func(r *sql.Rows) error { return r.Scan(&size) })
	return size, err
}

// SoWFactsValued reads the facts of that name and value, whatever they belong to.
func (s *Store) SoWFactsValued(name, value string) ([]SoWFact, error) {
	return s.facts("name = ? AND value = ? LIMIT 1024", name, value)
}

// SoWBroughtBy reads the digests of the documents of an engagement that a client has brought or asked about. Who brought only
// something about it has none.
func (s *Store) SoWBroughtBy(client, engagement string) ([]string, error) {
	return rows(s, "SELECT digest FROM sow_copies WHERE engagement = ? AND client = ? UNION SELECT document FROM sow_asks WHERE engagement = ? AND client = ? AND document <> ''",
		[]any{engagement, client, engagement, client}, func(r *sql.Rows, digest *string) error {
			return r.Scan(digest)
		})
}
