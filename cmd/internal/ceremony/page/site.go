package page

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"vault/assets"
	"vault/cmd/internal/ceremony"
)

// Limits of a request.
const (
	maxBody   = 48 << 10
	maxHeader = 16 << 10
)

// site is the page of one ceremony and what it has come to.
type site struct {
	cfg          Config
	rpID, origin string
	port         int
	task         ceremony.Task

	events  chan ceremony.Event
	answers chan []byte
	over    chan struct{} // closed when the outcome stands
	told    chan struct{} // closed when the verdict stands
	free    chan struct{} // closed when the page may have its task
	heard   chan struct{} // closed when a page that came too late was told the end

	mu      sync.Mutex
	token   string // of the link
	burnt   bool   // the token was presented
	shown   bool   // the document was sent
	session string // of the page that presented the token
	watched bool   // that page waits for the end
	sent    bool   // the task was sent
	tried   bool   // an answer was taken
	ended   bool
	outcome ceremony.Outcome
	judged  bool
	verdict ceremony.Verdict
}

func newSite(cfg Config, rpID string, port int) (*site, error) {
	s := &site{
		cfg: cfg, rpID: rpID, port: port, origin: "http://" + rpID + ":" + strconv.Itoa(port),
		events: make(chan ceremony.Event, 8), answers: make(chan []byte, 1),
		over: make(chan struct{}), told: make(chan struct{}), free: make(chan struct{}), heard: make(chan struct{}),
	}
	var err error
	if s.token, err = s.draw(); err == nil {
		s.session, err = s.draw()
	}
	return s, err
}

// draw returns 32 random bytes in unpadded base64url.
func (s *site) draw() (string, error) {
	var b [32]byte
	if _, err := io.ReadFull(s.cfg.Rand, b[:]); err != nil {
		return "", fmt.Errorf("draw token: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// link is the address of the page. The token stands in the fragment, which no
// request, referrer or log carries.
func (s *site) link() string { return s.origin + "/#" + s.token }

func (s *site) wasOpened() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.burnt
}

func (s *site) contested() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended && s.outcome == ceremony.Contested
}

// end is the end without a verdict. Only the first one counts, and once an answer
// was taken only that of the line: what the key process makes of it stands.
func (s *site) end(o ceremony.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(o)
}

func (s *site) endLocked(o ceremony.Outcome) {
	if s.ended || s.judged || s.tried && o != ceremony.LineEnded {
		return
	}
	s.ended, s.outcome = true, o
	close(s.over)
}

func (s *site) timeUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.burnt {
		s.endLocked(ceremony.TimedOut)
	} else {
		s.endLocked(ceremony.NotOpened)
	}
}

// release lets the page have its task.
func (s *site) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.free:
	default:
		if s.burnt {
			close(s.free)
		}
	}
}

// judge sets the verdict, which stands only after an answer.
func (s *site) judge(v ceremony.Verdict) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.tried || s.ended || s.judged {
		return false
	}
	s.judged, s.verdict = true, v
	close(s.told)
	return true
}

// serve answers on the listeners until stop is called, which lets requests that
// wait have their answer.
func (s *site) serve(listeners []net.Listener) (stop func()) {
	srv := &http.Server{
		Handler: s.guard(s.routes()), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		IdleTimeout: 30 * time.Second, MaxHeaderBytes: maxHeader, ConnContext: s.whose,
		ErrorLog: log.New(io.Discard, "", 0), // what strangers send is not for a log
	}
	for _, l := range listeners {
		go func() {
			if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				s.end(ceremony.NoPort)
			}
		}()
	}
	return func() {
		s.end(ceremony.LineEnded) // where nothing stands yet; wakes requests that wait
		ctx, cancel := context.WithTimeout(context.Background(), linger)
		defer cancel()
		if s.contested() {
			// The second page is still being loaded, and is to say why it is of no use.
			select {
			case <-s.heard:
			case <-ctx.Done():
			}
		}
		if srv.Shutdown(ctx) != nil {
			srv.Close()
		}
	}
}

func (s *site) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.document)
	mux.HandleFunc("GET /app.js", static("text/javascript; charset=utf-8", func() ([]byte, error) { return assets.Page("app.js") }))
	mux.HandleFunc("GET /app.css", static("text/css; charset=utf-8", func() ([]byte, error) { return assets.Page("app.css") }))
	mux.HandleFunc("GET /icon.svg", static("image/svg+xml", func() ([]byte, error) { return assets.App("icon.svg") }))
	for _, name := range assets.Fonts() {
		mux.HandleFunc("GET /fonts/"+name, static("font/"+name[strings.LastIndexByte(name, '.')+1:], func() ([]byte, error) { return assets.Font(name) }))
	}
	mux.HandleFunc("POST /begin", s.begin)
	mux.HandleFunc("POST /task", s.giveTask)
	mux.HandleFunc("POST /asking", s.asking)
	mux.HandleFunc("POST /answer", s.answer)
	mux.HandleFunc("POST /leave", s.leave)
	mux.HandleFunc("POST /end", s.waitForEnd)
	return mux
}

