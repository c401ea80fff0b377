package sow_test

import (
	"encoding/json"
	"testing"

	"vault/approvals/sow"
)

// TestBindings: what an offer to strangers may say of an input, and what is an
// address, a path, an account or a key (5.3.1).
func TestBindings(t *testing.T) {
	publish := func(d *sow.Document) bool { return !d.Validate(sow.Options{}).Has("input_binding_published") }
	for _, s := range []string{
		"https://files.example/brand", "ftp://x", "files.example/brand", "files.example:8443", "www.brand", "localhost", "mailto:a", "urn:x:y",
		"/srv/brand", "~/brand", "~brand", "./brand", "../brand", "the folder /srv/brand", "C:\\brand", "C:/brand", "on D:\\brand", "\\\\server\\brand", "..\\brand",
		"192.0.2.7", "port 9 of 192.0.2.7", "brief@inkwell.example", "token=x", "Password: x", "api key : x", "sk-ABCDEFGHIJKLMNOP", "ghp_ABCDEFGHIJKLMNOP",
		"AKIAABCDEFGHIJKLMNOP", "eyJhbGciOiJIUzI1NiJ9", "7b1c9f8e-0d2a-4c3b-9e8f-1a2b3c4d5e6f", "0123456789abcdef0123456789abcdef",
	} {
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if publish(edited(t, open, "inputs[1].description", string(raw))) {
			t.Errorf("%q may be published", s)
		}
		if !publish(document(t, edit(t, edit(t, doc(t, directedOffer), "inputs[1].description", s), "inputs[1].name", "n"))) {
			t.Errorf("%q may not be told to one party", s)
		}
	}
	for _, s := range []string{
		"Your brand assets, read only", "text/csv", "application/vnd.oci.image.manifest.v1+json", "the ledger and/or its export", "read / write", "a key to the archive",
		"one CSV file, UTF-8", "invoices of 2026.09", "approx. 3:1", "a seat in your system", "purchase-ledger-extract-september-2026", "e.g. ledger.csv", "version 1.2.3", "~5 files", "and so on ...",
	} {
		if !publish(edited(t, open, "inputs[1].description", `"`+s+`"`)) {
			t.Errorf("%q may not be published", s)
		}
	}
	for name, member := range map[string][2]string{
		"an object in a member that is known": {"inputs[1].description", `{"text":"shape"}`}, "a list": {"inputs[1].optional", `["a"]`},
		"a member that is not known": {"inputs[1].tenant", `"t"`}, "an empty one": {"inputs[1].endpoint", `""`},
	} {
		if publish(edited(t, open, member[0], member[1])) {
			t.Errorf("%s may be published", name)
		}
	}
}
