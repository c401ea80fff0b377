// Package socket is where agents and the vault meet on one machine: which path
// the socket has, what must be true of that path before either side uses it, how
// a socket left behind by a dead vault is recovered, and what the kernel says
// about the other end of a connection.
//
// It knows nothing of the protocol spoken over it. Client and server use the
// same rules, so that neither believes a path that the other would refuse. The
// socket has a name in the file system, always: abstract sockets have no owner
// and no mode.
package socket

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
)

// Env is the environment variable that names the socket.
const Env = "VAULT_SOCK"

// OwnerEnv is the environment variable that names the user whose vault it is, by account or number, for an agent that runs
// under another: see [DialOwner]. Without it the vault is this user's own.
const OwnerEnv = "VAULT_SOCK_OWNER"

// Code names why a socket was not made or not used. The texts are stable.
type Code string

// The reasons.
const (
	CodePathUnknown Code = "socket_path_unknown"  // neither VAULT_SOCK, XDG_RUNTIME_DIR nor a home folder
	CodePathInvalid Code = "socket_path_invalid"  // not absolute, abstract, or holds a zero byte
	CodePathTooLong Code = "socket_path_too_long" // longer than the kernel takes, and no way around it
	CodePathUnsafe  Code = "socket_path_unsafe"   // somebody else could replace part of the path
	CodePathTaken   Code = "socket_path_taken"    // something that is not a socket has this name
	CodeInUse       Code = "socket_in_use"        // another vault listens here
	CodeAbsent      Code = "socket_absent"        // nobody listens here
	CodeWrongUser   Code = "wrong_user"           // the other end belongs to another user
	CodeUnsupported Code = "socket_unsupported"   // this system has no sockets for further users
	CodeOwner       Code = "socket_owner_unknown" // VAULT_SOCK_OWNER names no user
	CodeFailed      Code = "socket_failed"        // the system refused; see the wrapped error
)

// Error is the error of this package.
type Error struct {
	Code   Code
	Path   string
	Detail string // a sentence of ours
	Err    error  // the system's error, or nil
}

// Error gives code, detail and path.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %s: %v", e.Code, e.Detail, e.Path, e.Err)
	}
	return fmt.Sprintf("%s: %s: %s", e.Code, e.Detail, e.Path)
}

// Coded gives the code as a text.
func (e *Error) Coded() string { return string(e.Code) }

// Unwrap gives the system's error.
func (e *Error) Unwrap() error { return e.Err }

// Remedy is what to do about it, one sentence.
func (e *Error) Remedy() string {
	switch e.Code {
	case CodePathUnknown:
		return "Set VAULT_SOCK to an absolute path in a folder that only you can enter."
	case CodePathInvalid:
		return "Give an absolute path of the file system."
	case CodePathTooLong:
		return "Set VAULT_SOCK to a shorter path."
	case CodePathUnsafe:
		return "Use a folder that belongs to you with mode 0700, below folders that only you or the administrator can write."
	case CodePathTaken:
		return "Move the file that has this name, or set VAULT_SOCK to another path."
	case CodeInUse:
		return "Use the vault that is running, or end it first."
	case CodeAbsent:
		return "Start the vault, or set VAULT_SOCK to where it listens."
	case CodeUnsupported:
		return "Run the agent under the vault's own account."
	case CodeOwner:
		return "Set VAULT_SOCK_OWNER to the account, or user id, that the vault runs under."
	case CodeWrongUser:
		return "Run both programs under the same account."
	}
	return "See that you may write the socket's folder, or set VAULT_SOCK to another path."
}

func fail(code Code, path, detail string, err error) *Error {
	return &Error{Code: code, Path: path, Detail: detail, Err: err}
}

// Peer is what the kernel says about the other end of a connection. UserID is
// proven; the rest is observed at one instant and a program of the same account
// can change it afterwards. It is shown as a hint and never decides.
type Peer struct {
	UserID     int64    // -1 where the system cannot tell
	ProcessID  int64    // 0 where the system cannot tell
	Executable string   // path, or empty
	Command    []string // at most 64 arguments and 4096 bytes, hostile text
	Parents    []string // executables, where readable, of up to 8 ancestors, nearest first
	Pinned     bool     // the process was still the same one after it was looked at
}

// Path is the socket's path: VAULT_SOCK; else agent-vault/s.sock in XDG_RUNTIME_DIR;
// else .agent-vault/s.sock in the home folder. On Windows it is the name of a
// pipe. Client and server call the same function. The error is an *Error.
func Path() (string, error) { return PathFrom(os.Getenv) }

// PathFrom is Path with an environment of its own.
func PathFrom(getenv func(string) string) (string, error) {
	if runtime.GOOS == "windows" {
		if p := getenv(Env); p != "" {
			return p, nil
		}
		if u := getenv("USERNAME"); u != "" {
			return `\\.\pipe\agent-vault-` + u, nil
		}
		return "", fail(CodePathUnknown, "", "no name for the pipe", nil)
	}
	if p := getenv(Env); p != "" {
		if err := checkName(p); err != nil {
			return "", err
		}
		return filepath.Clean(p), nil
	}
	// The base directory specification says that a relative value is to be ignored.
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "agent-vault", "s.sock"), nil
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".agent-vault", "s.sock"), nil
	}
	return "", fail(CodePathUnknown, "", "no place for the socket", nil)
}

// OwnerFrom is the user id whose vault an environment names, this process's own where it names none. The error is an
// *Error.
func OwnerFrom(getenv func(string) string) (int64, error) { return OwnerOf(getenv(OwnerEnv)) }

// OwnerOf is OwnerFrom for the name itself, which may be empty.
func OwnerOf(name string) (int64, error) {
	if name == "" {
		return int64(os.Geteuid()), nil
	}
	if id, err := strconv.ParseUint(name, 10, 32); err == nil {
		return int64(id), nil
	}
	u, err := user.Lookup(name)
	if err == nil {
		var id uint64
		if id, err = strconv.ParseUint(u.Uid, 10, 32); err == nil {
			return int64(id), nil
		}
	}
	return 0, fail(CodeOwner, "", "there is no such user here", err)
}

func checkName(path string) error {
	if !filepath.IsAbs(path) {
		return fail(CodePathInvalid, path, "the socket's path is not absolute", nil)
	}
	for i := range len(path) {
		if path[i] == 0 {
			return fail(CodePathInvalid, "", "the socket's path holds a zero byte", nil)
		}
	}
	return nil
}
