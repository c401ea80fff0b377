package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Format is the number of the newest migration. A store with a larger number
// was written by a newer program and opens read-only.
const Format = 7

// migrations are applied in order, each in a transaction of its own; number
// i+1 leaves user_version at i+1. Released ones never change.
var migrations = [Format]string{`
CREATE TABLE meta (
	key   TEXT NOT NULL PRIMARY KEY,
	value BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE entries (
	seq     INTEGER NOT NULL PRIMARY KEY,
	raw     BLOB NOT NULL,
	hash    TEXT NOT NULL,
	kind    TEXT NOT NULL,
	at      INTEGER NOT NULL,
	client  TEXT NOT NULL,
	request TEXT NOT NULL,
	tag     TEXT NOT NULL,
	head    BLOB
);
CREATE INDEX entries_kind ON entries (kind, seq);
CREATE INDEX entries_client ON entries (client, seq) WHERE client <> '';
CREATE INDEX entries_counts ON entries (client, kind, tag) WHERE client <> '';
CREATE TABLE permits (
	kind   TEXT NOT NULL,
	id     TEXT NOT NULL,
	body   BLOB NOT NULL,
	mac    TEXT NOT NULL,
	secret BLOB,
	about  BLOB,
	PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE TABLE requests (
	client   TEXT NOT NULL,
	request  TEXT NOT NULL,
	digest   TEXT NOT NULL,
	state    TEXT NOT NULL,
	method   TEXT NOT NULL,
	session  TEXT NOT NULL,
	envelope BLOB NOT NULL,
	payload  BLOB NOT NULL,
	seq      INTEGER NOT NULL,
	answer   BLOB NOT NULL,
	PRIMARY KEY (client, request)
);
CREATE INDEX requests_seq ON requests (seq);
CREATE TABLE sessions (
	client    TEXT NOT NULL,
	session   TEXT NOT NULL,
	last_used INTEGER NOT NULL,
	PRIMARY KEY (client, session)
) WITHOUT ROWID;
CREATE TABLE blocks (
	id         TEXT NOT NULL PRIMARY KEY,
	user_id    INTEGER NOT NULL,
	executable TEXT NOT NULL,
	claimed    TEXT NOT NULL,
	at         INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE settings (
	name  TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE snapshots (
	seq   INTEGER NOT NULL PRIMARY KEY,
	state BLOB NOT NULL
);
CREATE TABLE old_entries (
	instance TEXT NOT NULL,
	seq      INTEGER NOT NULL,
	raw      BLOB NOT NULL,
	hash     TEXT NOT NULL,
	kind     TEXT NOT NULL,
	at       INTEGER NOT NULL,
	client   TEXT NOT NULL,
	request  TEXT NOT NULL,
	tag      TEXT NOT NULL,
	head     BLOB,
	PRIMARY KEY (instance, seq)
);
CREATE TABLE old_permits (
	instance   TEXT NOT NULL,
	kind       TEXT NOT NULL,
	id         TEXT NOT NULL,
	body       BLOB NOT NULL,
	mac        TEXT NOT NULL,
	PRIMARY KEY (instance, kind, id)
) WITHOUT ROWID;
`, `
CREATE TABLE moments (
	id           TEXT NOT NULL PRIMARY KEY,
	client       TEXT NOT NULL,
	session      TEXT NOT NULL,
	digest       TEXT NOT NULL,
	question     TEXT NOT NULL,
	state        TEXT NOT NULL,
	since        INTEGER NOT NULL,
	count        INTEGER NOT NULL,
	envelope     BLOB NOT NULL,
	behind       BLOB,
	server       TEXT NOT NULL,
	has_class    INTEGER NOT NULL,
	class        TEXT NOT NULL,
	note         INTEGER NOT NULL,
	free_text    INTEGER NOT NULL,
	dialogue     INTEGER NOT NULL,
	choice       TEXT NOT NULL,
	resolution   BLOB NOT NULL,
	ended        TEXT NOT NULL,
	seq          INTEGER NOT NULL,
	at           INTEGER NOT NULL,
	missed       INTEGER NOT NULL,
	repeats      INTEGER NOT NULL
);
CREATE INDEX moments_state ON moments (state, at);
CREATE INDEX moments_digest ON moments (digest);
CREATE INDEX moments_question ON moments (client, session, question);
CREATE INDEX moments_class ON moments (client, has_class, class);
CREATE INDEX moments_seq ON moments (seq);
CREATE TABLE moment_asks (
	moment    TEXT NOT NULL,
	id        TEXT NOT NULL,
	line      TEXT NOT NULL,
	question  TEXT NOT NULL,
	at        INTEGER NOT NULL,
	answer    TEXT NOT NULL,
	answer_at INTEGER NOT NULL,
	PRIMARY KEY (moment, id)
) WITHOUT ROWID;
CREATE TABLE notes (
	id      TEXT NOT NULL PRIMARY KEY,
	client  TEXT NOT NULL,
	session TEXT NOT NULL,
	reason  TEXT NOT NULL,
	path    TEXT NOT NULL,
	payload BLOB NOT NULL,
	server  TEXT NOT NULL,
	moment  TEXT NOT NULL,
	digest  TEXT NOT NULL,
	at      INTEGER NOT NULL,
	count   INTEGER NOT NULL
);
`, `
CREATE INDEX requests_names ON requests (seq, client, request, digest, state);
DROP INDEX requests_seq;
`, `
CREATE TABLE evidence (
	seq INTEGER NOT NULL PRIMARY KEY,
	raw BLOB NOT NULL
);
CREATE TABLE old_evidence (
	instance TEXT NOT NULL,
	seq      INTEGER NOT NULL,
	raw      BLOB NOT NULL,
	PRIMARY KEY (instance, seq)
);
`, `
CREATE TABLE delegates (
	hash   TEXT NOT NULL PRIMARY KEY,
	raw    BLOB NOT NULL,
	origin TEXT NOT NULL,
	at     INTEGER NOT NULL
);
CREATE TABLE mints (
	seq         INTEGER NOT NULL PRIMARY KEY,
	mint        TEXT NOT NULL,
	delegate    TEXT NOT NULL,
	client      TEXT NOT NULL,
	bot         TEXT NOT NULL,
	at          INTEGER NOT NULL,
	request     BLOB NOT NULL,
	number      INTEGER NOT NULL,
	max_uses    INTEGER NOT NULL,
	address     TEXT NOT NULL,
	attestation BLOB NOT NULL,
	used        INTEGER NOT NULL,
	last_use    INTEGER NOT NULL
);
CREATE UNIQUE INDEX mints_mint ON mints (mint);
CREATE INDEX mints_delegate ON mints (delegate, seq, max_uses, last_use);
CREATE INDEX entries_minted ON entries (tag, at) WHERE kind IN ('capability.minted', 'minted.signed');
`, migrateSoW, migrateTexts}

// migrate brings the schema from one number to Format.
func migrate(ctx context.Context, db *sql.Conn, from int) error {
	for n := from; n < Format; n++ {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return fmt.Errorf("begin migration %d: %w", n+1, err)
		}
		_, err = tx.ExecContext(ctx, migrations[n])
		if err == nil {
			_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", n+1))
		}
		if err != nil {
			_ = tx.Rollback()
			return fmt.Errorf("migration %d: %w", n+1, err)
		}
		if err := tx.Commit(); err != nil {
			return fmt.Errorf("commit migration %d: %w", n+1, err)
		}
	}
	return nil
}
