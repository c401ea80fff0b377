package process_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vault/approvals/journal"
	"vault/custody"
	"vault/derive"
	"vault/derive/envelope"
	"vault/internal/memscan"
	"vault/internal/testbed"
	"vault/ipc/client"
)

const (
	passphrase = "typed on a terminal by a test"
	namespace  = "acme"
	domainID   = "billing-ops"
	kind       = "finance"
	granted    = 10
	processes  = 8
)

// goroutines in all client processes together.
func goroutines() int {
	if os.Getenv("VAULT_TEST_LONG") != "" {
		return 500
	}
	return 24
}

func TestMain(m *testing.M) {
	if len(os.Args) == 6 && os.Args[1] == "client" {
		os.Exit(clientMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// root is known, so that every seed of the session can be computed and looked for.
func root() []byte {
	out := make([]byte, 32)
	for i := range out {
		out[i] = byte(i*37 + 11)
	}
	return out
}

// rig is a vault on a terminal.
type rig struct {
	t     *testing.T
	ctx   context.Context
	bed   *testbed.Bed
	vault string
	desk  *testbed.Terminal
	proxy *proxy
	info  *envelope.DomainInfo
	words []string
	began int64 // milliseconds; when this instance was there
}

func start(t *testing.T) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	dir, err := os.MkdirTemp("", "vp")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	bin := filepath.Join(dir, "bin")
	must(t, os.Mkdir(bin, 0o700))
	must(t, testbed.Build(ctx, bin))
	r := &rig{t: t, ctx: ctx, vault: filepath.Join(bin, "vault")}
	place := filepath.Join(dir, "b")
	must(t, os.Mkdir(place, 0o700))
	r.bed, err = testbed.New(place)
	must(t, err)
	t.Cleanup(r.bed.Close)
	r.info, err = envelope.NewDomainInfo(namespace, domainID, kind)
	must(t, err)
	words, err := custody.Words(root())
	must(t, err)
	r.words = strings.Fields(string(words.Bytes()))
	words.Destroy()
	r.proxy, err = newProxy(filepath.Join(r.bed.Dir, "p", "p.sock"), r.bed.Env("VAULT_SOCK"))
	must(t, err)
	t.Cleanup(r.proxy.close)
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// answer waits for a prompt on the vault's terminal and types a line.
func (r *rig) answer(prompt, line string) {
	r.t.Helper()
	must(r.t, r.desk.Answer(r.ctx, prompt, line))
}

func (r *rig) await(text string) string {
	r.t.Helper()
	before, err := r.desk.Await(r.ctx, text)
	must(r.t, err)
	return before
}

func (r *rig) serve() {
	r.t.Helper()
	var err error
	r.desk, err = r.bed.StartTerminal(r.bed.Command(context.Background(), r.vault, "serve"))
	must(r.t, err)
}

// restore brings the vault with the known root here, and makes its domain.
func (r *rig) restore() {
	r.t.Helper()
	r.answer("vault> ", "restore")
	r.answer("Number [", "2")
	r.answer("64 hex digits:", strings.Join(r.words, " "))
	r.answer("New passphrase", passphrase)
	r.answer("The same again: ", passphrase)
	r.await("Restored.")
	r.began = time.Now().UnixMilli()
	r.answer("vault> ", "domain")
	r.answer("Namespace", namespace)
	r.answer("Domain [", domainID)
	r.answer("Kind [", kind)
	r.await("Fingerprint: ")
}

func (r *rig) unlock() {
	r.t.Helper()
	r.answer("vault> ", "unlock")
	r.answer("Passphrase: ", passphrase)
	r.await("The vault is open.")
}

// approve opens what waits and approves it, by letter, four words and passphrase.
func (r *rig) approve(letter string, between func()) {
	r.t.Helper()
	r.await("A request is waiting.")
	must(r.t, r.desk.Type("open"))
	r.await("Your answer: ")
	// What is typed in the first second is dropped: typed again, it is taken.
	for taken := false; !taken; {
		must(r.t, r.desk.Type(letter))
		ctx, cancel := context.WithTimeout(r.ctx, 300*time.Millisecond)
		_, err := r.desk.Await(ctx, letter+"\r\n")
		cancel()
		if taken = err == nil; !taken && !errors.Is(err, context.DeadlineExceeded) {
			r.t.Fatal(err)
		}
	}
	between()
	r.await("then your passphrase: ")
	words := strings.TrimSpace(r.await("\r\n"))
	r.answer("Four words: ", words)
	r.answer("Passphrase: ", passphrase)
	r.await("Done. The program was told.")
}

func (r *rig) envelope() *envelope.ActionEnvelope {
	r.t.Helper()
	e, err := envelope.NewActionEnvelope(r.info, envelope.ActionFields{
		AgentID: "stormer", Operation: "send-invoice", Resources: []string{"account:1"}, Mode: envelope.ModeBoth, MaxUses: envelope.Some(100),
		// A restored vault signs under envelopes that began after it, whose uses it knows.
		Window: envelope.Window{NotBefore: envelope.Some(r.began), NotAfter: envelope.Some(r.began + time.Hour.Milliseconds())},
	})
	must(r.t, err)
	return e
}

// pair pairs over the proxy and leaves the pairing in a file.
func (r *rig) pair() string {
	r.t.Helper()
	conn, err := client.Dial(r.ctx, r.proxy.path)
	must(r.t, err)
	defer conn.Close()
	type paired struct {
		p   *client.Pairing
		err error
	}
	digits, done := make(chan string, 1), make(chan paired, 1)
	go func() {
		p, err := conn.Pair(r.ctx, "stormer", func(d string) { digits <- d })
		done <- paired{p, err}
	}()
	r.approve("a", func() { r.answer("Your name for it.", "Stormer") })
	got := <-done
	must(r.t, got.err)
	if d := <-digits; !strings.Contains(r.desk.Text(), "Number: "+d) {
		r.t.Errorf("the client's number %s is not on the terminal", d)
	}
	file := filepath.Join(r.bed.Dir, "pairing.json")
	must(r.t, got.p.Save(file))
	return file
}

// one is a signature that a client holds.
type one struct {
	Signature, Address, By string
	Seq                    uint64
	Payload                json.RawMessage
}

// grant has one signature approved, with ten more.
func (r *rig) grant(file string) one {
	r.t.Helper()
	p, err := client.Load(file)
	must(r.t, err)
	conn, err := client.Dial(r.ctx, r.proxy.path)
	must(r.t, err)
	defer conn.Close()
	_, err = conn.Hello(r.ctx, p)
	must(r.t, err)
	payload := json.RawMessage(`{"n":-1,"type":"test.storm"}`)
	type signed struct {
		s   client.Signed
		err error
	}
	done := make(chan signed, 1)
	go func() {
		s, err := conn.ActionSign(r.ctx, client.Sign{RequestID: "first", Envelope: r.envelope().Canonical(), Payload: payload})
		done <- signed{s, err}
	}()
	r.approve("g", func() {
		r.answer("How many more", strconv.Itoa(granted))
		r.answer("For how many minutes", "")
	})
	got := <-done
	must(r.t, got.err)
	return one{got.s.Signature, got.s.AgentAddress, got.s.By, got.s.Seq, payload}
}

// clientMain is one client process: goroutines that each want one signature under
// the grant, and ask again, with the same request, whenever the vault went away. It
// prints a line for each signature, and one at the end for the refusals.
func clientMain(args []string) int {
	sock, file, env := args[0], args[1], args[2]
	number, count, _ := strings.Cut(args[3], "/")
	n, err := strconv.Atoi(count)
	if err != nil {
		return 2
	}
	p, err := client.Load(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	conns := &connections{ctx: ctx, sock: sock, pairing: p}
	type outcome struct {
		line string
		err  error
	}
	out := make(chan outcome)
	for g := range n {
		go func() {
			id := number + "-" + strconv.Itoa(g)
			payload := json.RawMessage(fmt.Sprintf(`{"n":%q,"type":"test.storm"}`, id))
			for {
				s, err := conns.sign(client.Sign{RequestID: id, Envelope: json.RawMessage(env), Payload: payload, Grant: true})
				var e *client.Error
				switch {
				case err == nil:
					line, err := json.Marshal(one{s.Signature, s.AgentAddress, s.By, s.Seq, payload})
					out <- outcome{string(line), err}
					return
				case errors.As(err, &e) && e.Code == "not_shown":
					out <- outcome{}
					return
				case ctx.Err() != nil:
					out <- outcome{err: err}
					return
				}
				// Locked, gone, or not yet there: another try decides nothing anew.
				select {
				case <-ctx.Done():
				case <-time.After(100 * time.Millisecond):
				}
			}
		}()
	}
	refused := 0
	for range n {
		o := <-out
		switch {
		case o.err != nil:
			fmt.Fprintln(os.Stderr, o.err)
			return 1
		case o.line == "":
			refused++
		default:
			fmt.Println(o.line)
		}
	}
	fmt.Println("refused", refused)
	return 0
}

// TestTenUses: many clients on a grant of ten uses, and a desk that is killed while
// answers are on their way, give exactly ten signatures, all of them in the log. On
// the way every byte that leaves is watched.
func TestTenUses(t *testing.T) {
	r := start(t)
	r.serve()
	r.restore()
	file := r.pair()
	first := r.grant(file)

	// The third signature that is on its way to a client stops there.
	r.proxy.hold(3)
	clients := r.clients(file)
	select {
	case <-r.proxy.held():
	case <-r.ctx.Done():
		t.Fatal("no third signature came")
	}
	r.desk.Kill()
	r.proxy.release()
	r.serve()
	r.unlock()

	held := []one{first}
	refused := 0
	for _, c := range clients {
		got, no := c.wait(r)
		held, refused = append(held, got...), refused+no
	}
	if len(held) != 1+granted || refused != goroutines()-granted {
		t.Errorf("%d signatures and %d refusals, want %d and %d", len(held), refused, 1+granted, goroutines()-granted)
	}

	r.memory()
	log := r.stop()
	r.compare(held, log)
	r.watched(log)
}

// compare sets what the clients hold against the log.
func (r *rig) compare(held []one, log []journal.Entry) {
	t := r.t
	t.Helper()
	entries := map[uint64]journal.ActionSigned{}
	for _, e := range log {
		if b, ok := e.Decoded().(journal.ActionSigned); ok {
			entries[e.Seq] = b
		}
	}
	if len(entries) != len(held) {
		t.Errorf("%d signatures are held and %d are in the log", len(held), len(entries))
	}
	uses := map[uint64]bool{}
	seen := map[uint64]bool{}
	for _, s := range held {
		b, ok := entries[s.Seq]
		p, err := envelope.ParsePayload(s.Payload)
		must(t, err)
		digest := p.Digest()
		switch {
		case !ok:
			t.Errorf("a signature is held that is not in the log: %d", s.Seq)
		case b.Digest != fmt.Sprintf("0x%x", digest) || b.Address != s.Address || b.By != s.By:
			t.Errorf("entry %d is of another signature: %+v", s.Seq, b)
		case !envelope.VerifyAction(s.Payload, s.Signature, s.Address).Valid:
			t.Errorf("the signature of entry %d does not verify", s.Seq)
		}
		if uses[b.Use] || seen[s.Seq] {
			t.Errorf("use %d or entry %d was given twice", b.Use, s.Seq)
		}
		uses[b.Use], seen[s.Seq] = true, true
	}
}

// running is one client process.
type running struct {
	*testbed.Process
	out string
}

func (r *rig) clients(file string) (all []*running) {
	r.t.Helper()
	per := goroutines() / processes
	for i := range processes {
		n := per
		if i < goroutines()%processes {
			n++
		}
		cmd := r.bed.Command(r.ctx, os.Args[0], "client", r.proxy.path, file, string(r.envelope().Canonical()), fmt.Sprintf("%d/%d", i, n))
		c := &running{out: filepath.Join(r.bed.Dir, fmt.Sprintf("client-%d", i))}
		out, err := os.Create(c.out)
		must(r.t, err)
		cmd.Stdout = out
		c.Process, err = r.bed.Start(cmd)
		must(r.t, err)
		must(r.t, out.Close())
		all = append(all, c)
	}
	return all
}

// wait gives what the client holds and how often it was refused.
func (c *running) wait(r *rig) (held []one, refused int) {
	r.t.Helper()
	select {
	case <-c.Done():
	case <-r.ctx.Done():
		r.t.Fatal("a client does not end")
	}
	f, err := os.Open(c.out)
	must(r.t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	ended := false
	for lines.Scan() {
		if _, err := fmt.Sscanf(lines.Text(), "refused %d", &refused); err == nil {
			ended = true
			continue
		}
		var s one
		must(r.t, json.Unmarshal(lines.Bytes(), &s))
		held = append(held, s)
	}
	if !ended {
		raw, _ := os.ReadFile(r.bed.Log) // for the message
		r.t.Fatalf("a client ended with %d: %s", c.Status(), tail(raw))
	}
	return held, refused
}

func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

// stop locks, ends the desk and gives the whole log.
func (r *rig) stop() []journal.Entry {
	t := r.t
	t.Helper()
	must(t, r.desk.Type("quit"))
	select {
	case <-r.desk.Done():
	case <-r.ctx.Done():
		t.Fatal("the desk does not end")
	}
	text, status, err := r.bed.Output(r.ctx, r.vault, "log", "verify")
	if err != nil || status != 0 {
		t.Fatalf("log verify: status %d, %v, %s", status, err, text)
	}
	raw, status, err := r.bed.Output(r.ctx, r.vault, "log", "export")
	if err != nil || status != 0 {
		t.Fatalf("log export: status %d, %v", status, err)
	}
	var log []journal.Entry
	for line := range strings.Lines(raw) {
		var row struct{ Entry json.RawMessage }
		must(t, json.Unmarshal([]byte(line), &row))
		e, err := journal.Parse(row.Entry)
		must(t, err)
		log = append(log, e)
	}
	return log
}

// secrets are the patterns of every secret of the session.
func (r *rig) secrets(instances []string) (set []memscan.Pattern) {
	t := r.t
	t.Helper()
	set = append(memscan.Words("words", r.words), memscan.Pattern{Name: "passphrase", Bytes: []byte(passphrase)})
	add := func(name string, b []byte) {
		set = append(set, memscan.Secret(name, b)...)
		// In the middle of a longer run base64 has two other forms.
		for shift := 1; shift < 3; shift++ {
			long := append(make([]byte, shift), b...)
			for alphabet, enc := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
				text := enc.EncodeToString(long)
				set = append(set, memscan.Pattern{Name: fmt.Sprintf("%s %s+%d", name, alphabet, shift), Bytes: []byte(text[shift+1 : len(text)-2])})
			}
		}
	}
	add("root", root())
	var domain, seed derive.Secret
	must(t, derive.DomainSeed(&domain, root(), r.info))
	add("domain seed", bytes.Clone(domain[:]))
	must(t, derive.ActionSeed(&seed, domain[:], r.envelope()))
	add("action seed", bytes.Clone(seed[:]))
	must(t, derive.MintMaterial(&seed, root(), r.info.Hash()))
	add("mint material", bytes.Clone(seed[:]))
	must(t, derive.OwnerSeed(&seed, root(), 0))
	add("owner seed", bytes.Clone(seed[:]))
	must(t, derive.StoreKey(&seed, root()))
	add("store key", bytes.Clone(seed[:]))
	for _, i := range instances {
		must(t, derive.LogSeed(&seed, root(), i))
		add("log seed", bytes.Clone(seed[:]))
	}
	return set
}

// watched looks for every secret in everything that left the vault's processes but
// the secret window's own screen: both directions of the socket, the folder with
// store and sealed file, the log in both forms, receipts, and what was printed.
func (r *rig) watched(log []journal.Entry) {
	t := r.t
	t.Helper()
	seen := map[string][]byte{"socket": r.proxy.bytes()}
	must(t, filepath.WalkDir(r.bed.Env("VAULT_HOME"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			seen[path], err = os.ReadFile(path)
		}
		return err
	}))
	commands := [][]string{{"log", "export"}, {"log", "export", "--format", "csv"}, {"log", "--limit", "500"}}
	var instances []string
	known := map[string]bool{}
	for _, e := range log {
		if e.Kind == journal.KindActionSigned {
			commands = append(commands, []string{"log", "receipt", strconv.FormatUint(e.Seq, 10)})
		}
		if !known[e.Instance] {
			known[e.Instance] = true
			instances = append(instances, e.Instance)
		}
	}
	for _, c := range commands {
		out, status, err := r.bed.Output(r.ctx, r.vault, c...)
		if err != nil || status != 0 || out == "" {
			t.Fatalf("%v: status %d, %v", c, status, err)
		}
		seen[strings.Join(c, " ")] = []byte(out)
	}
	printed, err := os.ReadFile(r.bed.Log)
	must(t, err)
	seen["errors"] = printed
	if n := len(seen["socket"]); n < 10_000 || !bytes.Contains(seen["socket"], []byte(`"signature"`)) {
		t.Errorf("only %d bytes of the socket were seen", n)
	}

	set := r.secrets(instances)
	for name, b := range seen {
		for _, p := range set {
			if bytes.Contains(b, p.Bytes) {
				t.Errorf("%s holds %s", name, p.Name)
			}
		}
	}
	// The same search finds a seed in what leaves, in whatever form it were there.
	leaks := map[string]string{
		"raw": string(root()), "hex": hex.EncodeToString(root()), "base32": base32.StdEncoding.EncodeToString(root()),
		"base64": base64.StdEncoding.EncodeToString(root()), "base64url": base64.URLEncoding.EncodeToString(root()),
		"base64 further on": base64.StdEncoding.EncodeToString(append([]byte("x"), root()...)),
		"decimal":           strings.Trim(fmt.Sprint(root()), "[]"), "words": strings.Join(r.words, " "), "passphrase": passphrase,
	}
	for form, leak := range leaks {
		b := append(bytes.Clone(seen["socket"]), leak...)
		if !slices.ContainsFunc(set, func(p memscan.Pattern) bool { return bytes.Contains(b, p.Bytes) }) {
			t.Errorf("a secret as %s would not be found", form)
		}
	}
	t.Logf("%d patterns in %d places", len(set), len(seen))
}

// memory looks for the secrets in every process of the vault, open and locked. Who is
// not the administrator cannot look.
func (r *rig) memory() {
	t := r.t
	t.Helper()
	set := r.secrets(nil)
	control, err := memscan.Process(os.Getpid(), set)
	if err != nil || control.Total() == 0 {
		t.Fatalf("the patterns are not found where they are: %d, %v", control.Total(), err)
	}
	scan := func(when string) {
		for _, pid := range testbed.Kin(r.desk.Pid()) {
			got, err := memscan.Process(pid, set)
			if errors.Is(err, fs.ErrPermission) {
				t.Logf("%s: process %d cannot be read by its own account, which is right", when, pid)
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", when, err)
			} else if got.Total() != 0 || got.Scanned == 0 {
				t.Errorf("%s: process %d holds %v (%d bytes read)", when, pid, got.Counts, got.Scanned)
			}
		}
	}
	must(t, r.desk.Type("lock"))
	r.await("The key process has ended.")
	if kin := testbed.Kin(r.desk.Pid()); len(kin) != 1 {
		t.Errorf("locked, and %d processes are left", len(kin))
	}
	scan("locked")
}
