// Package provider opens clients of language models by the name of their provider.
package provider

import (
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/anthropic"
	"github.com/trestle-bridge/trestle/internal/llm/gemini"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
	"github.com/trestle-bridge/trestle/internal/llm/openai"
)

// The providers.
const (
	OpenAI    = "openai"    // every endpoint with OpenAI's chat completions API
	Anthropic = "anthropic" // Anthropic's Messages API
	Gemini    = "gemini"    // Google's Gemini API
)

// Names returns the names that [OpenModel] knows.
func Names() []string { return []string{OpenAI, Anthropic, Gemini} }

// ClientOptions name the endpoint and limit its answers.
type ClientOptions = modelhttp.ClientOptions

// OpenModel returns the client of an endpoint without calling it. The provider is one of
// [Names]; empty is [OpenAI]. It returns an error for options that the provider
// cannot use. The client is an [llm.Embedder] where the provider offers embeddings here.
func OpenModel(provider string, o ClientOptions) (llm.ChatModel, error) {
	switch provider {
	case "", OpenAI:
		return openai.New(o)
	case Anthropic:
		return anthropic.New(o)
	case Gemini:
		return gemini.New(o)
	}
	return nil, fmt.Errorf("there is no provider %q; known are %s", provider, strings.Join(Names(), ", "))
}
