//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"filippo.io/age"

	"vault/approvals/moment"
	"vault/custody"
	"vault/derive/envelope"
	"vault/internal/softkey"
	"vault/internal/testbed"
	"vault/ipc/client"
)

// What is typed. The root is known, as the vault is restored from its words: so an instance begins that suspends what
// began before it.
const (
	passphrase = "typed on a terminal for a sample"
	namespace  = "sample"
	domainID   = "support-ops"
	domainKind = "communication"
	patience   = 60 * time.Second // for one step
)

func root() []byte {
	out := make([]byte, 32)
	for i := range out {
		out[i] = byte(i*29 + 3)
	}
	return out
}

// maker is a vault on a terminal, its owner with two passkeys, and an agent. After the first error its steps do nothing.
type maker struct {
	ctx   context.Context
	bed   *testbed.Bed
	vault string
	desk  *testbed.Terminal
	web   *browser
	one   *softkey.Key // a security key
	two   *softkey.Key // a phone
	words []string
	agent *client.Conn
	began int64 // of the instance, milliseconds since epoch
	err   error
}

// run makes the samples with the programs in bin and writes them into dir, which must be empty or not there.
func run(ctx context.Context, bin, dir string) (made []sample, err error) {
	if bin, err = filepath.Abs(bin); err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
		return nil, fmt.Errorf("write samples: %s is not empty", dir)
	}
	place, err := os.MkdirTemp("", "vs") // short, for sockets below it
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(place)) }()
	for _, d := range []string{"a", "b", "w"} {
		if err := os.Mkdir(filepath.Join(place, d), 0o700); err != nil {
			return nil, err
		}
	}
	bed, err := testbed.New(filepath.Join(place, "b"))
	if err != nil {
		return nil, err
	}
	defer bed.Close()
	opener, err := testbed.NewOpener(filepath.Join(place, "w"))
	if err != nil {
		return nil, err
	}
	defer opener.Close()
	bed.Set("BROWSER", opener.Program)
	keyring := len(testbed.Missing(testbed.KeyringPrograms...)) == 0
	if keyring {
		if err := errors.Join(bed.StartBus(ctx), bed.StartKeyring(ctx)); err != nil {
			return nil, err
		}
	}
	words, err := custody.Words(root())
	if err != nil {
		return nil, err
	}
	m := &maker{ctx: ctx, bed: bed, vault: filepath.Join(bin, "vault"), web: &browser{opener.Links}, one: softkey.New(), two: softkey.New(), words: strings.Fields(string(words.Bytes()))}
	words.Destroy()
	m.two.Flags |= softkey.BE | softkey.BS
	m.two.Counter, m.two.Transports = 0, []string{"hybrid"}
	card := filepath.Join(bed.Dir, "card.json")
	for _, step := range []func(){
		func() { m.restore(keyring) }, m.enrol, m.pair, m.sign, m.grant, m.decide, m.decline, m.loosen, m.socket, m.readmit, m.delegate, m.material, m.showWords,
		func() { m.weaken(keyring) }, m.remove, func() { m.card(card) }, m.quit,
	} {
		step()
	}
	receipts := m.receipts()
	if m.err != nil {
		return nil, m.err
	}
	raw, err := os.ReadFile(card)
	if err != nil {
		return nil, err
	}
	second, more, err := agreements(ctx, filepath.Join(place, "a"))
	if err != nil {
		return nil, fmt.Errorf("agreements: %w", err)
	}
	return write(ctx, m, dir, exported{receipts, []byte(strings.TrimSpace(string(raw)))}, exported{more, bytes.TrimSpace(second)}, keyring)
}

// --- the person at the terminal

func (m *maker) do(f func(context.Context) error) {
	if m.err != nil {
		return
	}
	ctx, stop := context.WithTimeout(m.ctx, patience)
	defer stop()
	m.err = f(ctx)
}

func (m *maker) await(text string) (before string) {
	m.do(func(ctx context.Context) (err error) {
		before, err = m.desk.Await(ctx, text)
		return err
	})
	return before
}

// answer types a line at a prompt.
func (m *maker) answer(prompt, line string) {
	m.await(prompt)
	m.do(func(context.Context) error { return m.desk.Type(line) })
}

// insist types a line at a prompt that is deaf for its first second, until it is taken.
func (m *maker) insist(prompt, line string) {
	m.await(prompt)
	m.take(line)
}

func (m *maker) take(line string) {
	m.do(func(ctx context.Context) error {
		for {
			if err := m.desk.Type(line); err != nil {
				return err
			}
			look, stop := context.WithTimeout(ctx, 700*time.Millisecond)
			_, err := m.desk.Await(look, line+"\r\n")
			stop()
			if err == nil || !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
				return err
			}
		}
	})
}

