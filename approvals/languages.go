package approvals

import (
	"vault/approvals/agreement"
	"vault/approvals/sow"
	"vault/approvals/store"
)

// LanguageOwner is the part of [Owner] about the texts of contract languages (Agent SoW 4.3). A text is kept under its SHA-256, for
// every document that names it, and only where a document that is kept does. It says nothing of what was agreed: that is the hash,
// which stands in the signed bytes.
type LanguageOwner interface {
	// BringLanguage keeps the text of the contract language that a document names, whose digest is given (64 lower-case hex digits).
	// The same text again changes nothing. It blocks on the disk. The code of the [*Refusal] is "too_long" (more than
	// [sow.MaxLanguage] bytes), "language_text_mismatch" where the text is not the one whose hash was signed, "no_engagement" where
	// there is no such document, or one of the store.
	BringLanguage(digest string, text []byte) error
	// LanguageText gives the text kept under a SHA-256 (64 lower-case hex digits), nil where none was brought. Hostile text. One
	// that is not what was kept any more is none.
	LanguageText(sha256 string) ([]byte, error)
}

// BringLanguage implements [Owner].
func (v ownerView) BringLanguage(digest string, text []byte) error {
	d := v.d
	switch {
	case d.db() == nil:
		return refuse(CodeNoVault)
	case d.db().Mode() != store.ModeReadWrite:
		return refuse(CodeReadOnly)
	case len(text) > sow.MaxLanguage:
		return &Refusal{Code: agreement.CodeTooLong, Message: "The text is too long.", Remedy: "The text of a contract language has at most 1 MiB."}
	}
	c, err := d.db().SoWCopyOf(digest)
	if err != nil {
		if ignoreMissing(err) == nil {
			return refuse(agreement.CodeNoEngagement)
		}
		return asRefusal(err)
	}
	doc, err := sow.Parse(c.Raw)
	if err != nil {
		return refuse(agreement.CodeNotUnderstood)
	}
	if f := doc.CheckLanguageText(text); f != nil {
		return &Refusal{Code: string(f.Code), Message: f.Message, Remedy: f.Remedy}
	}
	if err := d.db().Do(func(tx *store.Tx) error { return tx.PutSoWText(sow.LanguageHash(text), text, d.clock.Now()) }); err != nil {
		return refuse(CodeStoreFailed)
	}
	d.changed()
	return nil
}

// LanguageText implements [Owner].
func (v ownerView) LanguageText(sha256 string) ([]byte, error) {
	if v.d.db() == nil {
		return nil, refuse(CodeNoVault)
	}
	text, err := v.d.db().SoWText(sha256)
	switch {
	case err != nil && ignoreMissing(err) == nil:
		return nil, nil
	case err != nil:
		return nil, asRefusal(err)
	case sow.LanguageHash(text) != sha256:
		return nil, nil
	}
	return text, nil
}
