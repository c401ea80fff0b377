package sign

import (
	"context"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"io"

	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/custody"
	"vault/derive/confirm"
	"vault/internal/passphrase"
)

// Window is one conversation with the owner in the secret window.
type Window interface {
	// Ask puts one question and reads the answer into answer, at most
	// passphrase.Max bytes of the caller's secret memory; words go out with the form that
	// shows them. It returns the answer's length and blocks until the person
	// has answered. Errors: [ErrCancelled], [ErrBack], [ErrClosed], [ErrNoWindow].
	Ask(ctx context.Context, q Question, words, answer []byte) (int, error)
	// Finish ends the conversation with a code of what stopped it, or "".
	Finish(code string)
}

// Question is one question to the owner, without secrets. Its members are
// those of the secret window's own line.
type Question struct {
	Form    string // "new_passphrase" | "passphrase" | "show_words" | "ask_words" | "restore"
	Purpose string // "create" | "unlock" | "restore" | "restore_backup" | "protection" | "words" | "backup" | "prove" | "passkey"
	Problem string // what was wrong with the answer before, or ""
	Place   int    // which word, from 1
	Places  []int  // ask_words: which words, from 1
	Digest  string // prove: 0x and 64 hex digits
	Vault   string // id of the vault concerned, 32 hex digits, as the pages show it; or ""
	Demo    bool
}

// Answers of a [Window] other than what was asked for.
var (
	ErrCancelled = errors.New("the owner cancelled")
	ErrBack      = errors.New("the owner went back")
	ErrClosed    = errors.New("the secret window has ended")
	ErrNoWindow  = errors.New("the secret window cannot be shown")
)

// proveTries is how often a passphrase may be typed for one approval.
const proveTries = 3

// askedBack is how many recovery words are asked back.
const askedBack = 3

// talk opens the secret window for one conversation and ends it with what came of it.
func (s *Signer) talk(ctx context.Context, surface keys.Surface, f func(*talk) error) error {
	w, err := s.cfg.Window(ctx, surface)
	if err != nil {
		return err
	}
	err = f(&talk{ctx, w, s.cfg.Custody.Rand})
	code := ""
	var e *keys.Error
	if errors.As(s.fault(err), &e) && e.Code != "cancelled" {
		code = e.Code
	}
	w.Finish(code)
	return err
}

type talk struct {
	ctx  context.Context
	w    Window
	rand io.Reader
}

// ask reads one answer into secret memory, which the caller destroys.
func (t *talk) ask(q Question, words []byte) (*custody.Secret, error) {
	answer, err := custody.NewSecret(passphrase.Max)
	if err != nil {
		return nil, err
	}
	n, err := t.w.Ask(t.ctx, q, words, answer.Bytes())
	if err != nil {
		answer.Destroy()
		return nil, err
	}
	answer.Shrink(n)
	return answer, nil
}

// newPassphrase asks for a new passphrase until it is one.
func (t *talk) newPassphrase(q Question) (*custody.Secret, error) {
	q.Form = "new_passphrase"
	for {
		p, err := t.ask(q, nil)
		if err != nil {
			return nil, err
		}
		if q.Problem = passphrase.Check(p.Bytes()); q.Problem == "" {
			return p, nil
		}
		p.Destroy()
	}
}

// passphrase asks for the passphrase until try takes it, at most tries times (0:
// without end). Another error than a wrong passphrase ends it.
func (t *talk) passphrase(q Question, tries int, try func(*custody.Secret) error) error {
	q.Form = "passphrase"
	for n := 1; ; n++ {
		p, err := t.ask(q, nil)
		if err != nil {
			return err
		}
		err = custody.ErrPassphraseNeeded
		if p.Len() > 0 {
			err = try(p)
		}
		p.Destroy()
		wrong := errors.Is(err, custody.ErrWrongPassphrase) || errors.Is(err, custody.ErrPassphraseNeeded)
		if !wrong || n == tries {
			return err
		}
		q.Problem = custody.ErrWrongPassphrase.Code()
	}
}

// showWords shows the recovery words and asks some of them back.
func (t *talk) showWords(v *custody.Vault, q Question) error {
	var words *custody.Secret
	err := v.WithRoot(func(root []byte) (err error) {
		words, err = custody.Words(root)
		return err
	})
	if err != nil {
		return err
	}
	defer words.Destroy()
	for {
		q.Form, q.Problem, q.Places, q.Place = "show_words", "", nil, 0
		shown, err := t.ask(q, words.Bytes())
		if err != nil {
			return err
		}
		shown.Destroy()
		err = t.askBack(words.Bytes(), q)
		if !errors.Is(err, ErrBack) {
			return err
		}
	}
}

