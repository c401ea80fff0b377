package moment

import (
	"errors"
	"strings"

	"vault/derive/jcs"
)

// Reason names why something was refused. The texts are stable and may be sent
// to clients.
type Reason string

// Reasons for which JSON is refused at the parse boundary (memo section 6.3,
// RFC 8259).
const (
	DuplicateMember   Reason = "duplicate_member"
	UnpairedSurrogate Reason = "unpaired_surrogate"
	NumberNotInteger  Reason = "number_not_integer"
	NumberOutOfRange  Reason = "number_out_of_range"
	DepthExceeded     Reason = "depth_exceeded"
	ByteOrderMark     Reason = "bom"
	InvalidUTF8       Reason = "invalid_utf8"
	TrailingData      Reason = "trailing_data"
	Syntax            Reason = "syntax"
)

// Reasons for which well-formed JSON is not an envelope (memo section 5).
const (
	WrongType           Reason = "wrong_type"
	MissingMember       Reason = "missing_member"
	UnknownMember       Reason = "unknown_member"
	OptionCount         Reason = "option_count"
	ActionDigestForm    Reason = "action_digest_form"
	RecommendedIdxRange Reason = "recommended_idx_range"
	BlankText           Reason = "blank_text" // a synopsis, stem or label that shows nothing
)

// Limits of this surface; the memo sets none.
const (
	TooLarge               Reason = "too_large"
	TooManyFindings        Reason = "too_many_findings"
	TooManyRecommendations Reason = "too_many_recommendations"
)

// Reasons for which a resolution is refused (memo section 7.3).
const (
	EnvelopeDigestForm Reason = "envelope_digest_form"
	ResolutionValue    Reason = "resolution_value"
	OptionIdxMissing   Reason = "option_idx_missing"
	OptionIdxPresent   Reason = "option_idx_present"
	OptionIdxRange     Reason = "option_idx_range"
	AnswerMissing      Reason = "answer_missing"
	AnswerPresent      Reason = "answer_present"
	AnswerEmpty        Reason = "answer_empty"
	AnswerTooLarge     Reason = "answer_too_large"
	HatchDisabled      Reason = "hatch_disabled"
	UnknownEnvelope    Reason = "unknown_envelope"
	AlreadyResolved    Reason = "already_resolved"
)

// Reasons for which a resolution is no authority for an action (memo section
// 7.3), or for which an option cannot be chosen or signed.
const (
	NotOption            Reason = "not_option"
	HeldEnvelopeMismatch Reason = "held_envelope_mismatch"
	ActionMismatch       Reason = "action_mismatch"
	ActionNotSignable    Reason = "action_not_signable"
	NoSigningEnvelope    Reason = "no_signing_envelope"
)

// Reasons for which what was presented behind the options is refused.
const (
	OptionTwice       Reason = "option_twice"
	NothingBehind     Reason = "nothing_behind"
	SignWithMalformed Reason = "sign_with_malformed"
)

var sentences = map[Reason]string{
	DuplicateMember:        "a member name appears twice in one object",
	UnpairedSurrogate:      "a text holds an unpaired surrogate",
	NumberNotInteger:       "a number is not an integer",
	NumberOutOfRange:       "a number is beyond 2^53-1",
	DepthExceeded:          "the value is nested more deeply than 64",
	ByteOrderMark:          "a byte order mark stands before the value",
	InvalidUTF8:            "the text is not UTF-8",
	TrailingData:           "there is more data after the value",
	Syntax:                 "it is not JSON",
	WrongType:              "a value is of another type than its member has",
	MissingMember:          "a required member is absent",
	UnknownMember:          "there is a member that the format does not have",
	OptionCount:            "there must be two to four options",
	ActionDigestForm:       "an action digest is not sha256: and 64 lower-case hex digits",
	RecommendedIdxRange:    "the recommended index names no option",
	BlankText:              "a text that carries the decision shows nothing",
	TooLarge:               "it is larger than this vault accepts",
	TooManyFindings:        "there are more findings than this vault shows",
	TooManyRecommendations: "there are more recommendations than this vault shows",
	EnvelopeDigestForm:     "the envelope digest is not sha256: and 64 lower-case hex digits",
	ResolutionValue:        "the resolution is none of option, answer, question and declined",
	OptionIdxMissing:       "an option resolution names no option",
	OptionIdxPresent:       "only an option resolution may name an option",
	OptionIdxRange:         "the index names no option of the envelope",
	AnswerMissing:          "an answer resolution carries no answer",
	AnswerPresent:          "only an answer resolution may carry an answer",
	AnswerEmpty:            "the answer is blank",
	AnswerTooLarge:         "the answer is longer than this vault sends",
	HatchDisabled:          "the agent turned this way of answering off",
	UnknownEnvelope:        "no such envelope was presented",
	AlreadyResolved:        "the envelope was resolved before",
	NotOption:              "only a selected option is authority for an action",
	HeldEnvelopeMismatch:   "the envelope at hand is not the one that was resolved",
	ActionMismatch:         "the action is not the one whose digest the option carries",
	ActionNotSignable:      "the action cannot be signed as an action under the envelope named for it",
	NoSigningEnvelope:      "no signing envelope was shown with the option",
	OptionTwice:            "two entries are for the same option",
	NothingBehind:          "an entry carries neither action nor signing envelope",
	SignWithMalformed:      "the signing envelope is not an action envelope",
}

