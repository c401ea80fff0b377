package store

import (
	"database/sql"
	"fmt"
)

// States of a stored moment.
const (
	MomentOpen     = "open"
	MomentResolved = "resolved"
	MomentEnded    = "ended"
)

// Moment is a binding moment that was laid before the owner, with what came of it.
type Moment struct {
	ID       string // journal.MomentID
	Client   string
	Session  string
	Digest   string // of the envelope
	Question string // moment.Envelope.Question
	State    string // MomentOpen, MomentResolved or MomentEnded
	Since    int64  // milliseconds since epoch
	Count    int64  // how often it was presented while it was open
	Envelope []byte // canonical
	Behind   []byte // as received, or nil
	Server   string // the tool's server as the agent names it
	// What rates are counted by.
	HasClass bool
	Class    string
	Note     bool // has a calibration note
	FreeText bool // leaves this way of answering open
	Dialogue bool
	// Once resolved or ended:
	Choice     string
	Resolution []byte // canonical object that goes to the agent
	Ended      string // reason
	Seq        uint64 // entry that resolved or ended it
	At         int64  // milliseconds since epoch
	Missed     int64  // how often the agent came with another action
	Repeats    int64  // how often it was presented again afterwards
}

// MomentAsk is a question of the owner's about a moment, with its answer.
type MomentAsk struct {
	Moment, ID, Line, Question string
	At                         int64 // milliseconds since epoch
	Answer                     string
	AnswerAt                   int64 // 0 until it is answered
}

// Note is something that could not be shown as a decision, and that the owner has not put away.
type Note struct {
	ID, Client, Session, Reason, Path string
	Payload                           []byte // JSON, as the desk writes it
	Server, Moment                    string
	Digest                            string // of what was presented
	At                                int64  // milliseconds since epoch
	Count                             int64
}

// MomentCount counts the moments of one client and class.
type MomentCount struct {
	Client, Class                                                        string
	HasClass                                                             bool
	All, Note, Off, FreeOff, DialogueOff, Option, Answer, Question, Decl int64
}

const momentColumns = "id, client, session, digest, question, state, since, count, envelope, behind, server, has_class, class, note, free_text, dialogue, choice, resolution, ended, seq, at, missed, repeats"

// PutMoment writes a moment, in the place of one with the same id.
func (t *Tx) PutMoment(m Moment) error {
	return t.exec("INSERT OR REPLACE INTO moments ("+momentColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		m.ID, m.Client, m.Session, m.Digest, m.Question, m.State, m.Since, m.Count, m.Envelope, m.Behind, m.Server,
		m.HasClass, m.Class, m.Note, m.FreeText, m.Dialogue, m.Choice, nothing(m.Resolution), m.Ended, int64(m.Seq), m.At, m.Missed, m.Repeats)
}

// CountMoment adds to what is counted of a moment.
func (t *Tx) CountMoment(id string, count, missed, repeats int64) error {
	return t.exec("UPDATE moments SET count = count + ?, missed = missed + ?, repeats = repeats + ? WHERE id = ?", count, missed, repeats, id)
}

// EndMoment writes what became of an open moment; one that is not open is an error.
func (t *Tx) EndMoment(m Moment) error {
	n, err := t.count("UPDATE moments SET state = ?, choice = ?, resolution = ?, ended = ?, seq = ?, at = ? WHERE id = ? AND state = ?",
		m.State, m.Choice, nothing(m.Resolution), m.Ended, int64(m.Seq), m.At, m.ID, MomentOpen)
	if err == nil && n != 1 {
		err = fmt.Errorf("write store: the moment is not open")
	}
	return err
}

// PutAsk writes a question about a moment.
func (t *Tx) PutAsk(a MomentAsk) error {
	return t.exec("INSERT OR REPLACE INTO moment_asks (moment, id, line, question, at, answer, answer_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
		a.Moment, a.ID, a.Line, a.Question, a.At, a.Answer, a.AnswerAt)
}

// PutNote writes a note; of one that is there it writes the count.
func (t *Tx) PutNote(n Note) error {
	return t.exec("INSERT INTO notes (id, client, session, reason, path, payload, server, moment, digest, at, count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET count = excluded.count",
		n.ID, n.Client, n.Session, n.Reason, n.Path, nothing(n.Payload), n.Server, n.Moment, n.Digest, n.At, n.Count)
}

