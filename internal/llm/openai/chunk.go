package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// A chunk is one event of a stream, or a whole plain answer. It has only the
// fields that are read, in all the forms in which endpoints send them.
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

// content is a text, null, or a list of parts of which the text ones count.
type content string

// UnmarshalJSON reads any of the three forms.
func (c *content) UnmarshalJSON(b []byte) error {
	if text, ok := literal(b); ok {
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

// literal returns what a valid JSON string says if Go reads it alike, as it does with
// nearly all pieces of an answer; false for everything else, such as two halves of a
// character.
func literal(b []byte) (string, bool) {
	if len(b) < 2 || b[0] != '"' || !utf8.Valid(b) {
		return "", false
	}
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b[1 : len(b)-1]), true
	}
	text, err := strconv.Unquote(string(b))
	return text, err == nil
}

// arguments is a text, null, or JSON that should have been a text.
type arguments string

// UnmarshalJSON reads any of the three forms.
func (a *arguments) UnmarshalJSON(b []byte) error {
	if text, ok := literal(b); ok {
		*a = arguments(text)
		return nil
	}
	if bytes.HasPrefix(b, []byte(`"`)) || bytes.Equal(b, []byte("null")) {
		return json.Unmarshal(b, (*string)(a))
	}
	*a = arguments(b)
	return nil
}

// tokens returns what the endpoint counted; ok is false when it counted nothing.
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

// whole32 is f as a count that cannot overflow a sum.
func whole32(f float64) int {
	return int(min(max(f, 0), 1<<31-1))
}