func (m *maker) command(line string) { m.insist("vault> ", line) }

// confirm has a passkey answer the page that is opened next.
func (m *maker) confirm(key *softkey.Key) {
	m.do(func(ctx context.Context) error { return m.web.answer(ctx, key) })
}

// --- the acts

func (m *maker) restore(keyring bool) {
	protection := "2"
	if keyring {
		protection = "1"
	}
	m.do(func(context.Context) (err error) {
		m.desk, err = m.bed.StartTerminal(m.bed.Command(context.WithoutCancel(m.ctx), m.vault, "serve"))
		return err
	})
	m.answer("vault> ", "restore")
	m.answer("Number [", protection)
	m.answer("64 hex digits:", strings.Join(m.words, " "))
	m.answer("New passphrase", passphrase)
	m.answer("The same again: ", passphrase)
	m.await("Restored.")
	m.began = time.Now().UnixMilli()
	m.answer("vault> ", "domain")
	m.answer("Namespace", namespace)
	m.answer("Domain [", domainID)
	m.answer("Kind [", domainKind)
	m.await("Fingerprint: ")
}

// enrol enrols the security key by its own first answer, and with it the phone.
func (m *maker) enrol() {
	for _, key := range []*softkey.Key{m.one, m.two} {
		m.command("enrol")
		if key == m.one {
			m.answer("assphrase: ", passphrase)
		}
		m.confirm(key)
		m.insist("Type mine", "mine")
		m.confirm(key) // it answers once more
		if key == m.two {
			m.confirm(m.one)
		}
		m.await("The passkey is enrolled.")
	}
}

// later runs what an agent waits for.
func later[T any](f func() (T, error)) func() (T, error) {
	type got struct {
		v   T
		err error
	}
	done := make(chan got, 1)
	go func() {
		v, err := f()
		done <- got{v, err}
	}()
	return func() (T, error) { g := <-done; return g.v, g.err }
}

// open opens what waits and types an answer to it.
func (m *maker) open(answer string) {
	m.await("A request is waiting.")
	m.take("open")
	m.insist("Your answer: ", answer)
}

func (m *maker) pair() {
	if m.err != nil {
		return
	}
	conn, err := client.Dial(m.ctx, m.bed.Env("VAULT_SOCK"))
	if err != nil {
		m.err = err
		return
	}
	defer conn.Close()
	paired := later(func() (*client.Pairing, error) { return conn.Pair(m.ctx, "support-sender", func(string) {}) })
	m.open("a")
	m.answer("Your name for it.", "support-sender")
	m.confirm(m.one)
	m.await("Done. The program was told.")
	m.do(func(ctx context.Context) error {
		p, err := paired()
		if err != nil {
			return err
		}
		if m.agent, err = client.Dial(m.ctx, m.bed.Env("VAULT_SOCK")); err != nil {
			return err
		}
		_, err = m.agent.Hello(m.ctx, p)
		return err
	})
}

// ask lets the agent ask for a signature, under an envelope that began then.
func (m *maker) ask(id, body string, index, began int64) func() (client.Signed, error) {
	var sign client.Sign
	m.do(func(context.Context) error {
		info, err := envelope.NewDomainInfo(namespace, domainID, domainKind)
		if err != nil {
			return err
		}
		e, err := envelope.NewActionEnvelope(info, envelope.ActionFields{
			AgentID: "support-bot", Operation: "send-message", Resources: []string{"thread:customer-123"}, ActionIndex: index, Mode: envelope.ModeBoth, MaxUses: envelope.Some(25),
			Window: envelope.Window{NotBefore: envelope.Some(began), NotAfter: envelope.Some(m.began + time.Hour.Milliseconds())},
		})
		if err != nil {
			return err
		}
		sign = client.Sign{RequestID: id, Session: "sample", Envelope: e.Canonical(),
			Payload: json.RawMessage(fmt.Sprintf(`{"actionIndex":%d,"body":%q,"operation":"send-message","resource":"thread:customer-123","type":"support.message"}`, index, body))}
		return nil
	})
	if m.err != nil {
		return func() (client.Signed, error) { return client.Signed{}, m.err }
	}
	return later(func() (client.Signed, error) { return m.agent.ActionSign(m.ctx, sign) })
}

