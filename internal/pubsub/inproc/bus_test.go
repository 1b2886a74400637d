package inproc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestEveryStreamGetsEveryEventInOrder(t *testing.T) {
	var b EventBus
	early := b.Open(8)
	defer early.Close()
	b.Publish("gate_decision", "one", nil, noon)
	late := b.Open(8)
	defer late.Close()
	b.Publish("agent_thinking", "two", nil, noon.In(time.FixedZone("IST", 5*3600+1800))) // told in UTC all the same

	testutil.Same(t, "early stream", []string{"1 one", "2 two"}, read(t, early, 2))
	testutil.Same(t, "late stream", []string{"2 two"}, read(t, late, 1))
}

func TestSlowReaderIsToldWhatItMissed(t *testing.T) {
	var b EventBus
	s := b.Open(2)
	defer s.Close()
	for i := range 5 {
		b.Publish("x", fmt.Sprint(i), nil, noon)
	}
	want := []string{"3 3 events skipped, reload", "4 3", "5 4"}
	testutil.Same(t, "events", want, read(t, s, 3))
}

// PRD-6.2-3: a reader that was away goes on where it stood, and is told when
// that is not possible any more.
func TestStreamGoesOnWhereItsReaderStood(t *testing.T) {
	b := EventBus{After: 100, Keep: 3}
	for i := range 8 {
		b.Publish("x", fmt.Sprint(i), nil, noon)
	}
	for name, test := range map[string]struct {
		id   int64
		want []string
	}{
		"within":                   {106, []string{"107 6", "108 7"}},
		"at the first kept":        {104, []string{"105 4", "106 5", "107 6", "108 7"}},
		"before the first kept":    {102, []string{"104 2 events skipped, reload", "105 4"}},
		"of an earlier process":    {57, []string{"104 events were skipped, reload", "105 4"}},
		"of another machine":       {9000, []string{"104 events were skipped, reload", "105 4"}},
		"nothing has happened yet": {108, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := b.Resume(test.id, 16)
			defer s.Close()
			testutil.Same(t, "events", test.want, read(t, s, len(test.want)))
		})
	}
}

func TestStreamThatBeginsWithMoreThanItHoldsSkips(t *testing.T) {
	b := EventBus{Keep: 8}
	for i := range 8 {
		b.Publish("x", fmt.Sprint(i), nil, noon)
	}
	s := b.Resume(0, 2)
	defer s.Close()
	want := []string{"6 6 events skipped, reload", "7 6", "8 7"}
	testutil.Same(t, "events", want, read(t, s, 3))
}

func TestOrderOfEachPublisherHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const publishers, each = 4, 50
		var (
			b  EventBus
			wg sync.WaitGroup
		)
		s := b.Open(publishers * each)
		defer s.Close()
		for p := range publishers {
			wg.Go(func() {
				for i := range each {
					b.Publish(fmt.Sprint(p), "", map[string]any{"i": i}, noon)
				}
			})
		}
		wg.Wait()
		next := map[string]int{}
		for range publishers * each {
			e, err := s.Next(t.Context())
			testutil.OK(t, err)
			if got := e.Metadata["i"]; got != next[e.Type] {
				t.Fatalf("publisher %s: got event %v, want %d", e.Type, got, next[e.Type])
			}
			next[e.Type]++
		}
	})
}

func TestNextWaitsAndEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b EventBus
		s := b.Open(1)
		defer s.Close()
		stopping := errors.New("stopping")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, stopping)
		defer cancel()
		if _, err := s.Next(ctx); !errors.Is(err, stopping) {
			t.Errorf("got %v, want the context's cause", err)
		}
	})
}

func TestClosedStreamKeepsNothing(t *testing.T) {
	var b EventBus
	s := b.Open(4)
	s.Close()
	s.Close()
	b.Publish("x", "", nil, noon)
	if _, ok := s.pop(); ok {
		t.Error("a closed stream took an event")
	}
}

// PRD-6.2-3
func TestEventsHaveTheirFourFields(t *testing.T) {
	var b EventBus
	s := b.Open(1)
	defer s.Close()
	b.Publish("tool_permission_denied", "no", map[string]any{"act": "use"}, noon)
	e, err := s.Next(t.Context())
	testutil.OK(t, err)
	got, err := json.Marshal(e)
	testutil.OK(t, err)
	want := `{"type":"tool_permission_denied","content":"no","metadata":{"act":"use"},"timestamp":"2026-03-01T12:00:00Z"}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func read(t *testing.T, s pubsub.LiveStream, n int) []string {
	t.Helper()
	var got []string
	for range n {
		e, err := s.Next(t.Context())
		testutil.OK(t, err)
		if e.At.Location() != time.UTC {
			t.Errorf("event %d is of %v, want UTC", e.ID, e.At)
		}
		got = append(got, fmt.Sprintf("%d %s", e.ID, e.Content))
	}
	return got
}
