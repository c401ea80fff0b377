package approvals_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"vault/approvals"
	"vault/derive"
	"vault/derive/tag"
)

// An edit is one change of a valid document and the code that refuses it. Unless stale, the document is signed
// again by its own key: what refuses it then is the rule, not the signature.
type edit struct {
	name  string
	do    func(d document)
	stale bool
	code  string
}

func put(name string, v any) func(document) { return func(d document) { d[name] = v } }
func drop(name string) func(document)       { return func(d document) { delete(d, name) } }
func in(name, member string, v any) func(document) {
	return func(d document) { d[name].(map[string]any)[member] = v }
}
func outOf(name, member string) func(document) {
	return func(d document) { delete(d[name].(map[string]any), member) }
}

// delegateEdits are one-edit changes of a delegate, at its import.
func delegateEdits(at int64) []edit {
	const bad, sig = approvals.CodeDelegateMalformed, approvals.CodeDelegateSignature
	var out []edit
	for _, m := range []string{
		"type", "version", "delegateId", "issuerAddress", "domainHash", "allowedOperations", "allowedResources", "botPolicy", "actionIndexPolicy",
		"maxMints", "maxUsesPerAction", "timeWindow", "nonce", "issuedAt", "allowedBotAddresses",
	} {
		out = append(out, edit{"without " + m, drop(m), false, bad}, edit{m + " is null", put(m, nil), false, bad})
	}
	return append(out,
		edit{"without its signature", drop("issuerSignature"), true, sig},
		edit{"type of a request", put("type", "agentenvelope.mintRequest"), false, bad},
		edit{"version 2", put("version", 2), false, bad},
		edit{"version is a text", put("version", "1"), false, bad},
		edit{"an unknown member", put("note", "x"), false, bad},
		edit{"operations are empty", put("allowedOperations", []any{}), false, bad},
		edit{"operations are a text", put("allowedOperations", "send-invoice"), false, bad},
		edit{"an operation is empty", put("allowedOperations", []any{""}), false, bad},
		edit{"resources are empty", put("allowedResources", []any{}), false, bad},
		edit{"a resource is a number", put("allowedResources", []any{1}), false, bad},
		edit{"an unknown bot policy", put("botPolicy", "open"), false, bad},
		edit{"no bots", put("allowedBotAddresses", []any{}), false, bad},
		edit{"a bot that is no address", put("allowedBotAddresses", []any{"0x12"}), false, bad},
		edit{"index below zero", in("actionIndexPolicy", "min", -1), false, bad},
		edit{"index range inverted", in("actionIndexPolicy", "max", -1), false, bad},
		edit{"index range without max", outOf("actionIndexPolicy", "max"), false, bad},
		edit{"index range with more", in("actionIndexPolicy", "step", 1), false, bad},
		edit{"no mints", put("maxMints", 0), false, bad},
		edit{"mints as a text", put("maxMints", "3"), false, bad},
		edit{"half a mint", put("maxMints", json.Number("2.5")), false, bad},
		edit{"no uses", put("maxUsesPerAction", 0), false, bad},
		edit{"window without its end", outOf("timeWindow", "notAfter"), false, bad},
		edit{"window inverted", in("timeWindow", "notAfter", at-10_000_000), false, bad},
		edit{"window with more", in("timeWindow", "zone", "utc"), false, bad},
		edit{"window of texts", in("timeWindow", "notBefore", "now"), false, bad},
		edit{"short nonce", put("nonce", "0x12"), false, bad},
		edit{"issuedAt no time", put("issuedAt", "yesterday"), false, bad},
		edit{"avatar no address", put("avatarAddress", "0x12"), false, bad},
		edit{"legitimacyRef empty", put("legitimacyRef", map[string]any{}), false, bad},
		edit{"legitimacy state hash", put("legitimacyRef", map[string]any{"legitimacyId": "l", "stateHash": "0x12"}), false, bad},
		edit{"domain hash no hash", put("domainHash", "0x12"), false, bad},
		edit{"of another domain", put("domainHash", "0x"+strings.Repeat("ab", 32)), false, approvals.CodeUnknownDomain},
		edit{"another issuer", put("issuerAddress", weakIssuer), false, approvals.CodeDelegateIssuer},
		edit{"issuer no address", put("issuerAddress", "0x12"), false, bad},
		edit{"signature no signature", put("issuerSignature", "0x12"), true, sig},
		edit{"one more mint, not signed for", put("maxMints", 99), true, sig},
		edit{"another operation, not signed for", put("allowedOperations", []any{"wipe"}), true, sig},
		edit{"another resource, not signed for", put("allowedResources", []any{"*"}), true, sig},
		edit{"any bot, not signed for", put("botPolicy", "any-signed-bot"), true, sig},
		edit{"another bot, not signed for", put("allowedBotAddresses", []any{weakIssuer}), true, sig},
		edit{"longer, not signed for", in("timeWindow", "notAfter", at+900_000_000), true, sig},
		edit{"more uses, not signed for", put("maxUsesPerAction", 99), true, sig},
		edit{"wider index, not signed for", in("actionIndexPolicy", "max", 99), true, sig},
		edit{"an id, not signed for", put("delegateId", "ae-delegate-0000000000000000"), true, sig},
		edit{"a summary of another domain", put("domainSummary", map[string]any{"domainHash": "0x12"}), true, approvals.CodeDelegateSummary},
	)
}

