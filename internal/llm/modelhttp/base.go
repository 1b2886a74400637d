package modelhttp

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// ClientOptions name the endpoint and limit its answers.
type ClientOptions struct {
	// BaseURL is the address of the endpoint. Default: that of the provider; OpenAI's
	// has the version in its path, as OPENAI_BASE_URL gives it.
	BaseURL string
	// APIKey is sent as a bearer token. Default: none is sent.
	APIKey string
	// Transport carries the requests; redirects are never followed. Default: a
	// pool that keeps 256 connections to the endpoint open.
	Transport http.RoundTripper
	// Around wraps Transport; it sees requests with their key. Default: none.
	Around func(http.RoundTripper) http.RoundTripper
	// FirstToken limits the time until an answer begins, with its reasoning if it has
	// any. Default: 5 min.
	FirstToken time.Duration
	// Idle limits the time between two pieces of an answer. An answer that grows by
	// less than some 48 bytes in three times as long counts as silent. Default: 60 s.
	Idle time.Duration
	// Total limits the time of one call. Default: 10 min.
	Total time.Duration
	// MaxBytes limits the decompressed size of one answer. Default: 8 MiB.
	MaxBytes int64
	// MintID returns ids for tool calls that arrive without a usable one. They must be
	// unique. Default: "call_" and 24 random letters and digits.
	MintID func() string
	// Learned keeps what is learned of the endpoint's models. Default: the client alone.
	Learned llm.CapabilityStore
	// Compat is what an operator says of the endpoint: names of demands that are met from
	// the first request on, and names after a minus of those that are never met; "-all"
	// means all that are not named. See [DemandNames].
	Compat []string
}

// BaseClient is what the clients of all providers have in common: the connection, the
// limits of calls, their errors, and what was learned of the endpoint.
type BaseClient struct {
	Options ClientOptions
	Known   capabilityCache
	// ListModels returns the request for what the endpoint tells of a model, alone or
	// within a list.
	ListModels func(ctx context.Context, model string) (*http.Request, error)
}

// NewBaseClient returns the common part of a client with the defaults filled in, or an
// error when BaseURL is not an http or https URL. It opens no connection.
func NewBaseClient(o ClientOptions) (*BaseClient, error) {
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || base.User != nil || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, errors.New("the base URL must be like https://host/v1")
	}
	if o.Transport == nil {
		o.Transport = NewTransport(nil)
	}
	if o.Around != nil {
		o.Transport = o.Around(o.Transport)
	}
	o.Transport = decompressTransport{o.Transport}
	o.FirstToken, o.Idle, o.Total = orDefault(o.FirstToken, 5*time.Minute), orDefault(o.Idle, time.Minute), orDefault(o.Total, 10*time.Minute)
	if o.MaxBytes <= 0 {
		o.MaxBytes = 8 << 20
	}
	if o.MintID == nil {
		o.MintID = func() string { return "call_" + rand.Text()[:24] }
	}
	return &BaseClient{Options: o, Known: capabilityCache{Endpoint: strings.TrimRight(o.BaseURL, "/"), store: o.Learned}}, nil
}

func orDefault(d, usual time.Duration) time.Duration {
	if d <= 0 {
		return usual
	}
	return d
}

// DialFunc opens a connection.
type DialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// Host returns the name of the endpoint's host.
func (c *BaseClient) Host() string {
	base, err := url.Parse(c.Options.BaseURL)
	if err != nil {
		return ""
	}
	return base.Hostname()
}

// NewTransport returns a connection pool for many concurrent calls to one host. It
// requests no compression: answers are small, and some proxies buffer a compressed
// stream. Compressed answers are accepted, see [decompressTransport].
func NewTransport(around func(DialFunc) DialFunc) *http.Transport {
	dial := (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	if around != nil {
		dial = around(dial)
	}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dial,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 15 * time.Second,
		MaxIdleConns:        512,
		MaxIdleConnsPerHost: 256,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true,
	}
}
