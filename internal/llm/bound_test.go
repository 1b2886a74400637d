package llm

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"
)

type answerer func(ModelRequest) ModelResponse

func (a answerer) Generate(_ context.Context, r ModelRequest) (ModelResponse, error) {
	return a(r), nil
}

// What a model answers beyond the limit is cut between characters, its calls are
// dropped, and nothing of it is heard; other answers are left alone.
func TestGenerateBoundedCutsRunaways(t *testing.T) {
	long := strings.Repeat("ä🎉", 1<<20)
	for name, c := range map[string]struct {
		answer ModelResponse
		cut    bool
	}{
		"words":        {ModelResponse{Text: "yes", Finish: Stopped}, false},
		"call":         {ModelResponse{Calls: []ToolCall{{"a", "send_message", `{"text":"yes"}`}}, Finish: Called}, false},
		"long words":   {ModelResponse{Text: long, Finish: Stopped}, true},
		"long call":    {ModelResponse{Calls: []ToolCall{{"a", "send_message", long}}, Finish: Called}, true},
		"long name":    {ModelResponse{Calls: []ToolCall{{"a", long, "{}"}}, Finish: Called}, true},
		"long id":      {ModelResponse{Calls: []ToolCall{{long, "send_message", "{}"}}, Finish: Called}, true},
		"many calls":   {ModelResponse{Calls: make([]ToolCall, 10), Text: strings.Repeat("a", KeptBytes(2000)+1), Finish: Called}, true},
		"just allowed": {ModelResponse{Text: strings.Repeat("a", KeptBytes(2000)), Finish: Stopped}, false},
	} {
		t.Run(name, func(t *testing.T) {
			heard := 0
			r := ModelRequest{MaxOutput: 2000, Hear: func(ModelResponse) { heard++ }}
			got, err := GenerateBounded(t.Context(), answerer(func(r ModelRequest) ModelResponse { r.Hear(c.answer); return c.answer }), r)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.cut && (got.Finish != Length || len(got.Calls) > 0 || len(got.Text) > KeptBytes(2000) || !utf8.ValidString(got.Text) || heard > 0):
				t.Errorf("finish %s, %d calls, %d bytes, heard %d", got.Finish, len(got.Calls), len(got.Text), heard)
			case !c.cut && (got.Finish != c.answer.Finish || got.Text != c.answer.Text || len(got.Calls) != len(c.answer.Calls) || heard != 1):
				t.Errorf("changed to %d bytes and %d calls, heard %d", len(got.Text), len(got.Calls), heard)
			}
		})
	}
}