// Sentence returns what the reason means, as a lower-case sentence of ours.
func (r Reason) Sentence() string { return sentences[r] }

// Fault is the error of every function of this package.
type Fault struct {
	Reason Reason
	// Path names the value at fault, such as $.question.options[0].label, in
	// words of ours alone; it is empty where the text is not JSON of the profile.
	// For an unknown member it names the object that has it.
	Path string
	// Member is the name of an unknown member as it was sent: hostile text.
	Member string
	// Cause is the error of another package that led to it, or nil.
	Cause error
}

// Error returns reason, sentence and path; it holds no text from outside.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString("binding moment: " + string(f.Reason) + ": " + f.Reason.Sentence())
	if f.Path != "" {
		b.WriteString(" at " + f.Path)
	}
	if f.Cause != nil {
		b.WriteString(": " + f.Cause.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// Is makes errors.Is find a fault by its reason alone: errors.Is(err,
// &Fault{Reason: r}).
func (f *Fault) Is(target error) bool {
	t, ok := target.(*Fault)
	return ok && t.Reason == f.Reason && t.Path == "" && t.Member == "" && t.Cause == nil
}

// ReasonOf returns the reason of an error of this package, and "" for others.
func ReasonOf(err error) Reason {
	var f *Fault
	if errors.As(err, &f) {
		return f.Reason
	}
	return ""
}

func fault(r Reason, path string) *Fault { return &Fault{Reason: r, Path: path} }

// jsonFault gives an error of derive/jcs over raw one of our reasons.
func jsonFault(raw []byte, err error) *Fault {
	var e *jcs.Error
	if !errors.As(err, &e) {
		return &Fault{Reason: Syntax, Cause: err}
	}
	r := Syntax
	switch e.Code {
	case jcs.NotUTF8:
		r = InvalidUTF8
	case jcs.ByteOrderMark:
		r = ByteOrderMark
	case jcs.DuplicateName:
		r = DuplicateMember
	case jcs.UnpairedSurrogate:
		r = UnpairedSurrogate
	case jcs.TrailingData:
		r = TrailingData
	case jcs.TooDeep:
		r = DepthExceeded
	case jcs.TooLarge:
		r = TooLarge
	case jcs.NumberOutOfProfile:
		r = NumberNotInteger
		if whole(raw[e.Offset:]) {
			r = NumberOutOfRange
		}
	}
	return &Fault{Reason: r, Cause: err}
}

// whole reports whether the JSON number at the start of raw is an integer by its
// exact decimal value.
func whole(raw []byte) bool {
	end := 0
	for end < len(raw) && strings.IndexByte("+-.0123456789eE", raw[end]) >= 0 {
		end++
	}
	mantissa, exponent := string(raw[:end]), ""
	if i := strings.IndexAny(mantissa, "eE"); i >= 0 {
		mantissa, exponent = mantissa[:i], mantissa[i+1:]
	}
	units, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	digits := units + fraction
	if strings.Trim(digits, "0") == "" {
		return true
	}
	// The last digit that counts stands at 10^low before the exponent.
	low := len(digits) - len(strings.TrimRight(digits, "0")) - len(fraction)
	negative := strings.HasPrefix(exponent, "-")
	exponent = strings.TrimLeft(exponent, "+-0")
	if len(exponent) > 9 { // beyond any number of digits there is room for
		return !negative
	}
	e := 0
	for _, c := range exponent {
		e = 10*e + int(c-'0')
	}
	if negative {
		e = -e
	}
	return low+e >= 0
}
