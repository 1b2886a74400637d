package llm

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// stub is a model whose nth call, from 1, has the outcome that it returns.
type stub struct {
	calls int
	do    func(n int) error
}

func (s *stub) Generate(context.Context, ModelRequest) (ModelResponse, error) {
	s.calls++
	if err := s.do(s.calls); err != nil {
		return ModelResponse{}, err
	}
	return ModelResponse{Text: "hello"}, nil
}

func always(e *Error) func(int) error { return func(int) error { return e } }

func TestEveryKindIsRetriedOrNot(t *testing.T) {
	for kind := Unavailable; kind <= TooLong; kind++ {
		synctest.Test(t, func(t *testing.T) {
			want := &Error{Kind: kind, Status: 400}
			s := &stub{do: always(want)}
			_, err := (&RetryingModel{Model: s}).Generate(t.Context(), ModelRequest{})
			if got, ok := errors.AsType[*Error](err); !ok || got != want {
				t.Errorf("%s: error = %v, want the model's own", kind, err)
			}
			if asked := map[bool]int{true: 3, false: 1}[kind.Retryable() && kind != Timeout]; s.calls != asked {
				t.Errorf("%s: asked %d times, want %d", kind, s.calls, asked)
			}
		})
	}
}

// A call that did not begin in time is made once more, however long that time is; one
// that fell silent later is not.
func TestHungCallIsMadeOnceMore(t *testing.T) {
	for hung, want := range map[bool]int{true: 2, false: 1} {
		synctest.Test(t, func(t *testing.T) {
			s := &stub{do: func(int) error {
				<-time.After(7 * time.Minute)
				return &Error{Kind: Timeout, Hung: hung}
			}}
			if _, err := (&RetryingModel{Model: s}).Generate(t.Context(), ModelRequest{}); KindOf(err) != Timeout || s.calls != want {
				t.Errorf("hung %t: asked %d times, want %d (%v)", hung, s.calls, want, err)
			}
			s = &stub{do: func(n int) error {
				if n == 1 {
					return &Error{Kind: Timeout, Hung: hung}
				}
				return nil
			}}
			if _, err := (&RetryingModel{Model: s}).Generate(t.Context(), ModelRequest{}); (err == nil) != hung {
				t.Errorf("hung %t: %v", hung, err)
			}
		})
	}
}

func TestAnswerAfterFailuresIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stub{do: func(n int) error {
			if n < 3 {
				return &Error{Kind: Garbled}
			}
			return nil
		}}
		start := time.Now()
		got, err := (&RetryingModel{Model: s, FirstWait: 10 * time.Second}).Generate(t.Context(), ModelRequest{})
		if err != nil || got.Text != "hello" {
			t.Errorf("answer %+v, error %v", got, err)
		}
		if took := time.Since(start); took < 15*time.Second || took > 45*time.Second {
			t.Errorf("two waits of 10 and 20 s, give or take half, took %s", took)
		}
	})
}

// Retry-After of a 429 is honoured.
func TestRetryAfterIsHonouredToTheInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		start := time.Now()
		s := &stub{do: func(n int) error {
			at = append(at, time.Since(start))
			if n == 1 {
				return &Error{Kind: Limited, RetryAfter: 17 * time.Second}
			}
			return nil
		}}
		if _, err := (&RetryingModel{Model: s}).Generate(t.Context(), ModelRequest{}); err != nil {
			t.Fatal(err)
		}
		if len(at) != 2 || at[1] != 17*time.Second {
			t.Errorf("asked at %v, want 0 and 17s", at)
		}
	})
}

func TestLimitEndsTheAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stub{do: always(&Error{Kind: Limited, RetryAfter: time.Hour})}
		start := time.Now()
		_, err := (&RetryingModel{Model: s, Limit: time.Minute}).Generate(t.Context(), ModelRequest{})
		e, ok := errors.AsType[*Error](err)
		if !ok || e.RetryAfter != time.Hour || s.calls != 1 || time.Since(start) != 0 {
			t.Errorf("asked %d times in %s, error %v", s.calls, time.Since(start), err)
		}
	})
}

func TestCallerThatEndsInAWaitGetsItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stub{do: always(&Error{Kind: Limited, RetryAfter: time.Minute})}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := (&RetryingModel{Model: s}).Generate(ctx, ModelRequest{})
		if KindOf(err) != Timeout || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("error = %v after %s, want a timeout after 1s", err, time.Since(start))
		}
	})
}

// 401 and 403 pause the credential, longer each time.
func TestRefusedCredentialRestsLongerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stub{do: always(&Error{Kind: Denied, Status: 401})}
		m := &RetryingModel{Model: s}
		for i, pause := range []time.Duration{
			time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 15 * time.Minute,
		} {
			if _, err := m.Generate(t.Context(), ModelRequest{}); KindOf(err) != Denied || s.calls != i+1 {
				t.Fatalf("refusal %d: asked %d times, error %v", i+1, s.calls, err)
			}
			<-time.After(pause - time.Second)
			_, err := m.Generate(t.Context(), ModelRequest{})
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Kind != Denied || e.Status != 401 || e.RetryAfter != time.Second || s.calls != i+1 {
				t.Fatalf("pause %d: asked %d times, error %+v", i+1, s.calls, e)
			}
			<-time.After(time.Second)
		}
	})
}

func TestSuccessEndsTheGrowthOfPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := true
		s := &stub{do: func(int) error {
			if refuse {
				return &Error{Kind: Denied}
			}
			return nil
		}}
		m := &RetryingModel{Model: s}
		for _, refuse = range []bool{true, true, false, true} {
			if _, err := m.Generate(t.Context(), ModelRequest{}); (err != nil) != refuse {
				t.Fatal(err)
			}
			<-time.After(2 * time.Minute)
		}
		if _, err := m.Generate(t.Context(), ModelRequest{}); KindOf(err) != Denied || s.calls != 5 {
			t.Errorf("asked %d times, error %v: the pause after a success is not a minute", s.calls, err)
		}
	})
}

func TestRefusalsAtTheSameTimeAreOne(t *testing.T) {
	var p credentialPause
	start := time.Now()
	for range 50 {
		p.observe(start, &Error{Kind: Denied})
	}
	if p.length != firstPause {
		t.Errorf("50 refusals together pause for %s, want %s", p.length, firstPause)
	}
	p.observe(start, nil)
	if p.length != firstPause || p.check(start) == nil {
		t.Error("a call that began before the refusal ended the pause")
	}
}
