package agreement

import (
	"slices"
	"strings"

	"vault/approvals/journal"
	"vault/approvals/permit"
	"vault/approvals/sow"
)

// Log is what the log, and the rows that it vouches for, say of an engagement and of who may bind the owner.
type Log struct {
	Documents  []journal.SoWState // of the engagement, in the order of the log
	Seats      []journal.SeatState
	Pins       map[string]permit.Pin          // by agent
	Terminated bool                           // by the owner or, verified, by the other side; or under notice of either
	Over       bool                           // ended at once, for cause
	Blocked    map[string]bool                // keys that are refused here
	Approved   map[string]bool                // approval records that this vault made for the engagement, by SHA-256, 0x and 64 hex digits
	Intents    map[string]journal.IntentState // by [IntentKey]
	Settled    map[int64]string               // digest of the document that counts for a version, as the owner said
	Floor      sow.Authority                  // the owner's own, or empty
	Passkeys   int                            // of the vault; -1: it is not known
}

// IntentKey names an agent's part: of a document, by digest, and "formation" or "amendment".
func IntentKey(digest, act string) string { return digest + " " + act }

// IntentAct is what an agent's part of a version is about.
func IntentAct(version int64) string {
	if version > 1 {
		return "amendment"
	}
	return "formation"
}

// Document is what the log says of a document, by digest; the zero value where it says nothing.
func (l Log) Document(digest string) journal.SoWState {
	i := slices.IndexFunc(l.Documents, func(s journal.SoWState) bool { return Bare(s.DocumentSHA256) == digest })
	if i < 0 {
		return journal.SoWState{}
	}
	return l.Documents[i]
}

// Published is an offer of ours that was published, by digest.
func (l Log) Published(digest string) (journal.SoWState, bool) {
	s := l.Document(digest)
	return s, s.Published
}

// Ours says which seat of the owner's a key is of.
func (l Log) Ours(key string) (int64, bool) {
	i := slices.IndexFunc(l.Seats, func(s journal.SeatState) bool { return s.Key == key })
	if i < 0 {
		return 0, false
	}
	return l.Seats[i].Seat, true
}

// SeatAt is the owner's seat with an index.
func (l Log) SeatAt(index int64) (journal.SeatState, bool) {
	i := slices.IndexFunc(l.Seats, func(s journal.SeatState) bool { return s.Seat == index })
	if i < 0 {
		return journal.SeatState{}, false
	}
	return l.Seats[i], true
}

// Bare is the digest behind the 0x of the log.
func Bare(s string) string { return strings.TrimPrefix(s, "0x") }

// Client is the key by which the client of a request has signed it, and whether anybody has: the pinned one of the client's
// agent, else the only one. Where several have signed and none is pinned, nothing says which is the client's, and key is empty.
func (l Log) Client(doc *sow.Document) (key string, asked bool) {
	party, _ := doc.Party(sow.Client)
	pinned := l.Pins[party.Agent].Key
	several := false
	for _, r := range doc.Signatures() {
		if _, ours := l.Ours(r.Key); r.Role != sow.Client || r.Fault != "" || ours {
			continue
		}
		if r.Key == pinned {
			return pinned, true
		}
		several = several || asked && r.Key != key
		key, asked = r.Key, true
	}
	if several {
		key = ""
	}
	return key, asked
}
