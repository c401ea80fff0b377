package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"vault/approvals"
	"vault/approvals/folder"
	"vault/approvals/store"
	"vault/approvals/unconfirmed"
	"vault/ipc/socket"
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
		// What only the system knows is said in its own words, behind ours.
		{&socket.Error{Code: socket.CodeFailed, Path: "/run/x/s.sock", Detail: "make the socket", Err: &os.PathError{Op: "bind", Path: "p", Err: syscall.EACCES}},
			"The system does not let this program make the socket. /run/x/s.sock: permission denied. See that you may write the socket's folder, or set VAULT_SOCK to another path. (socket_failed)"},
		{folderError("/home/x/v", fmt.Errorf("make folder: %w", &os.PathError{Op: "mkdir", Path: "/home/x", Err: syscall.EROFS})),
			"/home/x/v: read-only file system. Name another with VAULT_HOME. (folder_unusable)"},
		{&approvals.Refusal{Code: approvals.OutcomeNoPasskey}, "Enrol one in the window's Settings, or with the word enrol in vault serve. (no_passkey)"},
		{folderError("/home/x/v", fmt.Errorf("take: %w", folder.ErrInUse)), "(in_use)"},
		{errors.Join(&approvals.Refusal{Code: approvals.CodeStoreFailed}, errors.New("disk is full")), "(store_failed)"},
	} {
		got := explain(c.err)
		if !strings.HasSuffix(got, c.want) || strings.Contains(got, "the owner") {
			t.Errorf("%v: %q, want it to end with %q", c.err, got, c.want)
		}
	}
}

// Whatever a passkey did not confirm is said, and nobody is sent to vault doctor for it; nor for what vault decide was given
// wrongly.
func TestWhatWasNotConfirmedIsSaid(t *testing.T) {
	for _, code := range append(unconfirmed.Codes(), "name_invalid", "name_taken", "changed") {
		if got := explain(fail(code, nil)); strings.Contains(got, "vault doctor") || !strings.HasSuffix(got, " ("+code+")") {
			t.Errorf("%s: %q", code, got)
		}
	}
}

// What is said elsewhere than on the vault's own terminal names no word that is typed there.
func TestDecidingElsewhereNamesWhatCanBeDone(t *testing.T) {
	for _, code := range []string{"locked", "no_passkey", "changed", "name_invalid"} {
		var f *failure
		if err := (&program{}).outcome(code); !errors.As(err, &f) || f.code != code || f.status != statusNotDone {
			t.Errorf("%s: %v", code, err)
		}
	}
}
