// Package moment holds binding moments: the briefing-and-binding envelope with
// which an agent asks its principal for one decision, the actions behind its
// options, and the resolution that goes back.
//
// It parses strictly and once, computes the digests from the bytes that were
// parsed for display, decodes the actions, builds and verifies resolutions, and
// judges whether an action is the one that was selected. How a moment is read is
// its folder reading's. It draws nothing, keeps no state, holds no key and decides
// nothing: who may resolve, and that a resolution is made once, is the desk's.
//
// Section numbers are those of the memo "The Briefing-and-Binding Envelope". Its
// section 4, the grammar, is not available; the grammar used here is closed:
// members that are not named in section 5, and null anywhere, are malformed.
package moment

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"vault/derive/jcs"
)

// Limits of this surface. Sizes are bytes as received.
const (
	MaxEnvelope        = 256 << 10
	MaxFindings        = 64
	MaxRecommendations = 64
	MaxAnswer          = 64 << 10
	MinOptions         = 2
	MaxOptions         = 4
)

// Envelope is a well-formed binding moment (section 5). It cannot be changed.
type Envelope struct {
	content   Content
	canonical string
	digest    string
	question  string
}

// Content is what an envelope says, unescaped and otherwise as it was sent. All
// texts are hostile.
type Content struct {
	Synopsis        string
	Findings        []string
	Recommendations []string
	Offer           string
	Stem            string
	Options         []Option // two to four
	Recommended     int      // index into Options
	FreeText        bool     // the answer-space hatch
	Dialogue        bool     // the question-space hatch
	HasClass        bool
	DecisionClass   string
	HasNote         bool
	CalibrationNote string
}

// Option is one substantive answer (section 5.6).
type Option struct {
	Label        string
	Reasoning    string
	ActionDigest string // sha256: and 64 hex digits
}

// Parse reads the bare value of a binding_moment member. The error is a *Fault;
// whatever it is, the envelope must be discarded, never repaired (section 12.8).
func Parse(raw []byte) (*Envelope, error) {
	if len(raw) > MaxEnvelope {
		return nil, fault(TooLarge, "$")
	}
	v, err := jcs.Parse(raw, jcs.Binding)
	if err != nil {
		return nil, jsonFault(raw, err)
	}
	var r reader
	c := r.envelope(v)
	if r.err != nil {
		return nil, r.err
	}
	question := v.Get("question")
	asked := slices.Concat([]byte(`{"options":`), question.Get("options").Canonical(), []byte(`,"stem":`), question.Get("stem").Canonical(), []byte(`}`))
	canonical := v.Canonical()
	return &Envelope{content: c, canonical: string(canonical), digest: DigestOf(canonical), question: DigestOf(asked)}, nil
}

// Content returns a copy of what the envelope says.
func (e *Envelope) Content() Content {
	c := e.content
	c.Findings, c.Recommendations, c.Options = slices.Clone(c.Findings), slices.Clone(c.Recommendations), slices.Clone(c.Options)
	return c
}

// Canonical returns the canonical form of the bytes received (section 6.1).
func (e *Envelope) Canonical() []byte { return []byte(e.canonical) }

// Digest returns the envelope digest, sha256: and 64 hex digits (section 6.2).
func (e *Envelope) Digest() string { return e.digest }

// Question returns a digest, in the same form, over stem and options alone:
// equal for two envelopes that put the same question and offer the same answers.
func (e *Envelope) Question() string { return e.question }

