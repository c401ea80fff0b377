package process_test

// The walk of a delegate, on real parts: vault serve on a terminal, the key process, the ceremony's
// page in Chromium with a virtual authenticator, "vault bot" as the bot, and "vault verify" in an
// empty folder.

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault/derive"
	"vault/internal/chromium"
	"vault/internal/needs"
)

// person has a browser with a security key, which the vault opens its pages in.
type person struct {
	*rig
	browser *chromium.Browser
}

// browse gives the vault a browser.
func browse(r *rig) *person {
	r.t.Helper()
	dir := filepath.Join(r.bed.Dir, "c")
	must(r.t, os.Mkdir(dir, 0o700))
	b, err := chromium.Start(r.ctx, chromium.Options{Dir: dir})
	must(r.t, err)
	r.t.Cleanup(b.Close)
	_, err = b.Plug(chromium.Stick)
	must(r.t, err)
	r.bed.Set("BROWSER", b.Opener)
	return &person{r, b}
}

// confirm goes to the page that the vault has opened, and uses the key on it. It gives what the page says.
func (p *person) confirm() string {
	p.t.Helper()
	must(p.t, p.browser.Open())
	must(p.t, p.browser.Await("ready"))
	said, err := p.browser.Text("says")
	must(p.t, err)
	must(p.t, p.browser.Press("#go"))
	return said
}

// insist types a line until its effect is on the terminal: what is typed in a prompt's first second is dropped.
func (p *person) insist(line, effect string) {
	p.t.Helper()
	for {
		must(p.t, p.desk.Type(line))
		ctx, cancel := context.WithTimeout(p.ctx, 700*time.Millisecond)
		_, err := p.desk.Await(ctx, effect)
		cancel()
		if err == nil {
			return
		}
		if p.ctx.Err() != nil {
			p.t.Fatal(err)
		}
	}
}

// enrol enrols the browser's security key, on the terminal.
func (p *person) enrol() {
	p.t.Helper()
	p.answer("vault> ", "enrol")
	p.answer("Passphrase: ", passphrase)
	p.confirm()
	p.await("Type mine if the page shows these digits")
	p.insist("mine", "A page opens in your browser")
	p.confirm()
	p.await("The passkey is enrolled.")
}

// outcome is how a command of the bot ended.
type outcome struct {
	out, errs string
	status    int
}

