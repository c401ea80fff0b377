package moment

import (
	"unicode/utf8"

	"vault/derive/jcs"
)

// Choice is which of the four ways a moment was resolved (section 7.3).
type Choice string

// The four resolutions. They are never collapsed.
const (
	ChoseOption   Choice = "option"
	ChoseAnswer   Choice = "answer"
	ChoseQuestion Choice = "question"
	ChoseDecline  Choice = "declined"
)

// Resolution is a principal's resolution of one envelope: exactly the object of
// section 7.3. It cannot be changed.
type Resolution struct {
	envelope  string
	choice    Choice
	option    int // -1 unless ChoseOption
	answer    string
	canonical string
}

// Select returns the resolution that selects an option. The error is a *Fault:
// OptionIdxRange.
func (e *Envelope) Select(option int) (*Resolution, error) {
	if option < 0 || option >= len(e.content.Options) {
		return nil, fault(OptionIdxRange, "")
	}
	return newResolution(e.digest, ChoseOption, option, ""), nil
}

// Answer returns the resolution with the principal's own words, exactly as typed.
// The error is a *Fault: HatchDisabled, AnswerEmpty, AnswerTooLarge or InvalidUTF8.
func (e *Envelope) Answer(text string) (*Resolution, error) {
	switch {
	case !e.content.FreeText:
		return nil, fault(HatchDisabled, "")
	case !utf8.ValidString(text):
		return nil, fault(InvalidUTF8, "")
	case Blank(text):
		return nil, fault(AnswerEmpty, "")
	case len(text) > MaxAnswer:
		return nil, fault(AnswerTooLarge, "")
	}
	return newResolution(e.digest, ChoseAnswer, -1, text), nil
}

// RejectQuestion returns the resolution that rejects the question itself. The
// error is a *Fault: HatchDisabled.
func (e *Envelope) RejectQuestion() (*Resolution, error) {
	if !e.content.Dialogue {
		return nil, fault(HatchDisabled, "")
	}
	return newResolution(e.digest, ChoseQuestion, -1, ""), nil
}

// Decline returns the resolution that answers the question in the negative. It
// is always possible.
func (e *Envelope) Decline() *Resolution { return newResolution(e.digest, ChoseDecline, -1, "") }

func newResolution(digest string, c Choice, option int, answer string) *Resolution {
	b := []byte(`{"binding_moment_resolution":{`)
	if c == ChoseAnswer {
		b = append(jcs.AppendString(append(b, `"answer":`...), answer), ',')
	}
	b = append(b, `"envelope_digest":"`+digest+`"`...)
	if c == ChoseOption {
		b = append(b, `,"option_idx":`...)
		b = append(b, byte('0'+option))
	}
	b = append(b, `,"resolution":"`+string(c)+`"}}`...)
	return &Resolution{digest, c, option, answer, string(b)}
}

// EnvelopeDigest returns the digest of the envelope that is resolved.
func (r *Resolution) EnvelopeDigest() string { return r.envelope }

// Choice returns which of the four it is.
func (r *Resolution) Choice() Choice { return r.choice }

// Option returns the index of the selected option, and false unless one was.
func (r *Resolution) Option() (int, bool) { return r.option, r.choice == ChoseOption }

// Answer returns the principal's own words, and false unless there are any.
func (r *Resolution) Answer() (string, bool) { return r.answer, r.choice == ChoseAnswer }

// Canonical returns the canonical form of the object that goes to the agent.
func (r *Resolution) Canonical() []byte { return []byte(r.canonical) }

// Digest returns the SHA-256 of the canonical form as sha256: and 64 hex digits.
func (r *Resolution) Digest() string { return DigestOf([]byte(r.canonical)) }

// ParseResolution reads a resolution strictly. It does not know the envelope:
// Check compares the two. The error is a *Fault.
func ParseResolution(raw []byte) (*Resolution, error) {
	if len(raw) > MaxEnvelope {
		return nil, fault(TooLarge, "$")
	}
	v, err := jcs.Parse(raw, jcs.Binding)
	if err != nil {
		return nil, jsonFault(raw, err)
	}
	const name, path = "binding_moment_resolution", "$.binding_moment_resolution"
	var r reader
	if !r.object(v, "$", []string{name}, nil) {
		return nil, r.err
	}
	m := v.Get(name)
	if !r.object(m, path, []string{"envelope_digest", "resolution"}, []string{"option_idx", "answer"}) {
		return nil, r.err
	}
	digest := r.text(m.Get("envelope_digest"), path+".envelope_digest")
	choice := Choice(r.text(m.Get("resolution"), path+".resolution"))
	index, answer := m.Get("option_idx"), m.Get("answer")
	if r.err == nil && !isDigest(digest) {
		r.fail(EnvelopeDigestForm, path+".envelope_digest")
	}
	switch choice {
	case ChoseOption, ChoseAnswer, ChoseQuestion, ChoseDecline:
	default:
		r.fail(ResolutionValue, path+".resolution")
	}
	option := int64(-1)
	switch {
	case choice != ChoseOption && index.Exists():
		r.fail(OptionIdxPresent, path+".option_idx")
	case choice == ChoseOption && !index.Exists():
		r.fail(OptionIdxMissing, path+".option_idx")
	case choice == ChoseOption && r.kind(index, jcs.Number, path+".option_idx"):
		option, _ = index.Int()
		if option < 0 || option >= MaxOptions {
			r.fail(OptionIdxRange, path+".option_idx")
		}
	}
	words := ""
	switch {
	case choice != ChoseAnswer && answer.Exists():
		r.fail(AnswerPresent, path+".answer")
	case choice == ChoseAnswer && !answer.Exists():
		r.fail(AnswerMissing, path+".answer")
	case choice == ChoseAnswer:
		words = r.text(answer, path+".answer")
		if r.err == nil && Blank(words) {
			r.fail(AnswerEmpty, path+".answer")
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return newResolution(digest, choice, int(option), words), nil
}

// Check verifies a resolution against the envelope of its digest that was
// presented (nil if none was) and whether that was resolved before. A resolution
// that is refused is not a decision and must be discarded. The error is a *Fault.
func (r *Resolution) Check(presented *Envelope, resolved bool) error {
	switch {
	case presented == nil || presented.digest != r.envelope:
		return fault(UnknownEnvelope, "")
	case resolved:
		return fault(AlreadyResolved, "")
	}
	return r.fits(presented)
}

func (r *Resolution) fits(e *Envelope) error {
	switch {
	case r.choice == ChoseOption && r.option >= len(e.content.Options):
		return fault(OptionIdxRange, "")
	case r.choice == ChoseAnswer && !e.content.FreeText, r.choice == ChoseQuestion && !e.content.Dialogue:
		return fault(HatchDisabled, "")
	}
	return nil
}

// Authority returns nil if the resolution is authority for the action that is
// about to be performed: it selects an option, the envelope at hand has the digest
// it names, and the recomputed digest of the action is that option's (section
// 7.3). Otherwise the error is a *Fault, and the resolution remains a record only.
func Authority(r *Resolution, held *Envelope, action []byte) error {
	switch {
	case r.choice != ChoseOption:
		return fault(NotOption, "")
	case held == nil || held.digest != r.envelope:
		return fault(HeldEnvelopeMismatch, "")
	}
	if err := r.fits(held); err != nil {
		return err
	}
	digest, err := ActionDigest(action)
	if err != nil {
		return err
	}
	if digest != held.content.Options[r.option].ActionDigest {
		return fault(ActionMismatch, "")
	}
	return nil
}
