package page

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// ErrNotTold says that this system does not tell whose a connection is. The
// owner then compares six digits in window and page.
var ErrNotTold = errors.New("find user of connection: this system does not tell")

// UserOf returns the id of the user whose socket is at the other end of a loopback
// connection: remote is that end, local this one. It reads the kernel's list of
// sockets, which takes milliseconds.
func UserOf(local, remote net.Addr) (int, error) {
	l, ok1 := local.(*net.TCPAddr)
	r, ok2 := remote.(*net.TCPAddr)
	if !ok1 || !ok2 {
		return 0, errors.New("find user of connection: it is not tcp")
	}
	if runtime.GOOS != "linux" {
		return 0, ErrNotTold
	}
	table := "/proc/net/tcp6"
	if l.IP.To4() != nil {
		table = "/proc/net/tcp"
	}
	raw, err := os.ReadFile(table)
	if err != nil {
		return 0, ErrNotTold
	}
	return userIn(string(raw), kernelAddr(r), kernelAddr(l))
}

// established is the state of a socket that somebody holds. Others are listed
// too, and once their holder is gone they are listed as the administrator's.
const established = "01"

// userIn looks up the socket from one address to another.
func userIn(table, from, to string) (int, error) {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) > 7 && f[1] == from && f[2] == to && f[3] == established {
			uid, err := strconv.ParseUint(f[7], 10, 32)
			if err != nil {
				return 0, fmt.Errorf("find user of connection: %w", err)
			}
			return int(uid), nil
		}
	}
	return 0, errors.New("find user of connection: it is not listed")
}

// kernelAddr writes an address as the kernel lists it: words of four bytes,
// each in the byte order of the machine, which is little-endian wherever the vault runs.
func kernelAddr(a *net.TCPAddr) string {
	ip := a.IP.To4()
	if ip == nil {
		ip = a.IP.To16()
	}
	var b strings.Builder
	for i := 0; i+4 <= len(ip); i += 4 {
		fmt.Fprintf(&b, "%02X%02X%02X%02X", ip[i+3], ip[i+2], ip[i+1], ip[i])
	}
	fmt.Fprintf(&b, ":%04X", a.Port)
	return b.String()
}
