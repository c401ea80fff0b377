package approvals

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/approvals/store"
	"vault/derive/envelope"
)

// ownerView is the desk as the owner's own surfaces see it.
type ownerView struct{ d *Desk }

// Owner gives the view of the desk that decides. Nothing that reaches the socket may have it.
func (d *Desk) Owner() Owner { return ownerView{d} }

// Watch implements [Owner].
func (v ownerView) Watch(f func()) (stop func()) { return v.d.watch(f) }

// Status implements [Owner].
func (v ownerView) Status() Status {
	d := v.d
	d.mu.Lock()
	defer d.mu.Unlock()
	s := Status{
		State: d.state(), Trouble: d.trouble, Public: d.public, Socket: d.o.Socket, Folder: d.o.Folder,
		Entries: d.led.state.Seq(), Covered: d.led.covered, CheckedAt: d.checkedAt, Checked: d.checked, Waiting: len(d.items) + len(d.engaged),
		WordsDue:   d.led.state.Seq() > 0 && d.led.state.Reason() == "" && !d.led.state.WordsShown(),
		LockReason: d.lockReason, LockedAt: d.lockedAt, IdleMS: int64(d.settings.IdleMinutes) * 60_000,
	}
	if s.Public.Vault == "" && d.led.state.Seq() > 0 {
		s.Public.Vault, s.Public.Demo = d.led.state.Vault(), d.led.state.Demo()
	}
	if !d.exists {
		s.Public.Demo = d.o.Demo // of the vault that is about to be made
	}
	return s
}

// Create implements [Owner].
func (v ownerView) Create(ctx context.Context, c Creation) error {
	d := v.d
	d.mu.Lock()
	exists := d.exists
	d.mu.Unlock()
	if exists {
		return refuse(CodeAlreadyExists)
	}
	// What the owner typed is checked before anything is made.
	if _, err := envelope.NewDomainInfo(c.Domain.Namespace, c.Domain.DomainID, c.Domain.Kind); err != nil {
		return refuseWith(CodeMalformed, err.Error())
	}
	k, err := d.begin(ctx)
	if err != nil {
		return err
	}
	var pub keys.Public
	err = d.attended(ctx, k, func(ctx context.Context) (err error) {
		pub, err = k.Create(ctx, keys.Create{Protection: c.Protection, Surface: c.Surface, Demo: d.o.Demo, PutOff: c.PutOff})
		return err
	})
	if err == nil {
		err = d.install(ctx, k, pub)
	}
	if err != nil {
		d.look()
		d.opened(k, err)
		return err
	}
	_, err = v.CreateDomain(ctx, c.Domain)
	d.changed()
	return err
}

// look finds out again whether a vault lies in the folder.
func (d *Desk) look() {
	if exists, err := d.o.Launcher.Exists(); err == nil {
		d.mu.Lock()
		d.exists = exists
		d.mu.Unlock()
	}
}

// Unlock implements [Owner].
func (v ownerView) Unlock(ctx context.Context, s keys.Surface) error {
	d := v.d
	d.mu.Lock()
	exists := d.exists
	d.mu.Unlock()
	if !exists {
		return refuse(CodeNoVault)
	}
	k, err := d.begin(ctx)
	if err != nil {
		return err
	}
	var pub keys.Public
	err = d.attended(ctx, k, func(ctx context.Context) (err error) {
		pub, err = k.Unlock(ctx, keys.Unlock{Surface: s})
		return err
	})
	if err == nil {
		err = d.install(ctx, k, pub)
	}
	if err != nil {
		d.opened(k, err)
		return err
	}
	d.changed()
	return nil
}

// Restore implements [Owner]. It begins a new instance: the log so far is kept
// aside, domains are opened again, clients and grants are not.
func (v ownerView) Restore(ctx context.Context, p keys.Protection, s keys.Surface) error {
	d := v.d
	k, err := d.begin(ctx)
	if err != nil {
		return err
	}
	var pub keys.Public
	err = d.attended(ctx, k, func(ctx context.Context) (err error) {
		pub, err = k.Restore(ctx, keys.Restore{Protection: p, Surface: s})
		return err
	})
	if err == nil {
		err = d.install(ctx, k, pub)
	}
	if err != nil {
		d.look()
		d.opened(k, err)
		return err
	}
	d.changed()
	return nil
}

