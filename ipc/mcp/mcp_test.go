//go:build unix

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vault/approvals"
	"vault/ipc"
	"vault/ipc/bot"
	"vault/ipc/internal/fakedesk"
	"vault/ipc/socket"
)

const (
	patience  = 30 * time.Second
	bridgeEnv = "VAULT_TEST_MCP_SOCKET"
)

// TestMain is also the bridge, as a program of its own.
func TestMain(m *testing.M) {
	path := os.Getenv(bridgeEnv)
	if path == "" {
		os.Exit(m.Run())
	}
	l := &Link{Path: path, File: filepath.Join(filepath.Dir(path), "pairing.json"), Name: "bridge"}
	o := Options{Connect: l.Connect, Session: "mcp-test", Version: "1"}
	if k, err := bot.Load(filepath.Join(filepath.Dir(path), "bot.json")); err == nil {
		o.Bot = k
	}
	b := New(o)
	err := b.Serve(context.Background(), &mcp.StdioTransport{MaxLineLength: MaxLine})
	if e := l.Close(); err == nil {
		err = e
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// rig is a vault's socket with a desk that is not one behind it.
type rig struct {
	t    *testing.T
	desk *fakedesk.Desk
	path string
}

func start(t *testing.T) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &rig{t: t, desk: fakedesk.New(), path: filepath.Join(dir, "s.sock")}
	l, err := socket.Listen(r.path)
	if err != nil {
		t.Fatal(err)
	}
	srv := ipc.New(ipc.Options{Agents: r.desk})
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		srv.Shutdown(ctx)
		<-served
		if _, _, open := r.desk.Counts(); open != 0 {
			t.Errorf("%d conversations were never closed", open)
		}
	})
	return r
}

func (r *rig) command() *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), bridgeEnv+"="+r.path)
	cmd.Stderr = os.Stderr
	return cmd
}

// host is an MCP client with a bridge of its own.
func (r *rig) host(version string, o *mcp.ClientOptions) *mcp.ClientSession {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "host", Version: "1"}, o).Connect(ctx, &mcp.CommandTransport{Command: r.command()}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = s.Close() })
	return s
}

// paired is a host whose bridge is paired: the second call goes through.
func (r *rig) paired(version string, o *mcp.ClientOptions) *mcp.ClientSession {
	r.t.Helper()
	s := r.host(version, o)
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		res := r.call(s, "read_domain", `{}`)
		if !res.IsError {
			return s
		}
		if code(res) != "pairing_pending" {
			r.t.Fatalf("%s", text(res))
		}
	}
	r.t.Fatal("never paired")
	return nil
}

func (r *rig) call(s *mcp.ClientSession, name, arguments string) *mcp.CallToolResult {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		r.t.Fatal(err)
	}
	if raw := text(res); strings.Contains(raw, `"binding_moment"`) || len(raw) > MaxResult {
		r.t.Errorf("%s answers %d bytes: %.200s", name, len(raw), raw)
	}
	return res
}

func text(res *mcp.CallToolResult) string {
	if len(res.Content) != 1 {
		return ""
	}
	c, _ := res.Content[0].(*mcp.TextContent)
	if c == nil {
		return ""
	}
	return c.Text
}

func code(res *mcp.CallToolResult) string {
	var e refused
	_ = json.Unmarshal([]byte(text(res)), &e)
	return e.Code
}

const bare = `"binding_moment":{"synopsis":"s"},"fallback":"Shall I?"`