func static(kind string, content func() ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		b, err := content()
		if err != nil {
			http.Error(w, "not here", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(b) // the browser went away
	}
}

// headers stand on every answer, refusals included.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
	"X-Frame-Options":              "DENY",
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cache-Control":                "no-store",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Embedder-Policy": "require-corp",
	"Origin-Agent-Cluster":         "?1",
	"Permissions-Policy":           "publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=()",
	"X-DNS-Prefetch-Control":       "off",
}

type peerKey struct{}

// peer is whose a connection is.
type peer struct {
	uid int
	err error
}

// whose looks a connection up once, when it comes.
func (s *site) whose(ctx context.Context, c net.Conn) context.Context {
	uid, err := s.cfg.UserOf(c.LocalAddr(), c.RemoteAddr())
	return context.WithValue(ctx, peerKey{}, peer{uid, err})
}

// ours says whether the system tells that the request is this user's. The error
// says why one is refused.
func (s *site) ours(r *http.Request) (known bool, err error) {
	p, ok := r.Context().Value(peerKey{}).(peer)
	switch {
	case !ok:
		return false, errors.New("the connection is unknown")
	case errors.Is(p.err, ErrNotTold):
		return false, nil
	case p.err != nil:
		return false, p.err
	case p.uid != s.cfg.UID:
		return false, errors.New("this page is for another user of this computer")
	}
	return true, nil
}

