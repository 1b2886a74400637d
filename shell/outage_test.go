package shell_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// DELIVERY 2.2 promise 2: while an endpoint makes nothing of any request, messages wait
// for it, are tried the more rarely the longer they do, and are answered within ten minutes
// once it is back. A message that is refused itself is given up (I10), and so is one of
// the day before.
func TestAnOutageOfTheEndpointOnlyDelays(t *testing.T) {
	const lasts = 3 * time.Hour
	for _, c := range []struct {
		name     string
		kind     llm.ErrorKind
		age      time.Duration // of the message when the outage begins
		answered bool
	}{
		{"it is down", llm.Unavailable, 0, true},
		{"it refuses calls", llm.Limited, 0, true},
		{"it refuses the key", llm.Denied, 0, true},
		{"it has no such model", llm.NoModel, 0, true},
		{"it refuses the message", llm.Rejected, 0, false},
		{"it is down and the message is old", llm.Unavailable, 25 * time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var back time.Time
			tried, well := 0, replier("Hi, Kai.")
			m := mindful(func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
				if time.Now().Before(back) {
					tried++
					return llm.ModelResponse{}, &llm.Error{Kind: c.kind, Err: errors.New("no")}
				}
				return well.Generate(ctx, r)
			})
			play(t, m, func(w *world) {
				w.poll = time.Minute
				room := w.room("kai", direct)
				w.says(room, "Kai", "hello")
				<-time.After(c.age)
				back = time.Now().Add(lasts)
				w.start()
				<-time.After(lasts + 10*time.Minute + time.Second)
				w.settle()
				if tried > 40 {
					t.Errorf("it was tried %d times", tried)
				}
				testutil.Same(t, "whether it was answered", c.answered, len(w.spoken(room)) == 1)
			})
		})
	}
}

// K23: a timer that is due while the endpoint refuses the key fires again until it is
// heard.
func TestATimerOutlastsARefusedKey(t *testing.T) {
	var began time.Time
	heard, refused, asked := 0, 0, false
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		switch since := time.Since(began); {
		case since > 5*time.Minute && since < time.Hour:
			refused++
			return llm.ModelResponse{}, &llm.Error{Kind: llm.Denied, Err: errors.New("no")}
		case r.NoCalls:
			return telling("hm"), nil
		case !asked:
			asked = true
			return calling(1, "timer", `{"seconds":600,"note":"look"}`), nil
		case since >= time.Hour:
			heard++
		}
		return telling("Nothing to add."), nil
	})
	play(t, m, func(w *world) {
		w.poll, began = time.Minute, time.Now()
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "remind me")
		w.settle()
		<-time.After(time.Hour + 11*time.Minute)
		w.settle()
		testutil.Same(t, "how often the timer was heard", 1, heard)
		if refused < 5 || refused > 8 {
			t.Errorf("the timer woke the agent %d times in fifty minutes, want ever more rarely", refused)
		}
	})
}
