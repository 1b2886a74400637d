package console

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// minToken is how many bytes a token must have to guard an address that other
// machines can reach.
const minToken = 32

// Access says from where the console may be called (SECURITY S7, S8). Its zero
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

// exposed reports whether anybody but this machine may call: a token guards the
// console, or a listed proxy comes before it.
func (a Access) exposed() bool { return len(a.Token) >= minToken || len(a.Proxies) > 0 }

// A caller is where a request comes from.
type caller struct {
	addr   netip.Addr // as far as it can be believed; the zero one when it cannot be read
	local  bool       // nothing but this machine was involved
	direct bool       // no listed proxy is between
	https  bool       // a listed proxy says so
}

// forwarding are the headers by which proxies tell that there are any.
var forwarding = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"}

// caller finds out who calls. A request with the headers of a proxy that is not
// listed is from anywhere, whatever its address says.
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
// is and names nobody.
func hostOnly(hostport string) string {
	if host, port, err := net.SplitHostPort(hostport); err == nil {
		if strings.Trim(port, "0123456789") != "" {
			return ""
		}
		return strings.ToLower(host)
	}
	return strings.ToLower(hostport)
}
