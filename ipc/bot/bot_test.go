package bot

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vault/derive/envelope"
)

// fixed is a random source that repeats one byte.
type fixed byte

func (f fixed) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(f)
	}
	return len(b), nil
}

func key(t *testing.T, b byte) *Key {
	t.Helper()
	k, err := New(fixed(b))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestSaveAndLoad(t *testing.T) {
	k := key(t, 7)
	path := filepath.Join(t.TempDir(), "bot.json")
	if err := k.Save(path); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	if err := k.Save(path); !errors.Is(err, ErrExists) {
		t.Errorf("a second key over the first: %v", err)
	}
	got, err := Load(path)
	if err != nil || got.Address() != k.Address() || !got.key.Key.Equals(&k.key.Key) {
		t.Errorf("loaded %v, %v", got, err)
	}
	if _, err := Load(path + "x"); !errors.Is(err, ErrNoKey) {
		t.Errorf("absent: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(link); !errors.Is(err, ErrKeyFile) {
		t.Errorf("through a link: %v", err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !errors.Is(err, ErrKeyFile) {
		t.Errorf("readable by others: %v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	good := `{"type":"agentvault.botKey","version":1,"address":"` + key(t, 7).Address() + `","key":"0x` + strings.Repeat("07", 32) + `"}`
	if _, err := parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"nothing":         "",
		"no object":       `[1]`,
		"another type":    strings.Replace(good, "botKey", "botkey", 1),
		"another version": strings.Replace(good, `"version":1`, `"version":2`, 1),
		"a member more":   strings.Replace(good, `"version":1`, `"version":1,"x":1`, 1),
		"a member twice":  strings.Replace(good, `"version":1`, `"version":1,"version":1`, 1),
		"another address": strings.Replace(good, key(t, 7).Address(), key(t, 8).Address(), 1),
		"upper case":      strings.Replace(good, `"0x07`, `"0x0A`, 1),
		"short":           strings.Replace(good, `"0x07`, `"0x`, 1),
		"zero":            strings.Replace(good, strings.Repeat("07", 32), strings.Repeat("00", 32), 1),
		"beyond order":    strings.Replace(good, strings.Repeat("07", 32), strings.Repeat("ff", 32), 1),
		"too long":        good + strings.Repeat(" ", maxFile),
	} {
		if _, err := parse([]byte(bad)); !errors.Is(err, ErrKeyFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// No way of printing shows the key.
func TestKeyIsNotPrinted(t *testing.T) {
	k := key(t, 7)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		if got := fmt.Sprintf(verb, k) + fmt.Sprintf(verb, struct{ K *Key }{k}); strings.Contains(got, "0707") || strings.Contains(got, "7 7") || strings.Contains(got, "[7") {
			t.Errorf("%s prints %s", verb, got)
		}
	}
	if _, err := json.Marshal(k); err == nil {
		t.Error("a key was written as JSON")
	}
	k.Wipe()
	if !k.key.Key.IsZero() {
		t.Error("a wiped key has a value")
	}
}

func TestNewNeedsRandomness(t *testing.T) {
	if _, err := New(bytes.NewReader(make([]byte, 31))); err == nil {
		t.Error("a key was made of 31 bytes")
	}
	if _, err := New(fixed(0)); err == nil {
		t.Error("a key was made of zeroes")
	}
}

type vector struct {
	Name, Op string
	Input    struct {
		BotSeed  string
		Delegate json.RawMessage
		Fields   json.RawMessage
	}
	Expect struct {
		Error   string
		Request json.RawMessage
	}
	Strict string
}

// TestVectors signs the published set's requests, and those of every further set under
// $VAULT_VECTORS/agentenvelope. Those that a careful implementation refuses to build have a
// test beside the derivation.
func TestVectors(t *testing.T) {
	files := []string{filepath.Join("..", "..", "derive", "testdata", "vectors.json")}
	if dir := os.Getenv("VAULT_VECTORS"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "agentenvelope", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	ran := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var set struct{ Vectors []vector }
		if json.Unmarshal(raw, &set) != nil {
			continue
		}
		for _, v := range set.Vectors {
			if v.Op != "buildMintRequest" || v.Strict != "" || v.Expect.Error != "" {
				continue
			}
			ran++
			t.Run(v.Name, func(t *testing.T) {
				seed, err := hex.DecodeString(strings.TrimPrefix(v.Input.BotSeed, "0x"))
				if err != nil {
					t.Fatal(err)
				}
				k, err := fromBytes((*[32]byte)(seed))
				if err != nil {
					t.Fatal(err)
				}
				d, err := envelope.ParseMintDelegate(v.Input.Delegate)
				if err != nil {
					t.Fatal(err)
				}
				f, err := envelope.ParseRequestFields(v.Input.Fields)
				if err != nil {
					t.Fatal(err)
				}
				got, err := k.Request(d, f)
				if err != nil {
					t.Fatal(err)
				}
				want, err := envelope.ParseMintRequest(v.Expect.Request)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Canonical(), want.Canonical()) {
					t.Errorf("got  %s\nwant %s", got.Canonical(), want.Canonical())
				}
			})
		}
	}
	if ran < 3 {
		t.Errorf("%d vectors ran", ran)
	}
}

func FuzzParse(f *testing.F) {
	k, err := New(fixed(7))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"type":"agentvault.botKey","version":1,"address":"` + k.Address() + `","key":"0x` + strings.Repeat("07", 32) + `"}`))
	f.Add([]byte(`{"type":"agentvault.botKey"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		k, err := parse(raw)
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "k")
		if err := k.Save(path); err != nil {
			t.Fatal(err)
		}
		again, err := Load(path)
		if err != nil || again.Address() != k.Address() {
			t.Errorf("what parses does not come back: %v", err)
		}
	})
}

func TestProve(t *testing.T) {
	k := key(t, 7)
	c := envelope.BotChallenge{Client: "c_0000000000000001", Nonce: "0x" + strings.Repeat("11", 32), Vault: strings.Repeat("22", 16)}
	proof := k.Prove(c)
	if err := c.Verify(k.Address(), proof); err != nil {
		t.Error(err)
	}
	other := c
	other.Nonce = "0x" + strings.Repeat("12", 32)
	if other.Verify(k.Address(), proof) == nil || c.Verify(key(t, 8).Address(), proof) == nil {
		t.Error("a proof holds for another nonce or address")
	}
}