// RestoreBackup implements [Owner]. The key process makes the vault first and the store
// is placed then: a computer that stops in between has a new instance without an archive.
func (v ownerView) RestoreBackup(ctx context.Context, file string, p keys.Protection, s keys.Surface) error {
	d := v.d
	d.mu.Lock()
	there := d.exists || d.db() != nil
	d.mu.Unlock()
	if there {
		return refuse(CodeAlreadyExists)
	}
	id, err := d.newID("restore-")
	if err != nil {
		return err
	}
	tmp := filepath.Join(d.o.Folder, id+".db")
	defer func() { _ = os.Remove(tmp) }() // it is gone where it was placed
	k, err := d.begin(ctx)
	if err != nil {
		return err
	}
	var pub keys.Public
	err = d.attended(ctx, k, func(ctx context.Context) (err error) {
		pub, err = k.Restore(ctx, keys.Restore{Protection: p, Surface: s, Backup: file, Store: tmp})
		return err
	})
	if err == nil {
		err = d.place(ctx, tmp)
	}
	if err == nil {
		err = d.install(ctx, k, pub)
	}
	if err != nil {
		d.look()
		d.opened(k, err)
		return err
	}
	d.changed()
	return nil
}

// place makes a store that came out of a backup the desk's own and reads it. What is wrong
// with it stays with the archive: the new instance begins all the same.
func (d *Desk) place(ctx context.Context, file string) error {
	if err := store.Place(file, d.o.Folder); err != nil {
		return err
	}
	if err := d.openStore(ctx); err != nil {
		return err
	}
	return d.read(false)
}

// NewInstance implements [Owner]. The vault was just unlocked and its log refused, or it is
// open and its owner says that older files were put back. The log so far is kept aside,
// domains are opened again, clients and grants are not.
func (v ownerView) NewInstance(ctx context.Context) error {
	d := v.d
	d.mu.Lock()
	k := d.doubtful
	d.doubtful = nil
	switch {
	case k != nil:
		d.opening = true
	case d.state() == StateOpen:
		k = d.keys
	}
	d.mu.Unlock()
	if k == nil {
		return refuse(CodeUnlockFirst)
	}
	var pub keys.Public
	err := d.do(&op{alone: true, run: func() (err error) {
		err = d.patient(ctx, k, func(ctx context.Context) (err error) {
			pub, err = k.NewInstance(ctx)
			return err
		})
		if err == nil {
			_, err = d.takeOver(ctx, k, pub)
		}
		return err
	}})
	if err != nil {
		d.endKeys(k, "ended", nil)
		d.opened(k, err)
		return err
	}
	d.keepSockets()
	d.changed()
	return d.reopenDomains(ctx, k)
}

// reopenDomains opens the domains of earlier instances again.
func (d *Desk) reopenDomains(ctx context.Context, k KeyProcess) error {
	old, err := d.db().OldPermits(permit.TypeDomain)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, row := range old {
		p, err := permit.ParseDomain(row.Body)
		if err != nil || seen[p.Hash] {
			continue
		}
		proj, err := envelope.ParseProjection(p.Projection)
		if err != nil || proj.Info().Hash() != p.Hash {
			continue // not as it was written: it is not opened again
		}
		seen[p.Hash] = true
		if _, err := d.openDomain(ctx, k, proj.Info()); err != nil {
			return err
		}
	}
	return nil
}

// Lock implements [Owner].
func (v ownerView) Lock(ctx context.Context, reason string) error {
	if !slices.Contains([]string{"asked", "idle", "suspend", "quit"}, reason) {
		reason = "asked"
	}
	return v.d.lock(ctx, reason)
}

// Touch implements [Owner].
func (v ownerView) Touch() {
	v.d.mu.Lock()
	v.d.touched = v.d.clock.Boot()
	v.d.mu.Unlock()
}

// SetAway implements [Owner].
func (v ownerView) SetAway(away bool) {
	d := v.d
	d.mu.Lock()
	d.away = away && d.keys != nil
	if d.away {
		if d.running != nil {
			d.running.stop()
		}
		for _, it := range d.items {
			it.shut()
		}
	}
	d.mu.Unlock()
	d.changed()
}

// openKeys is the key process of an open vault with its owner present.
func (d *Desk) openKeys() (KeyProcess, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch d.state() {
	case StateOpen:
		return d.keys, nil
	case StateAway:
		return nil, refuse(CodeAway)
	}
	return nil, d.shut()
}

