package sow

import (
	"regexp"
	"strings"

	"vault/derive/jcs"
	"vault/derive/tag"
)

// The reasons a job manifest is refused for, and the only format there is.
const (
	JobFormat        = "job-manifest-v1"
	JobWrongFormat   = "wrong_format"
	JobMalformed     = "malformed"
	JobBadSignature  = "bad_signature"
	JobAgentMismatch = "agent_mismatch"
)

// JobFault says why a job manifest is refused and which member is at fault.
type JobFault struct {
	Reason, Member string
}

// Error returns reason and member.
func (f *JobFault) Error() string { return "job manifest is refused: " + f.Reason + " at " + f.Member }

var utcForm = regexp.MustCompile(`Z$`)

// CheckJobManifest checks the shape of a job manifest: the signed record of a
// completion's pieces (5.4.3). It returns the first fault, nil for none; the
// format is looked at before anything else.
func CheckJobManifest(v jcs.Value) *JobFault {
	bad := func(member string) *JobFault { return &JobFault{JobMalformed, member} }
	version, okV := posint(v.Get("version"))
	revises, task := v.Get("revises"), v.Get("task_id")
	switch {
	case v.Kind() != jcs.Object:
		return bad("document")
	case !among(v.Get("format"), JobFormat):
		return &JobFault{JobWrongFormat, "format"}
	case !nonEmpty(v.Get("job")):
		return bad("job")
	case !nonEmpty(task):
		return bad("task_id")
	case !orNull(v.Get("context_id")):
		return bad("context_id")
	case !orNull(revises):
		return bad("revises")
	case !okV:
		return bad("version")
	case (version == 1) != (revises.Kind() == jcs.Null):
		return bad("revises")
	case version == 1 && v.Get("job").Text() != task.Text():
		return bad("job")
	case version > 1 && revises.Text() == task.Text():
		return bad("revises")
	case !matches(v.Get("agent"), keyForm):
		return bad("agent")
	case !nonEmpty(v.Get("offering")):
		return bad("offering")
	case !isInstant(v.Get("produced_at")) || !matches(v.Get("produced_at"), utcForm):
		return bad("produced_at")
	case v.Get("pieces").Kind() != jcs.Array || v.Get("pieces").Len() == 0:
		return bad("pieces")
	}
	flagged := int64(0)
	seen := map[[2]string]bool{}
	for i, p := range v.Get("pieces").Items() {
		if member := checkPiece(p); member != "" {
			return bad(strings.TrimSuffix(item("pieces", i)+"."+member, ".piece"))
		}
		key := [2]string{p.Get("name").Text(), p.Get("step").Text()}
		if seen[key] {
			return bad(item("pieces", i))
		}
		seen[key] = true
		if p.Get("reused").Bool() {
			flagged++
		}
	}
	r := v.Get("reused")
	pieces, okP := nonneg(r.Get("pieces"))
	of, okO := nonneg(r.Get("of"))
	switch {
	case r.Kind() != jcs.Object:
		return bad("reused")
	case !okP:
		return bad("reused.pieces")
	case !okO, of != int64(v.Get("pieces").Len()):
		return bad("reused.of")
	case pieces != flagged:
		return bad("reused.pieces")
	}
	if _, err := ParseSignature(v.Get("sig").Text()); err != nil {
		return bad("sig")
	}
	return nil
}

func orNull(v jcs.Value) bool { return v.Kind() == jcs.Null || nonEmpty(v) }

// checkPiece returns the member of a piece that is at fault, "piece" for the
// piece itself, "" for none.
func checkPiece(p jcs.Value) string {
	if p.Kind() != jcs.Object {
		return "piece"
	}
	for _, name := range []string{"name", "step", "media_type", "ref"} {
		if !nonEmpty(p.Get(name)) {
			return name
		}
	}
	from, path, kind := p.Get("produced_from"), p.Get("path"), p.Get("kind")
	switch {
	case !isNat(p.Get("size")):
		return "size"
	case !matches(p.Get("digest"), digestForm):
		return "digest"
	case from.Exists() && !allNonEmpty(from):
		return "produced_from"
	case path.Exists() && !deliveryPath(path):
		return "path"
	case kind.Exists() && !among(kind, "file", "link"):
		return "kind"
	case p.Get("reused").Kind() != jcs.Bool:
		return "reused"
	}
	return ""
}

func allNonEmpty(v jcs.Value) bool {
	list, ok := texts(v)
	return ok && !has(list, "")
}

// deliveryPath reports a relative path with forward slashes and no way up.
func deliveryPath(v jcs.Value) bool {
	if !nonEmpty(v) || strings.Contains(v.Text(), `\`) {
		return false
	}
	for _, s := range strings.Split(v.Text(), "/") {
		if s == "" || s == ".." {
			return false
		}
	}
	return true
}

// JobCanonical returns the canonical form a job manifest's signature covers.
func JobCanonical(v jcs.Value) []byte { return v.Without("sig").Canonical() }

// VerifyJobManifest checks a job manifest: shape, then that it is the expected
// agent's ("" for any), then the signature.
func VerifyJobManifest(v jcs.Value, agent string) *JobFault {
	if f := CheckJobManifest(v); f != nil {
		return f
	}
	if agent != "" && v.Get("agent").Text() != agent {
		return &JobFault{JobAgentMismatch, "agent"}
	}
	if verify(v.Get("agent"), v.Get("sig"), tag.JobManifest, JobCanonical(v)) != "" {
		return &JobFault{JobBadSignature, "sig"}
	}
	return nil
}

// Reuse counts the pieces a manifest carries over from a prior one unchanged:
// same name and step, same reference and digest. It is evidence, computed from
// digests, and no verdict on the work (5.4.3). The list says which pieces.
func Reuse(prior, next jcs.Value) (pieces, of int, which []bool) {
	before := map[[2]string][2]string{}
	for _, p := range prior.Get("pieces").Items() {
		key := [2]string{p.Get("name").Text(), p.Get("step").Text()}
		if _, ok := before[key]; !ok {
			before[key] = [2]string{p.Get("ref").Text(), p.Get("digest").Text()}
		}
	}
	for _, p := range next.Get("pieces").Items() {
		was, ok := before[[2]string{p.Get("name").Text(), p.Get("step").Text()}]
		same := ok && was == [2]string{p.Get("ref").Text(), p.Get("digest").Text()}
		if same {
			pieces++
		}
		which = append(which, same)
	}
	return pieces, len(which), which
}

// ReuseHolds reports that a manifest's own count and flags are what its
// digests and the prior manifest's say. The absent value is no prior manifest.
func ReuseHolds(prior, next jcs.Value) bool {
	pieces, of, which := Reuse(prior, next)
	p, _ := next.Get("reused").Get("pieces").Int()
	o, _ := next.Get("reused").Get("of").Int()
	ok := int64(pieces) == p && int64(of) == o
	for i, x := range next.Get("pieces").Items() {
		ok = ok && x.Get("reused").Bool() == which[i]
	}
	return ok
}
