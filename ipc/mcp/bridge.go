// Package mcp offers the vault's socket to MCP clients: eight tools over stdio, and four
// more where it has a bot's key.
//
// It is one more client of the socket, with a pairing of its own, and can do nothing
// that another could not. It shows nobody anything and decides nothing: a host's own
// elicitation is never used, and its answers would not be consent. Results carry
// binding_moment_resolution or pending, never binding_moment (Briefing-and-Binding
// Envelope 8.1: the vault is the consuming surface).
package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vault/derive/jcs"
	"vault/ipc/bot"
	"vault/ipc/client"
)

const (
	// MaxResult bounds the text of one result, in bytes: below 20,000 tokens even where hex
	// digits cost one token for less than two, and though old clients read the text and new
	// ones the structure.
	MaxResult = 16 << 10

	// maxArguments leaves room for the frame of the socket's own line.
	maxArguments = jcs.MaxFrame - 4096

	// MaxLine bounds a line from the host.
	MaxLine = 2 << 20
)

// Options are what a bridge is made of.
type Options struct {
	// Connect gives a connection that has proven itself. It is called for each tool call, so that a
	// call that its host gives up ends its wait and nobody else's.
	Connect func(context.Context) (*client.Conn, error)
	// Session is the vault's session that moments and requests belong to unless a call names another.
	Session string
	Version string // of the program
	// Bot is the key of a bot, or nil. With it the tools of mint delegation are offered, and the bot's address
	// is proven on every connection.
	Bot *bot.Key
}

// NewSession draws the name of a session.
func NewSession() (string, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("draw a session: %w", err)
	}
	return "mcp-" + hex.EncodeToString(b[:]), nil
}

// Bridge serves MCP clients.
type Bridge struct {
	o        Options
	server   *mcp.Server
	requests requests
}

// New makes a bridge.
func New(o Options) *Bridge {
	b := &Bridge{o: o}
	b.server = mcp.NewServer(&mcp.Implementation{Name: "agent-vault", Title: "Agent vault", Version: o.Version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{},
	})
	offered := tools
	if o.Bot != nil {
		offered = append(slices.Clone(tools), b.mintTools()...)
	}
	for i := range offered {
		t := &offered[i]
		b.server.AddTool(&mcp.Tool{
			Name: t.name, Title: t.title, Description: t.description,
			InputSchema: json.RawMessage(t.input), OutputSchema: json.RawMessage(t.output), Annotations: t.hints,
		}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return b.call(ctx, t, req.Params.Arguments), nil
		})
	}
	return b
}

// Serve speaks MCP over a transport until the client leaves or ctx ends.
func (b *Bridge) Serve(ctx context.Context, t mcp.Transport) error { return b.server.Run(ctx, t) }

// refused is an error of ours, in the form of the vault's.
type refused struct {
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Remedy  string          `json:"remedy"`
	Detail  json.RawMessage `json:"detail,omitempty"`
	Retry   int64           `json:"retry_after_ms,omitempty"`
}

func (r *refused) Error() string { return r.Code + ": " + r.Message }

func refuse(code, message, remedy string) error {
	return &refused{Code: code, Message: message, Remedy: remedy}
}

// call runs one tool. What goes wrong is a result that says so, for the agent to read.
func (b *Bridge) call(ctx context.Context, t *tool, raw []byte) *mcp.CallToolResult {
	a, err := cut(raw, t.members)
	if err != nil {
		return failure(err)
	}
	conn, err := b.o.Connect(ctx)
	if err != nil {
		return failure(err)
	}
	// When the host gives the call up, closing ends the wait at the vault.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		stop()
		_ = conn.Close()
	}()
	if a.text["session"] == "" {
		a.text["session"] = b.o.Session
	}
	if t.bot {
		if err := conn.ProveBot(ctx, b.o.Bot); err != nil {
			return failure(err)
		}
	}
	out, err := t.run(ctx, conn, a)
	if err != nil {
		return failure(err)
	}
	if !t.pages {
		if out, err = page(out, a.text["cursor"]); err != nil {
			return failure(err)
		}
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(out)}}, StructuredContent: json.RawMessage(out)}
}

