package llmtest

import (
	"encoding/json"
	"strings"
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

// The fast reader may decline, but what it reads is what encoding/json reads.
func FuzzDecode(f *testing.F) {
	for _, b := range bodies {
		f.Add([]byte(b))
	}
	var known transcriptCache
	f.Fuzz(func(t *testing.T, body []byte) {
		first, _ := decodePlain(body, &known)
		got, ok := decodePlain(body, &known)
		if diff := cmp.Diff(first, got, cmpopts.IgnoreUnexported(wireRequest{})); ok && diff != "" {
			t.Errorf("%s, when its messages are known (-before +after):\n%s", body, diff)
		}
		if !ok || !json.Valid(body) || repeatsKey(body) {
			return
		}
		want, err := decodeAny(body, new(transcriptCache))
		if err != nil {
			return
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(wireRequest{})); diff != "" {
			t.Errorf("%s (-json +fast):\n%s", body, diff)
		}
	})
}

// repeatsKey reports whether some known member may come twice or in another case,
// or a text is not UTF-8: there the two readers differ, and may.
func repeatsKey(body []byte) bool {
	if !json.Valid(body) || strings.ToValidUTF8(string(body), "") != string(body) || strings.Contains(string(body), "null") {
		return true
	}
	low := strings.ToLower(string(body))
	for _, key := range []string{
		"model", "messages", "tools", "tool_choice", "max_tokens", "max_completion_tokens", "prompt_cache_key",
		"stream", "stream_options", "include_usage", "role", "content", "tool_call_id", "tool_calls", "id", "function", "name", "arguments",
	} {
		if n := strings.Count(low, `"`+key+`"`); n > 1 || n != strings.Count(string(body), `"`+key+`"`) {
			return true
		}
	}
	return false
}

func TestRequestsAreReadInEveryForm(t *testing.T) {
	user := func(text string) []llm.Message { return []llm.Message{{Role: llm.User, Text: text}} }
	raw := json.RawMessage(`[{"type":"function","function":{"name":"x","parameters":{"a":[1,2]}}}]`)
	want := []struct {
		fast bool
		w    wireRequest
	}{
		{true, wireRequest{Request: llm.Request{Model: "m", Messages: user("a\n\"b\" \\ < ❤ 😀 /")}, Stream: true, Usage: true}},
		{true, wireRequest{Request: llm.Request{Model: "m", MaxOutput: 7}, RawTools: json.RawMessage("null")}},
		{true, wireRequest{Request: llm.Request{Model: "m", NoCalls: true, MaxOutput: 9, CacheKey: "k", Messages: []llm.Message{
			{Role: llm.Assistant, Calls: []llm.Call{{ID: "a", Name: "x", Args: `{"k":1}`}}}, {Role: llm.Result, CallID: "a"},
		}}, RawTools: raw}},
		{false, wireRequest{Request: llm.Request{Messages: user("ab")}}},
		{false, wireRequest{Request: llm.Request{Messages: user("a")}, Stream: true, Usage: true}},
	}
	var known transcriptCache
	for i, want := range want {
		if _, fast := decodePlain([]byte(bodies[i]), &known); fast != want.fast {
			t.Errorf("%s is read fast: %t", bodies[i], fast)
		}
		got, err := decode([]byte(bodies[i]), &known)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.w, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(wireRequest{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", bodies[i], diff)
		}
	}
	if _, err := decode([]byte(bodies[5]), &known); err == nil {
		t.Error("a body that is cut off is read")
	}
}

// A transcript comes back longer each time, or ends otherwise than before: what is
// known of it says the same.
func TestTranscriptsAreRememberedAsTheyAreWritten(t *testing.T) {
	var known transcriptCache
	read := func(messages ...string) string {
		w, ok := decodePlain([]byte(`{"messages":[`+strings.Join(messages, " , ")+`]}`), &known)
		if !ok {
			return "nothing"
		}
		var all []string
		for _, m := range w.Messages {
			all = append(all, m.Text)
		}
		return strings.Join(all, "|")
	}
	said := func(text string) string { return `{"role":"user","content":"` + text + `"}` }
	for range 2 {
		for _, tt := range []struct {
			want     string
			messages []string
		}{
			{"a", []string{said("a")}},
			{"a|b", []string{said("a"), said("b")}},
			{"a|c\n\"", []string{said("a"), said(`c\n\"`)}},
			{"a|b|c", []string{said("a"), said("b"), said("c")}},
			{"b|b|é\\n", []string{said("b"), said("b"), said(`\u00e9\\n`)}},
			{"nothing", []string{said("a"), said(`\q`)}},
			{"nothing", []string{said("a"), strings.TrimSuffix(said("b"), "}")}},
			{"a", []string{said("a")}},
		} {
			if got := read(tt.messages...); got != tt.want {
				t.Errorf("%q is read as %q, want %q", tt.messages, got, tt.want)
			}
		}
	}
	if len(known.known) != 7 {
		t.Errorf("%d messages are remembered", len(known.known))
	}
	known.bytes = mostTranscripts + 1
	if got := read(said("a"), said("d")); got != "a|d" || len(known.known) != 1 {
		t.Errorf("%q is read when what is known is too much, and %d messages are kept", got, len(known.known))
	}
	if got := read(said("a"), said("b")); got != "a|b" || len(known.known) != 3 {
		t.Errorf("%q is read after all was forgotten, and %d messages are kept", got, len(known.known))
	}
}
