package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/internal/llm"
)

var (
	errTooLarge = errors.New("the answer is larger than allowed")
	errWebPage  = errors.New("the endpoint answered with a web page")
)

// An answerStream is a response body limited in bytes, watched for idle time and converted
// to an event stream. A plain JSON body becomes a stream of one event; its line
// breaks can only be white space between tokens.
type answerStream struct {
	src   io.ReadCloser
	left  int64  // bytes still allowed
	heard func() // called whenever bytes arrive
	shape bodyForm
	head  []byte // returned before the rest of src
	err   error  // final, returned after head
}

type bodyForm int

const (
	unseen bodyForm = iota
	events
	whole
)

// discardBytes limits discard.
const discardBytes = 4 << 10

// Read returns the body as an event stream.
func (a *answerStream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(a.head) == 0 && a.err != nil {
		return 0, a.err
	}
	if len(a.head) > 0 {
		n := copy(p, a.head)
		a.head = a.head[n:]
		return n, nil
	}
	n, err := a.readLimited(p)
	switch {
	case err == io.EOF: //nolint:errorlint // a reader's own io.EOF is never wrapped
		a.err = err
		a.head = []byte("\n") // the library drops an unfinished last line
	case err != nil:
		a.err = err
	}
	if a.shape == unseen {
		return 0, a.detectForm(p[:n])
	}
	if a.shape == whole {
		joinLines(p[:n])
	}
	return n, nil
}

// readLimited reads from the source within the limits.
func (a *answerStream) readLimited(p []byte) (int, error) {
	n, err := a.src.Read(p)
	if n > 0 {
		a.heard()
	}
	if a.left -= int64(n); a.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// detectForm detects the form of the body by its first character, whatever the
// content type says, and queues the bytes.
func (a *answerStream) detectForm(first []byte) error {
	first = bytes.TrimLeft(first, "\ufeff \t\r\n")
	if len(first) == 0 {
		return nil
	}
	rest := a.head // the line end queued at an immediate end of the source
	switch first[0] {
	case '<':
		a.err = errWebPage
		return errWebPage
	case '{':
		a.shape = whole
		joinLines(first)
		a.head = append([]byte("data: "), first...)
	default:
		a.shape = events
		a.head = bytes.Clone(first)
	}
	a.head = append(a.head, rest...)
	return nil
}

func joinLines(p []byte) {
	for i, b := range p {
		if b == '\n' || b == '\r' {
			p[i] = ' '
		}
	}
}

// discard reads to the end of the source, or discardBytes.
func (a *answerStream) discard() {
	_, _ = io.CopyN(io.Discard, a.src, discardBytes)
}

// Close closes the source.
func (a *answerStream) Close() error { return a.src.Close() }

// A chunk is one event of a stream, or a whole plain answer. It has the fields that
// are read, in all forms that endpoints send.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index   int    `json:"index"`
	Delta   *piece `json:"delta"`
	Message *piece `json:"message"` // in place of delta: a plain answer
	Finish  string `json:"finish_reason"`
}

type piece struct {
	Content   content    `json:"content"`
	Refusal   string     `json:"refusal"`
	ToolCalls []callPart `json:"tool_calls"`
}

type callPart struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name string    `json:"name"`
		Args arguments `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	Prompt  float64 `json:"prompt_tokens"`
	Output  float64 `json:"completion_tokens"`
	Hits    float64 `json:"prompt_cache_hit_tokens"` // DeepSeek
	Details *struct {
		Cached float64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// content is a string, null, or a list of parts, of which the text parts count.
type content string

// UnmarshalJSON reads any of the three forms.
func (c *content) UnmarshalJSON(b []byte) error {
	if text, ok := decodeLiteral(b); ok {
		*c = content(text)
		return nil
	}
	if !bytes.HasPrefix(b, []byte("[")) {
		return json.Unmarshal(b, (*string)(c)) // null leaves it empty
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var text strings.Builder
	for _, p := range parts {
		if p.Type == "text" {
			text.WriteString(p.Text)
		}
	}
	*c = content(text.String())
	return nil
}

// decodeLiteral decodes a JSON string that Go syntax decodes to the same value, as nearly
// all pieces of an answer; false for others, such as surrogate pairs.
func decodeLiteral(b []byte) (string, bool) {
	if len(b) < 2 || b[0] != '"' || !utf8.Valid(b) {
		return "", false
	}
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b[1 : len(b)-1]), true
	}
	text, err := strconv.Unquote(string(b))
	return text, err == nil
}

// arguments is a string, null, or JSON that should have been a string.
type arguments string

// UnmarshalJSON reads any of the three forms.
func (a *arguments) UnmarshalJSON(b []byte) error {
	if text, ok := decodeLiteral(b); ok {
		*a = arguments(text)
		return nil
	}
	if bytes.HasPrefix(b, []byte(`"`)) || bytes.Equal(b, []byte("null")) {
		return json.Unmarshal(b, (*string)(a))
	}
	*a = arguments(b)
	return nil
}

// tokens returns the usage that the endpoint reported; ok is false without one.
func (u *usage) tokens() (n llm.TokenUsage, ok bool) {
	if u == nil || u.Prompt < 1 {
		return llm.TokenUsage{}, false
	}
	n = llm.TokenUsage{Prompt: whole32(u.Prompt), Output: whole32(u.Output), Cached: whole32(u.Hits)}
	if u.Details != nil {
		n.Cached = max(n.Cached, whole32(u.Details.Cached))
	}
	n.Cached = min(n.Cached, n.Prompt)
	return n, true
}

// whole32 converts f to an int within 0 and 1<<31-1.
func whole32(f float64) int {
	return int(min(max(f, 0), 1<<31-1))
}