// requestEdits are one-edit changes of a request.
func requestEdits(at int64) []edit {
	const bad, sig = approvals.CodeMalformed, approvals.CodeBotSignature
	var out []edit
	for _, m := range []string{
		"type", "version", "requestId", "delegateId", "delegateHash", "botAddress", "agentId", "operation", "resources", "actionIndex", "maxUses",
		"timeWindow", "nonce", "requestedAt",
	} {
		out = append(out, edit{"without " + m, drop(m), false, bad}, edit{m + " is null", put(m, nil), false, bad})
	}
	return append(out,
		edit{"without its signature", drop("botSignature"), true, sig},
		edit{"type of a delegate", put("type", "agentenvelope.mintDelegate"), false, bad},
		edit{"version 2", put("version", 2), false, bad},
		edit{"an unknown member", put("note", "x"), false, bad},
		edit{"another bot", put("botAddress", weakIssuer), false, approvals.CodeBotOther},
		edit{"bot no address", put("botAddress", "0x12"), false, bad},
		edit{"another delegate", put("delegateHash", "0x"+strings.Repeat("ab", 32)), false, approvals.CodeUnknownDelegate},
		edit{"delegate hash in capitals", func(d document) { d["delegateHash"] = "0x" + strings.ToUpper(d.text("delegateHash")[2:]) }, false, bad},
		edit{"another delegate id", put("delegateId", "ae-delegate-0000000000000000"), false, approvals.CodeDelegateID},
		edit{"operation not allowed", put("operation", "wipe"), false, approvals.CodeOperation},
		edit{"operation in capitals", put("operation", "SEND-INVOICE"), false, approvals.CodeOperation},
		edit{"operation empty", put("operation", ""), false, bad},
		edit{"resource not allowed", put("resources", []any{"payroll:1"}), false, approvals.CodeResource},
		edit{"second resource not allowed", put("resources", []any{"account:1", "payroll:1"}), false, approvals.CodeResource},
		edit{"resource in capitals", put("resources", []any{"ACCOUNT:1"}), false, approvals.CodeResource},
		edit{"the bare prefix", put("resources", []any{"account"}), false, approvals.CodeResource},
		edit{"the wildcard itself", put("resources", []any{"account:*"}), false, bad},
		edit{"everything", put("resources", []any{"*"}), false, bad},
		edit{"a resource twice", put("resources", []any{"account:1", "account:1"}), false, bad},
		edit{"no resources", put("resources", []any{}), false, bad},
		edit{"resources a text", put("resources", "account:1"), false, bad},
		edit{"index above", put("actionIndex", 10), false, approvals.CodeIndexRange},
		edit{"index below zero", put("actionIndex", -1), false, bad},
		edit{"index as a text", put("actionIndex", "3"), false, bad},
		edit{"too many uses", put("maxUses", 3), false, approvals.CodeUsesOverLimit},
		edit{"no uses", put("maxUses", 0), false, bad},
		edit{"half a use", put("maxUses", json.Number("0.5")), false, bad},
		edit{"starts before", in("timeWindow", "notBefore", at-900_000_000), false, approvals.CodeWindowOutside},
		edit{"ends after", in("timeWindow", "notAfter", at+9_000_000_000), false, approvals.CodeWindowOutside},
		edit{"open start", in("timeWindow", "notBefore", nil), false, approvals.CodeWindowOutside},
		edit{"open end", in("timeWindow", "notAfter", nil), false, approvals.CodeWindowOutside},
		edit{"wholly outside", put("timeWindow", map[string]any{"notBefore": at + 8_000_000_000, "notAfter": at + 9_000_000_000}), false, approvals.CodeWindowOutside},
		edit{"inverted", in("timeWindow", "notAfter", at-100_000_000), false, bad},
		edit{"window without its end", outOf("timeWindow", "notAfter"), false, bad},
		edit{"nonce empty", put("nonce", ""), false, bad},
		edit{"nonce a number", put("nonce", 1), false, bad},
		edit{"requestedAt no time", put("requestedAt", "now"), false, bad},
		edit{"another legitimacy", put("legitimacyId", "other"), false, approvals.CodeLegitimacy},
		edit{"no legitimacy", drop("legitimacyId"), false, approvals.CodeLegitimacy},
		edit{"legitimacy a number", put("legitimacyId", 1), false, bad},
		edit{"signature no signature", put("botSignature", "0x12"), true, sig},
		edit{"more uses, not signed for", put("maxUses", 1), true, sig},
		edit{"another operation, not signed for", put("operation", "void-invoice"), true, sig},
		edit{"another resource, not signed for", put("resources", []any{"account:2"}), true, sig},
		edit{"another index, not signed for", put("actionIndex", 4), true, sig},
		edit{"another nonce, not signed for", put("nonce", "other"), true, sig},
		edit{"another agent, not signed for", put("agentId", "other"), true, sig},
		edit{"longer, not signed for", in("timeWindow", "notAfter", at+80_000_000), true, sig},
	)
}

