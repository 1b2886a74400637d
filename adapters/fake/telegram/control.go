package telegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// A controlAPI serves the control calls of a server.
type controlAPI struct{ *Server }

func (t controlAPI) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /control/bots", fake.HandleJSON(t.controlBot))
	mux.Handle("POST /control/people", fake.HandleJSON(t.controlPerson))
	mux.Handle("POST /control/chats", fake.HandleJSON(t.controlChat))
	mux.Handle("POST /control/says", fake.HandleJSON(t.controlSays))
	mux.Handle("POST /control/does", fake.HandleJSON(t.controlDoes))
	mux.Handle("POST /control/inject", fake.HandleJSON(t.controlInject))
	mux.Handle("POST /control/disorder", fake.HandleJSON(t.controlDisorder))
	fake.HandleFaults(mux, t.Server)
	mux.HandleFunc("GET /control/sent", t.controlSent)
	mux.HandleFunc("GET /control/ledger", func(w http.ResponseWriter, _ *http.Request) { fake.WriteResult(w, t.Ledger()) })
	mux.HandleFunc("GET /control/world", func(w http.ResponseWriter, _ *http.Request) { fake.WriteResult(w, t.World()) })
	return mux
}

// done is what a control call made; members that do not apply are left out.
type done struct {
	OK      bool             `json:"ok"`
	ID      int64            `json:"id,omitzero"`
	Message int64            `json:"message,omitzero"`
	Update  int64            `json:"update,omitzero"`
	Count   int              `json:"count,omitzero"`
	Topics  map[string]int64 `json:"topics,omitzero"`
}

func (t controlAPI) controlBot(p BotProfile) (out done, err error) {
	if _, bad := botID(p.Token); bad != nil {
		return done{}, bad
	}
	return done{OK: true, ID: t.AddBot(p).ID()}, nil
}

func (t controlAPI) controlPerson(p UserProfile) (done, error) {
	return done{OK: true, ID: t.AddPerson(p).ID}, nil
}

type chatOrder struct {
	Kind   string   `json:"kind"` // group, supergroup, forum, channel
	Title  string   `json:"title"`
	People []int64  `json:"people"` // the first owns it
	Bots   []int64  `json:"bots"`
	Topics []string `json:"topics"`
}

func (t controlAPI) controlChat(o chatOrder) (done, error) {
	people := make([]*HumanUser, len(o.People))
	for i, id := range o.People {
		p, ok := t.Person(id)
		if !ok {
			return done{}, fmt.Errorf("no person %d", id)
		}
		people[i] = p
	}
	if len(people) == 0 {
		return done{}, errors.New("a chat needs people; the first owns it")
	}
	build, ok := map[string]func(string, ...*HumanUser) *Chat{
		group: t.NewGroup, supergroup: t.NewSupergroup, "forum": t.NewForum, channel: t.NewChannel,
	}[o.Kind]
	if !ok {
		return done{}, fmt.Errorf("no kind of chat %q: group, supergroup, forum or channel", o.Kind)
	}
	chat := build(o.Title, people...)
	for _, id := range o.Bots {
		b, ok := t.Bot(id)
		if !ok {
			return done{}, fmt.Errorf("no bot %d", id)
		}
		chat.Adds(people[0], b)
	}
	out := done{OK: true, ID: chat.ID()}
	for _, name := range o.Topics {
		if out.Topics == nil {
			out.Topics = map[string]int64{}
		}
		out.Topics[name] = chat.NewTopic(people[0], name)
	}
	return out, nil
}

// place names a chat: by its id, or as the direct chat of a bot and a person.
type place struct {
	Chat int64 `json:"chat"`
	Bot  int64 `json:"bot"`
	From int64 `json:"from"` // who does it
}

// find returns the chat and the person who acts in it.
func (t controlAPI) find(p place) (*Chat, *HumanUser, error) {
	who, ok := t.Person(p.From)
	if !ok {
		return nil, nil, fmt.Errorf("no person %d", p.From)
	}
	if p.Chat != 0 {
		chat, ok := t.Chat(p.Chat)
		if !ok {
			return nil, nil, fmt.Errorf("no chat %d", p.Chat)
		}
		return chat, who, nil
	}
	b, ok := t.Bot(p.Bot)
	if !ok {
		return nil, nil, fmt.Errorf("no bot %d", p.Bot)
	}
	return b.Direct(who), who, nil
}

type saysOrder struct {
	place
	PostOptions
	Text string `json:"text"`
}

func (t controlAPI) controlSays(o saysOrder) (done, error) {
	chat, who, err := t.find(o.place)
	if err != nil {
		return done{}, err
	}
	return done{OK: true, Message: chat.Says(who, o.Text, o.PostOptions)}, nil
}

type injectOrder struct {
	Bot    int64           `json:"bot"`
	Update json.RawMessage `json:"update"`
}

func (t controlAPI) controlInject(o injectOrder) (done, error) {
	b, ok := t.Bot(o.Bot)
	if !ok {
		return done{}, fmt.Errorf("no bot %d", o.Bot)
	}
	id, err := b.Inject(o.Update)
	return done{OK: true, Update: id}, err
}

type disorderOrder struct {
	Bot int64 `json:"bot"`
	QueueReordering
	Redeliver int `json:"redeliver"` // hand that many confirmed updates over again
}

func (t controlAPI) controlDisorder(o disorderOrder) (done, error) {
	b, ok := t.Bot(o.Bot)
	if !ok {
		return done{}, fmt.Errorf("no bot %d", o.Bot)
	}
	b.Disorder(o.QueueReordering)
	return done{OK: true, Count: b.Redeliver(o.Redeliver)}, nil
}

// controlSent answers what bots sent to a chat. With wait and n it first waits
// until there are that many; when they do not come, it answers what there is.
func (t controlAPI) controlSent(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	var p place
	for name, into := range map[string]*int64{"chat": &p.Chat, "bot": &p.Bot, "from": &p.From} {
		if s := q.Get(name); s != "" {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				fake.WriteError(w, http.StatusBadRequest, fmt.Errorf("%s: %w", name, err))
				return
			}
			*into = n
		}
	}
	chat, ok := t.Chat(p.Chat)
	if !ok {
		var err error
		if chat, _, err = t.find(p); err != nil {
			fake.WriteError(w, http.StatusBadRequest, err)
			return
		}
	}
	fake.WriteSent(w, r, chat.AwaitSent)
}
