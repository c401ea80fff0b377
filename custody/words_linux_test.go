package custody

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cosmos/go-bip39"
)

// entropyVectors are published BIP-39 vectors for 256 bits.
var entropyVectors = map[string]string{
	"68a79eaca2324873eacc50cb9c6eca8cc68ea5d936f98787c60c7ebc74e6ce7c": "hamster diagram private dutch cause delay private meat slide toddler razor book happy fancy gospel tennis maple dilemma loan word shrug inflict delay length",
	"9f6a2878b2520799a44ef18bc7df394e7061a224d2c33cd015b157d746869863": "panda eyebrow bullet gorilla call smoke muffin taste mesh discover soft ostrich alcohol speed nation flash devote level hobby quick inner drive ghost inside",
	"066dca1a2bb7e8a1db2832148ce9933eea0f3ac9548d793112d9a95c9407efad": "all hour make first leader extend hole alien behind guard gospel lava path output census museum junior mass reopen famous sing advance salt reform",
	"f585c11aec520db57dd353c69554b21a89b20fb0650966fa0a9d6f74fd989d8f": "void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing screen patrol group space point ten exist slush involve unfold",
}

func TestWordsVectors(t *testing.T) {
	for text, want := range entropyVectors {
		t.Run(text[:8], func(t *testing.T) {
			root, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			words, err := Words(root)
			if err != nil {
				t.Fatal(err)
			}
			defer words.Destroy()
			if string(words.Bytes()) != want {
				t.Errorf("got %s", words.Bytes())
			}
			for _, spelling := range []string{want, strings.ToUpper(want), "  " + strings.ReplaceAll(want, " ", "\r\n\t ") + "\n", "0x" + text, " 0X" + strings.ToUpper(text) + "\n"} {
				back, err := ParseRoot([]byte(spelling))
				if err != nil || !bytes.Equal(back.Bytes(), root) {
					t.Errorf("%q: %v", spelling, err)
				}
				back.Destroy()
			}
		})
	}
}

// TestWordsAgreeWithLibrary compares with the library's own packing, leading zeros included.
func TestWordsAgreeWithLibrary(t *testing.T) {
	for i := range 300 {
		root := make([]byte, 32)
		rand.Read(root)
		clear(root[:i%32])
		root[31] |= 1
		want, err := bip39.NewMnemonic(root)
		if err != nil {
			t.Fatal(err)
		}
		words, err := Words(root)
		if err != nil || string(words.Bytes()) != want {
			t.Fatalf("%x: %v", root, err)
		}
		back, err := ParseWords(words.Bytes())
		if err != nil || !bytes.Equal(back.Bytes(), root) {
			t.Fatalf("%x: %v", root, err)
		}
		words.Destroy()
		back.Destroy()
	}
}

func TestParseRootRefuses(t *testing.T) {
	good := strings.Fields(entropyVectors["68a79eaca2324873eacc50cb9c6eca8cc68ea5d936f98787c60c7ebc74e6ce7c"])
	swap := func(i int, w string) string {
		c := append([]string{}, good...)
		c[i] = w
		return strings.Join(c, " ")
	}
	zero, err := Words(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		want *Error
	}{
		"empty":        {"", ErrWordCount},
		"23":           {strings.Join(good[:23], " "), ErrWordCount},
		"25":           {strings.Join(append(good[:24:24], "book"), " "), ErrWordCount},
		"unknown":      {swap(11, "bok"), ErrWordUnknown},
		"prefix":       {swap(11, "boo"), ErrWordUnknown},
		"commas":       {strings.Join(good, ","), ErrWordCount},
		"checksum":     {swap(0, "panda"), ErrWordsChecksum},
		"order":        {strings.Join(append([]string{good[1], good[0]}, good[2:]...), " "), ErrWordsChecksum},
		"zero":         {string(zero.Bytes()), ErrRootWeak},
		"zero hex":     {"0x" + strings.Repeat("00", 32), ErrRootWeak},
		"repeated hex": {"0x" + strings.Repeat("5a", 32), ErrRootWeak},
		"short hex":    {"0x" + strings.Repeat("5a", 31), ErrRootHex},
		"long hex":     {"0x" + strings.Repeat("5a", 33), ErrRootHex},
		"no hex":       {"0x" + strings.Repeat("5g", 32), ErrRootHex},
		"bare hex":     {strings.Repeat("5a", 32), ErrWordCount},
	} {
		t.Run(name, func(t *testing.T) {
			root, err := ParseRoot([]byte(c.text))
			if !errors.Is(err, c.want) || root != nil {
				t.Errorf("got %v", err)
			}
		})
	}
	var place *WordError
	if _, err := ParseRoot([]byte(swap(11, "secretword"))); !errors.As(err, &place) || place.Place != 12 || strings.Contains(err.Error(), "secretword") {
		t.Errorf("%v", err)
	}
}

