package anthropic

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// spoken is an answer of a text and a call, in the events of the book.
const spoken = `event: message_start
data: {"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":5}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"party \ud83c"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\udf89"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"at\":\"\ud83c"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\udf89\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

`

// without returns a stream without the events that contain one of some texts.
func without(stream string, texts ...string) string {
	var kept strings.Builder
events:
	for event := range strings.SplitSeq(strings.TrimSpace(stream), "\n\n") {
		for _, text := range texts {
			if strings.Contains(event, text) {
				continue events
			}
		}
		kept.WriteString(event + "\n\n")
	}
	return kept.String()
}

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
	forms := map[string]string{
		"no event names":               replace("event: message_start\n", "", "event: message_delta\n", "", "event: content_block_delta\n", "", "event: content_block_start\n", "", "event: message_stop\n", ""),
		"types in the names alone":     replace(`"type":"content_block_delta",`, "", `"type":"content_block_start",`, "", `"type":"message_delta",`, "", `"type":"message_start",`, "", `"type":"message_stop"`, ""),
		"no message_stop":              without(spoken, "message_stop"),
		"no stop reason":               without(spoken, "message_delta"),
		"the end after a whole call":   without(spoken, "message_delta", "message_stop"),
		"[DONE] for message_stop":      without(spoken, "message_delta", "message_stop") + "data: [DONE]\n\n",
		"no content_block_stop":        without(spoken, "content_block_stop"),
		"no message_start":             without(spoken, "message_start"),
		"no start of the text":         without(spoken, `"content_block":{"type":"text"`),
		"index as text":                replace(`"index":0`, `"index":"0"`, `"index":1`, `"index":"1"`),
		"no index":                     replace(`"index":0,`, "", `"index":1,`, ""),
		"index as a list":              replace(`"index":0`, `"index":[]`, `"index":1`, `"index":{}`),
		"one index for all":            replace(`"index":1`, `"index":0`),
		"another index for the pieces": replace(`"index":1,"delta"`, `"index":2,"delta"`),
		"an index that grows":          replace(`"index":1,"delta":{"type":"input_json_delta","partial_json":"\`, `"index":3,"delta":{"type":"input_json_delta","partial_json":"\`),
		"no types of pieces":           replace(`"type":"text_delta",`, "", `"type":"input_json_delta",`, ""),
		"no types of blocks":           replace(`"content_block":{"type":"text",`, `"content_block":{`, `"type":"tool_use",`, ""),
		"text as an object":            replace(`"text":"\udf89"`, `"text":{"text":"\udf89"}`),
		"text as a list":               replace(`"text":"\udf89"`, `"text":[{"type":"text","text":"\udf89"}]`),
		"text null as it begins":       replace(`"text":""`, `"text":null`),
		"input null as it begins":      replace(`"input":{}`, `"input":null`),
		"input as text as it begins":   replace(`"input":{}`, `"input":""`),
		"an id that is a number":       replace(`"id":"t1"`, `"id":1`),
		"whole arguments at the end":   replace(`{"type":"content_block_stop","index":1}`, `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"at\":\"🎉\"}"}}`),
		"all so far in each piece":     replace(`"\udf89\"}"`, `"{\"at\":\"\ud83c\udf89\"}"`),
		"arguments as an object":       strings.Replace(without(spoken, `"\udf89\"}"`), `"{\"at\":\"\ud83c"`, `{"at":"🎉"}`, 1),
		"arguments as it begins":       strings.Replace(without(spoken, "partial_json"), `"input":{}`, `"input":{"at":"🎉"}`, 1),
		"input as JSON text":           strings.Replace(without(spoken, "partial_json"), `"input":{}`, `"input":"{\"at\":\"🎉\"}"`, 1),
		"an unknown reason":            replace(`"stop_reason":"tool_use"`, `"stop_reason":"because"`),
		"the reason stop":              replace(`"stop_reason":"tool_use"`, `"stop_reason":"stop"`),
		"the reason as an object":      replace(`"stop_reason":"tool_use"`, `"stop_reason":{"type":"tool_use"}`),
		"the reason null":              replace(`"stop_reason":"tool_use"`, `"stop_reason":null`),
		"the reason beside the delta":  replace(`"delta":{"stop_reason":"tool_use"}`, `"delta":{},"stop_reason":"tool_use"`),
		"the reason null once more":    replace("event: message_stop", `data: {"type":"message_delta","delta":{"stop_reason":null},"usage":null}`+"\n\nevent: message_stop"),
		"the reason at the beginning":  replace(`"content":[],`, `"content":[],"stop_reason":"tool_use",`),
		"content null":                 replace(`"content":[]`, `"content":null`),
		"message as text":              strings.Replace(spoken, `"message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":5}}`, `"message":"m","usage":{"input_tokens":5}`, 1),
		"an event of tomorrow":         replace("event: message_delta", "event: mood\ndata: {\"type\":\"mood\",\"content\":\"glad\",\"mood\":1}\n\nevent: message_delta"),
		"a block of tomorrow":          replace("event: message_delta", "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"mood\",\"text\":\"glad\"}}\n\nevent: message_delta"),
		"pings":                        replace("event: content_block_stop", "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: content_block_stop"),
		"an error behind the reason":   replace("event: message_stop", `data: {"type":"error","error":{"message":"late"}}`+"\n\nevent: message_stop"),
		"not streamed":                 `{"type":"message","content":[{"type":"text","text":"party 🎉"},{"type":"tool_use","id":"t1","name":"look","input":{"at":"🎉"}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":9}}`,
		"not streamed, no type":        "{\n  \"content\": [\"party 🎉\",\n\n {\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"look\",\"input\":{\"at\":\"🎉\"}}],\"usage\":{\"input_tokens\":5,\"output_tokens\":9}}",
		"not streamed, in an event":    "event: message\ndata: {\"content\":[{\"text\":\"party 🎉\"},{\"id\":\"t1\",\"name\":\"look\",\"input\":{\"at\":\"🎉\"}}],\"stop_reason\":\"end_turn\"}\n\n",
		"whole in message_start":       `data: {"type":"message_start","message":{"content":[{"type":"text","text":"party 🎉"},{"type":"tool_use","id":"t1","name":"look","input":{"at":"🎉"}}],"stop_reason":"tool_use"}}` + "\n\ndata: {\"type\":\"message_stop\"}\n\n",
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
	text := without(spoken, `"index":1`)
	for name, body := range map[string]string{
		"the book": text, "no reason": without(text, "message_delta"), "no message_stop": without(text, "message_stop"),
		"[DONE]":   without(text, "message_delta", "message_stop") + "data: [DONE]\n\n",
		"content":  `{"type":"message","content":"party 🎉"}`,
		"a list":   `{"type":"message","content":["party ","🎉"],"stop_reason":"END_TURN"}`,
		"thoughts": strings.Replace(text, "event: content_block_start", `data: {"type":"content_block_delta","index":7,"delta":{"type":"thinking_delta","thinking":"hm"}}`+"\n\nevent: content_block_start", 1),
	} {
		if got, err := read(t, body, 7); err != nil || got.Text != "party 🎉" || got.Finish != llm.Stopped || len(got.Calls) > 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, body := range map[string]string{
		"cut in the text":          without(text, "message_delta", "message_stop"),
		"cut in the arguments":     without(spoken, `"\udf89\"}"`, "message_delta", "message_stop"),
		"cut before the arguments": without(spoken, "partial_json", "message_delta", "message_stop"),
		"nothing":                  "", "[DONE] alone": "data: [DONE]\n\n", "no content": `{"type":"message","content":[]}`,
	} {
		if got, err := read(t, body, 7); llm.KindOf(err) != llm.Garbled {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for reason, want := range map[string]llm.FinishReason{"max_tokens": llm.Length, "MAX_TOKENS": llm.Length, "length": llm.Length, "refusal": llm.Blocked, "content_filter": llm.Blocked, "stop_sequence": llm.Called, "pause_turn": llm.Called} {
		if got, err := read(t, strings.Replace(spoken, `"stop_reason":"tool_use"`, `"stop_reason":"`+reason+`"`, 1), 7); err != nil || got.Finish != want {
			t.Errorf("%s: %+v, %v, want %s", reason, got, err, want)
		}
	}
}

// A failure within an answer has the endpoint's own words and the kind they mean.
func TestFailedAnswersKeepTheEndpointsWords(t *testing.T) {
	start, _, _ := strings.Cut(spoken, "event: content_block_stop")
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
		`{"input_tokens":5}`: {Prompt: 5, Output: 9},
		`{"input_tokens":"5","cache_read_input_tokens":2.0}`:     {Prompt: 7, Cached: 2, Output: 9},
		`{"input_tokens":5.0,"cache_read_input_tokens":null}`:    {Prompt: 5, Output: 9},
		`{"input_tokens":5,"cache_read_input_tokens":[1]}`:       {Prompt: 5, Output: 9},
		`{"input_tokens":5,"service_tier":{},"output_tokens":1}`: {Prompt: 5, Output: 9},
	} {
		got, err := read(t, strings.Replace(spoken, `{"input_tokens":5}`, usage, 1), 1<<20)
		if diff := cmp.Diff(want, got.Usage); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", usage, err, diff)
		}
	}
	for _, usage := range []string{"null", "[]", `"none"`, "7"} {
		got, err := read(t, strings.NewReplacer(`{"input_tokens":5}`, usage, `{"output_tokens":9}`, usage).Replace(spoken), 1<<20)
		if err != nil || !got.Usage.Estimated || got.Usage.Prompt == 0 {
			t.Errorf("%s: %+v, %v", usage, got.Usage, err)
		}
	}
}
