package journal

import (
	"errors"
	"fmt"
	"strconv"

	"vault/approvals/internal/strict"
	"vault/approvals/permit"
	"vault/derive/jcs"
)

// MaxEntry is the size limit of an entry's canonical bytes.
const MaxEntry = 64 << 10

// EntryType is the type member of every entry.
const EntryType = "vault.logEntry"

// ErrNotAnEntry is wrapped by every error of [Parse].
var ErrNotAnEntry = errors.New("not a log entry")

// New makes an entry and returns its canonical bytes and their hash, 0x and 64
// hex digits. Body is one of the body types of this package; at is milliseconds
// since epoch. What New returns, Parse accepts.
func New(instance string, seq uint64, prev string, at int64, kind Kind, body any) (raw []byte, hash string, err error) {
	e, err := Make(instance, seq, prev, at, kind, body)
	if err != nil {
		return nil, "", err
	}
	return e.raw, e.hash, nil
}

// Make is [New] for whoever goes on with the entry as Parse reads it.
func Make(instance string, seq uint64, prev string, at int64, kind Kind, body any) (Entry, error) {
	b, err := jcs.Marshal(body, jcs.Binding)
	if err != nil {
		return Entry{}, fmt.Errorf("make log entry: %w", err)
	}
	// The member names in the order of RFC 8785. The texts need no escaping,
	// or Parse refuses them.
	raw := make([]byte, 0, 256+len(b))
	raw = append(raw, `{"at":`...)
	raw = strconv.AppendInt(raw, at, 10)
	raw = append(raw, `,"body":`...)
	raw = append(raw, b...)
	raw = append(raw, `,"instance":"`...)
	raw = append(raw, instance...)
	raw = append(raw, `","kind":"`...)
	raw = append(raw, kind...)
	raw = append(raw, `","prev":"`...)
	raw = append(raw, prev...)
	raw = append(raw, `","seq":`...)
	raw = strconv.AppendUint(raw, seq, 10)
	raw = append(raw, `,"type":"`+EntryType+`","v":1}`...)
	e, err := Parse(raw)
	if err != nil {
		return Entry{}, fmt.Errorf("make log entry: %w", err)
	}
	return e, nil
}

// Parse reads one entry. The bytes must be canonical under the binding
// profile, at most MaxEntry long, with exactly the members of an entry, a known
// kind, and exactly the body of that kind. It keeps raw, which must not be
// changed afterwards. Every error wraps ErrNotAnEntry.
func Parse(raw []byte) (Entry, error) {
	e, err := parse(raw)
	if err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrNotAnEntry, err)
	}
	return e, nil
}

func parse(raw []byte) (Entry, error) {
	if len(raw) > MaxEntry {
		return Entry{}, fmt.Errorf("more than %d bytes", MaxEntry)
	}
	o, err := strict.Parse(raw)
	if err != nil {
		return Entry{}, err
	}
	o.Text("type", strict.Is(EntryType))
	o.Int("v", 1, 1)
	e := Entry{
		Instance: o.Text("instance", strict.ID),
		Seq:      uint64(o.Int("seq", 1, strict.MaxInt)),
		Prev:     o.Text("prev", strict.Hash),
		At:       o.Int("at", 0, strict.MaxInt),
		Kind:     Kind(o.Text("kind", strict.Some(64))),
	}
	body := o.Sub("body")
	if err := o.Done(); err != nil {
		return Entry{}, err
	}
	if (e.Seq == 1) != (e.Prev == Zero) {
		return Entry{}, errors.New("only the first entry has no entry before it")
	}
	read, ok := bodies[e.Kind]
	if !ok {
		read, ok = mintBodies[e.Kind]
	}
	if !ok {
		read, ok = sowBodies[e.Kind]
	}
	if !ok {
		return Entry{}, errors.New("unknown kind")
	}
	e.decoded = read(body)
	if err := body.Done(); err != nil {
		return Entry{}, fmt.Errorf("body: %w", err)
	}
	e.raw, e.hash = raw, HashOf(raw)
	return e, nil
}

