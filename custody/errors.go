package custody

import "errors"

// Error is a refusal with a stable code. The package's refusals are values of
// this type, compared with errors.Is; what surrounds them says where and why.
type Error struct {
	code string
	text string
}

// Error implements error. The text holds nothing that came from outside.
func (e *Error) Error() string { return e.text }

// Code returns the stable code, lower case with underscores.
func (e *Error) Code() string { return e.code }

// CodeOf returns the code of the refusal inside err, or "" where there is none.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.code
	}
	return ""
}

// What the keyring can answer instead of a value.
var (
	// ErrNoBus: this session has no bus, so no keyring can be reached.
	ErrNoBus = &Error{"keyring_no_bus", "keyring: this session has no message bus"}
	// ErrNoService: the bus is there, nothing on it keeps secrets.
	ErrNoService = &Error{"keyring_no_service", "keyring: no keyring service on the message bus"}
	// ErrNoDefault: the keyring service has no keyring in it yet.
	ErrNoDefault = &Error{"keyring_no_default", "keyring: no keyring has been created"}
	// ErrKeyringLocked: the keyring is there and locked.
	ErrKeyringLocked = &Error{"keyring_locked", "keyring: locked"}
	// ErrKeyringTimeout: no answer before the deadline.
	ErrKeyringTimeout = &Error{"keyring_timeout", "keyring: no answer before the deadline"}
	// ErrKeyringRefused: the keyring answered with an error of its own.
	ErrKeyringRefused = &Error{"keyring_refused", "keyring: refused"}
	// ErrKeyringNotFound: the keyring answered, and has no such item.
	ErrKeyringNotFound = &Error{"keyring_not_found", "keyring: no such item"}
	// ErrKeyringValue: the item is there and is not what was stored.
	ErrKeyringValue = &Error{"keyring_value", "keyring: the item is not of the form that was stored"}
	// ErrKeyMissing: a vault is here, its key is not in this keyring.
	ErrKeyMissing = &Error{"key_missing", "a vault is here, but its key is not in this keyring"}
)

// What the sealed file and its folder can answer.
var (
	// ErrNoVault: there is no vault in the folder.
	ErrNoVault = &Error{"no_vault", "no vault in this folder"}
	// ErrExists: a vault, or something left of one, is there already.
	ErrExists = &Error{"vault_exists", "a vault exists in this folder"}
	// ErrSealedMissing: other files of a vault are there, the sealed file is not.
	ErrSealedMissing = &Error{"sealed_missing", "the sealed file is missing from a folder that held a vault"}
	// ErrDamaged: the sealed file is not what was written.
	ErrDamaged = &Error{"sealed_damaged", "the sealed file is damaged"}
	// ErrNewerFormat: the sealed file was written by a later version.
	ErrNewerFormat = &Error{"newer_format", "the sealed file has a newer format than this program reads"}
	// ErrWrongPassphrase: the file is whole, the passphrase does not open it.
	ErrWrongPassphrase = &Error{"wrong_passphrase", "the passphrase does not open this vault"}
	// ErrWrongKey: the file is whole, the key from the keyring does not open it.
	ErrWrongKey = &Error{"wrong_key", "the key in the keyring does not open this vault"}
	// ErrPassphraseNeeded: this protection asks for a passphrase and got none, or one too short or too long.
	ErrPassphraseNeeded = &Error{"passphrase_needed", "a passphrase of 8 to 1024 bytes is needed"}
	// ErrKeyringNeeded: this protection needs a keyring and none was given.
	ErrKeyringNeeded = &Error{"keyring_needed", "this protection needs a keyring"}
	// ErrRolledBack: the sealed file is older than what the keyring remembers.
	ErrRolledBack = &Error{"rolled_back", "the sealed file is older than the keyring remembers"}
	// ErrAnchorMissing: the keyring has forgotten the log's head.
	ErrAnchorMissing = &Error{"anchor_missing", "the log's head is gone from the keyring"}
	// ErrMoved: the folder was copied or moved since it was sealed.
	ErrMoved = &Error{"folder_moved", "the vault folder was copied or moved"}
	// ErrAnchorNotKept: the file was sealed, the keyring did not take the new head.
	ErrAnchorNotKept = &Error{"anchor_not_kept", "the log's head was not written to the keyring"}
	// ErrShareLeft: the protection was changed, the keyring did not let go of the old share.
	ErrShareLeft = &Error{"share_left", "an old share of the key was left in the keyring"}
	// ErrNetworkFolder: the folder is on a network or unknown file system.
	ErrNetworkFolder = &Error{"folder_network", "the vault folder is on a network file system"}
	// ErrFolderUnsafe: the folder is a link, another user's, or open to other users.
	ErrFolderUnsafe = &Error{"folder_unsafe", "the vault folder is a link, belongs to another user, or is open to other users"}
	// ErrFolderUnusable: the folder cannot be looked into, or is absent and cannot be made.
	ErrFolderUnusable = &Error{"folder_unusable", "the vault folder cannot be read, or cannot be made"}
	// ErrLocked: the root is no longer in memory.
	ErrLocked = &Error{"locked", "the vault is locked"}
	// ErrPasskeysNeedPassphrase: no passkey can be kept while the keyring alone opens the vault.
	ErrPasskeysNeedPassphrase = &Error{"passkeys_need_passphrase", "no passkey can be enrolled while the keyring alone opens the vault"}
	// ErrTooLarge: what is to be sealed is larger than the file may be.
	ErrTooLarge = &Error{"sealed_too_large", "the sealed structure is too large"}
)

