// Package keys is the contract between the desk and the key process: the acts
// the desk may ask for, the answers it gets, and the line they travel on.
//
// It holds no key material and makes no decision. The key process (package
// sign) implements [Keys] and guards every act itself, from the bytes it is
// given; nothing in an act is believed because the desk says so.
package keys

import (
	"context"
	"fmt"
)

// Surface says where the secret window is drawn.
type Surface string

// The two forms of the secret window.
const (
	SurfaceWindow   Surface = "window"   // a window of its own on the owner's display
	SurfaceTerminal Surface = "terminal" // a form on the controlling terminal
)

// Protection says what opens the sealed file (design of custody: the owner chooses).
type Protection string

// The three protections.
const (
	ProtectKeyringAndPassphrase Protection = "keyring-and-passphrase"
	ProtectPassphrase           Protection = "passphrase"
	ProtectKeyring              Protection = "keyring"
)

// Public is what the desk may know of an opened vault. It holds no secret.
type Public struct {
	Vault      string     // vault id, 32 lower-case hex digits
	Instance   string     // instance id, 32 lower-case hex digits
	Generation uint64     // generation of the sealed file
	Protection Protection // what opens it
	OwnerKey   string     // owner seat 0, nkey text "U…"
	LogKey     string     // log key of this instance, nkey text "U…"
	WordsShown bool       // whether the recovery words were shown and asked back
	Demo       bool       // a throw-away vault, marked so in its sealed header
	Passkeys   int        // number of enrolled passkeys
	// Enrolled are the passkeys, in the order of their enrolment.
	Enrolled []Passkey
	// PasskeySpent says that no first passkey can be enrolled any more under this root: there was one.
	PasskeySpent bool
	// Policy is the canonical policy in force (permit.Policy).
	Policy []byte
	// Anchor is the newest head that the sealed file or the keyring remembers.
	// Seq 0 means that none was ever kept.
	Anchor Anchor
	// AnchorKept says where a head is kept outside the store: "sealed" or "sealed+keyring".
	AnchorKept string
	// StartReason is why the log of this instance does not begin with the root's creation: "restored",
	// "copied" or "rolled_back"; its first entry, instance.started, carries it. Empty for vault.created.
	StartReason string
	// Exported are the hashes of domains whose mint material was let out under this root, in any instance that the
	// sealed file remembers.
	Exported []string
}

// Anchor is a place in the log that is remembered outside the store.
type Anchor struct {
	Seq  uint64
	Hash string // 0x and 64 hex digits
}

// Create asks for a new root. Allowed only where no vault exists.
type Create struct {
	Protection Protection
	Surface    Surface
	Demo       bool
	PutOff     bool // words are shown later; the Inbox keeps a red row until then
}

// Unlock asks the owner, in the secret window, for what opens the vault.
type Unlock struct {
	Surface Surface
}

// Restore makes a new instance of the root whose words or hex the owner types
// in the secret window, or that lies in a backup file whose passphrase the owner
// types there. The vault folder must hold no vault, or one whose root is the same.
type Restore struct {
	Protection Protection
	Surface    Surface
	Backup     string // absolute path of a backup file; empty: words or hex
	Store      string // with Backup: absolute path of a new file for the copy of the store; the desk's to place or remove
}

// Load hands the key process the log so that it can rebuild its own state:
// first a snapshot (or none), then the entries after it, in order, in chunks.
type Load struct {
	Snapshot []byte   // canonical journal.State whose hash the first entry of kind "snapshot" carries, or nil
	Entries  [][]byte // canonical entries; the first is seq 1, or the snapshot entry itself
	Domains  []Permit // with Last: every domain row, so that Address and Commit know the domains
	Last     bool     // no more chunks follow: verify against the anchor
	Head     []byte   // with Last: the newest signed head of the store; entries after it must be of unkeyed kinds
}

// Loaded is the answer to the last chunk.
type Loaded struct {
	Seq  uint64
	Hash string
}

// Backup asks for a backup file.
type Backup struct {
	Surface Surface
	Store   string // path of a consistent copy of the store, made by the desk
	File    string // path of the file to make; it must not exist
}

// Act is one log entry together with what it makes the key process do.
// The entry must extend the head; the guard of its kind is computed from it
// and from the attachments, strictly parsed there. The Permits are, by kind:
//
//	domain.created  the new domain row, without a MAC
//	client.paired   the new client row, without a MAC; for a rename also the row it replaces, with its MAC
//	grant.made      the new grant row, without a MAC; the client's row, with its MAC
//	action.signed   the client's row and, where by is "grant", the grant's, with their MACs
//	moment.resolved the client's row, with its MAC
//
// A decline that a passkey confirms carries what it declines: moment.declined the same bytes as
// moment.resolved, request.answered the session and the two documents of journal.AskDigest as Envelope and
// Payload.
//
// An entry by "passkey", and every one that always needs a passkey, names the digest of the record that
// the ceremony Confirmation gave; the commit verifies it, uses it up, and does the act. What it must
// be over, journal.Entry.Confirmation computes. A client's or grant's row may then be as old as its ceremony.
//
// A new row's created_at, paired_at (but in a rename) or made_at is the entry's
// time. To commit says that everything answered before is durable; only such
// heads are anchored.
type Act struct {
	Entry    []byte   // canonical journal entry, seq = head+1
	Envelope []byte   // received bytes of the action envelope (kinds action.signed, grant.made)
	Payload  []byte   // received bytes of the payload (kind action.signed); the resolution (kind moment.resolved)
	Moment   []byte   // bytes of the binding moment (kind moment.resolved; kind action.signed where it names a moment)
	Behind   []byte   // received bytes of what was presented behind its options, or nil (kind moment.resolved)
	Permits  []Permit // rows the guard needs, in any order
	Session  string   // kind request.answered, where confirmed: the session that was asked in
	// Confirmation is the id of the ceremony behind the act ([Begun]), or empty.
	Confirmation string

	Delegate []byte    // of a mint delegation, see [Minter]
	Request  []byte    // the same
	Bot      *BotProof // the same
	SoW      *SoWAct   // kinds sow.signed, sow.act_signed and sow.preauthorised
}

