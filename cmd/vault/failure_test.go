package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"vault/approvals"
	"vault/approvals/store"
)

// The desk's refusals are worded for agents: an owner is not told to ask the owner.
func TestTheOwnerIsToldWhatTheOwnerCanDo(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&approvals.Refusal{Code: approvals.CodeStoreFailed, Message: "m.", Remedy: "Ask the owner to look at the disk."}, "Look at the disk, then unlock. (store_failed)"},
		{&approvals.Refusal{Code: approvals.CodeNoVault, Message: "m.", Remedy: "Ask the owner to create one."}, "Create one, or restore one from its words. (no_vault)"},
		{&approvals.Refusal{Code: approvals.CodeMalformed, Message: "m.", Data: json.RawMessage(`{"detail":"domainId is invalid"}`)}, "domainId is invalid. Type it again. (malformed)"},
		{&approvals.Refusal{Code: approvals.CodeDomainExists, Message: "There is such a domain already.", Remedy: "Take another id."}, "There is such a domain already. Take another id. (domain_exists)"},
		{fmt.Errorf("open store: %w", store.ErrDamaged), "(store_damaged)"},
	} {
		got := explain(c.err)
		if !strings.HasSuffix(got, c.want) || strings.Contains(got, "the owner") {
			t.Errorf("%v: %q, want it to end with %q", c.err, got, c.want)
		}
	}
}
