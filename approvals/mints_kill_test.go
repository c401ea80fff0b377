//go:build linux

package approvals_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/handshake"
	"vault/derive"
	"vault/derive/envelope"
	"vault/ipc"
	"vault/ipc/client"
	"vault/ipc/socket"
)

// Desk and bots as programs of their own; each is this test binary.
const (
	mintFolder = "VAULT_TEST_MINT_FOLDER"
	mintSocket = "VAULT_TEST_MINT_SOCKET"
	mintBot    = "VAULT_TEST_MINT_BOT" // file with the JSON of a botTask
)

// runMintDesk opens the vault and serves its socket until it is killed.
func runMintDesk(dir string) {
	w := &world{t: &testing.T{}, dir: dir, clock: newTestClock(), await: time.Second}
	w.keys = newLauncher(dir, w.clock)
	d, err := approvals.New(context.Background(), approvals.Options{Folder: dir, Launcher: w.keys, Clock: w.clock, Await: time.Second})
	if err != nil {
		panic(err)
	}
	if err := d.Owner().Unlock(context.Background(), "terminal"); err != nil {
		panic(err)
	}
	l, err := socket.Listen(os.Getenv(mintSocket))
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	panic(ipc.New(ipc.Options{Agents: d.Agents()}).Serve(l))
}

type botTask struct {
	Socket, Pairing, Seed string
	Delegate              json.RawMessage
	Requests              []json.RawMessage
	Workers               int
}

// seedBot is a bot's key, as the client wants it.
type seedBot struct {
	seed    []byte
	address string
}

func (b seedBot) Address() string { return b.address }
func (b seedBot) Prove(c envelope.BotChallenge) string {
	sig, err := derive.SignDigest(b.seed, c.Digest())
	if err != nil {
		panic(err)
	}
	return sig
}

// runMintBot asks for every request until each has an answer, whatever happens to the desk, and tells each
// answer in a line: the number of the request, the mint and its address, or the code of the refusal.
func runMintBot(file string) {
	var task botTask
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &task)
	}
	if err != nil {
		panic(err)
	}
	seed, err := hex.DecodeString(task.Seed)
	if err != nil {
		panic(err)
	}
	address, err := derive.Address(seed)
	if err != nil {
		panic(err)
	}
	who := seedBot{seed, address}
	work := make(chan int, len(task.Requests))
	for _, i := range rand.Perm(len(task.Requests)) {
		work <- i
	}
	close(work)
	limit, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	connect := func() *client.Conn {
		var last error
		for {
			ctx, cancel := context.WithTimeout(limit, 10*time.Second)
			c, err := client.Dial(ctx, task.Socket)
			if err == nil {
				var p *client.Pairing
				if p, err = client.Load(task.Pairing); err == nil {
					if _, err = c.Hello(ctx, p); err == nil {
						err = c.ProveBot(ctx, who)
					}
				}
				if err != nil {
					_ = c.Close()
				}
			}
			cancel()
			if err == nil {
				return c
			}
			if limit.Err() != nil {
				panic(fmt.Sprint("before: ", last))
			}
			last = err
			time.Sleep(2 * time.Millisecond) // the desk is down; it is begun again by another process
		}
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range task.Workers {
		wg.Go(func() {
			c := connect()
			for i := range work {
				for {
					m, err := c.Mint(limit, task.Requests[i])
					var refused *client.Error
					said := ""
					switch {
					case err == nil:
						said = m.Mint + " " + m.AgentAddress
					case errors.As(err, &refused) && refused.Code == approvals.CodeMintsSpent:
						said = refused.Code
					case errors.As(err, &refused) && !passing[refused.Code]:
						panic(fmt.Sprint(err, " ", string(refused.Detail)))
					}
					if said != "" {
						mu.Lock()
						fmt.Println(i, said)
						mu.Unlock()
						break
					}
					_ = c.Close()
					c = connect()
				}
			}
			_ = c.Close()
		})
	}
	wg.Wait()
}

// passing are refusals that say nothing about the request.
var passing = map[string]bool{
	approvals.CodeLocked: true, approvals.CodeKeysEnded: true, approvals.CodeBotNotProven: true, approvals.CodeTooMany: true, "too_many_calls": true,
	"too_many_connections": true,
}

