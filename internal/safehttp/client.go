// Package safehttp fetches URLs from untrusted sources (SSRF protection).
//
// A URL from a platform, a person or a model may point at this machine, at the local
// network or at a cloud's metadata service. A [Client] opens no connection to such
// an address, whatever form the URL has, whatever its name resolves to and however
// often that changes, and wherever it redirects. It sends a credential only to the
// hosts of that credential, and limits size, time and decompressed size. Servers
// that the operator has configured are exempt: they may be at any address.
//
// The package imports no other package of the module.
package safehttp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Options limit what a client may fetch.
type Options struct {
	// Hosts are the allowed names: "files.example.com" is that host,
	// ".example.com" every host below it. Default: every public host.
	Hosts []string
	// Own are base URLs of servers that the operator has configured, such as
	// "http://127.0.0.1:8081". Any address and port is allowed. Default: none.
	Own []string
	// OwnTransport carries requests to Own. Default: one that dials anywhere.
	OwnTransport http.RoundTripper
	// Authorize adds a credential to a request for one of TokenHosts or of Own. It is
	// called for no other request, and must not keep it. Default: none.
	Authorize func(*http.Request)
	// TokenHosts are the hosts that receive the credential, written as Hosts, over TLS
	// only. Default: Own alone.
	TokenHosts []string
	// Limit is the largest body in bytes, after decompression. Default: 20 MB.
	Limit int64
	// Timeout limits one fetch with its redirects, to the last byte of the body.
	// Default: 15 s.
	Timeout time.Duration
	// Resolver turns names into addresses. Default: the system's.
	Resolver *net.Resolver
	// Ports that may be dialled. Default: 80 and 443.
	Ports []string
	// Redirects limits the redirects of one fetch. Default: 3.
	Redirects int
	// UserAgent is sent with each request. Default: "trestle".
	UserAgent string
	// Permit is called with the URL of each request, the first and those of redirects;
	// the fetch ends with its error. Default: none.
	Permit func(context.Context, *url.URL) error
}

// Client fetches within its options. It is safe for concurrent use.
type Client struct {
	o       Options
	own     []string // origins: scheme, host and port
	guarded http.RoundTripper
	trusted http.RoundTripper
}

// New returns a client. It fails when one of Own is no base URL.
func New(o Options) (*Client, error) {
	if o.Limit <= 0 {
		o.Limit = 20 << 20
	}
	if o.Timeout <= 0 {
		o.Timeout = 15 * time.Second
	}
	if len(o.Ports) == 0 {
		o.Ports = []string{"80", "443"}
	}
	if o.Redirects <= 0 {
		o.Redirects = 3
	}
	if o.UserAgent == "" {
		o.UserAgent = "trestle"
	}
	c := &Client{o: o, trusted: o.OwnTransport}
	for _, base := range o.Own {
		u, err := url.Parse(base)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, errors.New("safehttp: Own must hold base URLs")
		}
		c.own = append(c.own, originOf(u))
	}
	guard := &net.Dialer{Timeout: 10 * time.Second, Resolver: o.Resolver, Control: c.checkDial}
	c.guarded = newTransport(guard)
	if c.trusted == nil {
		c.trusted = newTransport(&net.Dialer{Timeout: 10 * time.Second, Resolver: o.Resolver})
	}
	return c, nil
}

// newTransport returns a transport without a proxy, which would dial without the
// address check, and without decompression.
func newTransport(d *net.Dialer) *http.Transport {
	return &http.Transport{
		DialContext: d.DialContext, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 15 * time.Second,
		MaxResponseHeaderBytes: 64 << 10, MaxIdleConns: 16, IdleConnTimeout: 30 * time.Second, DisableCompression: true,
		ForceAttemptHTTP2: true,
	}
}

// A RemoteFile is a body being received. Reading more than the limit fails with
// [ErrTooLarge]; the caller closes it.
type RemoteFile struct {
	io.Reader
	media    string
	declared string
	address  string
	end      func() error
}

// DeclaredType returns the Content-Type that the server sent, or "".
func (f *RemoteFile) DeclaredType() string { return f.declared }

// Address returns the URL that the body came from, after redirects.
func (f *RemoteFile) Address() string { return f.address }

// MediaType returns the media type detected from the first bytes, whatever the
// server declares.
func (f *RemoteFile) MediaType() string { return f.media }

// Close ends the fetch.
func (f *RemoteFile) Close() error { return f.end() }