func (p *person) vaultDoes(args ...string) outcome {
	p.t.Helper()
	cmd := p.bed.Command(p.ctx, p.vault, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// bot is the program that was paired, with a key of its own.
type bot struct {
	*person
	key, delegate string
	examples      []string // what the example bots printed
	n             int
}

func (b *bot) file(name string) string { return filepath.Join(b.bed.Dir, name) }

// minted asks for a capability and gives the answer's file. Where a code is wanted, that is what comes instead.
func (b *bot) minted(code string, args ...string) string {
	b.t.Helper()
	b.n++
	request, answer := b.file("request-"+string(rune('a'+b.n))+".json"), b.file("minted-"+string(rune('a'+b.n))+".json")
	made := b.vaultDoes(append([]string{"bot", "request", "--key", b.key, "--delegate", b.delegate, "--agent-id", "walker", "--out", request}, args...)...)
	if made.status != 0 {
		b.t.Fatalf("request %q: %s", args, made.errs)
	}
	got := b.vaultDoes("bot", "mint", "--key", b.key, "--name", "walker", "--request", request, "--out", answer)
	b.is(got, code, args)
	return answer
}

func (b *bot) is(got outcome, code string, args any) {
	b.t.Helper()
	if code == "" && got.status != 0 || code != "" && (got.status != 1 || !strings.Contains(got.errs, "("+code+")")) {
		b.t.Errorf("%v: want %q; status %d, %s", args, code, got.status, got.errs)
	}
	if code != "" {
		b.t.Logf("%-24s %s", code, strings.TrimSpace(got.errs))
	}
}

func (b *bot) signs(code, mint, payload, out string) {
	b.t.Helper()
	args := []string{"bot", "sign", "--key", b.key, "--name", "walker", "--mint", mint, "--payload", payload}
	if out != "" {
		args = append(args, "--out", out)
	}
	b.is(b.vaultDoes(args...), code, args)
}

func mintOf(t *testing.T, file string) (mint, address string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	must(t, err)
	var got struct {
		Mint         string
		AgentAddress string `json:"agent_address"`
		Label        string
	}
	if err := json.Unmarshal(raw, &got); err != nil || got.Mint == "" || got.Label != "issuer-asserted" {
		t.Fatalf("%s, %v", raw, err)
	}
	return got.Mint, got.AgentAddress
}

func TestWalkOfADelegate(t *testing.T) {
	needs.Programs(t, "chromium", "python3", "node")
	r := start(t)
	var stop context.CancelFunc
	r.ctx, stop = context.WithTimeout(r.ctx, 2*time.Minute)
	defer stop()
	p := browse(r)
	p.serve()
	p.restore()

	// A bot makes its key, and the owner pairs its program.
	b := &bot{person: p}
	b.key, b.delegate = b.file("bot.json"), b.file("delegate.json")
	made := p.vaultDoes("bot", "keygen", "--key", b.key)
	address := strings.TrimSpace(made.out)
	if made.status != 0 || len(address) != 42 {
		t.Fatalf("keygen: %+v", made)
	}
	paired := make(chan outcome, 1)
	go func() { paired <- p.vaultDoes("agent", "pair", "--name", "walker") }()
	p.approve("a", func() { p.answer("Your name for it.", "walker") })
	if got := <-paired; got.status != 0 {
		t.Fatalf("pair: %s", got.errs)
	}

	// Nothing of a delegate is to be had before one is issued.
	if got := p.vaultDoes("bot", "delegates", "--key", b.key, "--name", "walker"); got.status != 0 || strings.TrimSpace(got.out) != "[]" && strings.TrimSpace(got.out) != "null" {
		t.Errorf("before: %+v", got)
	}

	// The owner enrols a passkey, and issues a delegate with it.
	p.enrol()
	p.await("vault> ")
	p.insist("issue", "Number of the domain")
	must(t, p.desk.Type("1"))
	p.answer("Your name for the bot: ", "walker-bot")
	p.answer("commas between them: ", "send-message")
	p.answer("On, resources", "thread:*")
	p.answer("Resources to try", "")
	p.answer("or any: ", address)
	p.answer("so many times [", "2")
	p.answer("so many keys [", "5")
	p.answer("Lowest action index [", "")
	p.answer("Highest action index [", "9")
	p.answer("or now [", "")
	p.answer("or open [", "")
	p.answer("screen is locked, yes or no [", "")
	p.answer("Avatar, or empty.", "")
	p.answer("Legitimacy id, or empty.", "")
	p.await("walker-bot may send-message on thread:*, at most 2 times with each key, with up to 5 keys, until ")
	p.answer("Type yes to go on", "yes")
	if page := p.confirm(); !strings.Contains(page, "thread:*") || !strings.Contains(page, "send-message") {
		t.Errorf("the page says %s", page)
	}
	p.await("Issued.")

	// The bot gets it from the vault.
	got := p.vaultDoes("bot", "delegates", "--key", b.key, "--name", "walker")
	var list []struct {
		Delegate  json.RawMessage
		State     string
		MintsLeft int64 `json:"mints_left"`
	}
	if err := json.Unmarshal([]byte(got.out), &list); err != nil || len(list) != 1 || list[0].State != "active" || list[0].MintsLeft != 5 {
		t.Fatalf("delegates: %+v, %v", got, err)
	}
	must(t, os.WriteFile(b.delegate, list[0].Delegate, 0o600))

	// Every bound that needs no mint, exceeded once.
	late := time.Now().AddDate(1, 0, 0).UTC().Format(time.RFC3339)
	b.minted("operation_not_allowed", "--resource", "thread:1", "--operation", "pay", "--anyway")
	b.minted("resource_not_allowed", "--resource", "invoice:1", "--anyway")
	b.minted("resource_not_allowed", "--resource", "thread", "--anyway")
	b.minted("index_out_of_range", "--resource", "thread:1", "--index", "10", "--anyway")
	b.minted("uses_over_limit", "--resource", "thread:1", "--uses", "3", "--anyway")
	b.minted("window_not_contained", "--resource", "thread:1", "--until", late, "--anyway")
	b.minted("window_not_contained", "--resource", "thread:1", "--until", "open", "--anyway")
	other := &bot{person: p, key: b.file("other.json"), delegate: b.delegate, n: 20}
	if got := p.vaultDoes("bot", "keygen", "--key", other.key); got.status != 0 {
		t.Fatal(got.errs)
	}
	other.minted("bot_not_allowed", "--resource", "thread:1", "--anyway")

	// Three capabilities; the same request again is the same one.
	files := []string{
		b.minted("", "--resource", "thread:1", "--uses", "2", "--nonce", "first"),
		b.minted("", "--resource", "thread:2", "--uses", "1", "--index", "4"),
		b.minted("", "--resource", "thread:a:b"),
	}
	b.minted("nonce_reused", "--resource", "thread:3", "--nonce", "first")

	// The example bots have one each.
	for _, words := range [][]string{{"python3", "../../examples/python/bot.py"}, {"node", "../../examples/javascript/bot.mjs"}} {
		example, err := filepath.Abs(words[1])
		must(t, err)
		cmd := p.bed.Command(p.ctx, words[0], example, b.key, "thread:9", "walker")
		cmd.Env = append(cmd.Env, "VAULT_BIN="+p.vault)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v, %s", words[1], err, errs.String())
			continue
		}
		b.examples = append(b.examples, b.file("example-"+words[0]+".json"))
		must(t, os.WriteFile(b.examples[len(b.examples)-1], out.Bytes(), 0o600))
	}
	b.minted("mints_spent", "--resource", "thread:4")

	// A signature with each. What says something else than its capability is not signed.
	message := func(name, text string) string {
		file := b.file(name)
		must(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	hello := message("hello.json", `{"type":"example.message","text":"Hello","resource":"thread:1"}`)
	plain := message("plain.json", `{"type":"example.message","text":"Hello"}`)
	signed := b.file("signed.json")
	first, signer := mintOf(t, files[0])
	second, _ := mintOf(t, files[1])
	third, _ := mintOf(t, files[2])
	b.signs("", first, hello, signed)
	b.signs("", second, plain, "")
	b.signs("", third, plain, "")
	b.signs("contradiction", third, hello, "")
	b.signs("mint_uses_spent", second, plain, "")
	if got := p.vaultDoes("bot", "sign", "--key", other.key, "--name", "walker", "--mint", first, "--payload", hello); got.status == 0 {
		t.Error("another bot signs with it")
	} else {
		t.Logf("another bot: %s", strings.TrimSpace(got.errs))
	}

	// The owner sees them, pauses, resumes and revokes; the bot is told each time.
	p.await("vault> ")
	p.insist("delegate 1", "Keys minted: 5 of 5")
	p.await(signer)
	p.answer("vault> ", "pause 1")
	p.await("Paused.")
	b.signs("delegate_paused", first, hello, "")
	b.minted("delegate_paused", "--resource", "thread:5")
	p.answer("vault> ", "resume 1")
	p.confirm()
	p.await("It mints and signs within its bounds")
	b.signs("", first, hello, "")
	p.await("vault> ")
	p.insist("undelegate 1", "Revoke it?")
	p.answer("Type yes to go on", "yes")
	p.await("Revoked.")
	b.signs("delegate_ended", first, hello, "")
	b.minted("delegate_ended", "--resource", "thread:6")

	// On another computer there is no vault: an empty folder, and the domain's address.
	domain, err := derive.Project(root(), r.info, "2026-01-01T00:00:00.000Z")
	must(t, err)
	verify := func(status int, says string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(p.ctx, p.vault, append([]string{"verify"}, args...)...)
		empty := t.TempDir()
		cmd.Dir, cmd.Env = empty, []string{"HOME=" + empty, "PATH=/usr/bin:/bin"}
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != status || !strings.Contains(string(out), says) {
			t.Errorf("verify %q: status %d\n%s", args, cmd.ProcessState.ExitCode(), out)
		}
	}
	verify(0, "Verified against your pin.", signed, "--payload", hello, "--domain", domain.Address())
	verify(0, "issuer-asserted", signed, "--payload", hello, "--domain", domain.Address())
	verify(3, "Self-consistent.", signed, "--payload", hello)
	verify(1, "Not valid.", signed, "--payload", plain, "--domain", domain.Address())
	verify(1, "Not valid.", signed, "--payload", hello, "--domain", address)
	verify(0, "Verified against your pin.", files[0], "--domain", domain.Address())
	verify(0, "Verified against your pin.", b.delegate, "--domain", domain.Address())
	for _, file := range b.examples {
		verify(0, "Verified against your pin.", file, "--domain", domain.Address())
	}

	p.answer("vault> ", "quit")
}
