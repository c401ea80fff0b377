package sign

import (
	"vault/approvals/facts"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/moment"
)

// Codes of what is wrong with a moment's act.
const (
	codeWrongMoment     = "wrong_moment"
	codeWrongSheet      = "wrong_sheet"
	codeWrongResolution = "wrong_resolution"
	codeActionMismatch  = "action_mismatch"
)

// guardResolved lets a resolution be recorded that this envelope can have: the digests of the
// envelope, of what was shown and of the resolution are computed here, from the bytes.
func (s *Signer) guardResolved(b journal.MomentResolved, a keys.Act) error {
	if err := s.client(b.Client, a); err != nil {
		return err
	}
	sheet, r, err := laid(a, b.EnvelopeDigest, b.SheetDigest)
	if err != nil {
		return err
	}
	env := sheet.Envelope
	if r.Check(env, false) != nil || r.Digest() != b.ResolutionDigest || string(r.Choice()) != b.Choice {
		return refuse(codeWrongResolution, "the resolution is another one than the entry names, or none of this envelope")
	}
	option, selected := r.Option()
	if int64(option) != b.Option {
		return refuse(codeWrongResolution, "the resolution names another option than the entry")
	}
	class := env.Content().DecisionClass
	if !selected {
		return s.byPolicy(b.By, facts.Resolution(b.Client, class))
	}
	if _, err := sheet.Select(option); err != nil {
		return refuse(codeActionMismatch, "the action that was shown is not the option's, or cannot be signed")
	}
	row, with := sheet.Rows[option], ""
	if row.SignWith != nil {
		with = row.SignWith.Hash()
	}
	if row.ActionDigest != b.ActionDigest || with != b.SignWith || (row.Action == nil) != b.Unseen {
		return refuse(codeWrongResolution, "the entry names another action or signing envelope than the option has, or says otherwise about what was shown")
	}
	return s.byPolicy(b.By, facts.Option(b.Client, class, row)...)
}

// laid reads what was laid before the owner, and the resolution: envelope and sheet must have the digests that the entry
// names.
func laid(a keys.Act, envelopeDigest, sheetDigest string) (*moment.Sheet, *moment.Resolution, error) {
	env, err := moment.Parse(a.Moment)
	if err != nil || env.Digest() != envelopeDigest {
		return nil, nil, refuse(codeWrongMoment, "the envelope is another one than the entry names, or none")
	}
	var behind []moment.Behind
	if a.Behind != nil {
		if behind, err = moment.ParseBehind(a.Behind); err != nil {
			return nil, nil, refuse(codeWrongSheet, "what was shown behind the options is not well formed")
		}
	}
	sheet, err := moment.NewSheet(env, behind)
	if err != nil || sheet.Digest() != sheetDigest {
		return nil, nil, refuse(codeWrongSheet, "what was shown is not what the entry names")
	}
	r, err := moment.ParseResolution(a.Payload)
	if err != nil {
		return nil, nil, refuse(codeWrongResolution, "there is no resolution")
	}
	return sheet, r, nil
}

// guardSelected lets an action be signed that a moment's resolution is authority for: both digests
// are computed here (Briefing-and-Binding Envelope 7.3). That the moment was resolved for this envelope
// and signed for nothing yet, the log has shown.
func (s *Signer) guardSelected(b journal.ActionSigned, a keys.Act) error {
	resolved, ok := s.state.Moment(b.Moment)
	if !ok {
		return refuse(journal.CodeUnknownMoment, "the log shows no such resolved moment")
	}
	env, err := moment.Parse(a.Moment)
	if err != nil || env.Digest() != resolved.EnvelopeDigest {
		return refuse(codeWrongMoment, "the envelope is another one than was resolved, or none")
	}
	r, err := env.Select(int(resolved.Option))
	if err != nil {
		return refuse(codeWrongMoment, "the envelope has no such option")
	}
	if err := moment.Authority(r, env, a.Payload); err != nil {
		return refuse(codeActionMismatch, "the action is not the one whose digest the selected option carries")
	}
	return nil
}
