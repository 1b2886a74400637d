package llmtest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trestle-bridge/trestle/internal/llm"
)

var bodies = []string{
	`{"model":"m","messages":[{"role":"user","content":"a\n\"b\" \\ \u003c ❤ \ud83d\ude00 \/"}],"stream":true,"stream_options":{"include_usage":true}}`,
	` { "model" : "m" , "messages" : [ ] , "max_tokens" : 7 , "x" : [ 1 , { "y" : "}" } ] , "tools" : null } `,
	`{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{\"k\":1}"}}]},{"role":"tool","tool_call_id":"a","content":""}],"tools":[{"type":"function","function":{"name":"x","parameters":{"a":[1,2]}}}],"tool_choice":"none","max_completion_tokens":9,"prompt_cache_key":"k"}`,
	`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`,
	`{"stream_options":{ "include_usage" : true },"stream":true,"messages":[{"role":"user","content":"a"}]}`,
	`{"messages":[{"role":"user","content":"cut`,
	`{"model":1}`, `{}`, `[]`, ``, `{"tools":[}`, `{"a":"\`, "{\"messages\":[{\"content\":\"\\q\"}]}",
}

// Any body is decoded or refused, and the decoded one can be measured and checked.
func FuzzDecodeRequest(f *testing.F) {
	for _, b := range bodies {
		f.Add([]byte(b))
	}
	var s Server
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := s.read(body)
		if err != nil {
			return
		}
		if prompt, cached := s.cache.measure(req); cached > prompt {
			t.Errorf("%s: %d of %d tokens are cached", body, cached, prompt)
		}
		_ = s.violation(&req)
	})
}

func TestRequestsAreReadInEveryForm(t *testing.T) {
	user := func(text string) []llm.TranscriptMessage {
		return []llm.TranscriptMessage{{Role: llm.User, Text: text}}
	}
	raw := json.RawMessage(`[{"type":"function","function":{"name":"x","parameters":{"a":[1,2]}}}]`)
	want := []wireRequest{
		{ModelRequest: llm.ModelRequest{Model: "m", Messages: user("a\n\"b\" \\ < ❤ 😀 /")}, Stream: true, Usage: true},
		{ModelRequest: llm.ModelRequest{Model: "m", MaxOutput: 7}, RawTools: json.RawMessage("null")},
		{ModelRequest: llm.ModelRequest{Model: "m", NoCalls: true, MaxOutput: 9, CacheKey: "k", Messages: []llm.TranscriptMessage{
			{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "x", Args: `{"k":1}`}}}, {Role: llm.Result, CallID: "a"},
		}}, RawTools: raw},
		{ModelRequest: llm.ModelRequest{Messages: user("ab")}},
		{ModelRequest: llm.ModelRequest{Messages: user("a")}, Stream: true, Usage: true},
	}
	for i, want := range want {
		got, err := decodeRequest([]byte(bodies[i]))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(wireRequest{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", bodies[i], diff)
		}
	}
	if _, err := decodeRequest([]byte(bodies[5])); err == nil {
		t.Error("a body that is cut off is read")
	}
}
