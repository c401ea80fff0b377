package page

import (
	"strings"

	"vault/approvals/sow"
)

// Page is a document as a person reads it. Nothing on it has been signed by
// being here; what is signed are the document's own bytes, and Digest names
// them.
type Page struct {
	ID      []Span
	Version int64
	Digest  string // SHA-256 of the signed bytes, 64 hex digits

	// State says where the document stands, in words of ours.
	State   sow.State
	Title   string
	Status  []string
	Parties [2]Party // provider, client
	Bar     Bar
	Figures [3]Figure
	// Language says under which contract language the document stands.
	Language Language
	// Notices are the vault's remarks about the document as a whole, those that
	// bar signing first.
	Notices []Notice
	Clauses []Clause
	// Records are the signature records: none of them is signed.
	Records []Record
	// Leaves counts the signed leaves on the page.
	Leaves int
	// Blocked says that a finding bars signing.
	Blocked bool
	Minutes int // reading time, a rough one
}

// Party is one seat.
type Party struct {
	Role   string // provider or client
	Duty   string // what the role does, in words of ours
	Blank  bool   // the seat is open
	Owner  []Span
	Handle []Span
	Org    []Span
	Agent  []Span // key of the agent
	// Ours says that the seat is this vault's, and Seat names the key: "seat 1".
	Ours bool
	Seat string
	// Key is the owner key that signed or is known for the seat, Known how it
	// came to be known, in words of ours; Warn that it is not.
	Key   string
	Known string
	Warn  bool
	// Person is what is known of a person's confirmation beside the signature.
	Person string
}

// Heading is the role and what it does: "Provider, does the work".
func (p Party) Heading() string { return strings.ToUpper(p.Role[:1]) + p.Role[1:] + ", " + p.Duty }

// Bar counts the clauses by what holds them (section 3).
type Bar struct {
	Enforced, Evidence, Recorded int
	// The same as the deployment earns it, where Differs.
	EarnedEnforced, EarnedEvidence, EarnedRecorded int
	Differs                                        bool
}

// The sentences of the grades.
const (
	EnforcedMeans = "a node refuses the breach"
	EvidenceMeans = "a signed record will exist"
	RecordedMeans = "a promise; no machine holds it"
)

// Holding is how many clauses a grade holds, and what that means.
type Holding struct {
	Grade   string
	Clauses int
	Means   string
}

// Holdings are what each grade holds, the firmest first.
func (b Bar) Holdings() [3]Holding {
	return [3]Holding{{sow.Enforced, b.Enforced, EnforcedMeans}, {sow.Evidence, b.Evidence, EvidenceMeans}, {sow.Recorded, b.Recorded, RecordedMeans}}
}

// Figure is one of the three facts that decide: what it costs at most, until
// when, and how to get out.
type Figure struct {
	Caption string
	Value   []Span
	More    []Span
	Warn    bool
}

// Language is the contract language a document names (4.3).
type Language struct {
	ID, SHA256 []Span
	Version    []Span
	// Own says that the page has sentences for it.
	Own bool
	// Text is the language's text that was brought and whose hash matches, ""
	// for none. It is text from outside.
	Text string
	// Banner is how the sentence about it ends, "" under our own.
	Banner string
}

// Tone is how much a remark weighs.
type Tone uint8

// The tones. Alarm bars signing.
const (
	Calm Tone = iota
	Warn
	Alarm
)

// Notice is a remark about the whole.
type Notice struct {
	Tone Tone
	What []Span
	More []Span
	// Member is the path the remark is about, "" for the whole.
	Member string
}

// Grade is an enforcement grade as the document states it and as the
// deployment earns it (3.1). Stated is text from the document where Known is
// false.
type Grade struct {
	Stated string
	Earned string
	Known  bool
	// Implied says that the document states none and the specification does.
	Implied bool
	// Unavailable says that enforced is stated and not earned.
	Unavailable bool
}

// Shown is the grade to draw: the one earned where nothing is stated.
func (g Grade) Shown() string {
	if g.Implied {
		return g.Earned
	}
	return g.Stated
}

