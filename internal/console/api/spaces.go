package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// A SpaceRow is one space in a list.
type SpaceRow struct {
	Space   spaces.SpaceID    `json:"space"`
	Name    string            `json:"name"`
	Circle  spaces.CircleID   `json:"circle"`
	Wake    spaces.WakePolicy `json:"wake"`
	Direct  bool              `json:"direct"`
	Agents  []spaces.AgentID  `json:"agents"`
	Members int               `json:"members"`
	Events  int64             `json:"events"`
	Last    time.Time         `json:"last,omitzero"`
	Chats   []chatRow         `json:"chats"`
}

type chatRow struct {
	Account string `json:"account"`
	Chat    string `json:"chat"`
	Title   string `json:"title,omitempty"`
	Relay   bool   `json:"relay"`
	Live    bool   `json:"live"`
}

type spacesAnswer struct {
	Spaces []SpaceRow `json:"spaces"`
}

// SpaceAnswer is one space with a page of its log, newest first.
type SpaceAnswer struct {
	SpaceRow
	Muted  []spaces.AgentID `json:"muted"` // agents that follow it in silence
	People []memberRow      `json:"people"`
	Log    []LineRow        `json:"log"`
	Next   int64            `json:"next,omitempty"` // goes into before for older events
}

type memberRow struct {
	ID    spaces.EntityID   `json:"id"`
	Kind  spaces.EntityKind `json:"kind"`
	Name  string            `json:"name"`
	Since int64             `json:"since"`
}

// A LineRow is one event of a space with what became of it.
type LineRow struct {
	Seq    int64               `json:"seq"`
	Event  spaces.EventID      `json:"event"`
	Kind   spaces.EventKind    `json:"kind"`
	Actor  spaces.EntityID     `json:"actor,omitempty"`
	At     time.Time           `json:"at"`
	Thread spaces.ThreadID     `json:"thread,omitempty"`
	Body   spaces.EventBody    `json:"body"`
	Marks  []markRow           `json:"marks"`
	Places []spaces.MessageRef `json:"places"`
}

// A markRow is what one mind made of an event.
type markRow struct {
	Mind   string               `json:"mind"`
	State  spaces.InboxRowState `json:"state"`
	Reason string               `json:"reason"`
	Run    spaces.CycleID       `json:"run,omitempty"`
}

// SpaceRowOf returns a space as lists show it.
func SpaceRowOf(o console.Room) SpaceRow {
	row := SpaceRow{
		Space: o.Space.ID, Name: o.Space.Name, Circle: o.Space.Circle, Wake: o.Space.Wake, Direct: o.Space.Direct,
		Agents: console.NonNil(o.Agents), Members: o.Members, Events: o.Events, Last: o.Last, Chats: []chatRow{},
	}
	for _, m := range o.Chats {
		row.Chats = append(row.Chats, chatRow{m.Account, m.Chat, m.Title, m.Relay, m.Live})
	}
	return row
}

func (api *API) serveSpaces(r *http.Request) (spacesAnswer, error) {
	rooms, err := api.Store.Rooms(r.Context())
	if err != nil {
		return spacesAnswer{}, err
	}
	a := spacesAnswer{Spaces: []SpaceRow{}}
	for _, o := range rooms {
		a.Spaces = append(a.Spaces, SpaceRowOf(o))
	}
	return a, nil
}

// ReadSpace returns the space that a path names with a page of its log.
func (api *API) ReadSpace(r *http.Request) (SpaceAnswer, error) {
	id := spaces.SpaceID(r.PathValue("id"))
	before, err := console.QueryNumber(r, "before")
	if err != nil {
		return SpaceAnswer{}, err
	}
	limit, err := console.QueryLimit(r)
	if err != nil {
		return SpaceAnswer{}, err
	}
	room, people, err := api.Store.Room(r.Context(), id)
	if err != nil {
		return SpaceAnswer{}, err
	}
	lines, err := api.Store.Log(r.Context(), id, before, limit+1)
	if err != nil {
		return SpaceAnswer{}, err
	}
	a := SpaceAnswer{SpaceRow: SpaceRowOf(room), Muted: console.NonNil(room.Muted), People: []memberRow{}, Log: []LineRow{}}
	for _, m := range people {
		a.People = append(a.People, memberRow{m.ID, m.Kind, m.Name, m.Since})
	}
	if len(lines) > limit {
		lines = lines[:limit]
		a.Next = lines[limit-1].Event.Seq
	}
	for _, l := range lines {
		a.Log = append(a.Log, lineRowOf(l))
	}
	return a, nil
}

func lineRowOf(l console.LogLine) LineRow {
	e := l.Event
	row := LineRow{
		Seq: e.Seq, Event: e.ID, Kind: e.Body.Kind(), Actor: e.Actor, At: e.At, Thread: e.Thread, Body: e.Body,
		Marks: []markRow{}, Places: console.NonNil(l.Places),
	}
	for _, m := range l.Marks {
		row.Marks = append(row.Marks, markRow{m.Mind.String(), m.State, m.Reason, m.Run})
	}
	return row
}

// A FoundRow is one message that was looked for.
type FoundRow struct {
	Event spaces.EventID  `json:"event"`
	Space spaces.SpaceID  `json:"space"`
	Seq   int64           `json:"seq"`
	Actor spaces.EntityID `json:"actor,omitempty"`
	Name  string          `json:"name,omitempty"`
	At    time.Time       `json:"at"`
	Text  string          `json:"text"`
}

type searchAnswer struct {
	Messages []FoundRow `json:"messages"`
}

// SearchMessages looks for messages by their words, as an operator who may read every room.
func (api *API) SearchMessages(r *http.Request, limit int) ([]FoundRow, error) {
	q := r.URL.Query()
	f := console.MessageQuery{Text: strings.TrimSpace(q.Get("q")), Space: spaces.SpaceID(q.Get("space")), Limit: limit}
	var err error
	if f.Since, err = console.QuerySince(r, time.Now()); err != nil || f.Text == "" {
		return nil, err
	}
	events, err := api.Store.Said(r.Context(), f)
	if err != nil {
		return nil, err
	}
	names, err := api.Store.Names(r.Context(), console.Actors(events))
	if err != nil {
		return nil, err
	}
	var found []FoundRow
	for _, e := range events {
		found = append(found, FoundRow{e.ID, e.Space, e.Seq, e.Actor, names[e.Actor].Name, e.At, wordsOf(e.Body)})
	}
	return found, nil
}

// wordsOf returns the words of a message or of an edit of one.
func wordsOf(b spaces.EventBody) string {
	switch b := b.(type) { //nolint:gochecksumtype // nothing else has words of its own
	case spaces.MessagePosted:
		return b.Text
	case spaces.MessageEdited:
		return b.Text
	case spaces.VoiceTranscribed:
		return b.Text
	}
	return ""
}

func (api *API) serveSearch(r *http.Request) (searchAnswer, error) {
	limit, err := console.QueryLimit(r)
	if err != nil {
		return searchAnswer{}, err
	}
	found, err := api.SearchMessages(r, limit)
	return searchAnswer{console.NonNil(found)}, err
}
