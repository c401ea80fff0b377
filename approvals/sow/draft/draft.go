// Package draft writes Agent SoW documents to begin with: engagements under the
// three pricing arrangements, and standing proposals, open or for one party.
//
// What is known is filled in, and what is not is left as a blank with a name,
// which no check lets pass. A draft claims no enforcement that was not said to
// be there (3.1), carries no signature and is nothing yet.
package draft

import (
	"errors"
	"fmt"
	"slices"

	"vault/approvals/sow"
	"vault/approvals/sow/money"
	"vault/approvals/sow/span"
)

// Kind is what is drafted.
type Kind string

// The kinds. The arrangement of an offer is in Fields.
const (
	Engagement Kind = "engagement"
	Standing   Kind = "standing" // an offer to the market (12.1)
	Directed   Kind = "directed" // an offer to one party (12.1.1)
)

// Fields are what is known of a document. Every member may be left out, and
// becomes a blank where a document needs it.
type Fields struct {
	Kind        Kind
	Arrangement money.Arrangement
	Language    sow.Language
	Provider    sow.Seat
	Client      sow.Seat // of an engagement, or the one party of a directed offer
	ExpiresAt   money.Opt
	StartsAt    money.Opt // milliseconds, whole seconds; not of an offer
	EndsAt      money.Opt
	Months      int64 // the term an offer offers
	Offerings   []string
	InScope     []string
	OutOfScope  []string
	Inputs      []Input
	Artifacts   []sow.Artifact // attached to every completed task
	Currency    string
	Rates       []money.Rate // fixed fee
	Ceiling     money.Opt    // fixed fee, per month
	Schedule    []money.Line // time and materials
	Cap         money.Opt
	WindowDays  int64
	PerHour     int64
	PerDay      int64
	// ReviewDays, NoticeHours and the authorities have usual values where they
	// are left out: 7, 24, agent for formation and person for amendments.
	ReviewDays           int64
	NoticeHours          money.Opt
	Formation, Amendment sow.Authority
	Posture              string // of disputes; the clause is left out without one
	RetentionDays        int64  // the clause is left out unless retention is enforced
	// Enforced are the clauses both runtimes really enforce, by the names of
	// Clauses. What is not among them is graded lower.
	Enforced []string
}

// Input is a file, or with Access a shared resource.
type Input struct {
	Name, MediaType string
	Access, Via     string
	Standing        bool
}

// Clauses are the names Fields.Enforced takes.
func Clauses() []string {
	return []string{"scope", "inputs", "deliverables", "price", "volume", "change_control", "termination", "transport", "retention", "offered_to"}
}

// Errors of Make.
var (
	ErrKind        = errors.New("draft: the kind is none of engagement, standing, directed")
	ErrArrangement = errors.New("draft: the pricing arrangement is none of fixed_fee, time_and_materials, no_charge")
	ErrMembers     = errors.New("draft: something is given that this kind or arrangement cannot carry")
	ErrEnforced    = errors.New("draft: enforcement is claimed for something that is no clause")
)

// Make writes a draft: a version 1 in the order of the specification, indented,
// with its identifier minted where nothing is left blank. Errors are those
// above.
func Make(f Fields) ([]byte, error) {
	switch {
	case f.Kind != Engagement && f.Kind != Standing && f.Kind != Directed:
		return nil, ErrKind
	case f.Arrangement != money.FixedFee && f.Arrangement != money.TimeAndMaterials && f.Arrangement != money.NoCharge:
		return nil, ErrArrangement
	case !f.fits():
		return nil, ErrMembers
	}
	for _, name := range f.Enforced {
		if !slices.Contains(Clauses(), name) {
			return nil, ErrEnforced
		}
	}
	o := f.document(text(sow.Blank("identifier, made by vault sow id")))
	raw := write(o)
	d, err := sow.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("draft: %w", err)
	}
	// The identifier's own blank is always there.
	if len(sow.Blanks(d.Value())) == 1 {
		raw = write(f.document(text(d.Mint())))
	}
	return raw, nil
}

// fits reports that nothing is given the document could not carry.
func (f Fields) fits() bool {
	offer := f.Kind != Engagement
	fixed, metered := f.Arrangement == money.FixedFee, f.Arrangement == money.TimeAndMaterials
	switch {
	case offer && f.StartsAt.Set, !offer && f.Months != 0, f.Kind == Standing && f.Client != (sow.Seat{}), f.Kind != Directed && f.ExpiresAt.Set:
		return false
	case f.Arrangement == money.NoCharge && f.Currency != "":
		return false
	}
	return (fixed || len(f.Rates) == 0 && !f.Ceiling.Set) && (metered || len(f.Schedule) == 0 && !f.Cap.Set && f.WindowDays == 0)
}

