// Package client is the agent's side of the vault's socket in Go: connect, pair, prove,
// ask for a signature, await it.
//
// It asks and waits; there is nothing in it that could decide. What it keeps is one
// file per client name: the secret of the pairing, and the newest head of the vault's
// log that it was given, which it shows at the next hello so that a vault that was
// put back to an older state is noticed.
package client

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/creachadair/jrpc2"

	"vault/approvals/handshake"
	"vault/derive/jcs"
	"vault/ipc/socket"
)

// maxAnswer bounds one line from the vault, in bytes.
const maxAnswer = 8 << 20

// Error is an error answer of the vault (docs/protocol.md).
type Error struct {
	Family       int             // JSON-RPC code
	Code         string          // stable code
	Message      string          // the vault's sentence
	Remedy       string          // what to do
	RetryAfterMS int64           // 0 unless waiting helps
	Detail       json.RawMessage // text from outside, or nil
}

// Error gives code and message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// ErrVaultProof is returned by Hello when the other end does not know the client's
// secret: it is not the vault that this client was paired with.
var ErrVaultProof = errors.New("the vault did not prove that it knows this client's secret")

// ErrOtherVault is returned by Hello when the vault's id is not the one of the pairing.
var ErrOtherVault = errors.New("this is not the vault that this client was paired with")

// ErrLost is returned where the connection ended before the answer came: whether what was asked was done is not known. The
// same request id on another connection gives the same answer.
var ErrLost = errors.New("the connection to the vault ended before it answered")

// Conn is one connection. It is safe for concurrent use.
type Conn struct {
	rpc *jrpc2.Client

	mu   sync.Mutex
	keep *Pairing
}

// Dial connects to the socket at path; see socket.Path for the usual one. It blocks
// until connected or ctx ends. Errors are *socket.Error.
func Dial(ctx context.Context, path string) (*Conn, error) {
	c, err := socket.Dial(ctx, path)
	if err != nil {
		return nil, err
	}
	return &Conn{rpc: jrpc2.NewClient(newLines(c), nil)}, nil
}

// DialOwner is Dial to the vault of another user, who has added a socket for this one; owner is as the environment variable
// VAULT_SOCK_OWNER names it, by account or number, or empty for this user's own vault.
func DialOwner(ctx context.Context, path, owner string) (*Conn, error) {
	id, err := socket.OwnerOf(owner)
	if err != nil {
		return nil, err
	}
	c, err := socket.DialOwner(ctx, path, id)
	if err != nil {
		return nil, err
	}
	return &Conn{rpc: jrpc2.NewClient(newLines(c), nil)}, nil
}

// Close ends the connection.
func (c *Conn) Close() error { return c.rpc.Close() }

// Greeting is what the vault says of itself.
type Greeting struct {
	Vault   string          `json:"vault"` // 32 hex digits
	Nonce   string          `json:"nonce"` // base64url, 32 bytes
	Proof   string          `json:"proof"` // base64url, 32 bytes, or empty
	State   string          `json:"state"`
	LogHead json.RawMessage `json:"log_head"`
}

// Call calls one method and decodes its result into result, which may be nil. It
// blocks until answered or ctx ends. Errors of the vault are *Error, and ErrLost is wrapped where it went away. What the vault could not read as a line, and so could not
// answer to anybody, is not sent: it is refused here as the vault would, frame_invalid or frame_too_large.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	if params != nil {
		raw, err := json.Marshal(params)
		if err != nil {
			return unreadable(err) // a document in it is no JSON
		}
		params = json.RawMessage(raw)
	}
	rsp, err := c.rpc.Call(ctx, method, params)
	if err != nil {
		return c.failed(ctx, err)
	}
	if result == nil {
		return nil
	}
	if err := rsp.UnmarshalResult(result); err != nil {
		return fmt.Errorf("decode the answer to %s: %w", method, err)
	}
	return nil
}

// failed tells an answer of the vault, an end of ctx and a connection that is over apart.
func (c *Conn) failed(ctx context.Context, err error) error {
	err = fromRPC(err)
	var answer *Error
	var other *jrpc2.Error
	switch {
	case errors.As(err, &answer), ctx.Err() != nil, errors.As(err, &other) && !c.rpc.IsStopped():
		return err
	}
	return fmt.Errorf("%w: %v", ErrLost, err)
}

