package modelhttp

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// An AnswerExchange is one request and its answer: the HTTP client that the library is
// given for that call.
//
// It sends its own body, because the library encodes and scans every message several
// times (about 8 µs per KB, a millisecond for a full context window). It keeps
// Retry-After, which the library drops, and limits the answer. It calls the
// transport without an http.Client, so redirects are not followed and errors do not
// contain the URL.
type AnswerExchange struct {
	Transport http.RoundTripper
	// Prepare changes the request before it is sent; nil changes nothing.
	Prepare func(*http.Request)
	Limit   int64
	Watch   *CallTimeouts // nil: the time is not limited here
	Answer  *limitedBody
}

// refusalBytes limits the body of an error response.
const refusalBytes = 64 << 10

// Do sends the request with the exchange's own body. A status other than 2xx is
// returned as an [*apiError].
func (x *AnswerExchange) Do(req *http.Request) (*http.Response, error) {
	if x.Prepare != nil {
		x.Prepare(req)
	}
	resp, err := x.Transport.RoundTrip(req)
	if err != nil {
		return nil, &unreachable{err}
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, readRefusal(resp)
	}
	x.Answer = &limitedBody{src: resp.Body, left: x.Limit}
	if x.Watch != nil {
		x.Answer.heard = x.Watch.heard
	}
	resp.Body = x.Answer
	return resp, nil
}

// Drain reads the rest of a complete answer, so that the connection can be reused.
// An endpoint that keeps the body open loses the connection.
func (x *AnswerExchange) Drain() {
	x.Watch.restart(drainFor)
	_, _ = io.CopyN(io.Discard, x.Answer.src, discardBytes)
}

// readRefusal converts an error response to an error and closes it.
func readRefusal(resp *http.Response) error {
	defer resp.Body.Close()
	if resp.StatusCode >= 300 && resp.StatusCode <= 399 {
		return redirectError(resp)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, refusalBytes))
	if err != nil {
		body = nil // the status is enough
	}
	reason := ReadReason(body)
	return &EndpointError{
		status:     resp.StatusCode,
		retryAfter: cmp.Or(retryAfter(resp.Header), max(reason.wait, waitIn(reason.Message))),
		Reason:     reason,
	}
}

func redirectError(resp *http.Response) error {
	where := "elsewhere"
	if to, err := url.Parse(resp.Header.Get("Location")); err == nil && to.Host != "" {
		where = to.Scheme + "://" + to.Host
	}
	return &EndpointError{
		status: resp.StatusCode,
		Reason: ErrorReason{Message: fmt.Sprintf("the base URL redirects to %s, which is not followed", where)},
	}
}

// Limits of drain: how long it waits for the end of the body, and how much it reads.
const (
	drainFor     = 20 * time.Millisecond
	discardBytes = 4 << 10
)

// A decompressTransport decompresses gzip answers, which some endpoints send
// unrequested. Limits then apply to the decompressed size.
type decompressTransport struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (u decompressTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := u.RoundTripper.RoundTrip(r)
	if err != nil || resp.Uncompressed || !isGzip(resp.Header.Get("Content-Encoding")) {
		return resp, err
	}
	resp.Body = &gzipBody{src: resp.Body}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
	return resp, nil
}

func isGzip(encoding string) bool {
	encoding = strings.ToLower(strings.TrimSpace(encoding))
	return encoding == "gzip" || encoding == "x-gzip"
}

// A gzipBody body decompresses when it is read, so that the headers are available
// at once.
type gzipBody struct {
	src io.ReadCloser
	gz  *gzip.Reader
	err error
}

// Read implements [io.Reader].
func (u *gzipBody) Read(p []byte) (int, error) {
	if u.gz == nil && u.err == nil {
		u.gz, u.err = gzip.NewReader(u.src)
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.gz.Read(p)
}

// Close implements [io.Closer].
func (u *gzipBody) Close() error { return u.src.Close() }
