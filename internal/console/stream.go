package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

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
	Types  []string // empty: all
	fields map[string]string
}

// EventFilterOf reads the filter of a request: type=a,b and run, mind, space.
func EventFilterOf(r *http.Request) eventFilter {
	q := r.URL.Query()
	s := eventFilter{fields: map[string]string{}}
	for _, list := range q["type"] {
		for t := range strings.SplitSeq(list, ",") {
			if t = strings.TrimSpace(t); t != "" {
				s.Types = append(s.Types, t)
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
	if len(s.Types) > 0 && !slices.Contains(s.Types, e.Type) {
		return false
	}
	for field, want := range s.fields {
		if got, _ := e.Metadata[field].(string); got != want {
			return false
		}
	}
	return true
}

// takeStream counts one more open stream, or refuses a request of one too many.
func (c *Console) takeStream(w http.ResponseWriter, r *http.Request) bool {
	if c.streams.Add(1) <= maxStreams {
		return true
	}
	c.streams.Add(-1)
	c.respond.Fail(w, r, http.StatusServiceUnavailable, "too many readers of live events")
	return false
}

// streamEvents sends live events as they happen, from now on or
// behind the one the reader saw last.
func (c *Console) streamEvents(w http.ResponseWriter, r *http.Request) {
	if !c.takeStream(w, r) {
		return
	}
	defer c.streams.Add(-1)
	var events pubsub.LiveStream
	switch last, err := resumeFrom(r); {
	case err != nil:
		c.respond.Fail(w, r, http.StatusBadRequest, "from and Last-Event-ID are ids of events")
		return
	case last < 0:
		events = c.Live.Open(streamRoom)
	default:
		events = c.Live.Resume(last, streamRoom)
	}
	defer events.Close()
	pump(r.Context(), StartStream(w), events, EventFilterOf(r), c.stillAllowed(r))
}

// stillAllowed returns what tells whether the reader may still look: a token that
// is revoked or changed ends the streams it opened.
func (c *Console) stillAllowed(r *http.Request) func(idle bool) bool {
	if fromOwner(r) {
		return func(bool) bool { return true }
	}
	revoked, token := c.revoked.Load(), c.Access().Token
	return func(idle bool) bool {
		if !idle && c.revoked.Load() == revoked && c.Access().Token == token {
			return true
		}
		revoked, token = c.revoked.Load(), c.Access().Token
		return c.authorised(r) == nil
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
		return 0, ErrParameter
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

const (
	// heartbeat is how long a stream may be silent before a comment shows that it
	// is still valid.
	heartbeat = 15 * time.Second
	// stall is how long a reader may keep one event waiting.
	stall = 30 * time.Second
)

var errHeartbeat = errors.New("heartbeat")

// A Stream writes server-sent events. It has one writer at a time.
type Stream struct {
	to      io.Writer
	control *http.ResponseController
}

// StartStream begins an answer that is a stream of events. Browsers come back
// after three seconds when it breaks.
func StartStream(w http.ResponseWriter) *Stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	s := &Stream{w, http.NewResponseController(w)}
	w.WriteHeader(http.StatusOK)
	_ = s.write("retry: 3000\n\n") // the first send tells when the reader has gone
	return s
}

// Send writes v as one event with its id.
func (s *Stream) Send(id int64, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("id: %d\ndata: %s\n\n", id, data))
}

func (s *Stream) comment(text string) error { return s.write(": " + text + "\n\n") }

func (s *Stream) write(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(stall)) // what can not be limited is not
	if _, err := io.WriteString(s.to, text); err != nil {
		return err
	}
	return s.control.Flush()
}

// ReadStream calls take with the id and the data of each event until the stream
// ends or take fails.
func ReadStream(from io.Reader, take func(id int64, data []byte) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 4<<20)
	var id int64
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id, _ = strconv.ParseInt(text, 10, 64) // it is ours
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if err := take(id, []byte(data)); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}