func fromRPC(err error) error {
	var e *jrpc2.Error
	if !errors.As(err, &e) {
		return err
	}
	var data struct {
		Code         string          `json:"code"`
		Message      string          `json:"message"`
		Remedy       string          `json:"remedy"`
		RetryAfterMS int64           `json:"retry_after_ms"`
		Detail       json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(e.Data, &data) != nil || data.Code == "" {
		return err
	}
	return &Error{int(e.Code), data.Code, data.Message, data.Remedy, data.RetryAfterMS, data.Detail}
}

func (c *Conn) greet(ctx context.Context, client string) (handshake.Nonce, Greeting, error) {
	var nonce handshake.Nonce
	if _, err := rand.Read(nonce[:]); err != nil {
		return nonce, Greeting{}, err
	}
	params := map[string]string{"version": handshake.ProtocolVersion, "nonce": handshake.Encode(nonce)}
	if client != "" {
		params["client"] = client
	}
	var g Greeting
	err := c.Call(ctx, "hello", params, &g)
	return nonce, g, err
}

// Pair asks to be paired under the program's own name. show is called with the six
// digits, which the owner compares with those in the vault's window; Pair then
// blocks until the owner has decided or ctx ends. A connection that paired is to be
// closed: dial again and say Hello with the result.
func (c *Conn) Pair(ctx context.Context, name string, show func(digits string)) (*Pairing, error) {
	if _, _, err := c.greet(ctx, ""); err != nil {
		return nil, err
	}
	var nonce handshake.Nonce
	if _, err := rand.Read(nonce[:]); err != nil {
		return nil, err
	}
	var offer struct{ Pairing, Vault, Nonce string }
	err := c.Call(ctx, "pair", map[string]string{"name": name, "commitment": handshake.Encode(handshake.Commit(nonce))}, &offer)
	if err != nil {
		return nil, err
	}
	server, err := handshake.Decode(offer.Nonce)
	if err != nil {
		return nil, fmt.Errorf("decode the vault's nonce: %w", err)
	}
	show(handshake.Digits(offer.Vault, nonce, server))
	var result struct {
		pending
		Client, Secret string
	}
	if err := c.wait(ctx, "pair.reveal", map[string]string{"pairing": offer.Pairing, "nonce": handshake.Encode(nonce)}, &result); err != nil {
		return nil, err
	}
	secret, err := handshake.Decode(result.Secret)
	if err != nil {
		return nil, fmt.Errorf("decode the pairing's secret: %w", err)
	}
	return &Pairing{Vault: offer.Vault, Client: result.Client, secret: secret}, nil
}

// Hello proves both ends to each other. The pairing's head is sent along, and the
// newer one that the vault gives is kept in p; Save p to remember it.
func (c *Conn) Hello(ctx context.Context, p *Pairing) (Greeting, error) {
	nonce, g, err := c.greet(ctx, p.Client)
	if err != nil {
		return g, err
	}
	if g.Vault != p.Vault {
		return g, ErrOtherVault
	}
	server, err := handshake.Decode(g.Nonce)
	if err != nil {
		return g, fmt.Errorf("decode the vault's nonce: %w", err)
	}
	proof, err := handshake.Decode(g.Proof)
	if err != nil || !handshake.Check(proof, &p.secret, handshake.RoleVault, handshake.ProtocolVersion, g.Vault, nonce, server) {
		return g, ErrVaultProof
	}
	ours := handshake.Prove(&p.secret, handshake.RoleClient, handshake.ProtocolVersion, g.Vault, nonce, server)
	params := map[string]any{"proof": handshake.Encode(ours)}
	if last := p.LastHead(); last != nil {
		params["last_head"] = last
	}
	if err := c.Call(ctx, "hello.prove", params, nil); err != nil {
		return g, err
	}
	p.remember(g.LogHead)
	c.mu.Lock()
	c.keep = p
	c.mu.Unlock()
	return g, nil
}

// Sign is a request for one signature under an action envelope (AgentEnvelope 9).
type Sign struct {
	RequestID string          // 1 to 128 printable ASCII characters, of the client's choice
	Session   string          // the same, or empty
	Envelope  json.RawMessage // sent as it is
	Payload   json.RawMessage // sent as it is
	Lifetime  int64           // milliseconds; 0 stands for 10 minutes
	Grant     bool            // only under a grant: not_shown at once where none covers it
}

// Signed is what action.sign gives.
type Signed struct {
	Signature    string          `json:"signature"`             // 0x and 130 hex digits
	AgentAddress string          `json:"agent_address"`         // 0x and 40 hex digits
	Record       json.RawMessage `json:"record"`                // public action record (AgentEnvelope 10)
	Attestation  json.RawMessage `json:"attestation,omitempty"` // the domain's word that the address belongs to the envelope
	LogHead      json.RawMessage `json:"log_head"`              // signed head over the entry
	By           string          `json:"by"`                    // click, passkey or grant
	Seq          uint64          `json:"seq"`                   // number of the log entry
}

// ActionSign asks for a signature and blocks until it was decided or ctx ends; a
// pending answer is awaited again. When ctx ends the request lives on: Await takes it up.
func (c *Conn) ActionSign(ctx context.Context, s Sign) (Signed, error) {
	params := struct {
		RequestID string          `json:"request_id"`
		Session   string          `json:"session,omitempty"`
		Envelope  json.RawMessage `json:"action_envelope"`
		Payload   json.RawMessage `json:"payload"`
		Lifetime  int64           `json:"lifetime_ms,omitempty"`
		Interact  bool            `json:"interactive"`
	}{s.RequestID, s.Session, s.Envelope, s.Payload, s.Lifetime, !s.Grant}
	return c.signed(ctx, "action.sign", params)
}

// Await takes up a signing request again, also on another connection.
func (c *Conn) Await(ctx context.Context, request string) (Signed, error) {
	return c.signed(ctx, "request.await", map[string]string{"request": request})
}

func (c *Conn) signed(ctx context.Context, method string, params any) (Signed, error) {
	var out struct {
		pending
		Signed
	}
	if err := c.wait(ctx, method, params, &out); err != nil {
		return Signed{}, err
	}
	c.remember(out.LogHead)
	return out.Signed, nil
}

// remember keeps a head of the log with the pairing of this connection, if there is one.
func (c *Conn) remember(head json.RawMessage) {
	c.mu.Lock()
	p := c.keep
	c.mu.Unlock()
	if p != nil {
		p.remember(head)
	}
}

// pending is the part of an answer that says that it is still to come.
type pending struct {
	Pending string `json:"pending"`
}

func (p *pending) awaited() (request string) {
	request, p.Pending = p.Pending, ""
	return request
}

// wait calls a method that may wait for a person, and awaits it until it is decided. The result has pending in it.
func (c *Conn) wait(ctx context.Context, method string, params any, result interface{ awaited() string }) error {
	for {
		if err := c.Call(ctx, method, params, result); err != nil {
			return err
		}
		request := result.awaited()
		if request == "" {
			return nil
		}
		method, params = "request.await", map[string]string{"request": request}
	}
}

// Presentation is a binding moment for the owner (docs/protocol.md, Binding moments): ToolResult
// alone, or Moment with Fallback. The documents are sent as they are.
type Presentation struct {
	Session    string
	ToolResult json.RawMessage
	Moment     json.RawMessage
	Fallback   string
	Actions    json.RawMessage // nil for none
	ToolServer string
}

// Question is one of the owner's about an open moment.
type Question struct {
	ID   string `json:"id"`
	Line string `json:"line"`
	Text string `json:"question"`
	At   int64  `json:"at"` // milliseconds since epoch
}

// Fallback says why no decision could be shown.
type Fallback struct {
	Reason   string `json:"reason"`
	Sentence string `json:"sentence"`
	Path     string `json:"path"`
}

// Presented is what became of a moment. Exactly one of Pending, Resolution and Fallback is set.
type Presented struct {
	Pending    string          `json:"pending"` // the moment's id, to be awaited
	Asks       []Question      `json:"asks"`    // not answered yet
	Resolution json.RawMessage `json:"-"`       // the whole object of section 7.3
	Fallback   *Fallback       `json:"fallback"`
}

// Present lays a moment before the owner. It blocks for up to 50 seconds and then
// answers Pending, or earlier with a question.
func (c *Conn) Present(ctx context.Context, p Presentation) (Presented, error) {
	params := map[string]any{"session": p.Session}
	if p.ToolResult != nil {
		params["tool_result"] = p.ToolResult
	} else {
		params["binding_moment"], params["fallback"] = p.Moment, p.Fallback
	}
	if p.Actions != nil {
		params["actions"] = p.Actions
	}
	if p.ToolServer != "" {
		params["tool_server"] = p.ToolServer
	}
	return c.presented(ctx, "moment.present", params)
}

// AwaitMoment takes a moment up again, as Present does.
func (c *Conn) AwaitMoment(ctx context.Context, session, moment string) (Presented, error) {
	return c.presented(ctx, "moment.await", map[string]string{"session": session, "moment": moment})
}

func (c *Conn) presented(ctx context.Context, method string, params any) (Presented, error) {
	var raw json.RawMessage
	if err := c.Call(ctx, method, params, &raw); err != nil {
		return Presented{}, err
	}
	var out Presented
	if err := json.Unmarshal(raw, &out); err != nil {
		return Presented{}, fmt.Errorf("decode the answer to %s: %w", method, err)
	}
	if out.Pending == "" && out.Fallback == nil {
		out.Resolution = raw
	}
	return out, nil
}

// Say answers one of the owner's questions about a moment.
func (c *Conn) Say(ctx context.Context, session, moment, ask, text string) error {
	return c.Call(ctx, "moment.say", map[string]string{"session": session, "moment": moment, "ask": ask, "text": text}, nil)
}

// SignMoment asks for the signature of the action that was selected, and blocks until it is
// there or ctx ends. The same call again gives the same signature.
func (c *Conn) SignMoment(ctx context.Context, session, moment string, action json.RawMessage) (Signed, error) {
	return c.signed(ctx, "moment.sign", map[string]any{"session": session, "moment": moment, "action": action})
}

// Cancel takes a request back.
func (c *Conn) Cancel(ctx context.Context, request string) error {
	return c.Call(ctx, "request.cancel", map[string]string{"request": request}, nil)
}

// Status gives what the vault says of itself. On a connection without Hello it
// greets first, without being anybody.
func (c *Conn) Status(ctx context.Context) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.Call(ctx, "status", nil, &raw)
	var e *Error
	if errors.As(err, &e) && e.Code == "hello_first" {
		if _, _, err = c.greet(ctx, ""); err == nil {
			err = c.Call(ctx, "status", nil, &raw)
		}
	}
	return raw, err
}

