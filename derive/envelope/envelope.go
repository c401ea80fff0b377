// Package envelope holds the AgentEnvelope v1 documents: domains, action
// envelopes, public action records, mint delegates and requests, attested
// receipts, legitimacy states; and the owner keys of Agent SoW as text.
//
// It builds them, parses them strictly, gives their canonical bytes, hashes
// and message digests, and verifies them. Verification needs no key and is
// written here once. Nothing here derives, holds or uses a private key.
//
// A parsed document is a value that cannot be changed. Its canonical form,
// hash and digest are those of the bytes received. Times are milliseconds
// since the epoch; hashes, addresses and signatures are lower case hex with
// 0x unless a function says otherwise.
package envelope

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/sha3"

	"vault/derive/jcs"
	"vault/derive/tag"
)

// The types of the documents (AgentEnvelope sections 8 to 12).
const (
	TypeDomainInfo      = "agentenvelope.domainInfo"
	TypeActionEnvelope  = "agentenvelope.actionEnvelope"
	TypeRecord          = "agentenvelope.publicActionRecord"
	TypeMintDelegate    = "agentenvelope.mintDelegate"
	TypeMintRequest     = "agentenvelope.mintRequest"
	TypeLegitimacyState = "agentenvelope.legitimacyState"
)

// Opt is an integer or null.
type Opt struct {
	N   int64
	Set bool
}

// Some returns the Opt that holds n.
func Some(n int64) Opt { return Opt{n, true} }

// MarshalJSON writes the integer or null.
func (o Opt) MarshalJSON() ([]byte, error) {
	if !o.Set {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, o.N, 10), nil
}

// Window is a time window in milliseconds since the epoch, inclusive at both
// ends; an end that is not set does not bound.
type Window struct {
	NotBefore Opt `json:"notBefore"`
	NotAfter  Opt `json:"notAfter"`
}

// ordered reports that the window is not empty or turned around.
func (w Window) ordered() bool {
	return !w.NotBefore.Set || !w.NotAfter.Set || w.NotBefore.N < w.NotAfter.N
}

// HashText returns the SHA-256 of a text's UTF-8 bytes.
func HashText(s string) string { return hash256([]byte(s)) }

// HashCanonical returns the SHA-256 of canonical JSON.
func HashCanonical(canonical []byte) string { return hash256(canonical) }

func hash256(b []byte) string {
	sum := sha256.Sum256(b)
	return "0x" + hex.EncodeToString(sum[:])
}

// hashTexts hashes the canonical form of an object of texts, given as names and
// texts in order of the names.
func hashTexts(namesAndTexts ...string) string {
	b := make([]byte, 0, 256)
	for i, s := range namesAndTexts {
		sep := byte(':')
		if i%2 == 0 {
			sep = ','
		}
		b = jcs.AppendString(append(b, sep), s)
	}
	b[0] = '{'
	return hash256(append(b, '}'))
}

// Digest returns the Keccak-256 of prefix and canonical form: what secp256k1
// signatures sign (AgentEnvelope section 6).
func Digest(t tag.Tag, canonical []byte) [32]byte {
	h := sha3.NewLegacyKeccak256()
	h.Write([]byte(t))
	h.Write(canonical)
	var d [32]byte
	h.Sum(d[:0])
	return d
}

// NormalizeIdentifier trims and lower-cases a namespace, domain id, kind,
// agent id or operation and checks its form, ^[a-z0-9][a-z0-9._:-]{0,127}$.
// Text outside ASCII is refused before lower-casing.
func NormalizeIdentifier(s string) (string, error) {
	s = trim(s)
	for i := range len(s) {
		if s[i] >= 0x80 {
			return "", errors.New("identifier holds characters other than ASCII")
		}
	}
	s = strings.ToLower(s)
	if !isIdentifier(s) {
		return "", errors.New("identifier is not a letter or digit followed by up to 127 of a-z 0-9 . _ : -")
	}
	return s, nil
}

func isIdentifier(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		alnum := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !alnum && (i == 0 || !strings.ContainsRune("._:-", rune(c))) {
			return false
		}
	}
	return true
}

// trim removes what ECMAScript's trim removes, which differs from Go's
// TrimSpace in U+0085 and U+FEFF.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool {
		switch r {
		case '\t', '\n', '\v', '\f', '\r', ' ', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
			return true
		}
		return 0x2000 <= r && r <= 0x200a
	})
}

// IsHash reports 0x and 64 lower case hex digits.
func IsHash(s string) bool { return isHex(s, 64, false) }

// IsAddress reports 0x and 40 lower case hex digits.
func IsAddress(s string) bool { return isHex(s, 40, false) }

// isAddressAnyCase also accepts upper case digits; delegates hold such.
func isAddressAnyCase(s string) bool { return isHex(s, 40, true) }

func isHex(s string, digits int, upper bool) bool {
	if len(s) != digits+2 || s[0] != '0' || s[1] != 'x' {
		return false
	}
	for i := 2; i < len(s); i++ {
		c := s[i]
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || upper && 'A' <= c && c <= 'F') {
			return false
		}
	}
	return true
}

