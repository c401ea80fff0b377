package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"vault/cmd/vault/internal/offline"
	"vault/derive/envelope"
	"vault/ipc/bot"
)

func (p *program) botCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "bot",
		Short: "What a bot does under a mint delegate, in whatever language it is written",
		Long: "A bot has a key of its own. With it the bot signs what it asks for under a delegate that the vault's owner has issued;\n" +
			"the vault mints the capability and signs with it. A name of - is standard input.",
		Args: none,
		RunE: func(*cobra.Command, []string) error {
			return usageError("say keygen, delegates, request, mint or sign")
		},
	}
	c.AddCommand(p.botKeygen(), p.botDelegates(), p.botRequest(), p.botMint(), p.botSign())
	return c
}

func keyFlag(c *cobra.Command, key *string) {
	c.Flags().StringVar(key, "key", "", "`file` with the bot's key")
}

// botKey reads the key that --key names.
func botKey(file string) (*bot.Key, error) {
	if file == "" {
		return nil, usageError("name the file of the bot's key with --key")
	}
	k, err := bot.Load(file)
	switch {
	case errors.Is(err, bot.ErrNoKey):
		return nil, &failure{code: "bot_key_missing", detail: file, status: statusUsage, err: err}
	case errors.Is(err, bot.ErrKeyFile):
		return nil, &failure{code: "bot_key_file", detail: file, status: statusUsage, err: err}
	case err != nil:
		return nil, &failure{code: "file_unreadable", detail: file, status: statusUsage, err: err}
	}
	return k, nil
}

func (p *program) botKeygen() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "keygen --key FILE",
		Short: "Make a bot's key in a new file of mode 0600; prints its address, and nothing else",
		Args:  none,
		RunE: func(*cobra.Command, []string) error {
			if file == "" {
				return usageError("name the new file with --key")
			}
			k, err := bot.New(rand.Reader)
			if err != nil {
				return err
			}
			defer k.Wipe()
			switch err := k.Save(file); {
			case errors.Is(err, bot.ErrExists):
				return &failure{code: "file_exists", detail: file, status: statusUsage, err: err}
			case err != nil:
				return &failure{code: "file_unwritable", detail: file, status: statusNotDone, err: err}
			}
			return p.printf("%s\n", k.Address())
		},
	}
	keyFlag(c, &file)
	return c
}

// given reads a document that a flag names: a regular file, or standard input for "-", which can be
// taken once.
func (p *program) given(name string, taken *bool) ([]byte, error) {
	if name != "-" {
		return readRegular(name)
	}
	if *taken {
		return nil, usageError("only one of the documents can come from standard input")
	}
	*taken = true
	raw, err := io.ReadAll(io.LimitReader(p.stdin, offline.MaxFile+1))
	if err == nil && len(raw) > offline.MaxFile {
		err = errors.New("it is larger than 8 MiB")
	}
	if err != nil {
		return nil, &failure{code: "file_unreadable", detail: "standard input", status: statusUsage, err: err}
	}
	return raw, nil
}

// asking is what a bot wants minted.
type asking struct {
	key, delegate, issuer, out string
	agentID, operation         string
	resources                  []string
	index, uses                int64
	from, until, nonce, ref    string
	anyway                     bool
}

func (p *program) botRequest() *cobra.Command {
	var a asking
	c := &cobra.Command{
		Use:   "request --key FILE --delegate FILE --resource NAME...",
		Short: "Sign a request for one capability under a delegate; asks nobody",
		Long: "Sign a MintRequest for one capability. It is checked against the delegate first, as far as that can be done here:\n" +
			"whether its nonce is new and a mint is left, only the vault knows.",
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			raw, err := p.mintRequest(c, a)
			if err != nil {
				return err
			}
			return p.document(raw, a.out)
		},
	}
	f := c.Flags()
	keyFlag(c, &a.key)
	f.StringVar(&a.delegate, "delegate", "", "`file` with the delegate")
	f.StringVar(&a.issuer, "issuer", "", "`address` of the domain that must have issued it, where you know it")
	f.StringVar(&a.agentID, "agent-id", "bot", "what the bot calls itself in the capability")
	f.StringVar(&a.operation, "operation", "", "what the capability is for; the delegate's own where it has one only")
	f.StringArrayVar(&a.resources, "resource", nil, "what it concerns; may be given again")
	f.Int64Var(&a.index, "index", 0, "action index; the delegate's lowest where it is not given")
	f.Int64Var(&a.uses, "uses", 1, "how often it may be signed with")
	f.StringVar(&a.from, "from", "", "its beginning, such as 2026-12-01T09:00:00Z, or open; now where it is not given")
	f.StringVar(&a.until, "until", "", "its end, the same; an hour later, or the delegate's end where that is sooner")
	f.StringVar(&a.nonce, "nonce", "", "a text that was never used under this delegate; drawn at random where it is not given")
	f.StringVar(&a.ref, "legitimacy", "", "legitimacy id; the delegate's own where it requires one")
	f.BoolVar(&a.anyway, "anyway", false, "sign also what the delegate does not allow")
	f.StringVar(&a.out, "out", "", "new `file` for the request; standard output where it is not given")
	return c
}