// What a root or its words can be refused for.
var (
	// ErrRootWeak: all zero, or one byte repeated.
	ErrRootWeak = &Error{"root_weak", "the root is one byte repeated"}
	// ErrWordCount: not 24 words.
	ErrWordCount = &Error{"words_count", "recovery words: 24 are needed"}
	// ErrWordUnknown: a word is not in the English list. [WordError] says which.
	ErrWordUnknown = &Error{"words_unknown", "recovery words: a word is not in the list"}
	// ErrWordsChecksum: each word is in the list, together they are no root.
	ErrWordsChecksum = &Error{"words_checksum", "recovery words: the words do not belong together"}
	// ErrRootHex: the text is not 0x and 64 hex digits.
	ErrRootHex = &Error{"root_hex", "recovery: the text is not 0x and 64 hex digits"}
	// ErrOtherRoot: the words are those of another vault.
	ErrOtherRoot = &Error{"other_root", "recovery: the words are those of another vault"}
)

// Sentence returns what the owner is told for a refusal of this package: whole
// sentences for the secret window, the window and the terminal. Its second
// result is false where the package has no sentence for err.
func Sentence(err error) (string, bool) {
	s, ok := sentences[CodeOf(err)]
	return s, ok
}

var sentences = map[string]string{
	ErrWrongPassphrase.code: "That passphrase does not open this vault. Nothing was changed.",
	ErrWrongKey.code:        "A vault is here, but the key in this keyring does not open it. No new vault was made. Open the right keyring, or use your recovery words.",
	ErrKeyringTimeout.code:  "The keyring did not answer. Nothing was changed and your vault is intact. Unlock the keyring, or use your passphrase.",
	ErrKeyringLocked.code:   "Your keyring is locked. Unlock it, then try again.",
	ErrKeyringRefused.code:  "The keyring refused this program. Nothing was changed. Allow Vault there, or use your passphrase.",
	ErrNoBus.code:           "There is no keyring here. Choose a passphrase; a keyring can be added later.",
	ErrNoService.code:       "There is no keyring here. Choose a passphrase; a keyring can be added later.",
	ErrNoDefault.code:       "There is no keyring here. Choose a passphrase; a keyring can be added later.",
	ErrKeyMissing.code:      "A vault is here, but its key is not in this keyring. No new vault was made. Open the right keyring, or use your recovery words.",
	ErrDamaged.code:         "The sealed file is damaged. No new vault was made. Restore a copy of it, or use your recovery words.",
	ErrSealedMissing.code:   "The sealed file is missing. No new vault was made. Restore a copy of it, or use your recovery words.",
	ErrNewerFormat.code:     "This vault was written by a newer version of Vault. Nothing was changed. Install that version to open it.",
	ErrOtherRoot.code:       "These words open another vault. Nothing was changed.",
	ErrRolledBack.code:      "These files are older than the keyring remembers. Nothing can be signed until you start a new instance.",
	ErrAnchorMissing.code:   "The keyring no longer remembers the head of this log. Nothing can be signed until you start a new instance.",
	ErrMoved.code:           "This vault folder was copied or moved. Nothing can be signed until you start a new instance.",
	ErrWordCount.code:       "24 words are needed. Nothing was changed.",
	ErrWordsChecksum.code:   "These words do not belong together. Look at your paper and try again. Nothing was changed.",
}
