package telegram

import (
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// tokenPlace stands for the token in every URL but the one on the wire. It is
// what an error that quotes the URL shows.
const tokenPlace = "***"

// client returns the HTTP client for o: redirects refused, the token put in at
// the last step, no timeout of its own because a poll outlives other calls.
func client(o Options) *http.Client {
	var c http.Client
	if o.HTTPClient != nil {
		c = *o.HTTPClient
	}
	if c.Transport == nil {
		c.Transport = manyToOne()
	}
	if o.Around != nil {
		c.Transport = o.Around(c.Transport)
	}
	c.Transport = tokenTransport{token: o.Token, next: c.Transport}
	// A redirected request would carry the token, and a send, to another host.
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.Timeout = 0
	c.Jar = nil
	return &c
}

// manyToOne returns a transport for hundreds of parallel calls to one host. The
// standard one keeps two idle connections a host and would dial for every send.
func manyToOne() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           crashable((&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext),
		TLSHandshakeTimeout:   10 * time.Second,
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: 10 * time.Second},
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       60 * time.Second,
		DisableCompression:    true,
		ExpectContinueTimeout: time.Second,
	}
}

// tokenTransport puts the token where tokenPlace stands in the path.
type tokenTransport struct {
	token adapters.Secret
	next  http.RoundTripper
}

// RoundTrip sends a copy of r that carries the token.
func (t tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	address := *r.URL
	if at := strings.LastIndex(address.Path, tokenPlace); at >= 0 {
		address.Path = address.Path[:at] + string(t.token) + address.Path[at+len(tokenPlace):]
		address.RawPath = ""
	}
	sent := r.WithContext(r.Context())
	sent.URL = &address
	return t.next.RoundTrip(sent)
}
