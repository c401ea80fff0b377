package main

import (
	"github.com/spf13/cobra"

	"vault/approvals/moment"
	"vault/approvals/moment/reading"
	"vault/approvals/plain"
)

func (p *program) momentCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "moment",
		Short: "Look at binding moments",
		Args:  none,
		RunE:  func(*cobra.Command, []string) error { return usageError("say render") },
	}
	var actions string
	var width int
	render := &cobra.Command{
		Use:   "render FILE",
		Short: "Print a binding moment as the vault would show it; presents it to nobody",
		Long: "FILE is a tool result with a top-level member binding_moment, or the bare envelope. What cannot be shown as a decision\n" +
			"is printed as its conventional payload, with the reason; the exit status is then 1.",
		Args: exactly(1, "one file"),
		RunE: func(_ *cobra.Command, args []string) error { return p.renderMoment(args[0], actions, width) },
	}
	render.Flags().StringVar(&actions, "actions", "", "`file` with what stands behind the options, as moment.present takes it")
	render.Flags().IntVar(&width, "width", 80, "longest line in `characters`; 0 breaks none")
	c.AddCommand(render)
	return c
}

func (p *program) renderMoment(file, actions string, width int) error {
	raw, err := readRegular(file)
	if err != nil {
		return err
	}
	got := moment.ToolResult(raw)
	note := "The file has no top-level member binding_moment, and is no bare envelope: "
	if got.Outcome == moment.NoEnvelope {
		bare := moment.Bare(raw, "")
		if bare.Outcome != moment.Render {
			return p.noDecision(note+bare.Fault.Error(), got.Payload)
		}
		got = bare
	}
	switch got.Outcome {
	case moment.Render:
	case moment.ToolError:
		return p.noDecision("The tool result says that its tool failed.", got.Payload)
	default:
		return p.noDecision(got.Fault.Error(), got.Payload)
	}
	var behind []moment.Behind
	if actions != "" {
		list, err := readRegular(actions)
		if err != nil {
			return err
		}
		if behind, err = moment.ParseBehind(list); err != nil {
			return p.noDecision(err.Error(), got.Payload)
		}
	}
	sheet, err := moment.NewSheet(got.Envelope, behind)
	if err != nil {
		return p.noDecision(err.Error(), got.Payload)
	}
	return p.printf("%s", reading.Text(reading.Lines(sheet, nil), width))
}

// noDecision prints the conventional payload and why there is no decision (section 9.3).
func (p *program) noDecision(why string, payload moment.Payload) error {
	if err := p.printf("A decision could not be shown.\n  %s\n", plain.TerminalLine(why)); err != nil {
		return err
	}
	if payload.Text != "" {
		if err := p.printf("\n%s\n", plain.Terminal(payload.Text)); err != nil {
			return err
		}
	}
	return verdict(statusNotDone)
}
