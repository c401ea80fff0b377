package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"vault/approvals/sow"
	"vault/derive/confirm"
	"vault/derive/jcs"
)

// Pins are what a verifier knows already. Empty members are not pinned.
type Pins struct {
	// Provider and Client are the owner keys known for the two seats, nkeys.
	Provider, Client string
	// Owners are owner keys known to be somebody's, whichever seat they sign for.
	Owners []string
	// Card is an owner card that was got from its owner: its seats' keys are
	// owners' keys, its log keys and passkeys are those confirmations are checked
	// against.
	Card *confirm.OwnerCard
}

// Given reports that anything is pinned.
func (p Pins) Given() bool {
	return p.Provider != "" || p.Client != "" || len(p.Owners) > 0 || p.Card != nil
}

func (p Pins) owners() []string {
	out := slices.Clone(p.Owners)
	if p.Card != nil {
		for _, s := range p.Card.Fields().Seats {
			out = append(out, s.Key)
		}
	}
	return out
}

// How the key of a seat is known.
type known uint8

const (
	unknown known = iota
	asOwner       // it is an owner's; that it signed for this seat is what the record says
	asSeat        // it is the one of this seat
)

// judged are the keys by which a document's seats are judged, and how each is
// known.
type judged struct {
	keys             sow.Pins
	provider, client known
}

func (j judged) of(role string) (string, known) {
	if role == sow.Client {
		return j.keys.Client, j.client
	}
	return j.keys.Provider, j.provider
}

// judge chooses the keys for a document's seats: those pinned for them, else an
// owner's key that signed there. One key takes one seat, so a record that was
// copied under the other role does not move it. Where one seat is known and the
// other is not, the other is whoever else signed for it, and not known.
func (p Pins) judge(d *sow.Document) judged {
	signers := map[string][]string{}
	for _, r := range d.Signatures() {
		if r.Fault == "" {
			signers[r.Role] = append(signers[r.Role], r.Key)
		}
	}
	owners := p.owners()
	options := func(pin, role string) (out []string) {
		if pin != "" {
			return []string{pin}
		}
		for _, k := range signers[role] {
			if slices.Contains(owners, k) {
				out = append(out, k)
			}
		}
		return append(out, "")
	}
	other := func(role, key string) string {
		i := slices.IndexFunc(signers[role], func(k string) bool { return k != key })
		if key == "" || i < 0 {
			return ""
		}
		return signers[role][i]
	}
	var best judged
	rank := -1
	for _, provider := range options(p.Provider, sow.Provider) {
		for _, client := range options(p.Client, sow.Client) {
			if provider != "" && provider == client {
				continue
			}
			j, n := judged{keys: sow.Pins{Provider: provider, Client: client}}, 0
			if provider != "" {
				j.provider, n = asOwner, n+2
			} else if j.keys.Provider = other(sow.Provider, client); j.keys.Provider != "" {
				n++
			}
			if client != "" {
				j.client, n = asOwner, n+2
			} else if j.keys.Client = other(sow.Client, provider); j.keys.Client != "" {
				n++
			}
			if n > rank {
				best, rank = j, n
			}
		}
	}
	if rank < 0 { // one key is pinned for both seats: neither can be agreed by it
		best.keys = sow.Pins{Provider: p.Provider, Client: p.Client}
	}
	if p.Provider != "" {
		best.provider = asSeat
	}
	if p.Client != "" {
		best.client = asSeat
	}
	return best
}

// Line is one check of a part of a bundle.
type Line struct {
	Part   string // "document", "versions[0]", "acts[2]", "confirmations[1]", "records[0]", "card"
	Check  string // a name of ours
	OK     bool
	Detail string // why it failed, or a word on what holds; may quote the file
}

// Result is every check in order.
type Result struct {
	Lines []Line
	Notes []string // sentences of ours; may quote the file
	// Valid says that every check is OK.
	Valid bool
	// Tied says that every signature that counts, every act and every
	// confirmation is by a key that is pinned. What is valid and not tied,
	// anybody could have made.
	Tied bool
	// Loose are the parts that are not tied, each once.
	Loose []string
	// Agreed says that both seats of the document have signed its present bytes,
	// by two keys. Whose keys those are is for the pins to say.
	Agreed bool
	// Document is the document, nil if it cannot be read.
	Document *sow.Document
	Seats    sow.Seats
	// Provider and Client say what is known of a person behind each seat's
	// signature of the document (6.1).
	Provider, Client Person
}

// Person is what is known of a person's confirmation beside a signature. It is
// presence and verification, and says nothing of reading or understanding (6.1).
type Person string