// TestMintsUnderKills has bots in several processes ask for more capabilities than a delegate gives, each request by two
// of them, while the desk is killed at random and begun again: exactly as many are minted as the delegate says, each
// nonce once, and what was answered is what the log holds.
func TestMintsUnderKills(t *testing.T) {
	requests, mints, bots, kills := 60, 10, 3, 5
	if long() {
		requests, mints, bots, kills = 1000, 100, 4, 40
	}
	w := newWorld(t)
	me := int64(os.Geteuid())
	w.uid = &me
	w.browse()
	w.create()
	a := w.pair("bot")
	w.enrol()
	b := newBot(t, a, "one")
	f := w.form(b)
	f.MaxMints = int64(mints)
	raw := w.issue(f)
	hash := hashOf(t, raw)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	task := botTask{Socket: filepath.Join(dir, "sock"), Pairing: filepath.Join(dir, "pairing.json"), Seed: hex.EncodeToString(b.seed[:]), Delegate: raw, Workers: 8}
	pairing, err := json.Marshal(map[string]any{"version": 1, "vault": w.owner.Status().Public.Vault, "client": a.id, "secret": handshake.Encode(a.secret)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(task.Pairing, pairing, 0o600); err != nil {
		t.Fatal(err)
	}
	all := make([]json.RawMessage, requests)
	for i := range all {
		all[i] = b.request(t, raw, fmt.Sprint("nonce ", i), nil)
	}
	w.stop()

	// The desk is begun again whenever it was killed, until the bots are done.
	over, due := make(chan struct{}), make(chan struct{}, kills)
	deskDone := make(chan int)
	go func() {
		killed := 0
		defer func() { deskDone <- killed }()
		for {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), mintFolder+"="+w.dir, mintSocket+"="+task.Socket)
			cmd.Stderr = os.Stderr
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			var early <-chan time.Time // while it opens
			if killed%4 == 3 {
				early = time.After(time.Duration(rand.IntN(60)) * time.Millisecond)
			}
			select {
			case <-early:
				killed++
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			case <-due:
				killed++
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			case <-over:
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				return
			}
		}
	}()

	var mu sync.Mutex
	minted, spent, told := map[int]string{}, map[int]bool{}, 0
	var wg sync.WaitGroup
	for n := range bots {
		// Each request is asked for by two of the processes.
		mine := task
		var numbers []int
		for i := range all {
			if i%bots == n || (i+1)%bots == n {
				mine.Requests = append(mine.Requests, all[i])
				numbers = append(numbers, i)
			}
		}
		text, err := json.Marshal(mine)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, fmt.Sprint("task", n))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), mintBot+"="+file)
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Error(err)
				return
			}
			lines := bufio.NewScanner(out)
			for lines.Scan() {
				var i int
				head, rest, _ := strings.Cut(lines.Text(), " ")
				if _, err := fmt.Sscan(head, &i); err != nil {
					t.Errorf("%q", lines.Text())
					continue
				}
				i = numbers[i]
				mu.Lock()
				if told++; told%(2*requests/(kills+1)) == rand.IntN(3) {
					select {
					case due <- struct{}{}:
					default:
					}
				}
				if rest == approvals.CodeMintsSpent {
					spent[i] = true
				} else if minted[i] != "" && minted[i] != rest {
					t.Errorf("request %d was answered with %s and with %s", i, minted[i], rest)
				} else {
					minted[i] = rest
				}
				mu.Unlock()
			}
			if err := cmd.Wait(); err != nil {
				t.Error("a bot:", err)
			}
		})
	}
	wg.Wait()
	close(over)
	killed := <-deskDone

	w.clock.wall.Store(time.Now().UnixMilli())
	w.start()
	w.unlock()
	w.verified()
	if n := w.entries("capability.minted"); n != mints {
		t.Errorf("%d entries of mints, not %d", n, mints)
	}
	list, err := w.owner.Mints(approvals.MintFilter{Delegate: hash, Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	nonces, byMint := map[string]bool{}, map[string]approvals.MintView{}
	for _, m := range list {
		if nonces[m.Nonce] {
			t.Errorf("nonce %s twice", m.Nonce)
		}
		nonces[m.Nonce], byMint[m.Mint] = true, m
	}
	if len(list) != mints || len(minted) != mints {
		t.Errorf("%d mints in the store, %d requests were given one; the delegate gives %d", len(list), len(minted), mints)
	}
	for i, said := range minted {
		mint, address, _ := strings.Cut(said, " ")
		m, ok := byMint[mint]
		if !ok || m.Address != "" && m.Address != address || spent[i] {
			t.Errorf("request %d was given %s, the vault has %+v (spent: %v)", i, said, m, spent[i])
		}
	}
	silent := 0
	for i := range all {
		if minted[i] == "" && !spent[i] {
			silent++
		}
	}
	if silent > 0 {
		t.Errorf("%d requests have no answer", silent)
	}
	if v := w.delegate(hash); v.Minted != int64(mints) || v.MintsLeft != 0 || v.State != approvals.DelegateSpent {
		t.Errorf("%+v", v)
	}
	if killed == 0 {
		t.Error("the desk was never killed")
	}
	t.Logf("%d requests, each by two of %d processes, %d mints, the desk killed %d times", requests, bots, mints, killed)
}
