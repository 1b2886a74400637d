package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// A controlAPI serves the control calls of a server.
type controlAPI struct{ *Server }

func (s controlAPI) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /control/apps", fake.HandleJSON(s.controlApp))
	mux.Handle("POST /control/people", fake.HandleJSON(func(p UserProfile) (done, error) { return done{OK: true, ID: s.AddPerson(p).ID}, nil }))
	mux.Handle("POST /control/channels", fake.HandleJSON(s.controlChannel))
	mux.Handle("POST /control/says", fake.HandleJSON(s.controlSays))
	mux.Handle("POST /control/does", fake.HandleJSON(s.controlDoes))
	mux.Handle("POST /control/inject", fake.HandleJSON(s.controlInject))
	mux.Handle("POST /control/clock", fake.HandleJSON(s.controlClock))
	fake.HandleFaults(mux, s.Server)
	mux.HandleFunc("GET /control/sent", s.controlSent)
	mux.HandleFunc("GET /control/ledger", func(w http.ResponseWriter, _ *http.Request) { fake.WriteResult(w, s.Ledger()) })
	return mux
}

// done is what a control call made; members that do not apply are left out.
type done struct {
	OK   bool   `json:"ok"`
	ID   string `json:"id,omitzero"`
	User string `json:"user,omitzero"` // of an app
	TS   string `json:"ts,omitzero"`
}

func (s controlAPI) controlApp(p AppProfile) (done, error) {
	if p.Name == "" || p.BotToken == "" {
		return done{}, errors.New("an app needs a name and a bot_token")
	}
	a := s.AddApp(p)
	return done{OK: true, ID: a.ID, User: a.User()}, nil
}

// person, app and place find what an order names.
func (s controlAPI) person(id string) (*HumanUser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.people[id]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no person %q", id)
}

func (s controlAPI) app(id string) (*WorkspaceApp, error) {
	for _, a := range s.Apps() {
		if a.ID == id {
			return a, nil
		}
	}
	return nil, fmt.Errorf("no app %q", id)
}

// place names a channel, or the direct chat of an app and a person, and who acts there.
type place struct {
	Channel string `json:"channel"`
	App     string `json:"app"`
	From    string `json:"from"`
}

func (s controlAPI) find(p place) (*WorkspaceChannel, *HumanUser, error) {
	who, err := s.person(p.From)
	if err != nil {
		return nil, nil, err
	}
	if p.Channel != "" {
		c, ok := s.Channel(p.Channel)
		if !ok {
			return nil, nil, fmt.Errorf("no channel %q", p.Channel)
		}
		return c, who, nil
	}
	a, err := s.app(p.App)
	if err != nil {
		return nil, nil, err
	}
	return a.Direct(who), who, nil
}

type channelOrder struct {
	Kind   string   `json:"kind"` // public or private
	Name   string   `json:"name"`
	People []string `json:"people"`
	Apps   []string `json:"apps"`
}

func (s controlAPI) controlChannel(o channelOrder) (done, error) {
	var people []*HumanUser
	for _, id := range o.People {
		p, err := s.person(id)
		if err != nil {
			return done{}, err
		}
		people = append(people, p)
	}
	if len(people) == 0 {
		return done{}, errors.New("a channel needs people")
	}
	open := s.NewChannel
	if o.Kind == "private" {
		open = s.NewPrivate
	}
	c := open(o.Name, people...)
	for _, id := range o.Apps {
		a, err := s.app(id)
		if err != nil {
			return done{}, err
		}
		c.Invites(people[0], a)
	}
	return done{OK: true, ID: c.ID}, nil
}

type saysOrder struct {
	place
	Text   string `json:"text"`
	Thread string `json:"thread"`
}

func (s controlAPI) controlSays(o saysOrder) (done, error) {
	c, who, err := s.find(o.place)
	if err != nil {
		return done{}, err
	}
	return done{OK: true, ID: c.ID, TS: c.Says(who, o.Text, PostOptions{Thread: o.Thread})}, nil
}

// personAction is one thing a person does, beside saying something; or Slack, to an app.
type personAction struct {
	place
	Do    string   `json:"do"`
	TS    string   `json:"ts"`
	Text  string   `json:"text"` // new words or name, command, or reason
	Names []string `json:"names"`
}

func (s controlAPI) controlDoes(d personAction) (done, error) {
	if slices.Contains([]string{"disconnects", "severs", "freezes", "revokes", "redelivers"}, d.Do) {
		return s.toApp(d)
	}
	c, who, err := s.find(d.place)
	if err != nil {
		return done{}, err
	}
	switch d.Do {
	case "edits":
		if !c.Edits(d.TS, d.Text) {
			return done{}, fmt.Errorf("no message %q", d.TS)
		}
	case "deletes":
		c.Deletes(d.TS)
	case "reacts":
		c.Reacts(who, d.TS, d.Names...)
	case "pins":
		c.Pins(who, d.TS)
	case "renames":
		c.Renames(who, d.Text)
	case "joins":
		c.Joins(who)
	case "leaves":
		c.Leaves(who)
	case "archives":
		c.Archives(who)
	case "unarchives":
		c.Unarchives(who)
	case "invites", "kicks", "commands":
		a, err := s.app(d.App)
		if err != nil {
			return done{}, err
		}
		map[string]func(){
			"invites": func() { c.Invites(who, a) }, "kicks": func() { c.Kicks(a) }, "commands": func() { c.Commands(who, a, "/trestle", d.Text) },
		}[d.Do]()
	default:
		return done{}, fmt.Errorf("nobody can do %q", d.Do)
	}
	return done{OK: true, ID: c.ID}, nil
}

// toApp does what Slack does to an app.
func (s controlAPI) toApp(d personAction) (done, error) {
	a, err := s.app(d.App)
	if err != nil {
		return done{}, err
	}
	switch d.Do {
	case "disconnects":
		a.Disconnect(d.Text)
	case "severs":
		a.Sever()
	case "freezes":
		a.Freeze()
	case "revokes":
		a.Revoke()
	case "redelivers":
		n, _ := strconv.Atoi(d.Text) // none is none
		a.Redeliver(n)
	}
	return done{OK: true, ID: a.ID}, nil
}

// clockOrder says how long ago what happens from now on has happened, such as "72h".
type clockOrder struct {
	Behind string `json:"behind"`
}

func (s controlAPI) controlClock(o clockOrder) (done, error) {
	behind, err := time.ParseDuration(o.Behind)
	if err != nil {
		return done{}, err
	}
	s.Behind(behind)
	return done{OK: true}, nil
}

type injectOrder struct {
	App   string          `json:"app"`
	Event json.RawMessage `json:"event"`
}

func (s controlAPI) controlInject(o injectOrder) (done, error) {
	a, err := s.app(o.App)
	if err != nil {
		return done{}, err
	}
	a.Inject(o.Event)
	return done{OK: true, ID: a.ID}, nil
}

// controlSent answers what apps sent to a channel. With wait and n it first waits
// until there are that many; when they do not come, it answers what there is.
func (s controlAPI) controlSent(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	c, ok := s.Channel(q.Get("channel"))
	if !ok {
		var err error
		if c, _, err = s.find(place{App: q.Get("app"), From: q.Get("from")}); err != nil {
			fake.WriteError(w, http.StatusBadRequest, err)
			return
		}
	}
	fake.WriteSent(w, r, c.AwaitSent)
}
