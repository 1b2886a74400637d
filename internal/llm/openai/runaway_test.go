package openai

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// An answer of 5 MB leaves no more than its limit, in whatever form and field it comes:
// all at once, in pieces, in a whole answer, as arguments, names, ids or reasoning.
func TestARunawayAnswerIsCutInEveryForm(t *testing.T) {
	five := strings.Repeat("word ", 1<<20)
	piece := strings.Repeat("word ", 1000)
	pieces := func(event string) string { return strings.Repeat(event, 1<<10) }
	call := func(id, name, args string) string {
		return `{"index":0,"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":"{\"text\":\"` + args + `\"}"}}`
	}
	for name, body := range map[string]string{
		"one piece":        stream(`{"choices":[{"delta":{"content":"` + five + `"},"finish_reason":"stop"}]}`),
		"pieces":           pieces(stream(`{"choices":[{"delta":{"content":"` + piece + `"}}]}`)),
		"whole answer":     `{"choices":[{"message":{"content":"` + five + `"},"finish_reason":"stop"}]}`,
		"refusal":          `{"choices":[{"message":{"refusal":"` + five + `"},"finish_reason":"stop"}]}`,
		"list of texts":    `{"choices":[{"message":{"content":[{"type":"text","text":"` + five + `"}]},"finish_reason":"stop"}]}`,
		"arguments":        `{"choices":[{"message":{"tool_calls":[` + call("a", "send_message", five) + `]},"finish_reason":"tool_calls"}]}`,
		"pieces of a call": pieces(stream(`{"choices":[{"delta":{"tool_calls":[` + call("a", "send_message", piece) + `]}}]}`)),
		"name":             `{"choices":[{"message":{"tool_calls":[` + call("a", five, "") + `]},"finish_reason":"tool_calls"}]}`,
		"id":               `{"choices":[{"message":{"tool_calls":[` + call(five, "send_message", "x") + `]},"finish_reason":"tool_calls"}]}`,
		"reasoning":        `{"choices":[{"message":{"content":"yes","reasoning_content":"` + five + `","tool_calls":[` + call("a", "send_message", "x") + `]},"finish_reason":"tool_calls"}]}`,
		"reasoning in pieces": pieces(stream(`{"choices":[{"delta":{"reasoning":"`+piece+`"}}]}`)) +
			stream(`{"choices":[{"delta":{"content":"yes"},"finish_reason":"stop"}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			c := canned(t, 200, nil, strings.ReplaceAll(body, "data: [DONE]\n\n", ""))
			heard := 0
			r := hello
			r.MaxOutput = 2000
			r.Hear = func(soFar llm.ModelResponse) { heard = max(heard, size(&soFar)) }
			got, err := c.Generate(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			limit := llm.KeptBytes(r.MaxOutput)
			if n := size(&got); n > limit || heard > limit || c.thoughts.Size() > limit {
				t.Errorf("kept %d bytes, heard %d, reasoning %d: want at most %d", n, heard, c.thoughts.Size(), limit)
			}
			if strings.HasPrefix(name, "reasoning") && got.Text != "yes" {
				t.Errorf("text %q", got.Text)
			}
		})
	}
}

// An error of 5 MB within an answer is kept by its first words.
func TestARunawayErrorIsCut(t *testing.T) {
	_, err := canned(t, 200, nil, `{"error":{"message":"no: `+strings.Repeat("word ", 1<<20)+`"}}`).Generate(t.Context(), hello)
	if err == nil || len(err.Error()) > 16<<10 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

// size returns the bytes of an answer.
func size(r *llm.ModelResponse) int {
	n := len(r.Text)
	for _, c := range r.Calls {
		n += len(c.ID) + len(c.Name) + len(c.Args)
	}
	return n
}
