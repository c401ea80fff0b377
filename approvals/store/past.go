package store

import "database/sql"

// OldUses counts the signatures under an action envelope (its hash, 0x and 64 hex digits) that the logs of archived
// instances show. known is false where none is archived. What was signed elsewhere, or after a copy was made,
// they do not show.
func (s *Store) OldUses(envelopeHash string) (n int64, known bool, err error) {
	// A name in an entry has its quotation marks escaped.
	named := `"envelope_hash":"` + envelopeHash + `"`
	err = s.read("SELECT COUNT(*), COALESCE(SUM(kind = 'action.signed' AND instr(raw, CAST(? AS BLOB)) > 0), 0) FROM old_entries", []any{named},
		func(r *sql.Rows) error {
			var all int64
			err := r.Scan(&all, &n)
			known = all > 0
			return err
		})
	return n, known, err
}

// EvidenceSeqs are the entries beside which evidence is kept.
func (s *Store) EvidenceSeqs() (map[uint64]bool, error) {
	out := map[uint64]bool{}
	err := s.read("SELECT seq FROM evidence", nil, func(r *sql.Rows) error {
		var seq int64
		err := r.Scan(&seq)
		out[uint64(seq)] = true
		return err
	})
	return out, err
}
