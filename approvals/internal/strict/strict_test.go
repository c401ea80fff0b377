package strict

import (
	"strings"
	"testing"
)

func TestObject(t *testing.T) {
	const good = `{"a":"x","b":3,"c":true,"d":{"e":1}}`
	read := func(o *Object) error {
		o.Text("a", Is("x"))
		o.Int("b", 1, 3)
		o.Flag("c")
		d := o.Sub("d")
		if err := o.Done(); err != nil {
			return err
		}
		d.Int("e", 1, 1)
		return d.Done()
	}
	for name, text := range map[string]string{
		"good":               good,
		"member missing":     `{"a":"x","b":3,"d":{"e":1}}`,
		"member more":        `{"a":"x","b":3,"c":true,"d":{"e":1},"f":1}`,
		"member more inside": `{"a":"x","b":3,"c":true,"d":{"e":1,"f":1}}`,
		"another text":       `{"a":"y","b":3,"c":true,"d":{"e":1}}`,
		"text for a number":  `{"a":"x","b":"3","c":true,"d":{"e":1}}`,
		"out of bounds":      `{"a":"x","b":4,"c":true,"d":{"e":1}}`,
		"number for a flag":  `{"a":"x","b":3,"c":1,"d":{"e":1}}`,
		"list for an object": `{"a":"x","b":3,"c":true,"d":[1]}`,
		"null":               `{"a":null,"b":3,"c":true,"d":{"e":1}}`,
		"a space":            `{"a":"x", "b":3,"c":true,"d":{"e":1}}`,
		"another order":      `{"b":3,"a":"x","c":true,"d":{"e":1}}`,
		"another spelling":   `{"a":"\u0078","b":3,"c":true,"d":{"e":1}}`,
		"a number spelled":   `{"a":"x","b":3.0,"c":true,"d":{"e":1}}`,
		"a name twice":       `{"a":"x","a":"x","b":3,"c":true,"d":{"e":1}}`,
		"a list":             `["a"]`,
	} {
		t.Run(name, func(t *testing.T) {
			o, err := Parse([]byte(text))
			if err == nil {
				err = read(o)
			}
			if (err == nil) != (text == good) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestExtraInt(t *testing.T) {
	for text, want := range map[string]int64{`{}`: 0, `{"n":1}`: 1, `{"n":3}`: 3, `{"n":0}`: -1, `{"n":4}`: -1, `{"n":"1"}`: -1, `{"n":null}`: -1} {
		o, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		n := o.ExtraInt("n", 1, 3)
		if err := o.Done(); (err == nil) != (want >= 0) || err == nil && n != want {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	}
}

func TestForms(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 4)
	for _, tt := range []struct {
		name string
		ok   func(string) bool
		yes  []string
		no   []string
	}{
		{"hash", Hash, []string{"0x" + hex}, []string{"", hex, "0x" + strings.ToUpper(hex), "0x" + hex + "0", "0X" + hex}},
		{"address", Address, []string{"0x" + hex[:40], "0x" + strings.ToUpper(hex[:40])}, []string{"", "0x" + hex[:39], "0x" + hex[:39] + "g", "0x" + hex[:39] + "@"}},
		{"id", ID, []string{hex[:32]}, []string{"", hex[:31], strings.ToUpper(hex[:32])}},
		{"client", Client, []string{"c_" + hex[:16]}, []string{"", "g_" + hex[:16], "c_" + hex[:15]}},
		{"grant", Grant, []string{"g_" + hex[:16]}, []string{"", "c_" + hex[:16], "g_" + hex[:17]}},
		{"pin", Pin, []string{"k_" + hex[:16]}, []string{"", "c_" + hex[:16], "k_" + hex[:17], "k_" + strings.ToUpper(hex[:16])}},
		{"pre-authorisation", Preauthorisation, []string{"sp_" + hex[:16]}, []string{"", "s_" + hex[:17], "sp_" + hex[:15]}},
		{"engagement", Engagement, []string{"e_" + hex[:32]}, []string{"", "c_" + hex[:32], "e_" + hex[:31]}},
		{"moment", Moment, []string{"m_" + hex}, []string{"", "e_" + hex, "m_" + hex[:63]}},
		{"digest", Digest, []string{"sha256:" + hex}, []string{"", "0x" + hex, "sha256:" + hex[:63], "sha256:" + strings.ToUpper(hex)}},
		{"nkey", NKey, []string{"U" + strings.Repeat("A2", 27) + "Z"}, []string{"", "A" + strings.Repeat("A", 55), "U" + strings.Repeat("a", 55), "U" + strings.Repeat("1", 55)}},
		{"empty or hash", Empty(Hash), []string{"", "0x" + hex}, []string{"0x"}},
		{"some", Some(3), []string{"a", "abc"}, []string{"", "abcd", "\xff"}},
		{"up to", UpTo(3), []string{"", "abc"}, []string{"abcd"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, s := range tt.yes {
				if !tt.ok(s) {
					t.Errorf("refuses %q", s)
				}
			}
			for _, s := range tt.no {
				if tt.ok(s) {
					t.Errorf("accepts %q", s)
				}
			}
		})
	}
}
