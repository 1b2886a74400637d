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
	"errors"
	"io"
	"net/http"
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// Client calls one endpoint with one key.
type Client struct {
	*modelhttp.BaseClient
	library  goopenai.ClientConfig
	ownCache bool      // the endpoint is OpenAI's and accepts prompt_cache_key
	always   demandSet // that the operator says the endpoint has
	never    demandSet // that the operator says it has not
	thoughts modelhttp.ReasoningMemory
	bodies   bodyCache
}

var _ llm.ChatModel = (*Client)(nil)

// New returns a client for an endpoint, or an error when BaseURL is not an http or
// https URL, or Compat names no demand. It opens no connection.
func New(o modelhttp.ClientOptions) (*Client, error) {
	o.BaseURL = cmp.Or(o.BaseURL, "https://api.openai.com/v1")
	if o.Transport == nil {
		o.Transport = modelhttp.NewTransport(zeroCopyDialer)
	}
	base, err := modelhttp.NewBaseClient(o)
	if err != nil {
		return nil, err
	}
	base.ListModels = func(ctx context.Context, _ string) (*http.Request, error) { return base.ModelsRequest(ctx) }
	always, never, err := parseCompat(o.Compat)
	if err != nil {
		return nil, err
	}
	library := goopenai.DefaultConfig(o.APIKey)
	library.BaseURL = o.BaseURL
	return &Client{BaseClient: base, library: library, ownCache: strings.HasSuffix(base.Host(), ".openai.com"), always: always, never: never}, nil
}

// Capability returns what was learned of a model at the endpoint, with what the
// operator says of it.
func (c *Client) Capability(model string) llm.ModelCapability {
	known := c.Known.Of(model)
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
	call, w := c.Watch(ctx, r.Grew)
	defer w.Stop()
	known := c.Known.Of(r.Model)
	met := c.demands(known)
	var unexplained error // before the first guess
	for form := 1; ; form++ {
		s := &sentRequest{r, c.parametersFor(r, met, known)}
		resp, err := c.ask(call, w, s)
		if err == nil {
			c.Known.Update(r.Model, func(k *llm.ModelCapability) {
				k.Demands = (demandsOf(k.Demands) | met&^c.always).names()
				k.MaxOutput = known.MaxOutput
				if modelhttp.Outgrown(&r, resp.Usage, k.Window) {
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
			e := c.Explain(ctx, call, err)
			if e.Kind == llm.TooLong {
				e.Window = c.LearnWindow(call, &r, modelhttp.AsRefusal(err))
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
	refusal := modelhttp.AsRefusal(err)
	if refusal == nil {
		return 0, noOther
	}
	kind := refusal.Kind()
	if kind == llm.TooLong || kind == llm.Limited || kind == llm.Denied {
		return 0, noOther
	}
	if n := refusal.Reason.OutputLimit(s.output); n > 0 && s.maxOutput != "" {
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
func (c *Client) ask(ctx context.Context, w *modelhttp.CallTimeouts, s *sentRequest) (llm.ModelResponse, error) {
	w.StartOver(c.Options.FirstToken)
	r := s.ModelRequest
	if s.demands&noTools != 0 {
		r.Tools, r.NoCalls = nil, false
	}
	body := c.bodies.take(r.CacheKey)
	defer c.bodies.putFor(r.CacheKey, body)
	r.Messages = arrange(r.Messages, s.demands)
	body.write(r, s.parameters)
	x := &modelhttp.AnswerExchange{
		Transport: c.Options.Transport,
		Prepare: func(req *http.Request) {
			req.Body = body.open()
			req.GetBody = func() (io.ReadCloser, error) { return body.open(), nil } // sends it again over another connection
			req.ContentLength = int64(len(body.bytes))
		},
		Limit: c.Options.MaxBytes,
		Watch: w,
	}
	library := c.library
	library.HTTPClient = x
	stream, err := goopenai.NewClientWithConfig(library).CreateChatCompletionStream(ctx, libraryRequest(r, s.parameters))
	if errors.Is(err, goopenai.ErrChatCompletionInvalidModel) || errors.Is(err, goopenai.ErrReasoningToolsRequireResponses) {
		err = &llm.Error{Kind: llm.NoModel, Err: err}
	}
	if err != nil {
		return llm.ModelResponse{}, err
	}
	defer func() { _ = stream.Close() }() // the answer is complete or discarded

	a := streamAssembler{request: s.ModelRequest, watch: w, sees: s.pictures, plainNames: s.demands&plainNames != 0, mint: c.Options.MintID}
	events := modelhttp.EventReader{Body: x.Answer}
	if err := a.readAll(&events); err != nil {
		return llm.ModelResponse{}, err
	}
	resp, err := a.finish(len(body.bytes), events.Words)
	if err == nil {
		c.thoughts.Keep(r.CacheKey, modelhttp.WholeText(a.reasoning.String(), true), resp.Calls)
		x.Drain()
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
