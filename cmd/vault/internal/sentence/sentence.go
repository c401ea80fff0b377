// Package sentence has what an owner at a terminal is told for each stable code:
// what happened and what did not, and what to do. It holds no text from outside.
package sentence

// Of gives the sentence and the remedy of a code, and false where there is none.
func Of(code string) (sentence, remedy string, ok bool) {
	for _, r := range table {
		if r.code == code {
			return r.sentence, r.remedy, true
		}
	}
	return "", "", false
}

type row struct{ code, sentence, remedy string }

var table = []row{
	// Of this program.
	{"usage", "The command was not understood. Nothing was done.", "See vault help."},
	{"no_terminal", "This needs a terminal: what comes from a pipe or a file decides nothing.", "Run it in a terminal."},
	{"no_window", "This build has no window.", "Run vault serve in a terminal, or install the build with a window."},
	{"no_display", "No display answers, so there is no window.", "Run vault serve in a terminal."},
	{"key_process_missing", "The program vault-key is not beside vault. Nothing was started.", "Install both programs in one folder."},
	{"key_process_ended", "The key process has ended. Nothing was signed.", "Unlock the vault again."},
	{"traced", "Another program is tracing this one. It has ended without opening anything.", "End the other program, then start again."},
	{"in_use", "A vault is open on this folder already.", "Use its window, or end it first."},
	{"not_running", "No vault is open on this folder.", "Start vault, or vault serve."},
	{"another_open", "Another request is open. Nothing was decided.", "Decide on it or close it first."},
	{"not_next", "Another request came first. Nothing was decided.", "They open one at a time, in the order they came."},
	{"gone", "This request has ended, or there is none of that name. Nothing was decided.", "Run vault pending."},
	{"no_home", "There is no home folder to keep the vault in. Nothing was opened.", "Set HOME, or name a folder with VAULT_HOME."},
	{"socket_in_use", "The socket's path is taken by another program.", "End that program, or name another path with VAULT_SOCK."},
	{"socket_path", "The socket cannot be made at its path. Agents cannot connect.", "Run vault doctor; it names what is wrong with the path."},
	{"no_socket", "No vault answers on the socket.", "Start vault or vault serve, and see that VAULT_SOCK names its socket."},
	{"not_a_socket_of_ours", "What answers on the socket is not the vault this program is paired with. Nothing was sent.", "See that VAULT_SOCK names the right socket."},
	{"not_a_sow", "The file cannot be read as what it was given for. Nothing was checked.", "Give an Agent SoW document of at most 1 MiB, or a bundle of a vault."},
	{"not_a_card", "The file is no owner card. Nothing was checked.", "Give the card as its owner exported it."},
	{"no_identifier", "No identifier was made. Nothing was written.", "Fill in a draft of version 1 that nobody has signed."},
	{"language_text_mismatch", "The text is not the one whose hash the document was signed with. Nothing was shown.", "Give the text of the language version that is named, byte for byte."},
	{"file_exists", "That file exists. Nothing was written.", "Name a new file."},
	{"file_unreadable", "The file cannot be read. Nothing was checked.", "Give regular files of at most 8 MiB that you may read."},
	{"file_unwritable", "The file cannot be written. Nothing was changed.", "Name a new file in a folder that you may write."},
	{"digits_differ", "The number is not the one the vault shows. Nothing was paired.", "Start again, and look for a program between this one and the vault."},
	{"internal", "This could not be done. Nothing was decided.", "Run vault doctor."},

	// Of the desk.
	{"locked", "The vault is locked. Nothing was decided.", "Unlock it."},
	{"away", "The screen is locked. Nothing was decided.", "Unlock the screen."},
	{"read_only", "The vault is open for reading only. Nothing was signed.", "Look at status; start a new instance if it says so."},
	{"expired", "This request ended unanswered. Nothing was decided and nothing was signed.", "The agent can ask again."},
	{"no_passkey", "This needs a passkey and none is enrolled. Nothing was decided.", "Enroll one in the window's Settings, or with the word enrol in vault serve."},
	{"passkey_needed", "This needs a passkey. Nothing was decided.", "Confirm it where the vault opens its page."},
	{"ceremony_open", "Another confirmation is open. Nothing was decided.", "End that one first."},
	{"cooling", "Two confirmations for this program were not answered. Nothing was decided.", "Wait five minutes."},
	{"page_closed", "The page was closed. Nothing was decided.", "Start again; the request keeps its place."},
	{"contested", "The page was opened twice, so neither counts. Nothing was decided.", "Look for a program that opens pages of its own, then start again."},
	{"not_opened", "The page was not opened in time. Nothing was decided.", "Start again, and open the page that is named."},
	{"timed_out", "The passkey did not answer in time. Nothing was decided.", "Start again with the passkey at hand."},
	{"not_same", "The digits were not the same. Nothing was changed.", "Look for another page or program that answered, then start again."},
	{"name_refused", "The browser does not take the vault's own name. Nothing was changed.", "Try the other name, or another browser."},
	{"no_means", "This browser has no passkey that works here. Nothing was changed.", "Plug in a security key, or use another browser."},
	{"no_browser", "No page can be shown here. Nothing was decided.", "Run it where a browser can be opened."},
	{"already_there", "This passkey is enrolled already. Nothing was changed.", "Use another one."},
	{"page_differs", "What the page showed is not what was asked. Nothing was decided.", "Update your browser, and look at its extensions."},
	{"no_port", "No page could be served on this computer. Nothing was decided.", "Look at the firewall, then start again."},
	{"line_ended", "The page's helper ended. Nothing was decided.", "Start again."},
	{"not_confirmed", "The confirmation is over. Nothing was decided.", "Start again."},
	{"other_act", "What was confirmed is not what was to be done. Nothing was decided.", "Start again; if it happens twice, run vault log verify."},
	{"unknown_credential", "The passkey that answered is not one of this vault's. Nothing was decided.", "Use an enrolled one."},
	{"not_verified", "The passkey did not verify you. Nothing was decided.", "Use its PIN or fingerprint."},
	{"counter_back", "The passkey counts backwards: there may be a copy of it. Nothing was decided.", "Remove it with another passkey."},
	{"last_passkey", "The last passkey is not removed. Nothing was changed.", "Enrol another first."},
	{"passkey_once", "A first passkey was enrolled before under this root. Nothing was changed.", "Restore from the recovery words; then one can be enrolled again."},
	{"passkeys_need_passphrase", "The keyring alone opens this vault, so it keeps no passkeys. Nothing was changed.", "Choose a protection with a passphrase first."},
	{"store_failed", "The vault could not write to its store, and has locked itself. Nothing was signed.", "Look at the disk, then unlock."},
	{"malformed", "What was typed cannot be taken. Nothing was made.", "Type it again."},
	{"store_damaged", "The vault's store is damaged. Nothing was opened and nothing was changed.", "Restore a backup, or your recovery words, in another folder (VAULT_HOME); the addresses stay the same."},
	{"row_edited", "A row of the store is not as the vault wrote it. It was not used.", "Export the log before anything else."},
	{"permit_not_in_log", "A permit in the store is not in the log. It was not used.", "Export the log before anything else."},
	{"log_damaged", "The log is not as the vault wrote it. Signing has stopped.", "Export what is here before anything else."},

	// Of the key process: what opens the vault.
	{"cancelled", "Cancelled. Nothing was changed.", "Start again when you are ready."},
	{"wrong_passphrase", "That passphrase does not open this vault. Nothing was changed.", "Type it again."},
	{"no_passphrase", "This vault has no passphrase, so nothing can be approved on a terminal.", "Use the window."},
	{"passphrase_needed", "A passphrase is needed. Nothing was changed.", "Start again and type one."},
	{"keyring_needed", "This protection needs a keyring and none answers.", "Choose a passphrase; a keyring can be added later."},
	{"keyring_timeout", "The keyring did not answer. Nothing was changed and your vault is intact.", "Unlock the keyring, or use your passphrase."},
	{"keyring_locked", "Your keyring is locked.", "Unlock it, then try again."},
	{"keyring_refused", "The keyring refused this program. Nothing was changed.", "Allow Vault there, or use your passphrase."},
	{"keyring_no_bus", "There is no keyring here.", "Choose a passphrase; a keyring can be added later."},
	{"keyring_no_service", "There is no keyring here.", "Choose a passphrase; a keyring can be added later."},
	{"keyring_no_default", "There is no keyring here.", "Choose a passphrase; a keyring can be added later."},
	{"keyring_value", "What the keyring holds for this vault is not what was stored.", "Use your recovery words."},
	{"key_missing", "A vault is here, but its key is not in this keyring. No new vault was made.", "Open the right keyring, or use your recovery words."},
	{"wrong_key", "A vault is here, but the key in this keyring does not open it. No new vault was made.", "Open the right keyring, or use your recovery words."},
	{"no_vault", "No vault exists in this folder.", "Create one, or restore one from its words."},
	{"vault_exists", "A vault is here already. No new vault was made.", "Unlock it, or use another folder."},
	{"sealed_missing", "The sealed file is missing. No new vault was made.", "Restore a copy of it, or use your recovery words."},
	{"sealed_damaged", "The sealed file is damaged. No new vault was made.", "Restore a copy of it, or use your recovery words."},
	{"newer_format", "This vault was written by a newer version of Vault. Nothing was changed.", "Install that version to open it."},
	{"rolled_back", "These files are older than what is remembered of them. Nothing can be signed.", "Put the newer files back, or start a new instance."},
	{"anchor_missing", "The keyring no longer remembers the head of this log. Nothing can be signed.", "Start a new instance."},
	{"folder_moved", "This vault folder was copied or moved. Nothing can be signed.", "Start a new instance."},
	{"copied", "This vault folder was copied or moved. Nothing can be signed.", "Start a new instance."},
	{"folder_network", "The vault's folder is on a network file system, where the lock that keeps one vault open would not hold.", "Name a folder on a local disk with VAULT_HOME."},
	{"folder_unsafe", "The vault's folder is a link, belongs to another user, or is open to other users. Nothing was opened.", "Give it mode 0700 and your own user, or name another with VAULT_HOME."},
	{"folder_unusable", "The vault's folder cannot be read, or cannot be made. Nothing was changed.", "Name another with VAULT_HOME."},
	{"anchor_not_kept", "The head of the log was not written to the keyring.", "Unlock the keyring, then lock and unlock the vault."},
	{"share_left", "An old share of the key was left in the keyring.", "Remove it there."},
	{"not_backup", "That file is no backup of a vault, or not a whole one. Nothing was restored.", "Name another copy of it."},
	{"backup_unreadable", "The backup cannot be read, or what is in it cannot be written here. Nothing was restored.", "Look at the file and at the disk."},
	{"other_root", "These words open another vault. Nothing was changed.", "Look at your paper and try again."},
	{"words_count", "24 words are needed. Nothing was changed.", "Look at your paper and try again."},
	{"words_unknown", "A word is not in the list. Nothing was changed.", "Look at your paper and try again."},
	{"words_checksum", "These words do not belong together. Nothing was changed.", "Look at your paper and try again."},
	{"root_hex", "That is not 0x and 64 hex digits. Nothing was changed.", "Type the words, or the hex, again."},
	{"root_weak", "No vault would have made that root. Nothing was changed.", "Look at your paper and try again."},
}
