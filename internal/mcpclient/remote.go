package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// checkAddress refuses what cannot be the address of a server.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("the url does not parse")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.Opaque != "":
		return errors.New("the url must begin with https:// or http:// and name a host")
	case u.User != nil:
		return errors.New("the url names a user; write the credential in headers")
	}
	return nil
}

// A remoteTransport carries the requests of one session. It adds the headers, refuses
// redirects, bounds bodies, and ends all requests when the session is cut.
type remoteTransport struct {
	headers map[string]string
	base    *http.Transport
	atEnd   func(func()) (forget func() bool) // has a function called when the session is cut
	cut     context.CancelFunc                // ends all requests of the session
	refused atomic.Int32                      // the last status that was no success; 0 after one
}

// newRemoteTransport returns a transport that outlives ctx, up to cut.
func newRemoteTransport(ctx context.Context, headers map[string]string) *remoteTransport {
	over, cut := context.WithCancel(context.WithoutCancel(ctx))
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConns: 8, IdleConnTimeout: 90 * time.Second, DisableCompression: true, ForceAttemptHTTP2: true,
	}
	return &remoteTransport{
		headers: headers, base: base,
		atEnd: func(f func()) func() bool { return context.AfterFunc(over, f) },
		cut:   func() { cut(); base.CloseIdleConnections() },
	}
}

// client returns a client over the transport that follows no redirect: the operator has
// written this address and no other.
func (t *remoteTransport) client() *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// callKey is the key of the [openCall] in the context of its request.
type callKey struct{}

// RoundTrip sends one request. It notes in the call that the server may have received it.
func (t *remoteTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	forget := t.atEnd(cancel)
	call, _ := ctx.Value(callKey{}).(*openCall)
	if !callsTool(r) { // it tells that the call is cancelled, or takes up its answer again
		call = nil
	}
	if call != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: call.sent.set})
	}
	r = r.Clone(ctx)
	for name, value := range t.headers {
		r.Header.Set(name, value)
	}
	resp, err := t.base.RoundTrip(r)
	if err != nil {
		forget()
		cancel()
		return nil, err
	}
	if err := renameForgotten(r, resp); err != nil {
		forget()
		cancel()
		return nil, err
	}
	t.note(r, resp, call)
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	resp.Body = &boundedBody{from: resp.Body, left: maxMessage, stream: kind == "text/event-stream" && resp.StatusCode < 300, end: func() { forget(); cancel() }}
	return resp, nil
}

// callsTool reports whether a request carries a call of a tool.
func callsTool(r *http.Request) bool {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer func() { _ = body.Close() }()
	var message struct{ Method string }
	return json.NewDecoder(body).Decode(&message) == nil && message.Method == "tools/call"
}

// renameForgotten gives the answer to a request of a session that the server does not know
// the status that the protocol has for it, 404. Servers on the protocol's TypeScript library
// answer 400, and say that the session is not valid.
func renameForgotten(r *http.Request, resp *http.Response) error {
	if resp.StatusCode != http.StatusBadRequest || r.Header.Get("Mcp-Session-Id") == "" {
		return nil
	}
	const most = 4 << 10 // of the words of a refusal
	said, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		_ = resp.Body.Close() // the error of reading it says more
		return err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(said), resp.Body), resp.Body}
	if bytes.Contains(bytes.ToLower(said), []byte("session")) {
		resp.StatusCode, resp.Status = http.StatusNotFound, "404 Not Found"
	}
	return nil
}

// note keeps the status of a refusal. What is refused by a status below 500 was not done.
func (t *remoteTransport) note(r *http.Request, resp *http.Response, call *openCall) {
	switch code := resp.StatusCode; {
	case code < 300:
		t.refused.Store(0)
	case r.Method != http.MethodPost:
	default:
		t.refused.Store(int32(code)) //nolint:gosec // three digits
		if call != nil && code < 500 {
			call.sent.refuse()
		}
	}
}

// explain returns an error in words that say what an operator can do.
func (t *remoteTransport) explain(err error) error {
	switch code := t.refused.Load(); {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Errorf("the server refuses the credential (HTTP %d): check the headers of this server in the configuration", code)
	case code == http.StatusNotFound:
		return fmt.Errorf("nothing is at this address (HTTP %d): check the url of this server in the configuration", code)
	case code >= 300 && code < 400:
		return fmt.Errorf("the server redirects to another address (HTTP %d), which is not followed: write that address as the url", code)
	case code != 0:
		return fmt.Errorf("%w (HTTP %d)", err, code)
	}
	return err
}

// errLargeBody is returned by a body that is larger than a message may be.
var errLargeBody = fmt.Errorf("the server sent a message of more than %d MB", maxMessage>>20)

// errStreamLost is returned when the stream of an answer broke and the server cannot be
// reached to go on with it.
var errStreamLost = errors.New("the connection broke during the answer and cannot be made again")

// A boundedBody is the body of a response: at most one message, or a stream of events,
// of which the protocol library bounds each. It reads the body of a refusal whole, so
// that one is never a stream.
type boundedBody struct {
	from   io.ReadCloser
	left   int64
	stream bool
	end    func()
}

// Read reads within the bound.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.stream {
		return n, err
	}
	if b.left -= int64(n); b.left < 0 {
		return 0, errLargeBody
	}
	return n, err
}

// Close ends the request.
func (b *boundedBody) Close() error {
	b.end()
	return b.from.Close()
}

// plainError returns an error without addresses, which may hold a credential, and
// without the names of the library.
func plainError(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	text := err.Error()
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("the server closed the connection")
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("the server did not answer in time")
	case strings.Contains(text, "failed to reconnect"), strings.Contains(text, "terminated without response"): // as text only
		return errStreamLost
	case strings.Contains(text, "maximum line length") || strings.Contains(text, "without terminating"):
		return errLargeBody
	}
	return err
}
