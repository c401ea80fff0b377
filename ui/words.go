package ui

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"vault/approvals"
	"vault/approvals/bounds"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/plain"
	"vault/approvals/unconfirmed"
	"vault/ui/parts"
)

// safe is a name the owner gave, or a sentence of the desk, with anything that cannot be seen
// marked. Names are cut to a length that cannot push the rest away.
func safe(s string) string {
	short := plain.First(s, 80)
	if short != s {
		short += "…"
	}
	return plain.TerminalLine(short)
}

// short is first 8 … last 8 of a digest.
func short(hex string) string {
	h := strings.TrimPrefix(hex, "0x")
	if len(h) <= 17 {
		return plain.TerminalLine(h)
	}
	return plain.TerminalLine(h[:8] + "…" + h[len(h)-8:])
}

func (u *UI) at(ms int64) time.Time { return time.UnixMilli(ms).In(u.opts.Zone) }

// day writes a date as 31 December 2026.
func day(t time.Time) string { return t.Format("2 January 2006") }

// signed writes a time that is signed.
func signed(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2 January 2006, 15:04") + " UTC"
}

// ago says how long something is past.
func (u *UI) ago(ms int64) string {
	d := u.opts.Now().Sub(time.UnixMilli(ms))
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return day(u.at(ms))
}

// plural writes a count with its unit.
func plural[T int | int64 | uint64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return parts.Number(n) + " " + many
}

// problem is the banner for an error of the desk or the key process.
func problem(err error) *banner {
	var (
		k *keys.Error
		r *approvals.Refusal
	)
	code, what, more := "", "That did not work", "Nothing was changed. "+safe(err.Error())
	switch {
	case errors.As(err, &k):
		code, more = k.Code, "Nothing was changed. "+safe(k.Detail)
	case errors.As(err, &r):
		code, what, more = r.Code, safe(r.Message), "Nothing was changed. "+safe(r.Remedy)
	}
	if s, ok := sentences[code]; ok {
		what, more = s[0], s[1]
	} else if w, m, ok := bounds.Refused(code); ok {
		what, more = w, m
	} else if w, m, ok := unconfirmed.Of(code); ok {
		return &banner{parts.Notice, "info", w, m}
	}
	return &banner{parts.Alarm, "error", what, more}
}

