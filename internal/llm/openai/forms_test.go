package openai

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// spoken is an answer of thoughts, a text and a call, in the events of the book.
const spoken = `data: {"id":"x","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":"hm"},"finish_reason":null}]}

data: {"id":"x","choices":[{"index":0,"delta":{"content":"party \ud83c"},"finish_reason":null}]}

data: {"id":"x","choices":[{"index":0,"delta":{"content":"\udf89"},"finish_reason":null}]}

data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"send_message","arguments":""}}]},"finish_reason":null}]}

data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"at\":\"\ud83c"}}]},"finish_reason":null}]}

data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\udf89\"}"}}]},"finish_reason":null}]}

data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"x","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":9}}

`

// One answer is read alike in all forms in which servers send it, whatever one field of it
// is.
func TestFormsOfOneAnswerAreReadAlike(t *testing.T) {
	replace := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(spoken) }
	end := `data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n"
	forms := map[string]string{
		"an empty object, then the arguments":   replace(`"arguments":""`, `"arguments":"{}"`),
		"null, then the arguments":              replace(`"arguments":""`, `"arguments":null`),
		"the whole written otherwise once more": replace(end, "data: "+args("0", `"{ \"at\": \"🎉\" }"`)+"\n\n"+end),
		"the reason as an object":               replace(`"finish_reason":"tool_calls"`, `"finish_reason":{"type":"tool_calls"}`),
		"the reason as a number":                replace(`"finish_reason":"tool_calls"`, `"finish_reason":1`),
		"an unknown reason":                     replace(`"finish_reason":"tool_calls"`, `"finish_reason":"eos"`),
		"an empty reason in every piece":        replace(`"finish_reason":null`, `"finish_reason":""`),
		"no reason, but the usage":              replace(end, ""),
		"usage null in every piece":             replace(`"choices":[{`, `"usage":null,"choices":[{`),
		"usage of nothing at the end":           spoken + `data: {"choices":[],"usage":{"prompt_tokens":0}}` + "\n\n",
		"usage as text":                         replace(`"prompt_tokens":5`, `"prompt_tokens":"5"`),
		"reasoning":                             replace("reasoning_content", "reasoning"),
		"thinking":                              replace("reasoning_content", "thinking"),
		"reasoning as a list":                   replace(`"reasoning_content":"hm"`, `"reasoning":[{"type":"text","text":"hm"}]`),
		"choices null at the end":               replace(`"choices":[],`, `"choices":null,`),
		"the delta null at the end":             replace(`"delta":{}`, `"delta":null`),
		"the index absent at the arguments":     replace(`{"index":0,"function"`, `{"function"`),
		"the index as text at the arguments":    replace(`{"index":0,"function"`, `{"index":"0","function"`),
	}
	for name, form := range llmtest.StreamForms() {
		forms[name] = form(spoken)
	}
	for name, body := range forms {
		for _, step := range []int{1, 7, 1 << 20} {
			c := mustNew(t, modelhttp.ClientOptions{BaseURL: "http://model.test/v1", Transport: llmtest.SteppedBody{Text: body, Step: step}})
			got, err := c.Generate(t.Context(), hello)
			if err != nil || got.Text != "party 🎉" || got.Reasoning != "hm" || len(got.Calls) != 1 || got.Calls[0] != (llm.ToolCall{ID: "t1", Name: "send_message", Args: `{"at":"🎉"}`}) || got.Finish != llm.Called || got.Usage != (llm.TokenUsage{Prompt: 5, Output: 9}) {
				t.Errorf("%s in pieces of %d bytes: %+v, %v", name, step, got, err)
				break
			}
		}
	}
}

// A text ends with its reason, [DONE] or the usage that comes after it, and with nothing
// else; a call without its arguments is none.
func TestEndOfTextIsSeen(t *testing.T) {
	text := `data: {"choices":[{"delta":{"content":"Hello"}}]}` + "\n\n"
	for name, body := range map[string]string{
		"the usage": text + `data: {"choices":[],"usage":{"prompt_tokens":5}}` + "\n\n", "[DONE]": text + "data: [DONE]\n\n",
		"an odd reason": text + `data: {"choices":[{"finish_reason":{"reason":"eos"}}]}` + "\n\n",
	} {
		if got, err := canned(t, 200, nil, body).Generate(t.Context(), hello); err != nil || got.Text != "Hello" || got.Finish != llm.Stopped {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, body := range map[string]string{
		"cut in the text": text, "usage with the text": strings.Replace(text, `"choices"`, `"usage":{"prompt_tokens":5},"choices"`, 1),
		"cut before the arguments": text + "data: " + calls(begun) + "\n\n",
		"cut in the arguments":     text + "data: " + calls(begun) + "\n\ndata: " + args("0", `"{\"a\":"`) + "\n\n" + `data: {"choices":[],"usage":{"prompt_tokens":5}}` + "\n\n",
	} {
		if got, err := canned(t, 200, nil, body).Generate(t.Context(), hello); llm.KindOf(err) != llm.Garbled || err == nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A failure within an answer, an embedding or a transcript has the endpoint's own words and
// the kind they mean.
func TestFailuresOfAnyProviderKeepTheirWords(t *testing.T) {
	start := `data: {"choices":[{"delta":{"content":"hal"}}]}` + "\n\n"
	for body, want := range llmtest.FailuresInAnswers() {
		c := canned(t, 200, nil, body+"\n\n")
		_, err := c.Generate(t.Context(), hello)
		_, _, embedded := c.Embed(t.Context(), "m", []string{"a"})
		_, _, heard := c.Transcribe(t.Context(), "m", "v.ogg", strings.NewReader("x"), 1)
		all := map[string]error{"answer": err, "embedding": embedded, "transcript": heard}
		if strings.HasPrefix(body, "data:") || strings.HasPrefix(body, "event:") {
			_, all["second event"] = canned(t, 200, nil, start+body+"\n\n").Generate(t.Context(), hello)
		}
		for what, err := range all {
			if err == nil || llm.KindOf(err) != want.Kind || !strings.Contains(err.Error(), want.Words) {
				t.Errorf("%s as %s\n\tgives %v, want %s with %q", body, what, err, want.Kind, want.Words)
			}
		}
	}
}
