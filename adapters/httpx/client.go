package httpx

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// BaseURL checks the base URL that an operator wrote for a platform and cuts the
// slashes at its end. usual stands for an empty one.
func BaseURL(platform, given, usual string) (string, error) {
	if given == "" {
		return usual, nil
	}
	u, err := url.Parse(given)
	switch {
	case err != nil:
		return "", errors.New(platform + ": api_url is not a URL")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", errors.New(platform + ": api_url must begin with http:// or https:// and name a host")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", errors.New(platform + ": api_url must be a base URL, without user, query or fragment")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// Transport returns a transport for hundreds of parallel calls to one host. The
// standard one keeps two idle connections a host and would dial for every send.
func Transport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: 10 * time.Second},
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       60 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}

// Client returns a copy of the operator's client, which may be nil, over its own
// transport or else the usual one. It keeps no cookies and has no timeout, because
// every call has its own, and follows no redirect: that would carry a token, and a
// send, to another host.
func Client(given *http.Client, usual *http.Transport) *http.Client {
	c := http.Client{Transport: usual}
	if given != nil && given.Transport != nil {
		c.Transport = given.Transport
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// Handshake is how long a websocket may take to open.
const Handshake = 15 * time.Second

// Dialer returns what dials websockets the way that t goes, if it is an
// [http.Transport].
func Dialer(t http.RoundTripper) *websocket.Dialer {
	d := &websocket.Dialer{
		Proxy:            http.ProxyFromEnvironment,
		HandshakeTimeout: Handshake,
		WriteBufferSize:  32 << 10, // one frame a message: Slack does not join continuation frames
	}
	if t, ok := t.(*http.Transport); ok {
		d.NetDialContext, d.Proxy, d.TLSClientConfig = t.DialContext, t.Proxy, t.TLSClientConfig.Clone()
	}
	if d.TLSClientConfig != nil {
		d.TLSClientConfig.NextProtos = nil // a transport in use has put HTTP/2 there, which no websocket speaks
	}
	return d
}

// A RoundTripFunc makes a request. It is the client, or the transport, that a library wants.
type RoundTripFunc func(*http.Request) (*http.Response, error)

// Do calls t.
func (t RoundTripFunc) Do(r *http.Request) (*http.Response, error) { return t(r) }

// RoundTrip calls t.
func (t RoundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }
