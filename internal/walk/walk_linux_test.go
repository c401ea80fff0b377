package walk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"vault/approvals/moment"
	"vault/internal/chromium"
	"vault/internal/testbed"
	"vault/ipc/client"
)

const passphrase = "typed on a terminal by a test"

// rig is a vault on a terminal, with a browser.
type rig struct {
	t       *testing.T
	ctx     context.Context
	bed     *testbed.Bed
	vault   string
	desk    *testbed.Terminal
	browser *chromium.Browser
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	t.Cleanup(cancel)
	dir, err := os.MkdirTemp("", "vw")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	bin, place, profile := filepath.Join(dir, "bin"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	for _, d := range []string{bin, place, profile} {
		must(t, os.Mkdir(d, 0o700))
	}
	must(t, testbed.Build(ctx, bin))
	r := &rig{t: t, ctx: ctx, vault: filepath.Join(bin, "vault")}
	r.bed, err = testbed.New(place)
	must(t, err)
	t.Cleanup(r.bed.Close)
	r.browser, err = chromium.Start(ctx, chromium.Options{Dir: profile})
	if err != nil {
		t.Fatalf("%v (scripts/bootstrap test installs Chromium)", err)
	}
	t.Cleanup(r.browser.Close)
	r.bed.Set("BROWSER", r.browser.Opener)
	return r
}

// patience is how long one step may take.
const patience = 40 * time.Second

func (r *rig) answer(prompt, line string) {
	r.t.Helper()
	r.await(prompt)
	must(r.t, r.desk.Type(line))
}

func (r *rig) await(text string) string {
	r.t.Helper()
	ctx, stop := context.WithTimeout(r.ctx, patience)
	defer stop()
	before, err := r.desk.Await(ctx, text)
	must(r.t, err)
	return before
}

// insist types a line at a prompt.
func (r *rig) insist(prompt, line string) {
	r.t.Helper()
	r.await(prompt)
	r.take(line)
}

// take types a line until it is taken: a prompt is deaf for its first second.
func (r *rig) take(line string) {
	r.t.Helper()
	for end := time.Now().Add(patience); ; {
		must(r.t, r.desk.Type(line))
		ctx, cancel := context.WithTimeout(r.ctx, 700*time.Millisecond)
		_, err := r.desk.Await(ctx, line+"\r\n")
		cancel()
		if err == nil {
			return
		}
		if !errors.Is(err, context.DeadlineExceeded) || r.ctx.Err() != nil || time.Now().After(end) {
			r.t.Fatal(err)
		}
	}
}

func (r *rig) serve() {
	r.t.Helper()
	var err error
	r.desk, err = r.bed.StartTerminal(r.bed.Command(context.Background(), r.vault, "serve"))
	must(r.t, err)
}

func (r *rig) create() {
	r.t.Helper()
	r.answer("vault> ", "create")
	r.answer("Number [", "2")
	r.answer("Namespace", "")
	r.answer("Domain [", "")
	r.answer("Kind [", "")
	r.answer("yes or later", "later")
	r.answer("New passphrase", passphrase)
	r.answer("The same again: ", passphrase)
	r.await("Created.")
}

// command waits until the terminal takes commands again, and types one.
func (r *rig) command(line string) {
	r.t.Helper()
	r.insist("vault> ", line)
}

// confirmed has the page that is opened next confirmed by whichever passkey is touched.
func (r *rig) confirmed() {
	r.t.Helper()
	if err := r.browser.Confirm(); err != nil {
		text := r.desk.Text()
		r.t.Fatalf("%v; the end of the screen: %q", err, text[max(0, len(text)-900):])
	}
}

// answers has the next page answered by a new passkey, and takes it for the owner's after comparing the digits.
func (r *rig) answers() {
	r.t.Helper()
	r.confirmed()
	shown, err := r.browser.Text("digits")
	must(r.t, err)
	r.await("The page must show these digits: ")
	if got := strings.TrimSpace(r.await("\n")); got != shown || len(got) != 6 {
		r.t.Fatalf("the page shows %q, the terminal %q", shown, got)
	}
	r.insist("Type mine", "mine")
	r.confirmed() // it answers once more
}

// touch has one passkey touched when it is asked, and the other left alone.
func (r *rig) touch(this, other *chromium.Passkey) {
	r.t.Helper()
	must(r.t, this.Touched(true))
	must(r.t, other.Touched(false))
}

// enrolFirst enrols a stick.
func (r *rig) enrolFirst() *chromium.Passkey {
	r.t.Helper()
	one, err := r.browser.Plug(chromium.Stick)
	must(r.t, err)
	r.command("enrol")
	r.answer("assphrase: ", passphrase)
	r.answers()
	r.await("The passkey is enrolled.")
	return one
}

// enrol enrols two passkeys: a stick, and with it this device.
func (r *rig) enrol() (one, two *chromium.Passkey) {
	r.t.Helper()
	one = r.enrolFirst()
	two, err := r.browser.Plug(chromium.Device)
	must(r.t, err)
	r.touch(two, one)
	r.command("enrol")
	r.answers()
	// Nothing but an enrolled one adds another.
	r.touch(one, two)
	r.confirmed()
	r.await("The passkey is enrolled.")
	return one, two
}

// pair pairs a program, confirmed by passkey, and returns it connected, with the client's id.
func (r *rig) pair() (agent *client.Conn, id string) {
	r.t.Helper()
	conn, err := client.Dial(r.ctx, r.bed.Env("VAULT_SOCK"))
	must(r.t, err)
	defer conn.Close()
	type paired struct {
		p   *client.Pairing
		err error
	}
	digits, done := make(chan string, 1), make(chan paired, 1)
	go func() {
		p, err := conn.Pair(r.ctx, "traveller", func(d string) { digits <- d })
		done <- paired{p, err}
	}()
	r.await("A request is waiting.")
	r.take("open")
	r.insist("Your answer: ", "a")
	r.answer("Your name for it.", "Traveller")
	r.confirmed()
	r.await("Done. The program was told.")
	got := <-done
	must(r.t, got.err)
	if d := <-digits; !strings.Contains(r.desk.Text(), "Number: "+d) {
		r.t.Errorf("the program's number %s is not on the terminal", d)
	}
	file := filepath.Join(r.bed.Dir, "pairing.json")
	must(r.t, got.p.Save(file))
	r.command("agents")
	id = regexp.MustCompile(`c_[0-9a-f]+$`).FindString(r.await(": Traveller, paired"))
	return r.connect(file), id
}

func (r *rig) connect(file string) *client.Conn {
	r.t.Helper()
	p, err := client.Load(file)
	must(r.t, err)
	conn, err := client.Dial(r.ctx, r.bed.Env("VAULT_SOCK"))
	must(r.t, err)
	r.t.Cleanup(func() { _ = conn.Close() })
	_, err = conn.Hello(r.ctx, p)
	must(r.t, err)
	return conn
}

// decision is a binding moment with two options.
func decision(t *testing.T, synopsis string) (*moment.Envelope, string) {
	t.Helper()
	const dates, all = `{"disclose":["travel_dates"],"recipient":"booking.example"}`, `{"disclose":["passport_number","travel_dates"],"recipient":"booking.example"}`
	one, err := moment.ActionDigest([]byte(dates))
	must(t, err)
	two, err := moment.ActionDigest([]byte(all))
	must(t, err)
	e, err := moment.Parse(fmt.Appendf(nil, `{"synopsis":%q,"findings":["The booking service asks for both."],"recommendations":["Release the dates."],"offer":"Ask.",`+
		`"question":{"stem":"What should be shared?","options":[{"label":"Share dates only","reasoning":"Enough to hold the booking.","action_digest":%q},`+
		`{"label":"Share dates and passport number","reasoning":"Avoids a second request.","action_digest":%q}],"recommended_idx":0,"hatches":{"free_text":true,"dialogue":true}}}`,
		synopsis, one, two))
	must(t, err)
	return e, fmt.Sprintf(`[{"option":0,"action":%s},{"option":1,"action":%s}]`, dates, all)
}

// presented is a moment that an agent waits for.
type presented struct {
	envelope *moment.Envelope
	answer   chan []byte
}

func (r *rig) present(agent *client.Conn, synopsis string) presented {
	r.t.Helper()
	e, actions := decision(r.t, synopsis)
	p := presented{e, make(chan []byte, 1)}
	go func() {
		got, err := agent.Present(r.ctx, client.Presentation{Session: "trip", Moment: e.Canonical(), Fallback: "May I share the dates?", Actions: []byte(actions)})
		for err == nil && got.Resolution == nil && got.Fallback == nil {
			got, err = agent.AwaitMoment(r.ctx, "trip", got.Pending)
		}
		if err != nil {
			r.t.Errorf("the agent got %v", err)
		}
		p.answer <- got.Resolution
	}()
	r.await("A request is waiting.") // above the prompt that is open
	return p
}

// log types the command and gives the entries: number and kind.
func (r *rig) log() (out [][2]string) {
	r.t.Helper()
	r.take("log 50")
	for _, m := range regexp.MustCompile(`(\d+)\. [^\n]*, ([a-z.]+)\r?\n`).FindAllStringSubmatch(r.await("vault> "), -1) {
		out = append(out, [2]string{m[1], m[2]})
	}
	slices.Reverse(out) // the newest come first
	return out
}

// verify runs vault verify where there is no vault, and compares status, last line, and the lines that are not ok.
func (r *rig) verify(dir string, status int, last, wrong string, args ...string) {
	r.t.Helper()
	r.checks(dir, status, last, wrong, append([]string{"verify"}, args...)...)
}

// checks is verify, of any command.
func (r *rig) checks(dir string, status int, last, wrong string, args ...string) {
	r.t.Helper()
	cmd := exec.CommandContext(r.ctx, r.vault, args...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + r.bed.Env("PATH")}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if got := cmd.ProcessState.ExitCode(); got != status || lines[len(lines)-1] != last {
		r.t.Errorf("vault %v ended with %d, want %d and %q:\n%s", args, got, status, last, out)
	}
	var bad []string
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, "NOT OK "); ok {
			bad = append(bad, strings.SplitN(rest, ":", 2)[0])
		}
	}
	if got := strings.Join(bad, ", "); got != wrong {
		r.t.Errorf("vault %v found wrong: %q, want %q:\n%s", args, got, wrong, out)
	}
}