func (t *talk) askBack(words []byte, q Question) (err error) {
	q.Form = "ask_words"
	if q.Places, err = places(t.rand, askedBack); err != nil {
		return err
	}
	for {
		typed, err := t.ask(q, nil)
		if err != nil {
			return err
		}
		wrong := firstWrong(words, typed.Bytes(), q.Places)
		typed.Destroy()
		if wrong == 0 {
			return nil
		}
		q.Problem, q.Place = "wrong_word", wrong
	}
}

// places chooses so many different numbers from 1 to 24.
func places(random io.Reader, n int) ([]int, error) {
	var out []int
	var seen [25]bool
	for len(out) < n {
		var b [8]byte
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return nil, err
		}
		place := int(binary.BigEndian.Uint64(b[:])%24) + 1
		if !seen[place] {
			seen[place] = true
			out = append(out, place)
		}
	}
	return out, nil
}

// firstWrong returns the first place whose word was not typed, 0 where all were.
// Typed words are each followed by a line feed.
func firstWrong(words, typed []byte, at []int) int {
	for _, place := range at {
		word := cut(words, ' ', place-1)
		end := 0
		for end < len(typed) && typed[end] != '\n' {
			end++
		}
		if subtle.ConstantTimeCompare(word, typed[:end]) != 1 {
			return place
		}
		typed = typed[min(end+1, len(typed)):]
	}
	return 0
}

// cut returns the nth part of text, from 0.
func cut(text []byte, sep byte, n int) []byte {
	start := 0
	for i := 0; i <= len(text); i++ {
		if i == len(text) || text[i] == sep {
			if n == 0 {
				return text[start:i]
			}
			n, start = n-1, i+1
		}
	}
	return nil
}

// begin takes the right to talk to the owner.
func (s *Signer) begin() error {
	if !s.window.TryLock() {
		return refuse("busy", "the secret window is open already")
	}
	return nil
}

// shutOnly says why a vault cannot be opened now.
func (s *Signer) shutOnly() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.vault != nil {
		return refuse("already_open", "the vault is open")
	}
	return nil
}

// Create implements [keys.Handler].
func (s *Signer) Create(ctx context.Context, c keys.Create) (keys.Public, error) {
	if err := s.begin(); err != nil {
		return keys.Public{}, err
	}
	defer s.window.Unlock()
	if err := s.shutOnly(); err != nil {
		return keys.Public{}, err
	}
	found, err := custody.Look(s.cfg.Custody.Dir, s.cfg.Custody.Evidence...)
	if err != nil {
		return keys.Public{}, s.fault(err)
	}
	if found.State != custody.None {
		return keys.Public{}, s.fault(custody.ErrExists)
	}
	if err := s.keyringAnswers(ctx, custody.Protection(c.Protection)); err != nil {
		return keys.Public{}, err
	}
	q := Question{Purpose: "create", Demo: c.Demo}
	var v *custody.Vault
	create := func(p *custody.Secret) error {
		params, err := s.cost(ctx, c.Protection)
		if err != nil {
			return err
		}
		v, err = custody.Create(ctx, s.cfg.Custody, custody.Request{
			Protection: custody.Protection(c.Protection), Passphrase: p, Params: params, Demo: c.Demo,
		})
		if err == nil {
			err = setStart(ctx, v, "")
		}
		return err
	}
	words := func(t *talk) error {
		q.Vault = v.State().VaultID.String()
		return s.wordsOf(ctx, t, v, q)
	}
	switch {
	case custody.Protection(c.Protection).UsesPassphrase():
		err = s.talk(ctx, c.Surface, func(t *talk) error {
			p, err := t.newPassphrase(q)
			if err != nil {
				return err
			}
			err = create(p)
			p.Destroy()
			if err != nil || c.PutOff {
				return err
			}
			return words(t)
		})
	default:
		if err = create(nil); err == nil && !c.PutOff {
			err = s.talk(ctx, c.Surface, words)
		}
	}
	if err != nil && v == nil {
		return keys.Public{}, s.fault(err)
	}
	// The vault is there. Words that were not written down are put off.
	return s.install(v)
}

func (s *Signer) cost(ctx context.Context, p keys.Protection) (custody.Params, error) {
	if !custody.Protection(p).UsesPassphrase() {
		return custody.Params{}, nil
	}
	return s.cfg.Cost(ctx)
}

