package sow

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"vault/derive/jcs"
)

// LanguageName names a version of a contract language (4.3).
type LanguageName struct {
	ID      string
	Version int64
}

// Language is what a document says of the contract language it was written in.
type Language struct {
	LanguageName
	SHA256 string // of that version's text, 64 lower hex digits
}

// Language returns the language a document names, and false where the clause
// cannot be read.
func (d *Document) Language() (Language, bool) {
	v := d.v.Get("language")
	c := &checker{}
	c.language(v, "language")
	n, _ := posint(v.Get("version"))
	return Language{LanguageName{v.Get("id").Text(), n}, v.Get("sha256").Text()}, c.found.OK()
}

// Languages are the texts a reader has, by name: the hash of each. A name has
// one text; what is said under the same name with another hash is a conflict,
// whichever came first.
type Languages map[LanguageName]string

// MaxLanguage is the longest text of a contract language, in bytes.
const MaxLanguage = 1 << 20

// LanguageHash is the hash of a language version's text as documents name it.
func LanguageHash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// CheckLanguageText judges a text that was brought for the language a document
// names (4.3): language_text_mismatch unless it is the text whose hash was
// signed. One byte more, a line ending or a byte order mark is another text.
func (d *Document) CheckLanguageText(text []byte) *Finding {
	l, ok := d.Language()
	if !ok || len(text) > MaxLanguage || !utf8.Valid(text) || LanguageHash(text) != l.SHA256 {
		return one("language_text_mismatch", "language.sha256")
	}
	return nil
}

// Check compares a language that a document names with the texts known:
// language_hash_conflict where its name is known with another hash,
// language_unknown where there is no text of that name, nil where the text is
// there (4.3).
func (known Languages) Check(l Language) *Finding {
	switch hash, ok := known[l.LanguageName]; {
	case !ok:
		return one("language_unknown", "language")
	case hash != l.SHA256:
		return one("language_hash_conflict", "language.sha256")
	}
	return nil
}

// LanguageConflict reports, as language_hash_conflict, that two documents name
// one language and version with different hashes (4.3).
func LanguageConflict(a, b *Document) *Finding {
	x, okX := a.Language()
	y, okY := b.Language()
	if okX && okY && x.LanguageName == y.LanguageName && x.SHA256 != y.SHA256 {
		return one("language_hash_conflict", "language.sha256")
	}
	return nil
}

// language checks the clause (4.3).
func (c *checker) language(v jcs.Value, path string) {
	c.need(filled(v.Get("id")), "language", path, "id")
	c.need(isPos(v.Get("version")), "language", path, "version")
	c.need(matches(v.Get("sha256"), hexForm), "language", path, "sha256")
}

// written compares the language with the texts that are known (4.3), where
// somebody says which are.
func (c *checker) written(d *Document, known Languages) {
	if known == nil {
		return
	}
	if l, ok := d.Language(); ok {
		if f := known.Check(l); f != nil {
			c.push(*f)
		}
	}
}
