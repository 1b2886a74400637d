package openai

import (
	"cmp"
	"slices"
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// parameters are the parts of a request body that not every endpoint accepts, or not
// in the same form.
type parameters struct {
	demands   demandSet
	stream    bool   // the answer comes in pieces
	usage     bool   // stream_options
	cacheKey  string // prompt_cache_key; "" leaves it out
	maxOutput string // the name of the output limit; "" leaves it out
	output    int    // the output limit
	effort    string // reasoning_effort; "" leaves it out
	pictures  bool   // false leaves them out
	forbids   bool   // tool_choice none
	// names are the names of the tools called, by the id of the call; only with
	// namedResults.
	names map[string]string
	// reasoning returns the reasoning to hand back with calls.
	reasoning func(calls []llm.ToolCall) string
}

const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// callID returns the id of a call as the endpoint accepts it.
func (p *parameters) callID(id string) string {
	if p.demands&shortCallIDs != 0 {
		return shortID(id)
	}
	return id
}

// toolName returns the name of a tool as the endpoint accepts it.
func (p *parameters) toolName(name string) string {
	if p.demands&plainNames != 0 {
		return plainName(name)
	}
	return name
}

// parametersFor returns the parameters of a request to a model with that capability.
func (c *Client) parametersFor(r llm.ModelRequest, d demandSet, known llm.ModelCapability) parameters {
	p := parameters{
		demands: d, stream: d&noStreaming == 0, effort: effortFor(r),
		pictures: d&noPictures == 0 && hasPictures(r), forbids: r.NoCalls && len(r.Tools) > 0 && d&(noToolChoice|noTools) == 0,
		reasoning: reasoningIn(&c.thoughts, r.CacheKey),
	}
	p.usage = p.stream && d&noStreamOptions == 0
	if c.ownCache && d&noCacheKey == 0 {
		p.cacheKey = r.CacheKey
	}
	if r.MaxOutput > 0 && d&noOutputLimit == 0 {
		p.maxOutput, p.output = maxTokens, r.MaxOutput
		if known.MaxOutput > 0 {
			p.output = min(p.output, known.MaxOutput)
		}
		if isReasoningModel(r.Model) != (d&otherOutputLimit != 0) {
			p.maxOutput = maxCompletionTokens
		}
	}
	return p
}

// reasoningIn returns the function that returns the reasoning to hand back with calls of
// a conversation (DeepSeek and Kimi in their thinking modes). Where none is known, as after
// a restart, it is a blank, which those endpoints accept.
func reasoningIn(memory *modelhttp.ReasoningMemory, conversation string) func([]llm.ToolCall) string {
	return func(calls []llm.ToolCall) string { return cmp.Or(memory.Of(conversation, calls), " ") }
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
