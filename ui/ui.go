// Package ui is the owner's window: the inbox, the sheets on which decisions are made, and
// the pages around them. It turns documents into pictures and clicks into
// decisions of the [approvals.Owner] interface, and uses nothing else: no
// cryptography, no database, no file, no socket.
//
// The program that owns the Fyne app makes it so:
//
//	u := ui.New(fyneApp, owner, ui.Options{})
//	defer u.Close()
//	u.Show()
//	fyneApp.Run()
//
// Text from outside is drawn by package hostile alone and never above the seam
// of a sheet, in a title, or in a notification.
package ui

import (
	"context"
	"errors"
	"io"
	"reflect"
	"sync"
	"time"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/permit"
	"vault/approvals/sow"
	"vault/assets"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// Options are what the window needs from the program around it. Every zero value works.
type Options struct {
	// Now is the clock of the window. Default: time.Now.
	Now func() time.Time
	// Zone is where the owner's times are shown. Default: time.Local. Times that are signed are in UTC.
	Zone *time.Location
	// Do runs a function on the Fyne goroutine. Default: fyne.Do.
	Do func(func())
	// Go runs a function that may block. Default: a new goroutine.
	Go func(func())
	// Export makes a new file for the owner and says where. It is called by Go. Nil hides exports.
	Export func(name string) (file File, path string, err error)
	// BackupFile proposes the path of a backup. Nil hides backups.
	BackupFile func() string
	// Read reads a file that the owner named or dropped, and gives its name without folders. It is called by Go. Nil:
	// what is brought in is pasted only.
	Read func(path string) (name string, raw []byte, err error)
	// Keyring says whether a keyring answers here, for the choice of what opens a new vault. It is
	// called by Go and may block for seconds. Nil: it is not known.
	Keyring func(context.Context) bool
	// Notify says that something waits. Nil sends a notification without content through the app.
	Notify func()
}

// File is a file that the window fills and closes.
type File = io.WriteCloser

// Discarder is a [File] that can be taken away again, in the place of Close.
type Discarder interface{ Discard() error }

// UI is the window of one vault. Its methods belong on the Fyne goroutine, except Close.
type UI struct {
	app   fyne.App
	owner approvals.Owner
	opts  Options

	main     fyne.Window
	root     *frame
	page     string
	state    state
	known    bool // state was loaded once
	sheet    *sheet
	focus    fyne.Focusable
	scroll   map[string]*parts.Scroll
	note     *approvals.Sheet // note that the Inbox shows, or nil
	earlier  *approvals.AnsweredMoment
	noteText *hostile.Block
	banner   *banner // what came of the last thing the owner did
	repeat   struct {
		of *banner // the banner that offers it
		do func()
	}
	busy      string // what the vault is doing for the owner, or ""
	first     firstRun
	agents    agentsPage
	delegates delegatesPage
	domains   domainsPage
	log       activityPage
	set       settingsPage
	asking    *asking // confirmation that no open sheet shows, or nil
	contract  *contract
	deals     engagementsPage
	waiting   map[string]bool
	touched   time.Time

	ctx    context.Context
	cancel context.CancelFunc
	stop   func()

	mu      sync.Mutex
	loading bool
	again   bool
	filter  approvals.EventFilter
	asks    string // row of the moment that is open, whose questions are followed, or ""
	mints   minted
}

// state is everything the pages show, taken at one time.
type state struct {
	Status   approvals.Status
	Inbox    []approvals.Item
	Domains  []approvals.DomainView
	Clients  []approvals.ClientView
	Settings approvals.Settings
	Events   []approvals.Event
	EventErr string
	Asks     []approvals.AskView // of the moment that is open
	Rates    []approvals.MomentRate
	Ceremony *approvals.CeremonyView
	Passkeys []approvals.PasskeyView
	Policy   permit.Policy
	Clicks   []approvals.ClickRate
	Answered []approvals.AnsweredMoment // the newest

	Sockets   []approvals.SocketView
	Suspended []approvals.SuspendedView

	Delegates []approvals.DelegateView
	MintsOf   string // delegate that Mints and MintUses are of
	Mints     []approvals.MintView
	MintUses  []approvals.MintUse
	// Deployment is what the owner says that runtimes do, everywhere.
	Deployment sow.Deployment
	Seats      []agreement.SeatView
	Blocked    []approvals.BlockedKey
}

// banner is a remark of the vault on the page that is open.
type banner struct {
	tone       parts.Tone
	icon       string
	what, more string
}

// New makes the window of owner without showing it, sets the theme of the app and
// begins to watch. It blocks on nothing.
func New(app fyne.App, owner approvals.Owner, opts Options) *UI {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Zone == nil {
		opts.Zone = time.Local
	}
	if opts.Do == nil {
		opts.Do = fyne.Do
	}
	if opts.Go == nil {
		opts.Go = func(f func()) { go f() }
	}
	u := &UI{app: app, owner: owner, opts: opts, page: "inbox", scroll: map[string]*parts.Scroll{}, waiting: map[string]bool{}}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	if u.opts.Notify == nil {
		u.opts.Notify = func() { app.SendNotification(fyne.NewNotification("Vault", "A request is waiting.")) }
	}
	app.Settings().SetTheme(look.New("system", 100))
	u.main = app.NewWindow("Vault")
	u.main.SetPadded(false)
	if icon, err := assets.App("icon-128.png"); err == nil {
		u.main.SetIcon(fyne.NewStaticResource("icon-128.png", icon))
	}
	u.main.Resize(fyne.NewSize(1180, 740))
	u.root = newFrame(fyne.NewSize(900, 600))
	u.root.touched = u.touch
	u.main.SetContent(u.root)
	u.first.init(u)
	u.domains.init(u)
	u.log.init(u)
	u.deals.init(u)
	u.main.SetOnDropped(u.dropped)
	u.root.after = func() {
		if u.page == "engagements" {
			u.deals.list.place() // the view may be higher than it was
		}
	}
	u.stop = owner.Watch(u.changed)
	u.changed()
	return u
}

// Window is the main window.
func (u *UI) Window() fyne.Window { return u.main }

// Show shows the main window and brings it to the front.
func (u *UI) Show() {
	u.main.Show()
	u.main.RequestFocus()
}

// Close ends watching and everything the window has asked for. It may be called from
// any goroutine and does not close windows.
func (u *UI) Close() {
	u.stop()
	u.cancel()
}

// Rearm makes open sheets deaf for a second, as when a window comes to the front. The
// program calls it from the app's OnEnteredForeground.
func (u *UI) Rearm() {
	if u.sheet != nil {
		u.sheet.gate.arm()
	}
	if u.contract != nil {
		u.contract.gate.arm()
	}
}

// Tick draws anew what says how long ago something was. The program calls it about twice a minute.
func (u *UI) Tick() {
	if s := u.sheet; s != nil && s.asking != nil {
		s.arrange(s.compact) // the time that is left
	}
	if c := u.contract; c != nil && c.asking != nil {
		c.arrange()
	}
	if (u.busy == "" || u.asking != nil) && u.note == nil {
		u.rebuild()
	}
}

// changed loads the state anew, off the Fyne goroutine, one load at a time. It
// may be called from any goroutine and is the only way in for what happens elsewhere.
func (u *UI) changed() {
	u.mu.Lock()
	if u.loading {
		u.again = true
		u.mu.Unlock()
		return
	}
	u.loading = true
	u.mu.Unlock()
	u.opts.Go(u.load)
}

func (u *UI) load() {
	for {
		u.mu.Lock()
		filter, asks, mints := u.filter, u.asks, u.mints
		u.mu.Unlock()
		s := state{Status: u.owner.Status(), Inbox: u.owner.Inbox(), Domains: u.owner.Domains(), Clients: u.owner.Clients(), Settings: u.owner.Settings()}
		if v, open := u.owner.Ceremony(); open {
			s.Ceremony = &v
		}
		if s.Status.State != approvals.StateNone {
			events, err := u.owner.Events(filter)
			s.Events = events
			if err != nil {
				s.EventErr = err.Error()
			}
			if rates, err := u.owner.MomentRates(); err == nil {
				s.Rates = rates
			}
			if answered, err := u.owner.Answered(0, eventsAtOnce); err == nil {
				s.Answered = answered
			}
			s.Sockets = u.owner.Sockets()
			if list, err := u.owner.Suspended(); err == nil {
				s.Suspended = list
			}
			s.Passkeys, s.Policy = u.owner.Passkeys(), u.owner.Policy()
			s.Deployment, _ = u.owner.Deployment("")
			s.Seats, s.Blocked = u.owner.Seats(), u.owner.BlockedKeys()
			if clicks, err := u.owner.ClickRates(u.opts.Now().Add(-clicksFor).UnixMilli()); err == nil {
				s.Clicks = clicks
			}
			s.Delegates = u.owner.Delegates()
			u.loadMints(&s, mints)
			if asks != "" {
				if doc, err := u.owner.Open(u.ctx, asks); err == nil && doc.Moment != nil {
					s.Asks = doc.Moment.Asks
				}
				u.mu.Lock()
				gone := u.asks != asks
				u.mu.Unlock()
				if gone { // the sheet was closed meanwhile: nobody shows what was opened here
					u.owner.Closed(asks)
				}
			}
		}
		if u.ctx.Err() != nil {
			return
		}
		u.opts.Do(func() { u.apply(s) })
		u.mu.Lock()
		if !u.again {
			u.loading = false
			u.mu.Unlock()
			return
		}
		u.again = false
		u.mu.Unlock()
	}
}

// follows says which moment's questions are loaded with the state.
func (u *UI) follows(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asks = id
}

// apply shows a new state. It runs on the Fyne goroutine.
func (u *UI) apply(s state) {
	old, first := u.state, !u.known
	if !first && reflect.DeepEqual(old, s) {
		return
	}
	u.state, u.known = s, true
	if first || old.Settings.Theme != s.Settings.Theme || old.Settings.TextScale != s.Settings.TextScale {
		u.app.Settings().SetTheme(look.New(s.Settings.Theme, s.Settings.TextScale))
		if u.sheet != nil {
			u.sheet.gate.arm()
		}
		if u.contract != nil {
			u.contract.gate.arm()
		}
	}
	u.notice(first)
	u.followCeremony()
	if u.page == "engagements" {
		u.deals.reload(u, true)
	}
	if u.sheet != nil {
		u.sheet.follow(s)
	}
	if u.contract != nil {
		u.contract.follow()
	}
	u.rebuild()
}

// notice tells of requests that are new, without their content.
func (u *UI) notice(first bool) {
	now := map[string]bool{}
	fresh := false
	for _, i := range u.state.Inbox {
		if i.Kind == approvals.ItemWords || i.Kind == approvals.ItemNote {
			continue
		}
		now[i.ID+" "+string(i.Wants)] = true
		fresh = fresh || !u.waiting[i.ID+" "+string(i.Wants)]
	}
	u.waiting = now
	if fresh && !first && u.state.Settings.Notifications {
		u.opts.Notify()
	}
}

// touch tells the desk that the owner is here, at most every few seconds.
func (u *UI) touch() {
	now := u.opts.Now()
	if now.Sub(u.touched) < 5*time.Second && now.After(u.touched) {
		return
	}
	u.touched = now
	u.opts.Go(u.owner.Touch)
}

// Key implements [parts.Keys] for the main window, where stray keys do nothing.
func (u *UI) Key(*fyne.KeyEvent) { u.touch() }

// Focused implements [parts.Keys].
func (u *UI) Focused(o fyne.Focusable, on bool) {
	u.touch()
	if on {
		u.focus = o
	}
}

// button makes a button of the main window.
func (u *UI) button(kind parts.Kind, icon, label string, tap func()) *parts.Button {
	b := parts.NewButton(kind, icon, label, func() {
		u.touch()
		tap()
	})
	b.Watch(u)
	return b
}

// pill is a button of several of which those that count have a check.
func (u *UI) pill(label string, on bool, tap func()) *parts.Button {
	icon := ""
	if on {
		icon = "check"
	}
	return u.button(parts.Filter, icon, label, tap).Small().On(on)
}

// save writes bytes into a file of the owner's and says where it is.
func (u *UI) save(name string, b []byte) (string, error) {
	w, at, err := u.opts.Export(name)
	if err != nil {
		return "", err
	}
	_, err = w.Write(b)
	return at, errors.Join(err, w.Close())
}

// export writes a document of the desk's into a file of the owner's, and says so.
func (u *UI) export(name, what, more string, get func(context.Context) ([]byte, error)) {
	var at string
	u.run("", func(ctx context.Context) error {
		b, err := get(ctx)
		if err != nil {
			return err
		}
		at, err = u.save(name, b)
		return err
	}, func(err error) {
		if err == nil {
			u.banner = &banner{parts.Calm, "export", what, "It is in " + safe(at) + ". " + more}
		}
	})
}

// run does something that may block, with words for the meantime, and shows what
// came of it. Then runs on the Fyne goroutine.
func (u *UI) run(busy string, f func(context.Context) error, then func(error)) {
	u.busy, u.banner = busy, nil
	u.rebuild()
	u.opts.Go(func() {
		err := f(u.ctx)
		u.opts.Do(func() {
			u.busy = ""
			if err != nil {
				u.banner = problem(err)
			}
			if then != nil {
				then(err)
			}
			u.rebuild()
		})
		u.changed()
	})
}

// open goes to a page.
func (u *UI) open(page string) {
	if u.page != page {
		u.page, u.banner, u.note = page, nil, nil
		u.agents.asking, u.agents.renaming = "", ""
		u.delegates.asking, u.delegates.form, u.delegates.bringing = "", nil, nil
	}
	u.mintsShown(page == "delegates")
	u.rebuild()
	if s := u.scroll[page]; s != nil {
		s.Inner.ScrollToTop()
	}
	if page == "activity" {
		u.changed()
	}
	if page == "engagements" {
		u.deals.open, u.deals.one, u.deals.asking, u.deals.paste = "", nil, nil, nil
		u.deals.reload(u, true)
	}
}

// rebuild draws the main window anew and gives the keyboard back to the control of the same name.
func (u *UI) rebuild() {
	if !u.known {
		return
	}
	held, _ := u.main.Canvas().Focused().(*parts.Button)
	st := u.state.Status.State
	switch {
	case st == approvals.StateNone, u.first.making:
		u.root.set(u.framed(u.first.view(u)))
	case st == approvals.StateLocked, st == approvals.StateOpening:
		if u.first.locked {
			u.root.set(u.framed(u.first.view(u)))
			break
		}
		u.root.set(u.framed(u.locked()))
	default:
		if u.first.offered != nil {
			u.root.set(u.framed(u.first.offerView(u)))
			break
		}
		u.root.set(u.framed(u.pages()))
	}
	if held == nil {
		return
	}
	if b := findButton(u.root.content, held.Label()); b != nil && !b.Disabled() {
		u.main.Canvas().Focus(b)
	}
}

// findButton returns the first button with a label below an object.
func findButton(o fyne.CanvasObject, label string) *parts.Button {
	switch o := o.(type) {
	case *parts.Button:
		if o.Label() == label {
			return o
		}
	case *parts.Scroll:
		return findButton(o.Inner.Content, label)
	case *fyne.Container:
		for _, c := range o.Objects {
			if b := findButton(c, label); b != nil {
				return b
			}
		}
	}
	return nil
}
