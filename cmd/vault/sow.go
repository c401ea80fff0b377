package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vault/approvals/plain"
	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/approvals/sow/draft"
	"vault/approvals/sow/money"
	"vault/approvals/sow/page"
	"vault/derive/jcs"
)

func (p *program) sowCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "sow",
		Short: "Agent SoW documents: check, show, compare, verify, draft; and ask the owner to sign",
		Long: "Only sign needs an open vault, and asks its owner there; nothing here signs by itself.\n\n" +
			"Where a document is asked for, a bundle does as well; its document is taken.\n" +
			"Regular files; documents of at most 1 MiB, bundles of at most 8 MiB.",
		Args: none,
		RunE: func(*cobra.Command, []string) error {
			return usageError("say check, show, id, verify, diff, new or sign")
		},
	}
	c.AddCommand(p.sowCheck(), p.sowShow(), p.sowID(), p.sowVerify(), p.sowDiff(), p.sowNew(), p.sowSign())
	return c
}

// readSoW reads a document's bytes from a file, also out of a bundle.
func readSoW(name string) ([]byte, error) {
	raw, err := readRegular(name)
	if err != nil {
		return nil, err
	}
	v, err := jcs.Parse(raw, jcs.SoW)
	if err != nil || !bundle.Is(v) {
		return raw, nil
	}
	b, err := bundle.Parse(raw)
	if err != nil {
		return nil, malformed(name, err)
	}
	return b.Document, nil
}

// sowDocument reads a document that can be read at all.
func sowDocument(name string) (*sow.Document, error) {
	raw, err := readSoW(name)
	if err != nil {
		return nil, err
	}
	return documentIn(name, raw)
}

func documentIn(name string, raw []byte) (*sow.Document, error) {
	d, err := sow.Parse(raw)
	switch {
	case err != nil:
		return nil, malformed(name, err)
	case !d.Get("sow").Exists(): // any other object would be shown as a draft that says nothing
		return nil, malformed(name, errNoDocument)
	}
	return d, nil
}

func malformed(name string, err error) error {
	return &failure{code: "not_a_sow", detail: name + ": " + err.Error(), status: statusNotDone, err: err}
}

