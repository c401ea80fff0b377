package page

import (
	"fmt"
	"strings"

	"vault/approvals/sow"
	"vault/approvals/sow/units"
	"vault/assets"
)

// The contract language of the vault's own sentences (4.3). A document written
// here names it with the hash OwnLanguage returns.
const (
	LanguageID      = "vault-plain-language"
	LanguageVersion = 1
)

// OwnLanguage returns the descriptor a document of ours names, and the text it
// is the hash of. Changing a sentence is a new version.
func OwnLanguage() (sow.Language, []byte, error) {
	text, err := assets.Language(LanguageID, LanguageVersion)
	if err != nil {
		return sow.Language{}, nil, fmt.Errorf("read the contract language: %w", err)
	}
	return sow.Language{LanguageName: sow.LanguageName{ID: LanguageID, Version: LanguageVersion}, SHA256: sow.LanguageHash(text)}, text, nil
}

// LegalStatus is the one sentence about what a signed document is in law.
func LegalStatus() string {
	text, err := assets.LegalStatus()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(text)
}

// sentences reads the lines "key: sentence" of a language's text.
func sentences(text []byte) map[string]string {
	out := map[string]string{}
	for l := range strings.Lines(string(text)) {
		if key, s, ok := strings.Cut(strings.TrimRight(l, "\n"), ": "); ok && strings.Contains(key, ".") || key == "qualification" {
			out[key] = s
		}
	}
	return out
}

// language reads what the document says of its language, and takes our own
// sentences if it is ours.
func (w *walker) language() Language {
	l, _ := w.d.Language()
	v := w.root().get("language")
	out := Language{ID: stated(v.get("id")), Version: stated(v.get("version")), SHA256: stated(v.get("sha256"))}
	ours, text, err := OwnLanguage()
	if err == nil && l == ours {
		out.Own = true
		w.words = sentences(text)
		return out
	}
	out.Banner = ", which this vault does not know. Its signed fields are shown as they are, without sentences."
	if t := w.f.LanguageText; len(t) > 0 && w.d.CheckLanguageText(t) == nil {
		out.Text = string(t)
		out.Banner = ". The text that was brought has the hash that was signed and stands at the end; the signed fields are shown as they are."
	}
	return out
}

// stated is a value for a place where it is shown a second time.
func stated(a at) []Span {
	if !a.there() {
		return own("not stated")
	}
	s := leaf(a.v)
	if n, ok := a.v.Int(); ok {
		s = own(units.Number(n))
	}
	for i := range s {
		s[i].Code = s[i].Outside
	}
	return s
}

// say gives a row its sentence, under our own language.
func (w *walker) say(key string, r *Row) {
	s, ok := w.words[key]
	if !ok {
		return
	}
	r.Says = nil
	for s != "" {
		i := strings.IndexByte(s, '{')
		j := strings.IndexByte(s, '}')
		if i < 0 || j < i {
			r.Says = append(r.Says, Span{Text: s})
			return
		}
		if i > 0 {
			r.Says = append(r.Says, Span{Text: s[:i]})
		}
		switch s[i+1 : j] {
		case "name":
			r.Says = append(r.Says, inline(r.Name)...)
		case "value":
			r.Says = append(r.Says, inline(r.Value)...)
		case "more":
			r.Says = append(r.Says, inline(r.More)...)
		}
		s = s[j+1:]
	}
}

// inline is spans on one line.
func inline(spans []Span) []Span {
	out := make([]Span, len(spans))
	for i, s := range spans {
		if !s.Outside {
			s.Text = strings.ReplaceAll(s.Text, "\n", ", ")
		}
		out[i] = s
	}
	return out
}