// Raw returns the canonical bytes. They must not be changed.
func (e Entry) Raw() []byte { return e.raw }

// Hash returns the hash of the canonical bytes, 0x and 64 hex digits.
func (e Entry) Hash() string { return e.hash }

// Decoded returns the body as the type of its kind: Created, ActionSigned and so on.
func (e Entry) Decoded() any { return e.decoded }

// Limits of texts in bodies, in bytes.
const (
	maxName    = 256
	maxCode    = 64
	maxSetting = 1024
	maxRequest = 256
)

var by = strict.Is("click", "grant", "passkey")
var byPerson = strict.Is("click", "passkey")
var clientOrNone = strict.Empty(strict.Client)

// bodies reads the body of each kind.
var bodies = map[Kind]func(*strict.Object) any{
	KindCreated: func(o *strict.Object) any {
		return Created{
			Vault:    o.Text("vault", strict.ID),
			OwnerKey: o.Text("owner_key", strict.NKey),
			LogKey:   o.Text("log_key", strict.NKey),
			Demo:     o.Flag("demo"),
		}
	},
	KindInstanceStarted: func(o *strict.Object) any {
		return InstanceStarted{
			Vault:    o.Text("vault", strict.ID),
			OwnerKey: o.Text("owner_key", strict.NKey),
			LogKey:   o.Text("log_key", strict.NKey),
			Reason:   o.Text("reason", strict.Is("restored", "copied", "rolled_back")),
		}
	},
	KindUnlocked: func(o *strict.Object) any {
		return Unlocked{Protection: o.Text("protection", strict.Some(maxCode))}
	},
	KindLocked: func(o *strict.Object) any {
		return Locked{Reason: o.Text("reason", strict.Is("asked", "idle", "suspend", "quit", "store", "ended"))}
	},
	KindWordsShown: func(o *strict.Object) any {
		return WordsShown{When: o.Text("when", strict.Is("creation", "later"))}
	},
	KindProtectionChanged: func(o *strict.Object) any {
		return ProtectionChanged{
			From: o.Text("from", strict.Some(maxCode)),
			To:   o.Text("to", strict.Some(maxCode)),
		}
	},
	KindSettingChanged: func(o *strict.Object) any {
		return SettingChanged{
			Name: o.Text("name", strict.Some(maxCode)),
			From: o.Text("from", strict.UpTo(maxSetting)),
			To:   o.Text("to", strict.UpTo(maxSetting)),
		}
	},
	KindDomainCreated: func(o *strict.Object) any {
		return DomainCreated{
			DomainHash:    o.Text("domain_hash", strict.Hash),
			DomainID:      o.Text("domain_id", strict.Some(maxSetting)),
			DomainAddress: o.Text("domain_address", strict.Address),
			PermitSHA256:  o.Text("permit_sha256", strict.Hash),
		}
	},
	KindClientPaired: func(o *strict.Object) any {
		return ClientPaired{
			Client:       o.Text("client", strict.Client),
			Name:         o.Text("name", strict.Some(maxName)),
			By:           o.Text("by", byPerson),
			PermitSHA256: o.Text("permit_sha256", strict.Hash),
			Replaces:     o.Text("replaces", strict.Empty(strict.Hash)),
			Confirmation: o.Extra("confirmation", strict.Hash),
		}
	},
	KindClientEnded: func(o *strict.Object) any {
		return ClientEnded{
			Client: o.Text("client", strict.Client),
			Reason: o.Text("reason", strict.Is("revoked", "blocked")),
		}
	},
	KindGrantMade: func(o *strict.Object) any {
		return GrantMade{
			Grant:        o.Text("grant", strict.Grant),
			Client:       o.Text("client", strict.Client),
			EnvelopeHash: o.Text("envelope_hash", strict.Hash),
			Uses:         o.Int("uses", 1, strict.MaxInt),
			NotAfter:     o.Int("not_after", 0, strict.MaxInt),
			By:           o.Text("by", byPerson),
			PermitSHA256: o.Text("permit_sha256", strict.Hash),
			Confirmation: o.Extra("confirmation", strict.Hash),
		}
	},
	KindGrantEnded: func(o *strict.Object) any {
		return GrantEnded{
			Grant:  o.Text("grant", strict.Grant),
			Reason: o.Text("reason", strict.Is("revoked", "client_ended", "contradiction")),
		}
	},
	KindActionSigned: func(o *strict.Object) any {
		return ActionSigned{
			Request:      o.Text("request", strict.Some(maxRequest)),
			Client:       o.Text("client", strict.Client),
			Session:      o.Text("session", strict.UpTo(maxRequest)),
			By:           o.Text("by", by),
			Grant:        o.Text("grant", strict.Empty(strict.Grant)),
			DomainHash:   o.Text("domain_hash", strict.Hash),
			EnvelopeHash: o.Text("envelope_hash", strict.Hash),
			Digest:       o.Text("digest", strict.Hash),
			Address:      o.Text("address", strict.Address),
			Use:          uint64(o.Int("use", 1, strict.MaxInt)),
			Moment:       o.Extra("moment", strict.Moment),
			Confirmation: o.Extra("confirmation", strict.Hash),
		}
	},
	KindRequestAnswered: func(o *strict.Object) any {
		return RequestAnswered{
			Request: o.Text("request", strict.Some(maxRequest)),
			Client:  o.Text("client", clientOrNone),
			Method:  o.Text("method", strict.Some(maxCode)),
			Outcome: o.Text("outcome", strict.Is("declined", "refused", "expired", "cancelled", "withdrawn")),
			Reason:  o.Text("reason", strict.UpTo(maxCode)),
			Digest:  o.Text("digest", strict.Hash),
			Folded:  uint64(o.ExtraInt("folded", 1, strict.MaxInt)),

			Confirmation: o.Extra("confirmation", strict.Hash),
		}
	},
	KindRequestSeen: func(o *strict.Object) any {
		return RequestSeen{
			Request: o.Text("request", strict.Some(maxRequest)),
			Client:  o.Text("client", clientOrNone),
			Digest:  o.Text("digest", strict.Hash),
		}
	},
	KindMomentSeen: func(o *strict.Object) any {
		return MomentSeen{
			Moment:     o.Text("moment", strict.Moment),
			Client:     o.Text("client", strict.Client),
			Digest:     o.Text("digest", strict.Hash),
			HatchesOff: o.Text("hatches_off", strict.Is("", "free_text", "dialogue", "both")),
		}
	},
	KindMomentResolved: func(o *strict.Object) any {
		return MomentResolved{
			Moment:           o.Text("moment", strict.Moment),
			Client:           o.Text("client", strict.Client),
			Session:          o.Text("session", strict.Some(maxRequest)),
			EnvelopeDigest:   o.Text("envelope_digest", strict.Digest),
			SheetDigest:      o.Text("sheet_digest", strict.Hash),
			Choice:           o.Text("choice", strict.Is("option", "answer", "question")),
			Option:           o.Int("option", -1, 3),
			ActionDigest:     o.Text("action_digest", strict.Empty(strict.Digest)),
			SignWith:         o.Text("sign_with", strict.Empty(strict.Hash)),
			ResolutionDigest: o.Text("resolution_digest", strict.Digest),
			By:               o.Text("by", byPerson),
			Unseen:           o.ExtraFlag("unseen"),
			Confirmation:     o.Extra("confirmation", strict.Hash),
		}
	},
	KindMomentDeclined: func(o *strict.Object) any {
		return MomentDeclined{
			Moment:           o.Text("moment", strict.Moment),
			Client:           o.Text("client", strict.Client),
			Session:          o.Text("session", strict.Some(maxRequest)),
			EnvelopeDigest:   o.Text("envelope_digest", strict.Digest),
			SheetDigest:      o.Text("sheet_digest", strict.Hash),
			ResolutionDigest: o.Text("resolution_digest", strict.Digest),
			Confirmation:     o.Extra("confirmation", strict.Hash),
		}
	},
	KindMomentEnded: func(o *strict.Object) any {
		return MomentEnded{
			Moment: o.Text("moment", strict.Moment),
			Client: o.Text("client", strict.Client),
			Reason: o.Text("reason", strict.Is("withdrawn", "not_shown")),
		}
	},
	KindMomentNoted: func(o *strict.Object) any {
		return MomentNoted{
			Client:  o.Text("client", strict.Client),
			Session: o.Text("session", strict.Some(maxRequest)),
			Reason:  o.Text("reason", strict.Some(maxCode)),
			Digest:  o.Text("digest", strict.Hash),
		}
	},
	KindMomentMissed: func(o *strict.Object) any {
		return MomentMissed{
			Moment: o.Text("moment", strict.Moment),
			Client: o.Text("client", strict.Client),
			Reason: o.Text("reason", strict.Some(maxCode)),
			Digest: o.Text("digest", strict.Hash),
		}
	},
	KindPasskeyAdded: func(o *strict.Object) any {
		return PasskeyAdded{
			Passkey:        o.Text("passkey", strict.Some(maxSetting)),
			Kind:           o.Text("kind", strict.Some(maxCode)),
			BackupEligible: o.Flag("backup_eligible"),
			RPID:           o.Text("rp_id", strict.Some(maxName)),
			By:             o.Text("by", strict.Is("passphrase", "passkey")),
			Confirmation:   o.Extra("confirmation", strict.Hash),
		}
	},
	KindPasskeyRemoved: func(o *strict.Object) any {
		return PasskeyRemoved{
			Passkey:      o.Text("passkey", strict.Some(maxSetting)),
			Confirmation: o.Extra("confirmation", strict.Hash),
		}
	},
	KindPolicyChanged: func(o *strict.Object) any {
		return PolicyChanged{
			FromSHA256:   o.Text("from_sha256", strict.Hash),
			To:           o.Text("to", strict.Some(permit.MaxPolicy)),
			By:           o.Text("by", byPerson),
			Confirmation: o.Extra("confirmation", strict.Hash),
		}
	},
	KindActConfirmed: func(o *strict.Object) any {
		return ActConfirmed{
			Act:          o.Text("act", strict.Is("recovery.show", "protection.change", "card.export")),
			From:         o.Text("from", strict.UpTo(maxCode)),
			To:           o.Text("to", strict.UpTo(maxCode)),
			Digest:       o.Text("digest", strict.Hash),
			Confirmation: o.Text("confirmation", strict.Hash),
		}
	},
	KindSocketAdded: func(o *strict.Object) any {
		return SocketAdded{
			UserID:       o.Int("user_id", 0, MaxUserID),
			Path:         o.Text("path", IsSocketPath),
			Confirmation: o.Text("confirmation", strict.Hash),
		}
	},
	KindSocketRemoved: func(o *strict.Object) any {
		return SocketRemoved{UserID: o.Int("user_id", 0, MaxUserID)}
	},
	KindReadmitted: func(o *strict.Object) any {
		return Readmitted{
			What:         o.Text("what", strict.Is("envelope")),
			Hash:         o.Text("hash", strict.Hash),
			Uses:         o.Int("uses", 1, strict.MaxInt),
			Confirmation: o.Text("confirmation", strict.Hash),
		}
	},
	KindSnapshot: func(o *strict.Object) any {
		return Snapshot{StateSHA256: o.Text("state_sha256", strict.Hash)}
	},
}
