//go:build linux

package process_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vault/approvals/moment"
	"vault/derive/envelope"
)

// host starts vault mcp as a host does.
func (r *rig) host() (*sdk.ClientSession, *exec.Cmd) {
	r.t.Helper()
	cmd := r.bed.Command(r.ctx, r.vault, "mcp", "--name", "host", "--session", "trip")
	cmd.Stdout = nil // it is the client's
	s, err := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, nil).Connect(r.ctx, &sdk.CommandTransport{Command: cmd}, nil)
	must(r.t, err)
	r.t.Cleanup(func() { _ = s.Close() })
	return s, cmd
}

func (r *rig) call(s *sdk.ClientSession, tool, arguments string) string {
	r.t.Helper()
	res, err := s.CallTool(r.ctx, &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	must(r.t, err)
	return res.Content[0].(*sdk.TextContent).Text
}

// TestHostAndDeskKilled kills the host's program while its call waits for the owner, and the vault when the
// owner has decided and nobody was told: the next host gets that decision, and its action is signed once.
func TestHostAndDeskKilled(t *testing.T) {
	r := start(t)
	r.serve()
	r.restore()
	const yes, no = `{"type":"test.message","n":1}`, `{"type":"test.message","n":2}`
	one, err := moment.ActionDigest([]byte(yes))
	must(t, err)
	two, err := moment.ActionDigest([]byte(no))
	must(t, err)
	e, err := moment.Parse(fmt.Appendf(nil, `{"synopsis":"Send it.","findings":["It is ready."],"recommendations":["Send it."],"offer":"Ask.","question":{"stem":"What now?",`+
		`"options":[{"label":"Send","reasoning":"It is ready.","action_digest":%q},{"label":"Keep","reasoning":"It may wait.","action_digest":%q}],"recommended_idx":0,`+
		`"hatches":{"free_text":true,"dialogue":true}}}`, one, two))
	must(t, err)
	present := `{"binding_moment":` + string(e.Canonical()) + `,"fallback":"Send it?","actions":[{"option":0,"action":` + yes + `,"sign_with":` + string(r.envelope().Canonical()) + `}]}`

	s, cmd := r.host()
	if text := r.call(s, "read_domain", `{}`); !strings.Contains(text, "pairing_pending") {
		t.Fatal(text)
	}
	r.approve("a", func() { r.answer("Your name for it.", "Host") })
	for deadline := time.Now().Add(time.Minute); !strings.Contains(r.call(s, "read_domain", `{}`), `"domains"`); {
		if time.Now().After(deadline) {
			t.Fatal("the bridge is not paired")
		}
	}
	cut := make(chan error, 1)
	go func() {
		_, err := s.CallTool(r.ctx, &sdk.CallToolParams{Name: "present_moment", Arguments: json.RawMessage(present)})
		cut <- err
	}()
	r.approve("1", func() {
		must(t, cmd.Process.Kill())
		if err := <-cut; err == nil {
			t.Error("a call was answered by a program that was killed")
		}
	})
	r.desk.Kill()

	r.serve()
	r.unlock()
	again, _ := r.host()
	due, err := e.Select(0)
	must(t, err)
	if text := r.call(again, "await_moment", `{"moment":"`+e.Digest()+`"}`); text != string(due.Canonical()) {
		t.Fatal(text)
	}
	if text := r.call(again, "present_moment", present); text != string(due.Canonical()) {
		t.Fatal(text)
	}
	if text := r.call(again, "sign_action", `{"moment":"`+e.Digest()+`","action":`+no+`}`); !strings.Contains(text, "action_mismatch") {
		t.Fatal(text)
	}
	first := r.call(again, "sign_action", `{"moment":"`+e.Digest()+`","action":`+yes+`}`)
	var signed struct {
		Signature string          `json:"signature"`
		Record    json.RawMessage `json:"record"`
	}
	must(t, json.Unmarshal([]byte(first), &signed))
	if rep := envelope.VerifyRecord(signed.Record, []byte(yes), signed.Signature, envelope.RecordOptions{Now: time.Now().UnixMilli()}); !rep.Valid {
		t.Fatalf("%+v of %s", rep, first)
	}
	if text := r.call(again, "sign_action", `{"moment":"`+e.Digest()+`","action":`+yes+`}`); text != first {
		t.Fatal(text)
	}
	log := r.stop()
	count := map[string]int{}
	for _, entry := range log {
		count[string(entry.Kind)]++
	}
	if count["moment.resolved"] != 1 || count["action.signed"] != 1 {
		t.Fatalf("%v", count)
	}
}