// Permit is a row that permits, with the MAC that the key process made for it.
type Permit struct {
	Body []byte // canonical permit document
	MAC  string // 0x and 64 hex digits
}

// Answer is the result of one act. An act that is refused leaves the head where it was
// and ends its batch: the answers of the acts after it have code "not_tried".
type Answer struct {
	Err       *Error
	Head      []byte // canonical signed head over this entry
	Signature string // kind action.signed: 0x and 130 hex digits
	Address   string // kind action.signed: the address that signed
	// Attestation is for kind action.signed: the canonical receipt in which the domain's key
	// ties Address to the envelope (derive/envelope.AddressAttestation). It is the same for
	// every signature under one envelope, so it may be kept.
	Attestation []byte
	MACs        []string // one per permit that this entry creates, in the entry's order
	Projection  []byte   // kind domain.created: canonical domain projection
	Evidence    []byte   // of a confirmed act: canonical confirm.Evidence, to be kept beside the entry
	Card        []byte   // kind act.confirmed of card.export: the signed owner card
	Delegate    []byte   // kind delegate.issued: the canonical signed delegate
	Sealed      []byte   // kind mint.exported: mint material, sealed to the recipient
	// SoWSignature is for the kinds sow.signed and sow.act_signed: Ed25519, base64url unpadded.
	SoWSignature string
}

// Error is a refusal of the key process.
type Error struct {
	Code   string // stable, see the list in docs/protocol.md
	Detail string // one sentence without outside text
	Seq    uint64 // log entry concerned, or 0
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Detail) }

// Keys is what the desk may ask of the key process. Calls block until the key
// process has answered; those that open the secret window block for as long as
// the person takes. Every error of the key process is an [*Error].
type Keys interface {
	Handler
	// Done is closed when the key process has ended, for whatever reason.
	Done() <-chan struct{}
}

// Handler is the key process's side of [Keys].
type Handler interface {
	Confirmer
	Minter
	Seater
	Create(context.Context, Create) (Public, error)
	Unlock(context.Context, Unlock) (Public, error)
	Restore(context.Context, Restore) (Public, error)
	// NewInstance begins a new log under the same root, after Load. After the codes "rolled_back",
	// "anchor_missing", "copied" and "log_damaged" it is the only way to acts; it may also be called on a
	// vault that is open, when its owner has put older files back. After Restore it is not needed. The
	// desk then loads nothing (Load with Last alone) and commits instance.started with the reason that
	// Public names.
	NewInstance(context.Context) (Public, error)
	// Load may be called once after each opening; no act is taken before its last chunk.
	// With Last it fails with "rolled_back", "anchor_missing", "copied" or "log_damaged" (Error.Seq
	// names the entry); the vault then only reads, and NewInstance may be called.
	Load(context.Context, Load) (Loaded, error)
	// Plan asks for the domain projection that a domain.created entry must carry.
	Plan(ctx context.Context, domainInfo []byte) (projection []byte, err error)
	// Address gives the address that would sign under an action envelope (its received bytes),
	// 0x and 40 hex digits: the sheet shows it and the action.signed entry must carry it.
	// The envelope's domain must be open; nothing is signed and nothing is spent.
	Address(ctx context.Context, envelope []byte) (string, error)
	// Commit takes acts in order and answers each.
	Commit(context.Context, []Act) ([]Answer, error)
	// ShowWords shows the recovery words in the secret window and asks three of them back. Once they
	// were shown, an act.confirmed of recovery.show has to be committed before.
	ShowWords(context.Context, Surface) error
	// ChangeProtection seals the root anew; the owner types what is needed in the secret window. A weaker
	// one needs an act.confirmed of protection.change before; the keyring alone drops the passkeys.
	ChangeProtection(context.Context, Protection, Surface) (Public, error)
	// Prove asks for the passphrase in the secret window, under the four words that stand
	// for digest, and checks it: error code "wrong_passphrase" or "cancelled" otherwise.
	// A vault without a passphrase answers "no_passphrase". It signs nothing.
	Prove(ctx context.Context, digest string, s Surface) error
	// Backup writes an age file that holds the sealed file and the named copy of the store.
	// The passphrase is asked in the secret window.
	Backup(context.Context, Backup) error
	// Anchor says that everything answered is durable, and writes the head into the sealed file and the
	// keyring now. To be called once a revocation is durable.
	Anchor(context.Context) error
	// Lock wipes and ends the key process. It returns when the process is gone.
	Lock(context.Context) error
}