// TestEveryProtocolVersion takes a moment through all tools, with hosts that can elicit and hosts that cannot.
func TestEveryProtocolVersion(t *testing.T) {
	for _, version := range mcp.SupportedProtocolVersions() {
		for _, elicits := range []bool{true, false} {
			t.Run(fmt.Sprint(version, " elicits ", elicits), func(t *testing.T) {
				r := start(t)
				var asked atomic.Int64
				r.desk.Take = func(_ context.Context, session, moment string) (approvals.Answer, error) {
					if session != "mcp-test" {
						return approvals.Answer{}, &approvals.Refusal{Code: "unknown_moment", Message: "None.", Remedy: "None."}
					}
					if asked.Add(1) == 1 {
						return approvals.Answer{Pending: moment, Asks: []approvals.Question{{ID: "q1", Line: "offer", Text: "Why?", At: 1}}}, nil
					}
					return approvals.Answer{Result: json.RawMessage(fakedesk.Resolution)}, nil
				}
				o := &mcp.ClientOptions{}
				var elicited atomic.Int64
				if elicits {
					o.ElicitationHandler = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						elicited.Add(1)
						return &mcp.ElicitResult{Action: "accept"}, nil
					}
				}
				s := r.paired(version, o)
				list, err := s.ListTools(context.Background(), nil)
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, tool := range list.Tools {
					names = append(names, tool.Name)
					if tool.InputSchema == nil || tool.OutputSchema == nil || tool.Description == "" {
						t.Errorf("%s has no schema", tool.Name)
					}
				}
				if want := []string{"answer_question", "await_moment", "present_moment", "read_domain", "read_record", "read_sow", "sign_action", "submit_sow"}; !slices.Equal(names, want) {
					t.Fatalf("%q", names)
				}
				res := r.call(s, "present_moment", `{`+bare+`,"actions":[ ]}`)
				if res.IsError || text(res) != `{"pending":"`+fakedesk.MomentID+`","session":"mcp-test"}` {
					t.Fatalf("%s", text(res))
				}
				structured, err := json.Marshal(res.StructuredContent)
				if err != nil || !strings.Contains(string(structured), fakedesk.MomentID) {
					t.Errorf("structured %s, %v", structured, err)
				}
				moment := `{"moment":"` + fakedesk.MomentID + `"`
				if res = r.call(s, "await_moment", moment+`}`); !strings.Contains(text(res), `"question":"Why?"`) {
					t.Fatalf("%s", text(res))
				}
				if res = r.call(s, "answer_question", moment+`,"ask":"q1","text":"Because."}`); res.IsError || len(r.desk.Replies) != 1 {
					t.Fatalf("%s", text(res))
				}
				if res = r.call(s, "await_moment", moment+`}`); text(res) != fakedesk.Resolution {
					t.Fatalf("%s", text(res))
				}
				if res = r.call(s, "await_moment", moment+`,"session":"other"}`); !res.IsError || code(res) != "unknown_moment" {
					t.Fatalf("%s", text(res))
				}
				if res = r.call(s, "sign_action", moment+`,"action":{"pay":1}}`); res.IsError || !strings.Contains(text(res), `"signature"`) {
					t.Fatalf("%s", text(res))
				}
				env := `"action_envelope":{"domain":{"domainHash":"` + fakedesk.DomainHash + `"}},"payload":{"a":1}`
				if res = r.call(s, "sign_action", `{"request_id":"r1",`+env+`}`); text(res) != `{"pending":"r1"}` {
					t.Fatalf("%s", text(res))
				}
				if res = r.call(s, "sign_action", `{"request":"r1"}`); !strings.Contains(text(res), `"signature"`) {
					t.Fatalf("%s", text(res))
				}
				if res = r.call(s, "read_record", `{"request":"r1"}`); !strings.Contains(text(res), "publicActionRecord") {
					t.Fatalf("%s", text(res))
				}
				if res = r.call(s, "read_domain", `{"domain":"billing-ops"}`); !strings.Contains(text(res), fakedesk.DomainHash) {
					t.Fatalf("%s", text(res))
				}
				if res = r.call(s, "submit_sow", `{"request_id":"s1","document":{"sow":"v1"}}`); res.IsError || !strings.Contains(text(res), `"kind":"sow"`) {
					t.Fatalf("%s", text(res))
				}
				if res = r.call(s, "submit_sow", `{"request_id":"s2","document":{"sow":"v1"},"move":"approve"}`); text(res) != `{"pending":"s2","session":"mcp-test"}` {
					t.Fatalf("%s", text(res))
				}
				if res = r.call(s, "submit_sow", `{"request":"s2"}`); text(res) != `{"outcome":"declined"}` {
					t.Fatalf("%s", text(res))
				}
				if res = r.call(s, "read_sow", `{"engagement":"e_1"}`); !strings.Contains(text(res), `"state":"active"`) {
					t.Fatalf("%s", text(res))
				}
				if res = r.call(s, "read_sow", `{"engagement":"e_1","signed":"yes"}`); !strings.Contains(text(res), `"document":{}`) {
					t.Fatalf("%s", text(res))
				}
				if got := r.desk.Brought; len(got) != 2 || string(got[0].Document) != `{"sow":"v1"}` || got[1].Move != "approve" || got[1].Session != "mcp-test" {
					t.Fatalf("%+v", got)
				}
				if elicited.Load() != 0 {
					t.Error("the host was asked in the owner's place")
				}
			})
		}
	}
}

