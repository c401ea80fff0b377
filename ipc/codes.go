package ipc

import (
	"encoding/json"

	"github.com/creachadair/jrpc2"

	"vault/approvals"
)

// Version is the version of the protocol that this package speaks.
const Version = "1"

// Family is the numeric code of a JSON-RPC error. It groups the stable codes in
// data.code, so that a client without a table of them can still tell what to do.
type Family int32

// The families. The first four are JSON-RPC's own.
const (
	FamilyFrame     Family = -32700 // the line is not one strict JSON value
	FamilyRequest   Family = -32600 // not a request object of this protocol
	FamilyMethod    Family = -32601 // no such method
	FamilyParams    Family = -32602 // members of params
	FamilyInternal  Family = -32603 // a fault of the vault
	FamilyPeer      Family = 1000   // who you are: connection, handshake, pairing
	FamilyState     Family = 1100   // what the vault can do now; later may be different
	FamilyDocument  Family = 1200   // what was asked to be signed
	FamilyOutcome   Family = 1300   // how a request ended without a result
	FamilyRequestID Family = 1400   // request ids
	FamilyLimit     Family = 1500   // too much, too fast; see retry_after_ms
	FamilyOther     Family = 1900   // a code that is newer than this table
)

// codeRow gives the family of a stable code, and the words used when this
// package itself refuses.
type codeRow struct {
	code    string
	family  Family
	message string
	remedy  string
}

// codes is the one table of stable error codes; docs/protocol.md has the same rows.
// Rows without a message are the desk's, which brings its own words.
var codes = append([]codeRow{
	{"frame_invalid", FamilyFrame, "The line is not one strict JSON value.", "Send UTF-8, one JSON value a line, without duplicate names."},
	{"frame_too_large", FamilyFrame, "The line is longer than 1 MiB.", "Send a smaller document."},
	{"frame_slow", FamilyFrame, "The line was begun and not ended in time.", "Send each line in one piece."},
	{"request_invalid", FamilyRequest, "This is not a request of this protocol.", "Send exactly jsonrpc, id, method and params."},
	{"batch_too_large", FamilyRequest, "The batch is empty or has more than 16 calls.", "Send 1 to 16 calls in a batch."},
	{"id_in_use", FamilyRequest, "An unanswered call has the same id.", "Use another id for each call."},
	{"method_unknown", FamilyMethod, "There is no such method.", "See the table of methods."},
	{"params_invalid", FamilyParams, "The parameters are not those of this method.", "Send exactly the members that the table of methods names."},
	{"internal", FamilyInternal, "The vault failed to answer.", "Try again; if it stays so, read the vault's own window."},

	{"wrong_user", FamilyPeer, "The connection comes from another user.", "Run the program under the account of the vault, or ask its owner for a socket of your own."},
	{"peer_unknown", FamilyPeer, "The system does not say who is connected.", "Connect over the vault's own socket."},
	{"version_unknown", FamilyPeer, "The vault does not speak this version of the protocol.", "Use version 1."},
	{"hello_first", FamilyPeer, "The connection has not said hello.", "Call hello first."},
	{"hello_again", FamilyPeer, "The connection has already said hello.", "Open a new connection."},
	{"prove_first", FamilyPeer, "The connection has not proven which client it is.", "Pair, or call hello with your client id and then hello.prove."},
	{"not_paired", FamilyPeer, "", ""},
	{"not_proven", FamilyPeer, "", ""},
	{"blocked", FamilyPeer, "", ""},
	{"revoked", FamilyPeer, "", ""},
	{"other_user", FamilyPeer, "", ""},
	{"unknown_pairing", FamilyPeer, "", ""},
	{"pairing_commitment", FamilyPeer, "", ""},

	{"stopping", FamilyState, "The vault is ending.", "Connect again when it runs."},
	{"no_vault", FamilyState, "", ""},
	{"locked", FamilyState, "", ""},
	{"away", FamilyState, "", ""},
	{"read_only", FamilyState, "", ""},
	{"store_failed", FamilyState, "", ""},
	{"key_process_ended", FamilyState, "", ""},
	{"row_edited", FamilyState, "", ""},
	{"permit_not_in_log", FamilyState, "", ""},
	{"no_passkey", FamilyState, "", ""},

	{"malformed", FamilyDocument, "", ""},
	{"typed_payload", FamilyDocument, "", ""},
	{"unknown_domain", FamilyDocument, "", ""},
	{"envelope_expired", FamilyDocument, "", ""},
	{"not_yet_valid", FamilyDocument, "", ""},
	{"uses_spent", FamilyDocument, "", ""},
	{"suspended", FamilyDocument, "", ""},
	{"moment_differs", FamilyDocument, "", ""},
	{"action_mismatch", FamilyDocument, "", ""},
	{"action_not_signable", FamilyDocument, "", ""},
	{"no_signing_envelope", FamilyDocument, "", ""},

	{"not_open", FamilyDocument, "", ""},

	{"declined", FamilyOutcome, "", ""},
	{"not_shown", FamilyOutcome, "", ""},
	{"expired", FamilyOutcome, "", ""},
	{"cancelled", FamilyOutcome, "", ""},
	{"withdrawn", FamilyOutcome, "", ""},
	{"refused", FamilyOutcome, "", ""},
	{"moment_open", FamilyOutcome, "", ""},
	{"not_option", FamilyOutcome, "", ""},

	{"request_id_reused", FamilyRequestID, "", ""},
	{"unknown_request", FamilyRequestID, "", ""},
	{"unknown_moment", FamilyRequestID, "", ""},
	{"unknown_question", FamilyRequestID, "", ""},
	{"question_answered", FamilyRequestID, "", ""},
	{"unknown_engagement", FamilyRequestID, "", ""},

	{"too_many_connections", FamilyLimit, "There are too many connections.", "Use fewer connections, or wait."},
	{"too_many_requests", FamilyLimit, "", ""},
	{"cooling_down", FamilyLimit, "", ""},
}, mintCodes...)