// ShowWords implements [Owner].
func (v ownerView) ShowWords(ctx context.Context, s keys.Surface) error {
	d := v.d
	k, err := d.openKeys()
	if err != nil {
		return err
	}
	d.mu.Lock()
	passkeys := d.public.Passkeys > 0
	d.mu.Unlock()
	if passkeys {
		if _, err := d.ownerAct(ctx, "words", "recovery.show", "", ""); err != nil {
			return refusalOf(err)
		}
	}
	if err := d.attended(ctx, k, func(ctx context.Context) error { return k.ShowWords(ctx, s) }); err != nil {
		return err
	}
	return d.do(&op{alone: true, build: func(b *batch) error {
		a, err := b.add(journal.KindWordsShown, journal.WordsShown{When: "later"})
		if err != nil {
			return err
		}
		a.applied = func() { d.public.WordsShown = true }
		return nil
	}})
}

// ChangeProtection implements [Owner].
func (v ownerView) ChangeProtection(ctx context.Context, p keys.Protection, s keys.Surface) error {
	d := v.d
	k, err := d.openKeys()
	if err != nil {
		return err
	}
	d.mu.Lock()
	from, passkeys := d.public.Protection, d.public.Passkeys > 0
	d.mu.Unlock()
	if passkeys && weaker(p, from) {
		if _, err := d.ownerAct(ctx, "protection", "protection.change", string(from), string(p)); err != nil {
			return refusalOf(err)
		}
	}
	var pub keys.Public
	err = d.attended(ctx, k, func(ctx context.Context) (err error) {
		pub, err = k.ChangeProtection(ctx, p, s)
		return err
	})
	if err != nil {
		return err
	}
	return d.do(&op{alone: true, anchor: true, build: func(b *batch) error {
		a, err := b.add(journal.KindProtectionChanged, journal.ProtectionChanged{From: string(d.public.Protection), To: string(pub.Protection)})
		if err != nil {
			return err
		}
		a.applied = func() { d.public = pub }
		return nil
	}})
}

// Backup implements [Owner].
func (v ownerView) Backup(ctx context.Context, file string, s keys.Surface) error {
	d := v.d
	k, err := d.openKeys()
	if err != nil {
		return err
	}
	id, err := d.newID("backup-")
	if err != nil {
		return err
	}
	tmp := filepath.Join(d.o.Folder, id+".db")
	defer func() { _ = os.Remove(tmp) }()
	if err := d.db().CopyTo(ctx, tmp); err != nil {
		return err
	}
	return d.attended(ctx, k, func(ctx context.Context) error { return k.Backup(ctx, keys.Backup{Surface: s, Store: tmp, File: file}) })
}

// Inbox implements [Owner].
func (v ownerView) Inbox() []Item {
	d := v.d
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []Item
	if d.keys != nil && !d.led.state.WordsShown() && d.led.state.Reason() == "" {
		out = append(out, Item{ID: "words", Kind: ItemWords, Since: d.led.state.StartedAt(), Merged: 1})
	}
	note := ""
	if d.keys == nil {
		note = string(StateLocked)
	} else if d.away {
		note = string(StateAway)
	}
	open := slices.IndexFunc(d.items, func(it *item) bool { return it.open })
	for i, it := range d.items {
		x := Item{ID: it.id, Kind: it.kind, Since: it.since, Until: it.until().wall, Merged: it.count, Note: note, Next: i == 0 && open <= 0}
		if it.action != nil {
			f := it.action.envelope.Fields()
			x.Operation, x.Resource = f.Operation, f.Resources[0]
			if c := d.led.clients[it.client]; c != nil {
				x.Agent = c.permit.Name
			}
		}
		if it.moment != nil {
			x.Session, x.Stem = it.session, it.moment.sheet.Envelope.Content().Stem
			if c := d.led.clients[it.client]; c != nil {
				x.Agent = c.permit.Name
			}
		}
		out = append(out, x)
	}
	for _, n := range d.notes {
		x := Item{ID: n.ID, Kind: ItemNote, Since: n.At, Merged: int(n.Count), Session: n.Session, Reason: n.Reason}
		if c := d.led.clients[n.Client]; c != nil {
			x.Agent = c.permit.Name
		}
		out = append(out, x)
	}
	return append(out, d.engaged...)
}