// wordsOf shows the words and writes down that they were.
func (s *Signer) wordsOf(ctx context.Context, t *talk, v *custody.Vault, q Question) error {
	if err := t.showWords(v, q); err != nil {
		return err
	}
	err := v.Update(ctx, func(st *custody.State) { st.WordsShown = true })
	if errors.Is(err, custody.ErrAnchorNotKept) {
		return nil
	}
	return err
}

// Unlock implements [keys.Handler].
func (s *Signer) Unlock(ctx context.Context, u keys.Unlock) (keys.Public, error) {
	if err := s.begin(); err != nil {
		return keys.Public{}, err
	}
	defer s.window.Unlock()
	if err := s.shutOnly(); err != nil {
		return keys.Public{}, err
	}
	found, err := custody.Look(s.cfg.Custody.Dir, s.cfg.Custody.Evidence...)
	if err != nil {
		return keys.Public{}, s.fault(err)
	}
	switch {
	case found.State == custody.None:
		return keys.Public{}, s.fault(custody.ErrNoVault)
	case found.State != custody.Present:
		return keys.Public{}, s.fault(found.Why)
	}
	if err := s.keyringAnswers(ctx, found.Header.Protection); err != nil {
		return keys.Public{}, err
	}
	var v *custody.Vault
	open := func(p *custody.Secret) (err error) {
		v, err = custody.Open(ctx, s.cfg.Custody, p)
		return err
	}
	if found.Header.Protection.UsesPassphrase() {
		q := Question{Purpose: "unlock", Vault: found.Header.VaultID.String(), Demo: found.Header.Demo}
		err = s.talk(ctx, u.Surface, func(t *talk) error { return t.passphrase(q, 0, open) })
	} else {
		err = open(nil)
	}
	if err != nil {
		return keys.Public{}, s.fault(err)
	}
	return s.install(v)
}

// Restore implements [keys.Handler].
func (s *Signer) Restore(ctx context.Context, r keys.Restore) (keys.Public, error) {
	if err := s.begin(); err != nil {
		return keys.Public{}, err
	}
	defer s.window.Unlock()
	if err := s.shutOnly(); err != nil {
		return keys.Public{}, err
	}
	if err := s.keyringAnswers(ctx, custody.Protection(r.Protection)); err != nil {
		return keys.Public{}, err
	}
	v, err := s.restore(ctx, r)
	if err != nil && v == nil {
		return keys.Public{}, s.fault(err)
	}
	return s.install(v)
}

// restore makes the new instance. Where there is one, it is there despite an error.
func (s *Signer) restore(ctx context.Context, r keys.Restore) (*custody.Vault, error) {
	if r.Backup != "" {
		return s.restoreBackup(ctx, r)
	}
	var v *custody.Vault
	err := s.talk(ctx, r.Surface, func(t *talk) error {
		q := Question{Form: "restore", Purpose: "restore"}
		var p *custody.Secret
		defer func() { p.Destroy() }()
		for {
			typed, err := t.ask(q, nil)
			if err != nil {
				return err
			}
			var root *custody.Secret
			custody.Do(func() { root, err = custody.ParseRoot(typed.Bytes()) })
			typed.Destroy()
			if problem, place := rootProblem(err); problem != "" {
				q.Problem, q.Place = problem, place
				continue
			}
			if err != nil {
				return err
			}
			if p == nil && custody.Protection(r.Protection).UsesPassphrase() {
				if p, err = t.newPassphrase(Question{Purpose: "restore"}); err != nil {
					root.Destroy()
					return err
				}
			}
			params, err := s.cost(ctx, r.Protection)
			if err == nil {
				v, err = custody.Restore(ctx, s.cfg.Custody, custody.Request{
					Protection: custody.Protection(r.Protection), Passphrase: p, Params: params,
				}, root)
			}
			root.Destroy()
			if errors.Is(err, custody.ErrOtherRoot) {
				q.Problem, q.Place = "other_vault", 0
				if found, e := custody.Look(s.cfg.Custody.Dir); e == nil {
					q.Vault = found.Header.VaultID.String()
				}
				continue
			}
			if err == nil {
				err = setStart(ctx, v, "restored")
			}
			return err
		}
	})
	return v, err
}

