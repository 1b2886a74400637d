package modelhttp

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// leastWindow is the smallest window that is believed.
const leastWindow = 1024

// The forms in which endpoints tell their window within an error, and the names of
// fields that hold it, there and in lists of models, the surest first.
var (
	saidWindow = regexp.MustCompile(`(?:max(?:imum)?(?: model| input| prompt| context)* (?:length|len|size|tokens|context)(?: of| is|:|=)* |context (?:length|window|size|limit)(?: of| is|:|=)* (?:only |at most )?|token limit(?: of| is|:|=)* |tokens allowed \(|limit (?:of|is) |maximum is |max size: |<= ?|> ?|less than |cannot exceed |\[\d+, ?)([\d][\d,_]*)(?: tokens| maximum|\)|\]|\.|,| |$)` +
		`|([\d][\d,_]*) (?:tokens? )?(?:maximum|limit|context|max)|\(([\d][\d,_]*)(?: tokens?)?\)`)
	saidSum      = regexp.MustCompile(`\d \+ \d+ > (\d+)`)
	windowFields = []string{
		"n_ctx", "loaded_context_length", "max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens",
		"input_token_limit", "inputTokenLimit", "context_size", "max_tokens_limit",
	}
)

// window returns the window that an error about a transcript that is too long tells of,
// and how long the transcript was, both as the endpoint counts tokens; 0 for what it
// does not tell.
func (r *ErrorReason) window() (window, sent int) {
	for _, name := range windowFields {
		if n := r.figures[name]; n >= leastWindow {
			return n, r.figures["n_prompt_tokens"]
		}
	}
	text := strings.ToLower(r.Message) // codes are numbers of another kind
	all := numbersIn(text)
	if sum := saidSum.FindStringSubmatch(text); sum != nil {
		all, text = nil, "> "+sum[1]
	}
	for _, found := range saidWindow.FindAllStringSubmatch(text, -1) {
		for _, n := range numbersIn(strings.Join(found[1:], " ")) {
			if n >= leastWindow && (window == 0 || n < window) {
				window = n
			}
		}
	}
	for _, n := range all {
		if n > window && (sent == 0 || n < sent) && window > 0 {
			sent = n
		}
	}
	return window, sent
}

// LearnWindow returns the window of a model after a request was refused as too long,
// in tokens as the caller counts them, and keeps it: what the refusal tells, else what
// the endpoint's list of models tells, else half of what was sent.
func (c *BaseClient) LearnWindow(ctx context.Context, r *llm.ModelRequest, refusal *EndpointError) int {
	ours := tokensOf(r)
	window, sent := refusal.Reason.window()
	if window == 0 {
		window = c.listedWindow(ctx, r.Model)
	}
	if window > 0 && sent > window && sent > ours { // it counts more tokens than the caller
		window = max(int(float64(window)*float64(ours)/float64(sent)), window/4)
	}
	switch total := ours + r.MaxOutput; {
	case window == 0:
		window = total / 2
	case window >= total: // the request was refused nevertheless
		window = total * 3 / 4
	}
	window = max(window, leastWindow)
	c.Known.Update(r.Model, func(k *llm.ModelCapability) { k.Window = window })
	return window
}

// tokensOf returns the tokens of a request, as the caller counts them.
func tokensOf(r *llm.ModelRequest) int {
	if r.Tokens > 0 {
		return r.Tokens
	}
	return (r.Size() + 3) / 4
}

// Outgrown reports whether an answer shows that a window holds more than was learned.
func Outgrown(r *llm.ModelRequest, u llm.TokenUsage, window int) bool {
	ours := tokensOf(r)
	return window > 0 && ours > window && !u.Estimated && u.Prompt > ours*17/20
}

// modelsBytes limits what is read of a list of models; routers list hundreds.
const modelsBytes = 4 << 20

// listedWindow returns the window that the endpoint's list of models tells of a model;
// 0 when it does not.
func (c *BaseClient) listedWindow(ctx context.Context, model string) int {
	req, err := c.ListModels(ctx, model)
	if err != nil {
		return 0
	}
	body, err := c.read(req)
	if err != nil {
		return 0
	}
	return windowListed(body, model)
}

// ModelsRequest returns the request for the list of models of a compatible endpoint.
func (c *BaseClient) ModelsRequest(ctx context.Context) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(c.Options.BaseURL, "/")+"/models", http.NoBody)
	if err == nil && c.Options.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.Options.APIKey)
	}
	return req, err
}

// windowListed finds the window of a model in a list of models, or in what the endpoint
// tells of it alone.
func windowListed(body []byte, model string) int {
	m := listedModel(body, model)
	for _, inner := range []string{"", "top_provider", "meta"} {
		fields := m
		if inner != "" {
			if fields = nil; json.Unmarshal(m[inner], &fields) != nil {
				continue
			}
		}
		for _, name := range windowFields {
			n, err := strconv.ParseFloat(strings.Trim(string(fields[name]), `" `), 64)
			if err == nil && n < 1<<31 && believed(int(n)) > 0 {
				return int(n)
			}
		}
	}
	return 0
}

// listedModel returns the fields of a model in a list of models, or in what the endpoint
// tells of it alone; nil when it is not there.
func listedModel(body []byte, model string) map[string]json.RawMessage {
	var list struct {
		Data   []map[string]json.RawMessage `json:"data"`
		Models []map[string]json.RawMessage `json:"models"`
	}
	var single map[string]json.RawMessage
	if DecodeLenient(body, &list) != nil {
		return nil
	}
	all := append(list.Data, list.Models...)
	if len(all) == 0 && DecodeLenient(body, &single) == nil {
		all = append(all, single)
	}
	for _, m := range all {
		id := ""
		for _, name := range []string{"id", "name", "model"} {
			if id == "" && json.Unmarshal(m[name], &id) != nil {
				id = ""
			}
		}
		if id == model || strings.TrimPrefix(id, "models/") == model || strings.TrimSuffix(id, ":latest") == model {
			return m
		}
	}
	return nil
}