// What can be known.
const (
	NoPerson  Person = "none"
	NotPinned Person = "present, key not pinned"
	Confirmed Person = "verified"
)

// Verify checks everything in a bundle, also after a check has failed. It does
// not re-derive an identifier (4.1.1), and does not judge whether the terms are
// good ones.
func Verify(b Bundle, pins Pins) *Result {
	v := &verifier{pins: pins, r: &Result{Valid: true, Tied: true, Provider: NoPerson, Client: NoPerson}}
	v.card()
	if !v.document("document", b.Document, true) {
		return v.r
	}
	for i, raw := range b.Versions {
		v.document(fmt.Sprintf("versions[%d]", i), raw, false)
	}
	v.chain()
	for i, raw := range b.Acts {
		v.act(fmt.Sprintf("acts[%d]", i), raw)
	}
	for i, raw := range b.Confirmations {
		v.confirmation(fmt.Sprintf("confirmations[%d]", i), raw)
	}
	for i, r := range b.Records {
		v.record(fmt.Sprintf("records[%d]", i), r)
	}
	return v.r
}

// version is a document of the bundle with who signed it.
type version struct {
	part  string
	doc   *sow.Document
	seats sow.Seats
	keys  judged
}

type verifier struct {
	pins     Pins
	r        *Result
	versions []version
	acts     []*sow.Act
}

// check records a check; the detail says why it failed.
func (v *verifier) check(part, name string, ok bool, detail string) bool {
	if ok {
		detail = ""
	}
	v.r.Lines = append(v.r.Lines, Line{part, name, ok, detail})
	v.r.Valid = v.r.Valid && ok
	return ok
}

// holds records a check that holds, with a word on what it shows.
func (v *verifier) holds(part, name, what string) {
	v.r.Lines = append(v.r.Lines, Line{part, name, true, what})
}

func (v *verifier) checkErr(part, name string, err error) bool {
	if err != nil {
		return v.check(part, name, false, err.Error())
	}
	return v.check(part, name, true, "")
}

func (v *verifier) note(format string, args ...any) {
	v.r.Notes = append(v.r.Notes, fmt.Sprintf(format, args...))
}

func (v *verifier) loose(part string) {
	v.r.Tied = false
	if !slices.Contains(v.r.Loose, part) {
		v.r.Loose = append(v.r.Loose, part)
	}
}

// card checks the card itself. That it is its owner's is what whoever gives it
// as a pin says.
func (v *verifier) card() {
	if v.pins.Card == nil {
		return
	}
	good := true
	for _, c := range v.pins.Card.Verify("").Checks {
		good = v.check("card", c.Name, c.OK, c.Detail) && good
	}
	if !good { // a card nobody signed pins nothing
		v.pins.Card = nil
	}
}

func (v *verifier) document(part string, raw []byte, first bool) bool {
	d, err := sow.Parse(raw)
	if !v.checkErr(part, "documentWellFormed", err) {
		v.loose(part)
		return false
	}
	keys := v.pins.judge(d)
	s := d.VerifySignatures(keys.keys)
	v.versions = append(v.versions, version{part, d, s, keys})
	if first {
		v.r.Document, v.r.Seats, v.r.Agreed = d, s, s.Agreed()
	}
	for _, role := range []string{sow.Provider, sow.Client} {
		r := s.Of(role)
		if r == nil {
			continue
		}
		switch _, how := keys.of(role); how {
		case asSeat:
			v.holds(part, "signature."+role, "by the key that is pinned")
		case asOwner:
			v.holds(part, "signature."+role, "by an owner's key that is pinned; that it is for this seat is what the record says")
		default:
			v.holds(part, "signature."+role, "by "+r.Key+", which is not pinned")
			v.loose(part + ": " + role)
		}
	}
	if first {
		for _, k := range v.pins.Owners {
			signed := s.Provider != nil && s.Provider.Key == k || s.Client != nil && s.Client.Key == k
			v.check(part, "ownerPin", signed, "the owner's key that is pinned has not signed it")
		}
	}
	for _, f := range s.Findings {
		where := part
		if f.Member != "" {
			where += "." + f.Member
		}
		switch {
		case f.Code == "one_signature", f.Code == "not_agreed":
		case f.Severity == sow.Error:
			v.check(where, string(f.Code), false, f.Message)
		default:
			v.note("%s: %s", where, f.Message)
		}
	}
	switch {
	case s.Provider == nil && s.Client == nil:
		v.note("%s: nobody has signed it. It has no force.", part)
		v.loose(part)
	case !s.Agreed():
		v.note("%s: only one seat has signed it. It has no force.", part)
	}
	if n := len(d.Validate(sow.Options{}).Errors()); n > 0 {
		v.note("%s: it breaks %d of the rules for documents. vault sow check names them.", part, n)
	}
	return true
}

