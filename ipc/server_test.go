//go:build unix

package ipc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/handshake"
	"vault/ipc/client"
	"vault/ipc/internal/fakedesk"
	"vault/ipc/socket"
)

const patience = 20 * time.Second

type rig struct {
	t    *testing.T
	desk *fakedesk.Desk
	srv  *Server
	path string
	errs chan error
}

func start(t *testing.T, lim Limits, change func(*Options)) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &rig{t: t, desk: fakedesk.New(), path: filepath.Join(dir, "s.sock"), errs: make(chan error, 64)}
	o := Options{Agents: r.desk, Limits: lim, Log: func(err error) { r.errs <- err }}
	if change != nil {
		change(&o)
	}
	l, err := socket.Listen(r.path)
	if err != nil {
		t.Fatal(err)
	}
	r.srv = New(o)
	served := make(chan error, 1)
	go func() { served <- r.srv.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		r.srv.Shutdown(ctx)
		if err := <-served; !errors.Is(err, ErrStopped) {
			t.Errorf("serve: %v", err)
		}
		if _, _, open := r.desk.Counts(); open != 0 {
			t.Errorf("%d conversations were never closed", open)
		}
	})
	return r
}

// wire is a client without manners.
type wire struct {
	t *testing.T
	c net.Conn
	r *bufio.Reader
}

func (r *rig) wire() *wire {
	r.t.Helper()
	c, err := net.Dial("unix", r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return &wire{r.t, c, bufio.NewReader(c)}
}

func (w *wire) write(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w.c, text); err != nil {
		w.t.Fatal(err)
	}
}

type reply struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int       `json:"code"`
		Message string    `json:"message"`
		Data    errorData `json:"data"`
	} `json:"error"`
}

func (r reply) code() string {
	if r.Error == nil {
		return ""
	}
	return r.Error.Data.Code
}

func (w *wire) read() reply {
	w.t.Helper()
	line, err := w.r.ReadBytes('\n')
	if err != nil {
		w.t.Fatalf("read an answer: %v", err)
	}
	var out reply
	if err := json.Unmarshal(line, &out); err != nil {
		w.t.Fatalf("answer %q: %v", line, err)
	}
	return out
}

func (w *wire) call(line string) reply {
	w.t.Helper()
	w.write(line + "\n")
	return w.read()
}

// ended waits until the server has closed the connection.
func (w *wire) ended() {
	w.t.Helper()
	if b, err := w.r.ReadByte(); err == nil {
		w.t.Errorf("the connection goes on with %q", b)
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		w.t.Error("the connection stays open")
	}
}

const zeros = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

const helloLine = `{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":"1","nonce":"` + zeros + `"}}`

// paired pairs and proves a connection of the Go client.
func (r *rig) paired(name string) (*client.Conn, *client.Pairing) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := client.Dial(ctx, r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	p, err := c.Pair(ctx, name, func(string) {})
	if err != nil {
		r.t.Fatal(err)
	}
	_ = c.Close()
	return r.proven(p), p
}

// counted is how many connections the server counts.
func (r *rig) counted() int {
	r.srv.mu.Lock()
	defer r.srv.mu.Unlock()
	return len(r.srv.conns)
}