func (p *program) sowCheck() *cobra.Command {
	var asJSON, ours bool
	var manifest, language string
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Name everything that is wrong with a document, or open in it",
		Long: "Every finding at once: an error bars signing, a warning is to be read first, an info says what the document leaves open.\n" +
			"Signatures are checked over the document as it stands; whose they are, vault sow verify says.\n" +
			"That nothing is wrong does not make the terms good ones.\n\n" +
			"Exit statuses: 0 no error; 1 errors; 2 not understood or unreadable.",
		Args: exactly(1, "one file"),
		RunE: func(_ *cobra.Command, args []string) error {
			raw, err := readSoW(args[0])
			if err != nil {
				return err
			}
			o := sow.Options{Authoring: ours, Languages: knownLanguages()}
			if manifest != "" {
				text, err := readRegular(manifest)
				if err != nil {
					return err
				}
				if o.Manifest, err = sow.ParseManifest(text); err != nil {
					return malformed(manifest, err)
				}
			}
			d, f := sow.Read(raw, o)
			if d != nil {
				if language != "" {
					if f, err = withLanguage(d, f, o, language); err != nil {
						return err
					}
				}
				f = append(f, d.VerifySignatures(sow.Pins{}).Findings...)
			}
			if asJSON {
				err = p.printFindingsJSON(f)
			} else {
				err = p.printFindings(f)
			}
			if err == nil && !f.OK() {
				return verdict(statusNotDone)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print {\"ok\",\"findings\"} instead of lines")
	c.Flags().BoolVar(&ours, "ours", false, "check it as one that you are about to sign first: stricter, and with its identifier")
	c.Flags().StringVar(&manifest, "manifest", "", "`file` with the manifest of the provider's agent, against which offerings, meters and steps are checked")
	c.Flags().StringVar(&language, "language", "", "`file` with the text of the contract language that the document names")
	return c
}

// withLanguage checks again with the text of a contract language known.
func withLanguage(d *sow.Document, f sow.Findings, o sow.Options, name string) (sow.Findings, error) {
	text, err := readRegular(name)
	if err != nil {
		return nil, err
	}
	if bad := d.CheckLanguageText(text); bad != nil {
		return append(f, *bad), nil
	}
	if l, _ := d.Language(); o.Languages[l.LanguageName] == "" {
		o.Languages[l.LanguageName] = l.SHA256
	}
	return d.Validate(o), nil
}

// knownLanguages are the contract languages this program has the text of.
func knownLanguages() sow.Languages {
	own, _, err := page.OwnLanguage()
	if err != nil { // it is built in; without it every language is unknown
		return sow.Languages{}
	}
	return sow.Languages{own.LanguageName: own.SHA256}
}

func (p *program) printFindings(f sow.Findings) error {
	counts := map[sow.Severity]int{}
	var b strings.Builder
	for _, x := range f {
		counts[x.Severity]++
		where := ""
		if x.Member != "" {
			where = plain.TerminalLine(x.Member) + ": "
		}
		fmt.Fprintf(&b, "%-8s%s, section %s: %s%s %s\n", x.Severity, x.Code, x.Section, where, plain.TerminalLine(x.Message), plain.TerminalLine(x.Remedy))
	}
	if counts[sow.Error] > 0 {
		fmt.Fprintf(&b, "Not to be signed as it is: %s, %s.\n", counted(counts[sow.Error], "error"), counted(counts[sow.Warning], "warning"))
	} else {
		fmt.Fprintf(&b, "No errors; %s, %s.\n", counted(counts[sow.Warning], "warning"), counted(counts[sow.Info], "remark"))
	}
	return p.printf("%s", b.String())
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (p *program) printFindingsJSON(f sow.Findings) error {
	if f == nil {
		f = sow.Findings{}
	}
	return p.printJSON(struct {
		OK       bool         `json:"ok"`
		Findings sow.Findings `json:"findings"`
	}{f.OK(), f})
}

// printJSON prints a value of ours as one line of JSON that is plain ASCII.
func (p *program) printJSON(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fail("internal", err)
	}
	return p.printf("%s\n", asciiJSON(raw))
}

// writeDraft writes a draft to a new file, and says where it is.
func (p *program) writeDraft(file string, raw []byte) error {
	if err := writeNew(file, raw); err != nil {
		return err
	}
	return p.printf("The draft is in %s. Nothing is signed; vault sow check names what is left open.\n", plain.TerminalLine(file))
}

func (p *program) sowID() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "id FILE",
		Short: "Print the identifier a version 1 derives, or write the draft with it",
		Long: "An identifier is made once, for version 1, by whoever makes that document. A document that names another one is\n" +
			"not at fault for that, and no command refuses it. With --out, a draft that nobody has signed is written with its identifier.",
		Args: exactly(1, "one file"),
		RunE: func(_ *cobra.Command, args []string) error {
			raw, err := readSoW(args[0])
			if err != nil {
				return err
			}
			d, err := documentIn(args[0], raw)
			if err != nil {
				return err
			}
			if out != "" {
				made, err := draft.WithID(raw)
				if err != nil {
					return &failure{code: "no_identifier", detail: args[0] + ": " + strings.TrimPrefix(err.Error(), "draft: "), status: statusNotDone, err: err}
				}
				return p.writeDraft(out, made)
			}
			lines := "stated   " + plain.TerminalLine(d.ID()) + "\n"
			switch {
			case d.Version() != 1:
				lines += "note     An identifier is derived from version 1 alone. This is another version.\n"
			case d.ID() == d.Mint():
				lines += "derived  " + d.Mint() + "\nnote     They are the same.\n"
			default:
				lines += "derived  " + d.Mint() + "\nnote     They differ. That is no fault of a document that was received.\n"
			}
			return p.printf("%s", lines)
		},
	}
	c.Flags().StringVar(&out, "out", "", "new `file` for the draft with its identifier")
	return c
}

// change is a change as JSON has it.
type change struct {
	Kind  sow.ChangeKind  `json:"kind"`
	Path  string          `json:"path"`
	Old   json.RawMessage `json:"old,omitempty"`
	New   json.RawMessage `json:"new,omitempty"`
	Order bool            `json:"order,omitempty"`
}

