package openai

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// parameters are the optional parts of a request body that not every endpoint
// accepts.
type parameters struct {
	usage     bool   // stream_options
	cacheKey  string // prompt_cache_key; "" leaves it out
	maxOutput string // the name of the output limit; "" leaves it out
	effort    string // reasoning_effort; "" leaves it out
	pictures  bool   // false leaves them out
	signed    bool   // calls have a signature
}

const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// A quirk is a set of deviations that an endpoint requires.
type quirk uint8

const (
	noUsage quirk = 1 << iota
	noCacheKey
	otherMaxOutput
	noPictures
	wantsSigned // Gemini: tool calls need a thought signature
)

// quirks stores the deviations required for each model. The zero value has none.
type quirks struct {
	mu      sync.Mutex // guards byModel
	byModel map[string]quirk
}

func (q *quirks) of(name string) quirk {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.byModel[name]
}

// learn reports whether err refuses a parameter that p contained and known does not
// explain, or demands one: the caller then repeats the request with the new quirk.
func (q *quirks) learn(name string, known quirk, p parameters, err error) bool {
	r := asRefusal(err)
	if r == nil || (r.status != http.StatusBadRequest && r.status != http.StatusUnprocessableEntity) || r.kind() == llm.TooLong {
		return false
	}
	var found quirk
	switch {
	case p.usage && r.reason.says([]string{"stream_options", "include_usage"}):
		found = noUsage
	case p.cacheKey != "" && r.reason.says([]string{"prompt_cache_key"}):
		found = noCacheKey
	case p.maxOutput != "" && known&otherMaxOutput == 0 && r.reason.says([]string{maxTokens, maxCompletionTokens}):
		found = otherMaxOutput
	case p.pictures && r.reason.says([]string{"image", "vision", "multimodal", "content must be a string"}):
		found = noPictures // the text of the message mentions them
	case !p.signed && r.reason.says([]string{"thought_signature"}):
		found = wantsSigned
	default:
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.byModel == nil {
		q.byModel = make(map[string]quirk)
	}
	q.byModel[name] |= known | found
	return true
}

// parametersFor returns the parameters of a request given the known quirks of its
// model.
func (c *Client) parametersFor(r llm.ModelRequest, known quirk) parameters {
	p := parameters{usage: known&noUsage == 0, effort: effortFor(r), pictures: known&noPictures == 0 && hasPictures(r), signed: known&wantsSigned != 0}
	if c.ownCache && known&noCacheKey == 0 {
		p.cacheKey = r.CacheKey
	}
	if r.MaxOutput > 0 {
		p.maxOutput = maxTokens
		if isReasoningModel(r.Model) != (known&otherMaxOutput != 0) {
			p.maxOutput = maxCompletionTokens
		}
	}
	return p
}

// hasPictures reports whether any message of a request has images.
func hasPictures(r llm.ModelRequest) bool {
	return slices.ContainsFunc(r.Messages, withImages)
}

// isReasoningModel reports whether the name is one of OpenAI's reasoning models, which refuse
// max_tokens: o1, o3-mini, gpt-5…, also as vendor/name.
func isReasoningModel(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	if strings.HasPrefix(name, "gpt-5") || strings.HasPrefix(name, "gpt-6") {
		return true
	}
	return len(name) > 1 && name[0] == 'o' && name[1] >= '1' && name[1] <= '9'
}

// effortFor returns the reasoning effort of a request: some models accept tools only
// without reasoning.
func effortFor(r llm.ModelRequest) string {
	if len(r.Tools) > 0 && (r.Model == goopenai.GPT6Sol || r.Model == goopenai.GPT6Luna) {
		return goopenai.ReasoningEffortNone
	}
	return ""
}