func (r *rig) proven(p *client.Pairing) *client.Conn {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := client.Dial(ctx, r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Hello(ctx, p); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// secretOf reads the secret out of the file that the client keeps.
func (r *rig) secretOf(p *client.Pairing) handshake.Secret {
	r.t.Helper()
	file := filepath.Join(filepath.Dir(r.path), "p.json")
	if err := p.Save(file); err != nil {
		r.t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		r.t.Fatal(err)
	}
	var f struct{ Secret string }
	if err := json.Unmarshal(raw, &f); err != nil {
		r.t.Fatal(err)
	}
	s, err := handshake.Decode(f.Secret)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// prove says hello on a wire as the client of p.
func (w *wire) prove(p *client.Pairing, secret handshake.Secret) {
	w.t.Helper()
	g := w.call(`{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":"1","client":"` + p.Client + `","nonce":"` + zeros + `"}}`)
	if g.Error != nil {
		w.t.Fatalf("hello: %s", g.code())
	}
	var got greeting
	if err := json.Unmarshal(g.Result, &got); err != nil {
		w.t.Fatal(err)
	}
	sn, err := handshake.Decode(got.Nonce)
	if err != nil {
		w.t.Fatal(err)
	}
	proof := handshake.Prove(&secret, handshake.RoleClient, Version, got.Vault, handshake.Nonce{}, sn)
	if a := w.call(`{"jsonrpc":"2.0","id":2,"method":"hello.prove","params":{"proof":"` + handshake.Encode(proof) + `"}}`); a.Error != nil {
		w.t.Fatalf("hello.prove: %s", a.code())
	}
}

func signLine(id, request, rest string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"action.sign","params":{"request_id":"` + request + `",` + rest + `}}`
}

// Every line that is not a request of the protocol has its own answer, and the
// connection goes on.
func TestBadLines(t *testing.T) {
	r := start(t, Limits{}, nil)
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, c := range map[string]struct{ line, code string }{
		"empty":                 {"", "frame_invalid"},
		"not json":              {"hello", "frame_invalid"},
		"half":                  {`{"jsonrpc":"2.0"`, "frame_invalid"},
		"two values":            {helloLine + helloLine, "frame_invalid"},
		"not utf-8":             {"\"\xff\"", "frame_invalid"},
		"byte order mark":       {"\ufeff" + helloLine, "frame_invalid"},
		"duplicate name":        {`{"jsonrpc":"2.0","id":1,"method":"status","id":2}`, "frame_invalid"},
		"duplicate when read":   {`{"jsonrpc":"2.0","id":1,"method":"status","\u0069d":2}`, "frame_invalid"},
		"duplicate far inside":  {`{"jsonrpc":"2.0","id":1,"method":"status","params":{"a":[{"b":1,"b":2}]}}`, "frame_invalid"},
		"unpaired surrogate":    {`{"jsonrpc":"2.0","id":"\ud800","method":"status"}`, "frame_invalid"},
		"too deep":              {nested(81), "frame_invalid"},
		"deep enough":           {nested(80), "request_invalid"},
		"zero byte":             {"\x00", "frame_invalid"},
		"number":                {"1", "request_invalid"},
		"no version":            {`{"id":1,"method":"status"}`, "request_invalid"},
		"old version":           {`{"jsonrpc":"1.0","id":1,"method":"status"}`, "request_invalid"},
		"notification":          {`{"jsonrpc":"2.0","method":"status"}`, "request_invalid"},
		"null id":               {`{"jsonrpc":"2.0","id":null,"method":"status"}`, "request_invalid"},
		"broken id":             {`{"jsonrpc":"2.0","id":1.5,"method":"status"}`, "request_invalid"},
		"negative id":           {`{"jsonrpc":"2.0","id":-1,"method":"status"}`, "request_invalid"},
		"object id":             {`{"jsonrpc":"2.0","id":{},"method":"status"}`, "request_invalid"},
		"long id":               {`{"jsonrpc":"2.0","id":"` + strings.Repeat("a", 127) + `","method":"status"}`, "request_invalid"},
		"no method":             {`{"jsonrpc":"2.0","id":1}`, "request_invalid"},
		"empty method":          {`{"jsonrpc":"2.0","id":1,"method":""}`, "request_invalid"},
		"method is a number":    {`{"jsonrpc":"2.0","id":1,"method":1}`, "request_invalid"},
		"params are a list":     {`{"jsonrpc":"2.0","id":1,"method":"status","params":[]}`, "request_invalid"},
		"params are null":       {`{"jsonrpc":"2.0","id":1,"method":"status","params":null}`, "request_invalid"},
		"another member":        {`{"jsonrpc":"2.0","id":1,"method":"status","auth":1}`, "request_invalid"},
		"an answer":             {`{"jsonrpc":"2.0","id":1,"result":{}}`, "request_invalid"},
		"empty batch":           {`[]`, "batch_too_large"},
		"batch of 17":           {`[` + batchOf(17) + `]`, "batch_too_large"},
		"batch with a bad one":  {`[{"jsonrpc":"2.0","id":1,"method":"status"},1]`, "request_invalid"},
		"batch with one id":     {`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":1,"method":"b"}]`, "id_in_use"},
		"unknown method":        {`{"jsonrpc":"2.0","id":1,"method":"seed.get"}`, "method_unknown"},
		"library's own methods": {`{"jsonrpc":"2.0","id":1,"method":"rpc.serverInfo"}`, "method_unknown"},
		"method in other case":  {`{"jsonrpc":"2.0","id":1,"method":"Status"}`, "method_unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			w := r.wire()
			w.t = t
			a := w.call(c.line)
			if a.code() != c.code {
				t.Fatalf("answer %q, want %q", a.code(), c.code)
			}
			row, _ := rowOf(c.code)
			if a.Error.Code != int(row.family) || a.Error.Data.Remedy == "" || !strings.HasPrefix(a.Error.Data.Message, row.message) {
				t.Errorf("error %+v", a.Error)
			}
			if a := w.call(helloLine); a.Error != nil {
				t.Errorf("afterwards hello fails: %s", a.code())
			}
		})
	}
}

func batchOf(n int) string {
	calls := make([]string, n)
	for i := range calls {
		calls[i] = `{"jsonrpc":"2.0","id":` + strconv.Itoa(i) + `,"method":"status"}`
	}
	return strings.Join(calls, ",")
}

func TestBatch(t *testing.T) {
	r := start(t, Limits{}, nil)
	w := r.wire()
	if a := w.call(helloLine); a.Error != nil {
		t.Fatal(a.code())
	}
	w.write("[" + batchOf(16) + "]\n")
	line, err := w.r.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var all []reply
	if err := json.Unmarshal(line, &all); err != nil || len(all) != 16 {
		t.Fatalf("%d answers, %v", len(all), err)
	}
	for _, a := range all {
		if a.Error != nil {
			t.Errorf("%s: %s", a.ID, a.code())
		}
	}
}

// Params are exactly those of the table.
func TestBadParams(t *testing.T) {
	r := start(t, Limits{}, nil)
	_, p := r.paired("bad params")
	secret := r.secretOf(p)
	w := r.wire()
	w.prove(p, secret)
	good := map[string]string{
		"domain.list": `{}`, "domain.get": `{"domain":"billing-ops"}`, "status": `{}`,
		"action.sign":   `{"request_id":"r","action_envelope":{},"payload":{}}`,
		"request.await": `{"request":"r"}`, "request.cancel": `{"request":"r"}`, "record.get": `{"request":"r"}`,
		"moment.present": `{"session":"s"}`, "moment.await": `{"session":"s","moment":"m"}`, // present: one of two more, below
		"moment.say": `{"session":"s","moment":"m","ask":"q1","text":"t"}`, "moment.sign": `{"session":"s","moment":"m","action":1}`,
		"sow.submit": `{"request_id":"r","document":{}}`, "sow.status": `{"engagement":"e"}`, "sow.get": `{"engagement":"e"}`, "sow.await": `{"request":"r"}`,
		"session.end": `{"session":"s"}`, "hello.prove": `{"proof":"` + zeros + `"}`,
		"bot.nonce": `{}`, "bot.prove": `{"bot":"0x00","signature":"0x00"}`,
		"mint.delegates": `{}`, "mint.request": `{"request":{}}`, "mint.record": `{"mint":"0x00"}`,
		"mint.sign": `{"request_id":"r","mint":"0x00","payload":1}`,
		"pair":      `{"name":"n","commitment":"` + zeros + `"}`, "pair.reveal": `{"pairing":"p","nonce":"` + zeros + `"}`,
	}
	n := 10
	try := func(method, params string) string {
		n++
		return w.call(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, n, method, params)).code()
	}
	for _, m := range methods {
		if m.stage == stageNew {
			continue
		}
		params, ok := good[m.name]
		if !ok {
			t.Errorf("no case for %s", m.name)
			continue
		}
		if code := try(m.name, strings.Replace(params, "{", `{"more":1,`, 1)); code != "params_invalid" && params != "{}" {
			t.Errorf("%s with one member more: %q", m.name, code)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(params), &members); err != nil {
			t.Fatal(err)
		}
		for name := range members {
			for _, f := range m.fields {
				if f.name == name && f.optional {
					t.Fatalf("%s of %s is optional", name, m.name)
				}
			}
			less := map[string]json.RawMessage{}
			for k, v := range members {
				if k != name {
					less[k] = v
				}
			}
			raw, err := json.Marshal(less)
			if err != nil {
				t.Fatal(err)
			}
			if code := try(m.name, string(raw)); code != "params_invalid" {
				t.Errorf("%s without %s: %q", m.name, name, code)
			}
		}
	}
	for name, c := range map[string][2]string{
		"request id with a space":  {"action.sign", `{"request_id":"a b","action_envelope":{},"payload":{}}`},
		"request id empty":         {"action.sign", `{"request_id":"","action_envelope":{},"payload":{}}`},
		"request id too long":      {"action.sign", `{"request_id":"` + strings.Repeat("a", 129) + `","action_envelope":{},"payload":{}}`},
		"request id not ascii":     {"action.sign", `{"request_id":"é","action_envelope":{},"payload":{}}`},
		"request id a number":      {"action.sign", `{"request_id":1,"action_envelope":{},"payload":{}}`},
		"session empty":            {"action.sign", `{"request_id":"r","session":"","action_envelope":{},"payload":{}}`},
		"envelope is text":         {"action.sign", `{"request_id":"r","action_envelope":"{}","payload":{}}`},
		"lifetime negative":        {"action.sign", `{"request_id":"r","action_envelope":{},"payload":{},"lifetime_ms":-1}`},
		"lifetime broken":          {"action.sign", `{"request_id":"r","action_envelope":{},"payload":{},"lifetime_ms":1.5}`},
		"lifetime exponent":        {"action.sign", `{"request_id":"r","action_envelope":{},"payload":{},"lifetime_ms":1e3}`},
		"lifetime over a day":      {"action.sign", `{"request_id":"r","action_envelope":{},"payload":{},"lifetime_ms":86400001}`},
		"interactive is text":      {"action.sign", `{"request_id":"r","action_envelope":{},"payload":{},"interactive":"true"}`},
		"interactive is null":      {"action.sign", `{"request_id":"r","action_envelope":{},"payload":{},"interactive":null}`},
		"proof padded":             {"hello.prove", `{"proof":"` + zeros + `="}`},
		"proof short":              {"hello.prove", `{"proof":"AAAA"}`},
		"proof with loose bits":    {"hello.prove", `{"proof":"` + zeros[:42] + `B"}`},
		"head is a list":           {"hello.prove", `{"proof":"` + zeros + `","last_head":[]}`},
		"pairing name too long":    {"pair", `{"name":"` + strings.Repeat("n", 129) + `","commitment":"` + zeros + `"}`},
		"approval in the params":   {"action.sign", `{"request_id":"r","action_envelope":{},"payload":{},"approve":true}`},
		"client id in the params":  {"action.sign", `{"request_id":"r","client":"c_1","action_envelope":{},"payload":{}}`},
		"no moment at all":         {"moment.present", `{"session":"s"}`},
		"two moments":              {"moment.present", `{"session":"s","tool_result":{},"binding_moment":{},"fallback":""}`},
		"result with fallback":     {"moment.present", `{"session":"s","tool_result":{},"fallback":""}`},
		"bare without fallback":    {"moment.present", `{"session":"s","binding_moment":{}}`},
		"fallback alone":           {"moment.present", `{"session":"s","fallback":""}`},
		"moment without session":   {"moment.present", `{"tool_result":{}}`},
		"a choice in the params":   {"moment.present", `{"session":"s","tool_result":{},"option_idx":0}`},
		"tool server too long":     {"moment.present", `{"session":"s","tool_result":{},"tool_server":"` + strings.Repeat("n", 129) + `"}`},
		"reply too long":           {"moment.say", `{"session":"s","moment":"m","ask":"q1","text":"` + strings.Repeat("n", 16385) + `"}`},
		"sow is text":              {"sow.submit", `{"request_id":"r","document":"{}"}`},
		"sow with a seat":          {"sow.submit", `{"request_id":"r","document":{},"seat":1}`},
		"fill without a start":     {"sow.submit", `{"request_id":"r","document":{},"move":"form","fill":{"client":{"agent":"a","owner":"o"}}}`},
		"fill with an approval":    {"sow.submit", `{"request_id":"r","document":{},"move":"form","fill":{"client":{"agent":"a","owner":"o"},"starts_at":"2026-01-01T00:00:00Z","approval":{}}}`},
		"fill with no real date":   {"sow.submit", `{"request_id":"r","document":{},"move":"form","fill":{"client":{"agent":"a","owner":"o"},"starts_at":"2026-13-45T00:00:00Z"}}`},
		"fill with a numbered key": {"sow.submit", `{"request_id":"r","document":{},"move":"form","fill":{"client":{"agent":1,"owner":"o"},"starts_at":"2026-01-01T00:00:00Z"}}`},
		"member name in uppercase": {"action.sign", `{"Request_ID":"r","action_envelope":{},"payload":{}}`},
	} {
		if code := try(c[0], c[1]); code != "params_invalid" {
			t.Errorf("%s: %q", name, code)
		}
	}
	if _, asks, _ := r.desk.Counts(); asks != 0 || len(r.desk.Moments)+len(r.desk.Replies)+len(r.desk.Brought) != 0 {
		t.Errorf("%d requests reached the desk", asks)
	}
}

