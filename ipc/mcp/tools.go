package mcp

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vault/derive/jcs"
	"vault/ipc/client"
)

// instructions are what a host may show its agent (docs/mcp.md has a longer text).
const instructions = "Decisions that only your owner can take go through present_moment: answer first, three to six findings, a " +
	"neutral question, two to four options with the digest of each option's action. Do not ask before you have a position. " +
	"What comes back is one of four. option: do that option's action, exactly, once, and no other. answer: the owner's own words; they " +
	"authorise nothing. question: your question was the wrong one; deliberate, do not ask it again in other words. declined: the answer is no. " +
	"Nothing here is approved by you or by this host; calls that wait for the owner answer pending, and are taken up again."

// tool is one row of what the bridge offers.
type tool struct {
	name, title, description string
	members                  []member
	input, output            string // JSON schemas
	hints                    *mcp.ToolAnnotations
	pages                    bool // cuts its results itself
	bot                      bool // needs the bot's address proven
	run                      func(context.Context, *client.Conn, args) ([]byte, error)
}

// member is one argument.
type member struct {
	name     string
	document bool // any value, passed on byte for byte; else a text
	required bool
}

func texts(names ...string) (out []member) {
	for _, n := range names {
		out = append(out, member{name: n})
	}
	return out
}

const (
	sessionSchema = `"session":{"type":"string","description":"Session that it belongs to; only to take up one of an earlier run"}`
	cursorSchema  = `"cursor":{"type":"string","description":"Cursor of the part before"}`
	partSchema    = `"document_part":{"type":"string","description":"Part of the result's JSON text, where it is long"},"total_bytes":{"type":"integer"},"cursor":{"type":"string"}`
	signedSchema  = `"pending":{"type":"string"},"signature":{"type":"string"},"agent_address":{"type":"string"},"record":{"type":"object"},"attestation":{"type":"object"},"log_head":{"type":"object"},"by":{"type":"string"},"seq":{"type":"integer"}`
	momentSchema  = `"pending":{"type":"string","description":"Moment id: call await_moment"},"session":{"type":"string"},"asks":{"type":"array","items":{"type":"object"}},` +
		`"binding_moment_resolution":{"type":"object"},"fallback":{"type":"object"}`
)

func no() *bool { b := false; return &b }

