// Package store keeps what the desk must not forget in one SQLite file: log
// entries, permits, requests, sessions, blocks, settings and snapshots
// (design of store and log).
//
// It takes no decision and checks nothing that a row means; it only writes
// what it is given, all or nothing, and reads it back. One goroutine writes:
// transactions that wait at the same time are put into one commit, so that
// many share one flush to the disk. The file is held exclusively, which means
// that there is one connection: a read waits for the commit that is under way,
// never for the queue behind it.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// FileName is the name of the database inside the vault folder.
const FileName = "store.db"

// The typed errors of this package. Everything else is an error of the disk
// or the database, wrapped.
var (
	ErrDamaged  = errors.New("the store is damaged")
	ErrNotThere = errors.New("there is no store here")
	ErrInUse    = errors.New("the store is held by another process")
	ErrReadOnly = errors.New("the store is open for reading only")
	ErrClosed   = errors.New("the store is closed")
	ErrNotFound = errors.New("no such row")
)

// checkMax is the size up to which a file is checked whole when it is opened; a larger one
// would hold up the start, and is checked by [Store.Check].
const checkMax = 64 << 20

// groupMax bounds how many transactions share one commit.
const groupMax = 256

// Mode says what can be done with an open store.
type Mode string

// The modes of an open store.
const (
	ModeReadWrite Mode = "read_write"
	ModeNewer     Mode = "newer_format" // written by a newer program: reading only
	ModeFolder    Mode = "read_only"    // the folder or the file can't be written
)

// Store is an open database. Its methods are safe for concurrent use.
type Store struct {
	db    *sql.DB
	path  string
	mode  Mode
	queue chan *job

	line  sync.Mutex // held by who uses the one connection
	conn  *sql.Conn
	stmts map[string]*sql.Stmt

	mu      sync.RWMutex // held for reading while something is put into queue
	closed  bool
	done    chan struct{}
	failMu  sync.Mutex
	failure error
}

type job struct {
	run func(*Tx) error
	err chan error
}

// Open opens or makes the store of a vault folder, checks it (whole up to 64 MiB)
// and brings its format up to date. It blocks on the disk. The error wraps [ErrDamaged] or
// [ErrInUse] where these are the reason; a newer format and a folder that
// can't be written are no errors but a [Mode].
func Open(ctx context.Context, folder string) (*Store, error) {
	path := filepath.Join(folder, FileName)
	mode := ModeReadWrite
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	switch {
	case err == nil:
		if err := f.Close(); err != nil {
			return nil, fmt.Errorf("open store: %w", err)
		}
	case errors.Is(err, os.ErrPermission) || isReadOnlyFS(err):
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("open store: %w: %w", ErrNotThere, err)
		}
		mode = ModeFolder
	default:
		return nil, fmt.Errorf("open store: %w", err)
	}
	if mode == ModeReadWrite && !folderWritable(folder) {
		mode = ModeFolder
	}
	s, err := open(ctx, path, mode)
	if err != nil {
		return nil, err
	}
	if s.mode == ModeReadWrite {
		s.queue = make(chan *job, groupMax)
		go s.writer()
	} else {
		close(s.done)
	}
	return s, nil
}

func open(ctx context.Context, path string, mode Mode) (*Store, error) {
	q := url.Values{}
	q.Add("_pragma", "busy_timeout(0)")
	q.Add("_pragma", "trusted_schema(0)")
	q.Add("_pragma", "cell_size_check(1)")
	q.Add("_pragma", "secure_delete(1)")
	q.Add("_txlock", "immediate")
	if mode == ModeReadWrite {
		q.Add("_pragma", "locking_mode(EXCLUSIVE)")
		q.Add("_pragma", "journal_mode(WAL)")
		q.Add("_pragma", "synchronous(FULL)")
		q.Add("_pragma", "journal_size_limit(4194304)")
		q.Add("mode", "rw")
	} else {
		q.Add("mode", "ro")
		q.Add("_pragma", "query_only(1)")
		if _, err := os.Stat(path + "-wal"); errors.Is(err, os.ErrNotExist) {
			q.Add("immutable", "1")
		}
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	db.SetConnMaxLifetime(0)
	db.SetConnMaxIdleTime(0)
	conn, err := db.Conn(ctx)
	if err != nil {
		_ = db.Close()
		return nil, openError(err)
	}
	s := &Store{db: db, conn: conn, path: path, mode: mode, done: make(chan struct{}), stmts: map[string]*sql.Stmt{}}
	if err := s.check(ctx); err != nil {
		_ = conn.Close()
		_ = db.Close()
		return nil, err
	}
	return s, nil
}

// check verifies the file and its format.
func (s *Store) check(ctx context.Context) error {
	var version int
	if err := s.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return openError(err)
	}
	if info, err := os.Stat(s.path); err != nil {
		return fmt.Errorf("open store: %w", err)
	} else if info.Size() <= checkMax {
		if err := s.quickCheck(ctx); err != nil {
			return err
		}
	}
	switch {
	case version > Format:
		s.mode = ModeNewer
		if _, err := s.conn.ExecContext(ctx, "PRAGMA query_only = 1"); err != nil {
			return openError(err)
		}
	case s.mode == ModeReadWrite:
		if err := migrate(ctx, s.conn, version); err != nil {
			return openError(err)
		}
	case version < Format:
		return fmt.Errorf("open store: format %d: %w", version, ErrReadOnly)
	}
	return nil
}

