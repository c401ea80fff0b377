package backup

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"

	"filippo.io/age"
)

func keys(t *testing.T) ([]age.Recipient, []age.Identity) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return []age.Recipient{id.Recipient()}, []age.Identity{id}
}

func passphrase(t *testing.T) ([]age.Recipient, []age.Identity) {
	t.Helper()
	r, err := age.NewScryptRecipient("a passphrase of the owner")
	if err != nil {
		t.Fatal(err)
	}
	r.SetWorkFactor(10)
	i, err := age.NewScryptIdentity("a passphrase of the owner")
	if err != nil {
		t.Fatal(err)
	}
	return []age.Recipient{r}, []age.Identity{i}
}

func parts() []Part {
	return []Part{
		{"sealed", 6, strings.NewReader("sealed")},
		{"log", 200_000, bytes.NewReader(bytes.Repeat([]byte{7}, 200_000))},
		{"store", 0, strings.NewReader("")},
	}
}

func collect(b []byte, ids []age.Identity) (map[string]string, error) {
	got := map[string]string{}
	err := Read(bytes.NewReader(b), ids, func(p Part) error {
		text, err := io.ReadAll(p.Data)
		got[p.Name] = string(text)
		return err
	})
	return got, err
}

func TestBackupComesBack(t *testing.T) {
	for name, make := range map[string]func(*testing.T) ([]age.Recipient, []age.Identity){"key": keys, "passphrase": passphrase} {
		t.Run(name, func(t *testing.T) {
			to, ids := make(t)
			var b bytes.Buffer
			if err := Write(&b, to, parts()); err != nil {
				t.Fatal(err)
			}
			got, err := collect(b.Bytes(), ids)
			want := map[string]string{"sealed": "sealed", "log": strings.Repeat("\a", 200_000), "store": ""}
			if err != nil || !maps.Equal(got, want) {
				t.Errorf("%d parts, %v", len(got), err)
			}
			_, others := keys(t)
			if _, err := collect(b.Bytes(), others); err == nil {
				t.Error("another key opened it")
			}
		})
	}
}

func TestDamagedBackupIsNoticed(t *testing.T) {
	to, ids := keys(t)
	var b bytes.Buffer
	if err := Write(&b, to, parts()); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	for n := 0; n < len(whole); n += 997 {
		if _, err := collect(whole[:n], ids); err == nil {
			t.Errorf("cut to %d bytes: not noticed", n)
		}
		bad := bytes.Clone(whole)
		bad[n] ^= 1
		if _, err := collect(bad, ids); err == nil {
			t.Errorf("byte %d changed: not noticed", n)
		}
	}
	if _, err := collect(append(bytes.Clone(whole), 0), ids); err == nil {
		t.Error("a byte more: not noticed")
	}
}

func TestWriteRefuses(t *testing.T) {
	to, _ := keys(t)
	for name, p := range map[string][]Part{
		"path":      {{"../x", 0, strings.NewReader("")}},
		"empty":     {{"", 0, strings.NewReader("")}},
		"twice":     {{"a", 0, strings.NewReader("")}, {"a", 0, strings.NewReader("")}},
		"version":   {{versionName, 0, strings.NewReader("")}},
		"too short": {{"a", 2, strings.NewReader("x")}},
		"too long":  {{"a", 1, strings.NewReader("xy")}},
		"negative":  {{"a", -1, strings.NewReader("")}},
		"many":      make([]Part, maxParts+1),
	} {
		t.Run(name, func(t *testing.T) {
			if err := Write(io.Discard, to, p); err == nil {
				t.Error("written")
			}
		})
	}
}

func TestOtherAgeFileIsNoBackup(t *testing.T) {
	to, ids := keys(t)
	var b bytes.Buffer
	w, err := age.Encrypt(&b, to...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(bytes.Repeat([]byte("some text "), 200)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := collect(b.Bytes(), ids); !errors.Is(err, ErrNotBackup) {
		t.Errorf("got %v", err)
	}
}

func TestUnreadPartIsAnError(t *testing.T) {
	to, ids := keys(t)
	var b bytes.Buffer
	if err := Write(&b, to, parts()); err != nil {
		t.Fatal(err)
	}
	if err := Read(bytes.NewReader(b.Bytes()), ids, func(Part) error { return nil }); !errors.Is(err, ErrUnread) {
		t.Errorf("got %v", err)
	}
}
