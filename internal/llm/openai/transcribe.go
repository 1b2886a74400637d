package openai

import (
	"context"
	"io"
	"net/http"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// heardBytes is what a token of sound takes in a spoken message: about ten tokens
// and two to four kilobytes a second.
const heardBytes = 300

// Transcribe asks the endpoint's model of that name what is said in a recording. It
// fails with a [*model.Error], and counts what the call took by the recording's
// size: few endpoints tell.
func (c *Client) Transcribe(ctx context.Context, name, file string, recording io.Reader, size int64) (string, llm.TokenUsage, error) {
	call, w := c.watch(ctx)
	defer w.end()
	library := c.library
	library.HTTPClient = &audioTransport{c.options.Transport, c.options.MaxBytes}
	heard, err := goopenai.NewClientWithConfig(library).CreateTranscription(call, goopenai.AudioRequest{
		Model: name, FilePath: file, Reader: recording, Format: goopenai.AudioResponseFormatJSON,
	})
	if err != nil {
		return "", llm.TokenUsage{}, c.explain(ctx, call, err)
	}
	return heard.Text, llm.TokenUsage{Prompt: int((size + heardBytes - 1) / heardBytes), Output: (len(heard.Text) + 3) / 4, Estimated: true}, nil
}

// An audioTransport carries a request as the library made it, and puts the client's limits
// on the answer.
type audioTransport struct {
	transport http.RoundTripper
	limit     int64
}

// Do sends the request. A status other than 2xx is returned as a *refusal.
func (p *audioTransport) Do(req *http.Request) (*http.Response, error) {
	resp, err := p.transport.RoundTrip(req)
	if err != nil {
		return nil, &unreachable{err}
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, readRefusal(resp)
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, p.limit)
	return resp, nil
}
