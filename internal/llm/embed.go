package llm

import "context"

// An Embedder says where texts stand by their meaning. Calls may overlap.
type Embedder interface {
	// Embed asks the endpoint's model of that name once and returns a vector for each
	// text, in their order and all of one length. It fails with an [*Error] and never
	// retries; within the deadlines it was built with it returns even if ctx has none.
	Embed(ctx context.Context, name string, texts []string) ([][]float32, TokenUsage, error)
}
