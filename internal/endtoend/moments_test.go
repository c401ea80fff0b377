//go:build unix

package endtoend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vault/approvals"
	"vault/approvals/moment"
	"vault/derive/envelope"
	"vault/ipc/mcp"
)

// The two actions of the memo's own example, and the example.
const (
	datesOnly = `{ "disclose": ["travel_dates"], "recipient": "booking.example" }`
	datesAll  = `{ "disclose": ["passport_number", "travel_dates"], "recipient": "booking.example" }`
)

func exampleMoment(t *testing.T, synopsis, hatches string) string {
	t.Helper()
	var digests [2]string
	for i, action := range []string{datesOnly, datesAll} {
		var err error
		if digests[i], err = moment.ActionDigest([]byte(action)); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf(`{"synopsis":%q,"findings":["The booking service asks for dates and passport number.",`+
		`"Dates are enough to hold the reservation.","The passport number is only needed at check-in."],"recommendations":["Release the travel dates now.",`+
		`"Withhold the passport number until check-in."],"offer":"Ask for detail on any item.","question":{"stem":"What should be shared with the booking service?",`+
		`"options":[{"label":"Share dates only","reasoning":"Holds the booking and keeps the passport number private.","action_digest":%q},`+
		`{"label":"Share dates and passport number","reasoning":"Avoids a second request at check-in.","action_digest":%q}],"recommended_idx":0,"hatches":%s}}`,
		synopsis, digests[0], digests[1], hatches)
}

// TestMomentsThroughMCP is an agent behind an MCP host, the bridge, the socket, the desk and the signer: it
// presents decisions, and its owner takes them.
func TestMomentsThroughMCP(t *testing.T) {
	r := start(t)
	askedAbout := make(chan string, 1)
	r.decide(func(s approvals.Sheet) approvals.Decision {
		if s.Pairing != nil {
			return approvals.Decision{Verdict: approvals.VerdictApprove, Name: "Travel"}
		}
		switch s.Moment.Sheet.Envelope.Content().Synopsis {
		case "Decline me.":
			return approvals.Decision{Verdict: approvals.VerdictDecline}
		case "Wrong question.":
			return approvals.Decision{Verdict: approvals.VerdictQuestion}
		case "Ask me.":
			if len(s.Moment.Asks) == 0 {
				if err := r.owner.Ask(r.t.Context(), s.ID, "findings.1", "Who says so?"); err != nil {
					t.Error(err)
				}
			}
			for s.Moment.Asks == nil || s.Moment.Asks[0].AnswerAt == 0 {
				again, err := r.owner.Open(r.t.Context(), s.ID)
				if err != nil || again.Digest != s.Digest {
					t.Errorf("the sheet changed: %v", err)
					return approvals.Decision{Verdict: approvals.VerdictDecline}
				}
				s = again
			}
			askedAbout <- s.Moment.Asks[0].Answer
			return approvals.Decision{Verdict: approvals.VerdictAnswer, Answer: "Dates, and only the first."}
		case "No way out.":
			if c := s.Moment.Sheet.Envelope.Content(); c.Dialogue {
				t.Error("the hatch is on")
			}
		}
		return approvals.Decision{Verdict: approvals.VerdictOption, Option: 0}
	})

	state := filepath.Dir(r.sock)
	link := &mcp.Link{Path: r.sock, File: filepath.Join(state, "pairing.json"), Name: "travel"}
	bridge := mcp.New(mcp.Options{Connect: link.Connect, Session: "trip", Version: "1"})
	ours, hosts := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- bridge.Serve(ctx, ours) }()
	host, err := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, nil).Connect(ctx, hosts, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = host.Close()
		cancel()
		<-served
	})
	call := func(tool, arguments string) (string, bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		res, err := host.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
		if err != nil {
			t.Fatal(err)
		}
		text := res.Content[0].(*sdk.TextContent).Text
		if strings.Contains(text, `"binding_moment"`) {
			t.Errorf("%s answers an envelope: %s", tool, text)
		}
		return text, res.IsError
	}
	text, failed := call("read_domain", `{"domain":"billing-ops"}`)
	if !failed || !strings.Contains(text, "pairing_pending") {
		t.Fatalf("%s", text)
	}
	if digits := <-r.digits; !strings.Contains(text, digits) {
		t.Fatalf("the vault shows %s, the agent %s", digits, text)
	}
	for deadline := time.Now().Add(time.Minute); failed && time.Now().Before(deadline); {
		text, failed = call("read_domain", `{"domain":"billing-ops"}`)
	}
	if failed {
		t.Fatal(text)
	}

	env, err := envelope.NewActionEnvelopeFor("billing-ops", r.domain.Hash, envelope.ActionFields{
		AgentID: "travel", Operation: "share", Resources: []string{"booking:1"}, Mode: envelope.ModeBoth, MaxUses: envelope.Some(5),
		Window: envelope.Window{NotBefore: envelope.Some(r.clock.Now() - 60_000), NotAfter: envelope.Some(r.clock.Now() + 3_600_000)},
	})
	if err != nil {
		t.Fatal(err)
	}
	behind := `"actions":[{"option":0,"action":` + datesOnly + `,"sign_with":` + string(env.Canonical()) + `},{"option":1,"action":` + datesAll + `}]`
	const both = `{"free_text":true,"dialogue":true}`
	first := `{"tool_result":{"content":[{"type":"text","text":"Share?"}],"binding_moment":` + exampleMoment(t, "Share the travel dates and withhold the passport number.", both) + `},` + behind + `}`
	text, _ = call("present_moment", first)
	var resolved struct {
		R struct {
			Digest string `json:"envelope_digest"`
			Kind   string `json:"resolution"`
			Option *int   `json:"option_idx"`
			Answer string `json:"answer"`
		} `json:"binding_moment_resolution"`
	}
	parse := func(text string) {
		t.Helper()
		resolved.R.Option, resolved.R.Answer = nil, ""
		if err := json.Unmarshal([]byte(text), &resolved); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	parse(text)
	if resolved.R.Kind != "option" || *resolved.R.Option != 0 ||
		resolved.R.Digest != "sha256:0db384ab1b682c115d79babfefa91f014ad80c007d00c79119d748f32be232d1" { // the memo's
		t.Fatal(text)
	}
	done, err := r.owner.Answered(0, 1)
	if err != nil || len(done) != 1 || done[0].EnvelopeDigest != resolved.R.Digest {
		t.Fatalf("%+v, %v", done, err)
	}
	sign := func(action string) (string, bool) {
		return call("sign_action", `{"moment":"`+resolved.R.Digest+`","action":`+action+`}`)
	}
	if text, failed := sign(datesAll); !failed || !strings.Contains(text, "action_mismatch") {
		t.Fatal(text)
	}
	signed, failed := sign(datesOnly)
	var out struct {
		Signature string          `json:"signature"`
		Record    json.RawMessage `json:"record"`
	}
	if err := json.Unmarshal([]byte(signed), &out); err != nil || failed {
		t.Fatalf("%v: %s", err, signed)
	}
	if rep := envelope.VerifyRecord(out.Record, []byte(datesOnly), out.Signature, envelope.RecordOptions{Now: r.clock.Now()}); !rep.Valid {
		t.Fatalf("%+v", rep)
	}
	if again, _ := sign(datesOnly); again != signed {
		t.Fatalf("another answer to the same call: %s", again)
	}
	// The same again is answered as before, and the owner reads that it was.
	again, _ := call("present_moment", first)
	if again != text {
		t.Fatalf("%s, then %s", text, again)
	}
	note := func(reason string) approvals.NoteSheet {
		t.Helper()
		for _, it := range r.owner.Inbox() {
			if it.Kind == approvals.ItemNote && it.Reason == reason {
				s, err := r.owner.Open(t.Context(), it.ID)
				if err != nil {
					t.Fatal(err)
				}
				return *s.Note
			}
		}
		t.Fatalf("no note says %s", reason)
		return approvals.NoteSheet{}
	}
	if n := note("already_answered"); n.Moment != done[0].Moment {
		t.Fatalf("%+v", n)
	}
	bare := func(synopsis, hatches string) string {
		return `{"binding_moment":` + exampleMoment(t, synopsis, hatches) + `,"fallback":"Share?"}`
	}
	text, _ = call("present_moment", bare("No way out.", `{"free_text":true,"dialogue":false}`))
	if parse(text); resolved.R.Kind != "option" {
		t.Fatal(text)
	}
	text, _ = call("present_moment", bare("Decline me.", both))
	if parse(text); resolved.R.Kind != "declined" || resolved.R.Option != nil {
		t.Fatal(text)
	}
	text, _ = call("present_moment", bare("Wrong question.", both))
	if parse(text); resolved.R.Kind != "question" {
		t.Fatal(text)
	}
	// A question about a finding is answered beside the sheet, and resolves nothing.
	text, _ = call("present_moment", bare("Ask me.", both))
	var pending struct {
		Pending string
		Asks    []struct{ ID, Line, Question string }
	}
	if err := json.Unmarshal([]byte(text), &pending); err != nil || len(pending.Asks) != 1 || pending.Asks[0].Question != "Who says so?" {
		t.Fatalf("%v: %s", err, text)
	}
	if text, failed := call("answer_question", `{"moment":"`+pending.Pending+`","ask":"`+pending.Asks[0].ID+`","text":"The hotel's terms."}`); failed {
		t.Fatal(text)
	}
	text, _ = call("await_moment", `{"moment":"`+pending.Pending+`"}`)
	if parse(text); resolved.R.Kind != "answer" || resolved.R.Answer != "Dates, and only the first." {
		t.Fatal(text)
	}
	if a := <-askedAbout; a != "The hotel's terms." {
		t.Fatal(a)
	}
	// What is malformed is put before the owner as what it came with.
	text, _ = call("present_moment", strings.Replace(bare("Broken.", both), `"recommended_idx":0`, `"recommended_idx":9`, 1))
	if !strings.Contains(text, `"reason":"recommended_idx_range"`) {
		t.Fatal(text)
	}
	if n := note("recommended_idx_range"); n.Payload.Text != "Share?" {
		t.Fatalf("%+v", n)
	}
	report, err := r.owner.VerifyLog(t.Context())
	if err != nil || !report.OK {
		t.Fatalf("%+v, %v", report, err)
	}
	rates, err := r.owner.MomentRates()
	if err != nil || len(rates) != 1 || rates[0].Presented != 5 || rates[0].Questions != 1 || rates[0].Declined != 1 || rates[0].Answers != 1 || rates[0].DialogueOff != 1 || rates[0].Fallbacks != 1 {
		t.Fatalf("%+v, %v", rates, err)
	}
}
