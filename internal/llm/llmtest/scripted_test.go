package llmtest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
)

func thinking(r llm.Request) bool { return r.NoCalls }

func TestScriptIsFollowedByOrderAndByMatch(t *testing.T) {
	s := NewScripted(t.Errorf, Says("one"), ScriptStep{When: thinking, Always: true, Response: llm.Response{Text: "hm"}}, Fails(llm.Limited))
	s.Add(Calls(Call("a", "react", map[string]string{"emoji": "👋"})))
	var got []string
	for _, noCalls := range []bool{false, true, false, true, false} {
		r, err := s.Generate(t.Context(), llm.Request{NoCalls: noCalls, Messages: []llm.Message{{Role: llm.User, Text: "x"}}})
		if err != nil {
			got = append(got, llm.KindOf(err).String())
			continue
		}
		if r.Finish == "" || r.Usage.Prompt == 0 || !r.Usage.Estimated {
			t.Errorf("answer %+v is not complete", r)
		}
		got = append(got, fmt.Sprint(r.Text, r.Finish))
	}
	if want := "[onestop hmstop limited hmstop tool_calls]"; fmt.Sprint(got) != want {
		t.Errorf("answers %v, want %s", got, want)
	}
	if s.Left() != 0 || len(s.Requests()) != 5 || !s.Requests()[1].NoCalls {
		t.Errorf("left %d, requests %+v", s.Left(), s.Requests())
	}
}

func TestExhaustedScriptIsLoud(t *testing.T) {
	var said string
	s := NewScripted(func(format string, args ...any) { said = fmt.Sprintf(format, args...) })
	_, err := s.Generate(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "are you there?"}}})
	if _, ok := errors.AsType[*llm.Error](err); !ok || !strings.Contains(said, "request 1") || !strings.Contains(said, "are you there?") {
		t.Errorf("error %v, said %q", err, said)
	}
	defer func() {
		if recover() == nil {
			t.Error("without Fail it is silent")
		}
	}()
	_, _ = new(Scripted).Generate(t.Context(), llm.Request{})
}

func TestRecordedRequestsDoNotChangeLater(t *testing.T) {
	s := NewScripted(t.Errorf, Says("x"))
	r := llm.Request{
		Messages: []llm.Message{{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a"}}}},
		Tools:    []llm.Tool{{Name: "t", Schema: []byte("{}")}},
	}
	if _, err := s.Generate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.Messages[0].Calls[0].ID, r.Tools[0].Schema[0], r.Messages[0].Role = "b", '[', llm.User
	got := s.Requests()[0]
	if got.Messages[0].Calls[0].ID != "a" || string(got.Tools[0].Schema) != "{}" || got.Messages[0].Role != llm.Assistant {
		t.Errorf("the record changed: %+v", got)
	}
}
