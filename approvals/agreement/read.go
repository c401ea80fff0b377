package agreement

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"vault/approvals/facts"
	"vault/approvals/journal"
	"vault/approvals/permit"
	"vault/approvals/sow"
	"vault/approvals/store"
)

// Rows are what the store has of one engagement.
type Rows struct {
	Copies  []store.SoWCopy // the oldest first
	Records []store.SoWRecord
	Facts   []store.SoWFact
	Moves   []store.SoWMove
	Asks    []store.SoWAsk // that are open
}

// Document is one document of an engagement.
type Document struct {
	Doc    *sow.Document // with the signature records of all copies
	View   VersionView
	Signed bool            // by a seat of ours
	Theirs bool            // by the other seat's pinned key
	Closed string          // why it is no longer open: as the log has it, or "settled_against"
	copies [][]byte        // their bytes
	listed int             // signature records in all copies
	bare   map[string]bool // roles for which a copy has no record
}

// Papers are an engagement's own rows, parsed. [Read] makes them.
type Papers struct {
	ID      string
	Docs    []*Document // the newest version first; of one version, the newest first. Empty: there is no such engagement
	Records []store.SoWRecord
	Edited  []string // SHA-256 of rows that are not what they say; they are not used
	facts   map[string]map[string]store.SoWFact
	moves   []store.SoWMove
	asks    []store.SoWAsk
}

