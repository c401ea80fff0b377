package main

import (
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"vault/ipc/client"
	"vault/ipc/mcp"
	"vault/ipc/socket"
)

func (p *program) mcpCommand() *cobra.Command {
	var name, session, key string
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Offer the vault's socket to an MCP host, over standard input and output",
		Long: "A host starts this program and speaks MCP with it. It is a client of the vault as any other: it asks, and the owner\n" +
			"decides in the vault. It uses the pairing kept under its name; without one, the first call asks the owner to pair.",
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			file, err := client.File(name)
			if err != nil {
				return usageError(err.Error())
			}
			path, err := socket.PathFrom(p.getenv)
			if err != nil {
				return err
			}
			if session == "" {
				if session, err = mcp.NewSession(); err != nil {
					return err
				}
			}
			o := mcp.Options{Session: session, Version: version}
			if key != "" {
				if o.Bot, err = botKey(key); err != nil {
					return err
				}
				defer o.Bot.Wipe()
			}
			link := &mcp.Link{Path: path, Owner: p.getenv(socket.OwnerEnv), File: file, Name: name}
			o.Connect = link.Connect
			err = mcp.New(o).Serve(c.Context(), &sdk.StdioTransport{MaxLineLength: mcp.MaxLine})
			return errors.Join(err, link.Close())
		},
	}
	c.Flags().StringVar(&name, "name", "mcp", "the program's own `name`; its pairing is kept under it")
	c.Flags().StringVar(&key, "bot-key", "", "`file` with a bot's key; offers the tools of mint delegation too")
	c.Flags().StringVar(&session, "session", "", "`session` of the moments; a new one where it is not given")
	return c
}
