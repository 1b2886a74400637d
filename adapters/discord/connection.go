package discord

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// Operations of the gateway (docs.discord.com, topics/opcodes-and-status-codes).
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

const (
	helloWait = 30 * time.Second
	// beginWait is how long a session may take to begin, or to be resumed: until then
	// nothing is told, though heartbeats may be answered.
	beginWait = time.Minute
	writeWait = 10 * time.Second
	// maxFrame bounds one event; a server with all its channels stays far below.
	maxFrame = 64 << 20
	// resumable is the code we close with: 1000 and 1001 would end the session on
	// Discord's side, and messages posted meanwhile would have to be read from history.
	resumable = 4900
)

// How a connection ends without being lost for good.
var (
	errReconnect = errors.New("discord asks to reconnect")
	errZombie    = errors.New("a heartbeat was not answered")
	errInvalid   = errors.New("the session is no longer valid")
	errHello     = errors.New("discord did not say hello")
	errSilent    = errors.New("discord neither began nor resumed the session")
)

// connection is one websocket of the gateway. Its reader owns everything but ws's
// writing side, which mu guards, and the atomics.
type connection struct {
	shard *shard
	ws    *websocket.Conn

	mu sync.Mutex // guards writing to ws

	acked   atomic.Bool // the last heartbeat was answered
	handing atomic.Bool // the reader waits for what it read to be taken
	why     atomic.Pointer[error]
}

// dial opens a websocket at address, in the form that the library speaks.
func (s *shard) dial(ctx context.Context, address string) (*connection, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "ws" && u.Scheme != "wss" {
		return nil, errors.New("the gateway's address is no websocket's")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	q := u.Query()
	q.Set("v", discordgo.APIVersion)
	q.Set("encoding", "json")
	u.RawQuery = q.Encode()
	ctx, cancel := context.WithTimeout(ctx, httpx.Handshake)
	defer cancel()
	ws, resp, err := httpx.Dialer(s.client.files.Transport).DialContext(ctx, u.String(), nil)
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close() // a websocket's answer has none
	}
	if err != nil {
		return nil, httpx.RedactError(err, 0, s.client.token)
	}
	ws.SetReadLimit(maxFrame)
	return &connection{shard: s, ws: ws}, nil
}

// close ends the connection so that its session can be resumed. The first reason
// given is the one that counts.
func (c *connection) close(why error) {
	c.why.CompareAndSwap(nil, &why)
	c.mu.Lock()
	defer c.mu.Unlock()
	message := websocket.FormatCloseMessage(resumable, "")
	_ = c.ws.WriteControl(websocket.CloseMessage, message, time.Now().Add(time.Second)) // it may be gone already
	_ = c.ws.Close()
}

// reason returns why the connection ended: what we closed it for, else err.
func (c *connection) reason(err error) error {
	if why := c.why.Load(); why != nil {
		return *why
	}
	return err
}

// write sends one operation.
func (c *connection) write(op int, data any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return fmt.Errorf("write to the gateway: %w", err)
	}
	frame := struct {
		Op   int `json:"op"`
		Data any `json:"d"`
	}{op, data}
	if err := c.ws.WriteJSON(frame); err != nil {
		return fmt.Errorf("write to the gateway: %w", httpx.RedactError(err, 0, c.shard.client.token))
	}
	return nil
}

// read returns the next event. One that does not decode comes with its bytes as
// data and no operation of the gateway's.
func (c *connection) read() (discordgo.Event, error) {
	kind, raw, err := c.ws.ReadMessage()
	if err != nil {
		return discordgo.Event{}, err
	}
	if kind == websocket.BinaryMessage {
		if raw, err = inflate(raw); err != nil {
			return discordgo.Event{}, fmt.Errorf("unpack an event: %w", err)
		}
	}
	e := discordgo.Event{Operation: -1}
	if json.Unmarshal(raw, &e) != nil {
		return discordgo.Event{Operation: -1, RawData: raw}, nil
	}
	return e, nil
}

// inflate unpacks a compressed event.
func inflate(packed []byte) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	raw, err := io.ReadAll(io.LimitReader(z, maxFrame+1))
	if err == nil && len(raw) > maxFrame {
		err = errors.New("too long")
	}
	return raw, err
}

// hello waits for the gateway's greeting and returns how often it wants to hear us.
func (c *connection) hello() (time.Duration, error) {
	if err := c.ws.SetReadDeadline(time.Now().Add(helloWait)); err != nil {
		return 0, err
	}
	e, err := c.read()
	if err != nil {
		if _, closed := errors.AsType[*websocket.CloseError](err); closed {
			return 0, err
		}
		return 0, fmt.Errorf("%w: %w", errHello, httpx.RedactError(err, 0, c.shard.client.token))
	}
	var said struct {
		Interval float64 `json:"heartbeat_interval"`
	}
	if e.Operation != opHello || json.Unmarshal(e.RawData, &said) != nil || said.Interval < 1 {
		return 0, errHello
	}
	return time.Duration(said.Interval * float64(time.Millisecond)), c.ws.SetReadDeadline(time.Time{})
}

// beat sends heartbeats until ctx is done, the first after a random part of the
// interval. A heartbeat that has no acknowledgement when the next is due means that the
// connection is dead, unless this process is the one that has not read.
func (c *connection) beat(ctx context.Context, interval time.Duration) {
	c.acked.Store(true)
	timer := time.NewTimer(time.Duration(rand.Float64() * float64(interval))) //nolint:gosec // only spreads the load
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if !c.acked.Load() && !c.handing.Load() {
			c.close(errZombie)
			return
		}
		c.acked.Store(false)
		if err := c.heartbeat(); err != nil {
			c.close(err)
			return
		}
		timer.Reset(interval)
	}
}

// heartbeat sends one with the number of the last event.
func (c *connection) heartbeat() error {
	if seq := c.shard.seq.Load(); seq > 0 {
		return c.write(opHeartbeat, seq)
	}
	return c.write(opHeartbeat, nil)
}
