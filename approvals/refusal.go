package approvals

import (
	"errors"

	"vault/approvals/agreement"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/moment"
)

// Codes of a [Refusal]. They are stable; docs/protocol.md lists them.
const (
	CodeNoVault           = "no_vault"
	CodeLocked            = "locked"
	CodeReadOnly          = "read_only"
	CodeNotPaired         = "not_paired"
	CodeNotProven         = "not_proven"
	CodeBlocked           = "blocked"
	CodeRevoked           = "revoked"
	CodeOtherUser         = "other_user"
	CodeMalformed         = "malformed"
	CodeTypedPayload      = "typed_payload"
	CodeUnknownDomain     = "unknown_domain"
	CodeEnvelopeExpired   = "envelope_expired"
	CodeNotYetValid       = "not_yet_valid"
	CodeUsesSpent         = "uses_spent"
	CodeNotShown          = "not_shown"
	CodeDeclined          = "declined"
	CodeExpired           = "expired"
	CodeCancelled         = "cancelled"
	CodeWithdrawn         = "withdrawn"
	CodeRefused           = "refused"
	CodeTooMany           = "too_many_requests"
	CodeCoolingDown       = "cooling_down"
	CodeRequestIDReused   = "request_id_reused"
	CodeUnknownRequest    = "unknown_request"
	CodeUnknownPairing    = "unknown_pairing"
	CodePairingCommitment = "pairing_commitment"
	CodeStoreFailed       = "store_failed"
	CodeKeysEnded         = "key_process_ended"
	CodeRowEdited         = "row_edited"
	CodePermitNotInLog    = "permit_not_in_log"
	CodeAway              = "away"
	CodeInternal          = "internal"
	CodeUnknownMoment     = "unknown_moment"
	CodeMomentOpen        = "moment_open"
	CodeMomentDiffers     = "moment_differs"
	CodeUnknownAsk        = "unknown_question"
	CodeAskAnswered       = "question_answered"
)

// CodeClockBehind is a code of the key process that a bot may be told.
const CodeClockBehind = keys.CodeClockBehind

