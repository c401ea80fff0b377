package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"vault/approvals"
	"vault/approvals/bounds"
	"vault/approvals/fourwords"
	"vault/approvals/keys"
	"vault/approvals/plain"
	"vault/approvals/reasons"
	"vault/approvals/unconfirmed"
)

// Surface is the desk on one terminal.
type Surface struct {
	owner   approvals.Owner
	console *Console
	explain func(error) string // one sentence of ours and the remedy for an error
	now     func() time.Time
	loc     *time.Location

	// Keyring says whether a keyring answers here, before the owner is asked what shall open a
	// vault; it may block for seconds. Nil: it is not known.
	Keyring func(context.Context) bool

	mu      sync.Mutex
	waiting int    // how many were waiting when it was last looked
	told    bool   // a notice stands on the screen, and the owner has typed nothing since
	digits  string // of the page that was last told of
	// confirming: a ceremony that was asked for here is open, and its digits are asked about where it is.
	confirming bool

	listed []string // ids of the agreements listed last
}

// New gives a surface over owner. explain turns an error into a sentence and its
// remedy; loc is where the owner's clock stands.
func New(owner approvals.Owner, c *Console, now func() time.Time, loc *time.Location, explain func(error) string) *Surface {
	return &Surface{owner: owner, console: c, explain: explain, now: now, loc: loc}
}

// command is one word the owner can type.
type command struct {
	name, args, help string
	run              func(s *Surface, ctx context.Context, args []string) error
}

// errQuit ends the loop.
var errQuit = errors.New("terminal: quit")

// commands are listed in the order in which help prints them.
func commands() []command {
	return slices.Concat([]command{
		{"list", "", "what waits for you", (*Surface).list},
		{"open", "[N]", "show the next decision, or number N of the list", (*Surface).open},
		{"create", "", "create a vault here", (*Surface).create},
		{"restore", "[FILE]", "restore a vault from its recovery words, or from a backup file", (*Surface).restore},
		{"unlock", "", "open the vault", (*Surface).unlock},
		{"lock", "", "lock the vault; its keys leave memory", (*Surface).lock},
		{"words", "", "show the recovery words in the secret window", (*Surface).words},
		{"protect", "", "change what opens the vault; a passkey confirms what is weaker", (*Surface).protect},
		{"passkeys", "", "list the enrolled passkeys", (*Surface).passkeys},
		{"enrol", "[localhost]", "enrol a passkey; localhost for a browser that does not take the vault's own name", (*Surface).enrol},
		{"forget", "N", "remove passkey N of the list; a passkey confirms it", (*Surface).forget},
		{"policy", "", "what needs a passkey", (*Surface).policy},
		{"stricter", "WHAT [CLIENT] [NAME=TEXT...]", "ask a passkey for every, signatures, decisions or unseen, of one program where its client is named, and where domain, operation, resource or class are these", (*Surface).stricter},
		{"looser", "N", "drop rule N of the policy; a passkey confirms it", (*Surface).looser},
		{"floor", "[WHO]", "who has to act before an agreement binds you: document, person or agent_then_person; a passkey confirms what is less", (*Surface).floor},
		{"card", "FILE", "write the owner card to a new file; a passkey confirms it", (*Surface).card},
		{"compare", "", "compare the six digits of a page that vault decide opened, where this system does not tell whose it is", (*Surface).compare},
		{"clicks", "", "what was approved by click and by passkey in the last day", (*Surface).clicks},
	}, agreementCommands(), []command{
		{"domain", "", "make a domain", (*Surface).domain},
		{"domains", "", "list the domains with address and fingerprint", (*Surface).domains},
		{"agents", "", "list the paired programs and their grants", (*Surface).agents},
		{"revoke", "CLIENT", "end a program's pairing", (*Surface).revoke},
		{"unblock", "CLIENT", "hear a blocked program again", (*Surface).unblock},
		{"end", "GRANT", "end a grant", (*Surface).endGrant},
		{"refuse", "CLIENT", "decline what a program has asked, all at once", (*Surface).refuse},
		{"rates", "", "how agents ask for decisions", (*Surface).rates},
	}, delegateCommands(), []command{
		{"log", "[N]", "the newest N entries of the log", (*Surface).log},
		{"check", "", "verify the whole log", (*Surface).check},
		{"backup", "FILE", "write a backup to a new file", (*Surface).backup},
		{"instance", "", "start a new instance, after a vault was restored, copied or rolled back", (*Surface).instance},
		{"suspended", "", "what a new instance does not sign under", (*Surface).suspended},
		{"readmit", "N USES", "let number N of them be used again, so many times; a passkey confirms it", (*Surface).readmit},
		{"status", "", "the state of the vault", (*Surface).status},
		{"help", "", "this list", (*Surface).help},
		{"quit", "", "lock and end", func(*Surface, context.Context, []string) error { return errQuit }},
	})
}

