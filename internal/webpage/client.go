// Package webpage fetches pages and documents from the web as Markdown, for an agent
// that a person asked to look something up.
//
// Addresses come from people and models: [PageClient] follows them through
// [safehttp], which never reaches the internal network. It asks only by GET, sends
// no cookie, credential or referrer, obeys robots.txt, and bounds redirects, bytes
// and time. Pages are kept in memory for minutes, so that a second question about one
// costs its server nothing.
package webpage

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"github.com/trestle-bridge/trestle/internal/document"
	"github.com/trestle-bridge/trestle/internal/safehttp"
)

// FetchOptions are the settings of a client. A zero field has its default.
type FetchOptions struct {
	// UserAgent is sent with each request. Its first word, up to a slash, is the name
	// that robots.txt is asked about. Default: "trestle".
	UserAgent string
	// Own are base URLs of servers of the operator that may be fetched although they
	// are not public. Default: none.
	Own []string
	// Limit is the largest page in bytes. Default: 10 MB.
	Limit int64
	// Timeout limits one fetch with its redirects. Default: 20 s.
	Timeout time.Duration
	// Keep is how long a page is kept. Default: 10 minutes.
	Keep time.Duration
	// KeepBytes bounds the text of all pages that are kept. Default: 16 MB.
	KeepBytes int
	// Text bounds the text of one page. Default: that of [document.ExtractLimits], but
	// 1 MB of text.
	Text document.ExtractLimits
	// Now returns the time. Default: time.Now.
	Now func() time.Time
}

// A WebPage is a page or a document as text.
type WebPage struct {
	document.ExtractedText
	// Address is the URL that the text came from, after redirects.
	Address string
	// Fetched is when it was fetched.
	Fetched time.Time
	// Kept reports that it was fetched earlier, and kept.
	Kept bool
}

// PageClient fetches pages. It is safe for concurrent use.
type PageClient struct {
	o      FetchOptions
	http   *safehttp.Client
	robots *robotsRules
	pages  *boundedCache[WebPage]
}

// maxRedirects bounds the redirects of one fetch.
const maxRedirects = 5

// New returns a client. It fails when one of Own is no base URL.
func New(o FetchOptions) (*PageClient, error) {
	o.UserAgent = cmp.Or(o.UserAgent, "trestle")
	o.Limit = cmp.Or(o.Limit, 10<<20)
	o.Timeout = cmp.Or(o.Timeout, 20*time.Second)
	o.Keep = cmp.Or(o.Keep, 10*time.Minute)
	o.KeepBytes = cmp.Or(o.KeepBytes, 16<<20)
	o.Text.Output = cmp.Or(o.Text.Output, 1<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	robots, err := newRobotsRules(o)
	if err != nil {
		return nil, err
	}
	c := &PageClient{o: o, robots: robots, pages: newBoundedCache[WebPage](o.KeepBytes, o.Keep, o.Now)}
	c.http, err = safehttp.New(safehttp.Options{
		Own: o.Own, Limit: o.Limit, Timeout: o.Timeout, Redirects: maxRedirects, UserAgent: o.UserAgent, Permit: robots.permit,
	})
	return c, err
}

// Fetch returns the page at address, whose scheme may be left out. Its errors are a
// [PageError], whose words can be shown to a person, or the error of ctx.
func (c *PageClient) Fetch(ctx context.Context, address string) (WebPage, error) {
	u, err := parseAddress(address)
	if err != nil {
		return WebPage{}, err
	}
	key := u.String()
	if page, ok := c.pages.get(key); ok {
		page.Kept = true
		return page, nil
	}
	page, err := c.fetch(ctx, u)
	if err != nil {
		return WebPage{}, asPageError(ctx, u.Hostname(), err)
	}
	c.pages.put(key, page, len(page.Markdown))
	return page, nil
}

// fetch gets the page and turns it into text.
func (c *PageClient) fetch(ctx context.Context, u *url.URL) (WebPage, error) {
	f, err := c.http.Get(ctx, u.String(), 0)
	if err != nil {
		return WebPage{}, err
	}
	defer f.Close() //nolint:errcheck // what was read is whole
	data, err := io.ReadAll(f)
	if err != nil {
		return WebPage{}, err
	}
	name := ""
	if from, err := url.Parse(f.Address()); err == nil && !isPageType(f.DeclaredType()) {
		name = from.Path
	}
	text, err := document.Extract(ctx, document.FileSource{
		Data: data, Name: name, MediaType: f.DeclaredType(), Address: f.Address(),
	}, c.o.Text)
	if err != nil {
		return WebPage{}, err
	}
	return WebPage{ExtractedText: text, Address: f.Address(), Fetched: c.o.Now()}, nil
}

// isPageType reports whether a declared type decides what a text is, whatever its
// address ends in: a page about main.go is a page.
func isPageType(declared string) bool {
	declared = strings.ToLower(declared)
	return strings.HasPrefix(declared, "text/html") || strings.HasPrefix(declared, "application/xhtml")
}

// parseAddress returns an address that people write as a URL: with a scheme, a host
// in ASCII and no fragment.
func parseAddress(address string) (*url.URL, error) {
	address = strings.TrimSpace(address)
	if !strings.Contains(address, "://") && !strings.HasPrefix(strings.ToLower(address), "mailto:") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return nil, &PageError{Problem: ErrAddress}
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, &PageError{Host: u.Hostname(), Problem: ErrAddress}
	}
	u.Fragment, u.RawFragment = "", ""
	if host, err := idna.Lookup.ToASCII(u.Hostname()); err == nil && host != u.Hostname() {
		if port := u.Port(); port != "" {
			host += ":" + port
		}
		u.Host = host
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u, nil
}

// asPageError returns err as a PageError about a host, unless ctx has ended.
func asPageError(ctx context.Context, host string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	status, _ := errors.AsType[safehttp.StatusError](err)
	e := &PageError{Host: host, Status: status.Code, cause: err}
	unreadable, isDocument := errors.AsType[*document.ExtractError](err)
	switch {
	case errors.Is(err, errRobots):
		e.Problem = ErrRobots
	case errors.Is(err, safehttp.ErrPrivate):
		e.Problem = ErrPrivate
	case errors.Is(err, safehttp.ErrTooLarge), errors.Is(err, document.ErrTooLarge):
		e.Problem = ErrTooLarge
	case status.Code != 0:
		e.Problem = ErrStatus
	case errors.Is(err, safehttp.ErrForbidden):
		e.Problem = ErrAddress
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, document.ErrTimeout):
		e.Problem = ErrSlow
	case isDocument && errors.Is(err, document.ErrNoText):
		e.Problem = ErrNoText
	case isDocument:
		e.Problem, e.Detail = ErrNotText, unreadable.Error()
	default:
		e.Problem = ErrUnreachable
	}
	return e
}
