package ipc

import (
	"context"
	"encoding/json"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/handshake"
	"vault/derive/jcs"
)

// stage is how far a connection's handshake must have come for a method.
type stage uint8

const (
	stageNew     stage = iota // before hello
	stageGreeted              // hello was answered
	stageProven               // the client has proven itself
)

// method is one row of the protocol.
type method struct {
	name   string
	stage  stage
	fields []field
	waits  bool // may wait for a person, and then answers pending
	run    func(ctx context.Context, c *conn, a args) (any, error)
}

// Bounds of single parameters.
const (
	maxName      = 128                 // characters of an id
	maxClaimed   = 128                 // bytes of a program's own name
	maxLifetime  = 24 * 60 * 60 * 1000 // milliseconds a request may live
	maxClientID  = 64
	maxPairingID = 128
	maxServer    = 128       // bytes of a tool server's name
	maxFallback  = 256 << 10 // bytes of the text beside a bare binding moment
	maxReply     = 16 << 10  // bytes of an answer to the owner's question
	maxKind      = 32        // characters of a kind or a move
)

// methods is the protocol: docs/protocol.md has the same rows.
var methods = append([]method{
	{name: "hello", stage: stageNew, run: hello, fields: []field{
		{name: "version", kind: kindText, max: 16},
		{name: "client", kind: kindName, max: maxClientID, optional: true},
		{name: "nonce", kind: kindBytes},
	}},
	{name: "hello.prove", stage: stageGreeted, run: helloProve, fields: []field{
		{name: "proof", kind: kindBytes},
		{name: "last_head", kind: kindObject, optional: true},
	}},
	{name: "pair", stage: stageGreeted, run: pair, fields: []field{
		{name: "name", kind: kindText, max: maxClaimed},
		{name: "commitment", kind: kindBytes},
	}},
	{name: "pair.reveal", stage: stageGreeted, waits: true, run: pairReveal, fields: []field{
		{name: "pairing", kind: kindName, max: maxPairingID},
		{name: "nonce", kind: kindBytes},
	}},
	{name: "status", stage: stageGreeted, run: func(ctx context.Context, c *conn, _ args) (any, error) {
		return document(c.talk.Status(ctx))
	}},
	{name: "domain.list", stage: stageProven, run: func(ctx context.Context, c *conn, _ args) (any, error) {
		return document(c.talk.DomainList(ctx))
	}},
	{name: "domain.get", stage: stageProven, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return document(c.talk.DomainGet(ctx, a.text["domain"]))
	}, fields: []field{
		{name: "domain", kind: kindText, max: 512},
	}},
	{name: "action.sign", stage: stageProven, waits: true, run: actionSign, fields: []field{
		{name: "request_id", kind: kindName, max: maxName},
		{name: "session", kind: kindName, max: maxName, optional: true},
		{name: "action_envelope", kind: kindObject},
		{name: "payload", kind: kindValue},
		{name: "lifetime_ms", kind: kindMillis, max: maxLifetime, optional: true},
		{name: "interactive", kind: kindFlag, optional: true},
	}},
	{name: "request.await", stage: stageGreeted, waits: true, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return answer(c.talk.Await(ctx, a.text["request"]))
	}, fields: []field{
		{name: "request", kind: kindName, max: maxName},
	}},
	{name: "request.cancel", stage: stageGreeted, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return done(c.talk.Cancel(ctx, a.text["request"]))
	}, fields: []field{
		{name: "request", kind: kindName, max: maxName},
	}},
	{name: "record.get", stage: stageProven, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return document(c.talk.RecordGet(ctx, a.text["request"]))
	}, fields: []field{
		{name: "request", kind: kindName, max: maxName},
	}},
	{name: "moment.present", stage: stageProven, waits: true, run: momentPresent, fields: []field{
		{name: "session", kind: kindName, max: maxName},
		{name: "tool_result", kind: kindValue, optional: true},
		{name: "binding_moment", kind: kindValue, optional: true},
		{name: "fallback", kind: kindText, max: maxFallback, optional: true},
		{name: "actions", kind: kindValue, optional: true},
		{name: "tool_server", kind: kindText, max: maxServer, optional: true},
	}},
	{name: "moment.await", stage: stageProven, waits: true, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return answer(c.talk.MomentAwait(ctx, a.text["session"], a.text["moment"]))
	}, fields: []field{
		{name: "session", kind: kindName, max: maxName},
		{name: "moment", kind: kindName, max: maxName},
	}},
	{name: "moment.say", stage: stageProven, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return done(c.talk.MomentSay(ctx, approvals.Reply{
			Session: a.text["session"], Moment: a.text["moment"], Question: a.text["ask"], Text: a.text["text"],
		}))
	}, fields: []field{
		{name: "session", kind: kindName, max: maxName},
		{name: "moment", kind: kindName, max: maxName},
		{name: "ask", kind: kindName, max: maxName},
		{name: "text", kind: kindText, max: maxReply},
	}},
	{name: "moment.sign", stage: stageProven, waits: true, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return answer(c.talk.MomentSign(ctx, approvals.MomentAction{Session: a.text["session"], Moment: a.text["moment"], Action: a.raw["action"]}))
	}, fields: []field{
		{name: "session", kind: kindName, max: maxName},
		{name: "moment", kind: kindName, max: maxName},
		{name: "action", kind: kindValue},
	}},
	{name: "sow.submit", stage: stageProven, waits: true, run: sowSubmit, fields: []field{
		{name: "request_id", kind: kindName, max: maxName},
		{name: "session", kind: kindName, max: maxName, optional: true},
		{name: "document", kind: kindObject},
		{name: "kind", kind: kindName, max: maxKind, optional: true},
		{name: "move", kind: kindName, max: maxKind, optional: true},
		{name: "fill", kind: kindObject, optional: true},
		{name: "intent", kind: kindName, max: maxName, optional: true},
		{name: "intent_key", kind: kindName, max: maxName, optional: true},
	}},
	{name: "sow.status", stage: stageProven, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return answer(c.talk.SoWStatus(ctx, a.text["engagement"]))
	}, fields: []field{
		{name: "engagement", kind: kindName, max: maxName},
	}},
	{name: "sow.get", stage: stageProven, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return answer(c.talk.SoWGet(ctx, a.text["engagement"], a.text["digest"]))
	}, fields: []field{
		{name: "engagement", kind: kindName, max: maxName},
		{name: "digest", kind: kindName, max: maxName, optional: true},
	}},
	{name: "sow.await", stage: stageProven, waits: true, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return answer(c.talk.SoWAwait(ctx, a.text["request"]))
	}, fields: []field{
		{name: "request", kind: kindName, max: maxName},
	}},
	{name: "session.end", stage: stageProven, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return done(c.talk.SessionEnd(ctx, a.text["session"]))
	}, fields: []field{
		{name: "session", kind: kindName, max: maxName},
	}},
}, mintMethods...)

