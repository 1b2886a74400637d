package gemini

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// spoken is an answer of thoughts, a text and a call, in the events of the book.
const spoken = `data: {"candidates":[{"content":{"parts":[{"text":"hm","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":5},"modelVersion":"m"}

data: {"candidates":[{"content":{"parts":[{"text":"party \ud83c"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":5}}

data: {"candidates":[{"content":{"parts":[{"text":"\udf89"},{"functionCall":{"id":"t1","name":"look","args":{"at":"🎉"}}}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":5}}

data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":9}}

`

// last is the event with the reason to finish.
const last = `{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":9}}`

// read returns the answer of a stream that arrives in pieces of some bytes.
func read(t *testing.T, body string, step int) (llm.ModelResponse, error) {
	t.Helper()
	c, err := New(modelhttp.ClientOptions{BaseURL: "http://model.test", APIKey: "secret", Transport: llmtest.SteppedBody{Text: body, Step: step}, MintID: func() string { return "new" }})
	if err != nil {
		t.Fatal(err)
	}
	return c.Generate(t.Context(), request())
}

// One answer is read alike in all forms in which servers send it, whatever one field of it
// is.
func TestOddAnswersAreRead(t *testing.T) {
	replace := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(spoken) }
	unended := strings.Replace(spoken, "data: "+last+"\n\n", "", 1)
	forms := map[string]string{
		"the end after a whole call":    unended,
		"[DONE] for the reason":         unended + "data: [DONE]\n\n",
		"the reason alone":              unended + "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n",
		"the reason with empty content": unended + "data: {\"candidates\":[{\"content\":{\"role\":\"model\"},\"finishReason\":\"STOP\"}]}\n\n",
		"the reason before the answer":  "data: {\"candidates\":[{\"content\":{\"parts\":[]},\"finishReason\":\"STOP\"}]}\n\n" + spoken,
		"the reason in every event":     replace(`"role":"model"}`, `"role":"model"},"finishReason":"STOP"`),
		"an unknown reason":             replace(`"STOP"`, `"BECAUSE"`),
		"the reason in small letters":   replace(`"STOP"`, `"stop"`),
		"the reason as a number":        replace(`"STOP"`, `1`),
		"the reason unspecified":        replace(`"STOP"`, `"FINISH_REASON_UNSPECIFIED"`),
		"the reason null":               replace(`"STOP"`, `null`),
		"the reason of other calls":     replace(`"STOP"`, `"MALFORMED_FUNCTION_CALL"`),
		"candidates as one object":      replace(`"candidates":[{`, `"candidates":{`, `"index":0}]`, `"index":0}`),
		"parts as one object":           replace(`"parts":[{"text":"party \ud83c"}]`, `"parts":{"text":"party \ud83c"}`),
		"parts as a text":               replace(`"parts":[{"text":"party \ud83c"}]`, `"parts":"party \ud83c"`),
		"a text among the parts":        replace(`{"text":"\udf89"}`, `"\udf89"`),
		"content as a list of parts":    replace(`{"parts":[{"text":"party \ud83c"}],"role":"model"}`, `[{"text":"party \ud83c"}]`),
		"content as a text":             replace(`{"parts":[{"text":"party \ud83c"}],"role":"model"}`, `"party \ud83c"`),
		"content null":                  replace(`{"parts":[{"text":""}],"role":"model"}`, `null`),
		"parts null":                    replace(`[{"text":""}]`, `null`),
		"text as an object":             replace(`"text":"\udf89"`, `"text":{"text":"\udf89"}`),
		"text null":                     replace(`{"text":""}`, `{"text":null}`),
		"thought as a text":             replace(`"thought":true`, `"thought":"true"`),
		"index as text":                 replace(`"index":0`, `"index":"0"`),
		"no index":                      replace(`,"index":0`, ""),
		"index as an object":            replace(`"index":0`, `"index":{}`),
		"a second candidate":            replace(`"index":0}]`, `"index":0},{"index":1,"content":{"parts":[{"text":"other"}]}}]`),
		"arguments as JSON text":        replace(`{"at":"🎉"}`, `"{\"at\":\"🎉\"}"`),
		"a namespace":                   replace(`"look"`, `"default_api.look"`),
		"no id":                         replace(`"id":"t1",`, ""),
		"an id that is a number":        replace(`"t1"`, `1`),
		"a signature that is no text":   replace(`"id":"t1"`, `"id":"t1"},"thoughtSignature":{},"functionCall":{"id":"t1"`),
		"usage null":                    replace(`"usageMetadata":{"promptTokenCount":5}`, `"usageMetadata":null`),
		"no usage but in the last":      replace(`,"usageMetadata":{"promptTokenCount":5}`, ""),
		"usage as text":                 replace(`"promptTokenCount":5`, `"promptTokenCount":"5"`),
		"usage of a wrong type":         replace(`,"usageMetadata":{"promptTokenCount":5}`, `,"usageMetadata":[1],"promptFeedback":"none","modelVersion":{}`),
		"keys in snake_case":            replace("finishReason", "finish_reason", "usageMetadata", "usage_metadata", "promptTokenCount", "prompt_token_count", "functionCall", "function_call"),
		"wrapped":                       replace("data: ", `data: {"response":`, "}\n\n", "}}\n\n"),
		"an error behind the reason":    spoken + "data: {\"error\":{\"message\":\"late\"}}\n\n",
		"not streamed":                  `{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"party 🎉"},{"functionCall":{"id":"t1","name":"look","args":{"at":"🎉"}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5}}`,
		"not streamed, over many lines": "{\n  \"candidates\": [\n\n {\"content\": {\"parts\": [{\"text\": \"party 🎉\"},\n{\"functionCall\": {\"name\": \"look\", \"args\": {\"at\":\"🎉\"}}}]}}]\n}",
	}
	for name, form := range llmtest.StreamForms() {
		forms[name] = form(spoken)
	}
	for name, body := range forms {
		for _, step := range []int{1, 7, 1 << 20} {
			got, err := read(t, body, step)
			if err != nil || got.Text != "party 🎉" || len(got.Calls) != 1 || got.Calls[0].Name != "look" || got.Calls[0].ID == "" || got.Calls[0].Args != `{"at":"🎉"}` || got.Finish != llm.Called {
				t.Errorf("%s in pieces of %d bytes: %+v, %v", name, step, got, err)
				break
			}
		}
	}
}

