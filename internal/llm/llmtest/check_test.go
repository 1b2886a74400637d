package llmtest

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// Valid transcripts pass, and invalid ones report their first fault.
func TestCheckFindsTheFirstFaultOfATranscript(t *testing.T) {
	sys := llm.TranscriptMessage{Role: llm.System, Text: "You are Ada."}
	user := llm.TranscriptMessage{Role: llm.User, Text: "hello"}
	says := llm.TranscriptMessage{Role: llm.Assistant, Text: "hm"}
	does := func(ids ...string) llm.TranscriptMessage {
		m := llm.TranscriptMessage{Role: llm.Assistant}
		for _, id := range ids {
			m.Calls = append(m.Calls, llm.ToolCall{ID: id, Name: "send_message", Args: ` {"text":"x"}`})
		}
		return m
	}
	done := func(id string) llm.TranscriptMessage { return llm.TranscriptMessage{Role: llm.Result, CallID: id} }
	with := func(change func(*llm.ToolCall)) []llm.TranscriptMessage {
		m := does("a")
		change(&m.Calls[0])
		return []llm.TranscriptMessage{user, m, done("a")}
	}
	tools := []llm.ToolSpec{{Name: "send_message", Schema: []byte(`{"type":"object"}`)}}
	tests := []struct {
		name     string
		messages []llm.TranscriptMessage
		tools    []llm.ToolSpec
		want     string // in the error; "" means none
	}{
		{"plain", []llm.TranscriptMessage{sys, user}, tools, ""},
		{"two system messages", []llm.TranscriptMessage{sys, sys, user, user, says, says}, tools, ""},
		{"calls and results", []llm.TranscriptMessage{sys, user, does("a", "b"), done("b"), done("a"), does("c"), done("c"), says, user}, tools, ""},
		{"a call of a tool that is gone", []llm.TranscriptMessage{user, does("a"), done("a")}, []llm.ToolSpec{{Name: "other"}}, ""},
		{"nothing", nil, tools, "none of them speaks"},
		{"only a system message", []llm.TranscriptMessage{sys}, tools, "none of them speaks"},
		{"a late system message", []llm.TranscriptMessage{user, sys}, tools, "come first"},
		{"an empty assistant", []llm.TranscriptMessage{user, {Role: llm.Assistant}}, tools, "message 1 (assistant): it is empty"},
		{"an empty user", []llm.TranscriptMessage{{Role: llm.User}}, tools, "it is empty"},
		{"an unknown role", []llm.TranscriptMessage{{Role: "developer", Text: "x"}}, tools, "role is illegal"},
		{"a call without a result at the end", []llm.TranscriptMessage{user, does("a")}, tools, "ends with 1 calls"},
		{"a call without a result before a user", []llm.TranscriptMessage{user, does("a", "b"), done("a"), user}, tools, "1 calls before it have no result"},
		{"a call without a result before the assistant", []llm.TranscriptMessage{user, does("a"), says}, tools, "1 calls before it have no result"},
		{"two results", []llm.TranscriptMessage{user, does("a"), done("a"), done("a")}, tools, "answered already"},
		{"a result of nothing", []llm.TranscriptMessage{user, done("z")}, tools, "unknown"},
		{"a result of long ago", []llm.TranscriptMessage{user, does("a"), done("a"), says, done("a")}, tools, "answered already"},
		{"an id used again", []llm.TranscriptMessage{user, does("a"), done("a"), does("a"), done("a")}, tools, "taken"},
		{"an id used twice", []llm.TranscriptMessage{user, does("a", "a"), done("a")}, tools, "taken"},
		{"no id", with(func(c *llm.ToolCall) { c.ID = "" }), tools, "empty or taken"},
		{"no name", with(func(c *llm.ToolCall) { c.Name = "" }), tools, "illegal"},
		{"a name of words", with(func(c *llm.ToolCall) { c.Name = "send message" }), tools, "illegal"},
		{"a name that is too long", with(func(c *llm.ToolCall) { c.Name = strings.Repeat("x", 65) }), tools, "illegal"},
		{"no arguments", with(func(c *llm.ToolCall) { c.Args = "" }), tools, "no JSON object"},
		{"arguments in a list", with(func(c *llm.ToolCall) { c.Args = "[]" }), tools, "no JSON object"},
		{"arguments null", with(func(c *llm.ToolCall) { c.Args = "null" }), tools, "no JSON object"},
		{"arguments cut off", with(func(c *llm.ToolCall) { c.Args = `{"text":` }), tools, "no JSON object"},
		{"arguments twice", with(func(c *llm.ToolCall) { c.Args = `{}{}` }), tools, "no JSON object"},
		{"a user that calls", []llm.TranscriptMessage{{Role: llm.User, Text: "x", Calls: does("a").Calls}}, tools, "only the assistant"},
		{"a user that answers", []llm.TranscriptMessage{{Role: llm.User, Text: "x", CallID: "a"}}, tools, "only a result"},
		{"a tool twice", []llm.TranscriptMessage{user}, append(tools[:1:1], tools...), "taken"},
		{"a tool without a schema's form", []llm.TranscriptMessage{user}, []llm.ToolSpec{{Name: "x", Schema: []byte(`true`)}}, "no JSON object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Check(tt.messages, tt.tools)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("error = %v, want none", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error = %v, want … %s …", err, tt.want)
			}
		})
	}
}