// TestOneEdit changes a valid delegate and a valid request in one place each, and wants each refused with its code, and
// nothing spent; the documents without the edit are taken.
func TestOneEdit(t *testing.T) {
	const at = int64(1790000005000)
	w, issuer, a := vectorWorld(t, at)
	b := &bot{agent: a, seed: fromHex(t, vectorBot)}
	var err error
	if b.address, err = derive.Address(b.seed[:]); err != nil {
		t.Fatal(err)
	}
	b.prove()
	address, err := derive.Address(issuer[:])
	if err != nil {
		t.Fatal(err)
	}
	var delegate, request document
	for _, v := range mintVectors(t, "verifyMintRequest") {
		if v.Name == "verifyMintRequest/valid-legitimacy" && delegate == nil {
			delegate, request = readDocument(t, v.Input.Delegate), readDocument(t, v.Input.Request)
		}
	}
	resigned(t, delegate, request, issuer, address, map[string][32]byte{b.address: b.seed})
	// Every bound is there to be passed.
	delegate["botPolicy"], delegate["allowedBotAddresses"] = "address-set", []any{b.address}
	delegate.sign(t, "issuerSignature", tag.MintDelegate, issuer)
	request["delegateHash"] = hashOf(t, delegate.raw(t))
	request["maxUses"] = 2
	request.sign(t, "botSignature", tag.MintRequest, b.seed)

	edits, n := delegateEdits(at), 0
	for _, e := range edits {
		n++
		d := readDocument(t, delegate.raw(t))
		e.do(d)
		if !e.stale && d.body(t, "issuerSignature") != nil {
			d.sign(t, "issuerSignature", tag.MintDelegate, issuer)
		}
		if _, err := w.owner.ImportDelegate(t.Context(), d.raw(t)); code(err) != e.code {
			t.Errorf("delegate, %s: %v, want %s", e.name, err, e.code)
		}
	}
	if list := w.owner.Delegates(); len(list) != 0 {
		t.Fatalf("%+v", list)
	}
	if err := w.admit(delegate.raw(t)); err != nil {
		t.Fatal(err)
	}
	for _, e := range requestEdits(at) {
		n++
		q := readDocument(t, request.raw(t))
		e.do(q)
		if !e.stale && q.body(t, "botSignature") != nil {
			q.sign(t, "botSignature", tag.MintRequest, b.seed)
		}
		_, err := b.mint(q.raw(t))
		if code(err) != e.code {
			t.Errorf("request, %s: %v, want %s", e.name, err, e.code)
		}
		// What passes a bound is told which, and how far.
		if r, ok := err.(*approvals.Refusal); ok && slices.Contains(bounds, r.Code) {
			var told struct {
				Bound        string
				Value, Asked any
			}
			if err := json.Unmarshal(r.Data, &told); err != nil || told.Bound == "" || told.Value == nil {
				t.Errorf("%s is told %s, %v", e.name, r.Data, err)
			}
		}
	}
	if got := w.entries("capability.minted"); got != 0 {
		t.Errorf("%d mints were spent", got)
	}
	if _, err := b.mint(request.raw(t)); err != nil {
		t.Errorf("the request without an edit: %v", err)
	}
	if n < 80 {
		t.Errorf("only %d edits", n)
	}
	t.Log(n, "edits")
	w.verified()
}

var bounds = []string{
	approvals.CodeOperation, approvals.CodeResource, approvals.CodeIndexRange, approvals.CodeUsesOverLimit, approvals.CodeWindowOutside,
	approvals.CodeDelegateID, approvals.CodeLegitimacy, approvals.CodeBotNotAllowed, approvals.CodeBotOther,
}
