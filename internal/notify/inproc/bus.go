package inproc

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/notify"
)

// Bus fans live events out to every open stream. The zero Bus is ready; calls
// may overlap.
type Bus struct {
	mu      sync.Mutex // guards last and streams
	last    int64
	streams []*Stream
}

var _ notify.Publisher = (*Bus)(nil)

// Publish gives the event the next id and appends it to every stream. A stream
// that is full loses its oldest event.
func (b *Bus) Publish(kind, content string, metadata map[string]any, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	e := notify.Event{ID: b.last, Type: kind, Content: content, Metadata: metadata, At: at}
	for _, s := range b.streams {
		s.push(e)
	}
}

// Open returns a stream of the events published from now on that holds at most
// room of them unread; less than one is one. Whoever opens it closes it.
func (b *Bus) Open(room int) *Stream {
	s := &Stream{bus: b, room: max(room, 1), stirred: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.streams = append(b.streams, s)
	return s
}

// Stream is one reader's queue.
type Stream struct {
	bus     *Bus
	room    int
	stirred chan struct{} // holds one token while there may be something to read

	mu      sync.Mutex // guards all below
	waiting []notify.Event
	skipped int
}

var _ notify.Stream = (*Stream)(nil)

// Next returns the oldest unread event. When events were lost before it, an
// event of type [notify.Skipped] comes first and says how many.
func (s *Stream) Next(ctx context.Context) (notify.Event, error) {
	for {
		if e, ok := s.pop(); ok {
			return e, nil
		}
		select {
		case <-s.stirred:
		case <-ctx.Done():
			return notify.Event{}, context.Cause(ctx)
		}
	}
}

// Close takes the stream off its bus. Calling it twice is harmless.
func (s *Stream) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	s.bus.streams = slices.DeleteFunc(s.bus.streams, func(x *Stream) bool { return x == s })
}

func (s *Stream) push(e notify.Event) {
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

func (s *Stream) pop() (notify.Event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return notify.Event{}, false
	}
	e := s.waiting[0]
	if n := s.skipped; n > 0 {
		s.skipped = 0
		return notify.Event{
			ID: e.ID - 1, Type: notify.Skipped, At: e.At,
			Content:  fmt.Sprintf("%d events skipped", n),
			Metadata: map[string]any{"count": n},
		}, true
	}
	s.waiting = s.waiting[1:]
	return e, true
}