// Differs says that the deployment earns less than is stated.
func (g Grade) Differs() bool { return g.Known && !g.Implied && g.Earned != g.Stated }

// Word is the grade's word for a person, "" for a grade there is none of.
func Word(grade string) string {
	switch grade {
	case sow.Enforced:
		return "Enforced"
	case sow.Evidence:
		return "Evidence"
	case sow.Recorded:
		return "Recorded"
	}
	return ""
}

// Shape is the grade's sign beside its word, "" for a grade there is none of.
func Shape(grade string) string {
	switch grade {
	case sow.Enforced:
		return "■"
	case sow.Evidence:
		return "◆"
	case sow.Recorded:
		return "○"
	}
	return ""
}

// Kind is what a row is.
type Kind uint8

// The kinds of rows.
const (
	// Fact is a name and a value.
	Fact Kind = iota
	// Amount is a name, a number and what it counts.
	Amount
	// Access is a resource, what may be done with it, and the way in.
	Access
	// Remark is a sentence of the vault beside the document.
	Remark
	// Caution is a remark that should be noticed.
	Caution
	// Nothing stands for what the document does not say.
	Nothing
)

// Row is one line of a clause.
type Row struct {
	Kind  Kind
	Path  string // member the row shows, "" for a remark
	Name  []Span
	Value []Span
	More  []Span // unit of an amount, way of access, remark behind a fact
	Warn  bool   // More is to be noticed
	// Says is the sentence of the contract language, under our own only.
	Says []Span
	// Grade is the row's own grade, where it has one beside the clause's.
	Grade *Grade
}

// Clause is one clause of the document or a part of one that stands by itself.
type Clause struct {
	Key   string // a stable name: price, access, term
	Title string // words of ours
	Group string // heading the clause belongs to in a list of clauses, mostly the title
	Grade *Grade
	Rows  []Row
	// Counted says that the clause counts in the bar.
	Counted bool
}

// Counts returns the grade with which a clause counts in the bar: its own, else
// the weakest of its rows; nil for one that does not count.
func (c Clause) Counts() *Grade {
	switch {
	case !c.Counted:
		return nil
	case c.Grade != nil:
		return c.Grade
	}
	var grades []*Grade
	for _, r := range c.Rows {
		grades = append(grades, r.Grade)
	}
	return weakest(grades)
}

// Record is a signature record beside the document.
type Record struct {
	Role     []Span
	Key      []Span
	SignedAt []Span // a claim
	Counts   bool
	Words    string // why it does or does not
}

// Known is what the vault knows of one seat beside the document.
type Known struct {
	// Key is the owner key that is pinned for the seat, "" for none, and How
	// says how it came to be known, in words of ours ("pinned by you, 28 October 2026").
	Key, How string
	// Name is the owner's own name for the party, "" for none.
	Name string
	// Person is what is known of a person's confirmation beside the seat's
	// signature.
	Person Confirmation
}

// Confirmation is what is known of a person's confirmation of a signature.
type Confirmation uint8

// What can be known: nothing was brought, one is there under a key that is not
// pinned, one verified. It is presence and verification, nothing more (6.1).
const (
	NoConfirmation Confirmation = iota
	PresentNotPinned
	Verified
)

// Facts is what the vault knows beside the document.
type Facts struct {
	Now int64 // milliseconds since the epoch
	// Ours is the seat of this vault, sow.Provider or sow.Client, "" for none,
	// and Seat what the owner calls the key that signs ("seat 1").
	Ours, Seat       string
	Provider, Client Known
	Deployment       sow.Deployment
	Seats            sow.Seats
	Findings         sow.Findings
	State            sow.State
	// InForce is the version in force, 0 for none.
	InForce int64
	// MandateChecked says of a mandate that the checks of its own
	// specification were really made (6.2). Nil: none were.
	MandateChecked func(mandate string) bool
	// LanguageText is a text of the contract language that was brought; it is
	// shown only where its hash is the one the document names.
	LanguageText []byte
	// BroughtBy is the owner's name for who brought the document, "" for the
	// owner, and BroughtAt when, in milliseconds, 0 for unknown.
	BroughtBy string
	BroughtAt int64
}