var tools = []tool{
	{
		name: "present_moment", title: "Lay a decision before the owner",
		description: "Present a briefing-and-binding envelope to your owner: either tool_result (a whole tool result with a top-level member binding_moment) or " +
			"binding_moment with fallback. Waits up to 50 seconds, then answers pending with the moment's id and session. The same call again is the same moment.",
		members: append(texts("fallback", "tool_server", "session", "cursor"), member{name: "tool_result", document: true}, member{name: "binding_moment", document: true}, member{name: "actions", document: true}),
		input: `{"type":"object","additionalProperties":false,"properties":{` +
			`"tool_result":{"type":"object","description":"The whole tool result, as it was received"},` +
			`"binding_moment":{"type":"object","description":"The bare envelope; then fallback too"},` +
			`"fallback":{"type":"string","description":"What is shown where the envelope cannot be"},` +
			`"actions":{"type":"array","maxItems":4,"description":"What stands behind the options","items":{"type":"object","properties":{"option":{"type":"integer","minimum":0,"maximum":3},"action":{},"sign_with":{"type":"object","description":"Action envelope under which the action would be signed"}},"required":["option"],"additionalProperties":false}},` +
			`"tool_server":{"type":"string","maxLength":128},` + sessionSchema + `,` + cursorSchema + `}}`,
		output: `{"type":"object","properties":{` + momentSchema + `,` + partSchema + `}}`,
		hints:  &mcp.ToolAnnotations{DestructiveHint: no(), OpenWorldHint: no()},
		run: func(ctx context.Context, c *client.Conn, a args) ([]byte, error) {
			_, said := a.text["fallback"]
			if (a.raw["tool_result"] != nil) == (a.raw["binding_moment"] != nil) || said != (a.raw["binding_moment"] != nil) {
				return nil, refuse("arguments_invalid", "Send tool_result alone, or binding_moment with fallback.", "See the tool's schema.")
			}
			params := map[string]any{"session": a.text["session"]}
			for name, raw := range a.raw {
				params[name] = raw
			}
			for _, name := range []string{"fallback", "tool_server"} {
				if text, ok := a.text[name]; ok {
					params[name] = text
				}
			}
			return moment(ctx, c, "moment.present", params, a.text["session"])
		},
	},
	{
		name: "await_moment", title: "Wait for the owner's resolution",
		description: "Take a pending moment up again. Answers the resolution, or pending with asks: the owner's questions, to be answered with answer_question.",
		members:     append(texts("session", "cursor"), member{name: "moment", required: true}),
		input: `{"type":"object","additionalProperties":false,"required":["moment"],"properties":{"moment":{"type":"string"},` +
			sessionSchema + `,` + cursorSchema + `}}`,
		output: `{"type":"object","properties":{` + momentSchema + `,` + partSchema + `}}`,
		hints:  &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: no()},
		run: func(ctx context.Context, c *client.Conn, a args) ([]byte, error) {
			return moment(ctx, c, "moment.await", map[string]any{"session": a.text["session"], "moment": a.text["moment"]}, a.text["session"])
		},
	},
	{
		name: "answer_question", title: "Answer the owner's question",
		description: "Answer one of the owner's questions about a pending moment, once. It resolves nothing; await the moment again.",
		members:     append(texts("session"), member{name: "moment", required: true}, member{name: "ask", required: true}, member{name: "text", required: true}),
		input: `{"type":"object","additionalProperties":false,"required":["moment","ask","text"],"properties":{"moment":{"type":"string"},` +
			`"ask":{"type":"string","description":"id of the question"},"text":{"type":"string","maxLength":16384},` + sessionSchema + `}}`,
		output: `{"type":"object"}`,
		hints:  &mcp.ToolAnnotations{DestructiveHint: no(), OpenWorldHint: no()},
		run: func(ctx context.Context, c *client.Conn, a args) ([]byte, error) {
			return []byte("{}"), c.Say(ctx, a.text["session"], a.text["moment"], a.text["ask"], a.text["text"])
		},
	},
	{
		name: "sign_action", title: "Ask for a signature",
		description: "Either moment (its id, or envelope_digest of the resolution) with action: sign the action of the option that the owner selected, once. Or request_id with action_envelope and payload: ask for a signature of its own. " +
			"Or request alone: take up one that is pending. Waits up to 50 seconds, then answers pending.",
		members: append(texts("moment", "request_id", "request", "session", "cursor"),
			member{name: "action", document: true}, member{name: "action_envelope", document: true}, member{name: "payload", document: true}),
		input: `{"type":"object","additionalProperties":false,"properties":{"moment":{"type":"string"},"action":{"description":"Exactly the action that was selected"},` +
			`"request_id":{"type":"string","description":"Your own id; the same call again gives the same answer"},"action_envelope":{"type":"object"},"payload":{},` +
			`"request":{"type":"string","description":"Pending id"},` + sessionSchema + `,` + cursorSchema + `}}`,
		output: `{"type":"object","properties":{` + signedSchema + `,` + partSchema + `}}`,
		hints:  &mcp.ToolAnnotations{IdempotentHint: true, OpenWorldHint: no()},
		run:    signAction,
	},
	{
		name: "read_domain", title: "Read the vault's domains",
		description: "The public projection of one domain, by id or hash, or of all of them.",
		members:     texts("domain", "session", "cursor"),
		input:       `{"type":"object","additionalProperties":false,"properties":{"domain":{"type":"string"},` + sessionSchema + `,` + cursorSchema + `}}`,
		output:      `{"type":"object","properties":{"domains":{"type":"array","items":{"type":"object"}},"cursor":{"type":"string"}}}`,
		hints:       &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: no()},
		pages:       true,
		run:         readDomain,
	},
	{
		name: "read_record", title: "Read the record of a signature",
		description: "The public action record of a request that was signed; of a moment's action under the moment's id.",
		members:     append(texts("session", "cursor"), member{name: "request", required: true}),
		input:       `{"type":"object","additionalProperties":false,"required":["request"],"properties":{"request":{"type":"string"},` + sessionSchema + `,` + cursorSchema + `}}`,
		output:      `{"type":"object","properties":{` + partSchema + `}}`,
		hints:       &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: no()},
		run: func(ctx context.Context, c *client.Conn, a args) ([]byte, error) {
			return c.Record(ctx, a.text["request"])
		},
	},
	{
		name: "submit_sow", title: "Bring an agreement to the owner",
		description: "Bring an Agent SoW document, or something that belongs to one (kind), to your owner's vault. With move the owner is asked to sign: countersign, approve (an amendment), " +
			"or form (complete an offer as fill says). Or request alone: take up one that is pending. Waits up to 50 seconds, then answers pending.",
		members: append(texts("request_id", "kind", "move", "intent", "intent_key", "request", "session", "cursor"), member{name: "document", document: true}, member{name: "fill", document: true}),
		input: `{"type":"object","additionalProperties":false,"properties":{"request_id":{"type":"string","description":"Your own id; the same call again gives the same answer"},` +
			`"document":{"type":"object","description":"Exactly as it was received"},"kind":{"type":"string"},"move":{"type":"string","enum":["countersign","approve","form"]},` +
			`"fill":{"type":"object","description":"client {agent, owner, handle?, organization?}, starts_at, ends_at?, locations?, assertions?"},` +
			`"intent":{"type":"string","description":"Your own signature over the message of read_sow, base64url"},"intent_key":{"type":"string"},` +
			`"request":{"type":"string","description":"Pending id"},` + sessionSchema + `,` + cursorSchema + `}}`,
		output: `{"type":"object","properties":{"pending":{"type":"string"},"engagement":{"type":"string"},"outcome":{"type":"string"},"code":{"type":"string"},"findings":{"type":"array","items":{"type":"object"}},"bundle":{"type":"object"},"act":{"type":"object"},` + partSchema + `}}`,
		hints:  &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: no(), OpenWorldHint: no()},
		run:    submitSoW,
	},
	{
		name: "read_sow", title: "Read where an agreement stands",
		description: "State, versions and what is missing of an engagement that you have brought something of; with signed, the signed bundle of a version instead (digest, or the one in force).",
		members:     append(texts("signed", "digest", "session", "cursor"), member{name: "engagement", required: true}),
		input: `{"type":"object","additionalProperties":false,"required":["engagement"],"properties":{"engagement":{"type":"string"},` +
			`"signed":{"type":"string","enum":["yes"]},"digest":{"type":"string"},` + sessionSchema + `,` + cursorSchema + `}}`,
		output: `{"type":"object","properties":{"state":{"type":"string"},"versions":{"type":"array","items":{"type":"object"}},"document":{"type":"object"},` + partSchema + `}}`,
		hints:  &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: no()},
		run: func(ctx context.Context, c *client.Conn, a args) ([]byte, error) {
			if a.text["signed"] == "yes" {
				return c.SoWBundle(ctx, a.text["engagement"], a.text["digest"])
			}
			return c.SoWStatus(ctx, a.text["engagement"])
		},
	},
}