// DigestOf returns the SHA-256 of canonical bytes as sha256: and 64 hex digits
// (section 6.2).
func DigestOf(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ActionDigest returns the digest of an action, a JSON value of the memo's
// profile (sections 5.6, 6.3). The error is a *Fault.
func ActionDigest(raw []byte) (string, error) {
	v, err := parseAction(raw)
	if err != nil {
		return "", err
	}
	return DigestOf(v.Canonical()), nil
}

func parseAction(raw []byte) (jcs.Value, error) {
	if len(raw) > jcs.MaxFrame {
		return jcs.Value{}, fault(TooLarge, "")
	}
	v, err := jcs.Parse(raw, jcs.Binding)
	if err != nil {
		return jcs.Value{}, jsonFault(raw, err)
	}
	return v, nil
}

// isDigest reports sha256: and exactly 64 lower-case hex digits.
func isDigest(s string) bool {
	h, ok := strings.CutPrefix(s, "sha256:")
	if !ok || len(h) != 64 {
		return false
	}
	for i := range len(h) {
		if c := h[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// reader reads values of known types and keeps the first fault.
type reader struct{ err error }

func (r *reader) fail(reason Reason, path string) {
	if r.err == nil {
		r.err = fault(reason, path)
	}
}

func (r *reader) kind(v jcs.Value, k jcs.Kind, path string) bool {
	if r.err == nil && v.Kind() != k {
		r.fail(WrongType, path)
	}
	return r.err == nil
}

// object checks that v is an object with all required members and none that is
// neither required nor optional.
func (r *reader) object(v jcs.Value, path string, required, optional []string) bool {
	if !r.kind(v, jcs.Object, path) {
		return false
	}
	for _, name := range required {
		if !v.Get(name).Exists() {
			r.fail(MissingMember, path+"."+name)
			return false
		}
	}
	for m := range v.Members() {
		if !slices.Contains(required, m.Name) && !slices.Contains(optional, m.Name) {
			r.err = &Fault{Reason: UnknownMember, Path: path, Member: m.Name}
			return false
		}
	}
	return true
}

func (r *reader) text(v jcs.Value, path string) string {
	r.kind(v, jcs.String, path)
	return v.Text()
}

// shown is text that has to show something.
func (r *reader) shown(v jcs.Value, path string) string {
	s := r.text(v, path)
	if r.err == nil && Blank(s) {
		r.fail(BlankText, path)
	}
	return s
}

func (r *reader) flag(v jcs.Value, path string) bool {
	r.kind(v, jcs.Bool, path)
	return v.Bool()
}

func (r *reader) texts(v jcs.Value, path string, most int, over Reason) []string {
	if !r.kind(v, jcs.Array, path) {
		return nil
	}
	if v.Len() > most {
		r.fail(over, path)
		return nil
	}
	out := make([]string, 0, v.Len())
	for i, it := range v.Items() {
		out = append(out, r.text(it, path+at(i)))
	}
	return out
}

func at(i int) string { return "[" + strconv.Itoa(i) + "]" }

var (
	envelopeMembers = []string{"synopsis", "findings", "recommendations", "offer", "question"}
	questionMembers = []string{"stem", "options", "recommended_idx", "hatches"}
	optionMembers   = []string{"label", "reasoning", "action_digest"}
	hatchMembers    = []string{"free_text", "dialogue"}
	metaMembers     = []string{"decision_class", "calibration_note"}
)

func (r *reader) envelope(v jcs.Value) (c Content) {
	if !r.object(v, "$", envelopeMembers, []string{"meta"}) {
		return c
	}
	c.Synopsis = r.shown(v.Get("synopsis"), "$.synopsis")
	c.Findings = r.texts(v.Get("findings"), "$.findings", MaxFindings, TooManyFindings)
	c.Recommendations = r.texts(v.Get("recommendations"), "$.recommendations", MaxRecommendations, TooManyRecommendations)
	c.Offer = r.text(v.Get("offer"), "$.offer")
	r.question(v.Get("question"), &c)
	meta := v.Get("meta")
	if !meta.Exists() || !r.object(meta, "$.meta", nil, metaMembers) {
		return c
	}
	if m := meta.Get("decision_class"); m.Exists() {
		c.HasClass, c.DecisionClass = true, r.text(m, "$.meta.decision_class")
	}
	if m := meta.Get("calibration_note"); m.Exists() {
		c.HasNote, c.CalibrationNote = true, r.text(m, "$.meta.calibration_note")
	}
	return c
}

func (r *reader) question(q jcs.Value, c *Content) {
	if !r.object(q, "$.question", questionMembers, nil) {
		return
	}
	c.Stem = r.shown(q.Get("stem"), "$.question.stem")
	options := q.Get("options")
	if !r.kind(options, jcs.Array, "$.question.options") {
		return
	}
	if n := options.Len(); n < MinOptions || n > MaxOptions {
		r.fail(OptionCount, "$.question.options")
		return
	}
	for i, o := range options.Items() {
		path := "$.question.options" + at(i)
		if !r.object(o, path, optionMembers, nil) {
			return
		}
		option := Option{r.shown(o.Get("label"), path+".label"), r.text(o.Get("reasoning"), path+".reasoning"), r.text(o.Get("action_digest"), path+".action_digest")}
		if r.err == nil && !isDigest(option.ActionDigest) {
			r.fail(ActionDigestForm, path+".action_digest")
		}
		c.Options = append(c.Options, option)
	}
	index := q.Get("recommended_idx")
	if r.kind(index, jcs.Number, "$.question.recommended_idx") {
		n, ok := index.Int()
		if !ok || n < 0 || n >= int64(len(c.Options)) {
			r.fail(RecommendedIdxRange, "$.question.recommended_idx")
		}
		c.Recommended = int(n)
	}
	h := q.Get("hatches")
	if r.object(h, "$.question.hatches", hatchMembers, nil) {
		c.FreeText = r.flag(h.Get("free_text"), "$.question.hatches.free_text")
		c.Dialogue = r.flag(h.Get("dialogue"), "$.question.hatches.dialogue")
	}
}
