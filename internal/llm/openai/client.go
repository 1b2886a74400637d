// Package openai calls any endpoint with OpenAI's chat completions API, through the
// go-openai library.
//
// Each call returns one whole answer or one [*llm.Error], within a total deadline,
// a limit of idle time and a limit of bytes, whatever the endpoint sends: broken
// streams, plain JSON in place of a stream, web pages, calls without ids, fields of
// unexpected types. Every answer is read as a stream, and [llm.ModelRequest.Hear] is
// called with what has arrived. What is no answer keeps the endpoint's own words in the
// error. A failed request is repeated only in a form that the endpoint demands, such
// as without a parameter that it does not know. No error contains the key.
package openai

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// Options name the endpoint and limit its answers.
type Options struct {
	// BaseURL is the endpoint as OPENAI_BASE_URL gives it, with the version in
	// its path. Default: https://api.openai.com/v1.
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
	// Compat is what an operator says of the endpoint: names of demands that are met
	// from the first request on, and names after a minus of those that are never met;
	// "-all" stands for all that are not named. See [DemandNames].
	Compat []string
}

// Client calls one endpoint with one key.
type Client struct {
	library  goopenai.ClientConfig
	options  Options
	ownCache bool // the endpoint is OpenAI's and accepts prompt_cache_key
	known    capabilityCache
	always   demandSet // that the operator says the endpoint has
	never    demandSet // that the operator says it has not
	thoughts reasoningMemory
	bodies   bodyCache
}

var _ llm.ChatModel = (*Client)(nil)

// New returns a client for an endpoint, or an error when BaseURL is not an http or
// https URL, or Compat names no demand. It opens no connection.
func New(o Options) (*Client, error) {
	o.BaseURL = cmp.Or(o.BaseURL, "https://api.openai.com/v1")
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || base.User != nil || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, errors.New("openai: the base URL must be like https://host/v1")
	}
	if o.Transport == nil {
		o.Transport = newTransport()
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
	always, never, err := parseCompat(o.Compat)
	if err != nil {
		return nil, err
	}
	library := goopenai.DefaultConfig(o.APIKey)
	library.BaseURL = o.BaseURL
	return &Client{
		library:  library,
		options:  o,
		ownCache: strings.HasSuffix(base.Hostname(), ".openai.com"),
		known:    capabilityCache{endpoint: strings.TrimRight(o.BaseURL, "/"), store: o.Learned},
		always:   always,
		never:    never,
	}, nil
}

func orDefault(d, usual time.Duration) time.Duration {
	if d <= 0 {
		return usual
	}
	return d
}

// newTransport returns a connection pool for many concurrent calls to one host. It
// requests no compression: answers are small, and some proxies buffer a compressed
// stream. Compressed answers are accepted, see [decompressTransport].
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         zeroCopyDialer((&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext),
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 15 * time.Second,
		MaxIdleConns:        512,
		MaxIdleConnsPerHost: 256,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true,
	}
}

// Capability returns what was learned of a model at the endpoint, with what the
// operator says of it.
func (c *Client) Capability(model string) llm.ModelCapability {
	known := c.known.of(model)
	known.Demands = c.demands(known).names()
	return known
}

// demands returns the demands that a request meets from its first form on.
func (c *Client) demands(known llm.ModelCapability) demandSet {
	return (demandsOf(known.Demands) | c.always) &^ c.never
}

// mostForms is how many forms of one request are tried.
const mostForms = 8

