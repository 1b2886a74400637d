package doctor

import (
	"context"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// A ConsoleAddress is where the program lets itself be looked at.
type ConsoleAddress struct {
	Listen  string // host:port; empty when none is served
	Running bool   // a process serves it now
	// Addresses returns those of this machine that others may reach.
	Addresses func() ([]net.IP, error)
}

// guarded is a path that wants a credential wherever there is one; what /health
// says to everybody proves nothing.
const guarded = "/api/status"

// knock bounds one attempt to reach the console.
const knock = 2 * time.Second

// Examine calls the console as this machine and as others would.
func (c ConsoleAddress) Examine(ctx context.Context) []adapters.AccountDiagnosis {
	if c.Listen == "" {
		return []adapters.AccountDiagnosis{Fine("none is served here: listen is empty, or roles leave out the console")}
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return []adapters.AccountDiagnosis{Fail("TRS-C05", "listen is no address", "write host:port, such as 127.0.0.1:7420")}
	}
	if !c.Running {
		if err := Listenable(ctx, c.Listen); err != nil {
			return []adapters.AccountDiagnosis{Fail("TRS-C05", "the next start cannot listen on "+c.Listen+": "+err.Error(), "stop what uses the address, or set listen to another port")}
		}
		if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
			return []adapters.AccountDiagnosis{Fine(c.Listen + ", from this machine only; nothing runs now")}
		}
		return []adapters.AccountDiagnosis{c.exposed(c.Listen, http.StatusUnauthorized)}
	}
	var found []adapters.AccountDiagnosis
	if answered(ctx, c.Listen) == 0 {
		found = append(found, Warn("TRS-C05", "the running process does not answer at "+c.Listen, "see its log, and what else may stand before that address"))
	}
	all, err := c.Addresses()
	if err != nil {
		found = append(found, Warn("TRS-C05", "the addresses of this machine cannot be read: "+err.Error(), "see that this user may"))
	}
	for _, ip := range all {
		address := net.JoinHostPort(ip.String(), port)
		if status := answered(ctx, address); status != 0 {
			found = append(found, c.exposed(address, status))
		}
	}
	if len(found) == 0 {
		return []adapters.AccountDiagnosis{Fine("http://" + c.Listen + " answers, from this machine only")}
	}
	return found
}

// exposed says what it means that others reach the console.
func (c ConsoleAddress) exposed(address string, status int) adapters.AccountDiagnosis {
	if slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden}, status) {
		return Warn("TRS-C04", "other machines reach the console at "+address+"; a credential keeps them out", "put a proxy with TLS before it, or listen on 127.0.0.1")
	}
	return Fail("TRS-C04", "other machines reach the console at "+address+" without a credential", "listen on 127.0.0.1, or set token to a secret of 32 bytes or more")
}

// answered returns the HTTP status of an address; 0 when it does not answer.
func answered(ctx context.Context, address string) int {
	ctx, cancel := context.WithTimeout(ctx, knock)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+guarded, nil)
	if err != nil {
		return 0
	}
	transport := &http.Transport{DisableKeepAlives: true} // and no proxy: it is about this machine
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close() // the status is all
	return resp.StatusCode
}

// Addresses returns the addresses of this machine's network interfaces but for
// those of the loopback and of single links.
func Addresses() ([]net.IP, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var out []net.IP
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			out = append(out, n.IP)
		}
	}
	return out, nil
}
