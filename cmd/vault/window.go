//go:build !headless

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/driver/desktop"

	"vault/approvals"
	"vault/approvals/folder"
	"vault/assets"
	"vault/cmd/vault/internal/survey"
	"vault/cmd/vault/internal/wake"
	"vault/ui"
)

// form names this build.
const form = "with a window"

const hasWindow = true

const appID = "local.vault.Vault"

// window runs the desk with its window. Where a vault is open on this folder already,
// it asks that one to show its window, and ends.
func (p *program) window(ctx context.Context) error {
	if !survey.Display(p.getenv) {
		return fail("no_display", nil)
	}
	var shown raiser
	err := p.startDesk(ctx, shown.raise, func(ctx context.Context, d *approvals.Desk) error {
		return p.runWindow(ctx, d.Owner(), &shown)
	})
	if !errors.Is(err, folder.ErrInUse) {
		return err
	}
	home, herr := p.home()
	if herr != nil {
		return herr
	}
	if wake.Ask(home, wake.Show) != nil {
		return err
	}
	return p.printf("A vault is open on this folder already; it was asked to show its window.\n")
}

// raiser brings the window to the front once there is one.
type raiser struct {
	mu   sync.Mutex
	show func()
}

func (r *raiser) set(show func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.show = show
}

func (r *raiser) raise() {
	r.mu.Lock()
	show := r.show
	r.mu.Unlock()
	if show != nil {
		fyne.Do(show)
	}
}

// runWindow blocks until the window was closed or ctx ends. It is called on the
// goroutine of main, which becomes Fyne's.
func (p *program) runWindow(ctx context.Context, owner approvals.Owner, shown *raiser) error {
	opts := ui.Options{Export: exportFile, Read: readNamed, BackupFile: p.backupName, Keyring: survey.Keyring}
	if !survey.Bus() {
		opts.Notify = func() {} // notifications travel on the session's bus
	}
	if err := prepareToolkit(); err != nil {
		return err
	}
	a := app.NewWithID(appID)
	u := ui.New(a, owner, opts)
	defer u.Close()
	if icon, err := assets.App("icon-128.png"); err == nil {
		a.SetIcon(fyne.NewStaticResource("icon-128.png", icon))
	}
	a.Lifecycle().SetOnEnteredForeground(u.Rearm)
	u.Window().SetMaster()
	shown.set(u.Show)
	stop := context.AfterFunc(ctx, func() { fyne.Do(a.Quit) })
	defer stop()
	go func() {
		if survey.Tray(ctx) {
			fyne.Do(func() { tray(a, u, owner) })
		}
	}()
	ticking, end := context.WithCancel(ctx)
	defer end()
	go func() {
		for every := time.NewTicker(30 * time.Second); ; {
			select {
			case <-ticking.Done():
				every.Stop()
				return
			case <-every.C:
				fyne.Do(u.Tick)
			}
		}
	}()
	u.Show()
	a.Run()
	shown.set(nil)
	return nil
}

// prepareToolkit makes the folder that the toolkit expects to be there, and keeps it
// from starting a message bus, which would stay behind, where the session has none:
// it is then given an address at which nobody answers.
func prepareToolkit() error {
	if cache, err := os.UserCacheDir(); err == nil {
		_ = os.MkdirAll(cache, 0o700) // the toolkit says what it misses, and goes on without it
	}
	if survey.Bus() {
		return nil
	}
	log.SetOutput(&busless{w: os.Stderr})
	return os.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
}

// tray adds an icon without content. With it, closing the window hides it.
func tray(a fyne.App, u *ui.UI, owner approvals.Owner) {
	d, ok := a.(desktop.App)
	if !ok {
		return
	}
	d.SetSystemTrayMenu(fyne.NewMenu("Vault",
		fyne.NewMenuItem("Show", u.Show),
		fyne.NewMenuItem("Lock", func() {
			go func() {
				_ = owner.Lock(context.Background(), "asked") // what came of it is in the window
			}()
		}),
	))
	u.Window().SetCloseIntercept(u.Window().Hide)
}

// readNamed reads a file that the owner named or dropped on the window.
func readNamed(path string) (string, []byte, error) {
	raw, err := readRegular(path)
	return filepath.Base(path), raw, err
}

// exportFile makes a new file in the owner's download folder, else in the home
// folder. A name that is taken gets a number.
func exportFile(name string) (io.WriteCloser, string, error) {
	dir, err := os.UserHomeDir()
	if err != nil {
		return nil, "", err
	}
	if downloads := filepath.Join(dir, "Downloads"); isDir(downloads) {
		dir = downloads
	}
	ext := filepath.Ext(name)
	base := strings.TrimSuffix(filepath.Base(name), ext)
	for n := range 1000 {
		path := filepath.Join(dir, base+ext)
		if n > 0 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", base, n, ext))
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		return exported{f}, path, nil
	}
	return nil, "", os.ErrExist
}

// exported is a new file of the owner's.
type exported struct{ *os.File }

// Discard implements [ui.Discarder].
func (f exported) Discard() error { return errors.Join(f.Close(), os.Remove(f.Name())) }

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// backupName proposes a new file in the home folder.
func (p *program) backupName() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "vault-"+p.now().Format("2006-01-02-150405")+".age")
}
