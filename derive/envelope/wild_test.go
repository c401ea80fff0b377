package envelope

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault/derive/jcs"
)

// wildHashes are the delegateHashes of two signed delegates found in public.
func wildHashes() map[string]string {
	return map[string]string{
		"mint-delegate.json":         "0xc9b8e69688675eaa46e20bc30f74765327b811dc1ac96e6128febc341898aa72",
		"mint-delegate.planner.json": "0x12dc848f72777138ddecb4ebc9bb75861c4e76fa187853b2c03f5e3531906239",
	}
}

// TestWildDelegates takes real delegates through an import: as they lie they
// fail, without the portal's summary they verify. Further ones are read from
// $VAULT_VECTORS.
func TestWildDelegates(t *testing.T) {
	files := map[string]string{}
	for _, dir := range []string{filepath.Join("..", "..", "..", "shared", "vectors"), os.Getenv("VAULT_VECTORS")} {
		if dir == "" {
			continue
		}
		found, err := filepath.Glob(filepath.Join(dir, "agentenvelope", "wild", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			files[f] = wildHashes()[filepath.Base(f)]
		}
	}
	if len(files) == 0 {
		t.Skip("no delegates from the wild are here")
	}
	for file, hash := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			v, err := jcs.Parse(raw, jcs.AgentEnvelope)
			if err != nil {
				t.Fatal(err)
			}
			if !v.Get("domainSummary").Exists() {
				t.Fatal("no domainSummary: another kind of file")
			}
			if r, _ := VerifyMintDelegate(raw, Pins{}); r.Valid {
				t.Error("verifies with its unsigned summary")
			}
			stripped, summary, err := SplitDelegate(raw)
			if err != nil || summary == nil {
				t.Fatalf("summary %v, %v", summary, err)
			}
			pins := Pins{DomainAddress: summary.Address(), DomainHash: summary.Info().Hash()}
			r, d := VerifyMintDelegate(stripped, pins)
			if !r.Valid || !r.Pinned {
				t.Fatalf("%+v", r)
			}
			if hash != "" && d.Hash() != hash {
				t.Errorf("hash %s", d.Hash())
			}
			if !strings.Contains(strings.Join(r.Warnings, "\n"), "delegate id") {
				t.Errorf("the invented delegate id is not warned of: %q", r.Warnings)
			}
			if f := d.Fields(); f.Legitimacy == nil || !f.Legitimacy.Required || f.AvatarAddress == "" {
				t.Errorf("fields %+v", f)
			}
			for _, p := range []Pins{
				{DomainAddress: "0x" + strings.Repeat("0", 40)},
				{DomainAddress: pins.DomainAddress, DomainHash: "0x" + strings.Repeat("0", 64)},
				{ExpectHash: "0x" + strings.Repeat("0", 64)},
				{Owner: "U"},
			} {
				if r, _ := VerifyMintDelegate(stripped, p); r.Valid || r.Pinned {
					t.Errorf("valid against %+v", p)
				}
			}
			if r, _ := VerifyMintDelegate(stripped, Pins{ExpectHash: d.Hash()}); !r.Valid || !r.Pinned {
				t.Errorf("by hash: %+v", r)
			}
			if r, _ := VerifyMintDelegate(stripped, Pins{}); !r.Valid || r.Pinned {
				t.Errorf("unpinned: %+v", r)
			}
			foreign := strings.Replace(string(raw), summary.Info().Hash(), "0x"+strings.Repeat("1", 64), 1)
			if _, _, err := SplitDelegate([]byte(foreign)); err == nil {
				t.Error("a summary of another domain passed")
			}
		})
	}
}

func TestSplitDelegateRefusesWhatIsNotJSON(t *testing.T) {
	var e *jcs.Error
	if _, _, err := SplitDelegate([]byte(`{"a":1,"a":2}`)); !errors.As(err, &e) || e.Code != jcs.DuplicateName {
		t.Errorf("got %v", err)
	}
}