// Open implements [Owner].
func (v ownerView) Open(ctx context.Context, id string) (Sheet, error) { return v.d.openItem(ctx, id) }

// Closed implements [Owner].
func (v ownerView) Closed(id string) { v.d.closed(id) }

// Decide implements [Owner].
func (v ownerView) Decide(ctx context.Context, dec Decision) (Outcome, error) {
	if dec.Confirm && dec.Verdict == VerdictDeclineBlock {
		return Outcome{}, refuseWith(CodeMalformed, "a block is not confirmed")
	}
	return v.d.decide(ctx, dec)
}

// DeclineAll implements [Owner].
func (v ownerView) DeclineAll(_ context.Context, client string) error { return v.d.declineAll(client) }

func (r *domainRow) view() DomainView {
	i := r.projection.Info()
	return DomainView{
		Hash: r.permit.Hash, ID: i.DomainID(), Namespace: i.Namespace(), Kind: i.Kind(), Address: r.projection.Address(),
		Fingerprint: r.projection.Fingerprint(), CreatedAt: r.permit.CreatedAt, Signatures: r.signed,
	}
}

// Domains implements [Owner].
func (v ownerView) Domains() []DomainView {
	d := v.d
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []DomainView
	for _, row := range d.led.domains {
		out = append(out, row.view())
	}
	slices.SortFunc(out, func(a, b DomainView) int {
		if a.CreatedAt != b.CreatedAt {
			return int(a.CreatedAt - b.CreatedAt)
		}
		return strings.Compare(a.Hash, b.Hash)
	})
	return out
}

// CreateDomain implements [Owner].
func (v ownerView) CreateDomain(ctx context.Context, f DomainForm) (DomainView, error) {
	d := v.d
	info, err := envelope.NewDomainInfo(f.Namespace, f.DomainID, f.Kind)
	if err != nil {
		return DomainView{}, refuseWith(CodeMalformed, err.Error())
	}
	k, err := d.openKeys()
	if err != nil {
		return DomainView{}, err
	}
	return d.openDomain(ctx, k, info)
}

func (d *Desk) openDomain(ctx context.Context, k KeyProcess, info *envelope.DomainInfo) (DomainView, error) {
	d.mu.Lock()
	_, there := d.led.domains[info.Hash()]
	d.mu.Unlock()
	if there {
		return DomainView{}, refuse(CodeDomainExists)
	}
	var raw []byte
	if err := d.patient(ctx, k, func(ctx context.Context) (err error) {
		raw, err = k.Plan(ctx, info.Canonical())
		return err
	}); err != nil {
		return DomainView{}, err
	}
	proj, err := envelope.ParseProjection(raw)
	if err != nil || proj.Info().Hash() != info.Hash() {
		return DomainView{}, refuse(CodeInternal)
	}
	var view DomainView
	err = d.do(&op{alone: true, anchor: true, build: func(b *batch) error {
		if d.led.domains[info.Hash()] != nil {
			return refuse(CodeDomainExists)
		}
		row := permit.Domain{Type: permit.TypeDomain, V: 1, Hash: info.Hash(), Projection: proj.Canonical(), CreatedAt: b.now}
		body, err := permit.Encode(row)
		if err != nil {
			return err
		}
		a, err := b.add(journal.KindDomainCreated, journal.DomainCreated{
			DomainHash: info.Hash(), DomainID: info.DomainID(), DomainAddress: proj.Address(), PermitSHA256: permit.SHA256(body),
		})
		if err != nil {
			return err
		}
		a.keyed.Permits = []keys.Permit{{Body: body}}
		a.ready = func() error { return oneMAC(a) }
		a.write = func(tx *store.Tx) error {
			return tx.PutPermit(store.Permit{Kind: permit.TypeDomain, ID: row.Hash, Body: body, MAC: a.answer.MACs[0]})
		}
		a.applied = func() {
			dom := &domainRow{permit: row, body: body, mac: a.answer.MACs[0], projection: proj}
			d.led.domains[row.Hash] = dom
			view = dom.view()
		}
		return nil
	}})
	return view, err
}

