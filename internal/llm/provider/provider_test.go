package provider

import (
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// Every provider keeps the same contract.
func TestProvidersKeepTheContract(t *testing.T) {
	for _, dialect := range []llmtest.ProviderDialect{llmtest.OpenAIDialect(), llmtest.AnthropicDialect(), llmtest.GeminiDialect()} {
		t.Run(dialect.Name, func(t *testing.T) {
			llmtest.ContractSuite{Dialect: dialect, Open: func(tb testing.TB, s llmtest.ClientSettings) llm.ChatModel {
				tb.Helper()
				m, err := OpenModel(dialect.Name, ClientOptions{
					BaseURL: s.BaseURL, APIKey: s.Key, Transport: s.Transport, FirstToken: s.FirstToken, Idle: s.Idle, Total: s.Total, Learned: s.Learned,
				})
				if err != nil {
					tb.Fatal(err)
				}
				return m
			}}.Run(t)
		})
	}
}

func TestProviderThatDoesNotExistIsRefused(t *testing.T) {
	if _, err := OpenModel("opanai", ClientOptions{}); err == nil {
		t.Error("it is opened")
	}
	for _, name := range []string{Anthropic, Gemini} {
		if _, err := OpenModel(name, ClientOptions{}); err == nil {
			t.Errorf("%s opens without a key", name)
		}
		if _, err := OpenModel(name, ClientOptions{APIKey: "k", BaseURL: "ftp://x"}); err == nil {
			t.Errorf("%s opens at ftp://x", name)
		}
		if _, err := OpenModel(name, ClientOptions{APIKey: "k"}); err != nil {
			t.Error(err)
		}
	}
}