// DropNote removes a note.
func (t *Tx) DropNote(id string) error { return t.exec("DELETE FROM notes WHERE id = ?", id) }

func (s *Store) moments(where string, args ...any) ([]Moment, error) {
	return rows(s, "SELECT "+momentColumns+" FROM moments WHERE "+where, args, func(r *sql.Rows, m *Moment) error {
		return r.Scan(&m.ID, &m.Client, &m.Session, &m.Digest, &m.Question, &m.State, &m.Since, &m.Count, &m.Envelope, &m.Behind, &m.Server,
			&m.HasClass, &m.Class, &m.Note, &m.FreeText, &m.Dialogue, &m.Choice, &m.Resolution, &m.Ended, &m.Seq, &m.At, &m.Missed, &m.Repeats)
	})
}

// Moment reads one moment. [ErrNotFound] means that there is none.
func (s *Store) Moment(id string) (Moment, error) { return one(s.moments("id = ?", id)) }

// OpenMoments reads every open moment, oldest first.
func (s *Store) OpenMoments() ([]Moment, error) {
	return s.moments("state = ? ORDER BY since, rowid", MomentOpen)
}

// EndedMoments reads at most limit moments that ended before an instant (0: no bound), newest first.
func (s *Store) EndedMoments(before int64, limit int) ([]Moment, error) {
	if before == 0 {
		before = 1 << 62
	}
	return s.moments("state <> ? AND at < ? ORDER BY at DESC, seq DESC LIMIT ?", MomentOpen, before, limit)
}

// MomentOf reads the moment that an entry resolved or ended. [ErrNotFound] means that there is none.
func (s *Store) MomentOf(seq uint64) (Moment, error) {
	return one(s.moments("seq = ? AND state <> ?", int64(seq), MomentOpen))
}

// LikeMoments reads at most 64 moments with that envelope digest, and as many with that question in that
// session whose question was rejected, newest first.
func (s *Store) LikeMoments(client, session, digest, question string) ([]Moment, error) {
	same, err := s.moments("digest = ? ORDER BY at DESC LIMIT 64", digest)
	if err != nil {
		return nil, err
	}
	asked, err := s.moments("client = ? AND session = ? AND question = ? AND choice = 'question' ORDER BY at DESC LIMIT 64", client, session, question)
	return append(same, asked...), err
}

// Asks reads the questions about a moment, oldest first.
func (s *Store) Asks(moment string) ([]MomentAsk, error) {
	return rows(s, "SELECT moment, id, line, question, at, answer, answer_at FROM moment_asks WHERE moment = ? ORDER BY at, id", []any{moment}, func(r *sql.Rows, a *MomentAsk) error {
		return r.Scan(&a.Moment, &a.ID, &a.Line, &a.Question, &a.At, &a.Answer, &a.AnswerAt)
	})
}

// Notes reads every note, oldest first.
func (s *Store) Notes() ([]Note, error) {
	return rows(s, "SELECT id, client, session, reason, path, payload, server, moment, digest, at, count FROM notes ORDER BY at, rowid", nil, func(r *sql.Rows, n *Note) error {
		return r.Scan(&n.ID, &n.Client, &n.Session, &n.Reason, &n.Path, &n.Payload, &n.Server, &n.Moment, &n.Digest, &n.At, &n.Count)
	})
}

// MomentCounts counts the moments of each client and class.
func (s *Store) MomentCounts() ([]MomentCount, error) {
	return rows(s, "SELECT client, has_class, class, count(*), sum(note), sum(NOT free_text OR NOT dialogue), sum(NOT free_text), sum(NOT dialogue), "+
		"sum(choice = 'option'), sum(choice = 'answer'), sum(choice = 'question'), sum(choice = 'declined') FROM moments GROUP BY client, has_class, class ORDER BY client, has_class, class", nil,
		func(r *sql.Rows, c *MomentCount) error {
			return r.Scan(&c.Client, &c.HasClass, &c.Class, &c.All, &c.Note, &c.Off, &c.FreeOff, &c.DialogueOff, &c.Option, &c.Answer, &c.Question, &c.Decl)
		})
}