// Run serves the owner until they quit, the terminal goes away or ctx ends. It
// returns nil for the first two.
func (s *Surface) Run(ctx context.Context) error {
	s.waiting = s.owner.Status().Waiting
	changed := make(chan struct{}, 1)
	stop := s.owner.Watch(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer stop()
	watch, end := context.WithCancel(ctx)
	defer end()
	go func() {
		for {
			select {
			case <-watch.Done():
				return
			case <-changed:
			}
			s.follow(s.owner.Status().Waiting)
			s.compares()
		}
	}()

	if err := s.status(ctx, nil); err != nil {
		return err
	}
	if s.owner.Status().State == approvals.StateNone {
		if err := s.console.Print("No vault exists here. Type create to make one, or restore to bring one back from its words or a backup.\n"); err != nil {
			return err
		}
	}
	table := commands()
	for {
		line, err := s.console.Ask(ctx, "vault> ")
		if errors.Is(err, ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		s.owner.Touch()
		s.heard()
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		err = s.run(ctx, table, fields)
		switch {
		case errors.Is(err, errQuit), errors.Is(err, ErrClosed):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			if err := s.console.Print(s.explain(err) + "\n"); err != nil {
				return err
			}
		}
	}
}

// follow says that something new waits, once until the owner types: whoever asks again and
// again, paired or not, does not fill the terminal.
func (s *Surface) follow(now int) {
	s.mu.Lock()
	tell := now > s.waiting && !s.told
	s.waiting = now
	s.told = s.told || tell
	s.mu.Unlock()
	if tell {
		s.console.Notice("A request is waiting. Type open to see it.")
	}
}

// heard notes that the owner has typed a line.
func (s *Surface) heard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = false
}

func (s *Surface) run(ctx context.Context, table []command, fields []string) error {
	for _, c := range table {
		if c.name == fields[0] {
			return c.run(s, ctx, fields[1:])
		}
	}
	return s.console.Print("That is not a command here. Type help for the list.\n")
}

func (s *Surface) help(context.Context, []string) error {
	p := s.page()
	for _, c := range commands() {
		p.say("%s: %s", strings.TrimSpace(c.name+" "+c.args), c.help)
	}
	return s.console.Print(p.String())
}

func (s *Surface) page() *page { return &page{loc: s.loc} }

// stateWords are the vault's words for its state.
var stateWords = map[approvals.State]string{
	approvals.StateNone:     "No vault exists in this folder.",
	approvals.StateLocked:   "The vault is locked. The key process has ended.",
	approvals.StateOpening:  "The vault is opening.",
	approvals.StateOpen:     "The vault is open.",
	approvals.StateAway:     "The screen is locked: nothing is decided.",
	approvals.StateReadOnly: "The vault is open for reading only. Nothing is signed.",
}

func (s *Surface) status(context.Context, []string) error {
	st := s.owner.Status()
	p := s.page()
	p.say("%s", stateWords[st.State])
	if st.Public.Demo {
		p.say("Demonstration vault. Its keys are thrown away.")
	}
	if st.Trouble != nil {
		p.field("Trouble", st.Trouble.Code)
		if st.Trouble.Seq != 0 {
			p.say("Entry concerned: %d", st.Trouble.Seq)
		}
		if st.Trouble.Detail != "" {
			p.field("Detail", st.Trouble.Detail)
		}
	}
	if st.Public.Vault != "" {
		p.field("Vault", st.Public.Vault)
	}
	if st.Public.OwnerKey != "" {
		p.field("Owner key", st.Public.OwnerKey)
	}
	p.field("Folder", st.Folder)
	p.field("Socket", st.Socket)
	p.say("Log: %d entries, %d covered by a signed head", st.Entries, st.Covered)
	if st.WordsDue {
		p.say("The recovery words are not written down yet. Type words.")
	}
	switch st.Waiting {
	case 0:
		p.say("No one is waiting for you.")
	default:
		p.say("Waiting for you: %d. Type list.", st.Waiting)
	}
	return s.console.Print(p.String())
}

// itemWords are the vault's words for the kinds of rows.
var itemWords = map[approvals.ItemKind]string{
	approvals.ItemPairing: "asks to pair",
	approvals.ItemAction:  "asks for a signature",
	approvals.ItemMoment:  "asks you to decide",
	approvals.ItemNote:    "sent what cannot be decided here",
	approvals.ItemWords:   "The recovery words are still to be written down. Type words.",
}

func (s *Surface) list(context.Context, []string) error {
	return s.console.Print(List(s.owner.Inbox(), s.loc, false))
}

// List is the Inbox as checked text, each row with the number under which it can be opened, and with its id on request.
func List(items []approvals.Item, loc *time.Location, ids bool) string {
	p := &page{loc: loc}
	if len(items) == 0 {
		p.say("No one is waiting for you. Requests from your agents appear here, in the order they come.")
	}
	for i, it := range items {
		switch it.Kind {
		case approvals.ItemWords:
			p.say("%d. %s", i+1, itemWords[it.Kind])
			continue
		case approvals.ItemPairing:
			p.say("%d. A program %s, since %s", i+1, itemWords[it.Kind], p.when(it.Since))
		case approvals.ItemMoment:
			p.say("%d. %s %s, since %s: %s", i+1, p.clean(it.Agent), itemWords[it.Kind], p.when(it.Since), p.clean(plain.Folded(it.Stem)))
			if it.Session != "" {
				p.say("   session | %s", p.clean(it.Session))
			}
		case approvals.ItemNote:
			p.say("%d. %s %s, since %s: %s", i+1, p.clean(it.Agent), itemWords[it.Kind], p.when(it.Since), reasons.Note(it.Reason))
			p.field("   reason", it.Reason)
			p.say("   for reading only, at any time")
		case approvals.ItemSoW:
			p.say("%d. Agreement %s: %s, since %s", i+1, p.clean(it.Stem), waitWords[it.Wants], p.when(it.Since))
			if it.Agent != "" {
				p.say("   brought by %s", p.clean(it.Agent))
			}
		default:
			p.say("%d. %s %s, since %s: %s, on %s", i+1, p.clean(it.Agent), itemWords[it.Kind], p.when(it.Since), p.clean(it.Operation), p.clean(it.Resource))
		}
		if it.Merged > 1 {
			p.say("   asked %d times", it.Merged)
		}
		if it.Until != 0 {
			p.say("   ends, undecided, at %s", p.when(it.Until))
		}
		switch it.Note {
		case "":
		case "locked":
			p.say("   The vault is locked: it can be declined, and approved once the vault is open.")
		case "away":
			p.say("   The screen is locked: nothing is decided.")
		default:
			p.say("   note: %s", p.clean(it.Note))
		}
		if it.Next {
			p.say("   can be opened now")
		}
		if ids {
			p.field("   request", it.ID)
		}
	}
	return p.String()
}

func (s *Surface) open(ctx context.Context, args []string) error {
	items := s.owner.Inbox()
	var chosen *approvals.Item
	switch {
	case len(args) == 0:
		for i := range items {
			if items[i].Next && items[i].Kind != approvals.ItemWords && items[i].Kind != approvals.ItemNote {
				chosen = &items[i]
				break
			}
		}
		if chosen == nil {
			return s.console.Print("Nothing can be opened now.\n")
		}
	default:
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 1 || n > len(items) {
			return s.console.Print("The list has no such number.\n")
		}
		chosen = &items[n-1]
	}
	if chosen.Kind == approvals.ItemWords {
		return s.words(ctx, nil)
	}
	if chosen.Kind == approvals.ItemSoW {
		return s.openAgreement(ctx, chosen.ID, "")
	}
	sheet, err := s.owner.Open(ctx, chosen.ID)
	if err != nil {
		return err
	}
	if sheet.Note != nil {
		return s.readNote(ctx, sheet)
	}
	decided, err := s.decide(ctx, sheet)
	if !decided {
		s.owner.Closed(sheet.ID)
	}
	return err
}

// decide shows the sheet, page by page, and takes one answer. It says whether a
// decision reached the desk.
func (s *Surface) decide(ctx context.Context, sheet approvals.Sheet) (bool, error) {
	whole := false
	text := Render(sheet, s.loc)
	words := s.page()
	list := answers(sheet, words)
	note := ""
	if len(s.owner.Passkeys()) > 0 {
		note = "What you approve here is confirmed with your passkey, on a page in your browser. Declining needs none.\n"
	}
	for {
		if !whole {
			key, err := s.pages(ctx, text)
			if err != nil {
				return false, err
			}
			if key == "q" {
				return false, s.console.Print("Closed. Nothing was decided.\n")
			}
			whole = key != "d"
			if !whole {
				return s.send(ctx, approvals.Decision{ID: sheet.ID, Digest: sheet.Digest, Verdict: approvals.VerdictDecline})
			}
		}
		p := s.page()
		for _, a := range list {
			p.say("%s: %s", a.key, a.text)
		}
		if err := s.console.Print(p.String() + note); err != nil {
			return false, err
		}
		s.console.Inert()
		line, err := s.console.AskAmong(ctx, "Your answer: ", optionKeys(sheet, list))
		if err != nil {
			return false, err
		}
		s.owner.Touch()
		var a answer
		for _, x := range list {
			if x.key == strings.ToLower(line) {
				a = x
			}
		}
		d := approvals.Decision{ID: sheet.ID, Digest: sheet.Digest, Verdict: a.verdict}
		switch {
		case a.key == "":
			if err := s.console.Print("Nothing was decided. Type one of the keys that are listed.\n"); err != nil {
				return false, err
			}
			continue
		case a.key == keyAsk:
			if err := s.askAbout(ctx, sheet); err != nil {
				return false, err
			}
			continue
		case a.verdict == "":
			return false, s.console.Print("Closed. Nothing was decided.\n")
		case sheet.Moment != nil:
			ok, err := s.prepareMoment(ctx, sheet, a.key, &d)
			if err != nil {
				return false, err
			}
			if !ok {
				continue
			}
		case a.verdict == approvals.VerdictApprove || a.verdict == approvals.VerdictGrant:
			ok, err := s.prepare(ctx, sheet, &d)
			if err != nil {
				return false, err
			}
			if !ok {
				continue
			}
		}
		return s.send(ctx, d)
	}
}

// prepare asks what an approval needs beside the letter: a name, the size of a
// grant, and the four words. It says whether to go on.
func (s *Surface) prepare(ctx context.Context, sheet approvals.Sheet, d *approvals.Decision) (bool, error) {
	if sheet.Pairing != nil {
		name, err := s.console.Ask(ctx, "Your name for it. Sheets show this name, never its own: ")
		if err != nil {
			return false, err
		}
		if name == "" {
			return false, s.console.Print("Nothing was decided. A program is paired under a name.\n")
		}
		d.Name = name
	}
	if d.Verdict == approvals.VerdictGrant {
		a := sheet.Action
		uses, err := s.number(ctx, fmt.Sprintf("How many more, at most %d [%d]: ", a.GrantUsesMax, a.GrantUses), a.GrantUses, a.GrantUsesMax)
		if err != nil {
			return false, err
		}
		now := s.now().UnixMilli()
		length, most := minutes(a.GrantUntil-now), minutes(a.GrantUntilMax-now)
		chosen, err := s.number(ctx, fmt.Sprintf("For how many minutes, at most %d [%d]: ", most, length), length, most)
		if err != nil {
			return false, err
		}
		if uses < 1 || chosen < 1 {
			return false, s.console.Print("Nothing was decided. A grant has a number of uses and an end within those bounds.\n")
		}
		d.GrantUses = uses
		d.GrantUntil = min(now+chosen*time.Minute.Milliseconds(), a.GrantUntilMax)
		p := s.page()
		p.say("Let %s sign %d more of these without asking, until %s.", p.clean(sheet.Agent), d.GrantUses, p.when(d.GrantUntil))
		if err := s.console.Print(p.String()); err != nil {
			return false, err
		}
	}
	return s.proof(ctx, sheet, d)
}

// proof says how the approval is proven: by a passkey where one is enrolled, else by the passphrase after four words.
func (s *Surface) proof(ctx context.Context, sheet approvals.Sheet, d *approvals.Decision) (bool, error) {
	if len(s.owner.Passkeys()) > 0 {
		d.Confirm = true
		return true, nil
	}
	d.Prove = keys.SurfaceTerminal
	return s.fourWords(ctx, sheet)
}

// fourWords asks for the four words of the digest that was shown.
func (s *Surface) fourWords(ctx context.Context, sheet approvals.Sheet) (bool, error) {
	words, err := fourwords.Of(sheet.Digest)
	if err != nil {
		return false, err
	}
	if err := s.console.Print("To approve what was shown, type these four words of its digest, then your passphrase: " + strings.Join(words[:], " ") + "\n"); err != nil {
		return false, err
	}
	line, err := s.console.Ask(ctx, "Four words: ")
	if err != nil {
		return false, err
	}
	if !fourwords.Match(words, line) {
		return false, s.console.Print("Those are not the four words. Nothing was decided.\n")
	}
	return true, nil
}

// optionKeys are the keys that the arrow keys walk through: the options of a moment.
func optionKeys(sheet approvals.Sheet, list []answer) []string {
	if sheet.Moment == nil {
		return nil
	}
	var out []string
	for _, a := range list {
		if a.verdict == approvals.VerdictOption {
			out = append(out, a.key)
		}
	}
	return out
}

func minutes(ms int64) int64 { return max(0, ms) / time.Minute.Milliseconds() }

// number asks for a whole number from 1 to most. It gives 0 for anything else.
func (s *Surface) number(ctx context.Context, prompt string, preset, most int64) (int64, error) {
	line, err := s.console.Ask(ctx, prompt)
	if err != nil {
		return 0, err
	}
	if line == "" {
		return preset, nil
	}
	n, err := strconv.ParseInt(line, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, nil
	}
	return n, nil
}

// outcomeWords are the vault's words for the codes of an outcome.
var outcomeWords = map[string]string{
	"done":             "Done. The program was told.",
	"declined":         "Declined. The program was told.",
	"already_decided":  "This was decided already. Nothing more was done.",
	"expired":          "This request ended unanswered. Nothing was decided and nothing was signed.",
	"changed":          "What was shown has changed since. Nothing was decided. Open it again.",
	"locked":           "The vault is locked. Nothing was decided. Type unlock.",
	"away":             "The screen is locked. Nothing was decided.",
	"no_passkey":       "This needs a passkey and none is enrolled. Nothing was decided; the request keeps its place. Type enrol.",
	"no_passphrase":    "This vault has no passphrase, so nothing can be approved on a terminal. Nothing was decided. Use the window.",
	"wrong_passphrase": "That passphrase does not open this vault. Nothing was decided.",
	"cancelled":        "Cancelled. Nothing was decided; the sheet is as you left it.",
	"recovery_words":   "Held back: your answer looks like recovery words. Nothing was sent.",
	"answer_empty":     "The answer says nothing. Nothing was decided.",
	"answer_too_large": "The answer is too long. Nothing was decided.",
	"hatch_disabled":   "The agent turned this way off. Nothing was decided.",
	"action_mismatch":  "This is not the action that the option names. Nothing was decided.",
	"store_failed":     "The store could not be written. Nothing was decided and nothing was signed.",
}

// send gives the decision to the desk and says what came of it.
func (s *Surface) send(ctx context.Context, d approvals.Decision) (bool, error) {
	var out approvals.Outcome
	var err error
	if d.Confirm {
		out, err = s.confirmed(ctx, func(ctx context.Context) (approvals.Outcome, error) { return s.owner.Decide(ctx, d) })
	} else {
		out, err = s.owner.Decide(ctx, d)
	}
	if err != nil {
		return false, err
	}
	p := s.page()
	text, known := OutcomeText(out.Code)
	p.say("%s", text)
	if !known {
		p.field("Code", out.Code)
		if out.Detail != "" {
			p.field("Detail", out.Detail)
		}
	}
	if out.Answered != nil {
		p.answered(out.Answered)
	}
	if out.Signature != "" {
		p.field("Signature", out.Signature)
	}
	if out.Grant != "" {
		p.field("Grant", out.Grant)
	}
	return isOver(out.Code), s.console.Print(p.String())
}

// OutcomeText is what an outcome means, in words of ours, and whether there are any for its code.
func OutcomeText(code string) (string, bool) {
	if text, ok := outcomeWords[code]; ok {
		return text, true
	}
	if what, more, ok := unconfirmed.Of(code); ok {
		return what + ". " + more, true
	}
	if what, more, ok := bounds.Refused(code); ok {
		return what + ". " + more, true
	}
	return "Nothing was decided.", false
}

// isOver says whether a request with that outcome is over; else its sheet is as it was.
func isOver(code string) bool {
	switch code {
	case "done", "declined", "already_decided", "expired":
		return true
	}
	return false
}

// pages prints text a screen at a time and gives the key that ended it: "" at the
// end of the text, "d" to decline, "q" to close. Nothing can be approved before the
// last page.
func (s *Surface) pages(ctx context.Context, text string) (string, error) {
	text = wrap(text, s.console.Columns())
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	rows := s.console.Rows() - 2
	for len(lines) > 0 {
		n := min(rows, len(lines))
		if err := s.console.Print(strings.Join(lines[:n], "\n") + "\n"); err != nil {
			return "", err
		}
		lines = lines[n:]
		if len(lines) == 0 {
			break
		}
		s.console.Inert()
		key, err := s.console.Ask(ctx, fmt.Sprintf("%d more lines. Enter: go on. d: decline. q: close. ", len(lines)))
		if err != nil {
			return "", err
		}
		s.owner.Touch()
		if key == "d" || key == "q" {
			return key, nil
		}
	}
	return "", nil
}

// ask puts a question with a preset answer.
func (s *Surface) ask(ctx context.Context, question, preset string) (string, error) {
	line, err := s.console.Ask(ctx, fmt.Sprintf("%s [%s]: ", question, preset))
	if err != nil || line != "" {
		return line, err
	}
	return preset, nil
}

// yes asks for the whole word.
func (s *Surface) yes(ctx context.Context, question string) (bool, error) {
	line, err := s.console.Ask(ctx, question+" Type yes to go on: ")
	return strings.EqualFold(line, "yes"), err
}
