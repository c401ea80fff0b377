package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vault/derive/envelope"
	"vault/ipc/bot"
	"vault/ipc/client"
)

// requests keeps the signed requests of one run, so that the same call is the same request. It
// forgets them all when it has too many; the vault then says that the nonce was used.
type requests struct {
	mu   sync.Mutex
	kept map[string]keptRequest
}

// keptRequest is a signed request.
type keptRequest struct {
	raw      []byte
	until    envelope.Opt // end of its window
	answered bool
}

const maxRequests = 4096

// get gives the request of a call, or nil. One that was refused, and whose window has passed since, is made anew: a mint
// would be spent for nothing.
func (r *requests) get(key string, now int64) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.kept[key]
	if !a.answered && a.until.Set && a.until.N < now {
		return nil
	}
	return a.raw
}

func (r *requests) put(key string, request []byte, until envelope.Opt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil || len(r.kept) >= maxRequests {
		r.kept = map[string]keptRequest{}
	}
	r.kept[key] = keptRequest{raw: request, until: until}
}

// answered notes that the vault has minted for a call.
func (r *requests) answered(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a, ok := r.kept[key]; ok {
		a.answered = true
		r.kept[key] = a
	}
}

// mintTools are offered where the bridge has a bot's key. It proves that bot's address on every
// connection, and signs its requests; the agent behind the host never has the key.
func (b *Bridge) mintTools() []tool {
	return []tool{
		{
			name: "list_delegates", title: "List what may be minted",
			description: "The delegates under which this bot may have capabilities minted without asking the owner, with their bounds and what is left of them.",
			members:     texts("session", "cursor"),
			input:       `{"type":"object","additionalProperties":false,"properties":{` + sessionSchema + `,` + cursorSchema + `}}`,
			output:      `{"type":"object","properties":{"delegates":{"type":"array","items":{"type":"object"}},` + partSchema + `}}`,
			hints:       &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: no()},
			bot:         true,
			run: func(ctx context.Context, c *client.Conn, _ args) ([]byte, error) {
				list, err := c.Delegates(ctx)
				if err != nil {
					return nil, err
				}
				if list == nil {
					list = []client.Delegate{}
				}
				return json.Marshal(map[string]any{"delegates": list})
			},
		},
		{
			name: "mint_capability", title: "Have a capability minted",
			description: "Have one capability minted under a delegate: a key that signs this operation on these resources, max_uses times, until an hour from now or until. " +
				"Ask for no more than the task needs: mints are counted. nonce is a text of yours that was never used under this delegate; the same call again gives the same capability and spends nothing.",
			members: append(texts("delegate", "operation", "until", "agent_id", "session", "cursor"),
				member{name: "nonce", required: true}, member{name: "resources", document: true, required: true}, member{name: "max_uses", document: true}, member{name: "action_index", document: true}),
			input: `{"type":"object","additionalProperties":false,"required":["nonce","resources"],"properties":{` +
				`"delegate":{"type":"string","description":"delegate_hash; may be left out where there is one delegate"},` +
				`"operation":{"type":"string","description":"may be left out where the delegate has one"},` +
				`"resources":{"type":"array","minItems":1,"maxItems":64,"items":{"type":"string"}},` +
				`"max_uses":{"type":"integer","minimum":1,"description":"1 where it is left out"},"action_index":{"type":"integer","minimum":0},` +
				`"until":{"type":"string","description":"such as 2026-12-01T09:00:00Z"},"agent_id":{"type":"string"},"nonce":{"type":"string","maxLength":128},` + sessionSchema + `,` + cursorSchema + `}}`,
			output: `{"type":"object","properties":{"mint":{"type":"string"},"agent_address":{"type":"string"},"record":{"type":"object"},"label":{"type":"string"},"attestation":{"type":"object"},` +
				`"delegate_hash":{"type":"string"},"mints_left":{"type":"integer"},"seq":{"type":"integer"},"bounds_held":{"type":"boolean"},"legitimacy":{"type":"object"},` + partSchema + `}}`,
			hints: &mcp.ToolAnnotations{DestructiveHint: no(), IdempotentHint: true, OpenWorldHint: no()},
			bot:   true,
			run:   b.mint,
		},
		{
			name: "sign_minted", title: "Sign with a minted capability",
			description: "Have a payload signed by a minted capability. It is counted. The same request_id with the same payload gives the same signature and spends nothing.",
			members:     append(texts("session", "cursor"), member{name: "mint", required: true}, member{name: "request_id", required: true}, member{name: "payload", document: true, required: true}),
			input: `{"type":"object","additionalProperties":false,"required":["mint","request_id","payload"],"properties":{"mint":{"type":"string","description":"From mint_capability"},` +
				`"request_id":{"type":"string","description":"Your own id"},"payload":{"description":"Any JSON value with integers only"},` + sessionSchema + `,` + cursorSchema + `}}`,
			output: `{"type":"object","properties":{"signature":{"type":"string"},"agent_address":{"type":"string"},"mint":{"type":"string"},"use":{"type":"integer"},"uses_left":{"type":"integer"},` +
				`"record":{"type":"object"},"label":{"type":"string"},"attestation":{"type":"object"},"log_head":{"type":"object"},"seq":{"type":"integer"},` + partSchema + `}}`,
			hints: &mcp.ToolAnnotations{IdempotentHint: true, OpenWorldHint: no()},
			bot:   true,
			run: func(ctx context.Context, c *client.Conn, a args) ([]byte, error) {
				out, err := c.MintSign(ctx, client.MintSign{RequestID: a.text["request_id"], Session: a.text["session"], Mint: a.text["mint"], Payload: a.raw["payload"]})
				if err != nil {
					return nil, err
				}
				return json.Marshal(out)
			},
		},
		{
			name: "read_capability", title: "Read a minted capability",
			description: "The public record of a minted capability, the domain's word for its address, and the uses that are left.",
			members:     append(texts("session", "cursor"), member{name: "mint", required: true}),
			input:       `{"type":"object","additionalProperties":false,"required":["mint"],"properties":{"mint":{"type":"string"},` + sessionSchema + `,` + cursorSchema + `}}`,
			output: `{"type":"object","properties":{"mint":{"type":"string"},"record":{"type":"object"},"label":{"type":"string"},"uses_left":{"type":"integer"},` +
				`"attestation":{"type":"object"},"legitimacy":{"type":"object"},` + partSchema + `}}`,
			hints: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: no()},
			bot:   true,
			run: func(ctx context.Context, c *client.Conn, a args) ([]byte, error) {
				out, err := c.MintRecord(ctx, a.text["mint"])
				if err != nil {
					return nil, err
				}
				return json.Marshal(out)
			},
		},
	}
}