// SHA256 names bytes that were brought in: 64 lower-case hex digits.
func SHA256(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Read parses the rows of an engagement and joins the copies of each document. A row that is not what it says is left out, and named.
func Read(id string, rows Rows) *Papers {
	p := &Papers{ID: id, facts: map[string]map[string]store.SoWFact{}, moves: rows.Moves, asks: rows.Asks}
	for _, f := range rows.Facts {
		if p.facts[f.Name] == nil {
			p.facts[f.Name] = map[string]store.SoWFact{}
		}
		p.facts[f.Name][f.Key] = f
	}
	for _, c := range rows.Copies {
		doc, err := sow.Parse(c.Raw)
		if err != nil || doc.Digest() != c.Digest || facts.EngagementID(doc) != id || SHA256(c.Raw) != c.SHA256 {
			p.Edited = append(p.Edited, c.SHA256)
			continue
		}
		x := p.By(c.Digest)
		if x == nil {
			x = &Document{Doc: doc, bare: map[string]bool{}}
			x.View.Version, x.View.Digest, x.View.ProposedAt = doc.Version(), c.Digest, c.At
			p.Docs = append(p.Docs, x)
		} else if all, err := sow.Join(x.Doc, doc); err == nil {
			x.Doc = all
		}
		x.copies, x.listed = append(x.copies, c.Raw), x.listed+doc.Get("signatures").Len()
		for _, role := range []string{sow.Provider, sow.Client} {
			x.bare[role] = x.bare[role] || !hasRole(doc, role)
		}
		x.View.Copies = append(x.View.Copies, CopyView{c.SHA256, len(c.Raw), c.At, Source{Kind: c.Source, Name: c.Name, Client: c.Client}})
		x.View.Spelling = x.View.Spelling || string(c.Raw) != string(doc.Value().Canonical())
	}
	slices.SortStableFunc(p.Docs, func(a, b *Document) int {
		if a.View.Version != b.View.Version {
			return int(b.View.Version - a.View.Version)
		}
		return int(b.View.Copies[0].At - a.View.Copies[0].At)
	})
	for _, r := range rows.Records {
		if SHA256(r.Raw) != r.SHA256 {
			p.Edited = append(p.Edited, r.SHA256)
			continue
		}
		p.Records = append(p.Records, r)
	}
	return p
}

// hasRole says whether a copy has a record for a seat, whatever it is worth.
func hasRole(doc *sow.Document, role string) bool {
	for _, r := range doc.Get("signatures").Items() {
		if r.Get("role").Text() == role {
			return true
		}
	}
	return false
}

// By is the document with a digest, or nil.
func (p *Papers) By(digest string) *Document {
	i := slices.IndexFunc(p.Docs, func(x *Document) bool { return x.View.Digest == digest })
	if i < 0 {
		return nil
	}
	return p.Docs[i]
}

// Fact is a note of the engagement.
func (p *Papers) Fact(name, key string) (store.SoWFact, bool) {
	f, ok := p.facts[name][key]
	return f, ok
}

// Formed is the offer that the engagement was formed from, by engagement and digest.
func (p *Papers) Formed() (engagement, digest string, ok bool) {
	of, ok := p.Fact(FactFormed, "of")
	d, _ := p.Fact(FactFormed, "digest")
	return of.Value, d.Value, ok
}

// Questions are what a judgement depends on beyond the engagement's own rows. None is there twice.
type Questions struct {
	Digests   []string // of documents: what the log has of each
	Agents    []string // which owner key is pinned for each
	Keys      []string // that documents name, of agents and signers: whether they are blocked
	Approvals []string // SHA-256 of approval records, 0x and 64 hex digits: whether this vault made them
	Handles   []string // for which agent each is remembered
	Languages []string // as [LanguageKey]: which document named each first
	Arbiters  []string // agents: the rows of the list that name each
	Offer     string   // engagement id of an offer whose copies matter, or empty
}

// Questions collects them.
func (p *Papers) Questions() (q Questions) {
	add := func(to *[]string, s string) {
		if s != "" && !slices.Contains(*to, s) {
			*to = append(*to, s)
		}
	}
	of, _, formed := p.Formed()
	for _, x := range p.Docs {
		add(&q.Digests, x.View.Digest)
		for _, role := range []string{sow.Provider, sow.Client, "offered_to"} {
			if seat, ok := x.Doc.Party(role); ok {
				add(&q.Agents, seat.Agent)
				add(&q.Keys, seat.Agent)
				add(&q.Handles, seat.Handle)
			}
		}
		for _, r := range x.Doc.Signatures() {
			add(&q.Keys, r.Key)
		}
		for _, a := range x.Doc.Get("change_control").Get("approvals").Items() {
			add(&q.Approvals, permit.SHA256(a.Canonical()))
		}
		for _, a := range x.Doc.Approvals() {
			add(&q.Approvals, "0x"+a.SHA256())
		}
		add(&q.Languages, LanguageKey(x.Doc))
		if a := x.Doc.Get("disputes").Get("arbiter").Get("agent").Text(); a != "" {
			add(&q.Arbiters, a)
			add(&q.Agents, a)
		}
		if formed && x.View.Version == 1 && x.Doc.Get("signatures").Len() > 0 {
			q.Offer = of
		}
	}
	return q
}

// Known answers [Questions].
type Known struct {
	Now       int64 // of the clock
	Log       Log
	Handles   map[string]string // agent by handle
	Languages map[string]Named  // a document by language that named it before; may lack some
	Arbiters  map[string][]Row  // other engagements that name an arbiter, by agent
	Offer     []store.SoWCopy   // copies of the offer
	Texts     sow.Languages     // contract languages that are at hand
	// Deployment is what runtimes do, as the owner says; OwnDeployment says that it was said of this engagement.
	Deployment    sow.Deployment
	OwnDeployment bool
	Allowed       []Allowance
}

// Named is a document that named a contract language. Anybody can bring one that names a language with a hash of their own, so only one
// that the owner has signed stands against others.
type Named struct {
	Doc    *sow.Document // may be nil
	Signed bool          // by this vault
}

// Allowance is a pre-authorisation: of the log, with its row.
type Allowance struct {
	State  journal.PreauthorisationState
	Permit permit.Preauthorisation
	Gone   bool // its client is no longer paired
}

// Held is an engagement, judged.
type Held struct {
	*Papers
	Known
	View View
	Role string // our seat, or ""
	// Seat is our seat's index, and Fixed says that this vault's own acts fix it.
	Seat    int64
	Fixed   bool
	Pins    sow.Pins // by which keys the seats are judged
	InForce *Document
	ended   int64 // when a termination takes effect, or 0
}

// Judge puts the engagement together. It wants a document at least, and may be called once.
func (p *Papers) Judge(k Known) *Held {
	h := &Held{Papers: p, Known: k}
	h.crowds()
	h.place()
	h.judge()
	h.examine()
	h.present()
	return h
}

// crowds joins the copies of a document anew where there are more signature records than are looked at: those by keys that are known here
// come first, so that strangers who sign, too, crowd nobody out.
func (h *Held) crowds() {
	var known []string
	for _, s := range h.Log.Seats {
		known = append(known, s.Key)
	}
	for _, p := range h.Log.Pins {
		known = append(known, p.Key)
	}
	for _, d := range h.Log.Documents {
		known = append(known, d.Key, d.Counterparty)
	}
	for _, x := range h.Docs {
		if x.listed <= sow.MaxStrangers {
			continue
		}
		var copies []*sow.Document
		for _, raw := range x.copies {
			if doc, err := sow.Parse(raw); err == nil {
				copies = append(copies, doc)
			}
		}
		if doc, err := sow.JoinKnown(known, copies...); err == nil {
			x.Doc = doc
		}
	}
}
