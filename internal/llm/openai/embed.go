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
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

var (
	_ llm.Embedder         = (*Client)(nil)
	_ llm.AudioTranscriber = (*Client)(nil)

	_ llm.SpeechSynthesizer = (*Client)(nil)
)

// shorter is the number of dimensions requested of models that allow a choice; more
// hardly improve recall.
const shorter = 512

// Embed implements [llm.Embedder] with the /embeddings endpoint.
func (c *Client) Embed(ctx context.Context, name string, texts []string) ([][]float32, llm.TokenUsage, error) {
	call, w := c.Watch(ctx, nil)
	defer w.Stop()
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
		return nil, llm.TokenUsage{}, c.Explain(ctx, call, err)
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
	Data       modelhttp.ListField[embeddingPart] `json:"data"`
	Embeddings []numberList                       `json:"embeddings"` // in place of data
	Usage      *usage                             `json:"usage"`
}

type embeddingPart struct {
	Index     modelhttp.IndexField `json:"index"`
	Embedding numberList           `json:"embedding"`
}

// found reports whether there are vectors.
func (e *embeddingAnswer) found() bool { return len(e.Data) > 0 || len(e.Embeddings) > 0 }

// vectors returns the vectors of n texts; nil for those that have none. Vectors without
// an index are in the order of the texts.
func (e *embeddingAnswer) vectors(n int) [][]float32 {
	vectors := make([][]float32, n)
	for i, v := range e.Embeddings {
		e.Data = append(e.Data, embeddingPart{Index: modelhttp.IndexField{N: i, Known: true}, Embedding: v})
	}
	for i, part := range e.Data {
		at := i
		if part.Index.Known {
			at = part.Index.N
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
		raw, err := base64.StdEncoding.DecodeString(modelhttp.DecodeText(b))
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
	call, w := c.Watch(ctx, nil)
	defer w.Stop()
	var heard transcriptAnswer
	err := c.askPlain(&heard, func(l *goopenai.Client) error {
		_, err := l.CreateTranscription(call, goopenai.AudioRequest{
			Model: name, FilePath: file, Reader: recording, Format: goopenai.AudioResponseFormatJSON,
		})
		return err
	})
	if err != nil {
		return "", llm.TokenUsage{}, c.Explain(ctx, call, err)
	}
	text := modelhttp.WholeText(string(cmp.Or(*heard.Text, heard.Segments)), true)
	return text, llm.TokenUsage{Prompt: int((size + heardBytes - 1) / heardBytes), Output: (len(text) + 3) / 4, Estimated: true}, nil
}

// Speak returns a recording of a text. It fails with an [*llm.Error]. Usage is estimated from the
// sizes of both, since the endpoint reports none.
func (c *Client) Speak(ctx context.Context, name, voice, text string) ([]byte, llm.TokenUsage, error) {
	call, w := c.Watch(ctx, nil)
	defer w.Stop()
	library := c.library
	library.HTTPClient = &modelhttp.AnswerExchange{Transport: c.Options.Transport, Limit: c.Options.MaxBytes}
	answer, err := goopenai.NewClientWithConfig(library).CreateSpeech(call, goopenai.CreateSpeechRequest{
		Model: goopenai.SpeechModel(name), Voice: goopenai.SpeechVoice(voice), Input: text, ResponseFormat: goopenai.SpeechResponseFormatOpus,
	})
	var recording []byte
	if err == nil {
		recording, err = io.ReadAll(answer)
		err = errors.Join(err, answer.Close())
	}
	if err != nil {
		return nil, llm.TokenUsage{}, c.Explain(ctx, call, err)
	}
	if !bytes.HasPrefix(recording, []byte("OggS")) {
		return nil, llm.TokenUsage{}, &llm.Error{Kind: llm.Garbled, Err: errors.New("the answer is no recording in Ogg Opus: " + modelhttp.PlainWords(recording[:min(len(recording), 200)]))}
	}
	return recording, llm.TokenUsage{Prompt: (len(text) + 3) / 4, Output: (len(recording) + heardBytes - 1) / heardBytes, Estimated: true}, nil
}

// A transcriptAnswer is the answer of /audio/transcriptions.
type transcriptAnswer struct {
	Text     *modelhttp.ContentField `json:"text"`
	Segments modelhttp.ContentField  `json:"segments"` // in place of text
}

// found reports whether there is a text, perhaps an empty one.
func (t *transcriptAnswer) found() bool {
	if t.Text == nil && t.Segments != "" {
		t.Text = new(modelhttp.ContentField)
	}
	return t.Text != nil
}

// A plainAnswer is an answer that comes as one JSON text.
type plainAnswer interface{ found() bool }

// askPlain sends a request through the library and decodes the answer into one, which
// may be framed as an event of a stream.
func (c *Client) askPlain(into plainAnswer, send func(*goopenai.Client) error) error {
	library, x := c.library, &plainExchange{AnswerExchange: modelhttp.AnswerExchange{Transport: c.Options.Transport, Limit: c.Options.MaxBytes}}
	library.HTTPClient = x
	if err := send(goopenai.NewClientWithConfig(library)); err != nil {
		return err
	}
	events := modelhttp.EventReader{Body: bytes.NewReader(x.whole)}
	var refusal, lost error
	for {
		e, err := events.Next()
		switch {
		case err != nil && into.found():
			return nil
		case err != nil && errors.Is(err, io.EOF):
			return cmp.Or(refusal, lost, modelhttp.CutAnswer(events.Words))
		case err != nil:
			return err
		case modelhttp.IsDone(e.Data):
			continue
		}
		if err := modelhttp.DecodeLenient(e.Data, into); err != nil {
			lost = fmt.Errorf("the answer cannot be read: %s", modelhttp.PlainWords(e.Data))
		}
		if into.found() {
			continue
		}
		if r := modelhttp.ReadReason(e.Data); r.IsFailure() {
			refusal = modelhttp.ErrorInAnswer(r)
		}
	}
}

// A plainExchange keeps the answer to a request. The library, which reads strictly, is
// given an empty one.
type plainExchange struct {
	modelhttp.AnswerExchange
	whole []byte
}

// Do sends the request as the library built it.
func (p *plainExchange) Do(req *http.Request) (*http.Response, error) {
	resp, err := p.AnswerExchange.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	if p.whole, err = io.ReadAll(resp.Body); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(strings.NewReader("{}"))
	return resp, nil
}
