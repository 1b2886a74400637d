package safehttp

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// Permanent failures.
var (
	// ErrForbidden is returned for a URL that may not be fetched: another protocol, port
	// or host than allowed, or an address that is not public.
	ErrForbidden = errors.New("it may not be fetched")
	// ErrPrivate is an ErrForbidden: the URL leads to a host or an address that is not
	// public.
	ErrPrivate = fmt.Errorf("%w: it is not public", ErrForbidden)
	// ErrTooLarge is returned for a body that exceeds the limit.
	ErrTooLarge = errors.New("it is too large")
	// ErrGone is returned when the server no longer has the file.
	ErrGone = errors.New("it is not there")
)

// StatusError is the answer of a server that is neither a file nor a redirect. It is
// an [ErrGone] or an [ErrForbidden] where the status says so.
type StatusError struct{ Code int }

// Error names the status.
func (e StatusError) Error() string {
	if kind := e.Unwrap(); kind != nil {
		return fmt.Sprintf("%v: HTTP %d", kind, e.Code)
	}
	return fmt.Sprintf("HTTP %d", e.Code)
}

// Unwrap returns ErrGone, ErrForbidden or nil.
func (e StatusError) Unwrap() error {
	switch e.Code {
	case http.StatusNotFound, http.StatusGone:
		return ErrGone
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrForbidden
	default:
		return nil
	}
}

// transportError is the error of a request without a response. It does not contain
// the original error, which may quote a URL with a credential.
type transportError struct {
	cause error // of the context, nil unless it has ended
	host  string
}

// Error names only the host.
func (e transportError) Error() string {
	if e.cause != nil {
		return e.host + " did not answer in time"
	}
	return e.host + " cannot be reached"
}

// Unwrap returns context.Canceled, context.DeadlineExceeded or nil.
func (e transportError) Unwrap() error { return e.cause }

// checkURL parses a URL, relative to from in a redirect, and refuses forbidden ones.
// The addresses of an allowed name are checked later: see checkDial.
func (c *Client) checkURL(from *url.URL, address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err == nil && from != nil {
		u = from.ResolveReference(u)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: the address does not parse", ErrForbidden)
	case u.Scheme != "http" && u.Scheme != "https", u.Opaque != "":
		return nil, fmt.Errorf("%w: only http and https are", ErrForbidden)
	case u.User != nil:
		return nil, fmt.Errorf("%w: the address names a user", ErrForbidden)
	case from != nil && from.Scheme == "https" && u.Scheme == "http":
		return nil, fmt.Errorf("%w: it is sent on without encryption", ErrForbidden)
	case c.isOwn(u):
		return u, nil
	case !slices.Contains(c.o.Ports, portOf(u)):
		return nil, fmt.Errorf("%w: port %s", ErrForbidden, portOf(u))
	}
	host := u.Hostname()
	switch {
	case !plausibleHost(host):
		return nil, fmt.Errorf("%w: %q is no public host", ErrPrivate, host)
	case len(c.o.Hosts) > 0 && !hostMatches(host, c.o.Hosts):
		return nil, fmt.Errorf("%w: %q is not one of the platform's hosts", ErrForbidden, host)
	}
	return u, nil
}

// checkDial refuses a connection to an address that is not public. The dialer calls
// it for every address after the name is resolved, so that the result cannot change
// before the connection.
func (c *Client) checkDial(network, address string, _ syscall.RawConn) error {
	host, dialled, err := net.SplitHostPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") {
		return fmt.Errorf("%w: %s %s", ErrForbidden, network, address)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !isPublic(ip) {
		return fmt.Errorf("%w: %s", ErrPrivate, host)
	}
	if !slices.Contains(c.o.Ports, dialled) {
		return fmt.Errorf("%w: port %s", ErrForbidden, dialled)
	}
	return nil
}

// isPublic reports whether ip belongs to the public internet: for IPv6 the global
// unicast range 2000::/3, for both families without reserved ranges and embedded
// IPv4 addresses.
func isPublic(ip netip.Addr) bool {
	if ip.Zone() != "" || ip.Is4In6() {
		return false // only hostile URLs use these forms
	}
	if ip.Is6() && !netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20}), 3).Contains(ip) {
		return false
	}
	return !slices.ContainsFunc(reservedRanges, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// reservedRanges are the ranges outside the public internet (IANA special-purpose
// address registries).
var reservedRanges = parsePrefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23",     // protocol assignments; Teredo carries an IPv4 address
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4 carries an IPv4 address
	"2620:4f:8000::/48", "3fff::/20",
)

func parsePrefixes(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// plausibleHost reports whether host is the name or address of a public server.
// Resolvers differ in the forms of addresses that they accept: 2130706433, 0x7f.1
// and 0177.0.0.1 are 127.0.0.1 to some, so a name that ends in a number is refused,
// and so are names of local networks.
func plausibleHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return isPublic(ip)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	if len(labels) < 2 || len(host) > 253 || slices.Contains(localNames, last) {
		return false
	}
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return false
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// localNames are top-level names of local networks.
var localNames = []string{"internal", "local", "localhost", "localdomain", "lan", "home", "corp", "intranet", "arpa", "test", "invalid", "onion"}

// hostMatches reports whether host is one of hosts, or a subdomain of one that
// begins with a dot.
func hostMatches(host string, hosts []string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.ContainsFunc(hosts, func(h string) bool {
		return host == h || strings.HasPrefix(h, ".") && strings.HasSuffix(host, h)
	})
}

// portOf returns the port of u, explicit or by scheme.
func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}

// originOf returns the normalized scheme, host and port of u.
func originOf(u *url.URL) string {
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + portOf(u)
}