// chain checks that the versions are of one engagement, each number once among
// those agreed, and each an amendment of the one below (5.8).
func (v *verifier) chain() {
	first := v.versions[0].doc
	sorted := slices.Clone(v.versions)
	slices.SortStableFunc(sorted, func(a, b version) int { return cmp.Compare(a.doc.Version(), b.doc.Version()) })
	var below *version
	for i := range sorted {
		w := &sorted[i]
		if w.part != "document" {
			v.check(w.part, "sameEngagement", w.doc.ID() == first.ID() && agents(w.doc) == agents(first), "it has another identifier than the document, or other agents")
		}
		if below != nil && w.doc.Version() == below.doc.Version() && w.doc.Digest() != below.doc.Digest() && w.seats.Agreed() && below.seats.Agreed() {
			v.check(w.part, "version_conflict", false, "two documents of one version are agreed")
			continue
		}
		if below != nil && w.doc.Version() > below.doc.Version() {
			for _, f := range sow.CheckAmendment(below.doc, w.doc, false) {
				if w.seats.Agreed() {
					v.check(w.part, string(f.Code), false, f.Message)
				} else { // a proposal has no force, and need not come from who brought it
					v.note("%s: it is not to be agreed to. %s", w.part, f.Message)
				}
			}
		}
		if w.seats.Agreed() {
			below = w
		}
	}
	v.order(sorted, below)
}

// order notes which of the versions counts, where that is not the one the bundle
// is about, and proposals of which only one can be open (5.8).
func (v *verifier) order(sorted []version, inForce *version) {
	var open *version // the first proposal that could be taken up
	for i := range sorted {
		w := &sorted[i]
		superseded := inForce != nil && w.doc.Version() < inForce.doc.Version()
		if w.part == "document" && superseded {
			v.note("document: both seats have signed version %d too, and it is in force instead.", inForce.doc.Version())
		}
		switch {
		case w.seats.Agreed():
		case superseded, inForce != nil && w.doc.Version() == inForce.doc.Version() && w.doc.Digest() != inForce.doc.Digest():
			v.note("%s: both seats have signed version %d in other bytes; these have no force.", w.part, inForce.doc.Version())
		case inForce != nil && w.doc.Version() == inForce.doc.Version():
		case open == nil:
			open = w
		case open.doc.Digest() != w.doc.Digest():
			v.note("%s and %s: two proposals. At most one can be open at a time.", open.part, w.part)
		}
	}
}

// agents are the keys that, with the identifier, name an engagement.
func agents(d *sow.Document) [2]string {
	p, _ := d.Party(sow.Provider)
	c, _ := d.Party(sow.Client)
	return [2]string{p.Agent, c.Agent}
}

// of finds the version an act or a confirmation is about.
func (v *verifier) of(match func(version) bool) *version {
	if i := slices.IndexFunc(v.versions, match); i >= 0 {
		return &v.versions[i]
	}
	return nil
}

func (v *verifier) act(part string, raw []byte) {
	a, err := sow.ParseAct(raw)
	if !v.checkErr(part, "actWellFormed", err) {
		v.loose(part)
		return
	}
	v.acts = append(v.acts, a)
	f := a.Fields()
	if bad := a.Verify(); bad != nil {
		v.check(part, "signature", false, bad.Message)
	} else {
		v.holds(part, "signature", string(f.Kind)+" by "+f.Key)
	}
	w := v.of(func(w version) bool { return a.About(w.doc) })
	if !v.check(part, "aboutDocument", w != nil, "it is about another document, or another version") {
		v.loose(part)
		return
	}
	key, how := w.keys.of(f.Role)
	record := w.seats.Of(f.Role)
	switch {
	case how != unknown:
		v.check(part, "signer", f.Key == key, "it is by another key than the one pinned for the "+f.Role)
	case record != nil:
		v.check(part, "signer", f.Key == record.Key, "it is by another key than the one that signed for the "+f.Role)
		v.loose(part)
	default:
		// Only an owner that is known can speak for a seat that has not signed.
		v.note("%s: the %s has not signed the document the act is about.", part, f.Role)
		if !slices.Contains(v.pins.owners(), f.Key) {
			v.loose(part)
		}
	}
}

