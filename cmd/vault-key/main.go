// Command vault-key is the key process: custody, derivation and signatures, and
// nothing else. It is started by the desk, talks to it over the socketpair it
// inherits as descriptor 3, and ends with it, or when it is locked.
//
// It also runs, started by itself, as one of its own short-lived helpers: the
// passphrase function (kdf), one keyring call (keyring), the writing of a
// backup (backup) and its reading (open-backup). It takes no settings from its environment and opens no
// socket.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"vault/approvals/keys"
	"vault/cmd/internal/hygiene"
	"vault/custody"
	"vault/sign"
)

func main() { os.Exit(run(os.Args)) }

// Exit codes.
const (
	exitOK        = 0
	exitFault     = 1
	exitUsage     = 2
	exitWrong     = 3 // the passphrase does not open the backup
	exitNotBackup = 4
)

func run(args []string) int {
	if err := hygiene.Harden(args); err != nil {
		fmt.Fprintln(os.Stderr, "vault-key:", err)
		return exitFault
	}
	if len(args) < 2 {
		return usage()
	}
	switch args[1] {
	case "serve":
		if len(args) != 3 {
			return usage()
		}
		return serve(args[2])
	case "kdf":
		return custody.KDFMain(os.Stdin, os.Stdout)
	case "keyring":
		return custody.KeyringMain(args[2:], os.Stdin, os.Stdout)
	case "backup":
		if len(args) != 4 {
			return usage()
		}
		return backupMain(args[2], args[3], os.Stdin)
	case "open-backup":
		if len(args) != 4 {
			return usage()
		}
		return openBackupMain(args[2], args[3], os.Stdin, os.Stdout)
	}
	return usage()
}

func usage() int {
	fmt.Fprintln(os.Stderr, "vault-key: this program is started by vault and by nobody else")
	return exitUsage
}

// deskDescriptor is the inherited end of the line.
const deskDescriptor = 3

// serve is the key process of the vault in dir. It returns when the desk has
// locked it or has ended.
func serve(dir string) int {
	// The desk ends this process. What a terminal sends to all that run on it
	// reaches the desk too, which locks first.
	signal.Ignore(os.Interrupt, syscall.SIGHUP, syscall.SIGTERM)
	f := os.NewFile(deskDescriptor, "desk")
	if f == nil {
		return usage()
	}
	// A net.Conn where the system can make one: it reads without holding a thread.
	var conn keysConn = f
	if c, err := net.FileConn(f); err == nil {
		f.Close()
		conn = c
	}
	self, err := hygiene.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "vault-key:", err)
		return exitFault
	}
	runner := hygiene.Runner{Path: self, Stderr: os.Stderr}
	kdf := custody.HelperKDF{Runner: runner}
	signer := sign.New(sign.Config{
		User: int64(os.Geteuid()),
		Custody: custody.Config{
			Dir: dir, Rand: rand.Reader, Now: time.Now, KDF: kdf,
			Keyring:  custody.OSKeyring{Runner: runner},
			Evidence: []string{sign.MarkName, storeName},
		},
		Clock:  newClock(),
		Window: openWindow,
		Page:   openPage,
		Cost:   calibrated(kdf),
		Fault:  func(err error) { fmt.Fprintln(os.Stderr, "vault-key:", err) },
		Backup: backups{runner}.write, OpenBackup: backups{runner}.open,
	})
	err = keys.Serve(conn, signer, func(method string, stack []byte) {
		fmt.Fprintf(os.Stderr, "vault-key: fault in %s\n%s", method, stack)
	})
	// Also where the line simply ended: nothing is left in memory for the time
	// that the process still takes to end.
	signer.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, "vault-key:", err)
		return exitFault
	}
	return exitOK
}

type keysConn interface {
	Read([]byte) (int, error)
	Write([]byte) (int, error)
}

// calibrated measures the cost of the passphrase function once.
func calibrated(kdf custody.KDF) func(context.Context) (custody.Params, error) {
	var mu sync.Mutex
	var p custody.Params
	return func(ctx context.Context) (custody.Params, error) {
		mu.Lock()
		defer mu.Unlock()
		if p != (custody.Params{}) {
			return p, nil
		}
		got, err := custody.Calibrate(ctx, kdf, time.Now)
		if err == nil {
			p = got
		}
		return got, err
	}
}
