// Package opened is what every surface of the owner's does before it draws an agreement: it picks the version, reads every
// copy of it, checks each against the digest, joins them to the one document whose records the desk has counted, and gathers
// what the page is told beside the document. It draws nothing, decides nothing and keeps nothing.
package opened

import (
	"slices"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/keys"
	"vault/approvals/sow"
	"vault/approvals/sow/page"
)

// Copies is the part of [approvals.Owner] that gives the bytes of a copy.
type Copies interface {
	SoWCopy(engagement, sha256 string) ([]byte, error)
	LanguageText(sha256 string) ([]byte, error)
}

// Agreement is one version of an engagement as it was read.
type Agreement struct {
	View    agreement.View
	Version agreement.VersionView
	Doc     *sow.Document // all copies of it, joined (sow.Join)
	Before  *sow.Document // the version in force, where this one is later; else nil
	Text    []byte        // of the contract language it names, where it was brought (4.3); else nil
}

// Read reads the version with a digest (64 lower-case hex digits), or with "" the one that [Choose] picks. It blocks on the
// disk. The error is an [approvals.Refusal] "gone" where there is none, "page_too_long" where it has more values than a page is made of, a [keys.Error] "changed" where a copy is another
// document than the view says, or what reading gave.
func Read(from Copies, v agreement.View, digest string) (Agreement, error) {
	out := Agreement{View: v}
	at := slices.IndexFunc(v.Versions, func(x agreement.VersionView) bool { return x.Digest == digest })
	if digest == "" {
		at = Choose(v)
	}
	if at < 0 {
		return out, &approvals.Refusal{Code: "gone", Message: "That version is not here."}
	}
	out.Version = v.Versions[at]
	var err error
	if out.Doc, err = document(from, v.ID, out.Version); err != nil {
		return out, err
	}
	if !out.Doc.Readable() {
		return out, &approvals.Refusal{Code: agreement.CodePageTooLong, Message: "The document has more than 65,536 values. No page is made of it, and nothing of it is signed.",
			Remedy: "Ask the other side for a document that a person can read."}
	}
	if i := inForce(v); i >= 0 && v.Versions[i].Version < out.Version.Version {
		if out.Before, err = document(from, v.ID, v.Versions[i]); err != nil {
			return out, err
		}
	}
	if l, ok := out.Doc.Language(); ok {
		if out.Text, err = from.LanguageText(l.SHA256); err != nil {
			return out, err
		}
	}
	return out, nil
}

// signs are the moves that end in a signature under the version itself.
var signs = []string{"countersign", "complete", "approve", "publish", "propose"}

// Choose is the index of the version that is opened where none was named: one that the owner can sign or that is proposed and
// open, the newest first, else the one in force, else the newest; -1 where there is none.
func Choose(v agreement.View) int {
	at := slices.IndexFunc(v.Versions, func(x agreement.VersionView) bool {
		return x.State == sow.AmendmentProposed && x.Outcome == "" || slices.ContainsFunc(v.Moves, func(m agreement.Move) bool {
			return m.Digest == x.Digest && slices.Contains(signs, m.What)
		})
	})
	if at < 0 {
		at = inForce(v)
	}
	if at < 0 && len(v.Versions) > 0 {
		at = 0
	}
	return at
}

func inForce(v agreement.View) int {
	return slices.IndexFunc(v.Versions, func(x agreement.VersionView) bool { return x.InForce })
}

// document joins the copies of a version, in the order in which the desk has.
func document(from Copies, engagement string, x agreement.VersionView) (*sow.Document, error) {
	var out *sow.Document
	for _, c := range x.Copies {
		raw, err := from.SoWCopy(engagement, c.SHA256)
		if err != nil {
			return nil, err
		}
		doc, err := sow.Parse(raw)
		if err != nil {
			return nil, err
		}
		if doc.Digest() != x.Digest {
			return nil, &keys.Error{Code: "changed"}
		}
		if out == nil {
			out = doc
		} else if out, err = sow.Join(out, doc); err != nil {
			return nil, err
		}
	}
	if out == nil {
		return nil, &approvals.Refusal{Code: "gone", Message: "That version is not here."}
	}
	return out, nil
}

// Words are a surface's own words for what the page names.
type Words struct {
	Learned func(agreement.PartyView) string // how a seat's key is known
	Seat    func(agreement.SeatView) string
	Agent   func(client string) string // the owner's name for a paired program
}

// Facts is what the page of an opened version is told beside the document, at an instant in milliseconds since epoch.
func (o Agreement) Facts(now int64, w Words) page.Facts {
	v, x := o.View, o.Version
	f := page.Facts{Now: now, Ours: Side(v), Deployment: v.Deployment, Seats: x.Seats, Findings: x.Findings, State: x.State, LanguageText: o.Text}
	if v.Seat.Key != "" || v.Role != "" {
		f.Seat = w.Seat(v.Seat)
	}
	if i := inForce(v); i >= 0 {
		f.InForce = v.Versions[i].Version
	}
	for _, p := range v.Parties {
		k := page.Known{Key: p.Key, How: w.Learned(p)}
		switch p.Confirmation {
		case agreement.ConfirmedUnpinned:
			k.Person = page.PresentNotPinned
		case agreement.ConfirmedVerified:
			k.Person = page.Verified
		}
		if p.Role == sow.Provider {
			f.Provider = k
		} else {
			f.Client = k
		}
	}
	if c := x.Copies; len(c) > 0 {
		f.BroughtAt = c[0].At
		switch c[0].From.Kind {
		case "agent":
			f.BroughtBy = w.Agent(c[0].From.Client)
		case "own":
			f.BroughtAt = 0
		}
	}
	return f
}

// Side is the owner's seat, and with somebody else's offer the one that is open.
func Side(v agreement.View) string {
	if v.Role == "" && v.Kind == agreement.KindOffer && !slices.ContainsFunc(v.Parties, func(p agreement.PartyView) bool { return p.Ours }) {
		return sow.Client
	}
	return v.Role
}
