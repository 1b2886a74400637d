package llm_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// lateModel answers its nth call, from 1, after what it returns; a negative time is a
// call that hangs until its context ends or five minutes have passed.
type lateModel struct {
	asked atomic.Int64
	after func(n int64) time.Duration
}

func (m *lateModel) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	d := m.after(m.asked.Add(1))
	var err error
	if d < 0 {
		d, err = 5*time.Minute, &llm.Error{Kind: llm.Timeout, Hung: true}
	}
	select {
	case <-time.After(d):
		return llm.ModelResponse{Text: "hello"}, err
	case <-ctx.Done():
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
}

// A model is silent when its oldest call has no word for a minute, or for three times as
// long as its answers usually take to begin, and until a call is answered.
func TestModelIsSilentUntilACallIsAnswered(t *testing.T) {
	for _, test := range []struct {
		name          string
		usual, silent time.Duration
	}{
		{"quick", 2 * time.Second, time.Minute}, {"slow", 40 * time.Second, 2 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				late := &lateModel{after: func(n int64) time.Duration {
					if n == 11 || n == 12 {
						return -1
					}
					return test.usual
				}}
				m := &llm.RetryingModel{Model: late}
				ask := func() { _, _ = m.Generate(t.Context(), llm.ModelRequest{}) }
				for range 10 {
					ask()
				}
				began := time.Now()
				go ask()
				<-time.After(test.silent - time.Second)
				if since := m.SilentSince(time.Now()); !since.IsZero() {
					t.Errorf("silent since %s too early", since.Sub(began))
				}
				for _, wait := range []time.Duration{2 * time.Second, 4 * time.Minute, 10 * time.Minute} { // in both attempts, and after them
					<-time.After(wait)
					if since := m.SilentSince(time.Now()); !since.Equal(began) {
						t.Errorf("%s after the call began: silent since %s, want its beginning", time.Since(began), since)
					}
				}
				ask()
				if since := m.SilentSince(time.Now()); !since.IsZero() {
					t.Errorf("after an answer: silent since %s", since)
				}
			})
		})
	}
}

// drippingModel answers in pieces of a few bytes.
type drippingModel struct{ every time.Duration }

func (m drippingModel) Generate(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	for range 10 {
		<-time.After(m.every)
		r.Grew(4)
	}
	return llm.ModelResponse{Text: "hello"}, nil
}

// An answer that grows by less than a few words a minute is silent.
func TestDripIsSilence(t *testing.T) {
	for every, want := range map[time.Duration]bool{14 * time.Second: false, 16 * time.Second: true} {
		synctest.Test(t, func(t *testing.T) {
			m := &llm.RetryingModel{Model: drippingModel{every}}
			over, silent := make(chan struct{}), false
			go func() {
				defer close(over)
				_, _ = m.Generate(t.Context(), llm.ModelRequest{})
			}()
			for {
				select {
				case <-over:
					if silent != want {
						t.Errorf("a word every %s: silent %t, want %t", every, silent, want)
					}
					return
				case <-time.After(time.Second):
					silent = silent || !m.SilentSince(time.Now()).IsZero()
				}
			}
		})
	}
}

// A call that hangs is made anew, once, when a later one has been answered and it has
// been silent too long, and waits no longer for that. One whose answer has begun is not.
func TestCallsThatHangDoNotOutwaitAnOutage(t *testing.T) {
	for _, test := range []struct {
		name  string
		later time.Duration // after the call that hangs, another begins
		again int           // more calls that hang
		took  time.Duration
		calls int64
	}{
		{"the next answer comes after its patience", 2 * time.Minute, 0, 2*time.Minute + 4*time.Second, 3},
		{"the next answer comes before its patience", 10 * time.Second, 0, time.Minute + 2*time.Second, 3},
		{"no other call", time.Hour, 0, 5*time.Minute + 2*time.Second, 2},
		{"it hangs again", 2 * time.Minute, 1, 7*time.Minute + 2*time.Second, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				late := &lateModel{after: func(n int64) time.Duration {
					if n == 1 || n == 3 && test.again > 0 {
						return -1
					}
					return 2 * time.Second
				}}
				m := &llm.RetryingModel{Model: late}
				began := time.Now()
				over := make(chan struct{})
				go func() {
					defer close(over)
					_, err := m.Generate(t.Context(), llm.ModelRequest{})
					if (err == nil) != (test.again == 0) {
						t.Errorf("error is %v", err)
					}
				}()
				select {
				case <-over:
				case <-time.After(test.later):
					_, _ = m.Generate(t.Context(), llm.ModelRequest{})
					<-over
				}
				if took, n := time.Since(began), late.asked.Load(); took != test.took || n != test.calls {
					t.Errorf("it took %s in %d calls, want %s in %d", took, n, test.took, test.calls)
				}
			})
		})
	}
}
