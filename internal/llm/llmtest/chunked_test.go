package llmtest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

func TestAScriptedAnswerIsHeardPieceByPiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := Calls(Call("a", "send_message", map[string]string{"text": "one two three four five six seven eight nine"}))
		step.Gap = time.Second
		s := NewScripted(t.Errorf, step)
		var heard []string
		began := time.Now()
		got, err := s.Generate(t.Context(), llm.Request{Hear: func(r llm.Response) { heard = append(heard, r.Calls[0].Args) }})
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
		if _, err := NewScripted(t.Errorf, step).Generate(ctx, llm.Request{}); llm.KindOf(err) != llm.Timeout {
			t.Errorf("error %v, want a timeout", err)
		}
	})
}
