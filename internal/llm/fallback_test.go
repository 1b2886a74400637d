package llm_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// standby is a model whose answers a test sets.
type standby struct {
	err    error         // of every call; nil: it answers
	hangs  bool          // a call ends with its context
	first  time.Duration // until an answer begins
	window int           // learned
	told   int           // the window that the endpoint tells
	asked  int
}

func (s *standby) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	s.asked++
	if s.hangs {
		<-ctx.Done()
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	select {
	case <-time.After(s.first):
	case <-ctx.Done():
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	if s.err != nil {
		return llm.ModelResponse{}, s.err
	}
	if s.window > 0 && r.Tokens+r.MaxOutput > s.window {
		return llm.ModelResponse{}, &llm.Error{Kind: llm.TooLong, Window: s.window}
	}
	return llm.ModelResponse{Text: r.Model}, nil
}

func (s *standby) Capability(string) llm.ModelCapability {
	return llm.ModelCapability{Window: s.window, Told: llm.ModelFacts{Window: s.told}}
}

// answered returns the name of the model that answers a request of that many tokens.
func answered(t interface {
	Helper()
	Context() context.Context
}, m llm.ChatModel, tokens int,
) (string, error) {
	t.Helper()
	resp, err := m.Generate(t.Context(), llm.ModelRequest{Model: "big", Tokens: tokens})
	return resp.Text, err
}

func mustAnswer(t *testing.T, m llm.ChatModel, tokens int, want string) {
	t.Helper()
	if got, err := answered(t, m, tokens); got != want || err != nil {
		t.Errorf("%q answered (%v), want %s", got, err, want)
	}
}

func TestFallbackAnswersByKindOfFailure(t *testing.T) {
	for kind := llm.Unavailable; kind <= llm.TooLong; kind++ {
		t.Run(kind.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				big, small := &standby{err: &llm.Error{Kind: kind}}, &standby{}
				m := llm.NewFallback(llm.FallbackChoice{Model: big, Name: "big"}, llm.FallbackChoice{Model: small, Name: "small"})
				resp, err := m.Generate(t.Context(), llm.ModelRequest{Model: "big"})
				if kind == llm.Rejected {
					if small.asked > 0 || llm.KindOf(err) != llm.Rejected {
						t.Errorf("a rejected request went on: %v", err)
					}
					return
				}
				if err != nil || resp.Model != "small" || resp.Text != "small" {
					t.Fatalf("answer %+v, %v", resp, err)
				}
				name, cause := m.StandIn()
				if kind == llm.TooLong {
					if name != "" || cause != nil {
						t.Errorf("a request that was too long made %s the model of all", name)
					}
					return
				}
				if name != "small" || llm.KindOf(cause) != kind {
					t.Errorf("stand-in is %q, %v", name, cause)
				}
				mustAnswer(t, m, 0, "small")
				if big.asked != 1 {
					t.Errorf("the first model was asked %d times before its wait was over", big.asked)
				}
				big.err = nil
				<-time.After(30 * time.Second)
				mustAnswer(t, m, 0, "big")
				if name, cause := m.StandIn(); name != "" || cause != nil {
					t.Errorf("stand-in is still %q, %v", name, cause)
				}
			})
		})
	}
}

func TestFallbackWaitsGrowToABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := &standby{err: &llm.Error{Kind: llm.Unavailable}}
		m := llm.NewFallback(llm.FallbackChoice{Model: big, Name: "big"}, llm.FallbackChoice{Model: &standby{}, Name: "small"})
		var at []time.Duration
		began := time.Now()
		for range 3 * 60 * 60 {
			before := big.asked
			mustAnswer(t, m, 0, "small")
			if big.asked > before {
				at = append(at, time.Since(began))
			}
			<-time.After(time.Second)
		}
		var gaps []time.Duration
		for i := 1; i < len(at); i++ {
			gaps = append(gaps, at[i]-at[i-1])
		}
		want := []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute}
		if len(gaps) < 10 || !slices.Equal(gaps[:6], want) || slices.Max(gaps) != 10*time.Minute {
			t.Errorf("it was asked again after %v", gaps)
		}
	})
}

func TestFallbackLeavesAModelThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := &standby{first: 40 * time.Second}
		m := llm.NewFallback(llm.FallbackChoice{Model: big, Name: "big"}, llm.FallbackChoice{Model: &standby{}, Name: "small"})
		for _, slow := range []time.Duration{0, 40 * time.Second} { // three times 40 s is its patience then
			want := max(time.Minute, 3*slow)
			if slow > 0 {
				mustAnswer(t, m, 0, "big")
			}
			big.hangs = true
			began := time.Now()
			mustAnswer(t, m, 0, "small")
			if took := time.Since(began); took != want {
				t.Errorf("after an answer that began in %v it was left after %v, want %v", slow, took, want)
			}
			if _, cause := m.StandIn(); llm.KindOf(cause) != llm.Timeout {
				t.Errorf("the cause is %v", cause)
			}
			big.hangs = false
			<-time.After(time.Hour)
		}
	})
}

func TestFallbackKeepsTheCallersEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		small := &standby{}
		m := llm.NewFallback(llm.FallbackChoice{Model: &standby{hangs: true}, Name: "big"}, llm.FallbackChoice{Model: small, Name: "small"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := m.Generate(ctx, llm.ModelRequest{Model: "big"})
		if name, cause := m.StandIn(); err == nil || small.asked > 0 || name != "" || cause != nil {
			t.Errorf("a request whose caller gave up counted: %v, %q, %v", err, name, cause)
		}
	})
}

func TestFallbackHasAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big, small := &standby{window: 8000}, &standby{}
		m := llm.NewFallback(llm.FallbackChoice{Model: big, Name: "big"}, llm.FallbackChoice{Model: small, Name: "small", Window: 4000})
		if _, err := answered(t, m, 9000); llm.KindOf(err) != llm.TooLong || m.Capability("big").Window != 8000 {
			t.Errorf("%v with a window of %d", err, m.Capability("big").Window)
		}
		if small.asked > 0 {
			t.Error("a model with a smaller window was asked")
		}
		big.err = &llm.Error{Kind: llm.Denied}
		if _, err := answered(t, m, 5000); llm.KindOf(err) != llm.TooLong || m.Capability("big").Window != 4000 {
			t.Errorf("%v with a window of %d", err, m.Capability("big").Window)
		}
		mustAnswer(t, m, 4000, "small")
		small.err = &llm.Error{Kind: llm.Unavailable}
		if _, err := answered(t, m, 4000); llm.KindOf(err) != llm.Unavailable {
			t.Errorf("all are down, and the error is %v", err)
		}
		if _, err := answered(t, m, 5000); llm.KindOf(err) != llm.Denied {
			t.Errorf("all are down, one is too small, and the error is %v", err)
		}
	})
}

// A request goes past a choice whose endpoint tells of a smaller window.
func TestFallbackUsesTheWindowThatIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &standby{told: 4000}, &standby{told: 8000}
		m := llm.NewFallback(llm.FallbackChoice{Model: first, Name: "big"}, llm.FallbackChoice{Model: second, Name: "small"})
		mustAnswer(t, m, 6000, "small")
		mustAnswer(t, m, 3000, "big")
		if first.asked != 1 {
			t.Errorf("the first model was asked %d times", first.asked)
		}
	})
}

// A request is answered whenever a choice that was well could answer it, and the first
// choice answers again at the latest ten minutes after it is well.
func TestFallbackAlwaysFindsWhoIsWell(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(-1, int(llm.Garbled)), 3, 3), 1, 30).Draw(rt, "failures")
		gaps := rapid.SliceOfN(rapid.IntRange(0, 900), len(plan), len(plan)).Draw(rt, "seconds")
		synctest.Test(t, func(t *testing.T) {
			names := []string{"big", "mid", "small"}
			var models [3]standby
			var choices []llm.FallbackChoice
			for i := range models {
				choices = append(choices, llm.FallbackChoice{Model: &models[i], Name: names[i]})
			}
			m := llm.NewFallback(choices...)
			var well time.Time // since when the first is
			for n, kinds := range plan {
				for i, k := range kinds {
					if models[i].err = nil; k >= 0 {
						models[i].err = &llm.Error{Kind: llm.ErrorKind(k), Err: fmt.Errorf("%s %d", names[i], n)}
					}
				}
				switch {
				case models[0].err != nil:
					well = time.Time{}
				case well.IsZero():
					well = time.Now()
				}
				got, err := answered(t, m, 0)
				if kinds[0] < 0 && !well.IsZero() && time.Since(well) > 10*time.Minute && got != "big" {
					t.Errorf("step %d: %q answered %v after the first was well", n, got, time.Since(well))
				}
				if i := slices.Index(names, got); err == nil && kinds[i] >= 0 {
					t.Errorf("step %d: %s answered, which fails", n, got)
				}
				if err != nil {
					<-time.After(11 * time.Minute) // every wait is over
					if _, err := answered(t, m, 0); err != nil && slices.Min(kinds) < 0 {
						t.Errorf("step %d: %v", n, err)
					}
				}
				<-time.After(time.Duration(gaps[n]) * time.Second)
			}
		})
	})
}