func (f Fields) document(id value) object {
	offer := f.Kind != Engagement
	var o object
	o.add("sow", text("v1"))
	o.add("id", id)
	o.add("version", number(1))
	if offer {
		o.add("starts_at", null)
		o.add("ends_at", f.instant(f.EndsAt, ""))
		if !f.EndsAt.Set {
			o.add("term_months", count(f.Months, "length of the term in months"))
		}
	} else {
		o.add("starts_at", f.instant(f.StartsAt, "start, as 2027-01-01T00:00:00Z"))
		o.add("ends_at", f.instant(f.EndsAt, "end, as 2027-07-01T00:00:00Z"))
	}
	o.add("language", object{{"id", or(f.Language.ID, "contract language")}, {"version", count(f.Language.Version, "version of the contract language")},
		{"sha256", or(f.Language.SHA256, "hash of the contract language's text")}})
	o.add("parties", f.parties())
	o.add("scope", f.scope())
	if len(f.Inputs) > 0 {
		o.add("inputs", f.inputs())
	}
	o.add("deliverables", f.deliverables())
	o.add("price", f.price())
	if f.PerHour > 0 || f.PerDay > 0 {
		var v object
		for _, w := range []struct {
			name string
			n    int64
		}{{"per_hour", f.PerHour}, {"per_day", f.PerDay}} {
			if w.n > 0 {
				v.add(w.name, number(w.n))
			}
		}
		v.add("grade", f.grade("volume"))
		o.add("volume", v)
	}
	o.add("change_control", f.changeControl())
	o.add("termination", object{{"convenience_notice_hours", number(orElse(f.NoticeHours, 24))}, {"grade", f.grade("termination")}})
	if f.Posture != "" {
		o.add("disputes", object{{"posture", text(f.Posture)}, {"grade", text(sow.Evidence)}})
	}
	if c := f.confidentiality(); len(c) > 0 {
		o.add("confidentiality", c)
	}
	return o
}

func (f Fields) grade(clause string) value {
	if slices.Contains(f.Enforced, clause) {
		return text(sow.Enforced)
	}
	return text(sow.Evidence)
}

func (f Fields) instant(at money.Opt, blankName string) value {
	switch {
	case at.Set:
		return text(span.UTC(at.N))
	case blankName == "":
		return null
	}
	return text(sow.Blank(blankName))
}

func seat(s sow.Seat, who string) object {
	o := object{{"agent", or(s.Agent, who+"'s agent key")}}
	if s.Handle != "" {
		o.add("handle", text(s.Handle))
	}
	o.add("owner", or(s.Owner, who+"'s owner"))
	if s.Organization != "" {
		o.add("organization", text(s.Organization))
	}
	return o
}

func (f Fields) parties() value {
	o := object{{"provider", seat(f.Provider, "provider")}}
	switch f.Kind {
	case Engagement:
		o.add("client", seat(f.Client, "client"))
	case Standing:
		o.add("client", null)
	case Directed:
		o.add("client", null)
		to := seat(f.Client, "named party")
		to.add("expires_at", f.instant(f.ExpiresAt, "expiry of the offer, as 2027-01-01T00:00:00Z"))
		to.add("grade", f.grade("offered_to"))
		o.add("offered_to", to)
	}
	o.add("grade", text(sow.Evidence))
	return o
}

func (f Fields) scope() value {
	offerings := texts(f.offerings())
	if len(f.offerings()) == 0 {
		offerings = list{text(sow.Blank("offering"))}
	}
	o := object{{"offerings", offerings}}
	if len(f.InScope)+len(f.OutOfScope) > 0 {
		var e object
		if len(f.InScope) > 0 {
			e.add("in_scope", texts(f.InScope))
		}
		if len(f.OutOfScope) > 0 {
			e.add("out_of_scope", texts(f.OutOfScope))
		}
		o.add("examples", e)
	}
	o.add("grade", f.grade("scope"))
	return o
}

// offerings are those named, and those a rate prices.
func (f Fields) offerings() []string {
	out := slices.Clone(f.Offerings)
	for _, r := range f.Rates {
		if !slices.Contains(out, r.Offering) {
			out = append(out, r.Offering)
		}
	}
	return out
}

func (f Fields) inputs() value {
	var out list
	for _, in := range f.Inputs {
		o := object{{"name", or(in.Name, "name of the input")}}
		if in.Access == "" {
			o.add("media_type", or(in.MediaType, "media type of "+in.Name))
		} else {
			o.add("kind", text("shared_resource"))
			o.add("access", text(in.Access))
			if in.Via != "" {
				o.add("via", text(in.Via))
			}
		}
		when := "per_task"
		if in.Standing {
			when = "standing"
		}
		o.add("when", text(when))
		o.add("grade", f.grade("inputs"))
		out = append(out, o)
	}
	return out
}