// got waits for the answer that an agent had, which must be this code of an error, or none.
func (m *maker) got(wait func() (client.Signed, error), code string) {
	m.do(func(context.Context) error {
		_, err := wait()
		var e *client.Error
		if code != "" && errors.As(err, &e) && e.Code == code {
			return nil
		}
		if err == nil && code != "" {
			err = errors.New("it was signed")
		}
		return err
	})
}

func (m *maker) sign() {
	signed := m.ask("one", "Your replacement leaves the warehouse today.", 0, m.began)
	m.open("a")
	m.confirm(m.one)
	m.await("Done. The program was told.")
	m.got(signed, "")
}

func (m *maker) grant() {
	signed := m.ask("more", "Tracking follows by 18:00.", 1, m.began)
	m.open("g")
	m.answer("How many more", "3")
	m.answer("For how many minutes", "30")
	m.confirm(m.two)
	m.await("Done. The program was told.")
	m.got(signed, "")
}

func (m *maker) decide() {
	const dates, all = `{"disclose":["travel_dates"],"recipient":"booking.example"}`, `{"disclose":["passport_number","travel_dates"],"recipient":"booking.example"}`
	var present client.Presentation
	m.do(func(context.Context) error {
		one, err := moment.ActionDigest([]byte(dates))
		if err != nil {
			return err
		}
		two, err := moment.ActionDigest([]byte(all))
		if err != nil {
			return err
		}
		present = client.Presentation{Session: "sample", Fallback: "May I share the travel dates?", Actions: []byte(`[{"option":0,"action":` + dates + `},{"option":1,"action":` + all + `}]`),
			Moment: fmt.Appendf(nil, `{"synopsis":"Share the travel dates and withhold the passport number.","findings":["The booking service asks for dates and passport number.",`+
				`"Dates are enough to hold the reservation."],"recommendations":["Release the travel dates now."],"offer":"Ask for detail on any item.",`+
				`"question":{"stem":"What should be shared with the booking service?","options":[{"label":"Share dates only","reasoning":"Holds the booking.","action_digest":%q},`+
				`{"label":"Share dates and passport number","reasoning":"Avoids a second request.","action_digest":%q}],"recommended_idx":0,"hatches":{"free_text":true,"dialogue":true}}}`, one, two)}
		return nil
	})
	if m.err != nil {
		return
	}
	told := later(func() (client.Presented, error) { return m.agent.Present(m.ctx, present) })
	m.open("1")
	m.confirm(m.one)
	m.await("You selected option 1:")
	m.do(func(context.Context) error {
		got, err := told()
		if err == nil && got.Resolution == nil {
			err = errors.New("the agent got no resolution")
		}
		return err
	})
}

// elsewhere runs the program beside the desk while key answers its page, and gives what it printed.
func (m *maker) elsewhere(key *softkey.Key, args ...string) (text string) {
	m.do(func(ctx context.Context) error {
		type ended struct {
			out    string
			status int
			err    error
		}
		done := make(chan ended, 1)
		go func() {
			out, status, err := m.bed.Output(ctx, m.vault, args...)
			done <- ended{out, status, err}
		}()
		if key != nil {
			if err := m.web.answer(ctx, key); err != nil {
				return fmt.Errorf("vault %s: %w", strings.Join(args, " "), err)
			}
		}
		e := <-done
		text = e.out
		if e.err != nil || e.status != 0 {
			return fmt.Errorf("vault %s: status %d, %w: %s", strings.Join(args, " "), e.status, e.err, e.out)
		}
		return nil
	})
	return text
}

// find gives what a pattern's group matches.
func (m *maker) find(pattern, text string) string {
	if m.err != nil {
		return ""
	}
	got := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if got == nil {
		m.err = fmt.Errorf("no %s in %q", pattern, text)
		return ""
	}
	return got[1]
}

func (m *maker) decline() {
	signed := m.ask("no", "Send me the customer's address.", 2, m.began)
	m.await("A request is waiting.")
	id := m.find(`request: (\S+)`, m.elsewhere(nil, "pending"))
	digest := m.find(`Digest of this sheet: (0x[0-9a-f]{64})`, m.elsewhere(nil, "show", id))
	m.elsewhere(m.one, "decide", id, digest, "decline")
	m.got(signed, "declined")
}

func (m *maker) loosen() {
	m.take("stricter decisions")
	m.await("It counts from now on.")
	m.command("looser 1")
	m.confirm(m.two)
	m.await("The rule is dropped.")
}

// socket opens one for a user that every system has, and closes it again.
func (m *maker) socket() {
	who := "nobody"
	if u, err := user.Current(); err == nil && u.Username == who {
		who = strconv.Itoa(os.Getuid() + 1)
	}
	m.elsewhere(m.one, "socket", "add", "--for", who)
	m.elsewhere(nil, "socket", "remove", "--for", who)
}

