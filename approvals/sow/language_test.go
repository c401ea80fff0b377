package sow_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"vault/approvals/sow"
)

func TestLanguage(t *testing.T) {
	text := []byte("Each party keeps what is its own.\n")
	d := document(t, edit(t, doc(t, fixedFee), "language.sha256", sow.LanguageHash(text)))
	l, ok := d.Language()
	if !ok || l.ID != "agent-sow-standard-language" || l.Version != 4 || l.SHA256 != sow.LanguageHash(text) {
		t.Fatalf("the language is %+v", l)
	}
	name := l.LanguageName
	for what, c := range map[string]struct {
		known sow.Languages
		want  sow.Code
	}{
		"the text is there":    {sow.Languages{name: l.SHA256}, ""},
		"no text":              {sow.Languages{}, "language_unknown"},
		"of another version":   {sow.Languages{{ID: name.ID, Version: 3}: l.SHA256}, "language_unknown"},
		"of another language":  {sow.Languages{{ID: "another", Version: 4}: l.SHA256}, "language_unknown"},
		"under the same name":  {sow.Languages{name: sow.LanguageHash(nil)}, "language_hash_conflict"},
		"with a letter's case": {sow.Languages{{ID: "Agent-SoW-standard-language", Version: 4}: l.SHA256}, "language_unknown"},
	} {
		f := c.known.Check(l)
		if (f == nil) != (c.want == "") || f != nil && f.Code != c.want {
			t.Errorf("%s: %v", what, f)
		}
		v := d.Validate(sow.Options{Languages: c.known})
		if v.Has("language_unknown") != (c.want == "language_unknown") || v.Refused("language_hash_conflict") != (c.want == "language_hash_conflict") {
			t.Errorf("%s: validated as %v", what, v)
		}
	}
	if d.Validate(sow.Options{}).Has("language_unknown") {
		t.Error("a language is called unknown where nobody said what is known")
	}
	if f := d.CheckLanguageText(text); f != nil {
		t.Errorf("the text that was signed: %v", f)
	}
	for what, other := range map[string][]byte{
		"nothing": nil, "no last line end": bytes.TrimSpace(text), "other line ends": bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")),
		"a byte order mark": append([]byte("\ufeff"), text...), "a letter more": append([]byte("."), text...), "too long": bytes.Repeat(text, sow.MaxLanguage),
	} {
		if f := d.CheckLanguageText(other); f == nil || f.Code != "language_text_mismatch" {
			t.Errorf("%s: %v", what, f)
		}
	}
	odd := []byte("\xff")
	if f := document(t, edit(t, doc(t, fixedFee), "language.sha256", sow.LanguageHash(odd))).CheckLanguageText(odd); f == nil {
		t.Error("bytes that are no text are shown as one")
	}
	unreadable := document(t, edit(t, doc(t, fixedFee), "language.version", json.RawMessage("0")))
	if f := unreadable.CheckLanguageText(text); f == nil {
		t.Error("a text belongs to a language that cannot be read")
	}
}

func TestLanguageConflict(t *testing.T) {
	a := good(t, fixedFee)
	zeros := `"0000000000000000000000000000000000000000000000000000000000000000"`
	if f := sow.LanguageConflict(a, edited(t, fixedFee, "language.sha256", zeros)); f == nil {
		t.Error("two hashes for one version are no conflict")
	}
	for what, b := range map[string]*sow.Document{
		"itself": a, "another version": document(t, edit(t, edit(t, doc(t, fixedFee), "language.sha256", json.RawMessage(zeros)), "language.version", json.RawMessage("5"))),
		"another id":  document(t, edit(t, edit(t, doc(t, fixedFee), "language.sha256", json.RawMessage(zeros)), "language.id", "other")),
		"no language": document(t, edit(t, doc(t, fixedFee), "language", drop{})),
	} {
		if f := sow.LanguageConflict(a, b); f != nil {
			t.Errorf("%s: %v", what, f)
		}
	}
}