func submitSoW(ctx context.Context, c *client.Conn, a args) ([]byte, error) {
	var out client.SoWAnswer
	var err error
	request, again := a.text["request"]
	switch {
	case again && a.raw["document"] == nil && a.text["request_id"] == "":
		out, err = c.AwaitSoW(ctx, request)
	case !again && a.raw["document"] != nil && a.text["request_id"] != "":
		out, err = c.SubmitSoW(ctx, client.SoW{
			RequestID: a.text["request_id"], Session: a.text["session"], Document: a.raw["document"], Kind: a.text["kind"], Move: a.text["move"], Fill: a.raw["fill"],
			Intent: a.text["intent"], IntentKey: a.text["intent_key"],
		})
	default:
		return nil, refuse("arguments_invalid", "Send request_id with document, or request alone.", "See the tool's schema.")
	}
	if err != nil || out.Pending == "" {
		return out.Result, err
	}
	return json.Marshal(map[string]string{"pending": out.Pending, "session": a.text["session"]})
}

// moment calls a method that answers with a moment. A pending answer also names the session, for a later run.
func moment(ctx context.Context, c *client.Conn, method string, params map[string]any, session string) ([]byte, error) {
	var raw json.RawMessage
	if err := c.Call(ctx, method, params, &raw); err != nil {
		return nil, err
	}
	var p struct {
		Pending string          `json:"pending"`
		Asks    json.RawMessage `json:"asks"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	if p.Pending == "" {
		return raw, nil
	}
	out := map[string]any{"pending": p.Pending, "session": session}
	if p.Asks != nil {
		out["asks"] = p.Asks
	}
	return json.Marshal(out)
}

func signAction(ctx context.Context, c *client.Conn, a args) ([]byte, error) {
	var method string
	params := map[string]any{}
	has := func(names ...string) bool {
		n := 0
		for _, name := range []string{"moment", "action", "request_id", "action_envelope", "payload", "request"} {
			if _, ok := a.text[name]; ok || a.raw[name] != nil {
				n++
			}
		}
		for _, name := range names {
			if _, ok := a.text[name]; !ok && a.raw[name] == nil {
				return false
			}
		}
		return n == len(names)
	}
	switch {
	case has("moment", "action"):
		method = "moment.sign"
		params["session"], params["moment"], params["action"] = a.text["session"], a.text["moment"], a.raw["action"]
	case has("request_id", "action_envelope", "payload"):
		method = "action.sign"
		params["session"], params["request_id"] = a.text["session"], a.text["request_id"]
		params["action_envelope"], params["payload"] = a.raw["action_envelope"], a.raw["payload"]
	case has("request"):
		method, params["request"] = "request.await", a.text["request"]
	default:
		return nil, refuse("arguments_invalid", "Send moment with action, or request_id with action_envelope and payload, or request alone.", "See the tool's schema.")
	}
	var raw json.RawMessage
	err := c.Call(ctx, method, params, &raw)
	return raw, err
}

// readDomain gives as many projections as one result holds.
func readDomain(ctx context.Context, c *client.Conn, a args) ([]byte, error) {
	var list []json.RawMessage
	if name := a.text["domain"]; name != "" {
		one, err := c.Domain(ctx, name)
		if err != nil {
			return nil, err
		}
		list = []json.RawMessage{one}
	} else {
		var err error
		if list, err = c.Domains(ctx); err != nil {
			return nil, err
		}
	}
	from := 0
	if cursor := a.text["cursor"]; cursor != "" {
		n, err := strconv.Atoi(cursor)
		if err != nil || n < 0 || n >= len(list) {
			return nil, refuse("cursor_stale", "The cursor does not belong to what this call answers now.", "Call again without a cursor.")
		}
		from = n
	}
	out := struct {
		Domains []json.RawMessage `json:"domains"`
		Cursor  string            `json:"cursor,omitempty"`
	}{Domains: []json.RawMessage{}}
	size := 64
	for i := from; i < len(list); i++ {
		if size += len(list[i]) + 1; size > MaxResult && i > from {
			out.Cursor = strconv.Itoa(i)
			break
		}
		out.Domains = append(out.Domains, list[i])
	}
	return jcs.Marshal(out, jcs.AgentEnvelope)
}
