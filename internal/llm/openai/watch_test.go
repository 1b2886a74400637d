package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// dripping is a transport whose answer comes in pieces, each after a wait that
// the request's context may end.
func dripping(first, gap time.Duration, pieces ...string) fakeTransport {
	return func(r *http.Request) (*http.Response, error) {
		ctx := r.Context()
		if err := sleep(ctx, first); err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: http.StatusOK, Body: &drip{wait: func() error { return sleep(ctx, gap) }, pieces: pieces}}, nil
	}
}

type drip struct {
	wait   func() error // until the next piece, or the end of the request
	pieces []string
}

func (d *drip) Read(p []byte) (int, error) {
	if err := d.wait(); err != nil {
		return 0, err
	}
	if len(d.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, d.pieces[0])
	d.pieces = d.pieces[1:]
	return n, nil
}

func (d *drip) Close() error { return nil }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// DELIVERY 2.8: 5 minutes in all, 60 seconds between chunks.
func TestCallsEndWhenTheEndpointIsSlowOrSilent(t *testing.T) {
	piece := "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
	last := "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	many := make([]string, 1000)
	for i := range many {
		many[i] = piece
	}
	for name, tt := range map[string]struct {
		transport fakeTransport
		cause     error // nil: it answers
		after     time.Duration
	}{
		"slow start":            {dripping(4*time.Minute, time.Second, piece, last), nil, 4*time.Minute + 3*time.Second},
		"slow pieces":           {dripping(0, 59*time.Second, piece, last), nil, 177 * time.Second},
		"no headers":            {dripping(time.Hour, 0), errTotal, 5 * time.Minute},
		"silence after headers": {dripping(2*time.Second, time.Hour, piece), errSilent, 62 * time.Second},
		"silence in the middle": {dripping(0, 61*time.Second, piece, last), errSilent, 60 * time.Second},
		"endless":               {dripping(0, 30*time.Second, many...), errTotal, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := mustNew(t, Options{BaseURL: "http://model.test", Transport: tt.transport})
				start := time.Now()
				_, err := c.Generate(t.Context(), hello)
				if got := time.Since(start); got.Round(100*time.Millisecond) != tt.after {
					t.Errorf("returned after %s, want %s", got, tt.after)
				}
				if tt.cause == nil {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if llm.KindOf(err) != llm.Timeout || !errors.Is(err, tt.cause) {
					t.Errorf("error = %v, want a timeout: %v", err, tt.cause)
				}
			})
		})
	}
}

func TestDeadlineOfTheCallerIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := mustNew(t, Options{BaseURL: "http://model.test", Transport: dripping(time.Hour, 0)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Generate(ctx, hello)
		if llm.KindOf(err) != llm.Timeout || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v, want a timeout", err)
		}
	})
}

func TestAnswerIsNotHeldUpByABodyLeftOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
		c := mustNew(t, Options{BaseURL: "http://model.test", Transport: fakeTransport(func(r *http.Request) (*http.Response, error) {
			open := &drip{wait: func() error { return sleep(r.Context(), time.Hour) }}
			return &http.Response{StatusCode: http.StatusOK, Body: struct {
				io.Reader
				io.Closer
			}{io.MultiReader(strings.NewReader(done), open), open}}, nil
		})})
		start := time.Now()
		got, err := c.Generate(t.Context(), hello)
		if err != nil || got.Text != "a" || time.Since(start) > drainFor {
			t.Errorf("answer %+v after %s, error %v", got, time.Since(start), err)
		}
	})
}
