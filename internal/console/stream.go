package console

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// heartbeat is how long a stream may be silent before a comment shows that it
	// still stands.
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
