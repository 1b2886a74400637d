package discord

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// socket is one connection of the gateway: one goroutine reads it, one writes.
type socket struct {
	of      *Server
	ws      *websocket.Conn
	path    string // where it was dialled
	gateway string // where it is reached

	bell chan struct{}
	done chan struct{}
	once sync.Once
	code int // to close with; set before done is closed

	stream *stream // compresses all that is sent; nil when the client did not ask for compression

	// What follows is guarded by of.mu.
	session *session
	next    int64 // the number of the event to be sent next; 0: the first
	packed  bool  // large events are compressed one by one
	frozen  bool  // nothing is said or answered any more
	extra   [][]byte
}

// gatewayOf returns where connections are made by who came with a request.
func gatewayOf(r *http.Request) string {
	return "ws" + strings.TrimPrefix(fake.RequestOrigin(r), "http") + "/gateway"
}

func newSocket(d *Server, ws *websocket.Conn, r *http.Request) *socket {
	s := &socket{
		of: d, ws: ws, path: r.URL.Path, gateway: gatewayOf(r),
		bell: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if r.URL.Query().Get("compress") == "zlib-stream" {
		s.stream = newStream()
	}
	return s
}

// wake tells the writer that there may be something to send.
func (s *socket) wake() {
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// push sends an operation out of turn.
func (s *socket) push(f frame) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.pushLocked(f)
}

func (s *socket) pushLocked(f frame) {
	if f.Data == nil {
		f.Data = json.RawMessage("null")
	}
	s.extra = append(s.extra, encode(f))
	s.wake()
}

// close ends the connection with a code; 0 cuts it.
func (s *socket) close(code int) {
	s.once.Do(func() {
		s.code = code
		close(s.done)
	})
}

func (s *socket) cut() { s.close(0) }

// forget ends the socket; its session may be resumed from now on.
func (s *socket) forget() {
	s.close(0)
	_ = s.ws.Close() // it may be closed already
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	delete(s.of.gate.sockets, s)
	if s.session != nil && s.session.socket == s {
		s.session.socket, s.session.left = nil, time.Now()
	}
	s.of.ring()
}

// run serves the connection to its end.
func (s *socket) run() {
	var wg sync.WaitGroup
	wg.Go(s.write)
	s.push(frame{Op: opHello, Data: encode(struct {
		Interval float64 `json:"heartbeat_interval"`
	}{float64(s.of.opts.Heartbeat) / float64(time.Millisecond)})})
	wg.Go(func() {
		<-s.done
		if s.code != 0 {
			_ = s.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(s.code, ""), time.Now().Add(time.Second))
		}
		_ = s.ws.Close() // ends the reader
	})
	s.read()
	s.close(0)
	wg.Wait()
}

// maxSends is how much a client may send within a minute.
const maxSends = 120

// read answers what the client sends.
func (s *socket) read() {
	var sent []time.Time
	for {
		_, raw, err := s.ws.ReadMessage()
		if err != nil {
			s.left(err)
			return
		}
		now := time.Now()
		for len(sent) > 0 && now.Sub(sent[0]) > time.Minute {
			sent = sent[1:]
		}
		if sent = append(sent, now); len(sent) > maxSends {
			s.close(4008)
			return
		}
		var f frame
		if json.Unmarshal(raw, &f) != nil {
			s.close(4002)
			return
		}
		if code := s.answer(f); code != 0 {
			s.close(code)
			return
		}
	}
}

// left notes how the client went: by itself, some codes end its session.
func (s *socket) left(err error) {
	select {
	case <-s.done:
		if s.code != 0 {
			return // it answers our own closing
		}
	default:
	}
	if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway) {
		s.of.mu.Lock()
		if s.session != nil {
			s.session.dead = true
		}
		s.of.mu.Unlock()
	}
}

// answer carries one operation out and returns the close code of a refusal, or 0.
func (s *socket) answer(f frame) int {
	s.of.mu.Lock()
	known, mute := s.session != nil, s.of.gate.mute || s.frozen || s.of.gate.swallows(f.Op)
	s.of.mu.Unlock()
	if mute {
		return 0
	}
	switch f.Op {
	case opHeartbeat:
		s.beat(f.Data)
		return 0
	case opIdentify:
		return s.begin(f.Data)
	case opResume:
		return s.resume(f.Data)
	case opPresence, opVoice, opMembers:
		if !known {
			return 4003
		}
		return 0
	default:
		return 4001
	}
}

// maxBeats bounds the heartbeats that are kept.
const maxBeats = 1000

// beat answers a heartbeat.
func (s *socket) beat(data json.RawMessage) {
	var seq int64
	_ = json.Unmarshal(data, &seq) // none is 0
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.session != nil {
		b := s.session.bot
		b.beats = append(b.beats[max(0, len(b.beats)+1-maxBeats):], seq)
	}
	s.pushLocked(frame{Op: opHeartbeatAck})
}

// write sends what there is, in order, until the connection ends.
func (s *socket) write() {
	for {
		select {
		case <-s.done:
			return
		case <-s.bell:
		}
		for {
			raw, more := s.take()
			if !more {
				break
			}
			if err := s.send(raw); err != nil {
				s.close(0)
				return
			}
		}
	}
}

// take returns what is to be sent next.
func (s *socket) take() (raw []byte, more bool) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.of.gate.mute || s.frozen {
		return nil, false
	}
	if ses := s.session; ses != nil {
		first := *ses.backlog[0].Seq
		s.next = max(s.next, first)
		if i := int(s.next - first); i < len(ses.backlog) {
			s.next++
			return encode(ses.backlog[i]), true
		}
	}
	if len(s.extra) > 0 {
		raw, s.extra = s.extra[0], s.extra[1:]
		return raw, true
	}
	return nil, false
}

// large is the size from which events are compressed where a client wants it.
const large = 1 << 10

// send writes one frame.
func (s *socket) send(raw []byte) error {
	s.of.mu.Lock()
	packed := s.packed
	s.of.mu.Unlock()
	kind := websocket.TextMessage
	switch {
	case s.stream != nil:
		kind, raw = websocket.BinaryMessage, s.stream.pack(raw)
	case packed && len(raw) >= large:
		kind, raw = websocket.BinaryMessage, pack(raw)
	}
	if err := s.ws.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	return s.ws.WriteMessage(kind, raw)
}

// pack returns raw compressed by itself.
func pack(raw []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(raw) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// stream compresses one frame after the other with what went before.
type stream struct {
	b bytes.Buffer
	z *zlib.Writer
}

func newStream() *stream {
	s := new(stream)
	s.z = zlib.NewWriter(&s.b)
	return s
}

func (s *stream) pack(raw []byte) []byte {
	s.b.Reset()
	_, _ = s.z.Write(raw) // a buffer takes everything
	_ = s.z.Flush()
	return bytes.Clone(s.b.Bytes())
}
