package discord

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// session is a client's standing: what it is told is kept until it is resumed no more.
type session struct {
	id      string
	bot     *BotUser
	intents int
	shard   [2]int
	backlog []frame // every event since it began, or the newest of them
	socket  *socket // nil while no client is connected
	left    time.Time
	dead    bool
	deaf    bool // heartbeats are answered, and nothing is told
}

// frame is one event.
type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int64          `json:"s"`
	Type *string         `json:"t"`
}

// maxBacklog bounds what a session keeps.
const maxBacklog = 20_000

// dispatchEvent tells a bot's sessions that asked for it; an intent of 0 is told to
// all. It needs the lock.
func dispatchEvent(d *Server, b *BotUser, event string, intent int, data any) {
	var guild SnowflakeID
	raw := encode(data)
	var named struct {
		GuildID SnowflakeID `json:"guild_id"`
		ID      SnowflakeID `json:"id"`
	}
	_ = json.Unmarshal(raw, &named) // what names no server goes to the first shard
	if guild = named.GuildID; strings.HasPrefix(event, "GUILD_") && guild == 0 {
		guild = named.ID
	}
	for _, s := range d.sessions {
		if s.bot != b || s.dead || intent != 0 && s.intents&intent == 0 {
			continue
		}
		if n := s.shard[1]; n > 1 && int(guild>>22)%n != s.shard[0] {
			continue
		}
		s.add(event, raw)
	}
}

// add keeps an event and wakes the connection. It needs the lock.
func (s *session) add(event string, raw json.RawMessage) {
	if s.deaf && event != "RESUMED" {
		return
	}
	seq := int64(1)
	if n := len(s.backlog); n > 0 {
		seq = *s.backlog[n-1].Seq + 1
	}
	s.backlog = append(s.backlog, frame{Op: opDispatch, Data: raw, Seq: &seq, Type: &event})
	if len(s.backlog) > maxBacklog {
		s.backlog = slices.Delete(s.backlog, 0, maxBacklog/2)
	}
	if s.socket != nil {
		s.socket.wake()
	}
}

type identify struct {
	Token    string `json:"token"`
	Intents  int    `json:"intents"`
	Compress bool   `json:"compress"`
	Shard    [2]int `json:"shard"`
}

// begin answers an identify: it returns the close code of a refusal, or 0.
func (s *socket) begin(raw json.RawMessage) int {
	var said identify
	if json.Unmarshal(raw, &said) != nil {
		return 4002
	}
	d := s.of
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.bots[strings.TrimPrefix(said.Token, "Bot ")]
	switch {
	case s.session != nil:
		return 4005
	case b == nil || b.revoked:
		return 4004
	case said.Intents <= 0 || said.Intents > knownIntents:
		return 4013
	case b.profile.NoContent && said.Intents&intentContent != 0, b.profile.NoMembers && said.Intents&intentMembers != 0:
		return 4014
	case said.Shard[1] < 0 || said.Shard[1] > 0 && said.Shard[0] >= said.Shard[1]:
		return 4010
	}
	if time.Since(b.begun) < 5*time.Second && said.Shard[1] <= 1 && !b.begun.IsZero() && d.opts.Limits {
		s.pushLocked(frame{Op: opInvalid, Data: encode(false)})
		return 0
	}
	b.begun = time.Now()
	b.profile.Begun++
	ses := &session{id: fmt.Sprintf("session%d", d.id()), bot: b, intents: said.Intents, shard: said.Shard, socket: s}
	d.sessions[ses.id] = ses
	s.session, s.packed = ses, said.Compress
	d.ledger.note(func(r *CallLog) {
		r.Sessions = append(r.Sessions, SessionStart{At: time.Now(), Bot: b.ID, Session: ses.id, Path: s.path})
	})
	ses.add("READY", encode(s.ready(ses)))
	for _, g := range d.guilds {
		if g.bots[b.ID] == nil || said.Shard[1] > 1 && int(g.ID>>22)%said.Shard[1] != said.Shard[0] {
			continue
		}
		if ses.intents&intentGuilds != 0 {
			ses.add("GUILD_CREATE", encode(g.created(b)))
		}
	}
	d.ring()
	if d.gate.pushing {
		s.pushLocked(frame{Op: opReconnect})
	}
	return 0
}

// ready is what a session begins with. It needs the lock.
func (s *socket) ready(ses *session) any {
	type away struct {
		ID          SnowflakeID `json:"id"`
		Unavailable bool        `json:"unavailable"`
	}
	guilds := []away{}
	for _, g := range s.of.guilds {
		if g.bots[ses.bot.ID] != nil && (ses.shard[1] <= 1 || int(g.ID>>22)%ses.shard[1] == ses.shard[0]) {
			guilds = append(guilds, away{g.ID, true})
		}
	}
	shard := ses.shard
	if shard[1] == 0 {
		shard[1] = 1
	}
	return struct {
		V           int        `json:"v"`
		User        wireUser   `json:"user"`
		Guilds      []away     `json:"guilds"`
		Session     string     `json:"session_id"`
		Resume      string     `json:"resume_gateway_url"`
		Shard       [2]int     `json:"shard"`
		Application wireApp    `json:"application"`
		Private     []struct{} `json:"private_channels"`
	}{10, ses.bot.user, guilds, ses.id, s.gateway + "/resume", shard, ses.bot.application(), []struct{}{}}
}

// resume answers a resume.
func (s *socket) resume(raw json.RawMessage) int {
	var said struct {
		Token   string `json:"token"`
		Session string `json:"session_id"`
		Seq     int64  `json:"seq"`
	}
	if json.Unmarshal(raw, &said) != nil {
		return 4002
	}
	d := s.of
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.bots[strings.TrimPrefix(said.Token, "Bot ")]
	if b == nil || b.revoked {
		return 4004
	}
	ses := d.sessions[said.Session]
	note := func(refused bool) {
		d.ledger.note(func(r *CallLog) {
			r.Sessions = append(r.Sessions, SessionStart{At: time.Now(), Bot: b.ID, Session: said.Session, Resumed: true, Refused: refused, Path: s.path})
		})
	}
	if ses == nil || ses.bot != b || ses.dead || ses.socket == nil && time.Since(ses.left) > d.opts.SessionLife {
		note(true)
		s.pushLocked(frame{Op: opInvalid, Data: encode(false)})
		return 0
	}
	first, last := *ses.backlog[0].Seq, *ses.backlog[len(ses.backlog)-1].Seq
	if said.Seq > last || said.Seq < first-1 {
		note(true)
		ses.dead = true
		return 4007
	}
	if old := ses.socket; old != nil {
		old.session = nil
		defer old.cut()
	}
	ses.socket, s.session, s.next = s, ses, said.Seq+1
	note(false)
	ses.add("RESUMED", encode(struct{}{}))
	d.ring()
	if d.gate.pushing {
		s.pushLocked(frame{Op: opReconnect})
	}
	return 0
}

// encode returns v as JSON; what this package makes always has one.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("fake discord: " + err.Error())
	}
	return raw
}