// restoreBackup is restore from a backup file. What it holds of rights is suspended
// like after any other restoring; the log in it is for reading.
func (s *Signer) restoreBackup(ctx context.Context, r keys.Restore) (v *custody.Vault, err error) {
	if s.cfg.OpenBackup == nil {
		return nil, refuse("no_backup", "this build opens no backups")
	}
	err = s.talk(ctx, r.Surface, func(t *talk) error {
		return t.passphrase(Question{Purpose: "restore_backup"}, 0, func(of *custody.Secret) error {
			sealed, err := s.cfg.OpenBackup(ctx, r, of)
			if err != nil {
				return err
			}
			var p *custody.Secret
			defer func() { p.Destroy() }()
			if custody.Protection(r.Protection).UsesPassphrase() {
				if p, err = t.newPassphrase(Question{Purpose: "restore"}); err != nil {
					return err
				}
			}
			params, err := s.cost(ctx, r.Protection)
			if err != nil {
				return err
			}
			v, err = custody.RestorePortable(ctx, s.cfg.Custody, custody.Request{
				Protection: custody.Protection(r.Protection), Passphrase: p, Params: params,
			}, sealed, of)
			if errors.Is(err, custody.ErrWrongPassphrase) || errors.Is(err, custody.ErrDamaged) {
				// The file opened: asking again would not help.
				return refuse(codeNotBackup, "the file's parts do not belong together")
			}
			if err != nil {
				return err
			}
			return setStart(ctx, v, "restored")
		})
	})
	return v, err
}

// rootProblem says what was wrong with typed words, and with which.
func rootProblem(err error) (string, int) {
	var word *custody.WordError
	switch {
	case errors.As(err, &word):
		return "bad_words", word.Place
	case errors.Is(err, custody.ErrWordCount), errors.Is(err, custody.ErrWordsChecksum):
		return "bad_words", 0
	case errors.Is(err, custody.ErrRootHex), errors.Is(err, custody.ErrRootWeak):
		return "bad_root", 0
	}
	return "", 0
}

// NewInstance implements [keys.Handler]. It needs no doubt: an owner who has put
// back a whole home folder knows what no file can tell. Nothing is gained by
// lying here: what was counted before is suspended.
func (s *Signer) NewInstance(ctx context.Context) (keys.Public, error) {
	if err := s.begin(); err != nil {
		return keys.Public{}, err
	}
	defer s.window.Unlock()
	s.mu.Lock()
	v, phase, doubt := s.vault, s.phase, s.doubt
	s.mu.Unlock()
	if v == nil {
		return keys.Public{}, refuse(keys.CodeEnded, "the vault is locked")
	}
	var reason string
	switch {
	case phase == phaseLoading:
		return keys.Public{}, refuse(codeNotLoaded, "the log has to be looked at first")
	case phase == phaseOpen:
		reason = "restored"
	case doubt.Code == codeCopied:
		reason = codeCopied
	default:
		reason = codeRolledBack
	}
	if err := v.NewInstance(ctx); err != nil {
		return keys.Public{}, s.fault(err)
	}
	// Where this is not written, the next opening says "copied", which is as strict.
	if err := setStart(ctx, v, reason); err != nil {
		return keys.Public{}, s.fault(err)
	}
	return s.install(v)
}

// ShowWords implements [keys.Handler]. Words that were put off at creation are
// shown after the passphrase; words that were shown once, and those of a vault with a passkey,
// need an allowance.
func (s *Signer) ShowWords(ctx context.Context, surface keys.Surface) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.window.Unlock()
	v, err := s.opened()
	if err != nil {
		return err
	}
	if v.State().WordsShown || len(v.State().Passkeys) > 0 {
		if err := s.allow(confirm.RecoveryShow, ""); err != nil {
			return err
		}
	}
	if err := v.Doubt(); err != nil {
		return s.fault(err)
	}
	q := Question{Purpose: "words", Vault: v.State().VaultID.String(), Demo: v.State().Demo}
	err = s.talk(ctx, surface, func(t *talk) error {
		if v.State().Protection.UsesPassphrase() {
			if err := t.passphrase(q, 0, func(p *custody.Secret) error { return s.verify(ctx, p) }); err != nil {
				return err
			}
		}
		return s.wordsOf(ctx, t, v, q)
	})
	s.renew()
	return s.fault(err)
}

// verify says whether a passphrase opens the vault.
func (s *Signer) verify(ctx context.Context, p *custody.Secret) error {
	v, err := custody.Open(ctx, s.cfg.Custody, p)
	if err == nil {
		v.Lock()
	}
	return err
}

// renew reads the sealed state again after a conversation.
func (s *Signer) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.vault != nil {
		s.refresh()
		s.collectSoon()
	}
}

// strength orders the protections.
var strength = map[keys.Protection]int{
	keys.ProtectKeyring: 1, keys.ProtectPassphrase: 2, keys.ProtectKeyringAndPassphrase: 3,
}