// sentences are the words for the codes of errors: what happened; what did not, and what to do.
var sentences = map[string][2]string{
	"language_text_mismatch": {"That is not the text whose hash was signed", "Nothing was kept. Bring the text of the version that is named, byte for byte: a line ending more is another text."},

	"wrong_passphrase":    {"That passphrase does not open this vault", "Nothing was changed."},
	"cancelled":           {"Nothing was done", "The secret window was closed. Nothing was changed."},
	"no_window":           {"The secret window could not be shown", "Nothing was changed. It needs a display, or use “vault serve” on a terminal."},
	"keyring_timeout":     {"The keyring did not answer", "Nothing was changed and your vault is intact. Unlock the keyring, or use your passphrase."},
	"keyring_locked":      {"Your keyring is locked", "Nothing was changed. Unlock it, then try again."},
	"keyring_refused":     {"The keyring refused this program", "Nothing was changed. Allow Vault there, or use your passphrase."},
	"keyring_no_bus":      {"There is no keyring here", "Nothing was changed. Choose a passphrase; a keyring can be added later."},
	"keyring_no_service":  {"There is no keyring here", "Nothing was changed. Choose a passphrase; a keyring can be added later."},
	"keyring_no_default":  {"There is no keyring yet", "Nothing was changed. Make one in your keyring program, or choose a passphrase."},
	"keyring_needed":      {"This protection needs a keyring", "Nothing was changed. Choose a passphrase; a keyring can be added later."},
	"keyring_value":       {"The keyring holds something else in the vault’s place", "Nothing was changed. Use your recovery words."},
	"key_missing":         {"A vault is here, but its key is not in this keyring", "No new vault was made. Open the right keyring, or use your recovery words."},
	"keyring_not_found":   {"A vault is here, but its key is not in this keyring", "No new vault was made. Open the right keyring, or use your recovery words."},
	"wrong_key":           {"The key in this keyring is not this vault’s", "Nothing was changed. Open the right keyring, or use your recovery words."},
	"sealed_damaged":      {"The sealed file is damaged", "No new vault was made. Restore a copy of it, or use your recovery words."},
	"sealed_missing":      {"The sealed file is gone from this folder", "No new vault was made. Restore a copy of it, or use your recovery words."},
	"vault_exists":        {"There is a vault in this folder already", "No new vault was made."},
	"already_exists":      {"There is a vault in this folder already", "No new vault was made."},
	"other_vault":         {"These words open another vault", "Nothing was changed."},
	"folder_network":      {"This folder is on a network file system", "Nothing was changed. A vault lives on a disk of this computer."},
	"no_passkey":          {"This needs a passkey and none is enrolled", "Nothing was changed. Enrol one in Settings."},
	"locked":              {"The vault is locked", "Nothing was decided. Unlock it, then open the request again."},
	"away":                {"The screen is locked", "Nothing was decided."},
	"read_only":           {"The vault opens for reading only", "Nothing was decided and nothing was signed."},
	"already_decided":     {"This was decided already", "The first decision counts; this one changed nothing."},
	"expired":             {"This request ended before your decision", "Nothing was decided and nothing was signed."},
	"envelope_expired":    {"The envelope ended before your decision", "Nothing was signed."},
	"suspended":           {"This envelope is suspended", "Nothing was signed. How often it was used before this instance of the vault is not known."},
	"uses_spent":          {"The uses of this envelope are spent", "Nothing was signed."},
	"gone":                {"This request has ended", "Nothing was decided."},
	"not_next":            {"Another request came first", "They open one at a time, in the order they came."},
	"another_open":        {"Another request is open", "Decide on it or close it first."},
	"changed":             {"The request changed after it was shown", "Nothing was decided. Open it again to see what it is now."},
	"store_failed":        {"The vault could not write its log", "Nothing was decided and nothing was signed. Look at the disk, then try again."},
	"domain_exists":       {"There is a domain of these names already", "Nothing was made."},
	"not_covered":         {"No signed head covers this entry yet", "Nothing was exported. Unlock the vault, or wait a minute."},
	"unlock_first":        {"The vault is locked", "Nothing was changed. Unlock it first."},
	"file_exists":         {"There is a file of that name already", "Nothing was written."},
	"backup_failed":       {"The backup could not be written", "Nothing is left of it."},
	"name_invalid":        {"That name cannot be used", "Choose another; nothing was decided."},
	"name_taken":          {"Another program has that name", "Choose another; nothing was decided."},
	"recovery_words":      {"Your answer looks like recovery words and was held back", "Nobody who asks for them needs them; nothing was sent"},
	"answer_empty":        {"The answer says nothing", "Nothing was sent"},
	"answer_too_large":    {"The answer is too long", "Nothing was sent"},
	"hatch_disabled":      {"The agent turned this way off", "Nothing was decided."},
	"action_mismatch":     {"This is not the action that the option names", "Nothing was decided and nothing was signed."},
	"action_not_signable": {"This action cannot be signed as an action", "Nothing was decided and nothing was signed."},
	"already_resolved":    {"This was decided already", "The first decision counts; this one changed nothing."},
	"grant_limits":        {"These limits cannot be granted", "Choose a smaller number or an earlier end; nothing was decided."},
	"rolled_back":         {"An older copy of this vault was put back", "Nothing can be signed. If you did this, start a new instance; grants are then suspended."},
	"anchor_missing":      {"The keyring no longer remembers this vault’s log", "Nothing can be signed until you start a new instance."},
	"copied":              {"This folder was copied or moved", "Nothing can be signed here until you start a new instance; grants are then suspended."},
	"folder_moved":        {"This folder was copied or moved", "Nothing can be signed here until you start a new instance; grants are then suspended."},
	"log_damaged":         {"The log is damaged", "Signing has stopped. Export what is here before you do anything else."},
	"snapshot_edited":     {"A summary in the log does not fit the entries before it", "Signing has stopped. Export what is here before you do anything else."},
	"snapshot_missing":    {"A summary is missing from the log", "Signing has stopped. Export what is here before you do anything else."},
	"row_edited":          {"A stored permission was edited from outside", "It permits nothing now. Signing has stopped; export what is here."},
	"permit_not_in_log":   {"A stored permission is one the log does not know", "It permits nothing. Signing has stopped; export what is here."},
	"permit_missing":      {"A permission that the log knows is gone from the store", "Signing has stopped. Export what is here before you do anything else."},
	"read_only_folder":    {"The vault folder cannot be written", "Nothing can be signed. Make the folder writable, then open the vault again."},
	"key_process_ended":   {"The key process ended by itself", "Nothing more is signed. Unlock to start it again; look in Activity first."},
	"unknown_user":        {"There is no such user on this computer", "Nothing was opened. Type the name of an account, or its user id."},
	"own_user":            {"That is the user whom the vault runs as", "Nothing was opened. Programs of this user have the vault’s own socket."},
	"twice":               {"This was done already", "Nothing was changed."},
	"too_many":            {"There are as many as a vault keeps", "Nothing was changed. Remove one first."},
	"unknown_socket":      {"There is no socket for that user", "Nothing was changed."},
	"socket_path_invalid": {"No socket can be made there", "Nothing was opened."},
	"unknown_envelope":    {"This envelope was not asked for since the vault was started", "Nothing was changed. It can be admitted again once an agent asks with it."},
	"readmit_limits":      {"It does not state so many uses", "Nothing was changed. Admit fewer."},
	"newer_format":        {"A newer version of Vault made this folder", "It opens for reading only. Nothing was changed."},
}

