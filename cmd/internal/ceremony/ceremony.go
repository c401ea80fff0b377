// Package ceremony is the line between the key process and the ceremony helper:
// a short-lived process that serves one page on one loopback port for one act,
// has a browser open it, and sends back what the passkey answered.
//
// The key process holds a [Line]. It learns the page's origin first, makes the
// context from it with its own words, clock and nonce, and verifies the answer
// itself (vault/derive/confirm/answer): the helper is trusted with showing, not
// with deciding. The helper's half is package page, which alone knows HTTP.
//
// This package parses no answer, keeps no passkey, and decides nothing.
package ceremony

import (
	"encoding/hex"
	"strings"
)

// MaxSeconds is the longest a ceremony lasts, from the page's start to its end.
const MaxSeconds = 120

// FallbackRPID is the RP ID for a browser that does not take the vault's own name.
const FallbackRPID = "localhost"

// RPID returns the RP ID of a vault: "vault-", the first 8 hex digits of its id
// (lower-case hex, at least 4 bytes), and ".localhost". It is empty if the id is not that.
// Section 6: browsers take such a name for this computer, and refuse it to other pages here.
func RPID(vault string) string {
	if _, err := hex.DecodeString(vault); err != nil || len(vault) < 8 || strings.ToLower(vault) != vault {
		return ""
	}
	return "vault-" + vault[:8] + ".localhost"
}

// IsRPID says whether a page may be served under the name: one that [RPID]
// gives, or [FallbackRPID].
func IsRPID(name string) bool {
	id, ok := strings.CutPrefix(strings.TrimSuffix(name, ".localhost"), "vault-")
	return name == FallbackRPID || ok && len(id) == 8 && RPID(id) == name
}

// Task is what the page is for: exactly one of Context and Enrol is set.
type Task struct {
	// Context is the canonical text of a confirmation's context.
	Context string `json:"context,omitempty"`
	// Challenge is SHA-256 of Context, unpadded base64url. The page makes it anew from
	// what it shows and compares.
	Challenge string `json:"challenge,omitempty"`
	Enrol     *Enrol `json:"enrol,omitempty"`
	// Credentials are the passkeys that may answer, or, in an enrolment, those
	// that may not be enrolled again.
	Credentials []Credential `json:"credentials"`
	// Ends is when the page stops, milliseconds since epoch: the end of the context, and
	// never more than [MaxSeconds] away.
	Ends int64 `json:"ends"`
}

// Enrol asks for a new passkey.
type Enrol struct {
	Challenge string `json:"challenge"` // 32 bytes drawn for this, unpadded base64url
	// UserID is 32 random bytes, unpadded base64url, drawn for this passkey: another
	// page on this computer cannot replace a passkey whose user id it does not know.
	UserID string   `json:"user_id"`
	Name   string   `json:"name"` // of the account, as the passkey's keeper lists it
	Says   []string `json:"says"` // lines the page shows
}

// Credential names an enrolled passkey.
type Credential struct {
	ID         string   `json:"id"` // unpadded base64url
	Transports []string `json:"transports,omitempty"`
}

// Event is something that the owner's window may show while the page is open.
type Event struct {
	Kind EventKind `json:"kind"`
	// Link, with [NoBrowser], is the address of the page. It works once, and whoever of this
	// account has it can open the page.
	Link string `json:"link,omitempty"`
	// Forward, with [NoBrowser] in a session over SSH, is the command to type
	// on the owner's own computer before opening the link there.
	Forward string `json:"forward,omitempty"`
	// Digits, with [Compare], are six decimal digits.
	Digits string `json:"digits,omitempty"`
	Detail string `json:"detail,omitempty"` // why no browser was opened, for a log or `vault doctor`
}

// EventKind names an event.
type EventKind string

// The events.
const (
	// Ready: the page is served under Link, and a browser is being asked to open it.
	Ready EventKind = "ready"
	// NoBrowser: no browser took the page so far. It can still be opened with the link.
	NoBrowser EventKind = "no_browser"
	// Opened: a page presented the token, and the user behind it is the vault's.
	Opened EventKind = "opened"
	// Compare: a page presented the token, and this system does not tell whose it
	// is. The owner compares the digits in window and page; [Line.Compared] goes on.
	Compare EventKind = "compare"
	// Asking: the page has asked the browser for a passkey.
	Asking EventKind = "asking"
)

// Outcome is why a ceremony ended without an answer. It is an error.
type Outcome string

// The outcomes. After each of them nothing is decided.
const (
	Cancelled    Outcome = "cancelled"     // on the page, in the browser's dialog, or by the passkey
	PageClosed   Outcome = "page_closed"   // the page or the browser was closed or loaded again
	Contested    Outcome = "contested"     // the token was presented twice, or the page opened twice
	NotOpened    Outcome = "not_opened"    // no page came in time
	TimedOut     Outcome = "timed_out"     // the page came, and no answer in time
	NotSame      Outcome = "not_same"      // the owner saw other digits on the page
	NameRefused  Outcome = "name_refused"  // the browser does not take this RP ID
	NoMeans      Outcome = "no_means"      // the browser has no passkeys, or none of the vault's kinds
	AlreadyThere Outcome = "already_there" // enrolment: this passkey is enrolled already
	PageDiffers  Outcome = "page_differs"  // the page found that what it shows is not what is asked
	NoPort       Outcome = "no_port"       // the helper could not listen
	LineEnded    Outcome = "line_ended"    // the helper has gone, or did not keep to the line
)

var sentences = map[Outcome]string{
	Cancelled:    "the passkey was not used",
	PageClosed:   "the page was closed",
	Contested:    "the page was opened twice",
	NotOpened:    "the page was not opened in time",
	TimedOut:     "the passkey did not answer in time",
	NotSame:      "the digits were not the same",
	NameRefused:  "the browser does not take the vault's name",
	NoMeans:      "this browser has no passkey that works here",
	AlreadyThere: "this passkey is enrolled already",
	PageDiffers:  "the page was changed",
	NoPort:       "no page could be served on this computer",
	LineEnded:    "the ceremony helper ended",
}

// Error returns the reason in words.
func (o Outcome) Error() string {
	if s, ok := sentences[o]; ok {
		return "ceremony: " + s
	}
	return "ceremony: ended"
}

// known says whether the outcome is one of the list.
func (o Outcome) known() bool {
	_, ok := sentences[o]
	return ok
}

// Verdict is what the key process found, for the page to show.
type Verdict struct {
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason,omitempty"` // where not accepted: a sentence without a full stop
}
