// Package secret is the line between the key process and the secret window:
// the only place where passphrases and recovery words are typed and shown. The
// window is a short-lived process of its own (as a pinentry is), started by the
// key process, which talks to it over an inherited socketpair.
//
// The key process holds a [Window]; the helper calls [Serve] with a [Prompter],
// which draws. The package draws nothing, keeps nothing, and knows neither
// roots nor files.
//
// Who wipes what: on the key process's side answers are read straight into memory
// that the caller gives (locked pages). On the helper's side Serve wipes every
// slice that a Prompter returns or was given as soon as the call is over; what
// a toolkit keeps of a text field goes when the helper ends, which it does as
// soon as its one conversation is over.
package secret

import (
	"errors"

	"vault/internal/passphrase"
)

// Form names what the window shows.
type Form string

// The forms.
const (
	FormNewPassphrase Form = "new_passphrase" // typed twice
	FormPassphrase    Form = "passphrase"     // typed once
	FormShowWords     Form = "show_words"     // the 24 recovery words, to be written down
	FormAskWords      Form = "ask_words"      // some of them asked back
	FormRestore       Form = "restore"        // 24 words, or 0x and 64 hex digits
)

// Purpose says why something is asked; the window has a sentence for each.
type Purpose string

// The purposes.
const (
	ForCreate     Purpose = "create"
	ForUnlock     Purpose = "unlock"
	ForRestore    Purpose = "restore"
	ForBackupFile Purpose = "restore_backup" // the passphrase of the backup file that is restored
	ForProtection Purpose = "protection"     // what opens the vault is changed
	ForWords      Purpose = "words"          // the recovery words are to be shown
	ForBackup     Purpose = "backup"         // a passphrase for a backup file
	ForProve      Purpose = "prove"          // an approval at the terminal
	ForInstance   Purpose = "instance"       // a new instance is to be started
	ForPasskey    Purpose = "passkey"        // the first passkey of a root is to be enrolled
)

// Problem says what was wrong with the answer before; the window has a
// sentence for each and asks again.
type Problem string

// The problems.
const (
	NoProblem       Problem = ""
	WrongPassphrase Problem = "wrong_passphrase"      // it does not open this vault; nothing was changed
	TooShort        Problem = passphrase.TooShort     // fewer than MinPassphrase characters
	TooLong         Problem = passphrase.TooLong      // more than MaxAnswer bytes
	OneCharacter    Problem = passphrase.OneCharacter // one character over and over
	NotText         Problem = passphrase.NotText      // not UTF-8
	WrongWord       Problem = "wrong_word"            // the word asked back is another one; see Ask.Place
	BadWords        Problem = "bad_words"             // not 24 words of the list, or their check does not fit
	BadRoot         Problem = "bad_root"              // hex that no vault would have made
	OtherVault      Problem = "other_vault"           // the words open another vault; see Ask.Vault
)

// Limits of what is typed.
const (
	MinPassphrase = passphrase.Min // characters
	MaxAnswer     = passphrase.Max // bytes
)

// Ask is one question to the person. It holds no secret.
type Ask struct {
	Form    Form    `json:"form"`
	Purpose Purpose `json:"purpose"`
	Problem Problem `json:"problem,omitempty"`
	Place   int     `json:"place,omitempty"`  // wrong_word: which word, from 1; 0 for bad_words where it is not known
	Places  []int   `json:"places,omitempty"` // ask_words: which words, from 1, in the order to be asked
	Digest  string  `json:"digest,omitempty"` // prove: 0x and 64 hex digits; the window shows the four words that stand for it
	Vault   string  `json:"vault,omitempty"`  // id of the vault concerned, as the pages show it, or empty
	Demo    bool    `json:"demo,omitempty"`   // a throw-away vault: the window says so
}

// Answers of a Prompter other than what was asked for.
var (
	// ErrCancelled says that the person closed or cancelled the window: nothing is decided.
	ErrCancelled = errors.New("secret window: cancelled")
	// ErrBack says that the person wants to see the words again (ask_words only).
	ErrBack = errors.New("secret window: back")
	// ErrClosed says that the other end is gone.
	ErrClosed = errors.New("secret window: closed")
	// ErrNoWindow says that the form could not be drawn here (no display, no terminal).
	ErrNoWindow = errors.New("secret window: cannot be shown")
)

// CheckPassphrase says why a new passphrase is not taken, or NoProblem. It
// keeps no copy.
func CheckPassphrase(p []byte) Problem { return Problem(passphrase.Check(p)) }