// Domains gives the public projections of all domains (AgentEnvelope 7).
func (c *Conn) Domains(ctx context.Context) ([]json.RawMessage, error) {
	var out struct{ Domains []json.RawMessage }
	err := c.Call(ctx, "domain.list", nil, &out)
	return out.Domains, err
}

// Domain gives one domain's public projection, by domain hash or domain id.
func (c *Conn) Domain(ctx context.Context, domain string) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.Call(ctx, "domain.get", map[string]string{"domain": domain}, &raw)
	return raw, err
}

// Record gives the public action record of a request that was signed.
func (c *Conn) Record(ctx context.Context, request string) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.Call(ctx, "record.get", map[string]string{"request": request}, &raw)
	return raw, err
}

// EndSession ends one of this client's sessions.
func (c *Conn) EndSession(ctx context.Context, session string) error {
	return c.Call(ctx, "session.end", map[string]string{"session": session}, nil)
}

// lines is the channel under a connection: one JSON value a line.
type lines struct {
	conn net.Conn
	in   *bufio.Scanner
}

func newLines(c net.Conn) *lines {
	in := bufio.NewScanner(c)
	in.Buffer(make([]byte, 0, 4096), maxAnswer)
	return &lines{conn: c, in: in}
}

// unreadable is the vault's refusal of a line that it cannot read.
func unreadable(err error) error {
	e := &Error{Family: frameFamily, Code: "frame_invalid", Message: "The line is not one strict JSON value.", Remedy: "Send UTF-8, one JSON value a line, without duplicate names."}
	var why *jcs.Error
	if errors.As(err, &why) {
		if why.Code == jcs.TooLarge {
			e.Code, e.Message, e.Remedy = "frame_too_large", "The line is longer than 1 MiB.", "Send a smaller document."
			return e
		}
		e.Message += " Reason: " + string(why.Code) + "."
	}
	return e
}

// frameFamily is the JSON-RPC code of a line that cannot be read.
const frameFamily = -32700

// Send implements channel.Channel.
func (l *lines) Send(b []byte) error {
	if err := jcs.CheckFrame(b); err != nil {
		return unreadable(err)
	}
	_, err := l.conn.Write(append(b[:len(b):len(b)], '\n'))
	return err
}

// Recv implements channel.Channel.
func (l *lines) Recv() ([]byte, error) {
	if l.in.Scan() {
		return append([]byte(nil), l.in.Bytes()...), nil
	}
	if err := l.in.Err(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}

// Close implements channel.Channel.
func (l *lines) Close() error { return l.conn.Close() }
