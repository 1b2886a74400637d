package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// order is what a control call asks for; which fields count depends on the verb.
type order struct {
	Token     string `json:"token"`
	Name      string `json:"name"`
	Username  string `json:"username"`
	Person    number `json:"person"`
	Bot       number `json:"bot"`
	Guild     number `json:"guild"`
	Channel   number `json:"channel"`
	Message   number `json:"message"`
	ReplyTo   number `json:"reply_to"`
	Kind      int    `json:"kind"` // of a channel
	Code      int    `json:"code"` // to close with
	N         int    `json:"n"`
	Rights    int64  `json:"rights"`
	Text      string `json:"text"`
	Emoji     string `json:"emoji"`
	Command   string `json:"command"`
	Resumable bool   `json:"resumable"`
	NoContent bool   `json:"no_content"`
	NoMembers bool   `json:"no_members"`
}

// number is an id that may come with or without quotes.
type number SnowflakeID

// UnmarshalJSON reads an id.
func (n *number) UnmarshalJSON(raw []byte) error {
	return (*SnowflakeID)(n).UnmarshalText(bytes.Trim(raw, `"`))
}

// createdResult is what a control call answers: the id of what it made.
type createdResult struct {
	ID     SnowflakeID `json:"id,omitzero"`
	Answer *int        `json:"answer,omitempty"` // the kind of an interaction's first answer
}

// A controlAPI serves the control calls of a server.
type controlAPI struct{ *Server }

func (d controlAPI) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /control/ledger", func(w http.ResponseWriter, _ *http.Request) {
		_ = d.Ledger().WriteJSON(w) // the client's hanging up is its own affair
	})
	mux.HandleFunc("GET /control/sent", d.controlSent)
	fake.HandleFaults(mux, d.Server)
	mux.HandleFunc("POST /control/{verb}", func(w http.ResponseWriter, r *http.Request) {
		var o order
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			fake.WriteError(w, http.StatusBadRequest, err)
			return
		}
		m, ok := d.obey(r.PathValue("verb"), o)
		if !ok {
			fake.WriteError(w, http.StatusNotFound, errors.New("no such verb, or it names what is not there"))
			return
		}
		fake.WriteResult(w, m)
	})
	return mux
}

// controlSent answers what a bot posted to a channel, waiting for n messages if
// asked to.
func (d controlAPI) controlSent(w http.ResponseWriter, r *http.Request) {
	ch, bot := d.Channel(parseID(r.URL.Query().Get("channel"))), d.Bot(parseID(r.URL.Query().Get("bot")))
	if ch == nil || bot == nil {
		fake.WriteError(w, http.StatusNotFound, errors.New("no such channel or bot"))
		return
	}
	fake.WriteSent(w, r, func(ctx context.Context, n int) ([]SentMessage, error) {
		err := d.Until(ctx, func() bool { return len(ch.Sent(bot)) >= n })
		return ch.Sent(bot), err
	})
}

// Channel returns a channel, thread or direct chat; nil if there is none.
func (d *Server) Channel(id SnowflakeID) *GuildChannel {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.channels[id]
}

// Bot returns the bot with that id; nil if there is none.
func (d *Server) Bot(id SnowflakeID) *BotUser {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range d.bots {
		if b.ID == id {
			return b
		}
	}
	return nil
}

// Person returns a person; nil if there is none.
func (d *Server) Person(id SnowflakeID) *HumanUser {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.people[id]
}

// Guild returns a server; nil if there is none.
func (d *Server) Guild(id SnowflakeID) *Guild {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.guilds[id]
}

// obey does what an order says; false when it names what is not there.
func (d controlAPI) obey(verb string, o order) (createdResult, bool) {
	switch verb {
	case "people":
		return createdResult{ID: d.AddPerson(UserProfile{Name: o.Name, Username: o.Username}).ID}, true
	case "bots":
		return createdResult{ID: d.AddBot(BotProfile{Token: o.Token, Name: o.Name, NoContent: o.NoContent, NoMembers: o.NoMembers}).ID}, true
	case "guilds":
		if p := d.Person(SnowflakeID(o.Person)); p != nil {
			return createdResult{ID: d.NewGuild(o.Name, p).ID}, true
		}
		return createdResult{}, false
	case "refuse":
		d.RefuseConnections(o.N)
		return createdResult{}, true
	}
	if g := d.Guild(SnowflakeID(o.Guild)); g != nil {
		return d.obeyGuild(g, verb, o)
	}
	if ch := d.Channel(SnowflakeID(o.Channel)); ch != nil {
		return d.obeyChannel(ch, verb, o)
	}
	if b := d.Bot(SnowflakeID(o.Bot)); b != nil {
		return d.obeyBot(b, verb, o)
	}
	return createdResult{}, false
}

