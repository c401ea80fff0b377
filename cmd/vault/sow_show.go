package main

import (
	"github.com/spf13/cobra"

	"vault/approvals/plain"
	"vault/approvals/sow"
	"vault/approvals/sow/page"
	"vault/approvals/sow/page/pdf"
)

func (p *program) sowShow() *cobra.Command {
	var language, html, pdfFile string
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
			out := page.Of(d, f)
			unpinned := f.Seats.Provider != nil && pins.Provider == "" || f.Seats.Client != nil && pins.Client == ""
			if html != "" || pdfFile != "" {
				if unpinned {
					out.Notices = append([]page.Notice{{Tone: page.Warn, What: []page.Span{{Text: notPinned}}}}, out.Notices...)
				}
				return p.writePage(out, html, pdfFile)
			}
			text := out.Text()
			if unpinned {
				text = notPinned + "\n\n" + text
			}
			return p.printf("%s", text)
		},
	}
	c.Flags().StringArrayVar(&keys, "key", nil, "key that you know a seat by: `provider=U…` or client=U…")
	c.Flags().StringVar(&html, "html", "", "write the page to a new `file` as HTML, which fetches and runs nothing")
	c.Flags().StringVar(&pdfFile, "pdf", "", "write the page to a new `file` as PDF")
	c.Flags().StringVar(&language, "language", "", "`file` with the text of the contract language that the document names")
	return c
}

const notPinned = "Not pinned: anybody could have made these signatures. What follows is what the file says."

// writePage writes a page to new files; identifier, version and digest stand on
// every page of them.
func (p *program) writePage(out *page.Page, html, pdfFile string) error {
	write := func(name string, raw []byte) error {
		if err := writeNew(name, raw); err != nil {
			return err
		}
		return p.printf("The page is in %s.\n", plain.TerminalLine(name))
	}
	if html != "" {
		if err := write(html, []byte(out.HTML())); err != nil {
			return err
		}
	}
	if pdfFile == "" {
		return nil
	}
	raw, err := pdf.Page(out)
	if err != nil {
		return &failure{code: "file_unwritable", detail: pdfFile, status: statusNotDone, err: err}
	}
	return write(pdfFile, raw)
}

func given(key string) page.Known {
	if key == "" {
		return page.Known{}
	}
	return page.Known{Key: key, How: "given on the command line"}
}
