package discord

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/gorilla/websocket"

	"github.com/trestle-bridge/trestle/adapters"
)

// client returns the HTTP client for o: redirects refused, no timeout of its own,
// and the token put in at the last step, for the API's own host only.
func client(o Options, token adapters.Secret, base string) *http.Client {
	c := bareClient(o)
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

// bareClient is client without the token.
func bareClient(o Options) *http.Client {
	var c http.Client
	if o.HTTPClient != nil {
		c = *o.HTTPClient
	}
	if c.Transport == nil {
		c.Transport = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
			TLSHandshakeTimeout:   10 * time.Second,
			ForceAttemptHTTP2:     true,
			MaxIdleConns:          256,
			MaxIdleConnsPerHost:   256,
			IdleConnTimeout:       60 * time.Second,
			ExpectContinueTimeout: time.Second,
		}
	}
	// A redirected request would carry the token, and a send, to another host.
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.Timeout = 0
	c.Jar = nil
	return &c
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

// dialer returns how the gateway is dialled: as c's calls are.
func (c *Client) dialer() *websocket.Dialer {
	d := &websocket.Dialer{HandshakeTimeout: handshake, Proxy: http.ProxyFromEnvironment}
	if t, ok := c.files.Transport.(*http.Transport); ok {
		d.NetDialContext, d.TLSClientConfig, d.Proxy = t.DialContext, t.TLSClientConfig.Clone(), t.Proxy
	}
	if d.TLSClientConfig != nil {
		d.TLSClientConfig.NextProtos = nil // the transport has put HTTP/2 there, which no websocket speaks
	}
	if d.NetDialContext == nil {
		var dial net.Dialer
		d.NetDialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			return dial.DialContext(ctx, network, address)
		}
	}
	return d
}
