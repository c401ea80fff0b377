package moment

import (
	"strings"

	"vault/derive/envelope"
	"vault/derive/jcs"
)

// Kind says what an action is known as.
type Kind string

// The kinds of actions.
const (
	KindPayload  Kind = "action_payload"  // what an AgentEnvelope capability signs
	KindEnvelope Kind = "action_envelope" // an AgentEnvelope permission itself
	KindOther    Kind = "other"           // any other value, shown leaf by leaf
)

// Field is one leaf of an action. The leaves of an action are complete: each
// scalar and each empty object or array is one field.
type Field struct {
	// Label is ours where the member is known, and "" elsewhere.
	Label string
	// Path names the leaf as jcs.Value.Leaves does; member names are hostile text.
	Path string
	// Value is hostile text: a text as it was sent or an instant if there is a
	// Label, canonical JSON otherwise.
	Value string
}

type label struct {
	path string // with [] for the items of an array
	name string
	form form
}

type form uint8

const (
	text form = iota
	integer
	instant // milliseconds since the epoch, or null
	count   // or null
)

var envelopeLabels = []label{
	{"domain.domainId", "Domain", text},
	{"agentId", "Agent", text},
	{"operation", "Operation", text},
	{"resources[]", "May touch", text},
	{"timeWindow.notBefore", "Valid from", instant},
	{"timeWindow.notAfter", "Valid until", instant},
	{"limits.maxUses", "Uses", count},
	{"decayPolicy.mode", "Ended by", text},
	{"actionIndex", "Action number", integer},
	{"domain.domainHash", "Domain hash", text},
}

var payloadLabels = []label{
	{"type", "Type", text},
	{"agentId", "Agent", text},
	{"operation", "Operation", text},
	{"resource", "Resource", text},
	{"resources[]", "Resource", text},
	{"actionIndex", "Action number", integer},
	{"domainHash", "Domain hash", text},
}

// kindOf says what a value is. It is a payload if it would be signed as one, or
// names what only payloads name.
func kindOf(v jcs.Value, raw []byte, signed bool) Kind {
	if v.Get("type").Text() == envelope.TypeActionEnvelope {
		if _, err := envelope.ParseActionEnvelope(raw); err == nil {
			return KindEnvelope
		}
	}
	named := v.Get("operation").Kind() == jcs.String &&
		(v.Get("agentId").Exists() || v.Get("actionIndex").Exists() || v.Get("domainHash").Exists())
	if signed || named {
		return KindPayload
	}
	return KindOther
}

// fields lists every leaf: those with a label first, in the label's order, then
// the others in the order received.
func fields(v jcs.Value, k Kind) []Field {
	var labels []label
	switch k {
	case KindEnvelope:
		labels = envelopeLabels
	case KindPayload:
		labels = payloadLabels
	}
	known := make([][]Field, len(labels))
	var rest []Field
	v.Leaves(func(path string, leaf jcs.Value) {
		for i, l := range labels {
			if l.path != path && l.path != items(path) {
				continue
			}
			if value, ok := l.form.value(leaf); ok {
				known[i] = append(known[i], Field{l.name, path, value})
				return
			}
		}
		rest = append(rest, Field{Path: path, Value: string(leaf.Canonical())})
	})
	var out []Field
	for _, f := range known {
		out = append(out, f...)
	}
	return append(out, rest...)
}

// items writes the path of an array's item without its index: resources[3] as
// resources[]. Other paths are returned as they are.
func items(path string) string {
	i := strings.LastIndexByte(path, '[')
	if i < 0 || !strings.HasSuffix(path, "]") || strings.Trim(path[i+1:len(path)-1], "0123456789") != "" {
		return path
	}
	return path[:i] + "[]"
}

// value writes a leaf in the form, without loss, or says that it has another one.
func (f form) value(v jcs.Value) (string, bool) {
	switch {
	case f == text && v.Kind() == jcs.String:
		return v.Text(), true
	case f == integer && v.Kind() == jcs.Number, f == count && v.Kind() == jcs.Number:
		return string(v.Canonical()), true
	case f == count && v.Kind() == jcs.Null:
		return "no limit", true
	case f == instant && v.Kind() == jcs.Null:
		return "not bounded", true
	case f == instant && v.Kind() == jcs.Number:
		n, _ := v.Int()
		s, err := envelope.FormatTime(n)
		return s, err == nil
	}
	return "", false
}