// typing is a program that types into the owner's terminal, as tmux can, and one that has a terminal of its own. Both
// have a page opened, and nothing more.
func (r *rig) typing() {
	r.t.Helper()
	r.take("open")
	r.insist("Your answer: ", "1")
	if _, err := r.browser.Link(); err != nil {
		r.t.Fatal(err)
	}
	for _, line := range []string{"mine", "1", passphrase} {
		r.insist("b: go back, nothing decided. ", line)
		r.await("Nothing was decided by that.")
	}
	r.insist("b: go back, nothing decided. ", "b")
	r.await("Cancelled. Nothing was decided")
	r.await("vault> ")

	out, status, err := r.bed.Output(r.ctx, r.vault, "pending")
	id := regexp.MustCompile(`request: (\S+)`).FindStringSubmatch(out)
	if err != nil || status != 0 || id == nil {
		r.t.Fatalf("vault pending ended with %d, %v: %s", status, err, out)
	}
	out, status, err = r.bed.Output(r.ctx, r.vault, "show", id[1])
	digest := regexp.MustCompile(`Digest of this sheet: (\S+)`).FindStringSubmatch(out)
	if err != nil || status != 0 || digest == nil {
		r.t.Fatalf("vault show ended with %d, %v: %s", status, err, out)
	}
	own, err := r.bed.StartTerminal(r.bed.Command(context.Background(), r.vault, "decide", id[1], digest[1], "1"))
	must(r.t, err)
	if _, err := r.browser.Link(); err != nil {
		r.t.Fatalf("%v; %s", err, own.Text())
	}
	for _, line := range []string{"mine", "same", "yes", "1", passphrase} {
		must(r.t, own.Type(line))
	}
	own.Kill()
	second, err := r.bed.StartTerminal(r.bed.Command(context.Background(), r.vault, "serve"))
	must(r.t, err)
	<-second.Done()
	if second.Status() == 0 {
		r.t.Errorf("a second vault was opened: %s", second.Text())
	}
}

