package main

import (
	"crypto/rand"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"vault/cmd/internal/ceremony/page"
)

// openTime is how long a browser may take before the link is offered beside it.
const openTime = 15 * time.Second

// ceremonyCommand is the ceremony helper. The key process starts it; started by anybody
// else it has no line to speak on, and ends.
func (p *program) ceremonyCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "ceremony",
		Short:  "The page on which a passkey confirms; started by the key process and by nobody else",
		Hidden: true,
		Args:   none,
		RunE: func(*cobra.Command, []string) error {
			conn, err := keyLine()
			if err != nil {
				return err
			}
			return page.Serve(conn, page.Config{
				Rand: rand.Reader, Now: p.now, UserOf: page.UserOf, UID: os.Getuid(), Environment: p.getenv, OpenTime: openTime,
				Browser: page.System{Environment: p.getenv, GOOS: runtime.GOOS, Exists: func(path string) bool {
					_, err := os.Stat(path)
					return err == nil
				}},
			})
		},
	}
}
