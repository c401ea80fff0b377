package store

// migrateTexts makes the table of the texts of contract languages (Agent SoW 4.3), each under its SHA-256.
const migrateTexts = `
CREATE TABLE sow_texts (
	sha256 TEXT NOT NULL PRIMARY KEY,
	raw    BLOB NOT NULL,
	at     INTEGER NOT NULL
);
`

// PutSoWText keeps a text under its SHA-256 (64 lower-case hex digits); at is in milliseconds since epoch. It takes the place of what was there.
func (t *Tx) PutSoWText(sha256 string, raw []byte, at int64) error {
	return t.exec("INSERT OR REPLACE INTO sow_texts (sha256, raw, at) VALUES (?, ?, ?)", sha256, raw, at)
}

// SoWText reads the text kept under a SHA-256. [ErrNotFound] means that there is none. That it has that hash is for the caller to check.
func (s *Store) SoWText(sha256 string) ([]byte, error) {
	return one(s.blobs("SELECT raw FROM sow_texts WHERE sha256 = ?", sha256))
}
