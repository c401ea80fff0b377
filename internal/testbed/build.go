//go:build linux

package testbed

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Build makes the programs vault, without a window, and vault-key in a folder, each in the form in which it is shipped.
func Build(ctx context.Context, dir string) error {
	key := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "vault-key"), "vault/cmd/vault-key")
	desk := exec.CommandContext(ctx, "go", "build", "-tags", "headless", "-o", filepath.Join(dir, "vault"), "vault/cmd/vault")
	key.Env = append(os.Environ(), "CGO_ENABLED=0")
	desk.Env = key.Env[:len(key.Env):len(key.Env)]
	if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" {
		key.Env = append(key.Env, "GOEXPERIMENT=runtimesecret")
	}
	for _, c := range []*exec.Cmd{desk, key} {
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", c.Args, err, text)
		}
	}
	return nil
}
