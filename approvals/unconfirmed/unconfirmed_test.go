package unconfirmed_test

import (
	"strings"
	"testing"

	"vault/approvals/unconfirmed"
)

// The words that end a ceremony without an answer, and the codes of refused answers, as they cross the line to the desk.
func TestEveryEndingHasWords(t *testing.T) {
	for _, code := range []string{
		"cancelled", "page_closed", "contested", "not_opened", "timed_out", "not_same", "name_refused", "no_means",
		"already_there", "page_differs", "no_port", "line_ended", "ceremony_open", "cooling",
		"malformed", "unknown_credential", "wrong_type", "wrong_challenge", "wrong_origin", "framed", "wrong_rp_id",
		"not_present", "not_verified", "wrong_signature", "too_early", "counter_back", "backup_changed", "unsupported_key",
		"credential_enrolled", "no_passkey", "passkey_needed", "not_confirmed", "other_act", "last_passkey", "passkey_once",
		"unknown_passkey", "nothing_pending", "passkeys_need_passphrase",
	} {
		what, more, ok := unconfirmed.Of(code)
		if !ok || what == "" || more == "" {
			t.Errorf("%s has no words", code)
		}
	}
}

// What was done, and what ended for another reason, is not explained as a passkey's.
func TestOtherCodesHaveNone(t *testing.T) {
	for _, code := range []string{"", "done", "declined", "expired", "locked", "already_decided"} {
		if _, _, ok := unconfirmed.Of(code); ok {
			t.Errorf("%q is explained", code)
		}
	}
}

func TestWordsSayWhatDidNotHappen(t *testing.T) {
	for _, code := range unconfirmed.Codes() {
		what, more, _ := unconfirmed.Of(code)
		if strings.HasSuffix(what, ".") || !strings.HasSuffix(more, ".") {
			t.Errorf("%s: %q, %q", code, what, more)
		}
		if code != "no_passkey" && !strings.Contains(more, "Nothing was") {
			t.Errorf("%s does not say what did not happen: %q", code, more)
		}
		for _, word := range []string{"invalid", "failed", "illegal", "sorry", "please", "secure", "!"} {
			if strings.Contains(strings.ToLower(what+more), word) {
				t.Errorf("%s says %q", code, word)
			}
		}
	}
}

// Where something else has to happen first, the page is not offered again.
func TestAgain(t *testing.T) {
	for code, want := range map[string]bool{
		"cancelled": true, "page_closed": true, "timed_out": true, "not_opened": true, "contested": true, "wrong_challenge": true,
		"cooling": false, "no_passkey": false, "ceremony_open": false, "name_refused": false, "last_passkey": false, "": false, "done": false, "declined": false,
	} {
		if got := unconfirmed.Again(code); got != want {
			t.Errorf("%q: %v", code, got)
		}
	}
}