// Clients implements [Owner].
func (v ownerView) Clients() []ClientView {
	d := v.d
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []ClientView
	for _, st := range d.led.state.Clients() {
		row := d.led.clients[st.ID]
		if row == nil {
			continue
		}
		c := ClientView{
			ID: st.ID, Name: st.Name, Claimed: row.permit.Claimed, Executable: row.permit.Executable, UserID: row.permit.UserID,
			PairedAt: st.PairedAt, LastSeen: row.lastSeen, Ended: st.Ended, Connected: row.connected > 0,
			Signatures: row.signed, Declined: row.declined,
		}
		for _, g := range d.led.state.Grants() {
			if gr := d.led.grants[g.ID]; gr != nil && g.Client == st.ID {
				c.Grants = append(c.Grants, d.grantView(gr, g, st.Ended))
			}
		}
		for id, s := range row.sessions {
			c.Sessions = append(c.Sessions, SessionView{id, s.lastUsed})
		}
		slices.SortFunc(c.Sessions, func(a, b SessionView) int { return strings.Compare(a.ID, b.ID) })
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b ClientView) int { return int(a.PairedAt - b.PairedAt) })
	return out
}

func (d *Desk) grantView(row *grantRow, g journal.GrantState, clientEnded string) GrantView {
	f := row.envelope.Fields()
	out := GrantView{
		ID: g.ID, Client: g.Client, EnvelopeHash: g.EnvelopeHash, Operation: f.Operation, Resources: f.Resources,
		Uses: g.Uses, Used: min(g.Uses, int64(d.led.state.GrantUsed(g.ID))), NotAfter: g.NotAfter, MadeAt: g.MadeAt,
		WhileAway: row.permit.WhileAway, By: g.By, State: "active",
	}
	switch {
	case g.Ended != "" || clientEnded != "":
		out.State = "ended"
	case out.Used >= out.Uses:
		out.State = "spent"
	case row.end.passed(d.clock):
		out.State = "expired"
	case d.led.clockBehind(d.clock):
		out.State = "suspended"
	}
	return out
}

// RenameClient implements [Owner].
func (v ownerView) RenameClient(_ context.Context, id, name string) error {
	d := v.d
	name = strings.TrimSpace(name)
	if !nameOK(name) {
		return refuse(OutcomeName)
	}
	if _, err := d.openKeys(); err != nil {
		return err
	}
	return d.do(&op{alone: true, build: func(b *batch) error {
		row, refusal := d.led.client(id)
		switch {
		case refusal != nil:
			return refusal
		case d.nameTaken(name, id):
			return refuse(OutcomeNameTaken)
		}
		next := row.permit
		next.Name = name
		body, err := permit.Encode(next)
		if err != nil {
			return err
		}
		a, err := b.add(journal.KindClientPaired, journal.ClientPaired{
			Client: id, Name: name, By: "click", PermitSHA256: permit.SHA256(body), Replaces: permit.SHA256(row.body),
		})
		if err != nil {
			return err
		}
		a.keyed.Permits = append([]keys.Permit{{Body: body}}, permitsOf([]permitRow{{row.body, row.mac}})...)
		a.ready = func() error { return oneMAC(a) }
		a.write = func(tx *store.Tx) error {
			return tx.PutPermit(store.Permit{Kind: permit.TypeClient, ID: id, Body: body, MAC: a.answer.MACs[0], Secret: row.secret[:]})
		}
		a.applied = func() { row.permit, row.body, row.mac = next, body, a.answer.MACs[0] }
		return nil
	}})
}

// RevokeClient implements [Owner]. It needs no unlocked vault.
func (v ownerView) RevokeClient(_ context.Context, id string) error {
	d := v.d
	err := d.do(&op{alone: true, anchor: true, build: func(b *batch) error {
		if st, ok := d.led.state.Client(id); !ok || st.Ended != "" {
			return refuse(CodeUnknownClient)
		}
		return d.addClientEnd(b, id, "revoked")
	}})
	if err != nil {
		return err
	}
	return d.dropClient(id)
}

// dropClient withdraws what an ended client still has open.
func (d *Desk) dropClient(id string) error {
	d.mu.Lock()
	var items []*item
	for _, it := range d.items {
		if it.client == id && it.pairing == nil {
			items = append(items, it)
		}
	}
	d.mu.Unlock()
	for _, it := range items {
		o := d.endMoment(it, endWithdrawn)
		if it.moment == nil {
			o = d.end(it, outcomeWithdrawn, "client_ended", nil, nil)
		}
		if err := d.do(o); err != nil && err != errGone {
			return asRefusal(err)
		}
	}
	return nil
}

