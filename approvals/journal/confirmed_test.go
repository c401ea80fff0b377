package journal

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
)

// TestConfirmationsStayTheSame holds what a confirmation is over, to the byte: passkeys have signed it, and receipts are
// checked against it for ever. The texts are Kind, Digest, and the first half of the SHA-256 of act, body, document and role.
func TestConfirmationsStayTheSame(t *testing.T) {
	b := newBook(t)
	at := b.at
	list := map[string]Entry{}
	add := func(name string, kind Kind, body any) {
		b.at = at
		list[name] = b.make(kind, body)
	}
	for _, some := range []map[Kind]any{someOf(b), someMints(), someSoW(b)} {
		for kind, body := range some {
			add(string(kind), kind, body)
		}
	}
	used := signed(4, "")
	used.By, used.Moment, used.Confirmation = "passkey", testMoment, testHash(2)
	amended := b.formed(1)
	amended.Version = 3
	add("action.signed by passkey", KindActionSigned, used)
	add("passkey.added by passkey", KindPasskeyAdded, PasskeyAdded{"pQECAyYg", "security_key", true, "localhost", "passkey", testHash(1)})
	add("act.confirmed protection.change", KindActConfirmed, ActConfirmed{"protection.change", "passphrase", "keyring", testHash(1), testHash(2)})
	add("act.confirmed card.export", KindActConfirmed, ActConfirmed{"card.export", "", "", testHash(1), testHash(2)})
	add("sow.signed above version 1", KindSoWSigned, amended)
	add("sow.act_signed termination", KindSoWActSigned, act(b, "termination", 1, 1))
	add("sow.act_signed denial", KindSoWActSigned, act(b, "denial", 1, 1))
	got := map[string]string{}
	for name, e := range list {
		c, ok := e.Confirmation()
		if ok && c.Record != e.Record() {
			t.Errorf("%s: the confirmation names %q, the entry %q", name, c.Record, e.Record())
		}
		if !ok {
			if !reflect.DeepEqual(c, Confirmed{}) {
				t.Errorf("%s: no confirmation, and %+v", name, c)
			}
			continue
		}
		about := ""
		if c.Document != nil {
			about = fmt.Sprint(*c.Document)
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%s", c.Act, c.Body, about, c.Role))
		got[name] = fmt.Sprintf("%s %s %x", c.Kind, c.Digest, sum[:16])
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if got[name] != confirmations[name] {
			t.Errorf("%q: %q,", name, got[name])
		}
	}
	for name := range confirmations {
		if _, ok := got[name]; !ok {
			t.Errorf("%s has no confirmation", name)
		}
	}
}

var confirmations = map[string]string{
	"act.confirmed":                   "recovery.show afa2c2d879a1180b3a90c09152a9f355e46263699f7690455acc6704ad0399a5 cecbcd4f2934460aa47dfd9d91f4238c",
	"act.confirmed card.export":       "card.export 0000000000000000000000000000000000000000000000000000000000000001 6a3cf5192354f71615ac51034b3e97c2",
	"act.confirmed protection.change": "protection.change 80edb3c57a9cd52e7b4c09d1399c9df13e79a59006bb5cc6b15f68d89960a7d5 6bcdcc6ddeb38fad87afecaa2e6b0081",
	"action.signed":                   "action.sign a7873813b2122a99a6470ca2c1867a18544add6c9dfd21a3d69d2a636c67f872 1bc55e8b832567aee8cc88a28aaeb1eb",
	"action.signed by passkey":        "action.sign 01093d736e6e42740452e0a824b2383ec215772618834adb8ca7c4af99998aa5 d8467c307f941b954ca480a95219fa35",
	"client.paired":                   "client.pair 0000000000000000000000000000000000000000000000000000000000000003 c1218b7e1aa598df5c09f76cc3f1e1d4",
	"delegate.admitted":               "instance.readmit 0e515b19cb5ed4e8474f56943d4d82037a3d9c50d41a3daf32823c2e27dd0374 8a4e3128edb17a872a772e8559117a33",
	"delegate.issued":                 "mint.delegate 0000000000000000000000000000000000000000000000000000000000000014 560f37fa89fba3efe1521e9838b75469",
	"delegate.resumed":                "instance.readmit 1c5b876230ea16376775d2827da635b847b3924bacbb0363cc3fd59b98696ffe 47ca30e6f999ad0d906511dbe6049dd4",
	"grant.made":                      "grant.make 0000000000000000000000000000000000000000000000000000000000000004 05bda22340050aa39022d93fb6f3e3ed",
	"instance.readmitted":             "instance.readmit 6193a16537521dd0fdfbd656f1031314cb5ef79ae19714e2432ac3ce9b88588f 4c3d83e93b0e380f74c355626201151d",
	"mint.exported":                   "mint.export 17c73e9f4c7b1f941e4d7fdb6710406c5503eba7b7b68b59e842c2d957868ff9 15a78d68d976003dec24ec5ddd0cc4bc",
	"moment.declined":                 "moment.resolution 0000000000000000000000000000000000000000000000000000000000000003 0e908a7f1badbd6451aa37cc0c48bff6",
	"moment.resolved":                 "moment.resolution 0000000000000000000000000000000000000000000000000000000000000004 374162d387ccad4b0f5c0e778cd2da43",
	"passkey.added":                   "passkey.try fb07539e6a2d5eb3a2765c7be17c872f3cc42379d9cd5d51d1f0b1dd35270ec1 a81e358f31fdbb64474f87b142c2b18f",
	"passkey.added by passkey":        "passkey.add 7fbbe4c6c34ccad2b8457fa24377d65816517d594920bec510519f087aefa81e 97d62b077d60b60d5623e1fa2285ded5",
	"passkey.removed":                 "passkey.remove 4802c98043e83b7c24ed42923004b9736633e7f8717593d9c0fd7f62864ab2fe 88c31404e032a1b36bb41b760729e958",
	"policy.changed":                  "policy.loosen b234f33c595d05cb11029087afd2889fae3c27f6561880be2efd90ab2078fc43 238a989898f8b59e8c73b5c15d80c094",
	"request.answered":                "request.decline db3ce2fa13bf635e0daf2c13d96e6cefee872497c8d9f7af671713783b0883b5 f37f7a0b54842004084d5c5f8f9c3274",
	"socket.added":                    "socket.add 4afbcc0d89ac17c7058b186c1af32c2f9c8d339645edb7601ea7878aaddc042a 9cfd61e45adbbd2723a61a8e5128f34e",
	"sow.act_signed":                  "sow.dispute 0000000000000000000000000000000000000000000000000000000000000046 9bb52d4fb57c94167fb06bfdb8803c8f",
	"sow.act_signed termination":      "sow.terminate 0000000000000000000000000000000000000000000000000000000000000046 3b9e720a54941c5a4157351732f62008",
	"sow.preauthorised":               "sow.preauthorise 0000000000000000000000000000000000000000000000000000000000000005 c26a4a0dd92929aadf2c045e086a7385",
	"sow.signed":                      "sow.countersign 0000000000000000000000000000000000000000000000000000000000000001 7e58cfb88d0adb4ff5faa0cdac0597cb",
	"sow.signed above version 1":      "sow.amend 0000000000000000000000000000000000000000000000000000000000000001 f8df153b735960d735447f948febbac7",
}

// TestByIsWhatTheBodySays: a body that says by what it is made is believed, and one that can only be confirmed is by passkey.
func TestByIsWhatTheBodySays(t *testing.T) {
	b := newBook(t)
	for _, some := range []map[Kind]any{someOf(b), someMints(), someSoW(b)} {
		for kind, body := range some {
			e := b.make(kind, body)
			_, confirmed := body.(confirmable)
			want := ""
			switch by := reflect.ValueOf(body).FieldByName("By"); {
			case confirmed && by.IsValid():
				want = by.String()
			case confirmed && e.Record() != "":
				want = "passkey"
			case kind == KindMintedSigned:
				want = "delegate"
			}
			if e.By() != want {
				t.Errorf("%s is by %q, not %q", kind, e.By(), want)
			}
		}
	}
}

// TestWhatNamesARecordIsConfirmable holds that no kind is forgotten: what names a record says so, and what is confirmed does
// not depend on the record, for it is made before there is one.
func TestWhatNamesARecordIsConfirmable(t *testing.T) {
	b := newBook(t)
	for _, some := range []map[Kind]any{someOf(b), someMints(), someSoW(b)} {
		for kind, body := range some {
			v := reflect.New(reflect.TypeOf(body)).Elem()
			v.Set(reflect.ValueOf(body))
			field := v.FieldByName("Confirmation")
			c, ok := body.(confirmable)
			if ok != field.IsValid() {
				t.Errorf("%s: it names a record: %v; it is confirmable: %v", kind, field.IsValid(), ok)
			}
			if !ok {
				continue
			}
			field.SetString(testHash(77))
			other := v.Interface().(confirmable)
			if other.record() != testHash(77) {
				t.Errorf("%s: the record is %q", kind, other.record())
			}
			before, _ := c.confirmed()
			if after, ok := other.confirmed(); !ok || !reflect.DeepEqual(before, after) {
				t.Errorf("%s: with another record it is confirmed as %+v, not %+v", kind, after, before)
			}
		}
	}
}