func (d controlAPI) obeyBot(b *BotUser, verb string, o order) (createdResult, bool) {
	switch verb {
	case "close":
		b.Close(o.Code)
	case "reconnect":
		b.Reconnect()
	case "invalidate":
		b.Invalidate(o.Resumable)
	case "forget":
		b.Forget()
	case "freeze":
		b.Freeze()
	case "revoke":
		b.Revoke()
	case "direct":
		if p := d.Person(SnowflakeID(o.Person)); p != nil {
			return createdResult{ID: b.Direct(p).ID}, true
		}
		return createdResult{}, false
	default:
		return createdResult{}, false
	}
	return createdResult{}, true
}

func (d controlAPI) obeyGuild(g *Guild, verb string, o order) (createdResult, bool) {
	b, p := d.Bot(SnowflakeID(o.Bot)), d.Person(SnowflakeID(o.Person))
	switch {
	case verb == "channels":
		return createdResult{ID: g.NewChannel(o.Name, o.Kind).ID}, true
	case verb == "emoji":
		return createdResult{ID: g.AddEmoji(o.Name)}, true
	case verb == "adds" && b != nil:
		g.Adds(b, o.Rights)
	case verb == "kicks" && b != nil:
		g.Kicks(b)
	case verb == "joins" && p != nil:
		g.Joins(p)
	case verb == "leaves" && p != nil:
		g.Leaves(p)
	case verb == "nick" && p != nil:
		g.Renames(p, o.Name)
	default:
		return createdResult{}, false
	}
	return createdResult{}, true
}

func (d controlAPI) obeyChannel(ch *GuildChannel, verb string, o order) (createdResult, bool) {
	b, p := d.Bot(SnowflakeID(o.Bot)), d.Person(SnowflakeID(o.Person))
	switch {
	case verb == "says" && p != nil:
		return createdResult{ID: ch.Says(p, o.Text, PostOptions{ReplyTo: SnowflakeID(o.ReplyTo)})}, true
	case verb == "threads" && p != nil:
		return createdResult{ID: ch.NewThread(p, o.Name).ID}, true
	case verb == "edits":
		ch.Edits(SnowflakeID(o.Message), o.Text)
	case verb == "deletes":
		ch.Deletes(SnowflakeID(o.Message))
	case verb == "reacts" && p != nil && o.Emoji == "":
		ch.Reacts(p, SnowflakeID(o.Message))
	case verb == "reacts" && p != nil:
		ch.Reacts(p, SnowflakeID(o.Message), o.Emoji)
	case verb == "clears":
		ch.Clears(SnowflakeID(o.Message), o.Emoji)
	case verb == "pins" && p != nil:
		ch.Pins(p, SnowflakeID(o.Message))
	case verb == "renames":
		ch.Renames(o.Name)
	case verb == "drops":
		ch.Drops()
	case verb == "invokes" && p != nil && b != nil:
		return d.watched(ch.Invokes(p, b, o.Command, o.Text)), true
	case verb == "presses" && p != nil && b != nil:
		return d.watched(ch.Presses(p, b, SnowflakeID(o.Message), o.Command)), true
	default:
		return createdResult{}, false
	}
	return createdResult{}, true
}

// watched waits for the first answer to an interaction as long as Discord does.
func (d controlAPI) watched(answered func() int) createdResult {
	deadline := time.Now().Add(patience)
	for answered() == 0 && time.Now().Before(deadline) {
		d.mu.Lock()
		next := d.bell
		d.mu.Unlock()
		timer := time.NewTimer(time.Until(deadline))
		select {
		case <-next:
		case <-timer.C:
		}
		timer.Stop()
	}
	return createdResult{Answer: new(answered())}
}