func methodOf(name string) (method, bool) {
	for _, m := range methods {
		if m.name == name {
			return m, true
		}
	}
	return method{}, false
}

type empty struct{}

type pending struct {
	Pending string               `json:"pending"`
	Asks    []approvals.Question `json:"asks,omitempty"`
}

func document(raw json.RawMessage, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return raw, nil
}

func done(err error) (any, error) { return empty{}, err }

func answer(a approvals.Answer, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	if a.Pending != "" {
		return pending{a.Pending, a.Asks}, nil
	}
	return a.Result, nil
}

type greeting struct {
	Version string          `json:"version"`
	Vault   string          `json:"vault"`
	Nonce   string          `json:"nonce"`
	Proof   string          `json:"proof,omitempty"`
	State   string          `json:"state"`
	LogHead json.RawMessage `json:"log_head,omitempty"`
}

func hello(ctx context.Context, c *conn, a args) (any, error) {
	if a.text["version"] != Version {
		return nil, refuse("version_unknown")
	}
	if !c.advance(stageNew, stageGreeting) {
		return nil, refuse("hello_again")
	}
	nonce := a.key["nonce"]
	talk, g, err := c.server.o.Agents.Hello(ctx, c.peer, a.text["client"], nonce[:])
	if err != nil {
		c.advance(stageGreeting, stageNew)
		return nil, err
	}
	c.talk = talk
	out := greeting{Version: Version, Vault: g.Vault, Nonce: encode(g.Nonce), State: g.State, LogHead: g.LogHead}
	if g.Proof != nil {
		out.Proof = encode(g.Proof)
	}
	c.advance(stageGreeting, stageGreeted)
	return out, nil
}