// Check reads the whole file and checks its structure. It blocks for as long as
// that takes, and so do writes. The error wraps [ErrDamaged] where it is damaged.
func (s *Store) Check(ctx context.Context) error {
	s.line.Lock()
	defer s.line.Unlock()
	return s.quickCheck(ctx)
}

func (s *Store) quickCheck(ctx context.Context) error {
	rows, err := s.conn.QueryContext(ctx, "PRAGMA quick_check(1)")
	if err != nil {
		return openError(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return openError(err)
		}
		if line != "ok" {
			return fmt.Errorf("check store: %w", ErrDamaged)
		}
	}
	if err := rows.Err(); err != nil {
		return openError(err)
	}
	return nil
}

func openError(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT:
			return fmt.Errorf("open store: %w: %w", ErrDamaged, err)
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return fmt.Errorf("open store: %w: %w", ErrInUse, err)
		case sqlite3.SQLITE_ERROR:
			if strings.Contains(e.Error(), "no such table") || strings.Contains(e.Error(), "already exists") {
				return fmt.Errorf("open store: %w: %w", ErrDamaged, err)
			}
		}
	}
	return fmt.Errorf("open store: %w", err)
}

func folderWritable(folder string) bool {
	f, err := os.CreateTemp(folder, ".write-*")
	if err != nil {
		return false
	}
	name := f.Name()
	_ = f.Close()
	return os.Remove(name) == nil
}

// Mode says what can be done with the store. It does not block.
func (s *Store) Mode() Mode { return s.mode }

// Path is the file of the database.
func (s *Store) Path() string { return s.path }

// Do runs f in a transaction and returns when it is durable: the commit was
// flushed to the disk. Transactions that wait at the same time share one commit.
// If f fails only its own changes are undone and its error is returned; if the
// commit fails nothing of the group was kept and every one of them gets the error.
// After a failed commit the store takes no more writes, because what the disk
// holds is not known until it is opened again.
func (s *Store) Do(f func(*Tx) error) error {
	j := &job{run: f, err: make(chan error, 1)}
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return ErrClosed
	}
	if s.queue == nil {
		s.mu.RUnlock()
		return ErrReadOnly
	}
	s.queue <- j
	s.mu.RUnlock()
	return <-j.err
}

// Failed is the error of the commit after which the store stopped, or nil.
func (s *Store) Failed() error {
	s.failMu.Lock()
	defer s.failMu.Unlock()
	return s.failure
}

func (s *Store) writer() {
	defer close(s.done)
	group := make([]*job, 0, groupMax)
	for first := range s.queue {
		group = append(group[:0], first)
	gather:
		for len(group) < groupMax {
			select {
			case j, ok := <-s.queue:
				if !ok {
					break gather
				}
				group = append(group, j)
			default:
				break gather
			}
		}
		s.commit(group)
	}
}

// commit runs a group in one transaction and answers every member.
func (s *Store) commit(group []*job) {
	errs := make([]error, len(group))
	err := s.Failed()
	if err == nil {
		err = s.transact(group, errs)
	}
	for i, j := range group {
		if err != nil {
			errs[i] = err
		}
		j.err <- errs[i]
	}
}