func (v *verifier) confirmation(part string, raw []byte) {
	e, err := confirm.ParseEvidence(raw)
	if !v.checkErr(part, "confirmationWellFormed", err) {
		v.loose(part)
		return
	}
	r := e.Verify(confirm.EvidencePins{})
	if v.pins.Card != nil && v.pins.Card.Fields().Vault == e.Statement().Vault {
		r = v.pins.Card.VerifyEvidence(e)
	}
	for _, c := range r.Checks {
		v.check(part, "evidence."+c.Name, c.OK, c.Detail)
	}
	f := e.Record().Context().Fields()
	w, err := v.confirmed(f, e.Record().Context())
	v.checkErr(part, "confirmsWhatIsHere", err)
	if signs := f.Kind == confirm.SoWCountersign || f.Kind == confirm.SoWAmend; signs && err == nil && r.Valid && w.part == "document" {
		v.person(f.Role, r.Pinned && v.onCard(w, f.Role))
	}
	switch {
	case !r.Pinned:
		v.loose(part)
		v.note("%s: a person was present and verified, as the record says; its keys are not pinned.", part)
	case w != nil && !v.onCard(w, f.Role):
		// Another owner's passkey says nothing about this seat.
		v.check(part, "confirmedBySeat", false, "the card is of another owner than the "+f.Role)
	case r.Valid && err == nil:
		v.note("%s: a person was present and verified. It does not show that they read or understood it.", part)
	}
}

// person keeps the best that is known of a seat.
func (v *verifier) person(role string, pinned bool) {
	p := &v.r.Provider
	if role == sow.Client {
		p = &v.r.Client
	}
	switch {
	case pinned:
		*p = Confirmed
	case *p == NoPerson:
		*p = NotPinned
	}
}

// confirmed finds what a confirmation is about: a version's signed bytes or an
// act's canonical form, under its role.
func (v *verifier) confirmed(f confirm.Fields, c *confirm.Context) (*version, error) {
	if f.Document == nil {
		return nil, errors.New("it confirms another kind of act")
	}
	switch f.Kind {
	case confirm.SoWCountersign, confirm.SoWAmend:
		w := v.of(func(w version) bool { return c.Covers(w.doc.Signed()) == nil })
		if w == nil || w.doc.ID() != f.Document.ID || w.doc.Version() != f.Document.Version {
			return nil, errors.New("no document here has the bytes that were confirmed")
		}
		return w, nil
	case confirm.SoWTerminate, confirm.SoWDispute:
		kind := sow.Termination
		if f.Kind == confirm.SoWDispute {
			kind = sow.Dispute
		}
		for _, a := range v.acts {
			g := a.Fields()
			if g.Kind == kind && g.Role == f.Role && g.SoW == f.Document.ID && g.Version == f.Document.Version && c.Covers(a.Canonical()) == nil {
				return v.of(func(w version) bool { return a.About(w.doc) }), nil
			}
		}
		return nil, errors.New("no act here has the bytes that were confirmed")
	case confirm.SoWPreauthorise:
		from := v.versions[0].doc.Get("derived_from")
		n, _ := from.Get("version").Int()
		if from.Get("standing_proposal").Text() != f.Document.ID || n != f.Document.Version {
			return nil, errors.New("it allows formation under another offer than the one the document names")
		}
		v.note("One confirmation is over a pre-authorisation of the offer, and not over this document.")
		return nil, nil
	}
	return nil, errors.New("it confirms another kind of act")
}

// onCard reports that the key which signed for a seat is on the card.
func (v *verifier) onCard(w *version, role string) bool {
	r := w.seats.Of(role)
	return r != nil && slices.ContainsFunc(v.pins.Card.Fields().Seats, func(s confirm.CardSeat) bool { return s.Key == r.Key })
}

// record says what is known of something that was brought in. Whatever it is,
// it is a claim by whoever made it, and takes nothing from the documents.
func (v *verifier) record(part string, r Record) {
	value, err := jcs.Parse(r.Raw, jcs.SoW)
	if err != nil {
		v.note("%s: a %s that is not JSON. It is a claim.", part, r.Kind)
		return
	}
	provider, _ := v.versions[0].doc.Party(sow.Provider)
	switch r.Kind {
	case "job_manifest":
		if f := sow.VerifyJobManifest(value, provider.Agent); f != nil {
			v.note("%s: a job manifest that does not verify: %s at %s.", part, f.Reason, f.Member)
			return
		}
		v.holds(part, "jobManifest", "signed by the provider's agent")
	case "verdict":
		if f := sow.VerifyVerdict(value); f != nil {
			v.note("%s: a verdict that does not verify. %s", part, f.Message)
			return
		}
		v.holds(part, "verdict", "signed by the arbiter it names")
		v.note("%s: whether that arbiter was appointed, and in time, is not shown by it.", part)
	default:
		v.note("%s: a %s, as it was brought. It is a claim.", part, r.Kind)
	}
}
