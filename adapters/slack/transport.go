package slack

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/websocket"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// What stands for the tokens in every request but the one on the wire. The
// library writes them into forms and headers; errors that quote a request show
// these.
const (
	botPlace = "***"
	appPlace = "***app"
)

// transports returns the HTTP client for o, tokens put in at the last step, and the
// dialer of sockets that goes the same way.
func transports(o Options, base string) (*http.Client, *websocket.Dialer, tokenTransport) {
	c := httpx.Client(o.HTTPClient, httpx.Transport())
	dialer := httpx.Dialer(c.Transport)
	if o.Around != nil {
		c.Transport = o.Around(c.Transport)
	}
	host := ""
	if u, err := url.Parse(base); err == nil {
		host = u.Host
	}
	tokens := tokenTransport{bot: o.BotToken, app: o.AppToken, host: host, next: c.Transport}
	c.Transport = tokens
	return c, dialer, tokens
}

// tokenTransport puts the tokens where their places are held, for Slack's own
// hosts and the configured one. A token always travels in the header: Slack takes
// it there for every method, and a form is more likely to be logged.
type tokenTransport struct {
	bot, app adapters.Secret
	host     string
	next     http.RoundTripper
}

// RoundTrip sends a copy of r that carries the token.
func (t tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := r.Clone(r.Context())
	if sent.Body != nil && strings.HasPrefix(sent.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		if err := moveToken(sent); err != nil {
			return nil, err
		}
	}
	switch place := strings.TrimPrefix(sent.Header.Get("Authorization"), "Bearer "); {
	case place != botPlace && place != appPlace:
	case !t.ours(sent.URL):
		sent.Header.Del("Authorization")
	case place == botPlace:
		sent.Header.Set("Authorization", "Bearer "+string(t.bot))
	default:
		sent.Header.Set("Authorization", "Bearer "+string(t.app))
	}
	return t.next.RoundTrip(sent)
}

// moveToken takes the token's place out of the form and into the header.
func moveToken(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	_ = r.Body.Close() // it was memory
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return err
	}
	if place := form.Get("token"); place != "" {
		form.Del("token")
		r.Header.Set("Authorization", "Bearer "+place)
		body = []byte(form.Encode())
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return nil
}

// ours reports whether u's host may see a token.
func (t tokenTransport) ours(u *url.URL) bool {
	if u.Host == t.host {
		return true
	}
	host := strings.ToLower(u.Hostname())
	return u.Scheme == "https" && (host == "slack.com" || strings.HasSuffix(host, ".slack.com"))
}
