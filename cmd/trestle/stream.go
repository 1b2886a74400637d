package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// heartbeat is how long a stream of server-sent events may be silent before a
// comment shows that it still stands.
const heartbeat = 15 * time.Second

var errHeartbeat = errors.New("heartbeat")

// stream writes server-sent events.
type stream struct {
	to      io.Writer
	control *http.ResponseController
}

// startStream begins an answer that is a stream of events.
func startStream(rw http.ResponseWriter) *stream {
	rw.Header().Set("Content-Type", "text/event-stream")
	s := &stream{rw, http.NewResponseController(rw)}
	rw.WriteHeader(http.StatusOK)
	_ = s.control.Flush() // the first send tells when the reader has gone
	return s
}

// send writes v as one event with its id.
func (s *stream) send(id int64, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("id: %d\ndata: %s\n\n", id, data))
}

func (s *stream) comment(text string) error { return s.write(": " + text + "\n\n") }

func (s *stream) write(text string) error {
	if _, err := io.WriteString(s.to, text); err != nil {
		return err
	}
	return s.control.Flush()
}

// readStream calls take with the data of each event until the stream ends or
// take fails.
func readStream(from io.Reader, take func(data []byte) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if err := take([]byte(data)); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}