func rowOf(code string) (codeRow, bool) {
	for _, r := range codes {
		if r.code == code {
			return r, true
		}
	}
	return codeRow{}, false
}

// refuse makes a refusal of this package's own, in the table's words.
func refuse(code string) *approvals.Refusal {
	r, _ := rowOf(code)
	return &approvals.Refusal{Code: code, Message: r.message, Remedy: r.remedy}
}

// refuseFor is refuse with one more thing to know, in words of ours.
func refuseFor(code, detail string) *approvals.Refusal {
	r := refuse(code)
	r.Message += " " + detail
	return r
}

type errorData struct {
	Code         string          `json:"code"`
	Message      string          `json:"message"`
	Remedy       string          `json:"remedy"`
	RetryAfterMS int64           `json:"retry_after_ms,omitempty"`
	Detail       json.RawMessage `json:"detail,omitempty"`
}

func toError(r *approvals.Refusal) *jrpc2.Error {
	family := FamilyOther
	if row, ok := rowOf(r.Code); ok {
		family = row.family
	}
	data := errorData{r.Code, r.Message, r.Remedy, r.RetryAfterMS, r.Data}
	raw, err := json.Marshal(data)
	if err != nil { // Data was not JSON: a fault of the desk, and its words are lost
		data.Detail = nil
		raw, _ = json.Marshal(data)
	}
	return &jrpc2.Error{Code: jrpc2.Code(family), Message: r.Message, Data: raw}
}

// errorLine is an answer to something whose id is not known.
func errorLine(r *approvals.Refusal) []byte {
	raw, _ := json.Marshal(struct {
		Version string       `json:"jsonrpc"`
		ID      *string      `json:"id"`
		Error   *jrpc2.Error `json:"error"`
	}{"2.0", nil, toError(r)})
	return raw
}
