package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/internal/pubsub"
)

const (
	// streamRoom is how many events a slow reader may be behind before it is told
	// that some were skipped.
	streamRoom = 1024
	maxStreams = 128
)

// eventFilter is what a reader of live events wants to see.
type eventFilter struct {
	types  []string // empty: all
	fields map[string]string
}

// siftOf reads the filter of a request: type=a,b and run, mind, space.
func siftOf(r *http.Request) eventFilter {
	q := r.URL.Query()
	s := eventFilter{fields: map[string]string{}}
	for _, list := range q["type"] {
		for t := range strings.SplitSeq(list, ",") {
			if t = strings.TrimSpace(t); t != "" {
				s.types = append(s.types, t)
			}
		}
	}
	for param, field := range map[string]string{"run": "cycle", "mind": "mind", "space": "space"} {
		if v := q.Get(param); v != "" {
			s.fields[field] = v
		}
	}
	return s
}

func (s eventFilter) wants(e pubsub.LiveEvent) bool {
	if e.Type == pubsub.Skipped {
		return true
	}
	if len(s.types) > 0 && !slices.Contains(s.types, e.Type) {
		return false
	}
	for field, want := range s.fields {
		if got, _ := e.Metadata[field].(string); got != want {
			return false
		}
	}
	return true
}

// streamEvents sends live events as they happen (PRD-6.2-3), from now on or
// behind the one the reader saw last.
func (c *Console) streamEvents(w http.ResponseWriter, r *http.Request) {
	if c.streams.Add(1) > maxStreams {
		c.streams.Add(-1)
		c.fail(w, r, http.StatusServiceUnavailable, "too many readers of live events")
		return
	}
	defer c.streams.Add(-1)
	var events pubsub.LiveStream
	switch last, err := resumeFrom(r); {
	case err != nil:
		c.fail(w, r, http.StatusBadRequest, "from and Last-Event-ID are ids of events")
		return
	case last < 0:
		events = c.Live.Open(streamRoom)
	default:
		events = c.Live.Resume(last, streamRoom)
	}
	defer events.Close()
	pump(r.Context(), StartStream(w), events, siftOf(r), c.standing(r))
}

// standing returns what tells whether the reader may still look: a token that
// is revoked or changed ends the streams it opened.
func (c *Console) standing(r *http.Request) func(idle bool) bool {
	if ownerAsks(r) {
		return func(bool) bool { return true }
	}
	revoked, token := c.revoked.Load(), c.Access().Token
	return func(idle bool) bool {
		if !idle && c.revoked.Load() == revoked && c.Access().Token == token {
			return true
		}
		revoked, token = c.revoked.Load(), c.Access().Token
		return c.authorise(r) == nil
	}
}

// resumeFrom returns the id of the event that the reader saw last, -1 for none.
func resumeFrom(r *http.Request) (int64, error) {
	last := r.Header.Get("Last-Event-ID")
	if last == "" {
		last = r.URL.Query().Get("from")
	}
	if last == "" {
		return -1, nil
	}
	id, err := strconv.ParseInt(last, 10, 64)
	if err != nil || id < 0 {
		return 0, errNumber
	}
	return id, nil
}

// pump sends what the reader wants to see until it has gone or may look no more.
func pump(ctx context.Context, to *Stream, events pubsub.LiveStream, want eventFilter, may func(idle bool) bool) {
	for {
		next, stop := context.WithTimeoutCause(ctx, heartbeat, errHeartbeat)
		e, err := events.Next(next)
		stop()
		idle := errors.Is(err, errHeartbeat)
		if (err == nil || idle) && !may(idle) {
			return
		}
		switch {
		case idle:
			err = to.comment("still here")
		case err == nil && want.wants(e):
			err = to.Send(e.ID, e)
		}
		if err != nil {
			return
		}
	}
}