// TestArgumentsAreCheckedRaw sends what no decoder may see first.
func TestArgumentsAreCheckedRaw(t *testing.T) {
	r := start(t)
	s := r.paired("", nil)
	for name, c := range map[string][2]string{
		"duplicate in the envelope":  {"present_moment", `{"binding_moment":{"synopsis":"a","synopsis":"b"},"fallback":""}`},
		"duplicate after unescaping": {"present_moment", `{"binding_moment":{"synopsis":"a","\u0073ynopsis":"b"},"fallback":""}`},
		"two moments by one name":    {"present_moment", `{` + bare + `,"binding_moment":{}}`},
		"a surrogate alone":          {"present_moment", `{"binding_moment":{"synopsis":"\ud800"},"fallback":""}`},
		"both arguments":             {"present_moment", `{` + bare + `,"tool_result":{}}`},
		"neither":                    {"present_moment", `{}`},
		"bare without fallback":      {"present_moment", `{"binding_moment":{}}`},
		"a choice":                   {"present_moment", `{` + bare + `,"option_idx":0}`},
		"another case":               {"await_moment", `{"Moment":"m"}`},
		"a number for a text":        {"await_moment", `{"moment":1}`},
		"no moment":                  {"await_moment", `{}`},
		"two ways to sign":           {"sign_action", `{"moment":"m","action":1,"request":"r"}`},
		"two ways to bring":          {"submit_sow", `{"request_id":"r","document":{},"request":"r"}`},
		"nothing to bring":           {"submit_sow", `{"request_id":"r"}`},
		"a seat":                     {"submit_sow", `{"request_id":"r","document":{},"seat":"1"}`},
		"half a way to sign":         {"sign_action", `{"moment":"m"}`},
		"too long":                   {"present_moment", `{"binding_moment":{},"fallback":"` + strings.Repeat("a", maxArguments) + `"}`},
	} {
		if res := r.call(s, c[0], c[1]); !res.IsError || code(res) != "arguments_invalid" {
			t.Errorf("%s: %s", name, text(res))
		}
	}
	if n := len(r.desk.Moments); n != 0 {
		t.Fatalf("%d moments reached the desk", n)
	}
	// The bytes of a document go on as they came.
	envelope := `{"a":1e0,"b":"\u0041"}`
	if res := r.call(s, "present_moment", `{"binding_moment":`+envelope+`,"fallback":"x","tool_server":"srv"}`); res.IsError {
		t.Fatal(text(res))
	}
	if got := r.desk.Moments[0]; got.Fallback != "x" || got.ToolServer != "srv" || got.Session != "mcp-test" || string(got.BindingMoment) != envelope {
		t.Fatalf("%+v %s", got, got.BindingMoment)
	}
}

// TestLongAnswersComeInParts reads a resolution that does not fit into one result.
func TestLongAnswersComeInParts(t *testing.T) {
	r := start(t)
	answer := strings.Repeat("Ägypten \"quoted\" ", 2500)
	quoted, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	whole := `{"binding_moment_resolution":{"answer":` + string(quoted) + `,"envelope_digest":"sha256:00","resolution":"answer"}}`
	var mu sync.Mutex
	r.desk.Take = func(context.Context, string, string) (approvals.Answer, error) {
		mu.Lock()
		defer mu.Unlock()
		return approvals.Answer{Result: json.RawMessage(whole)}, nil
	}
	s := r.paired("", nil)
	var got strings.Builder
	cursor, parts := "", 0
	for parts == 0 || cursor != "" {
		args := map[string]string{"moment": fakedesk.MomentID}
		if cursor != "" {
			args["cursor"] = cursor
		}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		res := r.call(s, "await_moment", string(raw))
		var p struct {
			Part   string `json:"document_part"`
			Total  int    `json:"total_bytes"`
			Cursor string `json:"cursor"`
		}
		if err := json.Unmarshal([]byte(text(res)), &p); err != nil || p.Part == "" || p.Total != len(whole) {
			t.Fatalf("%v: %.200s", err, text(res))
		}
		got.WriteString(p.Part)
		cursor = p.Cursor
		if parts++; parts > 20 {
			t.Fatal("no end")
		}
	}
	if got.String() != whole {
		t.Error("the parts are not the whole")
	}
	for _, wrong := range []string{"0.0", "x", "9999999." + strings.Repeat("0", 16), "-1." + strings.Repeat("0", 16)} {
		if res := r.call(s, "await_moment", `{"moment":"m","cursor":"`+wrong+`"}`); code(res) != "cursor_stale" {
			t.Errorf("%s: %.200s", wrong, text(res))
		}
	}
}