// trouble is the banner for what stops the vault.
func trouble(t *approvals.Trouble) *banner {
	s, ok := sentences[t.Code]
	if !ok {
		return &banner{parts.Alarm, "error", "Signing has stopped", safe(t.Detail)}
	}
	if t.Code == "log_damaged" && t.Seq > 0 {
		s[0] = fmt.Sprintf("Entry %s of the log was changed after it was written", parts.Number(t.Seq))
	}
	return &banner{parts.Alarm, "error", s[0], s[1]}
}

// lockWords says why the vault locked.
func lockWords(s approvals.Status) string {
	switch s.LockReason {
	case "idle":
		return fmt.Sprintf("It locked after %s without use. The key process has ended.", plural(s.IdleMS/60000, "minute", "minutes"))
	case "suspend":
		return "It locked when the computer went to sleep. The key process has ended."
	case "":
		return "The key process is not running."
	}
	return "You locked it. The key process has ended."
}

var protections = []struct {
	value            keys.Protection
	name, why, short string
}{
	{keys.ProtectKeyringAndPassphrase, "Keyring and passphrase", "Both are needed. A stolen disk or a program that reads your files opens nothing.", "keyring and passphrase"},
	{keys.ProtectPassphrase, "Passphrase only", "For computers without a keyring. No copy of the log’s end is kept elsewhere here.", "passphrase only"},
	{keys.ProtectKeyring, "Keyring only", "Any program you run can open this vault without asking. No passkey can be enrolled.", "keyring only"},
}

func protectionName(p keys.Protection) string {
	for _, x := range protections {
		if x.value == p {
			return x.name
		}
	}
	return "Not known until the vault is opened"
}

