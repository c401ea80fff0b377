package sow

import (
	"errors"
	"fmt"
	"strconv"

	"vault/derive/jcs"
	"vault/derive/tag"
)

// ActKind is one of the acts an owner signs beside documents.
type ActKind string

// The acts, a closed list.
const (
	Denial           ActKind = "denial"            // of an amendment, with a reason (5.8)
	Withdrawal       ActKind = "withdrawal"        // of an amendment or an offer (5.8, 12.1)
	Termination      ActKind = "termination"       // for convenience or for cause (5.9)
	FormationRefusal ActKind = "formation_refusal" // of a request to form (12.1)
	Dispute          ActKind = "dispute"           // of an amount (5.10.2)
	Review           ActKind = "review"            // acceptance or rejection (15)
	Probe            ActKind = "probe"             // outcome of a trial task (13)
)

// Tag returns the signing prefix of an act, and false for no act.
func (k ActKind) Tag() (tag.Tag, bool) {
	switch k {
	case Denial:
		return tag.SoWDenial, true
	case Withdrawal:
		return tag.SoWWithdrawal, true
	case Termination:
		return tag.SoWTermination, true
	case FormationRefusal:
		return tag.SoWFormationRefusal, true
	case Dispute:
		return tag.SoWDispute, true
	case Review:
		return tag.SoWReview, true
	case Probe:
		return tag.SoWProbe, true
	}
	return "", false
}

// ActType is the type member of every act.
const ActType = "vault.sowAct"

// ActFields are the members of an act.
type ActFields struct {
	Kind     ActKind
	SoW      string // identifier of the document
	Version  int64
	Document string // Document.Digest of that version
	Role     string // Provider or Client
	Reason   string // "" for none; required by a denial, a termination for cause and a rejection
	Cites    []string
	At       string // RFC 3339, a claim
	Key      string // owner nkey
	// Ground says, of a termination, convenience or cause; of a review,
	// acceptance or rejection; of a formation refusal, the id of the unmet
	// qualification, "" for a ground the offer does not state.
	Ground   string
	Disputed *Disputed // of a dispute, required
	Inputs   []Tried   // of a probe, required
}

// Tried is the outcome of a probe for one named input. A failure carries a
// problem report (14.1).
type Tried struct {
	Input   string
	Passed  bool
	Problem jcs.Value
}

// Act is an act's document, with or without its signature. It cannot be
// changed.
type Act struct {
	f         ActFields
	v         jcs.Value
	canonical []byte // without sig
}

// NewAct builds an act that is to be signed.
func NewAct(f ActFields) (*Act, error) {
	o := object{}
	for name, s := range map[string]string{"type": ActType, "sow": f.SoW, "document_sha256": f.Document, "act": string(f.Kind), "role": f.Role, "at": f.At, "key": f.Key} {
		o.text(name, s)
	}
	o.set("v", []byte("1"))
	o.set("version", []byte(strconv.FormatInt(f.Version, 10)))
	if f.Reason != "" {
		o.text("reason", f.Reason)
	}
	if f.Ground != "" {
		o.text("ground", f.Ground)
	}
	if len(f.Cites) > 0 {
		o.set("cites", textList(f.Cites))
	}
	if f.Disputed != nil {
		d := object{}
		d.set("amount", []byte(strconv.FormatInt(f.Disputed.Amount, 10)))
		d.text("currency", f.Disputed.Currency)
		o.set("disputed", d.canonical())
	}
	if len(f.Inputs) > 0 {
		var list [][]byte
		for _, t := range f.Inputs {
			i := object{}
			i.text("input", t.Input)
			i.set("passed", []byte(strconv.FormatBool(t.Passed)))
			if t.Problem.Exists() {
				i.set("problem", t.Problem.Canonical())
			}
			list = append(list, i.canonical())
		}
		o.set("inputs", listOf(list...))
	}
	return ParseAct(o.canonical())
}

// ParseAct reads an act: exactly its members, in any spelling of JSON, with or
// without sig. The error names the first fault; a fault of the content is a
// *ActError.
func ParseAct(raw []byte) (*Act, error) {
	v, err := jcs.Parse(raw, jcs.SoW)
	if err != nil {
		return nil, fmt.Errorf("parse act: %w", err)
	}
	if f := checkAct(v); f != nil {
		return nil, fmt.Errorf("parse act: %w", &ActError{*f})
	}
	a := &Act{v: v, canonical: v.Without("sig").Canonical()}
	a.f = ActFields{Kind: ActKind(v.Get("act").Text()), SoW: v.Get("sow").Text(), Document: v.Get("document_sha256").Text(),
		Role: v.Get("role").Text(), Reason: v.Get("reason").Text(), At: v.Get("at").Text(), Key: v.Get("key").Text(), Ground: v.Get("ground").Text()}
	a.f.Version, _ = v.Get("version").Int()
	a.f.Cites, _ = texts(v.Get("cites"))
	if d := v.Get("disputed"); d.Exists() {
		n, _ := d.Get("amount").Int()
		a.f.Disputed = &Disputed{n, d.Get("currency").Text()}
	}
	for _, t := range v.Get("inputs").Items() {
		a.f.Inputs = append(a.f.Inputs, Tried{t.Get("input").Text(), t.Get("passed").Bool(), t.Get("problem")})
	}
	return a, nil
}

// ActError is a fault in an act's content.
type ActError struct{ Finding Finding }

// Error returns the finding's code and member.
func (e *ActError) Error() string { return string(e.Finding.Code) + " at " + e.Finding.Member }

