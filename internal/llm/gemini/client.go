// Package gemini calls models of Google through the Gemini API, through the official
// library.
//
// The signature that came with a call is sent back with it until the call's answer is
// complete (ai.google.dev/gemini-api/docs/thought-signatures); where it is lost, as after a
// restart, the placeholder that Google documents stands in its place. The API caches the
// beginnings of prompts by itself.
//
// Calls have the limits of time and size, and the kinds of error, of every client; see
// package modelhttp. The library neither retries nor continues an answer.
package gemini

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"google.golang.org/genai"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// apiVersion is the version of the API that has tools and thinking.
const apiVersion = "v1beta"

// Client calls one endpoint with one key.
type Client struct {
	modelhttp.FormLearner
	thoughts modelhttp.ReasoningMemory
}

var _ llm.ChatModel = (*Client)(nil)

// Names of demands that a model may have, as `model.compat` takes them.
const (
	signedCalls    = "signed_calls"
	shortCallIDs   = "short_call_ids" // none at all
	noPictures     = "no_pictures"
	plainSchemas   = "plain_schemas"
	noToolChoice   = "no_tool_choice"
	noToolMessages = "no_tool_messages"
	noSystemRole   = "no_system_role"
	noStreaming    = "no_streaming"
)

// formRules tell the demands of models: those of Gemini 3 want a signature with each call,
// Gemma takes no system text and some models no tools.
var formRules = []modelhttp.FormRule{
	{Demand: signedCalls, Words: regexp.MustCompile(`thought_?\s?signature`), Applies: modelhttp.HasCalls},
	{Demand: shortCallIDs, Words: regexp.MustCompile(`['"]id['"] at .{0,60}function_?(call|response)|function_?(call|response).{0,40}\bid\b`), Applies: modelhttp.HasCalls},
	{Demand: noToolChoice, Words: regexp.MustCompile(`tool_?config|function_?calling_?config`), Applies: func(r *llm.ModelRequest) bool { return r.NoCalls && hasTools(r) }},
	{Demand: noSystemRole, Words: regexp.MustCompile(`(developer|system).?(instruction|prompt|message|role)`), Applies: modelhttp.HasSystem},
	{Demand: llm.NoTools, Words: regexp.MustCompile(`function calling is not (enabled|supported)|tool use.{0,40}not (enabled|supported)|not support (the use of )?(function|tool)|tools? (is|are) not (enabled|supported|allowed)|unknown name ['"]tools['"]`), Applies: hasTools},
	{Demand: plainSchemas, Words: regexp.MustCompile(`schema|function_?declarations|properties`), Applies: hasTools},
	{Demand: noToolMessages, Words: regexp.MustCompile(`function (call|response) (turn|part)|function_?(call|response)|role.{0,20}(function|model|user)`), Applies: modelhttp.HasCalls},
	{Demand: noStreaming, Words: modelhttp.RefusesStreams, Applies: func(*llm.ModelRequest) bool { return true }},
	{Demand: noPictures, Words: regexp.MustCompile(`image|inline_?data|multi-?modal|media type`), Applies: modelhttp.HasPictures},
}

func hasTools(r *llm.ModelRequest) bool { return len(r.Tools) > 0 }

// New returns a client for an endpoint, or an error when BaseURL is not an http or https
// URL, or there is no key. It opens no connection. The default of BaseURL is
// https://generativelanguage.googleapis.com; a version at its end is left out, for the
// library adds it.
func New(o modelhttp.ClientOptions) (*Client, error) {
	o.BaseURL = modelhttp.TrimVersion(cmp.Or(o.BaseURL, "https://generativelanguage.googleapis.com"), apiVersion, "v1")
	if o.APIKey == "" {
		return nil, modelhttp.MissingKey("gemini")
	}
	base, err := modelhttp.NewBaseClient(o)
	if err != nil {
		return nil, fmt.Errorf("gemini: %w", err)
	}
	base.ListModels = func(ctx context.Context, model string) (*http.Request, error) {
		return modelRequest(ctx, base.Options, model)
	}
	return &Client{FormLearner: modelhttp.NewFormLearner(base, formRules)}, nil
}

// modelRequest returns the request for what the endpoint tells of a model
// (ai.google.dev/api/models#method:-models.get).
func modelRequest(ctx context.Context, o modelhttp.ClientOptions, model string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.BaseURL+"/"+apiVersion+"/models/"+model, http.NoBody)
	if err == nil {
		req.Header.Set("X-Goog-Api-Key", o.APIKey)
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
	x := &answerTransport{AnswerExchange: modelhttp.AnswerExchange{Transport: c.Options.Transport, Limit: c.Options.MaxBytes, Watch: w}}
	if form.Meets(noStreaming) {
		x.Prepare = func(req *http.Request) {
			req.URL.Path, req.URL.RawQuery = strings.Replace(req.URL.Path, ":streamGenerateContent", ":generateContent", 1), ""
		}
	}
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: c.Options.APIKey, Backend: genai.BackendGeminiAPI, HTTPClient: &http.Client{Transport: x},
		HTTPOptions: genai.HTTPOptions{BaseURL: c.Options.BaseURL, APIVersion: apiVersion},
	})
	if err != nil {
		return llm.ModelResponse{}, err
	}
	config, err := b.config()
	if err != nil {
		return llm.ModelResponse{}, err
	}
	for _, err := range client.Models.GenerateContentStream(ctx, r.Model, genai.Text(goingOn), config) {
		if err != nil {
			return llm.ModelResponse{}, err
		}
	}
	if x.Answer == nil {
		return llm.ModelResponse{}, modelhttp.CutAnswer(nil)
	}
	defer func() { _ = x.Answer.Close() }() // the answer is complete or discarded
	a := answerReader{request: r, watch: w, mint: c.Options.MintID}
	if err := a.readAll(&modelhttp.EventReader{Body: x.Answer}); err != nil {
		return llm.ModelResponse{}, err
	}
	resp, err := a.finish()
	if err == nil {
		c.thoughts.Keep(thoughtsKey(r), a.kept(), resp.Calls)
		x.Drain()
	}
	return resp, err
}

// thoughtsKey names the conversation of a request with one model.
func thoughtsKey(r *llm.ModelRequest) string { return r.Model + " " + r.CacheKey }

// An answerTransport sends a request of the library. The library, which ends at comments
// and rounds the numbers of arguments, is given an empty answer.
type answerTransport struct{ modelhttp.AnswerExchange }

// RoundTrip implements [http.RoundTripper].
func (x *answerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := x.Do(req)
	if err != nil {
		return nil, err
	}
	empty := *resp
	empty.Body = io.NopCloser(bytes.NewReader(nil))
	return &empty, nil
}
