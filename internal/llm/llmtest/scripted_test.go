package llmtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

func thinking(r llm.ModelRequest) bool { return r.NoCalls }

func TestScriptIsFollowedByOrderAndByMatch(t *testing.T) {
	s := NewScripted(t.Errorf, Says("one"), ScriptStep{When: thinking, Always: true, Response: llm.ModelResponse{Text: "hm"}}, Fails(llm.Limited))
	s.Add(Calls(Call("a", "react", map[string]string{"emoji": "👋"})))
	var got []string
	for _, noCalls := range []bool{false, true, false, true, false} {
		r, err := s.Generate(t.Context(), llm.ModelRequest{NoCalls: noCalls, Messages: []llm.TranscriptMessage{{Role: llm.User, Text: "x"}}})
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

func TestExhaustedScriptFailsTheTest(t *testing.T) {
	var said string
	s := NewScripted(func(format string, args ...any) { said = fmt.Sprintf(format, args...) })
	_, err := s.Generate(t.Context(), llm.ModelRequest{Messages: []llm.TranscriptMessage{{Role: llm.User, Text: "are you there?"}}})
	if _, ok := errors.AsType[*llm.Error](err); !ok || !strings.Contains(said, "request 1") || !strings.Contains(said, "are you there?") {
		t.Errorf("error %v, said %q", err, said)
	}
	defer func() {
		if recover() == nil {
			t.Error("without Fail it is silent")
		}
	}()
	_, _ = new(ScriptedModel).Generate(t.Context(), llm.ModelRequest{})
}

func TestRecordedRequestsDoNotChangeLater(t *testing.T) {
	s := NewScripted(t.Errorf, Says("x"))
	r := llm.ModelRequest{
		Messages: []llm.TranscriptMessage{{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a"}}}},
		Tools:    []llm.ToolSpec{{Name: "t", Schema: []byte("{}")}},
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

func TestAScriptedAnswerIsHeardPieceByPiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := Calls(Call("a", "send_message", map[string]string{"text": "one two three four five six seven eight nine"}))
		step.Gap = time.Second
		s := NewScripted(t.Errorf, step)
		var heard []string
		began := time.Now()
		got, err := s.Generate(t.Context(), llm.ModelRequest{Hear: func(r llm.ModelResponse) { heard = append(heard, r.Calls[0].Args) }})
		if err != nil {
			t.Fatal(err)
		}
		whole := got.Calls[0].Args
		if len(heard) != 3 || heard[2] != whole || !strings.HasPrefix(whole, heard[0]) || time.Since(began) != 3*time.Second {
			t.Errorf("heard %q of %q within %s", heard, whole, time.Since(began))
		}
	})
}

func TestAPiecemealAnswerEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := Says("one two three four five")
		step.Gap = time.Minute
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := NewScripted(t.Errorf, step).Generate(ctx, llm.ModelRequest{}); llm.KindOf(err) != llm.Timeout {
			t.Errorf("error %v, want a timeout", err)
		}
	})
}