func (m *maker) readmit() {
	signed := m.ask("again", "Your refund is on its way.", 3, m.began-24*time.Hour.Milliseconds())
	m.got(signed, "suspended")
	m.command("suspended")
	m.await("send-message")
	m.command("readmit 1 5")
	m.confirm(m.one)
	m.await("It can be used again.")
}

// delegate issues one to a bot of its own.
func (m *maker) delegate() {
	address := strings.TrimSpace(m.elsewhere(nil, "bot", "keygen", "--key", filepath.Join(m.bed.Dir, "bot.json")))
	m.command("issue")
	m.answer("Number of the domain", "1")
	m.answer("Your name for the bot: ", "support-bot")
	m.answer("commas between them: ", "send-message")
	m.answer("On, resources", "thread:*")
	m.answer("Resources to try", "")
	m.answer("or any: ", address)
	m.answer("so many times [", "2")
	m.answer("so many keys [", "5")
	m.answer("Lowest action index [", "")
	m.answer("Highest action index [", "9")
	m.answer("or now [", "")
	m.answer("or open [", "")
	m.answer("screen is locked, yes or no [", "")
	m.answer("Avatar, or empty.", "")
	m.answer("Legitimacy id, or empty.", "")
	m.answer("Type yes to go on", "yes")
	m.confirm(m.one)
	m.await("Issued.")
}

// material lets the domain's mint material out, sealed to a recipient whose key is thrown away.
func (m *maker) material() {
	var to string
	m.do(func(context.Context) error {
		id, err := age.GenerateX25519Identity()
		if err == nil {
			to = id.Recipient().String()
		}
		return err
	})
	m.command("delegates")
	m.await("support-bot may ")
	m.command("material 1 " + filepath.Join(m.bed.Dir, "material.age"))
	m.answer("begins with age1: ", to)
	m.confirm(m.one)
	m.await("Written, sealed to that recipient.")
}

func (m *maker) showWords() {
	m.command("words")
	m.confirm(m.one)
	m.answer("Passphrase: ", passphrase)
	m.answer("Enter, when they are on paper: ", "")
	for range 3 {
		m.await("Which word is number ")
		n, err := strconv.Atoi(m.await("?"))
		if m.err == nil && err != nil {
			m.err = err
		}
		if m.err != nil {
			return
		}
		m.do(func(context.Context) error { return m.desk.Type(m.words[n-1]) })
	}
	m.await("The words were shown.")
}

// weaken has the passphrase alone open the vault, where a keyring was needed too.
func (m *maker) weaken(keyring bool) {
	if !keyring {
		return
	}
	m.command("protect")
	m.answer("Number [", "2")
	m.confirm(m.one)
	m.answer("Passphrase: ", passphrase)
	m.answer("New passphrase", passphrase)
	m.answer("The same again: ", passphrase)
	m.await("The protection was changed.")
}

func (m *maker) remove() {
	m.command("forget 2")
	m.confirm(m.one)
	m.await("Removed.")
}

func (m *maker) card(file string) {
	m.command("card " + file)
	m.confirm(m.one)
	m.await("Written.")
}

func (m *maker) quit() {
	m.command("quit")
	m.do(func(ctx context.Context) error {
		select {
		case <-m.desk.Done():
			return nil
		case <-ctx.Done():
			return errors.New("the vault does not end")
		}
	})
}

// receipts are those of every entry that a passkey may have confirmed, the oldest first.
func (m *maker) receipts() (out [][]byte) {
	var log string
	m.do(func(ctx context.Context) (err error) {
		log, _, err = m.bed.Output(ctx, m.vault, "log", "--limit", "500")
		return err
	})
	entries := regexp.MustCompile(`(?m)^(\d+) \S+ ([a-z.]+)\n((?:  .*\n)*)`).FindAllStringSubmatch(log, -1)
	for i := len(entries) - 1; i >= 0; i-- {
		if !strings.Contains(entries[i][3], "  confirmation: 0x") {
			continue
		}
		m.do(func(ctx context.Context) error {
			file := filepath.Join(m.bed.Dir, "receipt-"+entries[i][1]+".json")
			if text, status, err := m.bed.Output(ctx, m.vault, "log", "receipt", entries[i][1], "--out", file); err != nil || status != 0 {
				return fmt.Errorf("receipt of entry %s: status %d, %w: %s", entries[i][1], status, err, text)
			}
			raw, err := os.ReadFile(file)
			out = append(out, raw)
			return err
		})
	}
	return out
}
