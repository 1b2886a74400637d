package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A tape is one voice, and what became of each attempt to hear it.
type tape struct {
	due      time.Time
	settled  bool
	tries    int
	bytes    int64
	broken   bool // takes no outcome
	outcomes []string
}

func (r *tape) Pending(_ context.Context, at time.Time, _ int) ([]VoiceMessage, error) {
	if r.settled || at.Before(r.due) {
		return nil, nil
	}
	return []VoiceMessage{{Account: "a", ID: "v", Kind: "voice", Bytes: r.bytes, Tries: r.tries}}, nil
}

func (r *tape) Waits(context.Context, string, string, time.Time) (bool, error) {
	return !r.settled, nil
}

func (r *tape) Complete(_ context.Context, h TranscriptionResult) error {
	r.outcomes = append(r.outcomes, fmt.Sprint(h.State, " ", h.Text, h.Usage.Calls))
	if r.broken {
		return errors.New("no room")
	}
	r.due, r.tries, r.settled = h.Due, r.tries+1, h.State != VoiceWanted
	return nil
}

// hearers answer with their errors in turn, and then with words.
type hearers struct{ errs []error }

func (h *hearers) Transcribe(context.Context, string, io.Reader, int64) (string, spaces.TokenUsage, error) {
	if len(h.errs) == 0 {
		return " hello \n", spaces.TokenUsage{Calls: 1}, nil
	}
	err := h.errs[0]
	h.errs = h.errs[1:]
	return "", spaces.TokenUsage{}, err
}

// Issue 5: a call that fails is repeated a limited number of times; a recording that is
// inaudible, too large, or over the budget is given up at once.
func TestAVoiceIsTriedAsLongAsItMayHelp(t *testing.T) {
	busy, never := errors.New("busy"), fmt.Errorf("no format: %w", ErrInaudible)
	for name, c := range map[string]struct {
		errs []error
		size int64
		poor bool
		want []string
	}{
		"heard":             {nil, 5, false, []string{"heard hello1"}},
		"heard at last":     {[]error{busy, busy}, 5, false, []string{"wanted 0", "wanted 0", "heard hello1"}},
		"never reached":     {[]error{busy, busy, busy, busy, busy}, 5, false, []string{"wanted 0", "wanted 0", "wanted 0", "unheard 0"}},
		"of no known form":  {[]error{never}, 5, false, []string{"unheard 0"}},
		"too large":         {nil, maxVoice + 1, false, []string{"unheard 0"}},
		"beyond the budget": {nil, 5, true, []string{"unheard 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &tape{bytes: c.size}
				s := NewTranscriptionWorker(r, recordings{content: strings.Repeat("x", 5)}, &hearers{c.errs}, TranscriptionOptions{
					Allowed: func(context.Context, VoiceMessage, time.Time) (bool, error) { return !c.poor, nil },
				})
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- s.Run(ctx) }() // waited for below
				after(10 * time.Minute)
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
				testutil.Same(t, "outcomes", c.want, r.outcomes)
			})
		})
	}
}

// DELIVERY 2.5 I14, I17: a voice whose words cannot be recorded is paid for again, but more and more
// slowly.
func TestAVoiceThatCannotBeRecordedIsNotHeardAllTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &tape{bytes: 5, broken: true}
		s := NewTranscriptionWorker(r, recordings{content: "x"}, &hearers{}, TranscriptionOptions{
			Allowed: func(context.Context, VoiceMessage, time.Time) (bool, error) { return true, nil },
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
		if n := len(r.outcomes); n < 10 || n > 100 {
			t.Errorf("it was heard %d times in an hour", n)
		}
	})
}

// recordings is a BlobStore with the same bytes under every hash.
type recordings struct{ content string }

func (recordings) Put(io.Reader) (string, int64, error) { return "", 0, errors.ErrUnsupported }

func (r recordings) Take(string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(r.content)), nil
}

// after lets the bubble's clock run for d.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}
