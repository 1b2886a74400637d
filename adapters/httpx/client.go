package httpx

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gorilla/websocket"

	"github.com/trestle-bridge/trestle/adapters"
)

// BaseURL checks the base URL that an operator wrote for a platform and cuts the
// slashes at its end. usual represents an empty one.
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

// maxAnswer bounds one answer of a platform.
const maxAnswer = 64 << 20

// A CallOutcome is what was seen of one call, as far as it came.
type CallOutcome struct {
	Written bool // some of the request may have left us
	Status  int  // 0 when no answer came
	Header  http.Header
	Whole   []byte // the body; nil unless it was read to its end
}

// Take reads the body of resp whole, so that the connection is used again and an answer
// that does not parse can still be shown in an error. It returns resp as it was given,
// with the same bytes to be read.
func (a *CallOutcome) Take(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a.Status, a.Header = resp.StatusCode, resp.Header
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	a.Whole = body
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// LimitBody returns body, whose reading fails with [adapters.Invalid] beyond limit bytes.
func LimitBody(body io.ReadCloser, limit int64) io.ReadCloser {
	return capped{http.MaxBytesReader(nil, body, limit)}
}

type capped struct{ io.ReadCloser }

// Read reads on.
func (c capped) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if long, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = &adapters.Error{Kind: adapters.Invalid, Op: "get file", Err: fmt.Errorf("the file has more than %d bytes", long.Limit)}
	}
	return n, err
}

const (
	// maxTries is how often a call is made before its failure counts.
	maxTries = 4
	// leastWait is the least that a platform's limits are waited out.
	leastWait = 100 * time.Millisecond
)

// RetryRead makes a call that changes nothing: it waits as long as the platform asks,
// and makes it again where the failure may have been the line's. It returns what
// another call would not mend.
func RetryRead(ctx context.Context, call func() error) error {
	pause := &backoff.ExponentialBackOff{InitialInterval: time.Second, RandomizationFactor: 0.3, Multiplier: 2, MaxInterval: 30 * time.Second}
	pause.Reset()
	for try := 1; ; try++ {
		err := call()
		e, failed := errors.AsType[*adapters.Error](err)
		switch {
		case !failed || ctx.Err() != nil:
			return err
		case e.Kind == adapters.Limited:
			try-- // to wait is no failure
			adapters.SleepContext(ctx, max(cmp.Or(e.RetryAfter, time.Second), leastWait))
		case try < maxTries && (e.Kind == adapters.Unknown || e.Kind == adapters.NotSent):
			adapters.SleepContext(ctx, pause.NextBackOff())
		default:
			return err
		}
	}
}

// maxWords bounds the words of a foreign error.
const maxWords = 1000

// hidden is a foreign error in words free of secrets. It unwraps to nothing but the
// context's errors, because the original may hold the request.
type hidden struct {
	words string
	cause error
}

// Error returns the words.
func (e *hidden) Error() string { return e.words }

// Unwrap returns context.Canceled, context.DeadlineExceeded or nil.
func (e *hidden) Unwrap() error { return e.cause }

// RedactError keeps of err only its words without the secrets, behind the status if that is
// not 0, and whether the context ended it.
func RedactError(err error, status int, secrets ...adapters.SecretString) error {
	words := err.Error()
	if status != 0 {
		words = fmt.Sprintf("HTTP %d %s: %s", status, http.StatusText(status), words)
	}
	for _, s := range secrets {
		words = s.Scrub(words)
	}
	out := &hidden{words: strings.ToValidUTF8(words[:min(len(words), maxWords)], "")}
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, cause) {
			out.cause = cause
		}
	}
	return out
}
