package discord

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/gorilla/websocket"
)

// What a session asks to be told.
const (
	intentGuilds          = 1 << 0
	intentMembers         = 1 << 1
	intentMessages        = 1 << 9
	intentReactions       = 1 << 10
	intentDirect          = 1 << 12
	intentDirectReactions = 1 << 13
	intentContent         = 1 << 15
	knownIntents          = 1<<26 - 1
)

// gatewayServer holds how the gateway behaves towards clients.
type gatewayServer struct {
	refuse  int  // that many connections are refused
	mute    bool // connections open, and nothing is ever said
	swallow int  // that many sessions neither begin nor are resumed, though heartbeats are answered
	pushing bool // op 7 comes right after a session begins
	sockets map[*socket]bool
}

// RefuseConnections refuses the next n connections of the gateway.
func (d *Server) RefuseConnections(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gate.refuse = n
}

// Swallow leaves the next n wishes to begin or resume a session unanswered;
// heartbeats are answered all the while.
func (d *Server) Swallow(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gate.swallow = n
}

// swallows reports whether a wish is one of those.
func (g *gatewayServer) swallows(op int) bool {
	if g.swallow == 0 || op != opIdentify && op != opResume {
		return false
	}
	g.swallow--
	return true
}

// Mute makes the gateway say nothing any more, not even hello, on connections
// that stay open; or ends that.
func (d *Server) Mute(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gate.mute = on
}

// Push makes the gateway ask everybody to reconnect right after they connected;
// or ends that.
func (d *Server) Push(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gate.pushing = on
}

// sockets returns the bot's open connections.
func (b *BotUser) sockets() []*socket {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	var all []*socket
	for s := range b.of.gate.sockets {
		if s.session != nil && s.session.bot == b {
			all = append(all, s)
		}
	}
	return all
}

// Connected reports whether a session of the bot is established and its client is
// reading.
func (b *BotUser) Connected() bool { return len(b.sockets()) > 0 }

// Close ends the bot's connections with a close code; 0 cuts them without one.
func (b *BotUser) Close(code int) {
	for _, s := range b.sockets() {
		s.close(code)
	}
}

// Freeze makes the bot's connections dead: they stay open, and nothing comes
// from them any more. New ones are well.
func (b *BotUser) Freeze() {
	for _, s := range b.sockets() {
		b.of.mu.Lock()
		s.frozen = true
		b.of.mu.Unlock()
	}
}

// Reconnect asks the bot's connections to reconnect (op 7).
func (b *BotUser) Reconnect() {
	for _, s := range b.sockets() {
		s.push(frame{Op: opReconnect})
	}
}

// Asks has the gateway ask the bot's connections for a heartbeat (op 1).
func (b *BotUser) Asks() {
	for _, s := range b.sockets() {
		s.push(frame{Op: opHeartbeat})
	}
}

// Beats returns what the bot's heartbeats named as the last event heard, in order.
func (b *BotUser) Beats() []int64 {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	return slices.Clone(b.beats)
}

// Invalidate tells the bot's connections that their session is no longer valid
// (op 9), and whether it may be resumed all the same.
func (b *BotUser) Invalidate(resumable bool) {
	if !resumable {
		b.Forget()
	}
	for _, s := range b.sockets() {
		s.push(frame{Op: opInvalid, Data: encode(resumable)})
	}
}

// Forget drops the bot's sessions, so that none can be resumed.
func (b *BotUser) Forget() {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	for _, s := range b.of.sessions {
		if s.bot == b {
			s.dead = true
		}
	}
}

// Deafen has the bot's sessions tell nothing any more, though their heartbeats are
// answered. Those that begin later tell.
func (b *BotUser) Deafen() {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	for _, s := range b.of.sessions {
		s.deaf = s.deaf || s.bot == b
	}
}

// Inject sends the bot an event unchanged.
func (b *BotUser) Inject(event string, data json.RawMessage) {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	dispatchEvent(b.of, b, event, 0, data)
}

// Operations of the gateway.
const (
	opDispatch     = 0
	opHeartbeat    = 1
	opIdentify     = 2
	opPresence     = 3
	opVoice        = 4
	opResume       = 6
	opReconnect    = 7
	opMembers      = 8
	opInvalid      = 9
	opHello        = 10
	opHeartbeatAck = 11
)

// serveGateway opens a connection.
func (d *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	refused := d.gate.refuse > 0
	if refused {
		d.gate.refuse--
	}
	mute := d.gate.mute
	d.mu.Unlock()
	if refused {
		http.Error(w, "upstream connect error", http.StatusServiceUnavailable)
		return
	}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	s := newSocket(d, ws, r)
	d.mu.Lock()
	if d.gate.sockets == nil {
		d.gate.sockets = map[*socket]bool{}
	}
	d.gate.sockets[s] = true
	d.mu.Unlock()
	defer s.forget()
	if mute {
		<-s.done // nothing is said; the other side gives up
		return
	}
	s.run()
}

// hangUp ends every connection.
func (d *Server) hangUp() {
	d.mu.Lock()
	var all []*socket
	for s := range d.gate.sockets {
		all = append(all, s)
	}
	d.mu.Unlock()
	for _, s := range all {
		s.close(0)
	}
}
