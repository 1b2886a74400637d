package openai

import (
	"context"
	"fmt"
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/trestle-bridge/trestle/internal/llm"
)

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