// words are the sentences of each code: what happened, and what to do.
var words = map[string][2]string{
	CodeNoVault:           {"There is no vault here yet.", "Ask the owner to create one."},
	CodeLocked:            {"The vault is locked. Nobody was asked.", "Ask again when the owner has unlocked it."},
	CodeReadOnly:          {"The vault is open for reading only.", "Ask the owner to look at the vault's window."},
	CodeNotPaired:         {"This program is not paired with the vault.", "Pair first."},
	CodeNotProven:         {"The proof is not the one of this client's secret.", "Pair again if the secret is lost."},
	CodeBlocked:           {"The owner has blocked this program.", "Only the owner can lift it, in Agents."},
	CodeRevoked:           {"The owner has ended this pairing.", "Pair again."},
	CodeOtherUser:         {"This client was paired by another user of the machine.", "Pair again as this user."},
	CodeMalformed:         {"The request is not as it must be.", "See the detail in data and the protocol's description."},
	CodeTypedPayload:      {"The payload is an AgentEnvelope document; those are not signed as actions.", "Send the action itself."},
	CodeUnknownDomain:     {"The vault has no such domain.", "Take a domain from domain.list."},
	CodeEnvelopeExpired:   {"The action envelope's window has ended.", "Make an envelope with a later end."},
	CodeNotYetValid:       {"The action envelope's window has not begun.", "Ask again when it has."},
	CodeSuspended:         {"Earlier uses of this envelope are not known to this instance of the vault. Nobody was asked.", "Ask the owner to admit it again, or make an envelope that begins now."},
	CodeUsesSpent:         {"All uses of this action envelope are spent.", "Make an envelope with another action index."},
	CodeNotShown:          {"Nobody saw this request. This is not a no.", "Ask interactively if a person should see it."},
	CodeDeclined:          {"A person declined.", "Do not ask the same again without a reason."},
	CodeExpired:           {"The time limit passed first. Nothing was decided.", "Ask again with a new request id."},
	CodeCancelled:         {"The request was cancelled by the client.", "Ask again with a new request id."},
	CodeWithdrawn:         {"The session or connection of the request ended first. Nothing was decided.", "Ask again with a new request id."},
	CodeRefused:           {"The request was refused before anybody saw it.", "Ask again later, with a new request id."},
	CodeTooMany:           {"Too many requests are open or came too fast.", "Wait for the open ones to end."},
	CodeCoolingDown:       {"Earlier requests of this client stayed unanswered.", "Wait before asking again."},
	CodeRequestIDReused:   {"This request id was used for something else.", "Take a new request id."},
	CodeUnknownRequest:    {"The vault knows no such request of this client.", "Check the request id."},
	CodeUnknownPairing:    {"There is no such pairing on this connection.", "Begin the pairing again."},
	CodePairingCommitment: {"The nonce is not the one of the commitment.", "Begin the pairing again."},
	CodeStoreFailed:       {"The vault could not write to its store, and has locked itself. Nothing was signed.", "Ask the owner to look at the disk."},
	CodeKeysEnded:         {"The key process has ended. Nothing was signed.", "Ask the owner to unlock the vault."},
	CodeRowEdited:         {"A row of the store is not as the vault wrote it. It was not used.", "Ask the owner to look at the vault's window."},
	CodePermitNotInLog:    {"A permit in the store is not in the log. It was not used.", "Ask the owner to look at the vault's window."},
	CodeAway:              {"The owner is away.", "Ask again later."},
	CodeInternal:          {"The vault could not do this.", "Ask the owner to look at the log."},

	CodeUnknownMoment: {"The vault knows no such moment of this session.", "Check moment and session."},
	CodeMomentOpen:    {"The moment is not resolved yet.", "Await it first."},
	CodeMomentDiffers: {"The same moment is open with other actions behind its options.", "Await it, or present one that differs."},
	CodeUnknownAsk:    {"The owner asked no such question about this moment.", "Take a question from asks."},
	CodeAskAnswered:   {"This question was answered before.", "Answer each question once."},

	string(moment.NotOption):         {"No option was selected: the resolution is no authority for an action.", "Do not perform the action."},
	string(moment.ActionMismatch):    {"The action is not the one whose digest the selected option carries. Nothing was signed.", "Send exactly the action that was selected."},
	string(moment.ActionNotSignable): {"The action cannot be signed as an action under the envelope that was shown.", "Present a moment with an action that can."},
	string(moment.NoSigningEnvelope): {"No signing envelope was shown with the selected option.", "Ask with action.sign, or present sign_with with the moment."},

	CodeClockBehind: {"The clock of this computer stands before the vault's log.", "Set the clock right."},

	journal.CodeTooManyDelegates: {"The vault holds as many delegates as it may.", "Look at Delegates."},
	journal.CodeTooManyMints:     {"The vault remembers as many mints as it may.", "Ask the owner to revoke delegates that are not needed."},
	CodeUnknownEngagement:        {"The vault knows no such engagement, or this client has brought nothing of it.", "Check the engagement's id."},
	agreement.CodeNotUnderstood:  {"The bytes are none of the kinds that can be brought in.", "See the findings, or name the kind."},
	agreement.CodeTooLong:        {"The document is too long.", "A document has at most 1 MiB."},
	agreement.CodeNoEngagement:   {"It belongs to no engagement that is known here.", "Bring the document first."},
	agreement.CodeNotOpen:        {"Nothing of the kind can be done with this version now.", "Look at the engagement's state."},
	agreement.CodeNotPinned:      {"The other side's key is not pinned.", "The owner says first whose key it is."},
	agreement.CodeIntentMissing:  {"The agent's own part is missing.", "Sign the intent with the agent's key and bring it."},

	// Of the owner's calls.
	CodeExportTooLong:    {"Everything of this engagement is longer than one bundle may be, 8 MiB.", "Export one version alone; single files can be had as they came."},
	CodeUnknownSeat:      {"There is no such seat.", "Open it first."},
	OutcomeRecoveryWords: {"The text holds twelve recovery words in a row. It was held back.", "Never give recovery words to anybody."},

	OutcomeNoPasskey:          {"This needs a confirmation by passkey, and no passkey is enrolled.", "Enrol a passkey."},
	OutcomeName:               {"This name cannot be shown on a sheet.", "Take 1 to 64 letters without control characters."},
	OutcomeNameTaken:          {"Another program has this name.", "Take another name."},
	OutcomeGrantLimit:         {"A grant cannot give so many uses or last so long.", "Take fewer uses or an earlier end."},
	CodeAnotherOpen:           {"Another request is open.", "Decide or close it first."},
	CodeNotNext:               {"Another request is next.", "Open the first one."},
	CodeGone:                  {"The request has ended.", "There is nothing to decide."},
	CodeUnknownClient:         {"There is no such program.", "Look at Agents."},
	journal.CodeUnknownSocket: {"There is no socket for that user.", "Look at the list of sockets."},
	CodeUnknownGrant:          {"There is no such grant, or it has ended.", "Look at Agents."},
	CodeNotCovered:            {"No signed head covers the entry yet.", "Unlock the vault, then try again."},
	CodeAlreadyOpen:           {"The vault is open, or is being opened.", "Go on, or lock it first."},
	CodeAlreadyExists:         {"There is a vault in this folder.", "Unlock it."},
	CodeUnlockFirst:           {"A new instance begins after the vault was unlocked.", "Unlock, or restore from the recovery words; the addresses stay the same."},
	CodeDomainExists:          {"There is such a domain already.", "Take another id."},
}

// lockedMeanwhile tells whoever waited that the vault was locked: unlike a call that comes to a locked vault, it cannot
// be told that nobody was asked, for the sheet may have been open.
func lockedMeanwhile() *Refusal {
	return &Refusal{Code: CodeLocked, Message: "The vault was locked before this was decided. Nothing was signed.", Remedy: "Ask again with the same id when the owner has unlocked it."}
}

// refuse makes the refusal of a code.
func refuse(code string) *Refusal {
	w, ok := words[code]
	if !ok {
		w, ok = mintWords[code]
	}
	if !ok {
		w = words[CodeInternal]
	}
	return &Refusal{Code: code, Message: w[0], Remedy: w[1]}
}

func refuseAfter(code string, ms int64) *Refusal {
	r := refuse(code)
	r.RetryAfterMS = ms
	return r
}

// refuseWith adds text that may repeat what came from outside.
func refuseWith(code, detail string) *Refusal {
	r := refuse(code)
	r.Data = mustJSON(map[string]string{"detail": detail})
	return r
}

// asRefusal gives any error of the desk's own parts the form agents get.
func asRefusal(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	var k *keys.Error
	if errors.As(err, &k) {
		r := refuse(k.Code)
		_, known := words[k.Code]
		_, minting := mintWords[k.Code]
		if !known && !minting {
			r.Message = "The key process refused: " + k.Detail + "."
		}
		return r
	}
	return refuse(CodeInternal)
}
