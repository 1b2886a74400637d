package modelhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// factsWait limits the time in which an endpoint tells of a model.
const factsWait = 20 * time.Second

// LearnFacts asks the endpoint for the window and the price of a model and keeps what it
// tells. It returns an error when the endpoint answers none of the requests.
func (c *BaseClient) LearnFacts(ctx context.Context, model string) error {
	ctx, stop := context.WithTimeout(ctx, factsWait)
	defer stop()
	facts, err := c.tellsOf(ctx, model)
	if err != nil {
		return err
	}
	c.Known.Update(model, func(k *llm.ModelCapability) { k.Told = facts })
	return nil
}

// tellsOf returns what the endpoint tells of a model: in its list of models, else, where it
// is reached without TLS as local servers are, under the addresses that these have for it.
func (c *BaseClient) tellsOf(ctx context.Context, model string) (llm.ModelFacts, error) {
	req, err := c.ListModels(ctx, model)
	if err != nil {
		return llm.ModelFacts{}, err
	}
	body, err := c.read(req)
	facts := factsListed(body, model)
	if facts.Window > 0 || req.URL.Scheme != "http" || ctx.Err() != nil {
		return facts, err
	}
	for _, server := range localServers {
		content, err := json.Marshal(map[string]string{"model": model})
		if err != nil {
			return facts, err
		}
		method := http.MethodGet
		if server.path == "/api/show" {
			method = http.MethodPost
		}
		root := url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: server.path}
		req, err := http.NewRequestWithContext(ctx, method, root.String(), bytes.NewReader(content))
		if err != nil {
			return facts, err
		}
		req.Header.Set("Content-Type", "application/json")
		if c.Options.APIKey != "" {
			req.Header.Set("Authorization", "Bearer "+c.Options.APIKey)
		}
		if body, err := c.read(req); err == nil {
			if facts.Window = server.window(body, model); facts.Window > 0 {
				return facts, nil
			}
		}
	}
	return facts, err
}

// read sends a request and returns the body of its answer.
func (c *BaseClient) read(req *http.Request) ([]byte, error) {
	resp, err := c.Options.Transport.RoundTrip(req)
	if err != nil {
		return nil, errors.New(c.scrub(err.Error()))
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers HTTP %d", req.URL.Path, resp.StatusCode)
	}
	return io.ReadAll(io.LimitReader(resp.Body, modelsBytes))
}

// localServers are the addresses under which local servers tell of a model besides the list
// of their compatible API, which does not have its window.
var localServers = []struct {
	path   string
	window func(body []byte, model string) int
}{
	{"/props", propsWindow}, // llama.cpp
	{"/api/v0/models", func(body []byte, model string) int { return windowListed(body, model) }}, // LM Studio
	{"/api/ps", func(body []byte, model string) int { return windowListed(body, model) }},        // Ollama, of a model in memory
	{"/api/show", shownWindow}, // Ollama
}

// propsWindow returns the window of each slot of a llama.cpp server.
func propsWindow(body []byte, _ string) int {
	var props struct {
		Settings struct {
			Window int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if DecodeLenient(body, &props) != nil {
		return 0
	}
	return believed(props.Settings.Window)
}

var numCtx = regexp.MustCompile(`(?m)^num_ctx\s+(\d+)`)

// shownWindow returns the window that Ollama serves of a model: num_ctx of its file, or what
// the model was made for where that is at most [llm.AssumedWindow]. A larger one says
// nothing: Ollama serves less unless it is told to.
func shownWindow(body []byte, _ string) int {
	var shown struct {
		Parameters string                     `json:"parameters"`
		Info       map[string]json.RawMessage `json:"model_info"`
	}
	if DecodeLenient(body, &shown) != nil {
		return 0
	}
	if found := numCtx.FindStringSubmatch(shown.Parameters); found != nil {
		n, err := strconv.Atoi(found[1])
		if err == nil {
			return believed(n)
		}
	}
	for name, value := range shown.Info {
		n, err := strconv.Atoi(string(value))
		if err == nil && strings.HasSuffix(name, ".context_length") && n <= llm.AssumedWindow {
			return believed(n)
		}
	}
	return 0
}

// believed returns a number of tokens that can be that of a window, else 0.
func believed(n int) int {
	if n < leastWindow || n >= 1<<31 {
		return 0
	}
	return n
}

// factsListed returns what a list of models tells of a model. Prices are given as OpenRouter
// does, in USD for a token.
func factsListed(body []byte, model string) llm.ModelFacts {
	facts := llm.ModelFacts{Window: windowListed(body, model)}
	var pricing map[string]json.RawMessage
	if json.Unmarshal(listedModel(body, model)["pricing"], &pricing) != nil {
		return facts
	}
	price := func(name string) float64 {
		perToken, err := strconv.ParseFloat(strings.Trim(string(pricing[name]), `" `), 64)
		if err != nil || !(perToken > 0 && perToken < 1) {
			return 0
		}
		return perToken * 1e6
	}
	facts.Price.Input, facts.Price.Output = price("prompt"), price("completion")
	facts.Price.Cached, facts.Price.CacheWrite = price("input_cache_read"), price("input_cache_write")
	if facts.Price.Known() {
		facts.Price.Currency = "USD"
	}
	return facts
}
