package modeltest

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trestle-bridge/trestle/internal/model"
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
	var texts textCache
	f.Fuzz(func(t *testing.T, body []byte) {
		first, _ := decodePlain(body, &texts)
		got, ok := decodePlain(body, &texts)
		if diff := cmp.Diff(first, got); ok && diff != "" {
			t.Errorf("%s, when its texts are known (-before +after):\n%s", body, diff)
		}
		if !ok || !json.Valid(body) || repeatsKey(body) {
			return
		}
		want, err := decodeAny(body)
		if err != nil {
			return
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
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
	user := func(text string) []model.Message { return []model.Message{{Role: model.User, Text: text}} }
	raw := json.RawMessage(`[{"type":"function","function":{"name":"x","parameters":{"a":[1,2]}}}]`)
	want := []struct {
		fast bool
		w    wireRequest
	}{
		{true, wireRequest{Request: model.Request{Model: "m", Messages: user("a\n\"b\" \\ < ❤ 😀 /")}, Stream: true, Usage: true}},
		{true, wireRequest{Request: model.Request{Model: "m", MaxOutput: 7}, RawTools: json.RawMessage("null")}},
		{true, wireRequest{Request: model.Request{Model: "m", NoCalls: true, MaxOutput: 9, CacheKey: "k", Messages: []model.Message{
			{Role: model.Assistant, Calls: []model.Call{{ID: "a", Name: "x", Args: `{"k":1}`}}}, {Role: model.Result, CallID: "a"},
		}}, RawTools: raw}},
		{false, wireRequest{Request: model.Request{Messages: user("ab")}}},
		{false, wireRequest{Request: model.Request{Messages: user("a")}, Stream: true, Usage: true}},
	}
	var texts textCache
	for i, want := range want {
		if _, fast := decodePlain([]byte(bodies[i]), &texts); fast != want.fast {
			t.Errorf("%s is read fast: %t", bodies[i], fast)
		}
		got, err := decode([]byte(bodies[i]), &texts)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.w, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", bodies[i], diff)
		}
	}
	if _, err := decode([]byte(bodies[5]), &texts); err == nil {
		t.Error("a body that is cut off is read")
	}
}

// A transcript comes back longer each time: what is known of it says the same.
func TestTextsAreRememberedAsTheyAreWritten(t *testing.T) {
	var texts textCache
	long := strings.Repeat("words ", 20)
	for range 2 {
		for written, want := range map[string]string{long: long, long + `\n\"`: long + "\n\"", long + `\u00e9`: long + "é", long + `\\n`: long + `\n`} {
			w, ok := decodePlain([]byte(`{"messages":[{"role":"user","content":"`+written+`"}]}`), &texts)
			if !ok || w.Messages[0].Text != want {
				t.Errorf("%q is read as %+v", written, w.Messages)
			}
		}
		if _, ok := decodePlain([]byte(`{"messages":[{"role":"user","content":"`+long+`\q"}]}`), &texts); ok {
			t.Error("an escape that there is not was read")
		}
	}
	if texts.bytes == 0 || len(texts.young) != 4 {
		t.Errorf("%d texts are remembered", len(texts.young))
	}
	for n := range mostText / 1000 {
		texts.keep([]byte(strconv.Itoa(n)), strings.Repeat("x", 1500))
	}
	if texts.bytes > mostText+2000 || len(texts.old) == 0 {
		t.Errorf("%d bytes are remembered", texts.bytes)
	}
}
