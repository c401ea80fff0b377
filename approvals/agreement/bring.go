package agreement

import (
	"slices"

	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/derive/confirm"
	"vault/derive/jcs"
)

// kindOf reads from the bytes what something is, "" where they do not tell.
func kindOf(v jcs.Value) RecordKind {
	switch t := v.Get("type").Text(); {
	case t == sow.ActType:
		if _, ok := sow.ActKind(v.Get("act").Text()).Tag(); ok {
			return RecordKind(v.Get("act").Text())
		}
		return ""
	case t == confirm.EvidenceType:
		return RecordConfirmation
	case t == confirm.CardType:
		return RecordCard
	case bundle.Is(v):
		return RecordBundle
	case v.Get("sow").Exists():
		return RecordSoW
	case v.Get("format").Text() == sow.JobFormat:
		return RecordJobManifest
	case v.Get("verdict").Text() == "v1":
		return RecordVerdict
	case v.Get("offerings").Kind() == jcs.Array:
		return RecordManifest
	case v.Get("problem").Exists():
		return RecordProblem
	case v.Get("probe").Exists():
		return RecordProbeRecord
	case v.Get("lines").Kind() == jcs.Array:
		return RecordSettlement
	case v.Get("total").Exists():
		return RecordQuote
	case v.Get("arbiter").Exists():
		return RecordAppointment
	}
	return ""
}

var recordKinds = []RecordKind{
	RecordSoW, RecordConfirmation, RecordDenial, RecordWithdrawal, RecordTermination, RecordRefusal, RecordDispute, RecordReview, RecordProbe, RecordQuote,
	RecordSettlement, RecordJobManifest, RecordProblem, RecordProbeRecord, RecordVerdict, RecordAppointment, RecordManifest, RecordCard, RecordBundle,
}

// Understand finds out what bytes are: of kind, or with "" what they themselves tell. Code says why they cannot be kept; Findings then
// say what is wrong with them.
func Understand(raw []byte, kind RecordKind) (Imported, jcs.Value) {
	out := Imported{Kind: kind, SHA256: SHA256(raw)}
	limit := MaxDocument
	if kind == RecordBundle || kind == "" {
		limit = bundle.Max
	}
	if len(raw) > limit {
		out.Code = CodeTooLong
		return out, jcs.Value{}
	}
	v, err := jcs.Parse(raw, jcs.SoW)
	if err != nil || v.Kind() != jcs.Object {
		_, out.Findings = sow.Read(raw, sow.Options{})
		out.Code = CodeNotUnderstood
		return out, v
	}
	is := kindOf(v)
	if out.Kind == "" {
		out.Kind = is
	}
	_, act := sow.ActKind(is).Tag()
	switch {
	case out.Kind != is && (act || is == RecordConfirmation || is == RecordCard || is == RecordJobManifest || is == RecordVerdict):
		// What is signed says itself what it is: under another name it would be kept, and never count when it comes as what it is.
		out.Code = CodeNotUnderstood
	case !slices.Contains(recordKinds, out.Kind):
		out.Code = CodeNotUnderstood
	case out.Kind != RecordBundle && len(raw) > MaxDocument:
		out.Code = CodeTooLong
	case out.Kind != RecordBundle && !bundle.Fits(v):
		out.Code, out.Detail = CodeNotUnderstood, "It is nested too deeply to stand in an export."
	}
	return out, v
}

// Check gives every finding about bytes that are not kept.
func Check(raw []byte) Imported {
	out, value := Understand(raw, "")
	if out.Code != "" {
		return out
	}
	switch out.Kind {
	case RecordSoW:
		doc, findings := sow.Read(raw, sow.Options{})
		out.Findings = findings
		if doc != nil {
			out.Digest, out.Findings = doc.Digest(), append(out.Findings, doc.VerifySignatures(sow.Pins{}).Findings...)
		}
	case RecordQuote:
		_, out.Findings = sow.QuoteOf(value)
	case RecordSettlement:
		_, out.Findings = sow.RecordOf(value)
	case RecordVerdict:
		out.Findings = sow.CheckVerdict(value, nil)
	case RecordProblem:
		out.Findings, _ = sow.CheckPart("problem", value)
	}
	return out
}

// VersionOf is the version of a document, 0 where the bytes are none.
func VersionOf(raw []byte) int64 {
	doc, err := sow.Parse(raw)
	if err != nil {
		return 0
	}
	return doc.Version()
}