func failure(err error) *mcp.CallToolResult {
	var ours *refused
	var vaults *client.Error
	switch {
	case errors.As(err, &ours):
	case errors.As(err, &vaults):
		ours = &refused{vaults.Code, vaults.Message, vaults.Remedy, vaults.Detail, vaults.RetryAfterMS}
	default:
		ours = &refused{Code: "no_connection", Message: "The vault cannot be reached.", Remedy: "Ask the owner to start the vault, then call again."}
	}
	if len(ours.Detail) > MaxResult/2 {
		ours.Detail = nil
	}
	raw, err := json.Marshal(ours)
	if err != nil {
		raw = []byte(`{"code":"internal"}`)
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(raw)}}}
}

// page cuts a document that is too long for one result. A cursor names the document that it goes
// on in; another document under the same call makes it stale.
func page(doc []byte, cursor string) ([]byte, error) {
	if cursor == "" && len(doc) <= MaxResult {
		return doc, nil
	}
	sum := sha256.Sum256(doc)
	name := hex.EncodeToString(sum[:8])
	from := 0
	if cursor != "" {
		at, of, ok := strings.Cut(cursor, ".")
		n, err := strconv.Atoi(at)
		if !ok || err != nil || of != name || n < 0 || n >= len(doc) {
			return nil, refuse("cursor_stale", "The cursor does not belong to what this call answers now.", "Call again without a cursor.")
		}
		from = n
	}
	// A part may need twice its length as a text in JSON, and at most 6 times for control characters, which
	// canonical JSON has none of unescaped.
	to := min(from+MaxResult/2-256, len(doc))
	for to < len(doc) && doc[to]&0xc0 == 0x80 {
		to--
	}
	out := struct {
		Part   string `json:"document_part"`
		Total  int    `json:"total_bytes"`
		Cursor string `json:"cursor,omitempty"`
	}{Part: string(doc[from:to]), Total: len(doc)}
	if to < len(doc) {
		out.Cursor = strconv.Itoa(to) + "." + name
	}
	return jcs.Marshal(out, jcs.Binding)
}

// args are the members of a tool's arguments: texts decoded, documents as they were received.
type args struct {
	text map[string]string
	raw  map[string]json.RawMessage
}

// cut reads the raw arguments: the whole of them is checked (UTF-8, duplicate names, surrogates, depth)
// before anything is decoded, and documents are passed on byte for byte.
func cut(raw []byte, members []member) (args, error) {
	a := args{map[string]string{}, map[string]json.RawMessage{}}
	bad := func(what string) (args, error) {
		return args{}, refuse("arguments_invalid", "The arguments are not those of this tool: "+what+".", "Send exactly the members that the tool's schema names.")
	}
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	if len(raw) > maxArguments {
		return bad("they are longer than 1 MiB")
	}
	if err := jcs.CheckFrame(raw); err != nil {
		return bad("they are not strict JSON")
	}
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if d.PeekKind() != '{' {
		return bad("they are not an object")
	}
	if _, err := d.ReadToken(); err != nil {
		return bad("they are not an object")
	}
	seen := map[string]bool{}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return bad("they cannot be read")
		}
		name := token.String()
		value, err := d.ReadValue()
		if err != nil {
			return bad("they cannot be read")
		}
		m, ok := memberOf(members, name)
		if !ok {
			return bad("a member is unknown")
		}
		seen[name] = true
		if m.document {
			a.raw[name] = bytes.Clone(value)
			continue
		}
		if value.Kind() != '"' {
			return bad("member " + name + " is not a text")
		}
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return bad("member " + name + " is not a text")
		}
		a.text[name] = string(text)
	}
	for _, m := range members {
		if m.required && !seen[m.name] {
			return bad("member " + m.name + " is missing")
		}
	}
	return a, nil
}

func memberOf(members []member, name string) (member, bool) {
	for _, m := range members {
		if m.name == name {
			return m, true
		}
	}
	return member{}, false
}