// TestWalk is what an owner does with passkeys, from an empty folder to the removal of the first one with the second.
func TestWalk(t *testing.T) {
	r := start(t)
	r.serve()
	r.create()
	one, two := r.enrol()
	agent, id := r.pair()
	r.command("stricter decisions " + id)
	r.await("It counts from now on.")

	asked := r.present(agent, "Share the travel dates.")
	before := r.log()
	// The browser asks; the owner goes back on the page.
	must(t, one.Touched(false))
	r.take("open")
	r.insist("Your answer: ", "1")
	must(t, r.browser.Open())
	must(t, r.browser.Await("ready"))
	says, err := r.browser.Text("says")
	must(t, err)
	if !strings.Contains(says, "Share dates only") {
		t.Errorf("the page shows %q", says)
	}
	must(t, r.browser.Press("#go"))
	must(t, r.browser.Await("asking"))
	r.await("Waiting for your passkey.")
	must(t, r.browser.Press("#back"))
	must(t, r.browser.Await("over"))
	r.await("Cancelled. Nothing was decided")
	r.await("vault> ")
	after := r.log()
	for _, e := range after[len(before):] {
		if e[1] != "moment.seen" {
			t.Errorf("entry %s is a %s", e[0], e[1])
		}
	}
	select {
	case got := <-asked.answer:
		t.Fatalf("the agent was told %s", got)
	default:
	}

	r.typing()
	for _, e := range r.log()[len(after):] {
		if e[1] != "moment.seen" {
			t.Errorf("what was typed made a %s", e[1])
		}
	}

	must(t, one.Touched(true))
	r.take("open")
	r.insist("Your answer: ", "1")
	r.confirmed()
	r.await("You selected option 1:")
	due, err := asked.envelope.Select(0)
	must(t, err)
	if got := <-asked.answer; !bytes.Equal(got, due.Canonical()) {
		t.Errorf("the agent got %s, want %s", got, due.Canonical())
	}
	r.await("vault> ")
	all := r.log()
	seq := all[len(all)-1]
	if seq[1] != "moment.resolved" {
		t.Fatalf("the newest entry is a %s", seq[1])
	}
	far := filepath.Join(r.bed.Dir, "far")
	must(t, os.Mkdir(far, 0o700))
	r.take("card " + filepath.Join(far, "card.json"))
	r.confirmed()
	r.await("Written.")
	r.command("quit")
	<-r.desk.Done()
	if out, status, err := r.bed.Output(r.ctx, r.vault, "log", "receipt", seq[0], "--out", filepath.Join(far, "receipt.json")); err != nil || status != 0 {
		t.Fatalf("%d %v %s", status, err, out)
	}
	r.verify(far, 0, "Verified against your pin.", "", "--card", "card.json", "receipt.json")
	r.verify(far, 3, "Self-consistent. Not pinned: anybody could have made this file", "", "receipt.json")
	receipt, err := os.ReadFile(filepath.Join(far, "receipt.json"))
	must(t, err)
	for _, c := range []struct{ old, new, lines string }{
		{`"option_idx":0,"profile"`, `"option_idx":1,"profile"`, "evidence.recordOfEntry, evidence.contextCoversResolution, evidence.challengeIsContext, evidence.logOfRecord"},
		{`Select option 1`, `Select option 2`, "evidence.recordOfEntry, evidence.challengeIsContext, evidence.logOfRecord"},
		{`"option":0,"resolution_digest"`, `"option":1,"resolution_digest"`, "headCoversEntry, resolutionInEntry, evidence.ofEntry"},
		{`"option_idx":0,"resolution":"option"`, `"option_idx":1,"resolution":"option"`, "resolutionInEntry, actionInEntry, evidence.contextCoversResolution"},
	} {
		changed := bytes.Replace(receipt, []byte(c.old), []byte(c.new), 1)
		if bytes.Equal(changed, receipt) {
			t.Fatalf("the receipt has no %s: %s", c.old, receipt)
		}
		must(t, os.WriteFile(filepath.Join(far, "changed.json"), changed, 0o600))
		r.verify(far, 1, "Not valid.", c.lines, "--card", "card.json", "changed.json")
	}
	must(t, os.Remove(filepath.Join(far, "changed.json")))

	// After a restart the second one removes the first, and confirms alone.
	r.touch(two, one)
	r.serve()
	r.command("unlock")
	r.answer("Passphrase: ", passphrase)
	r.await("The vault is open.")
	r.command("forget 1")
	r.confirmed()
	r.await("Removed.")
	again := r.present(r.connect(filepath.Join(r.bed.Dir, "pairing.json")), "Share them again.")
	r.take("open")
	r.insist("Your answer: ", "2")
	r.confirmed()
	r.await("You selected option 2:")
	due, err = again.envelope.Select(1)
	must(t, err)
	if got := <-again.answer; !bytes.Equal(got, due.Canonical()) {
		t.Errorf("the agent got %s, want %s", got, due.Canonical())
	}
}