// checkAct returns an act's first fault.
func checkAct(v jcs.Value) *Finding {
	kind := ActKind(v.Get("act").Text())
	if _, ok := kind.Tag(); !ok || !among(v.Get("type"), ActType) {
		return one("act_shape", "act")
	}
	if n, ok := v.Get("v").Int(); !ok || n != 1 {
		return one("act_shape", "v")
	}
	allowed := map[string]bool{"type": true, "v": true, "sow": true, "version": true, "document_sha256": true, "act": true,
		"role": true, "reason": true, "cites": true, "at": true, "key": true, "sig": true,
		"ground":   kind == Termination || kind == Review || kind == FormationRefusal,
		"disputed": kind == Dispute, "inputs": kind == Probe}
	for m := range v.Members() {
		if !allowed[m.Name] {
			return one("act_shape", m.Name)
		}
	}
	reason, ground, cites := v.Get("reason"), v.Get("ground"), v.Get("cites")
	cited, listed := optionalTexts(cites)
	switch {
	case !nonEmpty(v.Get("sow")):
		return one("act_shape", "sow")
	case !isPos(v.Get("version")):
		return one("act_shape", "version")
	case !matches(v.Get("document_sha256"), hexForm):
		return one("act_shape", "document_sha256")
	case !among(v.Get("role"), Provider, Client):
		return one("act_shape", "role")
	case !isInstant(v.Get("at")):
		return one("act_shape", "at")
	case !matches(v.Get("key"), keyForm):
		return one("act_shape", "key")
	case reason.Exists() && !filled(reason) && kind != Denial && ground.Text() != "rejection":
		return one("act_shape", "reason")
	case ground.Exists() && !nonEmpty(ground):
		return one("act_shape", "ground")
	case !listed || cites.Exists() && (len(cited) == 0 || has(cited, "")):
		return one("act_shape", "cites")
	}
	switch kind {
	case Denial:
		if !filled(reason) {
			return one("denial_without_reason", "reason")
		}
	case Termination:
		if !among(ground, "convenience", "cause") {
			return one("act_shape", "ground")
		}
		if ground.Text() == "cause" && !filled(reason) {
			return one("act_shape", "reason")
		}
	case Review:
		switch {
		case !among(ground, "acceptance", "rejection"):
			return one("act_shape", "ground")
		case len(cited) == 0:
			return one("review_names_nothing", "cites")
		case ground.Text() == "rejection" && !filled(reason):
			return one("rejection_without_reason", "reason")
		}
	case Dispute:
		d := v.Get("disputed")
		if d.Kind() != jcs.Object || d.Len() != 2 || !isPos(d.Get("amount")) || !matches(d.Get("currency"), currencyForm) {
			return one("dispute_amount", "disputed")
		}
		if len(cited) == 0 {
			return one("dispute_cites_nothing", "cites")
		}
	case Probe:
		return checkTried(v.Get("inputs"))
	}
	return nil
}

func checkTried(v jcs.Value) *Finding {
	if v.Kind() != jcs.Array || v.Len() == 0 {
		return one("probe_unrecorded", "inputs")
	}
	for i, t := range v.Items() {
		p := item("inputs", i)
		problem := t.Get("problem")
		c := &checker{}
		if problem.Exists() {
			c.problem(problem, at(p, "problem"))
		}
		ok := filled(t.Get("input")) && t.Get("passed").Kind() == jcs.Bool && t.Get("passed").Bool() != problem.Exists()
		if !ok || !c.found.OK() {
			return one("probe_unrecorded", p)
		}
	}
	return nil
}

// Fields returns the act's members.
func (a *Act) Fields() ActFields { return a.f }

// Canonical returns the canonical form without the signature.
func (a *Act) Canonical() []byte { return append([]byte(nil), a.canonical...) }

// Signed returns the bytes the owner signs.
func (a *Act) Signed() []byte {
	t, _ := a.f.Kind.Tag()
	return t.Message(a.canonical)
}

// Bytes returns the canonical form as it is, with the signature if it has one.
func (a *Act) Bytes() []byte { return a.v.Canonical() }

// WithSignature returns the act with its signature, which must verify by the
// key it names.
func (a *Act) WithSignature(sig []byte) (*Act, error) {
	o := objectOf(a.v)
	o.text("sig", SignatureText(sig))
	b, err := ParseAct(o.canonical())
	if err != nil {
		return nil, err
	}
	if b.Verify() != nil {
		return nil, errors.New("sign act: the signature is not by the key the act names")
	}
	return b, nil
}

// Verify checks the signature by the key the act names, which the caller must
// know to be the owner's: act_signature, for a review review_unsigned.
func (a *Act) Verify() *Finding {
	t, _ := a.f.Kind.Tag()
	if verify(a.v.Get("key"), a.v.Get("sig"), t, a.canonical) == "" {
		return nil
	}
	if a.f.Kind == Review {
		return one("review_unsigned", "sig")
	}
	return one("act_signature", "sig")
}

// ConvenienceNotice is the notice in hours after which either owner may end the agreement for convenience (5.9), and
// false where none is agreed: then only a cause ends it before its time.
func (d *Document) ConvenienceNotice() (hours int64, agreed bool) {
	return d.Get("termination").Get("convenience_notice_hours").Int()
}

// About checks that the act is about this version of this document.
func (a *Act) About(d *Document) bool {
	return a.f.SoW == d.ID() && a.f.Version == d.Version() && a.f.Document == d.Digest()
}
