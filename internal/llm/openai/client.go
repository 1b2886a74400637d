// Package openai asks any endpoint that speaks OpenAI's chat completions, by way
// of the go-openai library.
//
// It promises one whole answer or one [*model.Error] per call, within a total
// deadline, a limit of silence and a limit of bytes, whatever the endpoint
// sends: broken streams, plain JSON in place of a stream, web pages, calls
// without ids. It reads every answer as a stream and tells whoever listens of
// what has come ([model.Request.Hear]).
// It never repeats a failed request, except to leave out a parameter that the
// endpoint says it does not know, or to add one that it misses. No error carries the key.
//
// It knows nothing of agents or prompts.
package openai

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// Options say where the endpoint is and how long an answer may take.
type Options struct {
	// BaseURL is the endpoint as OPENAI_BASE_URL gives it, with the version in
	// its path. Default: https://api.openai.com/v1.
	BaseURL string
	// APIKey is sent as a bearer token. Default: none is sent.
	APIKey string
	// Transport carries the requests; redirects are never followed. Default: a
	// pool that keeps 256 connections to the endpoint open.
	Transport http.RoundTripper
	// Around wraps what carries the requests; it sees them with their key. Default:
	// nothing is wrapped.
	Around func(http.RoundTripper) http.RoundTripper
	// Total bounds one call. Default: 5 min.
	Total time.Duration
	// Idle bounds the silence between two pieces of an answer, counted from the
	// response headers on. Default: 60 s.
	Idle time.Duration
	// MaxBytes bounds one answer, decompressed. Default: 8 MiB.
	MaxBytes int64
	// MintID makes ids for calls that came without a usable one. They must never
	// repeat. Default: "call_" and 24 random letters and digits.
	MintID func() string
}

// Client asks one endpoint with one key.
type Client struct {
	library  goopenai.ClientConfig
	options  Options
	ownCache bool // the endpoint is OpenAI's own and knows prompt_cache_key
	quirks   quirks
	bodies   bodyCache
}

var _ llm.Model = (*Client)(nil)

// New returns a client for the endpoint that o names, or an error when BaseURL
// is not an http or https URL. It opens no connection.
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
	if o.Total <= 0 {
		o.Total = 5 * time.Minute
	}
	if o.Idle <= 0 {
		o.Idle = time.Minute
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 8 << 20
	}
	if o.MintID == nil {
		o.MintID = func() string { return "call_" + rand.Text()[:24] }
	}
	library := goopenai.DefaultConfig(o.APIKey)
	library.BaseURL = o.BaseURL
	library.EmptyMessagesLimit = 1 << 20 // keep-alive lines; MaxBytes is the limit
	return &Client{
		library:  library,
		options:  o,
		ownCache: strings.HasSuffix(base.Hostname(), ".openai.com"),
	}, nil
}

// newTransport returns a pool for many calls at once to one host. It asks for no
// compression: answers are small, and some proxies hold a compressed stream back.
// An endpoint that compresses all the same is understood, see [unpacking].
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         directly((&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext),
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 15 * time.Second,
		MaxIdleConns:        512,
		MaxIdleConnsPerHost: 256,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true,
	}
}

// Generate asks the endpoint once. The error of a call that ctx ended is
// [model.Interrupted].
func (c *Client) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	call, w := c.watch(ctx)
	defer w.end()
	for {
		known := c.quirks.of(r.Model)
		p := c.parametersFor(r, known)
		resp, err := c.ask(call, w, r, p)
		if err == nil {
			return resp, nil
		}
		if !c.quirks.learn(r.Model, known, p, err) {
			return llm.Response{}, c.explain(ctx, call, err)
		}
	}
}

// ask is one request and the reading of its answer.
func (c *Client) ask(ctx context.Context, w *idleTimeout, r llm.Request, p parameters) (llm.Response, error) {
	body := c.bodies.take(r.CacheKey)
	defer c.bodies.keep(r.CacheKey, body)
	body.write(r, p)
	x := &exchange{
		transport: c.options.Transport,
		body:      body,
		limit:     c.options.MaxBytes,
		watch:     w,
	}
	library := c.library
	library.HTTPClient = x
	stream, err := goopenai.NewClientWithConfig(library).CreateChatCompletionStream(ctx, outline(r, p))
	if err != nil {
		return llm.Response{}, err
	}
	defer func() { _ = stream.Close() }() // nothing is left to lose

	a := streamAssembler{request: r, sees: p.pictures, mint: c.options.MintID}
	for {
		line, err := stream.RecvRaw()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return llm.Response{}, err
		}
		if err := a.add(line); err != nil {
			return llm.Response{}, err
		}
	}
	resp, err := a.finish(len(body.bytes))
	if err == nil {
		x.drain()
	}
	return resp, err
}

