package approvals

import (
	"fmt"
	"testing"

	"vault/derive/envelope"
)

// TestParsedIsWhatParsingGives: kept or not, an envelope is the one that its bytes say,
// and what is none is refused each time.
func TestParsedIsWhatParsingGives(t *testing.T) {
	info, err := envelope.NewDomainInfo("example", "main", "agent")
	if err != nil {
		t.Fatal(err)
	}
	var p parsed
	var first []byte
	for i := range 2*maxParsed + 2 {
		e, err := envelope.NewActionEnvelope(info, envelope.ActionFields{
			AgentID: "a", ActionIndex: int64(i), Operation: "o", Resources: []string{"r"}, Mode: envelope.ModeNone,
		})
		if err != nil {
			t.Fatal(err)
		}
		raw := e.Canonical()
		if first == nil {
			first = raw
		}
		for range 2 {
			if got, err := p.envelope(raw); err != nil || got.Hash() != e.Hash() {
				t.Fatalf("envelope %d: %v", i, err)
			}
		}
		// The same envelope in other bytes is parsed for itself.
		if got, err := p.envelope(fmt.Appendf(nil, " %s", raw)); err != nil || got.Hash() != e.Hash() {
			t.Fatalf("envelope %d with a space: %v", i, err)
		}
		if len(p.kept) > maxParsed {
			t.Fatalf("%d are kept", len(p.kept))
		}
	}
	for range 2 {
		if _, err := p.envelope(append(first[:len(first):len(first)], '}')); err == nil {
			t.Fatal("what is no envelope was taken")
		}
	}
}