func helloProve(ctx context.Context, c *conn, a args) (any, error) {
	proof, head := a.key["proof"], a.raw["last_head"]
	if head != nil {
		// Many JSON libraries write what they read with other spaces; the head is signed
		// in its canonical form.
		var err error
		if head, err = jcs.Canonical(head, jcs.Binding); err != nil {
			return nil, refuseFor("params_invalid", "Member last_head is not what it should be.")
		}
	}
	if err := c.talk.Prove(ctx, proof[:], head); err != nil {
		c.frames.finish() // one try each
		return nil, err
	}
	if c.advance(stageGreeted, stageProven) {
		c.frames.known()
	}
	return empty{}, nil
}

type offer struct {
	Pairing string `json:"pairing"`
	Vault   string `json:"vault"`
	Nonce   string `json:"nonce"`
}

func pair(ctx context.Context, c *conn, a args) (any, error) {
	o, err := c.talk.PairBegin(ctx, approvals.PairAsk{Claimed: a.text["name"], Commitment: a.key["commitment"]})
	if err != nil {
		return nil, err
	}
	return offer{o.Pairing, o.Vault, encode(o.Nonce)}, nil
}

func pairReveal(ctx context.Context, c *conn, a args) (any, error) {
	nonce := a.key["nonce"]
	return answer(c.talk.PairReveal(ctx, a.text["pairing"], nonce[:]))
}

func actionSign(ctx context.Context, c *conn, a args) (any, error) {
	interactive, said := a.flag["interactive"]
	return answer(c.talk.ActionSign(ctx, approvals.Ask{
		RequestID:   a.text["request_id"],
		Session:     a.text["session"],
		Envelope:    a.raw["action_envelope"],
		Payload:     a.raw["payload"],
		LifetimeMS:  a.number["lifetime_ms"],
		Interactive: interactive || !said,
	}))
}

func momentPresent(ctx context.Context, c *conn, a args) (any, error) {
	_, said := a.text["fallback"]
	result, bare := a.raw["tool_result"], a.raw["binding_moment"]
	if (result != nil) == (bare != nil) || said != (bare != nil) {
		return nil, refuseFor("params_invalid", "Send tool_result alone, or binding_moment with fallback.")
	}
	return answer(c.talk.MomentPresent(ctx, approvals.Presentation{
		Session: a.text["session"], ToolResult: result, BindingMoment: bare, Fallback: a.text["fallback"],
		Actions: a.raw["actions"], ToolServer: a.text["tool_server"],
	}))
}

func sowSubmit(ctx context.Context, c *conn, a args) (any, error) {
	ask := approvals.SoWAsk{
		RequestID: a.text["request_id"], Session: a.text["session"], Kind: agreement.RecordKind(a.text["kind"]), Document: a.raw["document"],
		Move: a.text["move"], Intent: a.text["intent"], IntentKey: a.text["intent_key"],
	}
	if raw := a.raw["fill"]; raw != nil {
		fill, err := approvals.ParseFill(raw)
		if err != nil {
			return nil, refuseFor("params_invalid", "Member fill is not what it should be.")
		}
		ask.Fill = fill
	}
	return answer(c.talk.SoWSubmit(ctx, ask))
}

// encode writes the desk's 32 bytes for the wire.
func encode(b []byte) string {
	var fixed [handshake.Size]byte
	copy(fixed[:], b)
	return handshake.Encode(fixed)
}