// outline is as much of the request as the library judges before it sends: which
// models can be asked at all, and which with tools. The exchange sets the body.
func outline(r llm.Request, p parameters) goopenai.ChatCompletionRequest {
	o := goopenai.ChatCompletionRequest{Model: r.Model, ReasoningEffort: p.effort}
	if len(r.Tools) > 0 {
		o.Tools = []goopenai.Tool{{Type: goopenai.ToolTypeFunction}}
	}
	return o
}

var _ llm.Embedder = (*Client)(nil)

// shorter is how many numbers are asked for of models that make as few as one likes:
// more tell little.
const shorter = 512

// Embed implements [model.Embedder] with the endpoint's /embeddings.
func (c *Client) Embed(ctx context.Context, name string, texts []string) ([][]float32, llm.TokenUsage, error) {
	call, w := c.watch(ctx)
	defer w.end()
	library := c.library
	library.HTTPClient = &audioTransport{c.options.Transport, c.options.MaxBytes}
	asked := goopenai.EmbeddingRequest{Input: texts, Model: goopenai.EmbeddingModel(name)}
	if strings.HasPrefix(name, "text-embedding-3") {
		asked.Dimensions = shorter
	}
	answer, err := goopenai.NewClientWithConfig(library).CreateEmbeddings(call, asked)
	if err != nil {
		return nil, llm.TokenUsage{}, c.explain(ctx, call, err)
	}
	vectors := make([][]float32, len(texts))
	for _, e := range answer.Data {
		if e.Index >= 0 && e.Index < len(vectors) {
			vectors[e.Index] = e.Embedding
		}
	}
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return nil, llm.TokenUsage{}, &llm.Error{Kind: llm.Garbled, Err: fmt.Errorf("text %d of %d has %d numbers", i+1, len(texts), len(v))}
		}
	}
	u, counted := (&usage{Prompt: float64(answer.Usage.PromptTokens)}).tokens()
	if !counted { // few servers at home do
		u = llm.TokenUsage{Prompt: (len(strings.Join(texts, "")) + 3) / 4, Estimated: true}
	}
	return vectors, u, nil
}

// heardBytes is what a token of sound takes in a spoken message: about ten tokens
// and two to four kilobytes a second.
const heardBytes = 300

// Transcribe asks the endpoint's model of that name what is said in a recording. It
// fails with a [*model.Error], and counts what the call took by the recording's
// size: few endpoints tell.
func (c *Client) Transcribe(ctx context.Context, name, file string, recording io.Reader, size int64) (string, llm.TokenUsage, error) {
	call, w := c.watch(ctx)
	defer w.end()
	library := c.library
	library.HTTPClient = &audioTransport{c.options.Transport, c.options.MaxBytes}
	heard, err := goopenai.NewClientWithConfig(library).CreateTranscription(call, goopenai.AudioRequest{
		Model: name, FilePath: file, Reader: recording, Format: goopenai.AudioResponseFormatJSON,
	})
	if err != nil {
		return "", llm.TokenUsage{}, c.explain(ctx, call, err)
	}
	return heard.Text, llm.TokenUsage{Prompt: int((size + heardBytes - 1) / heardBytes), Output: (len(heard.Text) + 3) / 4, Estimated: true}, nil
}

// An audioTransport carries a request as the library made it, and puts the client's limits
// on the answer.
type audioTransport struct {
	transport http.RoundTripper
	limit     int64
}

// Do sends the request. A status other than 2xx is returned as a *refusal.
func (p *audioTransport) Do(req *http.Request) (*http.Response, error) {
	resp, err := p.transport.RoundTrip(req)
	if err != nil {
		return nil, &unreachable{err}
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, readRefusal(resp)
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, p.limit)
	return resp, nil
}