// mint makes the request that the arguments describe, or takes the one that the same arguments made
// before, and has it minted.
func (b *Bridge) mint(ctx context.Context, c *client.Conn, a args) ([]byte, error) {
	key := a.digest()
	request := b.requests.get(key, time.Now().UnixMilli())
	if request == nil {
		d, err := chosen(ctx, c, a.text["delegate"])
		if err != nil {
			return nil, err
		}
		q, err := b.request(a, d)
		if err != nil {
			return nil, err
		}
		request = q.Canonical()
		b.requests.put(key, request, q.Fields().Window.NotAfter)
	}
	out, err := c.Mint(ctx, request)
	if err != nil {
		return nil, err
	}
	b.requests.answered(key)
	return json.Marshal(out)
}

// digest names what was asked, without the place in the answer and the session.
func (a args) digest() string {
	sum := sha256.New()
	for _, name := range []string{"delegate", "operation", "until", "agent_id", "nonce", "resources", "max_uses", "action_index"} {
		raw, isText := []byte(a.raw[name]), false
		if text, ok := a.text[name]; ok {
			raw, isText = []byte(text), true
		}
		_, _ = sum.Write(strconv.AppendBool(strconv.AppendInt(nil, int64(len(raw)), 10), isText))
		_, _ = sum.Write(raw)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// chosen gives the delegate of a hash, or the only one.
func chosen(ctx context.Context, c *client.Conn, hash string) (*envelope.MintDelegate, error) {
	list, err := c.Delegates(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range list {
		if d.Hash == hash || hash == "" && len(list) == 1 {
			return envelope.ParseMintDelegate(d.Delegate)
		}
	}
	if hash == "" && len(list) > 1 {
		return nil, refuse("arguments_invalid", "There is more than one delegate.", "Name one by its delegate_hash; see list_delegates.")
	}
	return nil, refuse("unknown_delegate", "The vault knows no such delegate for this bot.", "See list_delegates.")
}

func (b *Bridge) request(a args, d *envelope.MintDelegate) (*envelope.MintRequest, error) {
	bad := func(what string) error {
		return refuse("arguments_invalid", "The arguments are not those of this tool: "+what+".", "See the tool's schema.")
	}
	w := bot.Wish{AgentID: a.text["agent_id"], Operation: a.text["operation"], Nonce: a.text["nonce"], MaxUses: 1}
	if w.AgentID == "" {
		w.AgentID = "bot"
	}
	if w.Nonce == "" || len(w.Nonce) > 128 {
		return nil, bad("nonce is empty, or longer than 128 bytes")
	}
	if json.Unmarshal(a.raw["resources"], &w.Resources) != nil || len(w.Resources) > 64 {
		return nil, bad("resources are no list of at most 64 texts")
	}
	if raw := a.raw["max_uses"]; raw != nil && json.Unmarshal(raw, &w.MaxUses) != nil {
		return nil, bad("max_uses is no whole number")
	}
	if raw := a.raw["action_index"]; raw != nil {
		var n int64
		if json.Unmarshal(raw, &n) != nil {
			return nil, bad("action_index is no whole number")
		}
		w.ActionIndex = &n
	}
	if text := a.text["until"]; text != "" {
		ms, err := envelope.ParseTime(text)
		if err != nil {
			return nil, bad("until is no time such as 2026-12-01T09:00:00Z")
		}
		until := envelope.Some(ms)
		w.Until = &until
	}
	f, err := w.Fields(d, time.Now().UTC(), rand.Reader)
	var unclear bot.Unclear
	switch {
	case errors.As(err, &unclear):
		return nil, bad(unclear.Error())
	case err != nil:
		return nil, err
	}
	q, err := b.o.Bot.Request(d, f)
	if err != nil {
		return nil, bad("they give no request: " + err.Error())
	}
	return q, nil
}
