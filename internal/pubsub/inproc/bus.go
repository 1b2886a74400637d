package inproc

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/pubsub"
)

// EventBus fans live events out to every open stream. The zero Bus is ready; calls
// may overlap. Its fields are set before it is used.
type EventBus struct {
	// After is the id before the first event's. A process that takes its start in
	// microseconds never gives an id that an earlier one gave.
	After int64
	// Keep is how many of the newest events a stream may begin with. Default: none.
	Keep int

	mu      sync.Mutex // guards all below
	n       int64      // events published
	kept    []pubsub.LiveEvent
	streams []*EventStream
}

var _ pubsub.EventPublisher = (*EventBus)(nil)

// Publish gives the event the next id and appends it to every stream, its time in
// UTC. A stream that is full loses its oldest event.
func (b *EventBus) Publish(kind, content string, metadata map[string]any, at time.Time) {
	b.Relay(pubsub.LiveEvent{Type: kind, Content: content, Metadata: metadata, At: at})
}

// Relay is Publish for an event of another process; its id becomes the next here.
func (b *EventBus) Relay(e pubsub.LiveEvent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
	e.ID, e.At = b.After+b.n, e.At.UTC()
	if b.Keep > 0 {
		if len(b.kept) >= b.Keep+b.Keep/8+1 { // now and then, so that publishing moves little
			b.kept = slices.Delete(b.kept, 0, len(b.kept)-b.Keep)
		}
		b.kept = append(b.kept, e)
	}
	for _, s := range b.streams {
		s.push(e)
	}
}

// Open returns a stream of the events published from now on that holds at most room of
// them unread; less than one is one. The caller closes it.
func (b *EventBus) Open(room int) *EventStream {
	return b.open(room, func(*EventStream) {})
}

// Resume returns a stream that goes on behind the event with that id, as far as the bus
// has kept what came after it; what it has not kept counts as skipped. The caller
// closes it.
func (b *EventBus) Resume(id int64, room int) *EventStream {
	return b.open(room, func(s *EventStream) {
		first := b.After + b.n - int64(len(b.kept)) + 1 // of those kept
		if id < first-1 || id > b.After+b.n {
			s.lost = true
			if id >= b.After && id < first {
				s.skipped = int(first - 1 - id)
			}
		}
		for _, e := range b.kept {
			if e.ID > id || s.lost {
				s.push(e)
			}
		}
	})
}

// open adds a stream. prepare sees it before anything is published on it.
func (b *EventBus) open(room int, prepare func(*EventStream)) *EventStream {
	s := &EventStream{bus: b, room: max(room, 1), stirred: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	prepare(s)
	s.last = b.After + b.n
	if s.lost && len(s.waiting) == 0 {
		s.stirred <- struct{}{}
	}
	b.streams = append(b.streams, s)
	return s
}

// EventStream is one reader's queue.
type EventStream struct {
	bus     *EventBus
	room    int
	stirred chan struct{} // holds one token while there may be something to read

	mu      sync.Mutex // guards all below
	waiting []pubsub.LiveEvent
	skipped int
	lost    bool  // an unknown number may have been skipped
	last    int64 // id of the newest event when the stream began
}

var _ pubsub.LiveStream = (*EventStream)(nil)

// Next returns the oldest unread event. When events were lost before it, an
// event of type [pubsub.Skipped] comes first and says how many.
func (s *EventStream) Next(ctx context.Context) (pubsub.LiveEvent, error) {
	for {
		if e, ok := s.pop(); ok {
			return e, nil
		}
		select {
		case <-s.stirred:
		case <-ctx.Done():
			return pubsub.LiveEvent{}, context.Cause(ctx)
		}
	}
}

// Close takes the stream off its bus. Calling it twice is harmless.
func (s *EventStream) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	s.bus.streams = slices.DeleteFunc(s.bus.streams, func(x *EventStream) bool { return x == s })
}

func (s *EventStream) push(e pubsub.LiveEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == s.room {
		s.waiting = s.waiting[1:]
		s.skipped++
	}
	s.waiting = append(s.waiting, e)
	select {
	case s.stirred <- struct{}{}:
	default: // the reader has not yet answered an earlier stir
	}
}

func (s *EventStream) pop() (pubsub.LiveEvent, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.skipped > 0 || s.lost {
		return s.gap(), true
	}
	if len(s.waiting) == 0 {
		return pubsub.LiveEvent{}, false
	}
	e := s.waiting[0]
	s.waiting = s.waiting[1:]
	return e, true
}

// gap represents what the reader missed; it is told once. s.mu is held.
func (s *EventStream) gap() pubsub.LiveEvent {
	n := s.skipped
	s.skipped, s.lost = 0, false
	gap := pubsub.LiveEvent{
		ID: s.last, Type: pubsub.Skipped, At: time.Now(),
		Content: "events were skipped, reload", Metadata: map[string]any{"count": n},
	}
	if n > 0 {
		gap.Content = fmt.Sprintf("%d events skipped, reload", n)
	}
	if len(s.waiting) > 0 {
		gap.ID, gap.At = s.waiting[0].ID-1, s.waiting[0].At
	}
	return gap
}