func sameAddress(a, b string) bool { return strings.EqualFold(a, b) }

// maxDate is the last instant ECMAScript can write, in milliseconds.
const maxDate = 8_640_000_000_000_000

// FormatTime writes an instant as ECMAScript's toISOString does: milliseconds,
// Z, and years beyond 9999 with a sign and six digits.
func FormatTime(ms int64) (string, error) {
	if ms > maxDate || ms < -maxDate {
		return "", fmt.Errorf("instant %d is outside the calendar", ms)
	}
	t := time.UnixMilli(ms).UTC()
	year := fmt.Sprintf("%04d", t.Year())
	if t.Year() > 9999 {
		year = fmt.Sprintf("+%06d", t.Year())
	} else if t.Year() < 0 {
		year = fmt.Sprintf("-%06d", -t.Year())
	}
	return year + t.Format("-01-02T15:04:05.000Z"), nil
}

// ParseTime reads an RFC 3339 instant, or one with ECMAScript's six digit
// year, into milliseconds since the epoch.
func ParseTime(s string) (int64, error) {
	offset := 0
	text := s
	if len(s) > 7 && s[0] == '+' {
		year, err := strconv.Atoi(s[1:7])
		if err != nil || year < 1 {
			return 0, errors.New("not an instant")
		}
		// Shift by whole 400-year cycles into the range of time.Parse.
		offset = (year - 2000) / 400 * 400
		if year < 2000 {
			offset = 0
		}
		text = fmt.Sprintf("%04d%s", year-offset, s[7:])
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, errors.New("not an RFC 3339 instant")
	}
	const cycle = 146097 * 86400 * 1000 // milliseconds in 400 years
	ms := t.UnixMilli() + int64(offset/400)*cycle
	if ms > maxDate || ms < -maxDate {
		return 0, errors.New("instant is outside the calendar")
	}
	return ms, nil
}

// members checks that v is an object with every required member and no member
// beside those and the optional ones.
func members(v jcs.Value, required, optional []string) error {
	if v.Kind() != jcs.Object {
		return fmt.Errorf("is %s, not an object", v.Kind())
	}
	for _, name := range required {
		if !v.Get(name).Exists() {
			return fmt.Errorf("member %s is missing", name)
		}
	}
	if unknown, ok := unknownMember(v, required, optional); ok {
		return fmt.Errorf("unknown member %s", quoteShort(unknown))
	}
	return nil
}

func unknownMember(v jcs.Value, required, optional []string) (string, bool) {
next:
	for m := range v.Members() {
		for _, known := range [][]string{required, optional} {
			for _, name := range known {
				if m.Name == name {
					continue next
				}
			}
		}
		return m.Name, true
	}
	return "", false
}

// quoteShort makes a name from outside fit to stand in an error.
func quoteShort(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return strconv.QuoteToASCII(s)
}

func isType(v jcs.Value, want string) bool {
	t := v.Get("type")
	return t.Kind() == jcs.String && t.Text() == want
}

func isVersion1(v jcs.Value) bool {
	n, ok := v.Get("version").Int()
	return ok && n == 1
}

// optInt reads an integer or null.
func optInt(v jcs.Value) (Opt, bool) {
	if v.Kind() == jcs.Null {
		return Opt{}, true
	}
	n, ok := v.Int()
	return Opt{n, ok}, ok
}

// texts reads a list of non-empty strings that is not empty.
func texts(v jcs.Value) ([]string, bool) {
	if v.Kind() != jcs.Array || v.Len() == 0 {
		return nil, false
	}
	out := make([]string, 0, v.Len())
	for _, it := range v.Items() {
		if it.Kind() != jcs.String || it.Text() == "" {
			return nil, false
		}
		out = append(out, it.Text())
	}
	return out, true
}

func isText(v jcs.Value) bool { return v.Kind() == jcs.String && v.Text() != "" }

func textMembers(v jcs.Value, names ...string) error {
	for _, name := range names {
		if !isText(v.Get(name)) {
			return fmt.Errorf("%s is not a text", name)
		}
	}
	return nil
}

// window reads {notBefore, notAfter}; both members must be there.
func window(v jcs.Value) (Window, error) {
	if err := members(v, []string{"notBefore", "notAfter"}, nil); err != nil {
		return Window{}, errors.New("timeWindow is invalid")
	}
	var w Window
	var ok bool
	if w.NotBefore, ok = optInt(v.Get("notBefore")); !ok {
		return Window{}, errors.New("timeWindow notBefore is invalid")
	}
	if w.NotAfter, ok = optInt(v.Get("notAfter")); !ok {
		return Window{}, errors.New("timeWindow notAfter is invalid")
	}
	if !w.ordered() {
		return Window{}, errors.New("timeWindow is invalid")
	}
	return w, nil
}

// set makes look-ups in long lists cheap, so that a large document cannot keep
// a verification busy.
func set(list []string) map[string]struct{} {
	out := make(map[string]struct{}, len(list))
	for _, s := range list {
		out[s] = struct{}{}
	}
	return out
}

func in(s string, set map[string]struct{}) bool {
	_, ok := set[s]
	return ok
}
