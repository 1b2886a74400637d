package openai

import (
	"fmt"
	"io"
	"net/http"
	"net/url"

	goopenai "github.com/sashabaranov/go-openai"
)

// An exchange is one request and its answer: the HTTP client that the library
// is given for that one call.
//
// It writes the body itself, because the library encodes and re-scans every
// message several times (about 8 µs per KB, a millisecond for a full window).
// It keeps Retry-After, which the library drops, and puts the limits on the
// answer. It speaks to the transport below http.Client, so redirects are not
// followed and errors do not repeat the URL.
type exchange struct {
	transport http.RoundTripper
	body      *payload
	limit     int64
	watch     *idleTimeout
	answer    *answer
}

var _ goopenai.HTTPDoer = (*exchange)(nil)

// refusalBytes is how much of a refusal is read for its reason.
const refusalBytes = 64 << 10

// Do sends the request with the exchange's own body. A status other than 2xx is
// returned as a *refusal.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	x.setBody(req)
	resp, err := x.transport.RoundTrip(req)
	if err != nil {
		return nil, &unreachable{err}
	}
	x.watch.listen()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, readRefusal(resp)
	}
	x.answer = &answer{src: resp.Body, left: x.limit, heard: x.watch.listen}
	resp.Body = x.answer
	return resp, nil
}

// setBody gives req the exchange's body, replayable, so that the transport may
// send it again when a kept connection turns out to be closed.
func (x *exchange) setBody(req *http.Request) {
	req.Body = x.body.open()
	req.GetBody = func() (io.ReadCloser, error) { return x.body.open(), nil }
	req.ContentLength = int64(len(x.body.bytes))
}

// drain reads the little that follows a complete answer, so that its connection
// can carry the next call. An endpoint that keeps the body open loses it.
func (x *exchange) drain() {
	x.watch.within(drainFor)
	x.answer.discard()
}

// readRefusal turns a response that is no answer into an error and closes it.
func readRefusal(resp *http.Response) error {
	defer resp.Body.Close()
	if resp.StatusCode >= 300 && resp.StatusCode <= 399 {
		return redirected(resp)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, refusalBytes))
	if err != nil {
		body = nil // the status says enough
	}
	return &apiError{
		status:     resp.StatusCode,
		retryAfter: retryAfter(resp.Header),
		reason:     readReason(body),
	}
}

func redirected(resp *http.Response) error {
	where := "elsewhere"
	if to, err := url.Parse(resp.Header.Get("Location")); err == nil && to.Host != "" {
		where = to.Scheme + "://" + to.Host
	}
	return &apiError{
		status: resp.StatusCode,
		reason: reason{Message: fmt.Sprintf("the base URL redirects to %s, which is not followed", where)},
	}
}