// ChangeProtection implements [keys.Handler]. A weaker one needs an allowance.
func (s *Signer) ChangeProtection(ctx context.Context, to keys.Protection, surface keys.Surface) (keys.Public, error) {
	if err := s.begin(); err != nil {
		return keys.Public{}, err
	}
	defer s.window.Unlock()
	v, err := s.opened()
	if err != nil {
		return keys.Public{}, err
	}
	from := v.State().Protection
	if strength[to] == 0 {
		return keys.Public{}, refuse(codeMalformed, "there is no such protection")
	}
	if strength[to] < strength[keys.Protection(from)] {
		if err := s.allow(confirm.ProtectionChange, string(to)); err != nil {
			return keys.Public{}, err
		}
	}
	if !from.UsesPassphrase() && !custody.Protection(to).UsesPassphrase() {
		return keys.Public{}, refuse(codeNotDone, "the keyring alone opens the vault already")
	}
	if err := v.Doubt(); err != nil {
		return keys.Public{}, s.fault(err)
	}
	s.mu.Lock()
	before := s.sealed.passkeys
	s.mu.Unlock()
	if err := s.keyringAnswers(ctx, custody.Protection(to)); err != nil {
		return keys.Public{}, err
	}
	q := Question{Purpose: "protection", Vault: v.State().VaultID.String(), Demo: v.State().Demo}
	err = s.talk(ctx, surface, func(t *talk) error {
		if from.UsesPassphrase() {
			if err := t.passphrase(q, 0, func(p *custody.Secret) error { return s.verify(ctx, p) }); err != nil {
				return err
			}
		}
		var p *custody.Secret
		if custody.Protection(to).UsesPassphrase() {
			if p, err = t.newPassphrase(q); err != nil {
				return err
			}
			defer p.Destroy()
		}
		params, err := s.cost(ctx, to)
		if err != nil {
			return err
		}
		err = v.ChangeProtection(ctx, custody.Request{Protection: custody.Protection(to), Passphrase: p, Params: params})
		if errors.Is(err, custody.ErrAnchorNotKept) || errors.Is(err, custody.ErrShareLeft) {
			// It was changed. What the keyring lacks is written with the next anchor;
			// an old share that it keeps opens nothing any more.
			err = nil
		}
		if err == nil && to == keys.ProtectKeyring {
			// The passkeys have gone, and the rules with them. What they confirmed stays confirmed.
			at := s.cfg.Clock.Now()
			err = writeSealed(ctx, v, func(now *sealed) {
				now.policy.Rules = permit.Policy{}
				for _, p := range before {
					p.removed(at)
					now.policy.Removed = append(now.policy.Removed, p)
				}
			})
		}
		return err
	})
	s.renew()
	if err != nil {
		return keys.Public{}, s.fault(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pub, nil
}

// Prove implements [keys.Handler].
func (s *Signer) Prove(ctx context.Context, digest string, surface keys.Surface) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.window.Unlock()
	v, err := s.opened()
	if err != nil {
		return err
	}
	st := v.State()
	if !st.Protection.UsesPassphrase() {
		return refuse("no_passphrase", "this vault has no passphrase")
	}
	var hash custody.Hash
	if hash.UnmarshalText([]byte(digest)) != nil {
		return refuse(codeMalformed, "the digest is not 0x and 64 hex digits")
	}
	q := Question{Purpose: "prove", Digest: digest, Vault: v.State().VaultID.String(), Demo: st.Demo}
	err = s.talk(ctx, surface, func(t *talk) error {
		return t.passphrase(q, proveTries, func(p *custody.Secret) error { return s.verify(ctx, p) })
	})
	s.renew()
	return s.fault(err)
}

// Backup implements [keys.Handler].
func (s *Signer) Backup(ctx context.Context, b keys.Backup) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.window.Unlock()
	v, err := s.opened()
	if err != nil {
		return err
	}
	if s.cfg.Backup == nil {
		return refuse("no_backup", "this build makes no backups")
	}
	q := Question{Purpose: "backup", Vault: v.State().VaultID.String(), Demo: v.State().Demo}
	err = s.talk(ctx, b.Surface, func(t *talk) error {
		p, err := t.newPassphrase(q)
		if err != nil {
			return err
		}
		defer p.Destroy()
		params, err := s.cfg.Cost(ctx)
		if err != nil {
			return err
		}
		sealed, err := v.Portable(ctx, p, params)
		if err != nil {
			return err
		}
		return s.cfg.Backup(ctx, b, sealed, p)
	})
	s.renew()
	return s.fault(err)
}