func TestErrorsAreResults(t *testing.T) {
	r := start(t)
	s := r.host("", nil)
	res := r.call(s, "read_domain", `{}`)
	if !res.IsError || code(res) != "pairing_pending" || !strings.Contains(text(res), "number is ") {
		t.Fatalf("%s", text(res))
	}
	s = r.paired("", nil)
	r.desk.Take = func(context.Context, string, string) (approvals.Answer, error) {
		return approvals.Answer{}, &approvals.Refusal{Code: "locked", Message: "The vault is locked.", Remedy: "Wait.", RetryAfterMS: 7, Data: json.RawMessage(`{"detail":"d"}`)}
	}
	res = r.call(s, "await_moment", `{"moment":"m"}`)
	if want := `{"code":"locked","message":"The vault is locked.","remedy":"Wait.","detail":{"detail":"d"},"retry_after_ms":7}`; !res.IsError || text(res) != want {
		t.Fatalf("%s", text(res))
	}
	r.desk.Forget()
	if res := r.call(s, "read_domain", `{}`); code(res) != "revoked" {
		t.Fatalf("%s", text(res))
	}
}

// TestHostGivesUp: a call that times out ends its wait at the vault and nothing else.
func TestHostGivesUp(t *testing.T) {
	r := start(t)
	waiting, left := make(chan struct{}, 4), make(chan struct{}, 4)
	var hold atomic.Bool
	hold.Store(true)
	r.desk.Take = func(ctx context.Context, _, _ string) (approvals.Answer, error) {
		if !hold.Load() {
			return approvals.Answer{Result: json.RawMessage(fakedesk.Resolution)}, nil
		}
		waiting <- struct{}{}
		<-ctx.Done()
		left <- struct{}{}
		return approvals.Answer{Pending: fakedesk.MomentID}, nil
	}
	s := r.paired("", nil)
	ctx, cancel := context.WithCancel(context.Background())
	gave := make(chan error, 1)
	go func() {
		_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "await_moment", Arguments: json.RawMessage(`{"moment":"m"}`)})
		gave <- err
	}()
	wait(t, waiting)
	cancel()
	if err := <-gave; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	wait(t, left)
	hold.Store(false)
	if res := r.call(s, "await_moment", `{"moment":"m"}`); text(res) != fakedesk.Resolution {
		t.Fatalf("%s", text(res))
	}
}

// TestHostDies: the wait ends with the host, and the bridge does too.
func TestHostDies(t *testing.T) {
	r := start(t)
	r.paired("", nil)
	waiting, left := make(chan struct{}, 1), make(chan struct{}, 1)
	r.desk.Take = func(ctx context.Context, _, _ string) (approvals.Answer, error) {
		waiting <- struct{}{}
		<-ctx.Done()
		left <- struct{}{}
		return approvals.Answer{Pending: fakedesk.MomentID}, nil
	}
	cmd := r.command()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"await_moment","arguments":{"moment":"m"}}}`,
	} {
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	wait(t, waiting)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	wait(t, left)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		t.Fatal("the bridge lives on")
	}
}

func wait(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatal("it never came")
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{}`, `{"moment":"m"}`, `{` + bare + `}`, `{"tool_result":{"a":[1,"\u0041"]},"session":"s"}`, `{"moment":"m","moment":"n"}`, `[]`, ``} {
		f.Add([]byte(seed))
	}
	members := tools[0].members
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := cut(raw, members)
		if err != nil {
			return
		}
		for name, value := range a.raw {
			if !bytes.Contains(raw, value) || !json.Valid(value) {
				t.Errorf("%s is not what was received: %q", name, value)
			}
		}
	})
}
