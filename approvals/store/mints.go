package store

import "database/sql"

// Delegate is a signed mint delegate, issued here or imported. It permits nothing by itself: its permit does.
type Delegate struct {
	Hash   string // delegateHash
	Raw    []byte // canonical, signed
	Origin string // "issued" or "imported"
	At     int64  // milliseconds since epoch
}

// Mint is a minted capability. What is used of it, the log says; the numbers here are for looking at.
type Mint struct {
	Seq         uint64 // entry that minted it
	Mint        string // SHA-256 of the canonical request without its signature
	Delegate    string // delegateHash
	Client      string
	Bot         string
	At          int64  // milliseconds since epoch, of the entry
	Request     []byte // canonical, signed
	Number      int64  // which mint of the delegate, from 1
	MaxUses     int64
	Address     string // of the minted key, "" until it was derived once
	Attestation []byte
	Used        int64
	LastUse     int64
}

// PutDelegate keeps a delegate, in the place of one with the same hash.
func (t *Tx) PutDelegate(d Delegate) error {
	return t.exec("INSERT OR REPLACE INTO delegates (hash, raw, origin, at) VALUES (?, ?, ?, ?)", d.Hash, d.Raw, d.Origin, d.At)
}

// DropDelegate forgets a delegate.
func (t *Tx) DropDelegate(hash string) error {
	return t.exec("DELETE FROM delegates WHERE hash = ?", hash)
}

// AddMint keeps a minted capability; its entry and its request must be new.
func (t *Tx) AddMint(m Mint) error {
	return t.exec("INSERT INTO mints (seq, mint, delegate, client, bot, at, request, number, max_uses, address, attestation, used, last_use) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)",
		int64(m.Seq), m.Mint, m.Delegate, m.Client, m.Bot, m.At, m.Request, m.Number, m.MaxUses, m.Address, nothing(m.Attestation))
}

// NameMint notes what was derived of a mint.
func (t *Tx) NameMint(mint, address string, attestation []byte) error {
	return t.exec("UPDATE mints SET address = ?, attestation = ? WHERE mint = ?", address, attestation, mint)
}

// UseMint counts a use of a minted key.
func (t *Tx) UseMint(mint string, at int64) error {
	return t.exec("UPDATE mints SET used = used + 1, last_use = ? WHERE mint = ?", at, mint)
}

// Delegates reads every delegate, oldest first.
func (s *Store) Delegates() ([]Delegate, error) {
	return rows(s, "SELECT hash, raw, origin, at FROM delegates ORDER BY at, hash", nil, func(r *sql.Rows, d *Delegate) error {
		return r.Scan(&d.Hash, &d.Raw, &d.Origin, &d.At)
	})
}

func (s *Store) mints(where string, args ...any) ([]Mint, error) {
	return rows(s, "SELECT seq, mint, delegate, client, bot, at, request, number, max_uses, address, attestation, used, last_use FROM mints WHERE "+where, args, func(r *sql.Rows, m *Mint) error {
		return r.Scan(&m.Seq, &m.Mint, &m.Delegate, &m.Client, &m.Bot, &m.At, &m.Request, &m.Number, &m.MaxUses, &m.Address, &m.Attestation, &m.Used, &m.LastUse)
	})
}

// Mint reads one mint. [ErrNotFound] means that there is none.
func (s *Store) Mint(mint string) (Mint, error) { return one(s.mints("mint = ?", mint)) }

// Mints reads at most limit mints with entries below before (0: no bound), newest first, of a delegate where one is named.
func (s *Store) Mints(delegate string, before uint64, limit int) ([]Mint, error) {
	if before == 0 || before > 1<<62 {
		before = 1 << 62
	}
	if delegate == "" {
		return s.mints("seq < ? ORDER BY seq DESC LIMIT ?", int64(before), limit)
	}
	return s.mints("delegate = ? AND seq < ? ORDER BY seq DESC LIMIT ?", delegate, int64(before), limit)
}

// MintTotal sums up the mints of one delegate.
type MintTotal struct {
	Delegate string
	MaxUses  int64
	LastUse  int64 // milliseconds since epoch, or 0
}

// MintTotals reads how many uses each delegate's minted keys were given in all, 2^53-1 at most, and when one was used last.
func (s *Store) MintTotals() ([]MintTotal, error) {
	return rows(s, "SELECT delegate, CAST(min(total(max_uses), 9007199254740991) AS INTEGER), max(last_use) FROM mints GROUP BY delegate", nil, func(r *sql.Rows, m *MintTotal) error {
		return r.Scan(&m.Delegate, &m.MaxUses, &m.LastUse)
	})
}

// MintStep counts mints and uses of a delegate in one span of time.
type MintStep struct {
	From        int64 // milliseconds since epoch
	Mints, Uses int64
}

// MaxMintSteps is how many steps are counted at most.
const MaxMintSteps = 4096

// MintSteps counts by spans of that length (milliseconds) from an instant on, oldest first, in the entries behind one and
// up to another; spans with nothing are left out.
func (s *Store) MintSteps(delegate string, since, span int64, after, through uint64) ([]MintStep, error) {
	return rows(s, "SELECT at - at % ? AS start, SUM(kind = 'capability.minted'), SUM(kind = 'minted.signed') FROM entries"+
		" WHERE kind IN ('capability.minted', 'minted.signed') AND tag = ? AND at >= ? AND seq > ? AND seq <= ? GROUP BY start ORDER BY start LIMIT ?",
		[]any{span, delegate, since, int64(after), int64(through), MaxMintSteps}, func(r *sql.Rows, m *MintStep) error {
			return r.Scan(&m.From, &m.Mints, &m.Uses)
		})
}
