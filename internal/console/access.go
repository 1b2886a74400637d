package console

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// policy is what a page may load: only files of the console.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +

	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// harden sets the headers every answer has.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // without one, browsers send no Origin with forms either
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// guard lets only those requests through to next that may be asked for a
// credential at all.
func (c *Console) guard(next http.Handler) http.Handler {
	unsafe := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		access := c.Access()
		switch {
		case !access.names(r):
			c.respond.Fail(w, r, http.StatusMisdirectedRequest, "this host name is not served here; list it under hosts in the configuration")
		case access.admits(access.caller(r)) != "":
			c.respond.Fail(w, r, http.StatusForbidden, access.admits(access.caller(r)))
		case foreign(r) || unsafe.Check(r) != nil:
			c.respond.Fail(w, r, http.StatusForbidden, "requests from pages of other sites are not served")
		default:
			c.bodies.serve(c.respond, next, w, r, access.caller(r).addr)
		}
	})
}

// Bounds on requests with a body. Until it is read, a caller without a credential holds
// memory and a connection.
const (
	bodyTime         = 15 * time.Second // within which it must have come
	maxBodies        = 256              // that are read at one time
	maxBodiesAddress = 16               // of them, from one address
)

// A bodyGate bounds how many bodies are read at one time, and for how long.
type bodyGate struct {
	mu      sync.Mutex // guards what follows
	all     int
	reading map[netip.Addr]int
}

// enter takes a place for a body from an address, unless there is none.
func (g *bodyGate) enter(from netip.Addr) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all >= maxBodies || g.reading[from] >= maxBodiesAddress {
		return false
	}
	if g.reading == nil {
		g.reading = map[netip.Addr]int{}
	}
	g.all++
	g.reading[from]++
	return true
}

// leave gives the place back.
func (g *bodyGate) leave(from netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all--
	if g.reading[from]--; g.reading[from] == 0 {
		delete(g.reading, from)
	}
}

// A boundedBody is a body that holds a place until it has been read.
type boundedBody struct {
	io.ReadCloser
	over func() // called when it has been read, and again by each read after that
}

// Read implements [io.Reader].
func (b boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.over()
	}
	return n, err
}

// serve serves a request from an address within the bounds; one too many is refused before
// its body is read. A handler has as much time as it needs once it has read the body.
func (g *bodyGate) serve(respond Responder, next http.Handler, w http.ResponseWriter, r *http.Request, from netip.Addr) {
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		next.ServeHTTP(w, r)
		return
	}
	if !g.enter(from) {
		w.Header().Set("Connection", "close")
		w.Header().Set("Retry-After", "1")
		respond.Fail(w, r, http.StatusServiceUnavailable, "too many requests are being read; try again in a second")
		return
	}
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Now().Add(bodyTime)) // a recorder of a test has no deadlines
	leave := sync.OnceFunc(func() { g.leave(from) })
	defer leave() // what a handler has not read is still read within the time
	r.Body = boundedBody{r.Body, func() {
		_ = conn.SetReadDeadline(time.Time{})
		leave()
	}}
	next.ServeHTTP(w, r)
}

// foreign reports whether a page of another origin makes the request. Following
// a link to us is no such request: the cookie stays behind then, and the
// answer can not be read.
func foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		link := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
		if !link {
			return true
		}
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return false
	}
	u, err := url.Parse(origins[0])
	return err != nil || len(origins) > 1 || u.Host == "" || u.Host != r.Host || (u.Scheme != "http" && u.Scheme != "https")
}

// minToken is how many bytes a token must have to guard an address that other
// machines can reach.
const minToken = 32

// Access lists from where the console may be called. Its zero
// value lets in this machine alone.
type Access struct {
	// Token opens the console like any that was made with `trestle token add`;
	// empty opens nothing.
	Token string
	// Hosts are the names, without a port, by which it may be called beside those
	// of this machine.
	Hosts []string
	// Proxies are the addresses whose forwarding headers are believed.
	Proxies []netip.Prefix
}

// exposed reports whether other machines may call: a token guards the
// console, or a listed proxy comes before it.
func (a Access) exposed() bool { return len(a.Token) >= minToken || len(a.Proxies) > 0 }

// A caller is where a request comes from.
type caller struct {
	addr   netip.Addr // as far as it can be believed; the zero one when it cannot be read
	local  bool       // nothing but this machine was involved
	direct bool       // no listed proxy is between
	https  bool       // as a listed proxy reports
}

// forwarding are the headers by which proxies tell that there are any.
var forwarding = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"}

// caller finds out who calls. A request with the headers of a proxy that is not
// listed is from anywhere, whatever its address is.
func (a Access) caller(r *http.Request) caller {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return caller{direct: true}
	}
	c := caller{addr: peer.Addr().Unmap(), direct: true}
	forwarded := slices.ContainsFunc(forwarding, func(name string) bool { return r.Header.Get(name) != "" })
	if !a.trusts(c.addr) {
		c.local = c.addr.IsLoopback() && !forwarded
		return c
	}
	c.direct = !forwarded
	c.local = c.direct && c.addr.IsLoopback()
	c.https = r.Header.Get("X-Forwarded-Proto") == "https"
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) { // the nearest proxy wrote the last one
		addr, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		if c.addr = addr.Unmap(); !a.trusts(c.addr) {
			break
		}
	}
	return c
}

func (a Access) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(a.Proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// admits returns why a caller is not served at all; empty when it may be asked
// for a credential.
func (a Access) admits(c caller) string {
	switch {
	case c.local:
		return ""
	case !a.exposed():
		return "only this machine is served; to serve others set token to a secret of 32 bytes or more, or list the proxy in trusted_proxies"
	case c.direct && len(a.Token) < minToken && !c.addr.IsLoopback():
		return "only the listed proxies are served"
	}
	return ""
}

// names reports whether the Host header is a name of ours: one of this machine,
// the address that was connected to, or one that is listed. Otherwise a page of
// another site could reach us by a name of its own (DNS rebinding).
func (a Access) names(r *http.Request) bool {
	host := hostOnly(r.Host)
	if host == "localhost" {
		return true
	}
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.Zone() == "" && (addr.Unmap().IsLoopback() || addr.Unmap() == reached(r))
	}
	return host != "" && slices.ContainsFunc(a.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// reached returns our own address on the connection, or the zero one.
func reached(r *http.Request) netip.Addr {
	own, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return netip.Addr{}
	}
	at, err := netip.ParseAddrPort(own.String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// hostOnly returns a Host header without its port. What is no host stays as it
// is and matches no name.
func hostOnly(hostport string) string {
	if host, port, err := net.SplitHostPort(hostport); err == nil {
		if strings.Trim(port, "0123456789") != "" {
			return ""
		}
		return strings.ToLower(host)
	}
	return strings.ToLower(hostport)
}
