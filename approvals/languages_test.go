package approvals_test

import (
	"bytes"
	"errors"
	"testing"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/sow"
)

// TestLanguageText: the text of a contract language is kept where a document that is kept was signed with its hash, and no other.
func TestLanguageText(t *testing.T) {
	w := owned(t)
	text := []byte("Standard language, version 4.\nThe parties agree to what stands above.\n")
	hash := sow.LanguageHash(text)
	out := w.brought(offerOf(t, "beffbd918cb404d49bd0bb16e95eb3124115344e2a98e8ab2a97a30f98be4b56", hash).Raw())
	other := w.brought(signAs(t, sample(t, "no-charge-engagement"), sow.Provider, "owner/inkwell").Raw())
	if got, err := w.owner.LanguageText(hash); err != nil || got != nil {
		t.Fatalf("%q, %v before it was brought", got, err)
	}
	for name, c := range map[string]struct {
		digest string
		text   []byte
		code   string
	}{
		"one byte more":    {out.Digest, append(bytes.Clone(text), '\n'), "language_text_mismatch"},
		"another text":     {out.Digest, []byte("another"), "language_text_mismatch"},
		"empty":            {out.Digest, nil, "language_text_mismatch"},
		"another document": {other.Digest, text, "language_text_mismatch"},
		"no document":      {sow.LanguageHash(nil), text, agreement.CodeNoEngagement},
		"too long":         {out.Digest, make([]byte, sow.MaxLanguage+1), agreement.CodeTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			var r *approvals.Refusal
			if err := w.owner.BringLanguage(c.digest, c.text); !errors.As(err, &r) || r.Code != c.code || r.Remedy == "" && c.code != agreement.CodeNoEngagement {
				t.Errorf("%v, want %s", err, c.code)
			}
		})
	}
	if got, err := w.owner.LanguageText(hash); err != nil || got != nil {
		t.Fatalf("a text that was refused is kept: %q, %v", got, err)
	}
	for range 2 {
		if err := w.owner.BringLanguage(out.Digest, text); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := w.owner.LanguageText(hash); err != nil || !bytes.Equal(got, text) {
		t.Fatalf("%q, %v", got, err)
	}
}

// A text that was edited in the store is none, and can be brought again; others are kept across a restart.
func TestEditedLanguageText(t *testing.T) {
	w := owned(t)
	text := []byte("Standard language, version 4.\n")
	hash := sow.LanguageHash(text)
	out := w.brought(offerOf(t, "beffbd918cb404d49bd0bb16e95eb3124115344e2a98e8ab2a97a30f98be4b56", hash).Raw())
	if err := w.owner.BringLanguage(out.Digest, text); err != nil {
		t.Fatal(err)
	}
	again := func(edit string) []byte {
		t.Helper()
		w.stop()
		if edit != "" && w.edit(edit) != 1 {
			t.Fatal("nothing was edited")
		}
		w.start()
		w.unlock()
		got, err := w.owner.LanguageText(hash)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := again(""); !bytes.Equal(got, text) {
		t.Errorf("%q after a restart", got)
	}
	if got := again(`UPDATE sow_texts SET raw = CAST('Standard language, version 5.' AS BLOB)`); got != nil {
		t.Errorf("what was edited is shown: %q", got)
	}
	if err := w.owner.BringLanguage(out.Digest, text); err != nil {
		t.Fatal(err)
	}
	if got, err := w.owner.LanguageText(hash); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%q, %v", got, err)
	}
}
