package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"vault/approvals/plain"
	"vault/derive/envelope"
	"vault/derive/jcs"
	"vault/ipc/client"
	"vault/ipc/socket"
)

func (p *program) agentCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "agent",
		Short: "What an agent does: pair, ask for signatures, see what it could reach",
		Args:  none,
		RunE:  func(*cobra.Command, []string) error { return usageError("say pair, sign or status") },
	}
	c.AddCommand(p.agentPair(), p.agentSign(), p.agentStatus())
	return c
}

func nameFlag(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "name", "agent", "the agent's own `name`; its pairing is kept under it")
}

func (p *program) agentPair() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "pair",
		Short: "Ask the vault to be paired; prints the six digits to compare",
		Args:  none,
		RunE:  func(c *cobra.Command, _ []string) error { return p.pair(c.Context(), name) },
	}
	nameFlag(c, &name)
	return c
}

func (p *program) pair(ctx context.Context, name string) error {
	file, err := client.File(name)
	if err != nil {
		return usageError(err.Error())
	}
	conn, err := p.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	pairing, err := conn.Pair(ctx, name, func(digits string) {
		_ = p.printf("Number: %s\nCompare it with the one the vault shows. Waiting for the owner.\n", plain.TerminalLine(digits))
	})
	if err != nil {
		return err
	}
	defer pairing.Wipe()
	if err := pairing.Save(file); err != nil {
		return &failure{code: "file_unwritable", detail: file, status: statusNotDone, err: err}
	}
	return p.printf("Paired as %s with vault %s. The secret is in %s; whoever can read that file can use this pairing.\n",
		plain.TerminalLine(pairing.Client), plain.TerminalLine(pairing.Vault), plain.TerminalLine(file))
}

func (p *program) dial(ctx context.Context) (*client.Conn, error) {
	path, err := socket.PathFrom(p.getenv)
	if err != nil {
		return nil, err
	}
	return client.DialOwner(ctx, path, p.getenv(socket.OwnerEnv))
}

// hello connects and proves the pairing kept under name.
func (p *program) hello(ctx context.Context, name string) (*client.Conn, *client.Pairing, error) {
	file, err := client.File(name)
	if err != nil {
		return nil, nil, usageError(err.Error())
	}
	pairing, err := client.Load(file)
	if err != nil {
		return nil, nil, err
	}
	conn, err := p.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	if _, err := conn.Hello(ctx, pairing); err != nil {
		pairing.Wipe()
		return nil, nil, errors.Join(err, conn.Close())
	}
	return conn, pairing, nil
}

// remember keeps the head of the log that a pairing was given. Where it cannot, the next hello sends an older one.
func remember(name string, pairing *client.Pairing) {
	if file, err := client.File(name); err == nil {
		_ = pairing.Save(file)
	}
}

func newRequestID() string {
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails
	return "r_" + hex.EncodeToString(id[:])
}

// signing is what agent sign is told.
type signing struct {
	name, payload, envelope, out string
	request, session             string
	domain, agentID, operation   string
	resources                    []string
	index, maxUses, minutes      int64
	onlyGranted                  bool
}

func (p *program) agentSign() *cobra.Command {
	var s signing
	c := &cobra.Command{
		Use:   "sign --payload FILE (--envelope FILE | --domain ID --operation NAME --resource NAME...)",
		Short: "Ask for one signature, wait for the owner, and save the answer",
		Args:  none,
		RunE:  func(c *cobra.Command, _ []string) error { return p.sign(c.Context(), s) },
	}
	f := c.Flags()
	nameFlag(c, &s.name)
	f.StringVar(&s.payload, "payload", "", "`file` with the JSON object to be signed")
	f.StringVar(&s.envelope, "envelope", "", "`file` with the action envelope; or give its parts:")
	f.StringVar(&s.domain, "domain", "", "domain `id` or hash")
	f.StringVar(&s.agentID, "agent-id", "", "agent id in the envelope; the name where it is not given")
	f.StringVar(&s.operation, "operation", "", "what the signature is for, such as send-invoice")
	f.StringArrayVar(&s.resources, "resource", nil, "what it concerns; may be given again")
	f.Int64Var(&s.index, "index", 0, "action index")
	f.Int64Var(&s.maxUses, "max-uses", 1, "uses that the envelope allows")
	f.Int64Var(&s.minutes, "minutes", 24*60, "how long the envelope lasts at least; it ends before twice that")
	f.StringVar(&s.request, "request", "", "request `id`; the same id and bytes give the same answer")
	f.StringVar(&s.session, "session", "", "session `id`")
	f.BoolVar(&s.onlyGranted, "only-granted", false, "ask nobody: sign only under a grant")
	f.StringVar(&s.out, "out", "", "new `file` for the answer; standard output where it is not given")
	return c
}