// A text ends with its reason or the end of the stream that the endpoint says, and with
// nothing else: half of it is none.
func TestEndOfTextIsSeen(t *testing.T) {
	text := `data: {"candidates":[{"content":{"parts":[{"text":"Hello"}]}}]}` + "\n\n"
	for name, body := range map[string]string{
		"the book": text + "data: " + last + "\n\n", "[DONE]": text + "data: [DONE]\n\n",
		"a list": "[" + strings.TrimSpace(strings.TrimPrefix(text, "data: ")) + ",\n" + last + "]",
	} {
		if got, err := read(t, body, 7); err != nil || got.Text != "Hello" || got.Finish != llm.Stopped || len(got.Calls) > 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, body := range map[string]string{
		"cut in the text": text, "nothing": "", "[DONE] alone": "data: [DONE]\n\n", "no parts": `{"candidates":[]}`,
		"cut in an event": text + `data: {"candidates":[{"content":{"pa`,
	} {
		if got, err := read(t, body, 7); llm.KindOf(err) != llm.Garbled || err == nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for reason, want := range map[string]llm.FinishReason{"MAX_TOKENS": llm.Length, "max_tokens": llm.Length, "length": llm.Length, "SAFETY": llm.Blocked, "RECITATION": llm.Blocked, "SPII": llm.Blocked, "LANGUAGE": llm.Blocked, "content_filter": llm.Blocked, "OTHER": llm.Called} {
		if got, err := read(t, strings.Replace(spoken, `"STOP"`, `"`+reason+`"`, 1), 7); err != nil || got.Finish != want {
			t.Errorf("%s: %+v, %v, want %s", reason, got, err, want)
		}
	}
}

// A failure within an answer has the endpoint's own words and the kind they mean.
func TestFailedAnswersKeepTheEndpointsWords(t *testing.T) {
	start, _, _ := strings.Cut(spoken, `data: {"candidates":[{"content":{"parts":[{"text":"\udf89"}`)
	for body, want := range llmtest.FailuresInAnswers() {
		for _, before := range []string{"", start} {
			if !strings.HasPrefix(body, "data:") && !strings.HasPrefix(body, "event:") && before != "" {
				continue
			}
			got, err := read(t, before+body+"\n\n", 7)
			if err == nil || llm.KindOf(err) != want.Kind || !strings.Contains(err.Error(), want.Words) {
				t.Errorf("%s\n\tgives %+v, %v, want %s with %q", body, got, err, want.Kind, want.Words)
			}
		}
	}
}

// Figures of a wrong form are read or left out.
func TestOddUsageIsRead(t *testing.T) {
	for usage, want := range map[string]llm.TokenUsage{
		`{"promptTokenCount":5,"candidatesTokenCount":9}`:                                                         {Prompt: 5, Output: 9},
		`{"promptTokenCount":"5","candidatesTokenCount":9.0,"thoughtsTokenCount":null}`:                           {Prompt: 5, Output: 9},
		`{"promptTokenCount":5,"cachedContentTokenCount":"7","candidatesTokenCount":[],"thoughtsTokenCount":"3"}`: {Prompt: 5, Cached: 5, Output: 3},
		`{"prompt_token_count":5,"candidates_token_count":9,"thoughts_token_count":2}`:                            {Prompt: 5, Output: 11},
		`{"promptTokenCount":0}`: {Prompt: 5},
	} {
		got, err := read(t, strings.Replace(spoken, `{"promptTokenCount":5,"candidatesTokenCount":9}`, usage, 1), 1<<20)
		if diff := cmp.Diff(want, got.Usage); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", usage, err, diff)
		}
	}
}
