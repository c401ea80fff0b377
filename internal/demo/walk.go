//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"vault/internal/testbed"
)

const (
	passphrase = "a passphrase for one tour"
	domain     = "my-agents" // as the first run fills it in
	program    = "python-example"
	marked     = "Demo: a throw-away vault. Nothing it signs binds anybody."
	request    = "Vault: a request"
	secret     = "Vault: secret"
)

// walk is the tour.
func (t *tour) walk(only bool) error {
	steps := []func() error{t.create, t.readDomain, t.pair, t.signOnce, t.grant, t.useGrant, t.activity, t.delegates, t.moments, t.lock}
	if only {
		steps = []func() error{t.create, t.onlyAgreements}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// create is the first run: protection, first domain, words, passphrase.
func (t *tour) create() error {
	if _, err := t.bed.Start(t.bed.Command(context.WithoutCancel(t.ctx), t.vault, "--demo")); err != nil {
		return err
	}
	id, err := t.screen.AwaitWindow(t.ctx, "Vault")
	if err != nil {
		return err
	}
	if err := t.screen.Place(t.ctx, id, main1.Min); err != nil {
		return err
	}
	protection := "Keyring and passphrase"
	if !t.keyring {
		protection = "Passphrase only"
	}
	if _, err := t.see(main1, marked); err != nil {
		return err
	}
	for _, p := range [][2]string{
		{protection, "Confirm: " + protection},
		{"", "first-run-protection"},
		{"Confirm: " + protection, "Your first domain"},
		{"", "first-run-domain"},
		{"Use these names", "Its recovery words"},
		{"Write them down later", "Confirm: Create the vault"},
		{"", "first-run-words"},
		{"Confirm: Create the vault", "Waiting for the secret window"},
	} {
		if p[0] == "" {
			err = t.shot(p[1])
		} else {
			err = t.press(main1, p[0], main1, p[1])
		}
		if err != nil {
			return err
		}
	}
	if err := t.bring(secret, "Use this passphrase"); err != nil {
		return err
	}
	// The first field has the keyboard; Tab goes to the second.
	err = errors.Join(t.screen.Type(t.ctx, passphrase), t.screen.Press(t.ctx, "Tab"), t.screen.Type(t.ctx, passphrase),
		t.shot("secret-window-passphrase"), t.screen.Press(t.ctx, "Return"), t.screen.AwaitGone(t.ctx, secret))
	if err != nil {
		return err
	}
	// Until there is a passkey, a click is enough.
	if err := t.press(main1, "Later", main1, "Confirm: Later"); err != nil {
		return err
	}
	if err := t.shot("first-run-passkey"); err != nil {
		return err
	}
	if err := t.press(main1, "Confirm: Later", main1, "Connect an agent"); err != nil {
		return err
	}
	t.tell("A vault was made, marked as a throw-away one, opened by: %s.", strings.ToLower(protection))
	return t.picture(main1, "Connect an agent", "inbox-empty")
}

func (t *tour) readDomain() error {
	if err := t.press(rail, "Domains", main1, "Copy the address"); err != nil {
		return err
	}
	if err := t.shot("domains"); err != nil {
		return err
	}
	t.tell("It has a domain, %s, with an address that is the same wherever its words are restored.", domain)
	return t.press(rail, "Inbox", main1, "Connect an agent")
}

// running is an agent that waits for the vault.
type running struct {
	*testbed.Process
	file string // its answer
	said *bufio.Reader
}

// run starts the agent. Its answer goes to a file.
func (t *tour) run(file string, args ...string) (*running, error) {
	cmd := t.bed.Command(t.ctx, "python3", append([]string{t.agent, domain, program}, args...)...)
	r := &running{file: filepath.Join(t.bed.Dir, file)}
	out, err := os.OpenFile(r.file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer to.Close()
	cmd.Stdout, cmd.Stderr = out, to
	r.said = bufio.NewReader(from)
	r.Process, err = t.bed.Start(cmd)
	return r, err
}

// ended waits for the agent's end; want is how its last words begin where it is to fail.
func (t *tour) ended(r *running, want string) error {
	select {
	case <-r.Done():
	case <-t.ctx.Done():
		return fmt.Errorf("waited in vain for the agent: %w", t.ctx.Err())
	}
	if want == "" {
		if r.Status() != 0 {
			line, _ := r.said.ReadString('\n') // for the error below
			return fmt.Errorf("the agent ended with %d: %s", r.Status(), line)
		}
		return nil
	}
	line, err := r.said.ReadString('\n')
	if r.Status() == 0 || !strings.HasPrefix(line, want) {
		return fmt.Errorf("the agent ended with %d and said %q (%v), want %s", r.Status(), line, err, want)
	}
	return nil
}

// openSheet opens the request that waits.
func (t *tour) openSheet(title string) error {
	at, err := t.see(main1, "Open")
	if err != nil {
		return err
	}
	if err := t.click(middle(at)); err != nil {
		return err
	}
	return t.bring(request, title)
}

// decide takes a row of the sheet and confirms it, as often as the sheet is deaf.
func (t *tour) decide(row, confirm, came, name string) error {
	if err := t.press(beside, row, beside, confirm); err != nil {
		return err
	}
	return t.confirm(confirm, came, name)
}

func (t *tour) confirm(confirm, came, name string) error {
	if _, err := t.see(beside, marked); err != nil {
		return err
	}
	if below, err := t.look(beside, "Scroll to the end of the text once; then you can confirm."); err != nil {
		return err
	} else if len(below) > 0 {
		if err := t.screen.Wheel(t.ctx, middle(beside).Sub(middle(beside.Sub(beside.Min)).Div(3)), 40); err != nil {
			return err
		}
	}
	if err := t.shot(name); err != nil {
		return err
	}
	if err := t.press(beside, confirm, beside, came); err != nil {
		return err
	}
	return t.shot(name + "-done")
}

// closeSheet leaves the sheet.
func (t *tour) closeSheet() error { return t.leave(request) }

// leave closes a window by Escape, which never decides anything.
func (t *tour) leave(title string) error {
	for {
		// The browser may have the keyboard.
		ids, err := t.screen.Windows(t.ctx, title)
		if err != nil {
			return err
		}
		for _, id := range ids {
			_ = t.screen.Place(t.ctx, id, beside.Min) // it may be ending already
		}
		if err := t.screen.Press(t.ctx, "Escape"); err != nil {
			return err
		}
		gone, err := t.within(again, func() (bool, error) {
			ids, err := t.screen.Windows(t.ctx, title)
			return len(ids) == 0, err
		})
		if gone || err != nil {
			return err
		}
	}
}

// pair lets the agent in after the six digits were compared.
func (t *tour) pair() error {
	agent, err := t.run("first.json")
	if err != nil {
		return err
	}
	line, err := agent.said.ReadString('\n')
	if err != nil {
		return err
	}
	digits := strings.TrimSpace(strings.TrimPrefix(line, "Compare with the vault: "))
	if len(digits) != 6 {
		return fmt.Errorf("the agent said %q", line)
	}
	if err := t.picture(main1, "A program you have not paired", "inbox-pairing"); err != nil {
		return err
	}
	if err := t.openSheet("Is this program yours?"); err != nil {
		return err
	}
	// The person compares what the program has printed with what the window shows.
	if _, err := t.see(beside, digits[:2]+"  "+digits[2:4]+"  "+digits[4:]); err != nil {
		return fmt.Errorf("the two numbers are not the same: %w", err)
	}
	if err := t.decide("The number is the same: pair as “"+program+"”", "Confirm: Pair as “"+program+"”", "Paired as “"+program+"”", "pairing"); err != nil {
		return err
	}
	if err := t.closeSheet(); err != nil {
		return err
	}
	t.tell("A Python program that was never seen asked to pair. Both sides showed %s; it was let in, to ask.", digits)
	return t.first(agent)
}

// first is the first signature the program asks for.
func (t *tour) first(agent *running) error {
	if err := t.picture(main1, "asks for a signature", "inbox-action"); err != nil {
		return err
	}
	if err := t.openSheet("Approve once"); err != nil {
		return err
	}
	if err := t.decide("Approve once", "Confirm: Approve once", "You approved one signature", "action"); err != nil {
		return err
	}
	if err := t.closeSheet(); err != nil {
		return err
	}
	return t.ended(agent, "")
}

// signOnce has the first signature checked by somebody who has no vault.
func (t *tour) signOnce() error {
	t.tell("It asked for a signature. A sheet showed every byte; one signature was approved.")
	raw, err := os.ReadFile(filepath.Join(t.bed.Dir, "first.json"))
	if err != nil {
		return err
	}
	var answer struct {
		Record struct {
			Domain struct {
				Address string `json:"domainAddress"`
			} `json:"domain"`
		} `json:"record"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return err
	}
	address := answer.Record.Domain.Address
	// The pin is what the owner's window shows, not what the agent says.
	if err := t.press(rail, "Domains", main1, "Copy the address"); err != nil {
		return err
	}
	if _, err := t.see(main1, address); err != nil {
		return fmt.Errorf("the window shows another address than %q: %w", address, err)
	}
	// Elsewhere: a folder with nothing but the answer, and no vault in reach.
	elsewhere := filepath.Join(t.bed.Dir, "elsewhere")
	if err := errors.Join(os.Mkdir(elsewhere, 0o700), os.WriteFile(filepath.Join(elsewhere, "answer.json"), raw, 0o600)); err != nil {
		return err
	}
	for _, check := range []struct {
		args   []string
		status int
		last   string
	}{
		{[]string{"--domain", address}, 0, "Verified against your pin."},
		{nil, 3, "Self-consistent. Not pinned: anybody could have made this file"},
	} {
		if err := t.verify(elsewhere, check.args, check.status, check.last); err != nil {
			return err
		}
	}
	t.tell("vault verify, elsewhere, with the domain pinned to %s: verified (status 0).", address)
	t.tell("The same without a pin: self-consistent, and anybody could have made it (status 3).")
	return t.press(rail, "Inbox", main1, "Decided today")
}

// verify runs vault verify on the answer.json of a folder, with no vault in reach.
func (t *tour) verify(dir string, args []string, status int, last string) error {
	_, err := t.verifies(dir, args, status, last)
	return err
}

// verifies is verify, and gives the names of the lines that are not ok.
func (t *tour) verifies(dir string, args []string, status int, last string) (wrong []string, err error) {
	return t.checks(dir, append(append([]string{"verify"}, args...), "answer.json"), status, last)
}

// checks runs the program in a folder with no vault in reach, and gives the names of the lines that are not ok.
func (t *tour) checks(dir string, args []string, status int, last string) (wrong []string, err error) {
	cmd := exec.CommandContext(t.ctx, t.vault, args...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + t.bed.Env("PATH")}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if got := cmd.ProcessState.ExitCode(); got != status || lines[len(lines)-1] != last {
		return nil, fmt.Errorf("vault %s ended with %d, want %d:\n%s", args[0], got, status, out)
	}
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, "NOT OK "); ok {
			name, _, _ := strings.Cut(rest, ":")
			wrong = append(wrong, name)
		}
	}
	return wrong, nil
}

// grant gives three more uses with the second signature.
func (t *tour) grant() error {
	agent, err := t.run("second.json")
	if err != nil {
		return err
	}
	if err := t.openSheet("Approve and grant more"); err != nil {
		return err
	}
	if err := t.press(beside, "Approve and grant more", beside, "more of these without asking, until"); err != nil {
		return err
	}
	// The number stands just before these words.
	for {
		at, err := t.see(beside, "more of these without asking, until")
		if err != nil {
			return err
		}
		if err := errors.Join(t.click(image.Pt(at.Min.X-30, middle(at).Y)),
			t.screen.Press(t.ctx, "ctrl+a"), t.screen.Type(t.ctx, "3")); err != nil {
			return err
		}
		ok, err := t.within(again, func() (bool, error) {
			found, err := t.look(beside, "Confirm: Approve and grant 3 more")
			return len(found) > 0, err
		})
		if err != nil {
			return err
		}
		if ok {
			break
		}
	}
	if err := t.confirm("Confirm: Approve and grant 3 more", "You approved this signature and granted more", "grant"); err != nil {
		return err
	}
	if err := t.closeSheet(); err != nil {
		return err
	}
	t.tell("It asked again, and was granted three more of the same without asking.")
	return t.ended(agent, "")
}

// useGrant runs the agent four times without anybody being asked.
func (t *tour) useGrant() error {
	for n := 1; n <= 4; n++ {
		agent, err := t.run(fmt.Sprintf("granted-%d.json", n), "--no-ask")
		if err != nil {
			return err
		}
		want := ""
		if n == 4 {
			want = "not_shown: "
		}
		if err := t.ended(agent, want); err != nil {
			return fmt.Errorf("use %d of the grant: %w", n, err)
		}
	}
	t.tell("It ran four times with nobody asked: three signatures, and the fourth was refused (not_shown).")
	return t.press(rail, "Agents", main1, "May sign without asking")
}

func (t *tour) activity() error {
	if err := t.shot("agents"); err != nil {
		return err
	}
	if err := t.press(rail, "Activity", main1, "Verify now"); err != nil {
		return err
	}
	if err := t.shot("activity"); err != nil {
		return err
	}
	t.tell("Activity has all of it, and the log is one unbroken chain.")
	return nil
}

// lock ends the key process, and the agent is told.
func (t *tour) lock() error {
	if err := t.press(rail, "Lock now", main1, "The vault is locked"); err != nil {
		return err
	}
	agent, err := t.run("locked.json")
	if err != nil {
		return err
	}
	if err := t.ended(agent, "locked: "); err != nil {
		return err
	}
	t.tell("The vault was locked; its key process ended, and the agent was told: locked.")
	return t.shot("locked")
}
