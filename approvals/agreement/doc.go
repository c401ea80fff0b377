// Package agreement says what documents, records, notes and the log say of one engagement (Agent SoW), put together anew at each
// look: who sits where and by which key, what is in force, what is ignored and why, what is wrong with each version, what becomes due,
// and what the owner may do now. It also reads what something that is brought in is.
//
// It is a judgement of values: [Read] takes an engagement's own rows, [Papers.Questions] says what else matters, and [Papers.Judge]
// takes the answers, the log's and the clock's among them. It holds no store, no lock and no key, writes nothing, signs nothing, and
// what it says permits nothing: the key process judges the bytes for itself.
//
// Instants are milliseconds since epoch. Keys are nkeys ("U…"). A digest is that of the signed bytes, 64 lower-case hex digits
// (sow.Document.Digest); a copy is named by the SHA-256 of its bytes as they came, 64 lower-case hex digits. Text that is called
// hostile came from outside and is drawn as such.
package agreement

// MaxDocument bounds anything that is brought in, in bytes, but for a bundle.
const MaxDocument = 1 << 20

// Codes of a judgement, beside those of findings and of package journal.
const (
	CodeNotPinned     = "counterparty_not_pinned"
	CodeNotOpen       = "not_open" // nothing of the kind can be done with this version now
	CodeIntentMissing = "intent_missing"
	CodeNotUnderstood = "not_understood"
	CodeTooLong       = "too_long"
	CodeNoEngagement  = "no_engagement"  // it belongs to no engagement that is known here
	CodePageTooLong   = "page_too_long"  // it has more values than a person is shown (sow.MaxLeaves)
	CodeTooLate       = "already_agreed" // both owners had signed what it would take back
)

// Names of the notes that a judgement reads. Of one engagement, where nothing else is said.
const (
	FactSeat      = "seat"     // key: role; value: index, or empty where only the role is known
	FactProposed  = "proposed" // key: digest; when it came
	FactHandle    = "handle"   // of no engagement; key: handle; value: agent key
	FactLanguage  = "language" // of no engagement; key: as [LanguageKey]; value: digest of a document under it, the first or one that was signed here
	FactGrant     = "grant"    // key: input; value: "closed" or "open"
	FactLockedAsk = "unsigned" // key: digest; why an own offer's request was not completed: code
	FactFormed    = "offer"    // key: "of"; value: engagement id of the offer. Key: "digest"; value: the offer's digest
)
