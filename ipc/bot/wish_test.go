package bot

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vault/derive/envelope"
)

const hour = int64(time.Hour / time.Millisecond)

func delegate(t *testing.T, edit func(*envelope.DelegateFields)) *envelope.MintDelegate {
	t.Helper()
	f := envelope.DelegateFields{
		DomainHash: "0x" + strings.Repeat("ab", 32), AllowedOperations: []string{"send-message"}, AllowedResources: []string{"thread:*"},
		BotPolicy: envelope.BotAny, IndexMin: 4, IndexMax: 9, MaxMints: 3, MaxUsesPerAction: 2,
		Window: envelope.Window{NotBefore: envelope.Some(10 * hour), NotAfter: envelope.Some(20 * hour)},
		Nonce:  "0x" + strings.Repeat("11", 32), IssuedAt: "1970-01-01T00:00:00.000Z",
	}
	if edit != nil {
		edit(&f)
	}
	issuer := key(t, 9)
	d, err := envelope.NewMintDelegate(issuer.Address(), f)
	if err != nil {
		t.Fatal(err)
	}
	if d, err = d.Signed(issuer.sign(d.Digest())); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWish(t *testing.T) {
	open, seven := envelope.Opt{}, int64(7)
	at := envelope.Some(15*hour + 1)
	random := "0x" + strings.Repeat("05", 32)
	full := envelope.RequestFields{
		AgentID: "a", Operation: "send-message", Resources: []string{"thread:1"}, ActionIndex: 4, MaxUses: 2,
		Window: envelope.Window{NotBefore: envelope.Some(15 * hour), NotAfter: envelope.Some(16 * hour)},
		Nonce:  random, RequestedAt: "1970-01-01T15:00:00.000Z",
	}
	for name, c := range map[string]struct {
		issued func(*envelope.DelegateFields)
		now    int64 // hours
		wish   func(*Wish)
		want   func(*envelope.RequestFields)
	}{
		"what is left out": {now: 15},
		"near the end": {now: 20, want: func(f *envelope.RequestFields) {
			f.Window = envelope.Window{NotBefore: envelope.Some(20 * hour), NotAfter: envelope.Some(20 * hour)}
			f.RequestedAt = "1970-01-01T20:00:00.000Z"
		}},
		"before the start": {now: 5, want: func(f *envelope.RequestFields) {
			f.Window = envelope.Window{NotBefore: envelope.Some(10 * hour), NotAfter: envelope.Some(11 * hour)}
			f.RequestedAt = "1970-01-01T05:00:00.000Z"
		}},
		"a delegate without": {issued: func(f *envelope.DelegateFields) { f.Window = envelope.Window{} }, now: 15},
		"named": {now: 15, wish: func(w *Wish) { w.ActionIndex, w.Nonce, w.Legitimacy, w.From, w.Until = &seven, "n", "l", &open, &at },
			want: func(f *envelope.RequestFields) {
				f.ActionIndex, f.Nonce, f.LegitimacyID, f.Window = 7, "n", "l", envelope.Window{NotAfter: at}
			}},
		"required legitimacy": {issued: func(f *envelope.DelegateFields) {
			f.Legitimacy = &envelope.LegitimacyRef{LegitimacyID: "x", Required: true}
		}, now: 15, want: func(f *envelope.RequestFields) { f.LegitimacyID = "x" }},
		"other legitimacy": {issued: func(f *envelope.DelegateFields) { f.Legitimacy = &envelope.LegitimacyRef{LegitimacyID: "x"} }, now: 15},
	} {
		t.Run(name, func(t *testing.T) {
			w := Wish{AgentID: "a", Resources: []string{"thread:1"}, MaxUses: 2}
			if c.wish != nil {
				c.wish(&w)
			}
			want := full
			if c.want != nil {
				c.want(&want)
			}
			got, err := w.Fields(delegate(t, c.issued), time.UnixMilli(c.now*hour).UTC(), fixed(5))
			if err != nil || !slices.Equal(got.Resources, want.Resources) {
				t.Fatalf("%+v, %v", got, err)
			}
			got.Resources, want.Resources = nil, nil
			if got.Window != want.Window || got.Nonce != want.Nonce || got.ActionIndex != want.ActionIndex || got.LegitimacyID != want.LegitimacyID ||
				got.Operation != want.Operation || got.RequestedAt != want.RequestedAt || got.MaxUses != want.MaxUses || got.AgentID != want.AgentID {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
	d := delegate(t, func(f *envelope.DelegateFields) { f.AllowedOperations = []string{"a", "b"} })
	if _, err := (Wish{Resources: []string{"r"}}).Fields(d, time.Now(), fixed(5)); !errors.Is(err, ErrOperation) {
		t.Errorf("two operations: %v", err)
	}
	if _, err := (Wish{Operation: "a"}).Fields(d, time.Now(), fixed(5)); !errors.Is(err, ErrResource) {
		t.Errorf("no resource: %v", err)
	}
	if _, err := (Wish{AgentID: "a", MaxUses: 1, Operation: "a", Resources: []string{"r"}}).Fields(d, time.Now(), bytes.NewReader(nil)); err == nil {
		t.Error("a nonce was drawn from nothing")
	}
	early := envelope.Some(1)
	for want, edit := range map[error]func(*Wish){
		ErrWildcard: func(w *Wish) { w.Resources = []string{"r", "thread:*"} },
		ErrUses:     func(w *Wish) { w.MaxUses = 0 },
		ErrWindow:   func(w *Wish) { w.Until = &early },
		ErrAgentID:  func(w *Wish) { w.AgentID = "" },
	} {
		w := Wish{AgentID: "a", MaxUses: 1, Operation: "a", Resources: []string{"r"}}
		edit(&w)
		if _, err := w.Fields(d, time.UnixMilli(15*hour), fixed(5)); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

func TestOutside(t *testing.T) {
	d, k := delegate(t, nil), key(t, 7)
	now := time.UnixMilli(15 * hour)
	ask := func(edit func(*envelope.RequestFields)) string {
		f, err := (Wish{AgentID: "a", Resources: []string{"thread:1"}, MaxUses: 1}).Fields(d, now, fixed(5))
		if err != nil {
			t.Fatal(err)
		}
		edit(&f)
		q, err := k.Request(d, f)
		if err != nil {
			t.Fatal(err)
		}
		return Outside(q.Canonical(), d.Canonical(), key(t, 9).Address(), now)
	}
	for want, edit := range map[string]func(*envelope.RequestFields){
		"":                                       func(*envelope.RequestFields) {},
		"operation not allowed":                  func(f *envelope.RequestFields) { f.Operation = "pay" },
		"resource not allowed: \"x\"":            func(f *envelope.RequestFields) { f.Resources = []string{"x"} },
		"actionIndex out of policy range":        func(f *envelope.RequestFields) { f.ActionIndex = 10 },
		"maxUses exceeds delegate limit":         func(f *envelope.RequestFields) { f.MaxUses = 3 },
		"request timeWindow ends after delegate": func(f *envelope.RequestFields) { f.Window.NotAfter = envelope.Some(20*hour + 1) },
		"the request's own window is over": func(f *envelope.RequestFields) {
			f.Window = envelope.Window{NotBefore: envelope.Some(11 * hour), NotAfter: envelope.Some(15*hour - 1)}
		},
	} {
		if got := ask(edit); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := Outside([]byte(`{}`), d.Canonical(), "", now); got == "" {
		t.Error("an empty request is inside")
	}
}