func (p *program) sowDiff() *cobra.Command {
	var asJSON, leaves bool
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two documents leaf by leaf, money and dates first",
		Long: "Two versions of one document are compared as the window does, with what each change means. Two other documents,\n" +
			"and with --leaves any two, are compared member by member, as they stand.",
		Args: exactly(2, "two files, the older first"),
		RunE: func(_ *cobra.Command, args []string) error {
			old, err := sowDocument(args[0])
			if err != nil {
				return err
			}
			new, err := sowDocument(args[1])
			if err != nil {
				return err
			}
			changes := sow.Compare(old, new)
			var found sow.Findings
			if old.ID() == new.ID() && old.ID() != "" && old.Digest() != new.Digest() {
				if found = sow.CheckAmendment(old, new, false); old.Version() == new.Version() {
					found = sow.Findings{*sow.CheckVersion(new, 0, old)}
				}
			}
			var follows []money.Consequence
			from, badOld := old.Price()
			to, badNew := new.Price()
			if badOld.OK() && badNew.OK() {
				follows = money.Consequences(from, to)
			}
			if asJSON {
				return p.diffJSON(changes, follows, found)
			}
			versions := old.ID() == new.ID() && old.Version() != new.Version()
			if versions && !leaves {
				return p.printf("%s%s", page.Compare(old, new, page.Facts{Now: p.now().UnixMilli()}).Text(), remarks(nil, found))
			}
			return p.diff(changes, remarks(follows, found), versions)
		},
	}
	c.Flags().BoolVar(&leaves, "leaves", false, "print each member that differs, as it stands")
	c.Flags().BoolVar(&asJSON, "json", false, "print {\"changes\",\"consequences\",\"findings\"} instead of lines")
	return c
}

func (p *program) diffJSON(changes []sow.Change, follows []money.Consequence, found sow.Findings) error {
	list := make([]change, len(changes))
	for i, c := range changes {
		list[i] = change{c.Kind, c.Path, c.Old.Canonical(), c.New.Canonical(), c.Order}
	}
	if follows == nil {
		follows = []money.Consequence{}
	}
	if found == nil {
		found = sow.Findings{}
	}
	return p.printJSON(struct {
		Changes      []change            `json:"changes"`
		Consequences []money.Consequence `json:"consequences"`
		Findings     sow.Findings        `json:"findings"`
	}{list, follows, found})
}

// consequences are what a changed arrangement does to money (5.5.7), in words.
var consequences = map[money.Consequence]string{
	money.OpensReservation:    "The new cap is reserved when it is approved, or it is refused.",
	money.ReleasesReservation: "What is left of the reservation comes back when it is approved.",
	money.NoRefund:            "Work that was billed stays billed.",
	money.NoBackBilling:       "Work that was done for nothing stays free.",
}

// diff prints every leaf that differs.
func (p *program) diff(changes []sow.Change, remarks string, versions bool) error {
	var b strings.Builder
	if !versions && len(changes) > 0 {
		b.WriteString("These are not two versions of one document.\n")
	}
	for _, c := range changes {
		what := shown(c.Old) + " → " + shown(c.New)
		if c.Order {
			what = "the same entries in another order"
		}
		fmt.Fprintf(&b, "%-7s%s: %s\n", c.Kind, plain.TerminalLine(c.Path), what)
	}
	b.WriteString(remarks)
	if len(changes) == 0 {
		b.WriteString("The signed bytes are the same.\n")
	} else {
		fmt.Fprintf(&b, "%s.\n", counted(len(changes), "change"))
	}
	return p.printf("%s", b.String())
}

// remarks are what follows from a comparison, and what is wrong with the new
// version as an amendment.
func remarks(follows []money.Consequence, found sow.Findings) string {
	var b strings.Builder
	for _, f := range follows {
		fmt.Fprintf(&b, "note   %s\n", consequences[f])
	}
	for _, f := range found {
		fmt.Fprintf(&b, "%-7s%s: %s %s\n", f.Severity, f.Code, f.Message, f.Remedy)
	}
	return b.String()
}

// shown is a leaf as it stands in the document.
func shown(v jcs.Value) string {
	if !v.Exists() {
		return "(not there)"
	}
	return plain.TerminalLine(string(v.Canonical()))
}

var (
	errNoDocument = errors.New("it is neither a SoW document nor a bundle")
	errNoPart     = errors.New("it is neither a version, a bundle, an act nor a confirmation")
)