// kindWords says what an entry of the log is, with its icon, and the filter it belongs to.
func kindWords(kind string) (words, icon, group string) {
	if k, ok := kinds[kind]; ok {
		return k[0], k[1], k[2]
	}
	if k, ok := delegateKinds[kind]; ok {
		return k[0], k[1], k[2]
	}
	return strings.ReplaceAll(kind, ".", " "), "info", ""
}

// kinds has the words, the icon and the filter of each kind of entry.
var kinds = map[string][3]string{
	string(journal.KindCreated):           {"The vault was made", "mark", "keys"},
	string(journal.KindInstanceStarted):   {"A new instance began", "mark", "keys"},
	string(journal.KindUnlocked):          {"Unlocked", "unlock", "keys"},
	string(journal.KindLocked):            {"Locked", "lock", "keys"},
	string(journal.KindWordsShown):        {"The recovery words were shown", "hidden", "keys"},
	string(journal.KindProtectionChanged): {"The protection was changed", "key", "keys"},
	string(journal.KindSettingChanged):    {"A setting was changed", "settings", "keys"},
	string(journal.KindDomainCreated):     {"A domain was made", "domain", "keys"},
	string(journal.KindClientPaired):      {"Paired", "agent", "agent"},
	string(journal.KindClientEnded):       {"Ended", "off", "agent"},
	string(journal.KindGrantMade):         {"A grant was made", "grant", "decision"},
	string(journal.KindGrantEnded):        {"A grant was ended", "off", "decision"},
	string(journal.KindActionSigned):      {"Signed", "sign", "signature"},
	string(journal.KindRequestAnswered):   {"Answered", "decline", "decision"},
	string(journal.KindRequestSeen):       {"You opened the sheet", "observed", ""},
	string(journal.KindMomentSeen):        {"You opened the sheet of a decision", "observed", ""},
	string(journal.KindMomentResolved):    {"You resolved a decision", "check", "decision"},
	string(journal.KindMomentDeclined):    {"You declined a decision", "decline", "decision"},
	string(journal.KindMomentEnded):       {"A decision ended unanswered", "clock", "decision"},
	string(journal.KindMomentNoted):       {"Could not be shown as a decision", "info", "decision"},
	string(journal.KindMomentMissed):      {"Selected, not performed", "warning", "decision"},
	string(journal.KindPasskeyAdded):      {"A passkey was enrolled", "key", "keys"},
	string(journal.KindPasskeyRemoved):    {"A passkey was removed", "off", "keys"},
	string(journal.KindPolicyChanged):     {"What needs a person was changed", "settings", "keys"},
	string(journal.KindActConfirmed):      {"Confirmed by passkey", "key", "keys"},
	string(journal.KindSocketAdded):       {"A socket for another user was opened", "agent", "agent"},
	string(journal.KindSocketRemoved):     {"A socket for another user was closed", "off", "agent"},
	string(journal.KindReadmitted):        {"An envelope was admitted again", "key", "keys"},
	string(journal.KindSnapshot):          {"The state was summed up", "file", ""},

	string(journal.KindSeatOpened):              {"A seat was opened", "key", "keys"},
	string(journal.KindSoWPinned):               {"Whose key it is was said", "key", "keys"},
	string(journal.KindSoWKeyBlocked):           {"A key was blocked", "off", "keys"},
	string(journal.KindSoWKeyUnblocked):         {"A key was heard again", "check", "keys"},
	string(journal.KindSoWPreauthorised):        {"An offer was pre-authorised", "grant", "decision"},
	string(journal.KindSoWPreauthorisationGone): {"A pre-authorisation was ended", "off", "decision"},
	string(journal.KindSoWIntent):               {"An agent said its part", "observed", "agent"},
	string(journal.KindSoWSigned):               {"An agreement was signed", "sign", "signature"},
	string(journal.KindSoWActSigned):            {"An act about an agreement was signed", "sign", "signature"},
	string(journal.KindSoWNoted):                {"Something came of an agreement", "info", "decision"},
}
