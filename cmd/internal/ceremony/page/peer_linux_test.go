package page

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"vault/internal/needs"
)

const tableOfTest = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 12345 1 0000000000000000 20 4 30 10 -1
   1: 0100007F:9C41 0100007F:1F90 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0000000000000000
   2: 0100007F:9C42 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  4294967295 0 1 1 0000000000000000
   3: 0100007F:9C43 0100007F:1F90 01 broken
`

func TestUserIn(t *testing.T) {
	to := "0100007F:1F90"
	if uid, err := userIn(tableOfTest, "0100007F:9C40", to); uid != 1000 || err != nil {
		t.Errorf("%d %v", uid, err)
	}
	for name, from := range map[string]string{"closed": "0100007F:9C41", "absent": "0100007F:0001", "cut": "0100007F:9C43"} {
		if uid, err := userIn(tableOfTest, from, to); err == nil {
			t.Errorf("%s: %d", name, uid)
		}
	}
	if uid, err := userIn(tableOfTest, "0100007F:9C42", to); err != nil || uid != 4294967295 {
		t.Errorf("%d %v", uid, err)
	}
}

func TestUserOfBothFamilies(t *testing.T) {
	listeners, _, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = closeAll(listeners) }()
	if len(listeners) != 2 {
		t.Fatalf("%d families", len(listeners))
	}
	for _, l := range listeners {
		from, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if uid, err := UserOf(conn.LocalAddr(), conn.RemoteAddr()); err != nil || uid != os.Getuid() {
			t.Errorf("%s: %d %v", l.Addr(), uid, err)
		}
	}
}

// Another user of this computer who has the link, token and all.
func TestOtherUser(t *testing.T) {
	needs.Administrator(t)
	const python = "/usr/bin/python3" // another user cannot run what stands in one's home folder
	a := begin(t, vaultRPID, confirming(vaultRPID, nil))
	port := strconv.Itoa(portNumber(t, a.origin))
	ask := func(uid uint32, family, method, path, body string) string {
		cmd := exec.Command(python, "-c", `import http.client, sys
family, port, host, method, path, body = sys.argv[1:]
c = http.client.HTTPConnection(family, int(port))
c.request(method, path, body, {"Host": host, "Origin": "http://" + host, "Content-Type": "application/json"})
print(c.getresponse().status, end="")`, family, port, vaultRPID+":"+port, method, path, body)
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	token := `{"token":"` + a.token + `"}`
	for _, family := range []string{"127.0.0.1", "::1"} {
		if got := ask(65534, family, "GET", "/", ""); got != "403" {
			t.Errorf("%s, page: %s", family, got)
		}
		if got := ask(65534, family, "POST", "/begin", token); got != "403" {
			t.Errorf("%s, token: %s", family, got)
		}
	}
	if got := ask(0, "::1", "POST", "/begin", token); got != "200" {
		t.Errorf("the vault's own user: %s", got)
	}
}

func BenchmarkUserOf(b *testing.B) {
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}
	for b.Loop() {
		_, _ = UserOf(addr, addr)
	}
}
