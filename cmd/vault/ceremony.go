package main

import (
	"crypto/rand"
	"net"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"vault/cmd/internal/ceremony/page"
)

// ceremonyDescriptor is the inherited end of the line to the key process.
const ceremonyDescriptor = 3

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
			f := os.NewFile(ceremonyDescriptor, "key process")
			if f == nil {
				return usageError("this is started by the key process")
			}
			conn, err := net.FileConn(f)
			_ = f.Close() // the connection has a descriptor of its own
			if err != nil {
				return usageError("this is started by the key process")
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
