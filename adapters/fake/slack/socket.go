package slack

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	pingEvery  = 10 * time.Second
	writeLimit = 10 * time.Second
	maxSockets = 10
	maxFrame   = 64 << 10 // of what an app says
)

// A socket is one Socket Mode connection of an app.
type socket struct {
	app     *WorkspaceApp
	conn    *websocket.Conn
	retired bool // guarded by of.mu: nothing new goes there
	bell    chan struct{}
	closed  chan struct{}
	once    sync.Once
	frozen  bool // guarded by mu: it is half open, writes vanish
	deaf    bool // guarded by of.mu: it pings, and no event goes there

	mu  sync.Mutex // guards out
	out [][]byte
}

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

// serveSocket opens a socket for a ticket, which is good for one use.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	ticket := r.URL.Query().Get("ticket")
	s.mu.Lock()
	a := s.tickets[ticket]
	delete(s.tickets, ticket)
	s.mu.Unlock()
	if a == nil {
		http.Error(w, "ticket is not good", http.StatusForbidden)
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // it has answered
	}
	sk := &socket{app: a, conn: conn, bell: make(chan struct{}, 1), closed: make(chan struct{})}
	s.mu.Lock()
	if a.revoked || len(a.sockets) >= maxSockets {
		s.mu.Unlock()
		_ = conn.Close() // an app may have ten
		return
	}
	a.sockets = append(a.sockets, sk)
	sk.send(encode(map[string]any{
		"type": "hello", "num_connections": len(a.sockets), "connection_info": map[string]any{"app_id": a.ID},
		"debug_info": map[string]any{"host": "applink-1", "approximate_connection_time": 18060},
	}))
	s.mu.Unlock()
	var writer sync.WaitGroup
	writer.Go(sk.write)
	sk.read()
	sk.close()
	writer.Wait()
	s.lost(sk)
}

// lost forgets a socket; what it had not acknowledged is delivered again.
func (s *Server) lost(sk *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := sk.app
	if i := slices.Index(a.sockets, sk); i >= 0 {
		a.sockets = slices.Delete(a.sockets, i, i+1)
	}
	for _, e := range slices.Clone(a.pending) {
		if e.on == sk && !e.settled {
			e.missed()
		}
	}
}

// read takes the app's acknowledgements.
func (sk *socket) read() {
	sk.conn.SetReadLimit(maxFrame)
	for {
		_, frame, err := sk.conn.ReadMessage()
		if err != nil {
			return
		}
		var ack struct {
			ID string `json:"envelope_id"`
		}
		if json.Unmarshal(frame, &ack) != nil || ack.ID == "" {
			continue
		}
		sk.app.acked(ack.ID)
	}
}

// acked notes an acknowledgement, which may come over any socket.
func (a *WorkspaceApp) acked(id string) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	if e := a.sent[id]; e != nil {
		e.done()
	}
}

// send queues a frame. It never blocks.
func (sk *socket) send(frame []byte) {
	sk.mu.Lock()
	defer sk.mu.Unlock()
	sk.out = append(sk.out, frame)
	select {
	case sk.bell <- struct{}{}:
	default:
	}
}

// write writes what is queued, and pings, until the socket is closed.
func (sk *socket) write() {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	defer sk.close()
	for {
		select {
		case <-sk.closed:
			return
		case <-ping.C:
			if sk.isFrozen() {
				continue
			}
			if sk.conn.WriteControl(websocket.PingMessage, []byte("Ping from applink-1"), time.Now().Add(writeLimit)) != nil {
				return
			}
		case <-sk.bell:
			if !sk.flush() {
				return
			}
		}
	}
}

// flush writes the queued frames and reports whether the socket is still open.
func (sk *socket) flush() bool {
	for {
		sk.mu.Lock()
		if sk.frozen || len(sk.out) == 0 {
			sk.out = nil
			sk.mu.Unlock()
			return true
		}
		frame := sk.out[0]
		sk.out = sk.out[1:]
		sk.mu.Unlock()
		if sk.conn.SetWriteDeadline(time.Now().Add(writeLimit)) != nil || sk.conn.WriteMessage(websocket.TextMessage, frame) != nil {
			return false
		}
	}
}

func (sk *socket) isFrozen() bool {
	sk.mu.Lock()
	defer sk.mu.Unlock()
	return sk.frozen
}

func (sk *socket) close() {
	sk.once.Do(func() {
		close(sk.closed)
		_ = sk.conn.Close() // it is over either way
	})
}

// Sockets returns how many sockets the app has open.
func (a *WorkspaceApp) Sockets() int {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	return len(a.sockets)
}

// Sever drops every socket of the app without a word.
func (a *WorkspaceApp) Sever() {
	a.of.mu.Lock()
	all := a.sockets
	a.sockets = nil // nothing more goes there
	a.of.mu.Unlock()
	for _, sk := range all {
		sk.close()
	}
}

// Disconnect asks the app to leave its oldest socket, as Slack does now and then:
// with the reason warning or refresh_requested, too_many_websockets, or
// link_disabled. Nothing new goes there; ten seconds later it is closed.
func (a *WorkspaceApp) Disconnect(reason string) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	sk := a.pick(nil)
	if sk == nil {
		return
	}
	sk.send(encode(map[string]any{"type": "disconnect", "reason": reason, "debug_info": map[string]any{"host": "applink-1"}}))
	sk.retired = reason != "warning"
	time.AfterFunc(10*time.Second, sk.close)
}

// Freeze leaves every socket half open: nothing comes through, and nothing says so.
func (a *WorkspaceApp) Freeze() {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	for _, sk := range a.sockets {
		sk.mu.Lock()
		sk.frozen = true
		sk.mu.Unlock()
	}
}
