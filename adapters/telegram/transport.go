package telegram

import (
	"net/http"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// tokenPlace stands for the token in every URL but the one on the wire. It is
// what an error that quotes the URL shows.
const tokenPlace = "***"

// client returns the HTTP client for o: the token is put in at the last step.
func client(o Options) *http.Client {
	usual := httpx.Transport()
	usual.DialContext, usual.DisableCompression = crashable(usual.DialContext), true
	c := httpx.Client(o.HTTPClient, usual)
	if o.Around != nil {
		c.Transport = o.Around(c.Transport)
	}
	c.Transport = tokenTransport{token: o.Token, next: c.Transport}
	return c
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
