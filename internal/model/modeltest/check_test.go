package modeltest

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/model"
)

// I16: the transcripts that any endpoint takes, and the first fault of the others.
func TestTranscriptsAreJudged(t *testing.T) {
	sys := model.Message{Role: model.System, Text: "You are Ada."}
	user := model.Message{Role: model.User, Text: "hello"}
	says := model.Message{Role: model.Assistant, Text: "hm"}
	does := func(ids ...string) model.Message {
		m := model.Message{Role: model.Assistant}
		for _, id := range ids {
			m.Calls = append(m.Calls, model.Call{ID: id, Name: "send_message", Args: ` {"text":"x"}`})
		}
		return m
	}
	done := func(id string) model.Message { return model.Message{Role: model.Result, CallID: id} }
	with := func(change func(*model.Call)) []model.Message {
		m := does("a")
		change(&m.Calls[0])
		return []model.Message{user, m, done("a")}
	}
	tools := []model.Tool{{Name: "send_message", Schema: []byte(`{"type":"object"}`)}}
	tests := []struct {
		name     string
		messages []model.Message
		tools    []model.Tool
		want     string // in the error; "" means none
	}{
		{"plain", []model.Message{sys, user}, tools, ""},
		{"two system messages", []model.Message{sys, sys, user, user, says, says}, tools, ""},
		{"calls and results", []model.Message{sys, user, does("a", "b"), done("b"), done("a"), does("c"), done("c"), says, user}, tools, ""},
		{"a call of a tool that is gone", []model.Message{user, does("a"), done("a")}, []model.Tool{{Name: "other"}}, ""},
		{"nothing", nil, tools, "none of them speaks"},
		{"only a system message", []model.Message{sys}, tools, "none of them speaks"},
		{"a late system message", []model.Message{user, sys}, tools, "come first"},
		{"an empty assistant", []model.Message{user, {Role: model.Assistant}}, tools, "message 1 (assistant): it is empty"},
		{"an empty user", []model.Message{{Role: model.User}}, tools, "it is empty"},
		{"an unknown role", []model.Message{{Role: "developer", Text: "x"}}, tools, "role is illegal"},
		{"a call without a result at the end", []model.Message{user, does("a")}, tools, "ends with 1 calls"},
		{"a call without a result before a user", []model.Message{user, does("a", "b"), done("a"), user}, tools, "1 calls before it have no result"},
		{"a call without a result before the assistant", []model.Message{user, does("a"), says}, tools, "1 calls before it have no result"},
		{"two results", []model.Message{user, does("a"), done("a"), done("a")}, tools, "answered already"},
		{"a result of nothing", []model.Message{user, done("z")}, tools, "unknown"},
		{"a result of long ago", []model.Message{user, does("a"), done("a"), says, done("a")}, tools, "answered already"},
		{"an id used again", []model.Message{user, does("a"), done("a"), does("a"), done("a")}, tools, "taken"},
		{"an id used twice", []model.Message{user, does("a", "a"), done("a")}, tools, "taken"},
		{"no id", with(func(c *model.Call) { c.ID = "" }), tools, "empty or taken"},
		{"no name", with(func(c *model.Call) { c.Name = "" }), tools, "illegal"},
		{"a name of words", with(func(c *model.Call) { c.Name = "send message" }), tools, "illegal"},
		{"a name that is too long", with(func(c *model.Call) { c.Name = strings.Repeat("x", 65) }), tools, "illegal"},
		{"no arguments", with(func(c *model.Call) { c.Args = "" }), tools, "no JSON object"},
		{"arguments in a list", with(func(c *model.Call) { c.Args = "[]" }), tools, "no JSON object"},
		{"arguments null", with(func(c *model.Call) { c.Args = "null" }), tools, "no JSON object"},
		{"arguments cut off", with(func(c *model.Call) { c.Args = `{"text":` }), tools, "no JSON object"},
		{"arguments twice", with(func(c *model.Call) { c.Args = `{}{}` }), tools, "no JSON object"},
		{"a user that calls", []model.Message{{Role: model.User, Text: "x", Calls: does("a").Calls}}, tools, "only the assistant"},
		{"a user that answers", []model.Message{{Role: model.User, Text: "x", CallID: "a"}}, tools, "only a result"},
		{"a tool twice", []model.Message{user}, append(tools[:1:1], tools...), "taken"},
		{"a tool without a schema's form", []model.Message{user}, []model.Tool{{Name: "x", Schema: []byte(`true`)}}, "no JSON object"},
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
