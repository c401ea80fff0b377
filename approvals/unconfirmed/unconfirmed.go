// Package unconfirmed has the owner's sentences for why a passkey confirmed
// nothing: one for each word of a ceremony, each code of an answer that was refused,
// and each refusal that is known before anybody is asked. It decides nothing, and
// has no words for anything that was done.
package unconfirmed

// Of gives what happened, and what did not with what to do, both of them words of
// ours without a full stop at the end of what. It is false for a code that is none of a ceremony's.
func Of(code string) (what, more string, ok bool) {
	if s, known := endings[code]; known {
		return s[0], s[1], true
	}
	if s, known := refused[code]; known {
		return "Not accepted: " + s, again, true
	}
	return "", "", false
}

// Again says whether the same can be asked anew after that code: the page did not come to an answer, or the answer was not
// taken. It is false where something else has to happen first, and for codes that Of does not know.
func Again(code string) bool {
	switch code {
	case "ceremony_open", "cooling", "no_passkey", "name_refused", "already_there", "last_passkey", "passkey_once", "unknown_passkey",
		"nothing_pending", "passkeys_need_passphrase", "credential_enrolled":
		return false
	}
	_, _, ok := Of(code)
	return ok
}

// Codes are all codes that Of knows.
func Codes() []string {
	var out []string
	for c := range endings {
		out = append(out, c)
	}
	for c := range refused {
		out = append(out, c)
	}
	return out
}

const (
	again  = "Nothing was signed. Start again from the sheet."
	asLeft = "Nothing was decided; the sheet is as you left it."
)

// endings are the words of a ceremony that brought no answer, or did not begin.
var endings = map[string][2]string{
	"cancelled":                {"The passkey was not used", asLeft},
	"page_closed":              {"The page was closed", asLeft},
	"contested":                {"Contested: the page was opened twice", "Nothing was decided. If you did not open it twice, another program has the link. Start again from the sheet."},
	"not_opened":               {"The page was not opened in time", asLeft},
	"timed_out":                {"The passkey did not answer in time", asLeft},
	"not_same":                 {"The digits were not the same", "Nothing was decided. What you saw was not this vault’s page. Start again from the sheet."},
	"name_refused":             {"This browser does not take the vault’s own name", "Nothing was decided. The vault can be known there as localhost, a name that other pages of this computer share."},
	"no_means":                 {"This browser has no passkey that works here", "Nothing was decided. Try a security key with a PIN, or another browser."},
	"already_there":            {"This passkey is enrolled already", "Nothing was changed. Use another one."},
	"page_differs":             {"Not accepted: the page was changed", again},
	"no_port":                  {"No page could be served on this computer", asLeft},
	"line_ended":               {"The program that serves the page ended", asLeft},
	"ceremony_open":            {"Another confirmation is open", "Nothing was decided. Finish it or go back from it first."},
	"cooling":                  {"Two confirmations of this program were not answered", "Nothing was decided. It can be confirmed again in a few minutes; the request keeps its place."},
	"no_passkey":               {"This needs a passkey and none is enrolled", "Add one in Settings; the request keeps its place."},
	"passkey_needed":           {"This needs a passkey", asLeft},
	"not_confirmed":            {"The confirmation is over", asLeft},
	"other_act":                {"Not accepted: it confirmed another act", again},
	"last_passkey":             {"The last passkey is not removed", "Nothing was changed. Enrol another one first."},
	"passkey_once":             {"The first passkey of a vault is enrolled once", "Nothing was changed. Where all are lost, the 24 words bring the vault back."},
	"unknown_passkey":          {"No such passkey is enrolled", "Nothing was changed."},
	"nothing_pending":          {"No new passkey waits to answer", "Nothing was changed. Begin anew."},
	"passkeys_need_passphrase": {"This vault opens without a passphrase", "Nothing was changed. Choose a protection with a passphrase first; then a passkey can be enrolled."},
}

// refused are the codes of an answer that the key process did not take. One that came too late is "timed_out".
var refused = map[string]string{
	"malformed":           "it is not an answer of this vault’s page",
	"unknown_credential":  "this passkey is not enrolled",
	"wrong_type":          "it answers another question",
	"wrong_challenge":     "it answers for something else than was shown",
	"wrong_origin":        "it came from another page",
	"framed":              "the page stood inside another one",
	"wrong_rp_id":         "the passkey answered for another name",
	"not_present":         "the passkey says that nobody was there",
	"not_verified":        "the passkey did not verify who used it",
	"wrong_signature":     "the signature is not the enrolled passkey’s",
	"too_early":           "the answer is older than the question",
	"counter_back":        "the passkey’s counter went back, as a copy’s would",
	"backup_changed":      "the passkey says something else of its backup than at enrolment",
	"unsupported_key":     "the passkey’s key is of a kind that the vault does not use",
	"credential_enrolled": "this passkey is enrolled already",
}
