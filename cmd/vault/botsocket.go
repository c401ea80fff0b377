package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"vault/derive/envelope"
	"vault/ipc/bot"
	"vault/ipc/client"
)

// speaking is how a bot reaches the vault.
type speaking struct{ name, key, out string }

func (p *program) speaks(c *cobra.Command, s *speaking) {
	keyFlag(c, &s.key)
	c.Flags().StringVar(&s.name, "name", "bot", "the program's own `name`; its pairing is kept under it (vault agent pair)")
	c.Flags().StringVar(&s.out, "out", "", "new `file` for the answer; standard output where it is not given")
}

// asBot connects, proves the pairing and then the bot's address, and writes what do gives.
func (p *program) asBot(ctx context.Context, s speaking, do func(*client.Conn) (any, error)) error {
	k, err := botKey(s.key)
	if err != nil {
		return err
	}
	defer k.Wipe()
	return p.keeping(s.out, func(keep keeper) error { return p.askAsBot(ctx, s.name, k, keep, do) })
}

func (p *program) askAsBot(ctx context.Context, name string, k *bot.Key, keep keeper, do func(*client.Conn) (any, error)) error {
	conn, pairing, err := p.hello(ctx, name)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer pairing.Wipe()
	if err := conn.ProveBot(ctx, k); err != nil {
		return err
	}
	got, err := do(conn)
	remember(name, pairing)
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		return err
	}
	return keep(append(asciiJSON(raw), '\n'))
}

func (p *program) botDelegates() *cobra.Command {
	var s speaking
	c := &cobra.Command{
		Use:   "delegates --key FILE",
		Short: "List the delegates under which this bot may ask, with what is left of them",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.asBot(c.Context(), s, func(conn *client.Conn) (any, error) { return conn.Delegates(c.Context()) })
		},
	}
	p.speaks(c, &s)
	return c
}

func (p *program) botMint() *cobra.Command {
	var s speaking
	var file string
	c := &cobra.Command{
		Use:   "mint --key FILE --request FILE",
		Short: "Have a signed request minted; the same request again gives the same answer and spends nothing",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				return usageError("name the request's file with --request")
			}
			var taken bool
			raw, err := p.given(file, &taken)
			if err != nil {
				return err
			}
			if _, err := envelope.ParseMintRequest(raw); err != nil {
				return misfit(file, err)
			}
			return p.asBot(c.Context(), s, func(conn *client.Conn) (any, error) { return conn.Mint(c.Context(), raw) })
		},
	}
	p.speaks(c, &s)
	c.Flags().StringVar(&file, "request", "", "`file` that vault bot request has written")
	return c
}

func (p *program) botSign() *cobra.Command {
	var s speaking
	var challenge, mint, payload, id, session string
	c := &cobra.Command{
		Use:   "sign --key FILE (--challenge FILE | --mint ID --payload FILE)",
		Short: "Sign a vault's challenge with the bot's key, or have a payload signed by a minted key",
		Long: "With --challenge: sign what the method bot.nonce gave, and print what bot.prove takes. It asks nobody; look at the\n" +
			"challenge's vault and client first.\n" +
			"With --mint and --payload: prove the bot to the vault and have the payload signed by the capability's key. The answer is\n" +
			"what vault verify takes, together with the payload.",
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			var taken bool
			switch {
			case challenge != "" && mint == "" && payload == "":
				raw, err := p.given(challenge, &taken)
				if err != nil {
					return err
				}
				return p.prove(challenge, raw, s)
			case challenge != "" || mint == "" || payload == "":
				return usageError("give --challenge alone, or --mint and --payload")
			}
			raw, err := p.given(payload, &taken)
			if err != nil {
				return err
			}
			if _, err := envelope.ParsePayload(raw); err != nil {
				return misfit(payload, err)
			}
			if !envelope.IsHash(mint) {
				return usageError("a capability's id is 0x and 64 hex digits")
			}
			if err := askIDs(id, session); err != nil {
				return err
			}
			if id == "" {
				id = newRequestID()
			}
			return p.asBot(c.Context(), s, func(conn *client.Conn) (any, error) {
				return conn.MintSign(c.Context(), client.MintSign{RequestID: id, Session: session, Mint: mint, Payload: raw})
			})
		},
	}
	p.speaks(c, &s)
	f := c.Flags()
	f.StringVar(&challenge, "challenge", "", "`file` with the result of bot.nonce")
	f.StringVar(&mint, "mint", "", "`id` of the capability, from the answer of vault bot mint")
	f.StringVar(&payload, "payload", "", "`file` with the JSON value to be signed")
	f.StringVar(&id, "request", "", "request `id`; the same id and bytes give the same answer")
	f.StringVar(&session, "session", "", "session `id`")
	return c
}

// prove answers a challenge. The command for bots that speak to the socket themselves.
func (p *program) prove(challenge string, raw []byte, s speaking) error {
	ch, err := envelope.ParseBotChallenge(raw)
	if err != nil {
		return misfit(challenge, err)
	}
	k, err := botKey(s.key)
	if err != nil {
		return err
	}
	defer k.Wipe()
	out, err := json.Marshal(struct {
		Bot       string `json:"bot"`
		Signature string `json:"signature"`
	}{k.Address(), k.Prove(ch)})
	if err != nil {
		return err
	}
	return p.document(out, s.out)
}