// guard refuses what is not from this user, for this host, by this page.
func (s *site) guard(next http.Handler) http.Handler {
	host := s.rpID + ":" + strconv.Itoa(s.port)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		if r.Host != host { // also a foreign name that was pointed at this computer
			http.Error(w, "not the host of this page", http.StatusMisdirectedRequest)
			return
		}
		if _, err := s.ours(r); err != nil {
			http.Error(w, "not for this user", http.StatusForbidden)
			return
		}
		site, dest := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Dest")
		origin := r.Header.Values("Origin")
		foreign := len(origin) > 1 || len(origin) == 1 && origin[0] != s.origin
		switch r.Method {
		case http.MethodPost:
			if foreign || len(origin) == 0 || site != "" && site != "same-origin" || r.Header.Get("Content-Type") != "application/json" {
				http.Error(w, "not from this page", http.StatusForbidden)
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		case http.MethodGet:
			// A page of somebody else that opens, frames or fetches this one is none of the
			// owner's doing. Fetching ahead is none either.
			if foreign || site != "" && site != "same-origin" && site != "none" || r.Header.Get("Sec-Purpose") != "" || r.Header.Get("Purpose") != "" ||
				r.URL.Path == "/" && dest != "" && dest != "document" {
				http.Error(w, "not opened by the owner", http.StatusForbidden)
				return
			}
		default:
			http.Error(w, "not a method of this page", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// document is the page itself. A second one contests the first: somebody else has
// the link, or the page was loaded again.
func (s *site) document(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.shown {
		s.endLocked(ceremony.Contested)
	}
	s.shown = true
	s.mu.Unlock()
	static("text/html; charset=utf-8", func() ([]byte, error) { return assets.Page("index.html") })(w, r)
}

// read reads the one object that a request carries, of exactly the members of into.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err = d.Decode(into); err == nil && len(bytes.TrimSpace(raw[d.InputOffset():])) > 0 {
			err = errors.New("more than one value")
		}
	}
	if err != nil {
		http.Error(w, "not understood", http.StatusBadRequest)
		return false
	}
	return true
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the browser went away
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// ending is what the page is told about the end.
type ending struct {
	Outcome ceremony.Outcome `json:"outcome"`
}

// sayEnd answers with the outcome, if there is one.
func (s *site) sayEnd(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusGone)
	_ = json.NewEncoder(w).Encode(ending{s.outcome}) // the browser went away
}

// tell hands an event to the line. There are fewer events than places.
func (s *site) tell(e ceremony.Event) {
	select {
	case s.events <- e:
	default:
	}
}

// begin takes the token, once, and gives the page its session.
func (s *site) begin(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Token string `json:"token"`
	}
	if !read(w, r, &in) {
		return
	}
	known, err := s.ours(r)
	if err != nil {
		http.Error(w, "not for this user", http.StatusForbidden)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !same(in.Token, s.token) {
		http.Error(w, "not the link of this page", http.StatusForbidden)
		return
	}
	if s.burnt {
		s.endLocked(ceremony.Contested)
	}
	if s.ended {
		select {
		case <-s.heard:
		default:
			close(s.heard)
		}
		s.sayEnd(w)
		return
	}
	if s.burnt {
		http.Error(w, "the link worked once", http.StatusForbidden)
		return
	}
	s.burnt = true
	out := struct {
		Session string `json:"session"`
		Digits  string `json:"digits,omitempty"`
	}{Session: s.session}
	if known {
		close(s.free)
		s.tell(ceremony.Event{Kind: ceremony.Opened})
	} else {
		if out.Digits, err = s.digits(); err != nil {
			s.endLocked(ceremony.LineEnded)
			s.sayEnd(w)
			return
		}
		s.tell(ceremony.Event{Kind: ceremony.Compare, Digits: out.Digits})
	}
	reply(w, out)
}

// digits draws six decimal digits.
func (s *site) digits() (string, error) {
	var b [8]byte
	if _, err := io.ReadFull(s.cfg.Rand, b[:]); err != nil {
		return "", fmt.Errorf("draw digits: %w", err)
	}
	var n uint64
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return fmt.Sprintf("%06d", n%1_000_000), nil
}

// session is what a page shows after begin.
type session struct {
	Session string `json:"session"`
}

// held says whether the session is the page's; the caller holds mu. A page that
// comes too late is told the outcome.
func (s *site) held(w http.ResponseWriter, given string) bool {
	switch {
	case !s.burnt || !same(given, s.session):
		http.Error(w, "not the session of this page", http.StatusForbidden)
		return false
	case s.ended:
		s.sayEnd(w)
		return false
	}
	return true
}

// patient lets a request wait for longer than one may be read. A deadline that
// passes would look like a page that went away.
func patient(w http.ResponseWriter) {
	// Without it the ceremony only ends sooner.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// giveTask waits until the page may have its task, and gives it once.
func (s *site) giveTask(w http.ResponseWriter, r *http.Request) {
	var in session
	if !read(w, r, &in) {
		return
	}
	s.mu.Lock()
	ok := s.held(w, in.Session)
	s.mu.Unlock()
	if !ok {
		return
	}
	patient(w)
	select {
	case <-s.free:
	case <-s.over:
	case <-r.Context().Done():
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		s.sayEnd(w)
	case s.sent:
		http.Error(w, "given before", http.StatusForbidden)
	default:
		s.sent = true
		reply(w, struct {
			ceremony.Task
			RPID string `json:"rp_id"`
		}{s.task, s.rpID})
	}
}

// asking passes on that the browser was asked for a passkey.
func (s *site) asking(w http.ResponseWriter, r *http.Request) {
	var in session
	if !read(w, r, &in) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held(w, in.Session) {
		s.tell(ceremony.Event{Kind: ceremony.Asking})
		w.WriteHeader(http.StatusNoContent)
	}
}

// answer takes what the passkey answered, once, and waits for the verdict.
func (s *site) answer(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Session string          `json:"session"`
		Answer  json.RawMessage `json:"answer"`
	}
	if !read(w, r, &in) {
		return
	}
	s.mu.Lock()
	ok := s.held(w, in.Session)
	if ok && (!s.sent || s.tried) {
		http.Error(w, "answered before", http.StatusForbidden)
		ok = false
	}
	s.tried = s.tried || ok
	s.mu.Unlock()
	if !ok {
		return
	}
	patient(w)
	s.answers <- in.Answer
	select {
	case <-s.told:
		reply(w, s.verdict)
	case <-s.over:
		s.sayEnd(w)
	}
}

// leave ends the ceremony at the page's wish, for one of the reasons that are
// the page's to know.
func (s *site) leave(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Session string           `json:"session"`
		Reason  ceremony.Outcome `json:"reason"`
	}
	if !read(w, r, &in) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.held(w, in.Session) {
		return
	}
	switch in.Reason {
	case ceremony.Cancelled, ceremony.NameRefused, ceremony.NoMeans, ceremony.AlreadyThere, ceremony.PageDiffers:
	default:
		http.Error(w, "not a reason", http.StatusBadRequest)
		return
	}
	if s.tried {
		http.Error(w, "answered before", http.StatusForbidden)
		return
	}
	s.endLocked(in.Reason)
	s.sayEnd(w)
}

// waitForEnd is held open by the page for as long as it is there: it learns the
// end from it, and its own going is noticed by it.
func (s *site) waitForEnd(w http.ResponseWriter, r *http.Request) {
	var in session
	if !read(w, r, &in) {
		return
	}
	s.mu.Lock()
	ok := s.held(w, in.Session)
	if ok && s.watched {
		http.Error(w, "waited for before", http.StatusForbidden)
		ok = false
	}
	s.watched = s.watched || ok
	s.mu.Unlock()
	if !ok {
		return
	}
	patient(w)
	select {
	case <-s.over:
		s.sayEnd(w)
	case <-s.told:
		w.WriteHeader(http.StatusNoContent)
	case <-r.Context().Done():
		s.end(ceremony.PageClosed)
	}
}