func FuzzParseRoot(f *testing.F) {
	for text, words := range entropyVectors {
		f.Add([]byte(words))
		f.Add([]byte("0x" + text))
	}
	f.Add([]byte(strings.Repeat("abandon ", 23) + "art"))
	f.Fuzz(func(t *testing.T, text []byte) {
		root, err := ParseRoot(text)
		if err != nil {
			if CodeOf(err) == "" {
				t.Fatalf("untyped: %v", err)
			}
			return
		}
		defer root.Destroy()
		words, err := Words(root.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		defer words.Destroy()
		// What parses is, up to case and blanks, what is written.
		canonical := strings.ToLower(strings.Join(strings.FieldsFunc(string(text), isBlank), " "))
		if canonical != string(words.Bytes()) && canonical != "0x"+hex.EncodeToString(root.Bytes()) {
			t.Errorf("%q is read as %s", text, words.Bytes())
		}
	})
}

func FuzzParseSealed(f *testing.F) {
	b := newBench(f)
	for _, p := range protections {
		b.cfg.Dir += "x"
		v, err := Create(f.Context(), b.cfg, b.request(f, p))
		if err != nil {
			f.Fatal(err)
		}
		v.wipe()
		f.Add(b.file(f)[:len(b.file(f))-sumLen])
	}
	f.Add([]byte(magic + "\x00\x02 a newer format"))
	f.Fuzz(func(t *testing.T, body []byte) {
		file := resum(append(bytes.Clone(body), make([]byte, sumLen)...))
		s, err := parseSealed(file)
		if err != nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewerFormat) {
				t.Fatalf("untyped: %v", err)
			}
			return
		}
		if again := encodeHeader(s.Header, s.nonce, len(s.box)); !bytes.Equal(again, file[:headerLen]) {
			t.Errorf("the header %x is read as %x", file[:headerLen], again)
		}
		if s.Protection.UsesPassphrase() && s.Params.Check() != nil {
			t.Error("a cost out of bounds")
		}
	})
}

func FuzzParseInside(f *testing.F) {
	f.Add([]byte(`{"instance_id":"00000000000000000000000000000000","restored_at":0,"generation":1,"anchored":true,"place":"0x0000000000000000000000000000000000000000000000000000000000000000","log":{"seq":0,"hash":"0x0000000000000000000000000000000000000000000000000000000000000000"},"words_shown":false,"first_passkey_at":0}`))
	f.Add([]byte(`{"passkeys":[{"a":1}],"policy":{}}`))
	f.Add([]byte(`{} {}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := parseInside(b)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("untyped: %v", err)
			}
			return
		}
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseInside(text)
		if err != nil || fmt.Sprintf("%+v", again.Log) != fmt.Sprintf("%+v", in.Log) || again.Generation != in.Generation {
			t.Errorf("%s does not come back: %v", text, err)
		}
	})
}

func FuzzParseAnchor(f *testing.F) {
	f.Add(anchor{5, Head{7, Hash{7}}}.text())
	f.Fuzz(func(t *testing.T, s string) {
		if a, err := parseAnchor(s); err == nil && a.text() != s {
			t.Errorf("%q is read as %q", s, a.text())
		}
	})
}

func TestSecretRedacts(t *testing.T) {
	s, err := NewSecret(9)
	if err != nil {
		t.Fatal(err)
	}
	copy(s.Bytes(), "very dark")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T %v"} {
		args := []any{s}
		if strings.HasPrefix(verb, "%T") {
			args = []any{s, s}
		}
		text := fmt.Sprintf(verb, args...)
		if strings.Contains(text, "very") || strings.Contains(text, "76657279") || !strings.Contains(text, "[secret]") {
			t.Errorf("%s: %s", verb, text)
		}
	}
	if b, err := json.Marshal(map[string]any{"s": s}); err == nil {
		t.Errorf("encoded as %s", b)
	}
	if b, err := s.MarshalText(); err == nil {
		t.Errorf("encoded as %s", b)
	}
	t.Logf("memory: %s", s.Kind())
	s.Wipe()
	if !bytes.Equal(s.Bytes(), make([]byte, 9)) {
		t.Error("not wiped")
	}
	s.Destroy()
	s.Destroy()
	if s.Len() != 0 || (*Secret)(nil).Len() != 0 {
		t.Error("a destroyed secret has bytes")
	}
	for _, n := range []int{0, -1, 2<<20 + 1} {
		if _, err := NewSecret(n); err == nil {
			t.Errorf("%d bytes were allocated", n)
		}
	}
}

func TestSecretFill(t *testing.T) {
	for text, want := range map[string]string{"": "", "ab": "ab", "abcdef": "abcd"} {
		s, err := NewSecret(4)
		if err != nil {
			t.Fatal(err)
		}
		n, err := s.Fill(strings.NewReader(text))
		if err != nil || string(s.Bytes()[:n]) != want {
			t.Errorf("%q: %q %v", text, s.Bytes()[:n], err)
		}
		s.Destroy()
	}
}
