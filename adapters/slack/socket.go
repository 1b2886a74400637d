package slack

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/failpoint"
)

const (
	maxFrame = 64 << 20
	quietest = 45 * time.Second // Slack pings every few seconds; a socket silent for longer is dead
	ackLimit = 10 * time.Second
	sayingHi = 15 * time.Second // from the dial to Slack's hello
)

// A socket is one Socket Mode connection. We keep it ourselves: the library's
// manager closes the old one before it opens the new, stops reading while its
// consumer is busy, and hands over what it cannot parse without an id.
type socket struct {
	conn *websocket.Conn

	mu     sync.Mutex // guards writes and closed
	closed bool
}

// openSocket asks for an address, which is good for one use, and connects to it.
func (c *apiClient) openSocket(ctx context.Context) (*socket, error) {
	opened, err := callInto[struct {
		URL string `json:"url"`
	}](ctx, c, "apps.connections.open", func(ctx context.Context, api *slackgo.Client) error {
		_, _, err := api.StartSocketModeContext(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.CallTimeout)
	defer cancel()
	conn, resp, err := c.dialer.DialContext(ctx, opened.URL, nil)
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close() // the handshake's; there is nothing in it
	}
	if err != nil {
		return nil, &adapters.Error{Kind: adapters.NotSent, Op: "socket", Err: c.scrub(0, err, adapters.SecretString(opened.URL))}
	}
	conn.SetReadLimit(maxFrame)
	return &socket{conn: conn}, nil
}

// close ends the socket at once. It may be called several times.
func (s *socket) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	_ = s.conn.Close() // it is over either way
}

// ack tells Slack that it may forget an envelope, and reports whether it was told.
func (s *socket) ack(envelope string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	said, err := json.Marshal(map[string]string{"envelope_id": envelope})
	if err != nil {
		return false
	}
	if err := s.conn.SetWriteDeadline(time.Now().Add(ackLimit)); err != nil {
		return false
	}
	return s.conn.WriteMessage(websocket.TextMessage, said) == nil && failpoint.Point("ingest.after_ack") == nil
}

// read hands every frame to take until the connection ends or take returns an
// error. heard is told of every sign of life.
func (s *socket) read(heard func(), take func(frame []byte) error) error {
	alive := func() error {
		heard()
		return s.conn.SetReadDeadline(time.Now().Add(quietest))
	}
	s.conn.SetPingHandler(func(data string) error {
		if err := alive(); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(ackLimit))
	})
	if err := s.conn.SetReadDeadline(time.Now().Add(sayingHi)); err != nil {
		return err
	}
	for {
		_, frame, err := s.conn.ReadMessage()
		if err != nil {
			return err
		}
		if err := alive(); err != nil {
			return err
		}
		if err := take(frame); err != nil {
			return err
		}
	}
}
