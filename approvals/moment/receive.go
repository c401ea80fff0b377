package moment

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"vault/derive/jcs"
)

// Outcome says what becomes of something that was presented.
type Outcome string

// The outcomes. All but Render show the conventional payload and offer no
// decision (section 9.3).
const (
	Render     Outcome = "render"
	NoEnvelope Outcome = "no_envelope" // there is no top-level member binding_moment
	Malformed  Outcome = "malformed"
	OverLimit  Outcome = "over_limit"
	ToolError  Outcome = "tool_error" // the result says that its tool failed
)

// Received is what was presented, once read.
type Received struct {
	Outcome  Outcome
	Envelope *Envelope // for Render only
	Fault    *Fault    // for Malformed and OverLimit only
	Payload  Payload
}

// Payload is the conventional payload: what is shown where no envelope is. All
// of it is hostile text.
type Payload struct {
	Text  string   // the text parts, one after the other, or JSON
	JSON  bool     // Text is JSON, because the result has no text part
	Other []string // the types of parts that are not text, as named
}

// Bare reads a bare binding_moment value that came with a fallback text.
func Bare(raw []byte, fallback string) Received {
	return received(raw, Payload{Text: fallback})
}

// ToolResult reads a whole tool result, at most jcs.MaxFrame bytes. Only its
// top-level member binding_moment is the envelope, and only that value enters the
// digest (sections 6.1, 8.1). A duplicate name anywhere in the result makes it
// malformed: there is no one envelope that was delivered.
func ToolResult(raw []byte) Received {
	members := topLevel(raw)
	payload := conventional(members)
	if members == nil {
		payload.Text = strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	if err := jcs.CheckFrame(raw); err != nil {
		return fallback(jsonFault(raw, err), payload)
	}
	var value []byte
	failed := false
	for _, m := range members {
		switch m.name {
		case memberName:
			value = m.value
		case "isError":
			failed = string(m.value) != "false"
		}
	}
	switch {
	case value == nil:
		return Received{Outcome: NoEnvelope, Payload: payload}
	case failed:
		return Received{Outcome: ToolError, Payload: payload}
	}
	return received(value, payload)
}

const memberName = "binding_moment"

func received(raw []byte, p Payload) Received {
	e, err := Parse(raw)
	if err != nil {
		return fallback(err, p)
	}
	return Received{Outcome: Render, Envelope: e, Payload: p}
}

func fallback(err error, p Payload) Received {
	f := err.(*Fault)
	out := Malformed
	switch f.Reason {
	case TooLarge, TooManyFindings, TooManyRecommendations:
		out = OverLimit
	}
	return Received{Outcome: out, Fault: f, Payload: p}
}

type member struct {
	name  string
	value []byte
}

// lenient reads what is only shown: the conventional payload of a result whose
// envelope is discarded.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// topLevel cuts the members of an object as far as it can be read. What it
// returns is only trusted after the strict check of the same bytes.
func topLevel(raw []byte) (out []member) {
	d := jsontext.NewDecoder(bytes.NewReader(raw), lenient)
	if d.PeekKind() != '{' {
		return nil
	}
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			break
		}
		n := name.String()
		value, err := d.ReadValue()
		if err != nil {
			break
		}
		out = append(out, member{n, bytes.Clone(value)})
	}
	return out
}

func conventional(members []member) (p Payload) {
	var texts []string
	for _, m := range members {
		if m.name != "content" {
			continue
		}
		var parts []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if json.Unmarshal(m.value, &parts, lenient) != nil {
			continue
		}
		for _, part := range parts {
			if part.Type == "text" {
				texts = append(texts, part.Text)
			} else {
				p.Other = append(p.Other, part.Type)
			}
		}
	}
	p.Text = strings.Join(texts, "\n")
	if len(texts) > 0 {
		return p
	}
	var b []byte
	for _, m := range members {
		if m.name == memberName {
			continue
		}
		b = append(jcs.AppendString(append(b, ','), m.name), ':')
		b = append(b, m.value...)
	}
	if len(b) > 0 {
		b[0] = '{'
		p.Text, p.JSON = string(append(b, '}')), true
	}
	return p
}

// cutItems cuts the items of an array that was checked before.
func cutItems(raw []byte) (out [][]byte, ok bool) {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if d.PeekKind() != '[' {
		return nil, false
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		out = append(out, bytes.Clone(value))
	}
	return out, true
}
