package page

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"vault/cmd/internal/ceremony"
)

// caller speaks HTTP to the page as any program can.
type caller struct {
	a      *act
	client http.Client
}

func (a *act) caller(family string) *caller {
	a.t.Helper()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(a.origin, "http://"))
	if err != nil {
		a.t.Fatal(err)
	}
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(family, port))
	}}
	a.t.Cleanup(tr.CloseIdleConnections)
	return &caller{a: a, client: http.Client{Transport: tr}}
}

// answering hands an answer in and gives what is said to it.
func (c *caller) answering(body string) <-chan string {
	said := make(chan string, 1)
	go func() {
		_, got, _, err := c.do(http.MethodPost, "/answer", body, nil)
		if err != nil {
			got = err.Error()
		}
		said <- got
	}()
	return said
}

// do sends a request with the headers of the page, each of which set may replace or, by "", take away.
func (c *caller) do(method, path, body string, set map[string]string) (int, string, http.Header, error) {
	r, err := http.NewRequest(method, c.a.origin+path, strings.NewReader(body))
	if err != nil {
		return 0, "", nil, err
	}
	if method == http.MethodPost {
		r.Header.Set("Origin", c.a.origin)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range set {
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	resp, err := c.client.Do(r)
	if err != nil {
		return 0, "", nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw), resp.Header, err
}

func (c *caller) expect(status int, method, path, body string, set map[string]string) string {
	c.a.t.Helper()
	got, answer, header, err := c.do(method, path, body, set)
	if err != nil {
		c.a.t.Fatal(err)
	}
	if got != status {
		c.a.t.Errorf("%s %s is answered %d %q, want %d", method, path, got, answer, status)
	}
	for name, want := range headers {
		if header.Get(name) != want {
			c.a.t.Errorf("%s %s: header %s is %q", method, path, name, header.Get(name))
		}
	}
	for _, no := range []string{"Set-Cookie", "Access-Control-Allow-Origin", "Location"} {
		if v, ok := header[no]; ok {
			c.a.t.Errorf("%s %s: header %s is %q", method, path, no, v)
		}
	}
	return answer
}

// opened presents the token and returns the session.
func (c *caller) opened() string {
	c.a.t.Helper()
	var out struct{ Session string }
	raw := c.expect(http.StatusOK, http.MethodPost, "/begin", `{"token":"`+c.a.token+`"}`, nil)
	if err := json.Unmarshal([]byte(raw), &out); err != nil || out.Session == "" {
		c.a.t.Fatalf("%q: %v", raw, err)
	}
	return `{"session":"` + out.Session + `"`
}

func TestGuard(t *testing.T) {
	a := begin(t, vaultRPID, confirming(vaultRPID, nil))
	port := a.origin[strings.LastIndexByte(a.origin, ':'):]
	for _, family := range []string{"127.0.0.1", "::1"} {
		c := a.caller(family)
		for _, r := range []struct {
			name, method, path, body string
			set                      map[string]string
			status                   int
		}{
			{"address for host", "GET", "/app.js", "", map[string]string{"Host": "127.0.0.1" + port}, 421},
			{"localhost for host", "GET", "/app.js", "", map[string]string{"Host": "localhost" + port}, 421},
			{"foreign host", "GET", "/app.js", "", map[string]string{"Host": "rebind.example" + port}, 421},
			{"host without port", "GET", "/app.js", "", map[string]string{"Host": vaultRPID}, 421},
			{"host in capitals", "GET", "/app.js", "", map[string]string{"Host": strings.ToUpper(vaultRPID) + port}, 421},
			{"foreign host, post", "POST", "/begin", "{}", map[string]string{"Host": "rebind.example" + port}, 421},
			{"no origin", "POST", "/begin", "{}", map[string]string{"Origin": ""}, 403},
			{"null origin", "POST", "/begin", "{}", map[string]string{"Origin": "null"}, 403},
			{"origin of another port", "POST", "/begin", "{}", map[string]string{"Origin": "http://" + vaultRPID + ":1"}, 403},
			{"origin with a slash", "POST", "/begin", "{}", map[string]string{"Origin": a.origin + "/"}, 403},
			{"text", "POST", "/begin", "{}", map[string]string{"Content-Type": "text/plain"}, 403},
			{"text with parameter", "POST", "/begin", "{}", map[string]string{"Content-Type": "application/json; charset=utf-8"}, 403},
			{"same site", "POST", "/begin", "{}", map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
			{"page opened by a site", "GET", "/", "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403},
			{"page opened by the same site", "GET", "/", "", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "document"}, 403},
			{"frame", "GET", "/", "", map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "iframe"}, 403},
			{"fetched ahead", "GET", "/", "", map[string]string{"Sec-Purpose": "prefetch;prerender"}, 403},
			{"foreign origin, get", "GET", "/", "", map[string]string{"Origin": "http://localhost:1"}, 403},
			{"head", "HEAD", "/", "", nil, 405},
			{"options", "OPTIONS", "/begin", "", map[string]string{"Origin": "http://localhost:1"}, 405},
			{"put", "PUT", "/begin", "{}", nil, 405},
			{"get of begin", "GET", "/begin", "", nil, 405},
			{"no such file", "GET", "/../../etc/passwd", "", nil, 404},
			{"no such font", "GET", "/fonts/OFL.txt", "", nil, 404},
			{"wrong token", "POST", "/begin", `{"token":"` + strings.Repeat("A", 43) + `"}`, nil, 403},
			{"no token", "POST", "/begin", `{}`, nil, 403},
			{"not json", "POST", "/begin", `token`, nil, 400},
			{"two values", "POST", "/begin", `{"token":""}{}`, nil, 400},
			{"unknown member", "POST", "/begin", `{"token":"","more":1}`, nil, 400},
			{"long body", "POST", "/begin", `{"token":"` + strings.Repeat("A", maxBody) + `"}`, nil, 400},
			{"no session", "POST", "/task", `{}`, nil, 403},
			{"wrong session", "POST", "/answer", `{"session":"x","answer":{}}`, nil, 403},
			{"wrong session, leave", "POST", "/leave", `{"session":"x","reason":"cancelled"}`, nil, 403},
			{"script", "GET", "/app.js", "", nil, 200},
			{"font", "GET", "/fonts/VaultSans-Regular.otf", "", map[string]string{"Origin": a.origin, "Sec-Fetch-Site": "same-origin"}, 200},
		} {
			t.Run(family+" "+r.name, func(t *testing.T) {
				b := *a
				b.t = t
				(&caller{a: &b, client: c.client}).expect(r.status, r.method, r.path, r.body, r.set)
			})
		}
	}
	// Nothing of this disturbed the ceremony, which the page can still begin.
	c := a.caller("::1")
	c.expect(200, "GET", "/", "", map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "document"})
	c.opened()
}

// TestCourse plays the page: each step once, in its order.
func TestCourse(t *testing.T) {
	a := begin(t, vaultRPID, confirming(vaultRPID, nil))
	c := a.caller("127.0.0.1")
	s := c.opened()
	a.event(ceremony.Opened)
	c.expect(403, "POST", "/answer", s+`,"answer":{}}`, nil) // before the task
	if got := c.expect(200, "POST", "/task", s+`}`, nil); !strings.Contains(got, `"rp_id":"`+vaultRPID+`"`) {
		t.Errorf("the task is %s", got)
	}
	c.expect(403, "POST", "/task", s+`}`, nil)
	c.expect(400, "POST", "/leave", s+`,"reason":"contested"}`, nil)
	c.expect(204, "POST", "/asking", s+`}`, nil)
	a.event(ceremony.Asking)

	answered := c.answering(s + `,"answer":{"a": 1}}`)
	raw, err := a.wait()
	if err != nil || string(raw) != `{"a": 1}` {
		t.Fatalf("%s %v", raw, err)
	}
	// What comes now changes nothing.
	c.expect(403, "POST", "/answer", s+`,"answer":{"a":2}}`, nil)
	c.expect(403, "POST", "/leave", s+`,"reason":"cancelled"}`, nil)
	c.expect(403, "POST", "/begin", `{"token":"`+a.token+`"}`, nil)
	a.line.Finish(ceremony.Verdict{Reason: "nobody was verified"})
	if got := <-answered; !strings.Contains(got, `"accepted":false,"reason":"nobody was verified"`) {
		t.Errorf("the page is told %s", got)
	}
	if err := <-a.served; err != nil {
		t.Error(err)
	}
}

func TestTokenTwice(t *testing.T) {
	a := begin(t, vaultRPID, confirming(vaultRPID, nil))
	first, second := a.caller("127.0.0.1"), a.caller("::1")
	s := first.opened()
	if got := second.expect(http.StatusGone, "POST", "/begin", `{"token":"`+a.token+`"}`, nil); !strings.Contains(got, `"contested"`) {
		t.Errorf("the second is told %s", got)
	}
	a.ends(ceremony.Contested)
	if status, body, _, err := first.do("POST", "/task", s+"}", nil); err == nil && status == http.StatusOK {
		t.Errorf("the first page still got its task: %s", body)
	}
}

func TestPageTwice(t *testing.T) {
	a := begin(t, vaultRPID, confirming(vaultRPID, nil))
	c := a.caller("127.0.0.1")
	c.expect(200, "GET", "/", "", nil)
	c.expect(200, "GET", "/", "", nil)
	a.ends(ceremony.Contested)
}

func TestPageGoes(t *testing.T) {
	a := begin(t, vaultRPID, confirming(vaultRPID, nil))
	c := a.caller("127.0.0.1")
	s := c.opened()
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(portNumber(t, a.origin))))
	if err != nil {
		t.Fatal(err)
	}
	body := s + "}"
	_, err = io.WriteString(conn, "POST /end HTTP/1.1\r\nHost: "+strings.TrimPrefix(a.origin, "http://")+"\r\nOrigin: "+a.origin+
		"\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	// The page is asked for the rest when it was seen to be this user's.
	if line, err := bufio.NewReader(conn).ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("%q %v", line, err)
	}
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	a.ends(ceremony.PageClosed)
}

