package main

import (
	"net"
	"os"

	"github.com/spf13/cobra"

	"vault/approvals/keys"
	"vault/cmd/internal/secret"
	"vault/cmd/vault/internal/composed"
	"vault/cmd/vault/internal/secretterm"
	"vault/cmd/vault/internal/tty"
)

// keyLine is the inherited end of a helper's line to the key process. Started by anybody else a helper has none.
func keyLine() (net.Conn, error) {
	if f := os.NewFile(3, "key process"); f != nil {
		conn, err := net.FileConn(f)
		_ = f.Close() // the connection has a descriptor of its own
		if err == nil {
			return conn, nil
		}
	}
	return nil, usageError("this is started by the key process")
}

// secretCommand is the secret window. The key process starts it; started by anybody
// else it has no line to speak on, and ends.
func (p *program) secretCommand() *cobra.Command {
	var where string
	c := &cobra.Command{
		Use:    "secret",
		Short:  "The secret window; started by the key process and by nobody else",
		Hidden: true,
		Args:   none,
		RunE: func(*cobra.Command, []string) error {
			conn, err := keyLine()
			if err != nil {
				return err
			}
			switch keys.Surface(where) {
			case keys.SurfaceTerminal:
				dev, err := tty.OpenControlling()
				if err != nil {
					return secret.Serve(conn, nowhere{})
				}
				defer dev.Close()
				return secret.Serve(conn, composed.Prompter{Prompter: secretterm.New(dev)})
			case keys.SurfaceWindow:
				return secretWindow(conn)
			default:
				return usageError("the form is window or terminal")
			}
		},
	}
	c.Flags().StringVar(&where, "form", "", "window or terminal")
	return c
}