// TestMomentsOverTheSocket takes a moment through all of its methods.
func TestMomentsOverTheSocket(t *testing.T) {
	r := start(t, Limits{}, nil)
	asked := false
	r.desk.Take = func(_ context.Context, session, moment string) (approvals.Answer, error) {
		if session != "s" || moment != fakedesk.MomentID {
			return approvals.Answer{}, &approvals.Refusal{Code: "unknown_moment", Message: "None.", Remedy: "None."}
		}
		if !asked {
			asked = true
			return approvals.Answer{Pending: moment, Asks: []approvals.Question{{ID: "q1", Line: "findings.0", Text: "Why?", At: 5}}}, nil
		}
		return approvals.Answer{Result: json.RawMessage(fakedesk.Resolution)}, nil
	}
	c, p := r.paired("moments")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	got, err := c.Present(ctx, client.Presentation{Session: "s", Moment: json.RawMessage(`{"a":1.0}`), Fallback: "text", Actions: json.RawMessage(`[]`), ToolServer: "srv"})
	if err != nil || got.Pending != fakedesk.MomentID || got.Resolution != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	got, err = c.AwaitMoment(ctx, "s", got.Pending)
	if err != nil || got.Pending == "" || len(got.Asks) != 1 || got.Asks[0] != (client.Question{ID: "q1", Line: "findings.0", Text: "Why?", At: 5}) {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := c.Say(ctx, "s", got.Pending, "q1", "Because."); err != nil {
		t.Fatal(err)
	}
	got, err = c.AwaitMoment(ctx, "s", got.Pending)
	if err != nil || string(got.Resolution) != fakedesk.Resolution || got.Pending != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	var refused *client.Error
	if _, err := c.AwaitMoment(ctx, "t", fakedesk.MomentID); !errors.As(err, &refused) || refused.Code != "unknown_moment" || refused.Family != int(FamilyRequestID) {
		t.Fatalf("%v", err)
	}
	if s, err := c.SignMoment(ctx, "s", fakedesk.MomentID, json.RawMessage(`{"pay":1}`)); err != nil || s.By != "click" {
		t.Fatalf("%+v, %v", s, err)
	}
	r.desk.Present = func(context.Context, approvals.Presentation) (approvals.Answer, error) {
		return approvals.Answer{Result: json.RawMessage(`{"fallback":{"reason":"no_envelope","sentence":"None."}}`)}, nil
	}
	if got, err := c.Present(ctx, client.Presentation{Session: "s", ToolResult: json.RawMessage(`{}`)}); err != nil || got.Fallback == nil || got.Fallback.Reason != "no_envelope" || got.Resolution != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	// The bytes of the documents reach the desk as they were sent.
	w := r.wire()
	w.prove(p, r.secretOf(p))
	result := `{ "binding_moment" : { "b":1e0 , "a":"\u0041" } }`
	w.call(`{"jsonrpc":"2.0","id":9,"method":"moment.present","params":{"session":"s","tool_result":` + result + ` ,"actions": [ 1 ]}}`)
	last := r.desk.Moments[len(r.desk.Moments)-1]
	if string(last.ToolResult) != result || string(last.Actions) != "[ 1 ]" || last.BindingMoment != nil {
		t.Fatalf("%+v", last)
	}
	if first := r.desk.Moments[0]; string(first.BindingMoment) != `{"a":1.0}` || first.Fallback != "text" || first.ToolServer != "srv" {
		t.Fatalf("%+v", first)
	}
}

// TestSoWOverTheSocket brings a document byte for byte, waits for it, and fetches what was signed.
func TestSoWOverTheSocket(t *testing.T) {
	r := start(t, Limits{}, nil)
	c, p := r.paired("sow")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w := r.wire()
	w.prove(p, r.secretOf(p))
	document := `{ "sow":"v1", "threshold":0.950, "a":"\u0041" }`
	if a := w.call(`{"jsonrpc":"2.0","id":3,"method":"sow.submit","params":{"request_id":"r1","session":"s","document":` + document + `,"move":"form","fill":{"client":` +
		`{"agent":"U1","owner":"Us","handle":"h"},"starts_at":"2026-01-01T00:00:00Z","locations":{"in":"https://example.org"},"assertions":["a","b"]},"intent":"AAAA","intent_key":"U1"}}`); a.Error != nil {
		t.Fatal(a.code())
	}
	got := r.desk.Brought[0]
	if string(got.Document) != document || got.RequestID != "r1" || got.Session != "s" || got.Move != "form" || got.Intent != "AAAA" || got.IntentKey != "U1" ||
		got.Fill.Client.Handle != "h" || got.Fill.StartsAt != 1767225600000 || got.Fill.Locations["in"] != "https://example.org" || len(got.Fill.Assertions) != 2 {
		t.Fatalf("%+v %+v", got, got.Fill)
	}
	first, err := c.SubmitSoW(ctx, client.SoW{RequestID: "r2", Document: json.RawMessage(document)})
	if err != nil || first.Pending != "" || !strings.Contains(string(first.Result), `"kind":"sow"`) {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := c.SubmitSoW(ctx, client.SoW{RequestID: "r3", Document: json.RawMessage(document), Move: "countersign"})
	if err != nil || second.Pending != "r3" {
		t.Fatalf("%+v, %v", second, err)
	}
	if second, err = c.AwaitSoW(ctx, second.Pending); err != nil || second.Pending != "" || string(second.Result) != `{"outcome":"declined"}` {
		t.Fatalf("%+v, %v", second, err)
	}
	if raw, err := c.SoWStatus(ctx, "e_1"); err != nil || !strings.Contains(string(raw), `"engagement":"e_1"`) {
		t.Fatalf("%s, %v", raw, err)
	}
	if raw, err := c.SoWBundle(ctx, "e_1", ""); err != nil || !strings.Contains(string(raw), `"document":{}`) {
		t.Fatalf("%s, %v", raw, err)
	}
}

// The desk gets the bytes of both documents as they were sent.
func TestDocumentsAreCutFromTheReceivedBytes(t *testing.T) {
	r := start(t, Limits{}, nil)
	_, p := r.paired("bytes")
	w := r.wire()
	w.prove(p, r.secretOf(p))
	envelope := `{ "b" : 1.0e0, "a":"\u0041\/é<>&\u2028", "c":[1 ,2]  }`
	payload := `  "x\u000ay"	`
	w.call(signLine("3", "r", `"action_envelope": `+envelope+` ,"payload":`+payload+`,"lifetime_ms":5000,"interactive":false,"session":"s-1"`))
	if _, asks, _ := r.desk.Counts(); asks != 1 {
		t.Fatalf("%d requests", asks)
	}
	ask := r.desk.Asks[0]
	if string(ask.Envelope) != envelope {
		t.Errorf("envelope %q", ask.Envelope)
	}
	if string(ask.Payload) != strings.TrimSpace(payload) {
		t.Errorf("payload %q", ask.Payload)
	}
	if ask.RequestID != "r" || ask.Session != "s-1" || ask.LifetimeMS != 5000 || ask.Interactive {
		t.Errorf("ask %+v", ask)
	}
	w.call(signLine("4", "r2", `"action_envelope":{},"payload":null`))
	if ask := r.desk.Asks[1]; !ask.Interactive || ask.LifetimeMS != 0 || string(ask.Payload) != "null" {
		t.Errorf("ask %+v", ask)
	}
}

func TestHandshakeOrder(t *testing.T) {
	r := start(t, Limits{}, nil)
	_, p := r.paired("order")
	for _, m := range methods {
		if m.stage == stageNew {
			continue
		}
		w := r.wire()
		if code := w.call(`{"jsonrpc":"2.0","id":1,"method":"` + m.name + `"}`).code(); code != "hello_first" {
			t.Errorf("%s before hello: %q", m.name, code)
		}
		if m.stage < stageProven {
			continue
		}
		if a := w.call(helloLine); a.Error != nil {
			t.Fatal(a.code())
		}
		if code := w.call(`{"jsonrpc":"2.0","id":2,"method":"` + m.name + `"}`).code(); code != "prove_first" {
			t.Errorf("%s before hello.prove: %q", m.name, code)
		}
		// Naming a client is not being it.
		w = r.wire()
		w.call(`{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":"1","client":"` + p.Client + `","nonce":"` + zeros + `"}}`)
		if code := w.call(`{"jsonrpc":"2.0","id":2,"method":"` + m.name + `"}`).code(); code != "prove_first" {
			t.Errorf("%s as a named client: %q", m.name, code)
		}
	}
	w := r.wire()
	if code := w.call(strings.Replace(helloLine, `"version":"1"`, `"version":"2"`, 1)).code(); code != "version_unknown" {
		t.Errorf("version 2: %q", code)
	}
	if a := w.call(helloLine); a.Error != nil {
		t.Fatal(a.code())
	}
	if code := w.call(helloLine).code(); code != "hello_again" {
		t.Errorf("second hello: %q", code)
	}
}

func TestWrongProofEndsTheConnection(t *testing.T) {
	r := start(t, Limits{}, nil)
	_, p := r.paired("proof")
	w := r.wire()
	w.call(`{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":"1","client":"` + p.Client + `","nonce":"` + zeros + `"}}`)
	if code := w.call(`{"jsonrpc":"2.0","id":2,"method":"hello.prove","params":{"proof":"` + zeros + `"}}`).code(); code != "not_proven" {
		t.Errorf("code %q", code)
	}
	w.ended()
}

func TestWrongUser(t *testing.T) {
	other := int64(os.Geteuid()) + 1
	r := start(t, Limits{}, func(o *Options) { o.UserID = &other })
	w := r.wire()
	a := w.read()
	if a.code() != "wrong_user" || a.Error.Code != int(FamilyPeer) || string(a.ID) != "null" {
		t.Errorf("answer %+v", a)
	}
	w.ended()
	if hellos, _, _ := r.desk.Counts(); hellos != 0 {
		t.Error("the desk was reached")
	}
}

func TestPeerReachesTheDesk(t *testing.T) {
	r := start(t, Limits{}, nil)
	r.paired("peer")
	if len(r.desk.Peers) != 2 {
		t.Fatalf("%d hellos", len(r.desk.Peers))
	}
	if p := r.desk.Peers[1]; p.UserID != int64(os.Geteuid()) || p.ProcessID != int64(os.Getpid()) {
		t.Errorf("peer %+v", p)
	}
}

func TestLineLength(t *testing.T) {
	r := start(t, Limits{}, nil)
	_, p := r.paired("long")
	secret := r.secretOf(p)
	w := r.wire()
	w.prove(p, secret)
	frame := signLine("3", "r", `"action_envelope":{},"payload":"`)
	fill := 1<<20 - len(frame) - len(`"}}`)
	end := `"}}`
	frame = strings.TrimSuffix(frame, "}}")
	line := frame + strings.Repeat("x", fill+2) + end
	if len(line) != 1<<20 {
		t.Fatalf("the test's line has %d bytes", len(line))
	}
	if code := w.call(line).code(); code != "unknown_domain" {
		t.Errorf("a line of 1 MiB: %q", code)
	}
	if got := len(r.desk.Asks[0].Payload); got != fill+4 {
		t.Errorf("the payload has %d bytes, want %d", got, fill+4)
	}
	// One byte more. The server may close before it was all taken.
	go func() { _, _ = io.WriteString(w.c, "x"+line+"\n") }()
	if code := w.read().code(); code != "frame_too_large" {
		t.Errorf("a longer line: %q", code)
	}
}

func TestSlowLines(t *testing.T) {
	r := start(t, Limits{FrameTime: 150 * time.Millisecond, IdleUnproven: time.Hour}, nil)
	t.Run("half a line", func(t *testing.T) {
		w := r.wire()
		w.write(helloLine[:20])
		if code := w.read().code(); code != "frame_slow" {
			t.Errorf("code %q", code)
		}
		w.ended()
	})
	t.Run("drop by drop", func(t *testing.T) {
		w := r.wire()
		stop := make(chan struct{})
		defer close(stop)
		go func() { // each byte is early enough by itself; the line is not
			for i := 0; ; i++ {
				if _, err := w.c.Write([]byte(" ")); err != nil {
					return
				}
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		}()
		if code := w.read().code(); code != "frame_slow" {
			t.Errorf("code %q", code)
		}
	})
	t.Run("others are served meanwhile", func(t *testing.T) {
		w := r.wire()
		w.write("{")
		if a := r.wire().call(helloLine); a.Error != nil {
			t.Error(a.code())
		}
	})
}

func TestIdleConnectionsEnd(t *testing.T) {
	r := start(t, Limits{IdleUnproven: 100 * time.Millisecond, IdleProven: time.Hour}, nil)
	c, _ := r.paired("idle")
	w := r.wire()
	w.ended()
	// The proven one was idle for longer, and stays.
	if _, err := c.Status(context.Background()); err != nil {
		t.Error(err)
	}
}

// A call that waits for a person is not idleness.
func TestWaitingIsNotIdle(t *testing.T) {
	r := start(t, Limits{IdleProven: 50 * time.Millisecond, Wait: 400 * time.Millisecond}, nil)
	r.desk.Sign = func(ctx context.Context, ask approvals.Ask) (approvals.Answer, error) {
		<-ctx.Done()
		return approvals.Answer{Pending: ask.RequestID}, nil
	}
	_, p := r.paired("waits")
	w := r.wire()
	w.prove(p, r.secretOf(p))
	a := w.call(signLine("3", "r-1", `"action_envelope":{},"payload":{}`))
	if string(a.Result) != `{"pending":"r-1"}` {
		t.Errorf("answer %s %s", a.Result, a.code())
	}
}

func TestIdleCrowdIsHarmless(t *testing.T) {
	r := start(t, Limits{}, nil)
	for range 200 {
		r.wire()
	}
	c, _ := r.paired("in the crowd")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := c.ActionSign(ctx, client.Sign{RequestID: "r", Envelope: json.RawMessage(`{"domain":{"domainHash":"` + fakedesk.DomainHash + `"}}`), Payload: json.RawMessage(`{}`)})
	if err != nil || s.Signature == "" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestConnectionLimits(t *testing.T) {
	t.Run("of one process", func(t *testing.T) {
		r := start(t, Limits{ConnectionsPerPeer: 3}, nil)
		for range 3 {
			if a := r.wire().call(helloLine); a.Error != nil {
				t.Fatal(a.code())
			}
		}
		a := r.wire().read()
		if a.code() != "too_many_connections" || a.Error.Data.RetryAfterMS == 0 {
			t.Errorf("answer %+v", a.Error)
		}
	})
	t.Run("the longest idle gives way", func(t *testing.T) {
		r := start(t, Limits{Connections: 2}, nil)
		first, second := r.wire(), r.wire()
		second.call(helloLine) // both were accepted, and the first has never spoken
		if a := r.wire().call(helloLine); a.Error != nil {
			t.Errorf("third: %s", a.code())
		}
		first.ended()
		if a := second.call(`{"jsonrpc":"2.0","id":2,"method":"status"}`); a.Error != nil {
			t.Errorf("second: %s", a.code())
		}
	})
	t.Run("who speaks too late is told too", func(t *testing.T) {
		r := start(t, Limits{}, nil)
		l, err := net.Listen("unix", filepath.Join(filepath.Dir(r.path), "other.sock"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		c, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		there, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		r.srv.turnAway(there, refuse("too_many_connections"))
		w := &wire{t: t, c: c, r: bufio.NewReader(c)}
		if code := w.call(helloLine).code(); code != "too_many_connections" {
			t.Errorf("code %q", code)
		}
	})
	t.Run("proven ones do not", func(t *testing.T) {
		r := start(t, Limits{Connections: 2}, nil)
		_, p := r.paired("stays")
		for end := time.Now().Add(patience); r.counted() > 1; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the connection that paired is still counted")
			}
		}
		_ = r.proven(p)
		if code := r.wire().read().code(); code != "too_many_connections" {
			t.Errorf("code %q", code)
		}
	})
}

// A client that sends without reading is held back: what waits at the desk is bounded,
// and so is what waits here. Others are served.
func TestFloodIsHeldBack(t *testing.T) {
	const bound, n = 4, 2000
	r := start(t, Limits{CallsPerConnection: bound}, nil)
	var mu sync.Mutex
	var now, most, seen int
	full, open := make(chan struct{}), make(chan struct{})
	r.desk.Sign = func(ctx context.Context, ask approvals.Ask) (approvals.Answer, error) {
		if ask.RequestID == "other" {
			return approvals.Answer{Pending: "other"}, nil
		}
		mu.Lock()
		now++
		seen++
		most = max(most, now)
		if seen == bound {
			close(full)
		}
		mu.Unlock()
		select {
		case <-open:
		case <-ctx.Done():
		}
		mu.Lock()
		now--
		mu.Unlock()
		return approvals.Answer{Pending: ask.RequestID}, nil
	}
	_, p := r.paired("flood")
	secret := r.secretOf(p)
	w := r.wire()
	w.prove(p, secret)
	sent := make(chan error, 1)
	go func() {
		var err error
		for i := range n {
			if _, err = io.WriteString(w.c, signLine(strconv.Itoa(i+10), "r"+strconv.Itoa(i), `"action_envelope":{},"payload":{}`)+"\n"); err != nil {
				break
			}
		}
		sent <- err
	}()
	<-full
	o := r.wire()
	o.prove(p, secret)
	if a := o.call(signLine("9", "other", `"action_envelope":{},"payload":{}`)); string(a.Result) != `{"pending":"other"}` {
		t.Errorf("the other connection: %s %s", a.Result, a.code())
	}
	close(open)
	ids := map[string]bool{}
	for range n {
		a := w.read()
		if a.Error != nil {
			t.Fatal(a.code())
		}
		ids[string(a.ID)] = true
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if len(ids) != n || most > bound || seen != n {
		t.Errorf("%d answers, at most %d at once, %d in all", len(ids), most, seen)
	}
}

func TestIDInUse(t *testing.T) {
	r := start(t, Limits{}, nil)
	held, open := make(chan struct{}), make(chan struct{})
	r.desk.Sign = func(_ context.Context, ask approvals.Ask) (approvals.Answer, error) {
		close(held)
		<-open
		return approvals.Answer{Pending: ask.RequestID}, nil
	}
	_, p := r.paired("ids")
	w := r.wire()
	w.prove(p, r.secretOf(p))
	line := signLine("7", "r", `"action_envelope":{},"payload":{}`)
	w.write(line + "\n")
	<-held
	if code := w.call(`{"jsonrpc":"2.0","id":7,"method":"status"}`).code(); code != "id_in_use" {
		t.Errorf("code %q", code)
	}
	close(open)
	if a := w.read(); string(a.ID) != "7" || a.Error != nil {
		t.Errorf("the first call: %s %s", a.ID, a.code())
	}
}

func TestDisconnectEndsTheWait(t *testing.T) {
	r := start(t, Limits{}, nil)
	held, gone := make(chan struct{}), make(chan struct{})
	r.desk.Sign = func(ctx context.Context, ask approvals.Ask) (approvals.Answer, error) {
		close(held)
		<-ctx.Done()
		close(gone)
		return approvals.Answer{Pending: ask.RequestID}, nil
	}
	_, p := r.paired("leaves")
	w := r.wire()
	w.prove(p, r.secretOf(p))
	w.write(signLine("3", "r", `"action_envelope":{},"payload":{}`) + "\n")
	<-held
	_ = w.c.Close()
	select {
	case <-gone:
	case <-time.After(patience):
		t.Error("the call waits for nobody")
	}
}

// Shutdown ends waiting calls as pending, and the answer still leaves.
func TestShutdown(t *testing.T) {
	r := start(t, Limits{}, nil)
	held := make(chan struct{})
	r.desk.Sign = func(ctx context.Context, ask approvals.Ask) (approvals.Answer, error) {
		close(held)
		<-ctx.Done()
		return approvals.Answer{Pending: ask.RequestID}, nil
	}
	_, p := r.paired("stays to the end")
	idle, w := r.wire(), r.wire()
	w.prove(p, r.secretOf(p))
	w.write(signLine("3", "r", `"action_envelope":{},"payload":{}`) + "\n")
	<-held
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r.srv.Shutdown(ctx)
	if ctx.Err() != nil {
		t.Error("shutdown took all the time it had")
	}
	if a := w.read(); string(a.Result) != `{"pending":"r"}` {
		t.Errorf("answer %s %s", a.Result, a.code())
	}
	w.ended()
	idle.ended()
	if _, err := net.Dial("unix", r.path); err == nil {
		t.Error("still listening")
	}
}

// A call that ignores its end is cut off.
func TestShutdownCuts(t *testing.T) {
	r := start(t, Limits{}, nil)
	held, open := make(chan struct{}), make(chan struct{})
	r.desk.Sign = func(context.Context, approvals.Ask) (approvals.Answer, error) {
		close(held)
		<-open
		return approvals.Answer{Pending: "r"}, nil
	}
	_, p := r.paired("stubborn")
	w := r.wire()
	w.prove(p, r.secretOf(p))
	w.write(signLine("3", "r", `"action_envelope":{},"payload":{}`) + "\n")
	<-held
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	done := make(chan struct{})
	go func() {
		r.srv.Shutdown(ctx)
		close(done)
	}()
	w.ended()
	close(open)
	<-done
}

func TestFaultsOfTheDesk(t *testing.T) {
	for name, c := range map[string]struct {
		sign func(context.Context, approvals.Ask) (approvals.Answer, error)
		log  string
	}{
		"panic": {func(context.Context, approvals.Ask) (approvals.Answer, error) { panic("secret words") }, "panicked"},
		"error": {func(context.Context, approvals.Ask) (approvals.Answer, error) {
			return approvals.Answer{}, errors.New("disk on fire")
		}, "disk on fire"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, Limits{}, nil)
			r.desk.Sign = c.sign
			_, p := r.paired("fault")
			w := r.wire()
			w.prove(p, r.secretOf(p))
			a := w.call(signLine("3", "r", `"action_envelope":{},"payload":{}`))
			if a.code() != "internal" || strings.Contains(fmt.Sprintf("%+v", a.Error), "fire") || strings.Contains(fmt.Sprintf("%+v", a.Error), "secret") {
				t.Errorf("answer %+v", a.Error)
			}
			if err := <-r.errs; !strings.Contains(err.Error(), c.log) || strings.Contains(err.Error(), "secret words") {
				t.Errorf("log: %v", err)
			}
			if a := w.call(`{"jsonrpc":"2.0","id":4,"method":"status"}`); a.Error != nil {
				t.Errorf("afterwards: %s", a.code())
			}
		})
	}
}

// What came from outside stays in detail; the message is ours.
func TestRefusalOnTheWire(t *testing.T) {
	r := start(t, Limits{}, nil)
	r.desk.Sign = func(context.Context, approvals.Ask) (approvals.Answer, error) {
		return approvals.Answer{}, &approvals.Refusal{Code: "cooling_down", Message: "Wait.", Remedy: "Do wait.", RetryAfterMS: 1500, Data: json.RawMessage(`{"text":"<b>"}`)}
	}
	_, p := r.paired("refused")
	w := r.wire()
	w.prove(p, r.secretOf(p))
	a := w.call(signLine("3", "r", `"action_envelope":{},"payload":{}`))
	if a.Error == nil || a.Error.Code != int(FamilyLimit) || a.Error.Message != "Wait." || a.Error.Data.Remedy != "Do wait." || a.Error.Data.RetryAfterMS != 1500 || !bytes.Contains(a.Error.Data.Detail, []byte("text")) {
		t.Errorf("answer %+v", a.Error)
	}
	r.desk.Sign = func(context.Context, approvals.Ask) (approvals.Answer, error) {
		return approvals.Answer{}, &approvals.Refusal{Code: "of_next_year", Message: "New."}
	}
	if a := w.call(signLine("4", "r", `"action_envelope":{},"payload":{}`)); a.Error == nil || a.Error.Code != int(FamilyOther) || a.code() != "of_next_year" {
		t.Errorf("answer %+v", a.Error)
	}
}