func portNumber(t *testing.T, origin string) int {
	t.Helper()
	n, err := strconv.Atoi(origin[strings.LastIndexByte(origin, ':')+1:])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEnds(t *testing.T) {
	t.Run("nobody opens it", func(t *testing.T) {
		a := begin(t, vaultRPID, confirming(vaultRPID, nil), func(_ *Config, k *ceremony.Task) { k.Ends = time.Now().UnixMilli() })
		a.ends(ceremony.NotOpened)
	})
	t.Run("reasons of the page", func(t *testing.T) {
		for _, want := range []ceremony.Outcome{ceremony.Cancelled, ceremony.NameRefused, ceremony.NoMeans, ceremony.AlreadyThere, ceremony.PageDiffers} {
			a := begin(t, ceremony.FallbackRPID, enrolling(nil))
			c := a.caller("127.0.0.1")
			c.expect(410, "POST", "/leave", c.opened()+`,"reason":"`+string(want)+`"}`, nil)
			a.ends(want)
		}
	})
	t.Run("digits differ", func(t *testing.T) {
		a := begin(t, vaultRPID, confirming(vaultRPID, nil), func(c *Config, _ *ceremony.Task) {
			c.UserOf = func(net.Addr, net.Addr) (int, error) { return 0, ErrNotTold }
		})
		a.caller("127.0.0.1").opened()
		if e := a.event(ceremony.Compare); len(e.Digits) != 6 {
			t.Errorf("digits %q", e.Digits)
		}
		if err := a.line.Compared(false); err != nil {
			t.Fatal(err)
		}
		a.ends(ceremony.NotSame)
	})
	t.Run("the line ends", func(t *testing.T) {
		a := begin(t, vaultRPID, confirming(vaultRPID, nil))
		c := a.caller("127.0.0.1")
		s := c.opened()
		c.expect(200, "POST", "/task", s+"}", nil)
		end := c.answering(s + `,"answer":{}}`)
		if _, err := a.wait(); err != nil {
			t.Fatal(err)
		}
		a.line.Close()
		if got := <-end; !strings.Contains(got, "line_ended") {
			t.Errorf("the page is told %q", got)
		}
		if err := <-a.served; err != nil {
			t.Error(err)
		}
	})
}

func TestNamesThatAreNotServed(t *testing.T) {
	for _, name := range []string{"", "localhost.", "127.0.0.1", "vault-0123abc.localhost", "vault-0123ABCD.localhost", "vault-0123abcd.example", "x.localhost", "vault-0123abcd.localhost.localhost"} {
		here, there := net.Pipe()
		served := make(chan error, 1)
		go func() { served <- Serve(there, Config{}) }()
		if err := ceremony.Write(here, ceremony.MsgName, name); err != nil {
			t.Fatal(err)
		}
		kind, body, err := ceremony.Read(here)
		if err != nil || kind != ceremony.MsgOutcome || string(body) != `"name_refused"` {
			t.Errorf("%q: %c %s %v", name, kind, body, err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

func TestUserOfStrangers(t *testing.T) {
	for name, of := range map[string]func(net.Addr, net.Addr) (int, error){
		"other user": func(net.Addr, net.Addr) (int, error) { return os.Getuid() + 1, nil },
		"not listed": func(net.Addr, net.Addr) (int, error) { return 0, io.ErrUnexpectedEOF },
	} {
		t.Run(name, func(t *testing.T) {
			a := begin(t, vaultRPID, confirming(vaultRPID, nil), func(c *Config, _ *ceremony.Task) { c.UserOf = of })
			c := a.caller("127.0.0.1")
			c.expect(403, "GET", "/", "", nil)
			c.expect(403, "POST", "/begin", `{"token":"`+a.token+`"}`, nil)
		})
	}
}
