package main

import (
	"github.com/spf13/cobra"

	"vault/approvals/sow"
	"vault/approvals/sow/page"
)

func (p *program) sowShow() *cobra.Command {
	var language string
	var keys []string
	c := &cobra.Command{
		Use:   "show FILE",
		Short: "Print the page of a document: what it costs, until when, how to get out, and every signed word",
		Long: "The page is that of the window. No deployment is known here, so no enforcement counts as earned. Without the keys of both\n" +
			"seats it begins by saying that anybody could have made the signatures. It signs nothing, and is no advice.",
		Args: exactly(1, "one file"),
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := sowDocument(args[0])
			if err != nil {
				return err
			}
			pins, err := sowPins(nil, keys, "")
			if err != nil {
				return err
			}
			f := page.Facts{
				Now: p.now().UnixMilli(), Seats: d.VerifySignatures(sow.Pins{Provider: pins.Provider, Client: pins.Client}),
				Findings: d.Validate(sow.Options{Languages: knownLanguages()}), Provider: given(pins.Provider), Client: given(pins.Client),
			}
			f.State = d.State(sow.Situation{Seats: f.Seats, Now: f.Now})
			if language != "" {
				if f.LanguageText, err = readRegular(language); err != nil {
					return err
				}
				if bad := d.CheckLanguageText(f.LanguageText); bad != nil {
					return &failure{code: string(bad.Code), detail: language, status: statusNotDone}
				}
			}
			text := page.Of(d, f).Text()
			if f.Seats.Provider != nil && pins.Provider == "" || f.Seats.Client != nil && pins.Client == "" {
				text = "Not pinned: anybody could have made these signatures. What follows is what the file says.\n\n" + text
			}
			return p.printf("%s", text)
		},
	}
	c.Flags().StringArrayVar(&keys, "key", nil, "key that you know a seat by: `provider=U…` or client=U…")
	c.Flags().StringVar(&language, "language", "", "`file` with the text of the contract language that the document names")
	return c
}

func given(key string) page.Known {
	if key == "" {
		return page.Known{}
	}
	return page.Known{Key: key, How: "given on the command line"}
}
