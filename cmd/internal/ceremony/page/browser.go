package page

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// Browser has a page opened.
type Browser interface {
	// Open asks for the page at the link, and does not wait for it.
	Open(link string) *Opening
}

// Opening is a browser that was asked.
type Opening struct {
	// Ended gets the end of the program that was asked: nil if it took the page, else
	// the reason. A program that becomes the browser itself ends when the owner closes that.
	Ended <-chan error
	kill  func()
}

// Kill ends the program that was asked and what it started, unless it has ended.
// It is for one that never brought a page: what did is the owner's browser.
func (o *Opening) Kill() {
	if o.kill != nil {
		o.kill()
	}
}

// refusedOpening is one that could not be asked for.
func refusedOpening(err error) *Opening {
	ended := make(chan error, 1)
	ended <- err
	return &Opening{Ended: ended}
}

// System is the owner's own browser: what BROWSER names, else what the system
// opens links with.
type System struct {
	Environment func(string) string
	GOOS        string // of runtime.GOOS
	// Exists says whether a path is there, for the session's message bus.
	Exists func(path string) bool
}

// errNowhere says that no program on this computer can show a page.
var errNowhere = errors.New("open browser: there is no display here")

// Open implements [Browser]. The program is waited for in the background, so that nothing
// of it is left behind when it ends.
func (s System) Open(link string) *Opening {
	argv, err := s.command(link)
	if err != nil {
		return refusedOpening(err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = s.environ(cmd.Environ())
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return refusedOpening(fmt.Errorf("open browser: %w", err))
	}
	ended := make(chan error, 1)
	var mu sync.Mutex
	gone := false
	go func() {
		err := cmd.Wait()
		mu.Lock()
		gone = true
		mu.Unlock()
		if err != nil {
			err = fmt.Errorf("open browser: %s: %w", argv[0], err)
		}
		ended <- err
	}()
	return &Opening{Ended: ended, kill: func() {
		mu.Lock()
		defer mu.Unlock()
		if !gone {
			killAll(cmd)
		}
	}}
}

// command is the program to be asked, and its arguments.
func (s System) command(link string) ([]string, error) {
	for entry := range strings.SplitSeq(s.Environment("BROWSER"), ":") {
		argv := strings.Fields(entry)
		if len(argv) == 0 {
			continue
		}
		path, err := exec.LookPath(argv[0])
		if err != nil {
			continue
		}
		argv[0] = path
		put := false
		for i, arg := range argv[1:] {
			if strings.Contains(arg, "%s") {
				argv[i+1], put = strings.ReplaceAll(arg, "%s", link), true
			}
		}
		if !put {
			argv = append(argv, link)
		}
		return argv, nil
	}
	var argv []string
	switch s.GOOS {
	case "darwin":
		argv = []string{"/usr/bin/open", link}
	case "windows":
		argv = []string{"rundll32.exe", "url.dll,FileProtocolHandler", link}
	default:
		if s.Environment("DISPLAY") == "" && s.Environment("WAYLAND_DISPLAY") == "" {
			return nil, errNowhere
		}
		argv = []string{"xdg-open", link}
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, fmt.Errorf("open browser: %w", err)
	}
	argv[0] = path
	return argv, nil
}

// environ names the session's message bus where there is one, and else says that
// there is none: asked to find it, some programs start a bus of their own and
// leave it behind.
func (s System) environ(env []string) []string {
	if s.GOOS == "windows" || s.GOOS == "darwin" || s.Environment("DBUS_SESSION_BUS_ADDRESS") != "" {
		return env
	}
	address := "disabled:"
	if dir := s.Environment("XDG_RUNTIME_DIR"); dir != "" && s.Exists(dir+"/bus") {
		address = "unix:path=" + dir + "/bus"
	}
	return append(env, "DBUS_SESSION_BUS_ADDRESS="+address)
}
