// Package anthropic calls models of Anthropic through its Messages API, and endpoints that
// are compatible with it, through the official library.
//
// Requests have cache breakpoints behind what stays the same between requests: the tools
// and the system text, the messages before the newest of a person, and the last message
// (platform.claude.com/docs/en/build-with-claude/prompt-caching). The thinking that came
// with a call is sent back with it until the call's answer is complete
// (platform.claude.com/docs/en/build-with-claude/extended-thinking).
//
// Calls have the limits of time and size, and the kinds of error, of every client; see
// package modelhttp. The library neither retries nor reads the environment.
package anthropic

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// Client calls one endpoint with one key.
type Client struct {
	modelhttp.FormLearner
	thoughts modelhttp.ReasoningMemory
}

var _ llm.ChatModel = (*Client)(nil)

// Names of demands that an endpoint may have, as `model.compat` takes them.
const (
	noPictures     = "no_pictures"
	noToolChoice   = "no_tool_choice"
	noToolMessages = "no_tool_messages"
	noStreaming    = "no_streaming"
	noCacheKey     = "no_cache_key" // it does not know the marks of the cache
	noSystemRole   = "no_system_role"
	plainSchemas   = "plain_schemas"
	noThoughts     = "no_thoughts" // of one request: the thinking kept for it is refused
)

// formRules tell the demands of endpoints with this API that are not Anthropic's own, and
// that the thinking which is sent back is of another conversation.
var formRules = []modelhttp.FormRule{
	{Demand: noThoughts, Once: true, Words: regexp.MustCompile(`thinking|signature`), Applies: modelhttp.HasCalls},
	{Demand: noCacheKey, Words: regexp.MustCompile(`cache_?control`), Applies: always},
	{Demand: noPictures, Words: regexp.MustCompile(`image|vision|multi-?modal`), Applies: modelhttp.HasPictures},
	{Demand: noToolChoice, Words: regexp.MustCompile(`tool_?choice`), Applies: func(r *llm.ModelRequest) bool { return r.NoCalls && len(r.Tools) > 0 }},
	{Demand: plainSchemas, Words: regexp.MustCompile(`schema|additional_?properties|function_?declarations|description.{0,60}(too long|at most|maximum)`), Applies: func(r *llm.ModelRequest) bool { return len(r.Tools) > 0 }},
	{Demand: llm.NoTools, Words: regexp.MustCompile(`(not support|unsupported|unknown|unexpected|extra).{0,40}\btools?\b|\btools?\b( use| calling)?.{0,40}(not (be )?(support|permitt|allow)|unsupported)`), Applies: func(r *llm.ModelRequest) bool { return len(r.Tools) > 0 }},
	{Demand: noSystemRole, Words: regexp.MustCompile(`\bsystem\b`), Applies: modelhttp.HasSystem},
	{Demand: noToolMessages, Words: regexp.MustCompile(`tool_use|tool_result|tool (call|message|result)`), Applies: modelhttp.HasCalls},
	{Demand: noStreaming, Words: modelhttp.RefusesStreams, Applies: always},
}

func always(*llm.ModelRequest) bool { return true }

// New returns a client for an endpoint, or an error when BaseURL is not an http or https
// URL, or there is no key. It opens no connection. The default of BaseURL is
// https://api.anthropic.com; a version at its end is left out, for the library adds it.
func New(o modelhttp.ClientOptions) (*Client, error) {
	o.BaseURL = modelhttp.TrimVersion(cmp.Or(o.BaseURL, "https://api.anthropic.com"), "v1")
	if o.APIKey == "" {
		return nil, modelhttp.MissingKey("anthropic")
	}
	base, err := modelhttp.NewBaseClient(o)
	if err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	base.ListModels = func(ctx context.Context, model string) (*http.Request, error) {
		return modelRequest(ctx, base.Options, model)
	}
	return &Client{FormLearner: modelhttp.NewFormLearner(base, formRules)}, nil
}

// modelRequest returns the request for what the endpoint tells of a model
// (platform.claude.com/docs/en/api/models/retrieve).
func modelRequest(ctx context.Context, o modelhttp.ClientOptions, model string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.BaseURL+"/v1/models/"+model, http.NoBody)
	if err == nil {
		req.Header.Set("X-Api-Key", o.APIKey)
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	return req, err
}

// Generate implements [llm.ChatModel].
func (c *Client) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	return c.FormLearner.Generate(ctx, &r, func(call context.Context, w *modelhttp.CallTimeouts, form modelhttp.RequestForm) (llm.ModelResponse, error) {
		return c.ask(call, w, &r, form)
	})
}

// ask sends one form of a request and reads its answer.
func (c *Client) ask(ctx context.Context, w *modelhttp.CallTimeouts, r *llm.ModelRequest, form modelhttp.RequestForm) (llm.ModelResponse, error) {
	b := requestBuilder{request: r, form: form, thoughts: &c.thoughts}
	if form.Meets(noThoughts) {
		b.thoughts = nil
	}
	x := &modelhttp.AnswerExchange{Transport: c.Options.Transport, Limit: c.Options.MaxBytes, Watch: w}
	client := sdk.NewClient(option.WithoutEnvironmentDefaults(), option.WithBaseURL(c.Options.BaseURL+"/"), option.WithAPIKey(c.Options.APIKey),
		option.WithHTTPClient(x), option.WithMaxRetries(0))
	var answer *http.Response
	if err := client.Post(ctx, "v1/messages", b.build(), &answer, option.WithJSONSet("stream", !form.Meets(noStreaming))); err != nil {
		return llm.ModelResponse{}, err
	}
	defer func() { _ = answer.Body.Close() }() // the answer is complete or discarded
	a := answerReader{request: r, watch: w, mint: c.Options.MintID}
	if err := a.readAll(&modelhttp.EventReader{Body: x.Answer}); err != nil {
		return llm.ModelResponse{}, err
	}
	resp, err := a.finish()
	if err == nil {
		c.thoughts.Keep(thoughtsKey(r), a.kept(resp), resp.Calls)
		x.Drain()
	}
	return resp, err
}

// thoughtsKey names the conversation of a request with one model, for thinking is of use
// to the model alone that wrote it.
func thoughtsKey(r *llm.ModelRequest) string { return r.Model + " " + r.CacheKey }