// Get opens the body at address, at most limit bytes of it; 0 means the client's
// limit. [ErrForbidden], [ErrTooLarge] and [ErrGone] are permanent failures, any
// other may be temporary.
func (c *Client) Get(ctx context.Context, address string, limit int64) (*RemoteFile, error) {
	if limit <= 0 || limit > c.o.Limit {
		limit = c.o.Limit
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	resp, err := c.followRedirects(ctx, address) //nolint:bodyclose // the file closes it
	if err != nil {
		cancel()
		return nil, err
	}
	f, err := openBody(resp, limit)
	if err != nil {
		err = errors.Join(err, resp.Body.Close())
		cancel()
		return nil, err
	}
	f.declared, f.address = resp.Header.Get("Content-Type"), resp.Request.URL.String()
	f.end = func() error { defer cancel(); return resp.Body.Close() }
	return f, nil
}

// followRedirects requests address and follows redirects, each checked like the first
// address.
func (c *Client) followRedirects(ctx context.Context, address string) (*http.Response, error) {
	var from *url.URL
	for range 1 + c.o.Redirects {
		u, err := c.checkURL(from, address)
		if err == nil && c.o.Permit != nil {
			err = c.o.Permit(ctx, u)
		}
		if err != nil {
			return nil, err
		}
		resp, err := c.sendRequest(ctx, u)
		if err != nil {
			return nil, err
		}
		next, err := redirectTarget(resp)
		if err != nil || next == "" {
			return resp, err
		}
		from, address = u, next
	}
	return nil, fmt.Errorf("%w: it is sent on more than %d times", ErrForbidden, c.o.Redirects)
}

// sendRequest makes one request. It takes no header, cookie or referrer from an earlier one.
func (c *Client) sendRequest(ctx context.Context, u *url.URL) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrForbidden, "the address cannot be asked")
	}
	r.Header.Set("User-Agent", c.o.UserAgent)
	r.Header.Set("Accept-Encoding", "identity")
	by := c.guarded
	if c.isOwn(u) {
		by = c.trusted
	}
	if c.o.Authorize != nil && (c.isOwn(u) || u.Scheme == "https" && hostMatches(u.Hostname(), c.o.TokenHosts)) {
		c.o.Authorize(r)
	}
	resp, err := by.RoundTrip(r)
	switch {
	case errors.Is(err, ErrForbidden):
		return nil, err
	case err != nil:
		return nil, transportError{ctx.Err(), u.Hostname()}
	}
	resp.Request = r
	return resp, nil
}

// redirectTarget returns the target of a redirect, or "" for a body to read. Any
// other response is closed and returned as an error.
func redirectTarget(resp *http.Response) (string, error) {
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		return "", nil
	case code >= 300 && code < 400 && resp.Header.Get("Location") != "":
		return resp.Header.Get("Location"), resp.Body.Close()
	default:
		return "", errors.Join(StatusError{code}, resp.Body.Close())
	}
}

// openBody returns the body of a response as a file.
func openBody(resp *http.Response, limit int64) (*RemoteFile, error) {
	if resp.ContentLength > limit {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, resp.ContentLength)
	}
	var body io.Reader = resp.Body
	switch strings.ToLower(resp.Header.Get("Content-Encoding")) {
	case "", "identity":
	case "gzip": // sent unrequested; the limit applies to the decompressed size
		unzip, err := gzip.NewReader(resp.Body)
		if err != nil {
			return nil, fmt.Errorf("%w: it is not the gzip it claims to be", ErrForbidden)
		}
		body = unzip
	default:
		return nil, fmt.Errorf("%w: encoding %q", ErrForbidden, resp.Header.Get("Content-Encoding"))
	}
	bound := &limitedReader{from: body, left: limit}
	head := make([]byte, 512)
	n, err := io.ReadFull(bound, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return &RemoteFile{Reader: io.MultiReader(bytes.NewReader(head[:n]), bound), media: http.DetectContentType(head[:n])}, nil
}

// A limitedReader reader fails after left bytes.
type limitedReader struct {
	from io.Reader
	left int64
}

// Read fails with ErrTooLarge as soon as there is more than the limit.
func (b *limitedReader) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.from.Read(p)
	if int64(n) > b.left {
		n, b.left = int(b.left), 0
		return n, ErrTooLarge
	}
	b.left -= int64(n)
	return n, err
}

func (c *Client) isOwn(u *url.URL) bool { return slices.Contains(c.own, originOf(u)) }