func (p *program) sign(ctx context.Context, s signing) error {
	if s.payload == "" {
		return usageError("name the payload's file with --payload")
	}
	if err := askIDs(s.request, s.session); err != nil {
		return err
	}
	payload, err := readRegular(s.payload)
	if err != nil {
		return err
	}
	if _, err := envelope.ParsePayload(payload); err != nil {
		return misfit(s.payload, err)
	}
	ask := client.Sign{RequestID: s.request, Session: s.session, Payload: payload, Grant: s.onlyGranted}
	if s.envelope != "" {
		if ask.Envelope, err = readRegular(s.envelope); err != nil {
			return err
		}
		if _, err := envelope.ParseActionEnvelope(ask.Envelope); err != nil {
			return misfit(s.envelope, err)
		}
	} else if err := s.parts(); err != nil {
		return err
	}
	return p.keeping(s.out, func(keep keeper) error { return p.askToSign(ctx, s, ask, keep) })
}

// askToSign asks for the signature and keeps the answer.
func (p *program) askToSign(ctx context.Context, s signing, ask client.Sign, keep keeper) error {
	conn, pairing, err := p.hello(ctx, s.name)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer pairing.Wipe()
	if ask.Envelope == nil {
		if ask.Envelope, err = p.makeEnvelope(ctx, conn, s); err != nil {
			return err
		}
	}
	if ask.RequestID == "" {
		ask.RequestID = newRequestID()
	}
	if _, err := fmt.Fprintf(p.errOut, "Request %s. Waiting for the owner.\n", plain.TerminalLine(ask.RequestID)); err != nil {
		return err
	}
	signed, err := conn.ActionSign(ctx, ask)
	if err != nil {
		return err
	}
	remember(s.name, pairing)
	raw, err := json.MarshalIndent(signed, "", "  ")
	if err != nil {
		return err
	}
	return keep(append(asciiJSON(raw), '\n')) // as it is: it may be copied into a file
}

// maxMinutes is ten years.
const maxMinutes = 10 * 365 * 24 * 60

// parts says what is missing of an envelope that is to be made of its parts.
func (s signing) parts() error {
	switch {
	case s.domain == "" || s.operation == "" || len(s.resources) == 0:
		return usageError("name the domain, the operation and a resource, or an envelope file")
	case s.minutes < 1 || s.minutes > maxMinutes:
		return usageError(fmt.Sprintf("--minutes takes 1 to %d", maxMinutes))
	}
	return nil
}

// makeEnvelope builds the action envelope from its parts, in the vault's own domain.
func (p *program) makeEnvelope(ctx context.Context, conn *client.Conn, s signing) (json.RawMessage, error) {
	raw, err := conn.Domain(ctx, s.domain)
	if err != nil {
		return nil, err
	}
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return nil, err
	}
	if s.agentID == "" {
		s.agentID = s.name
	}
	// From the beginning of a span of that length, to the end of the next, so that asking again soon makes the same
	// envelope, and so that it lasts as long as was asked for even where the span is nearly over.
	long := s.minutes * 60_000
	now := p.now().UnixMilli()
	from := now - now%long
	e, err := envelope.NewActionEnvelopeFor(v.Get("domainInfo").Get("domainId").Text(), v.Get("domainHash").Text(), envelope.ActionFields{
		AgentID: s.agentID, ActionIndex: s.index, Operation: s.operation, Resources: s.resources,
		Window: envelope.Window{NotBefore: envelope.Some(from), NotAfter: envelope.Some(from + 2*long)},
		Mode:   envelope.ModeBoth, MaxUses: envelope.Some(s.maxUses),
	})
	if err != nil {
		return nil, usageError(err.Error())
	}
	return json.RawMessage(e.Canonical()), nil
}

// asciiJSON writes the characters of JSON text that are not plain ASCII as escapes: it
// stays the same document, and no terminal does anything with it.
func asciiJSON(raw []byte) []byte {
	var out []byte
	for _, r := range string(raw) {
		switch {
		case r == 0x7f || r > 0x7f && r < 0x10000:
			out = fmt.Appendf(out, "\\u%04x", r)
		case r >= 0x10000:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, "\\u%04x\\u%04x", hi, lo)
		default:
			out = append(out, byte(r))
		}
	}
	return out
}

// unwritten is the failure of a file that could not be made.
func unwritten(name string, err error) error {
	code := "file_unwritable"
	if errors.Is(err, os.ErrExist) {
		code = "file_exists"
	}
	return &failure{code: code, detail: name, status: statusUsage, err: err}
}

// writeNew writes a file that must not exist, readable by its owner.
func writeNew(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return unwritten(name, err)
	}
	_, werr := f.Write(content)
	if err := errors.Join(werr, f.Close()); err != nil {
		_ = os.Remove(name)
		return &failure{code: "file_unwritable", detail: name, status: statusNotDone, err: err}
	}
	return nil
}