// mintRequest makes the request that the flags describe.
func (p *program) mintRequest(c *cobra.Command, a asking) ([]byte, error) {
	if a.delegate == "" {
		return nil, usageError("name the delegate's file with --delegate")
	}
	k, err := botKey(a.key)
	if err != nil {
		return nil, err
	}
	defer k.Wipe()
	var taken bool
	raw, err := p.given(a.delegate, &taken)
	if err != nil {
		return nil, err
	}
	raw, d, err := p.delegate(raw, a)
	if err != nil {
		return nil, err
	}
	now := p.now().UTC()
	w, err := a.wish(c.Flags().Changed("index"))
	if err != nil {
		return nil, err
	}
	f, err := w.Fields(d, now, rand.Reader)
	if err != nil {
		return nil, usageError(err.Error())
	}
	q, err := k.Request(d, f)
	if err != nil {
		return nil, usageError(err.Error())
	}
	if why := bot.Outside(q.Canonical(), raw, a.issuer, now); why != "" && !a.anyway {
		return nil, &failure{code: "outside_bounds", detail: why, status: statusNotDone}
	}
	return q.Canonical(), nil
}

// delegate checks the delegate by itself; the request is checked against it afterwards.
func (p *program) delegate(raw []byte, a asking) ([]byte, *envelope.MintDelegate, error) {
	if a.issuer != "" {
		if _, err := envelope.ParseAddress(a.issuer); err != nil {
			return nil, nil, usageError("the issuer is no address: 0x and 40 hex digits")
		}
	}
	wrong := func(detail string) error {
		return &failure{code: "delegate_differs", detail: detail, status: statusNotDone}
	}
	raw, _, err := envelope.SplitDelegate(raw)
	if err != nil {
		return nil, nil, wrong(err.Error())
	}
	report, d := envelope.VerifyMintDelegate(raw, envelope.Pins{DomainAddress: a.issuer})
	if why := bot.Failing(report); why != "" {
		return nil, nil, wrong(why)
	}
	return raw, d, nil
}

// wish reads the flags.
func (a asking) wish(indexed bool) (bot.Wish, error) {
	w := bot.Wish{AgentID: a.agentID, Operation: a.operation, Resources: a.resources, MaxUses: a.uses, Nonce: a.nonce, Legitimacy: a.ref}
	if indexed {
		w.ActionIndex = &a.index
	}
	var err error
	if w.From, err = instant(a.from, "beginning"); err != nil {
		return w, err
	}
	w.Until, err = instant(a.until, "end")
	return w, err
}

// instant reads a time; an empty one is none, and open is no bound.
func instant(text, what string) (*envelope.Opt, error) {
	switch text {
	case "":
		return nil, nil
	case "open":
		return &envelope.Opt{}, nil
	}
	ms, err := envelope.ParseTime(text)
	if err != nil {
		return nil, usageError("the " + what + " is no time such as 2026-12-01T09:00:00Z, nor open")
	}
	at := envelope.Some(ms)
	return &at, nil
}

// document writes a canonical document, as ASCII, to a new file or to standard output.
func (p *program) document(raw []byte, out string) error {
	raw = append(asciiJSON(bytes.TrimSpace(raw)), '\n')
	if out != "" {
		return writeNew(out, raw)
	}
	_, err := p.out.Write(raw)
	return err
}