// Unblock implements [Owner]: a program that was blocked may ask to pair again. A
// client that has ended stays ended. The id is a block's or a client's.
func (v ownerView) Unblock(_ context.Context, id string) error {
	d := v.d
	if d.db() == nil {
		return refuse(CodeNoVault)
	}
	d.mu.Lock()
	var drop []store.Block
	row := d.led.clients[id]
	for _, b := range d.led.blocks {
		if b.ID == id || row != nil && b.UserID == row.permit.UserID && b.Executable == row.permit.Executable && b.Claimed == row.permit.Claimed {
			drop = append(drop, b)
		}
	}
	d.mu.Unlock()
	if len(drop) == 0 {
		return refuse(CodeUnknownClient)
	}
	if err := d.db().Do(func(tx *store.Tx) error {
		for _, b := range drop {
			if err := tx.DropBlock(b.ID); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return refuse(CodeStoreFailed)
	}
	d.mu.Lock()
	d.led.blocks = slices.DeleteFunc(d.led.blocks, func(b store.Block) bool {
		return slices.ContainsFunc(drop, func(x store.Block) bool { return x.ID == b.ID })
	})
	d.mu.Unlock()
	d.changed()
	return nil
}

// EndGrant implements [Owner]. It needs no unlocked vault.
func (v ownerView) EndGrant(_ context.Context, id string) error {
	d := v.d
	return d.do(&op{alone: true, anchor: true, build: func(b *batch) error {
		if g, ok := d.led.state.Grant(id); !ok || g.Ended != "" {
			return refuse(CodeUnknownGrant)
		}
		_, err := b.add(journal.KindGrantEnded, journal.GrantEnded{Grant: id, Reason: "revoked"})
		return err
	}})
}

// Events implements [Owner].
func (v ownerView) Events(f EventFilter) ([]Event, error) { return v.d.events(f) }

// VerifyLog implements [Owner].
func (v ownerView) VerifyLog(ctx context.Context) (LogReport, error) { return v.d.verifyLog(ctx) }

// ExportLog implements [Owner].
func (v ownerView) ExportLog(ctx context.Context, w io.Writer, format string) error {
	return v.d.exportLog(ctx, w, format)
}

// Receipt implements [Owner].
func (v ownerView) Receipt(_ context.Context, seq uint64) ([]byte, error) { return v.d.receipt(seq) }

// Settings implements [Owner].
func (v ownerView) Settings() Settings {
	v.d.mu.Lock()
	defer v.d.mu.Unlock()
	return v.d.settings
}

// SaveSettings implements [Owner]. When the vault locks and what it warns of can be changed only
// while it is open: these changes are log entries.
func (v ownerView) SaveSettings(_ context.Context, s Settings) error {
	d := v.d
	if d.db() == nil {
		return refuse(CodeNoVault)
	}
	if !s.valid() {
		return refuseWith(CodeMalformed, "a setting is outside its bounds")
	}
	d.mu.Lock()
	old := d.settings
	d.mu.Unlock()
	from, to := old.rows(), s.rows()
	needKeys := slices.ContainsFunc(logged, func(n string) bool { return from[n] != to[n] })
	save := func(tx *store.Tx) error {
		for name, text := range to {
			if from[name] != text {
				if err := tx.PutSetting(name, text); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if !needKeys {
		if err := d.db().Do(save); err != nil {
			return refuse(CodeStoreFailed)
		}
		d.mu.Lock()
		d.settings = s
		d.mu.Unlock()
		d.changed()
		return nil
	}
	if _, err := d.openKeys(); err != nil {
		return err
	}
	return d.do(&op{alone: true, build: func(b *batch) error {
		if d.settings != old {
			return errGone
		}
		for _, name := range logged {
			if from[name] == to[name] {
				continue
			}
			if _, err := b.add(journal.KindSettingChanged, journal.SettingChanged{Name: name, From: from[name], To: to[name]}); err != nil {
				return err
			}
		}
		last := b.acts[len(b.acts)-1]
		last.extra(save, func() { d.settings = s })
		return nil
	}})
}

// number writes a sequence number.
func number(n uint64) string { return strconv.FormatUint(n, 10) }