func (f Fields) deliverables() value {
	var entries list
	for _, a := range f.Artifacts {
		entries = append(entries, object{{"name", or(a.Name, "name of the deliverable")}, {"media_type", or(a.MediaType, "media type of "+a.Name)}})
	}
	if len(entries) == 0 && f.Arrangement != money.TimeAndMaterials { // which buys best effort (5.5.5)
		entries = list{object{{"name", text(sow.Blank("name of the deliverable"))}, {"media_type", text(sow.Blank("media type of the deliverable"))}}}
	}
	var o object
	if len(entries) > 0 {
		o.add("per_task", entries)
	}
	o.add("grade", f.grade("deliverables"))
	return o
}

func (f Fields) price() value {
	o := object{{"arrangement", text(string(f.Arrangement))}}
	if f.Arrangement != money.NoCharge {
		o.add("currency", or(f.Currency, "currency, as EUR"))
	}
	switch f.Arrangement {
	case money.FixedFee:
		var rates list
		priced := map[string]bool{}
		for _, r := range f.Rates {
			priced[r.Offering] = true
			rates = append(rates, object{{"offering", text(r.Offering)}, {"per_task", number(r.PerTask)}})
		}
		unpriced := slices.DeleteFunc(f.offerings(), func(o string) bool { return priced[o] })
		if len(f.offerings()) == 0 {
			unpriced = []string{sow.Blank("offering")}
		}
		for _, name := range unpriced {
			rates = append(rates, object{{"offering", text(name)}, {"per_task", text(sow.Blank("price per task, in the smallest unit"))}})
		}
		o.add("rates", rates)
		if f.Ceiling.Set {
			o.add("ceiling", object{{"amount", number(f.Ceiling.N)}, {"period", text("month")}})
		}
	case money.TimeAndMaterials:
		var lines list
		for _, l := range f.Schedule {
			line := object{{"meter", text(l.Meter)}, {"per", number(max(l.Per, 1))}, {"unit", or(l.Unit, "label of one unit of "+l.Meter)}, {"per_unit", number(l.PerUnit)}}
			if l.PassThrough {
				line.add("pass_through", flag(true))
			}
			lines = append(lines, line)
		}
		if len(lines) == 0 {
			lines = list{object{{"meter", text(sow.Blank("meter"))}, {"per", number(1)}, {"unit", text(sow.Blank("label of one unit"))}, {"per_unit", text(sow.Blank("price of one unit, in the smallest unit of the currency"))}}}
		}
		o.add("schedule", lines)
		o.add("cap", object{{"amount", count(f.Cap.N, "cap, in the smallest unit")}})
		o.add("reservation", object{{"window_days", count(f.WindowDays, "days for which the cap is reserved")}})
	}
	o.add("grade", f.grade("price"))
	return o
}

func (f Fields) changeControl() value {
	formation, amendment := f.Formation, f.Amendment
	if formation == "" {
		formation = sow.ByAgent
	}
	if amendment == "" {
		amendment = sow.ByPerson
	}
	days := f.ReviewDays
	if days == 0 {
		days = 7
	}
	return object{{"review_window_days", number(days)}, {"approval", object{{"formation", text(string(formation))}, {"amendment", text(string(amendment))}}},
		{"grade", f.grade("change_control")}}
}

// confidentiality has only what is enforced: its parts may be graded no lower.
func (f Fields) confidentiality() object {
	var o object
	if slices.Contains(f.Enforced, "transport") {
		o.add("transport", object{{"sealed", flag(true)}, {"grade", text(sow.Enforced)}})
	}
	if slices.Contains(f.Enforced, "retention") {
		o.add("retention", object{{"max_days", count(f.RetentionDays, "days for which content is kept")}, {"grade", text(sow.Enforced)}})
	}
	return o
}

func orElse(n money.Opt, usual int64) int64 {
	if n.Set {
		return n.N
	}
	return usual
}

// or is a text, or the blank of that name.
func or(s, name string) value {
	if s == "" {
		s = sow.Blank(name)
	}
	return text(s)
}

// count is a positive number, or the blank of that name.
func count(n int64, name string) value {
	if n > 0 {
		return number(n)
	}
	return text(sow.Blank(name))
}

// WithID gives an unsigned version 1 without blanks the identifier its bytes
// derive (4.1). The members keep their order and their values their bytes. It
// refuses what was signed: an identifier is minted once.
func WithID(raw []byte) ([]byte, error) {
	d, err := sow.Parse(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case d.Version() != 1:
		return nil, errors.New("draft: an identifier is made for version 1 alone")
	case d.Get("signatures").Len() > 0:
		return nil, errors.New("draft: the document is signed, and its identifier is not made again")
	case len(sow.Blanks(d.Value().Without("id"))) > 0:
		return nil, errors.New("draft: there are blanks left, and what replaces them makes another identifier")
	}
	var o object
	for m := range d.Value().Members() {
		if m.Name != "id" {
			o.add(m.Name, verbatim(m.Value.Raw()))
			continue
		}
		o.add("id", text(d.Mint()))
	}
	if !d.Get("id").Exists() {
		o = append(object{{"id", text(d.Mint())}}, o...)
	}
	return write(o), nil
}