// Generate implements [llm.ChatModel]. The error of a call whose ctx ended is
// [llm.Interrupted]. A request that the endpoint refuses for its form is sent again in
// the form that the refusal tells of; what helped is kept.
func (c *Client) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	call, w := c.watch(ctx)
	defer w.stop()
	known := c.known.of(r.Model)
	met := c.demands(known)
	var unexplained error // before the first guess
	for form := 1; ; form++ {
		s := &sentRequest{r, c.parametersFor(r, met, known)}
		resp, err := c.ask(call, w, s)
		if err == nil {
			c.known.update(r.Model, func(k *llm.ModelCapability) {
				k.Demands = (demandsOf(k.Demands) | met&^c.always).names()
				k.MaxOutput = known.MaxOutput
				if outgrown(&r, resp.Usage, k.Window) {
					k.Window = 0
				}
			})
			return resp, nil
		}
		next, why := c.nextForm(s, err, &known)
		if why == guessed && unexplained == nil {
			unexplained = err
		}
		if why == noOther || form == mostForms {
			if unexplained != nil && call.Err() == nil {
				err = unexplained
			}
			e := c.explain(ctx, call, err)
			if e.Kind == llm.TooLong {
				e.Window = c.learnWindow(call, &r, asRefusal(err))
			}
			return llm.ModelResponse{}, e
		}
		met = next
	}
}

// A formReason tells why a request is sent in another form.
type formReason int

const (
	noOther formReason = iota // it is not: there is no other form
	told                      // the refusal tells of it
	guessed
)

// nextForm returns the demands that the next form of a refused request meets. A smaller
// output limit is stored in known.
func (c *Client) nextForm(s *sentRequest, err error, known *llm.ModelCapability) (demandSet, formReason) {
	refusal := asRefusal(err)
	if refusal == nil {
		return 0, noOther
	}
	kind := refusal.kind()
	if kind == llm.TooLong || kind == llm.Limited || kind == llm.Denied {
		return 0, noOther
	}
	if n := refusal.reason.outputLimit(s.output); n > 0 && s.maxOutput != "" {
		known.MaxOutput = n
		return s.demands, told
	}
	if d := s.learn(refusal, c.never); d != 0 {
		return s.demands | d, told
	}
	if d := s.guess() &^ c.never; kind == llm.Rejected && d&^s.demands != 0 {
		return s.demands | d, guessed
	}
	return 0, noOther
}

// ask sends one form of a request and reads its answer.
func (c *Client) ask(ctx context.Context, w *callTimeouts, s *sentRequest) (llm.ModelResponse, error) {
	w.startOver(c.options.FirstToken)
	r := s.ModelRequest
	if s.demands&noTools != 0 {
		r.Tools, r.NoCalls = nil, false
	}
	body := c.bodies.take(r.CacheKey)
	defer c.bodies.putFor(r.CacheKey, body)
	r.Messages = arrange(r.Messages, s.demands)
	body.write(r, s.parameters)
	x := &exchange{
		transport: c.options.Transport,
		body:      body,
		limit:     c.options.MaxBytes,
		watch:     w,
	}
	library := c.library
	library.HTTPClient = x
	stream, err := goopenai.NewClientWithConfig(library).CreateChatCompletionStream(ctx, libraryRequest(r, s.parameters))
	if err != nil {
		return llm.ModelResponse{}, err
	}
	defer func() { _ = stream.Close() }() // the answer is complete or discarded

	a := streamAssembler{request: s.ModelRequest, watch: w, sees: s.pictures, plainNames: s.demands&plainNames != 0, mint: c.options.MintID}
	events := eventReader{body: x.answer}
	if err := a.readAll(&events); err != nil {
		return llm.ModelResponse{}, err
	}
	resp, err := a.finish(len(body.bytes), events.words)
	if err == nil {
		c.thoughts.keep(r.CacheKey, wholeText(a.reasoning.String(), true), resp.Calls)
		x.drain()
	}
	return resp, err
}

// libraryRequest returns the fields that the library validates before it sends: model and
// tools. The exchange sets the body.
func libraryRequest(r llm.ModelRequest, p parameters) goopenai.ChatCompletionRequest {
	o := goopenai.ChatCompletionRequest{Model: r.Model, ReasoningEffort: p.effort}
	if len(r.Tools) > 0 {
		o.Tools = []goopenai.Tool{{Type: goopenai.ToolTypeFunction}}
	}
	return o
}
