package openai

import (
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// DELIVERY K22, BLU-12: what is heard of an answer while it comes is always a
// beginning of it, and in the end all of it.
func TestAnAnswerIsHeardAsItComes(t *testing.T) {
	for name, srv := range map[string]*llmtest.Server{
		"in halves": {},
		"piecemeal": {Gap: time.Microsecond},
		"whole": {Fault: func(int, llm.Request) llmtest.EndpointFault {
			return llmtest.EndpointFault{Kind: llmtest.PlainJSON}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			srv.Model = llmtest.NewScripted(t.Errorf, llmtest.ScriptStep{Response: goodAnswer})
			c := newClient(t, srv, Options{})
			var heard []llm.Response
			r := hello
			r.Hear = func(soFar llm.Response) { heard = append(heard, soFar) }
			got, err := c.Generate(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range heard {
				if !begins(got, h) {
					t.Errorf("heard %+v of %+v", h, got)
				}
			}
			if n := len(heard); n == 0 || !begins(heard[n-1], got) {
				t.Errorf("after %d pieces not all was heard", n)
			}
		})
	}
}

// begins reports whether so far is a beginning of whole.
func begins(whole, soFar llm.Response) bool {
	if !strings.HasPrefix(whole.Text, soFar.Text) || len(soFar.Calls) > len(whole.Calls) {
		return false
	}
	for i, c := range soFar.Calls {
		if c.ID != whole.Calls[i].ID || c.Name != whole.Calls[i].Name || !strings.HasPrefix(whole.Calls[i].Args, c.Args) {
			return false
		}
	}
	return true
}

// A failed attempt was heard for nothing: the next begins from the first word.
func TestWhatIsHeardBeginsAnewWithEachAttempt(t *testing.T) {
	srv := &llmtest.Server{
		Model: llmtest.NewScripted(t.Errorf, llmtest.ScriptStep{Response: goodAnswer, Always: true}),
		Fault: func(n int, _ llm.Request) llmtest.EndpointFault {
			if n == 1 {
				return llmtest.EndpointFault{Kind: llmtest.CutQuietly}
			}
			return llmtest.EndpointFault{}
		},
	}
	m := &llm.RetryingModel{Model: newClient(t, srv, Options{}), FirstWait: time.Millisecond}
	shorter := 0
	var last llm.Response
	r := hello
	r.Hear = func(soFar llm.Response) {
		if !begins(soFar, last) {
			shorter++
		}
		last = soFar
	}
	if got, err := m.Generate(t.Context(), r); err != nil || shorter != 1 || !begins(last, got) {
		t.Errorf("began anew %d times, want once; heard %+v in the end (%v)", shorter, last, err)
	}
}

// Calls that a request forbids are not heard either.
func TestForbiddenCallsAreNotHeard(t *testing.T) {
	c := canned(t, 200, nil, stream(calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), called))
	r := hello
	r.NoCalls = true
	r.Hear = func(soFar llm.Response) {
		if len(soFar.Calls) > 0 {
			t.Errorf("heard %+v", soFar.Calls)
		}
	}
	if _, err := c.Generate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}
