package agreement_test

import (
	"fmt"
	"strings"
	"testing"

	"vault/approvals/agreement"
	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
)

// TestUnderstand: what bytes are they say themselves where they are signed; what could not be exported again is not taken.
func TestUnderstand(t *testing.T) {
	nested := func(depth int) []byte {
		return []byte(`{"problem":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`)
	}
	signedAct := act(t, agreed(t), sow.ActFields{Kind: sow.Withdrawal, Role: sow.Provider}, provider, 1000).Raw
	for name, c := range map[string]struct {
		raw  []byte
		kind agreement.RecordKind // that it is called
		is   agreement.RecordKind
		code string
	}{
		"a document":                   {agreed(t).Raw(), "", agreement.RecordSoW, ""},
		"an act":                       {signedAct, "", agreement.RecordWithdrawal, ""},
		"an act under another name":    {signedAct, agreement.RecordQuote, agreement.RecordQuote, agreement.CodeNotUnderstood},
		"a problem":                    {[]byte(`{"problem":"p"}`), "", agreement.RecordProblem, ""},
		"nothing that says what it is": {[]byte(`{"a":1}`), "", "", agreement.CodeNotUnderstood},
		"the same, said to be a quote": {[]byte(`{"a":1}`), agreement.RecordQuote, agreement.RecordQuote, ""},
		"a kind that nobody knows":     {[]byte(`{"a":1}`), "poem", "poem", agreement.CodeNotUnderstood},
		"no object":                    {[]byte(`[]`), "", "", agreement.CodeNotUnderstood},
		"as deep as it may be":         {nested(bundle.MaxDepth), "", agreement.RecordProblem, ""},
		"deeper":                       {nested(bundle.MaxDepth + 1), "", agreement.RecordProblem, agreement.CodeNotUnderstood},
		"too long":                     {fmt.Appendf(nil, `{"problem":%q}`, strings.Repeat("x", agreement.MaxDocument)), "", agreement.RecordProblem, agreement.CodeTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			out, v := agreement.Understand(c.raw, c.kind)
			if out.Kind != c.is || out.Code != c.code || out.SHA256 != agreement.SHA256(c.raw) {
				t.Fatalf("%+v", out)
			}
			if c.code == "" && c.is != agreement.RecordSoW {
				if _, err := bundle.Encode(bundle.Bundle{Document: agreed(t).Raw(), Records: []bundle.Record{{Kind: string(c.is), Raw: v.Raw()}}}); err != nil {
					t.Errorf("it stands in no bundle: %v", err)
				}
			}
		})
	}
}
