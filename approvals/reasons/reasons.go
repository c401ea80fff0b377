// Package reasons has the owner's words for why something that an agent sent was
// not shown as a decision, was refused before anybody saw it, or ended unanswered.
// The codes are the agent's (docs/protocol.md); lists show these words, and the code
// stands where an entry or a note is read whole. It decides nothing.
package reasons

import "vault/approvals/moment"

// Note says in one sentence why something could not be shown as a decision.
func Note(reason string) string {
	if s, ok := notes[reason]; ok {
		return s
	}
	return "It does not have the form that a sheet needs; nothing of it was repaired."
}

// Refused says, to follow "Refused:", why a request was refused unseen. It is false for a code without words.
func Refused(reason string) (string, bool) {
	s, ok := refused[reason]
	return s, ok
}

// Ended says, to follow "A decision ended unanswered:", why it did. It is false for a code without words.
func Ended(reason string) (string, bool) {
	s, ok := ended[reason]
	return s, ok
}

var notes = map[string]string{
	"no_envelope":      "It holds no decision.",
	"tool_error":       "Its tool said that it failed.",
	"too_many_open":    "Too many of its decisions were open already.",
	"already_answered": "You answered this before.",

	string(moment.TooLarge):               "It is larger than a sheet can show.",
	string(moment.TooManyFindings):        "It has more findings than a sheet can show.",
	string(moment.TooManyRecommendations): "It has more recommendations than a sheet can show.",
	string(moment.OptionCount):            "It has fewer than two options, or more than four.",
	string(moment.BlankText):              "One of its texts shows nothing.",
	string(moment.MissingMember):          "A part that a sheet needs is missing.",
	string(moment.UnknownMember):          "It has a part that a sheet does not know; nothing of it was left out.",
	string(moment.WrongType):              "One of its parts is of another kind than a sheet needs.",
	string(moment.RecommendedIdxRange):    "It recommends an option that it does not have.",
	string(moment.ActionDigestForm):       "An option names its action in another form than a digest.",
}

var refused = map[string]string{
	"not_shown":                      "no grant covered it, and it did not want to ask you",
	"contradiction":                  "it says something else than its envelope",
	"too_many_requests":              "it asked too much at once",
	"cooling_down":                   "it asked again after requests stayed unanswered",
	"malformed":                      "it was not as a request must be",
	"typed_payload":                  "it was a document that is not signed as an action",
	"unknown_domain":                 "this vault has no such domain",
	"envelope_expired":               "its envelope had ended",
	"not_yet_valid":                  "its envelope had not begun",
	"uses_spent":                     "the uses of its envelope are spent",
	"suspended":                      "its envelope is suspended since a new instance began",
	"request_id_reused":              "its name was used for another request",
	"expired":                        "its time limit had passed",
	"unknown_moment":                 "it names a decision that it did not present",
	"moment_open":                    "the decision that it names was open still",
	string(moment.NotOption):         "no option was selected that would let it be signed",
	string(moment.ActionMismatch):    "it is not the action that you selected",
	string(moment.ActionNotSignable): "its action cannot be signed under the envelope that was shown",
	string(moment.NoSigningEnvelope): "nothing to sign it under was shown with the option",
	string(moment.AlreadyResolved):   "the decision was answered before",
}

var ended = map[string]string{
	"withdrawn": "its session or its agent ended",
	"not_shown": "nobody saw it",
}
