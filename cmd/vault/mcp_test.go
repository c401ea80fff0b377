package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPWithoutAVault starts the real program as a host does, where no vault runs: it speaks every
// version, and says in a result what is the matter.
func TestMCPWithoutAVault(t *testing.T) {
	for _, version := range sdk.SupportedProtocolVersions() {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(filepath.Join(programs, "vault"), "mcp", "--name", "host")
			cmd.Env = append(os.Environ(), "VAULT_SOCK="+filepath.Join(dir, "s.sock"), "XDG_STATE_HOME="+dir)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			s, err := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, nil).
				Connect(ctx, &sdk.CommandTransport{Command: cmd}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			list, err := s.ListTools(ctx, nil)
			if err != nil || len(list.Tools) != 8 {
				t.Fatalf("%+v, %v", list, err)
			}
			res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "read_domain", Arguments: json.RawMessage(`{}`)})
			if err != nil || !res.IsError || len(res.Content) != 1 || !strings.Contains(res.Content[0].(*sdk.TextContent).Text, `"code":"no_connection"`) {
				t.Fatalf("%+v, %v", res, err)
			}
		})
	}
}
