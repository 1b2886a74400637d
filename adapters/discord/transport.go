package discord

import (
	"net/http"
	"net/url"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// client returns the HTTP client for o: the token is put in at the last step, for the
// API's own host only.
func client(o Options, token adapters.Secret, base string) *http.Client {
	c := httpx.Client(o.HTTPClient, httpx.Transport())
	host := ""
	if u, err := url.Parse(base); err == nil {
		host = u.Host
	}
	if o.Around != nil {
		c.Transport = o.Around(c.Transport)
	}
	c.Transport = tokenTransport{token: token, host: host, next: c.Transport}
	return c
}

// tokenTransport adds the token to requests for host.
type tokenTransport struct {
	token adapters.Secret
	host  string
	next  http.RoundTripper
}

// RoundTrip sends a copy of r that carries the token, unless r is for a webhook or
// an interaction, whose address is the credential.
func (t tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != t.host || r.Context().Value(bare{}) != nil {
		return t.next.RoundTrip(r)
	}
	sent := r.Clone(r.Context())
	sent.Header.Set("Authorization", "Bot "+string(t.token))
	return t.next.RoundTrip(sent)
}

// bare is the mark of a context whose calls carry no token.
type bare struct{}