// transact fills errs with what each member returned; its own error says that
// nothing of the group was kept and that the store has stopped.
func (s *Store) transact(group []*job, errs []error) error {
	s.line.Lock()
	defer s.line.Unlock()
	t := &Tx{s}
	err := t.exec("BEGIN IMMEDIATE")
	for i, j := range group {
		if err != nil {
			break
		}
		if err = t.exec("SAVEPOINT one"); err != nil {
			break
		}
		if errs[i] = j.run(t); errs[i] != nil {
			if err = t.exec("ROLLBACK TO one"); err != nil {
				break
			}
		}
		err = t.exec("RELEASE one")
	}
	if err == nil {
		err = t.exec("COMMIT")
	}
	if err == nil {
		return nil
	}
	// A disk that is full may have ended the transaction already: nothing to undo then.
	_ = t.exec("ROLLBACK")
	s.failMu.Lock()
	defer s.failMu.Unlock()
	s.failure = fmt.Errorf("commit to the store: %w", err)
	return s.failure
}

// Close waits for what was handed in and closes the file. Calling it again does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	if s.queue != nil {
		close(s.queue)
	}
	s.mu.Unlock()
	<-s.done
	s.line.Lock()
	defer s.line.Unlock()
	for _, st := range s.stmts {
		_ = st.Close()
	}
	if err := errors.Join(s.conn.Close(), s.db.Close()); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// CopyTo writes a consistent copy of the whole store to a new file. It blocks
// on the disk, and writes wait for it.
func (s *Store) CopyTo(ctx context.Context, file string) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("copy store: %w", os.ErrExist)
	}
	s.line.Lock()
	_, err := s.conn.ExecContext(ctx, "VACUUM INTO ?", file)
	s.line.Unlock()
	if err != nil {
		return fmt.Errorf("copy store: %w", err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		return fmt.Errorf("copy store: %w", err)
	}
	return nil
}

// Place makes a copy that [Store.CopyTo] wrote the store of a folder on the same disk
// that has none, durably; the copy's own name is gone then. Where there is a store the
// error is os.ErrExist and nothing was changed.
func Place(file, folder string) error {
	to := filepath.Join(folder, FileName)
	for _, name := range []string{to, to + "-wal", to + "-shm"} {
		if _, err := os.Lstat(name); err == nil {
			return fmt.Errorf("place store: %s: %w", filepath.Base(name), os.ErrExist)
		}
	}
	if err := os.Rename(file, to); err != nil {
		return fmt.Errorf("place store: %w", err)
	}
	dir, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("place store: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("place store: %w", err)
	}
	return nil
}

// stmt prepares a statement once; the caller holds the line.
func (s *Store) stmt(query string) (*sql.Stmt, error) {
	st := s.stmts[query]
	if st == nil {
		var err error
		if st, err = s.conn.PrepareContext(context.Background(), query); err != nil {
			return nil, err
		}
		s.stmts[query] = st
	}
	return st, nil
}

// errStopped is what scan returns when no more rows are wanted.
var errStopped = errors.New("no more rows are wanted")

// read runs a query and calls scan for each row, for as long as scan returns nil. Any error of scan but errStopped says that a
// row is not as it was written: the error wraps ErrDamaged.
func (s *Store) read(query string, args []any, scan func(*sql.Rows) error) error {
	s.line.Lock()
	defer s.line.Unlock()
	st, err := s.stmt(query)
	if err != nil {
		return fmt.Errorf("read store: %w", err)
	}
	rows, err := st.Query(args...)
	if err != nil {
		return fmt.Errorf("read store: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		switch err := scan(rows); {
		case errors.Is(err, errStopped):
			return nil
		case err != nil:
			return fmt.Errorf("read store: %w: %w", ErrDamaged, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read store: %w", err)
	}
	return nil
}

// rows runs a query and gives what scan reads of each row.
func rows[T any](s *Store, query string, args []any, scan func(*sql.Rows, *T) error) ([]T, error) {
	var out []T
	err := s.read(query, args, func(r *sql.Rows) error {
		var x T
		err := scan(r, &x)
		out = append(out, x)
		return err
	})
	return out, err
}

// one is the only row, or ErrNotFound.
func one[T any](rows []T, err error) (T, error) {
	var none T
	if err != nil {
		return none, err
	}
	if len(rows) == 0 {
		return none, ErrNotFound
	}
	return rows[0], nil
}
