package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"vault/approvals/plain"
	"vault/derive/jcs"
	"vault/ipc/client"
)

// sowSigning is what sow sign is told.
type sowSigning struct {
	name, move, fill, request, session, out string
}

func (p *program) sowSign() *cobra.Command {
	var s sowSigning
	c := &cobra.Command{
		Use:   "sign FILE",
		Short: "Bring a document to the running vault and wait for its owner to sign it",
		Long: "Goes to the open vault as the paired program of that name (vault agent pair). The vault shows the document to its owner, who signs\n" +
			"with the passkey, or not; this command can do neither. An amendment is asked to be approved, an offer to be completed as --fill says.\n" +
			"The signed bundle is printed, or saved under --out.\n\n" +
			"Exit statuses: 0 signed; 1 not; 2 not understood or unreadable.",
		Args: exactly(1, "one file"),
		RunE: func(c *cobra.Command, args []string) error { return p.signSoW(c.Context(), args[0], s) },
	}
	f := c.Flags()
	nameFlag(c, &s.name)
	f.StringVar(&s.move, "move", "", "countersign, approve or form; read from the document where it is not given")
	f.StringVar(&s.fill, "fill", "", "`file` that says how an offer is completed: client, starts_at, assertions, …")
	f.StringVar(&s.request, "request", "", "request `id`; the same id and bytes give the same answer")
	f.StringVar(&s.session, "session", "", "session `id`")
	f.StringVar(&s.out, "out", "", "new `file` for the bundle; standard output where it is not given")
	return c
}

// moveOf reads from a document what a signature under it would be.
func moveOf(document []byte) (string, error) {
	v, err := jcs.Parse(document, jcs.SoW)
	if err != nil {
		return "", err
	}
	n, _ := v.Get("version").Int()
	switch {
	case v.Get("parties").Get("client").Kind() == jcs.Null:
		return "form", nil
	case n > 1:
		return "approve", nil
	}
	return "countersign", nil
}

func (p *program) signSoW(ctx context.Context, file string, s sowSigning) error {
	document, err := readSoW(file)
	if err != nil {
		return err
	}
	if s.move == "" {
		if s.move, err = moveOf(document); err != nil {
			return malformed(file, err)
		}
	}
	ask := client.SoW{RequestID: s.request, Session: s.session, Document: document, Move: s.move}
	switch {
	case s.move == "form" && s.fill == "":
		return usageError("an offer is completed as --fill says")
	case s.fill != "":
		if ask.Fill, err = readRegular(s.fill); err != nil {
			return err
		}
	}
	if ask.RequestID == "" {
		var id [12]byte
		if _, err := rand.Read(id[:]); err != nil {
			return err
		}
		ask.RequestID = "s_" + hex.EncodeToString(id[:])
	}
	if err := askIDs(s.request, s.session); err != nil {
		return err
	}
	return p.keeping(s.out, func(keep keeper) error { return p.askForSoW(ctx, s, ask, keep) })
}

// askForSoW brings a document to the vault, waits for its owner, and keeps the bundle.
func (p *program) askForSoW(ctx context.Context, s sowSigning, ask client.SoW, keep keeper) error {
	conn, pairing, err := p.hello(ctx, s.name)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer pairing.Wipe()
	if _, err := fmt.Fprintf(p.errOut, "Request %s. Waiting for the owner.\n", plain.TerminalLine(ask.RequestID)); err != nil {
		return err
	}
	answer, err := conn.SubmitSoW(ctx, ask)
	for err == nil && answer.Pending != "" {
		answer, err = conn.AwaitSoW(ctx, answer.Pending)
	}
	if err != nil {
		return err
	}
	var got struct {
		Outcome, Code, Detail string
		Bundle                json.RawMessage
	}
	if err := json.Unmarshal(answer.Result, &got); err != nil {
		return err
	}
	switch {
	case got.Code != "":
		return &failure{code: "sow_refused", detail: got.Code + " " + got.Detail, status: statusNotDone}
	case got.Outcome != "signed":
		return &failure{code: "sow_not_signed", detail: got.Outcome, status: statusNotDone}
	}
	bundle := got.Bundle // a file has it byte for byte
	if s.out == "" {
		bundle = asciiJSON(bundle) // as it is: it may be copied into a file
	}
	return keep(append(bundle, '\n'))
}
