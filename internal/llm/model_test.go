package llm

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestKindsHaveNamesAndRetriesOnlyWhereTheyHelp(t *testing.T) {
	want := map[ErrorKind]struct {
		name  string
		retry bool
	}{
		Unavailable: {"unavailable", true}, Limited: {"limited", true}, Timeout: {"timeout", true}, Garbled: {"garbled", true},
		Denied: {"denied", false}, NoModel: {"no_model", false}, Rejected: {"rejected", false}, TooLong: {"too_long", false},
		ErrorKind(99): {"kind_99", false},
	}
	for k, w := range want {
		if k.String() != w.name || k.Retryable() != w.retry {
			t.Errorf("kind %d is %s, retryable %t; want %s, %t", int(k), k, k.Retryable(), w.name, w.retry)
		}
	}
}

func TestErrorSaysKindStatusAndCause(t *testing.T) {
	cause := errors.New("slow down")
	err := fmt.Errorf("step 3: %w", &Error{Kind: Limited, Status: 429, Err: cause})
	if got, want := err.Error(), "step 3: model limited (HTTP 429): slow down"; got != want {
		t.Errorf("error = %s, want %s", got, want)
	}
	if KindOf(err) != Limited || !errors.Is(err, cause) || KindOf(cause) != Unavailable {
		t.Errorf("kinds %s and %s", KindOf(err), KindOf(cause))
	}
}

func TestInterruptedTellsDeadlinesFromCancels(t *testing.T) {
	cause := errors.New("stopping")
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	late, done := context.WithDeadlineCause(t.Context(), time.Now().Add(-time.Second), cause)
	defer done()
	for want, ctx := range map[ErrorKind]context.Context{Unavailable: cancelled, Timeout: late} {
		if e := Interrupted(ctx); e.Kind != want || !errors.Is(e, cause) {
			t.Errorf("error = %v, want %s", e, want)
		}
	}
}

type one struct {
	resp ModelResponse
	err  error
}

func (o one) Generate(context.Context, ModelRequest) (ModelResponse, error) { return o.resp, o.err }

func TestCallObserverReportsEveryCallUnchanged(t *testing.T) {
	failure := errors.New("no")
	for _, inner := range []one{{resp: ModelResponse{Text: "yes"}}, {err: failure}} {
		told := 0
		w := CallObserver{Model: inner, Saw: func(r ModelRequest, resp ModelResponse, _ time.Duration, err error) {
			told++
			if r.Model != "m" || resp.Text != inner.resp.Text || !errors.Is(err, inner.err) {
				t.Errorf("saw %+v %+v %v", r, resp, err)
			}
		}}
		resp, err := w.Generate(t.Context(), ModelRequest{Model: "m"})
		if told != 1 || resp.Text != inner.resp.Text || !errors.Is(err, inner.err) {
			t.Errorf("got %+v, %v, told %d times", resp, err, told)
		}
		ctx, giveUp := context.WithCancel(t.Context())
		giveUp()
		if _, err := w.Generate(ctx, ModelRequest{Model: "m"}); (told == 2) != (err == nil) {
			t.Errorf("told %d times of a call that was given up and ended with %v", told-1, err)
		}
	}
}

func TestSizeCountsWhatIsSent(t *testing.T) {
	r := ModelRequest{
		Messages: []TranscriptMessage{{Text: "four"}, {Calls: []ToolCall{{Name: "ab", Args: "{}"}}}},
		Tools:    []ToolSpec{{Name: "t", Description: "does", Schema: []byte("{}")}},
	}
	if got := r.Size(); got != 4+4+7 {
		t.Errorf("size is %d", got)
	}
}
