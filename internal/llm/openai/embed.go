package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/trestle-bridge/trestle/internal/llm"
)

var _ llm.Embedder = (*Client)(nil)

// shorter is the number of dimensions requested of models that allow a choice; more
// hardly improve recall.
const shorter = 512

// Embed implements [llm.Embedder] with the /embeddings endpoint.
func (c *Client) Embed(ctx context.Context, name string, texts []string) ([][]float32, llm.TokenUsage, error) {
	call, w := c.watch(ctx)
	defer w.stop()
	asked := goopenai.EmbeddingRequest{Input: texts, Model: goopenai.EmbeddingModel(name)}
	if strings.HasPrefix(name, "text-embedding-3") {
		asked.Dimensions = shorter
	}
	var answer embeddingAnswer
	err := c.askPlain(&answer, func(l *goopenai.Client) error {
		_, err := l.CreateEmbeddings(call, asked)
		return err
	})
	if err != nil {
		return nil, llm.TokenUsage{}, c.explain(ctx, call, err)
	}
	vectors := answer.vectors(len(texts))
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return nil, llm.TokenUsage{}, &llm.Error{Kind: llm.Garbled, Err: fmt.Errorf("text %d of %d has %d numbers", i+1, len(texts), len(v))}
		}
	}
	u, counted := answer.Usage.tokens()
	if !counted { // self-hosted servers often omit it
		u = llm.TokenUsage{Prompt: (len(strings.Join(texts, "")) + 3) / 4, Estimated: true}
	}
	u.Output = 0
	return vectors, u, nil
}

// An embeddingAnswer is the answer of /embeddings, in the forms that servers send.
type embeddingAnswer struct {
	Data       listOf[embeddingPart] `json:"data"`
	Embeddings []numberList          `json:"embeddings"` // in place of data
	Usage      *usage                `json:"usage"`
}

type embeddingPart struct {
	Index     position   `json:"index"`
	Embedding numberList `json:"embedding"`
}

// found reports whether there are vectors.
func (e *embeddingAnswer) found() bool { return len(e.Data) > 0 || len(e.Embeddings) > 0 }

// vectors returns the vectors of n texts; nil for those that have none. Vectors without
// an index are in the order of the texts.
func (e *embeddingAnswer) vectors(n int) [][]float32 {
	vectors := make([][]float32, n)
	for i, v := range e.Embeddings {
		e.Data = append(e.Data, embeddingPart{Index: position{i, true}, Embedding: v})
	}
	for i, part := range e.Data {
		at := i
		if part.Index.known {
			at = part.Index.n
		}
		if at >= 0 && at < n {
			vectors[at] = part.Embedding
		}
	}
	return vectors
}

// A numberList is a vector: a list of numbers, a list in a list, or the base64 of
// little-endian 32-bit numbers. Other values read as none.
type numberList []float32

// UnmarshalJSON reads any of the forms.
func (l *numberList) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		raw, err := base64.StdEncoding.DecodeString(decodeText(b))
		if err != nil || len(raw)%4 != 0 {
			return nil //nolint:nilerr // it reads as none
		}
		for i := 0; i < len(raw); i += 4 {
			*l = append(*l, math.Float32frombits(binary.LittleEndian.Uint32(raw[i:])))
		}
		return nil
	}
	if inner := bytes.TrimSpace(bytes.TrimPrefix(b, []byte("["))); bytes.HasPrefix(inner, []byte("[")) {
		var nested [][]float32
		if err := json.Unmarshal(b, &nested); err == nil && len(nested) == 1 {
			*l = nested[0]
		}
		return nil
	}
	var numbers []float32
	if json.Unmarshal(b, &numbers) == nil {
		*l = numbers
	}
	return nil
}

// heardBytes is the size of an audio token: about ten tokens and two to four
// kilobytes a second.
const heardBytes = 300

// Transcribe returns the text of a recording. It fails with an [*llm.Error]. Usage
// is estimated from the size of the recording, since few endpoints report it.
func (c *Client) Transcribe(ctx context.Context, name, file string, recording io.Reader, size int64) (string, llm.TokenUsage, error) {
	call, w := c.watch(ctx)
	defer w.stop()
	var heard transcriptAnswer
	err := c.askPlain(&heard, func(l *goopenai.Client) error {
		_, err := l.CreateTranscription(call, goopenai.AudioRequest{
			Model: name, FilePath: file, Reader: recording, Format: goopenai.AudioResponseFormatJSON,
		})
		return err
	})
	if err != nil {
		return "", llm.TokenUsage{}, c.explain(ctx, call, err)
	}
	text := wholeText(string(cmp.Or(*heard.Text, heard.Segments)), true)
	return text, llm.TokenUsage{Prompt: int((size + heardBytes - 1) / heardBytes), Output: (len(text) + 3) / 4, Estimated: true}, nil
}

// A transcriptAnswer is the answer of /audio/transcriptions.
type transcriptAnswer struct {
	Text     *contentText `json:"text"`
	Segments contentText  `json:"segments"` // in place of text
}

// found reports whether there is a text, perhaps an empty one.
func (t *transcriptAnswer) found() bool {
	if t.Text == nil && t.Segments != "" {
		t.Text = new(contentText)
	}
	return t.Text != nil
}

// A plainAnswer is an answer that comes as one JSON text.
type plainAnswer interface{ found() bool }

// askPlain sends a request through the library and decodes the answer into one, which
// may be framed as an event of a stream.
func (c *Client) askPlain(into plainAnswer, send func(*goopenai.Client) error) error {
	library, x := c.library, &plainExchange{transport: c.options.Transport, limit: c.options.MaxBytes}
	library.HTTPClient = x
	if err := send(goopenai.NewClientWithConfig(library)); err != nil {
		return err
	}
	events := eventReader{body: bytes.NewReader(x.answer)}
	var refusal, lost error
	for {
		e, err := events.next()
		switch {
		case err != nil && into.found():
			return nil
		case err != nil && errors.Is(err, io.EOF):
			return cmp.Or(refusal, lost, cutWith(events.words))
		case err != nil:
			return err
		case isDone(e.data):
			continue
		}
		if err := decodeLenient(e.data, into); err != nil {
			lost = fmt.Errorf("the answer cannot be read: %s", plainWords(e.data))
		}
		if into.found() {
			continue
		}
		if r := readReason(e.data); r.isFailure() {
			refusal = inAnswer(r)
		}
	}
}

// A plainExchange sends a request as the library built it, applies the client's limits
// to the answer and keeps it. The library, which reads strictly, is given an empty one.
type plainExchange struct {
	transport http.RoundTripper
	limit     int64
	answer    []byte
}

// Do sends the request. A status other than 2xx is returned as an [*apiError].
func (p *plainExchange) Do(req *http.Request) (*http.Response, error) {
	resp, err := p.transport.RoundTrip(req)
	if err != nil {
		return nil, &unreachable{err}
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, readRefusal(resp)
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	p.answer, err = io.ReadAll(&limitedBody{src: resp.Body, left: p.limit})
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(strings.NewReader("{}"))
	return resp, nil
}
