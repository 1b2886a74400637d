package console

import (
	"net/http"

	"github.com/trestle-bridge/trestle/spaces"
)

func spaceRowOf(o Room) SpaceRow {
	row := SpaceRow{
		Space: o.Space.ID, Name: o.Space.Name, Circle: o.Space.Circle, Wake: o.Space.Wake, Direct: o.Space.Direct,
		Agents: some(o.Agents), Members: o.Members, Events: o.Events, Last: o.Last, Chats: []chatRow{},
	}
	for _, m := range o.Chats {
		row.Chats = append(row.Chats, chatRow{m.Account, m.Chat, m.Title, m.Relay, m.Live})
	}
	return row
}

func (c *Console) spaces(r *http.Request) (spacesAnswer, error) {
	rooms, err := c.Record.Rooms(r.Context())
	if err != nil {
		return spacesAnswer{}, err
	}
	a := spacesAnswer{Spaces: []SpaceRow{}}
	for _, o := range rooms {
		a.Spaces = append(a.Spaces, spaceRowOf(o))
	}
	return a, nil
}

// space returns the space that a path names with a page of its log.
func (c *Console) space(r *http.Request) (spaceAnswer, error) {
	id := spaces.SpaceID(r.PathValue("id"))
	before, err := number(r, "before")
	if err != nil {
		return spaceAnswer{}, err
	}
	limit, err := limitOf(r)
	if err != nil {
		return spaceAnswer{}, err
	}
	room, people, err := c.Record.Room(r.Context(), id)
	if err != nil {
		return spaceAnswer{}, err
	}
	lines, err := c.Record.Log(r.Context(), id, before, limit+1)
	if err != nil {
		return spaceAnswer{}, err
	}
	a := spaceAnswer{SpaceRow: spaceRowOf(room), People: []memberRow{}, Log: []lineRow{}}
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

func lineRowOf(l LogLine) lineRow {
	e := l.Event
	row := lineRow{
		Seq: e.Seq, Event: e.ID, Kind: e.Body.Kind(), Actor: e.Actor, At: e.At, Thread: e.Thread, Body: e.Body,
		Marks: []markRow{}, Places: some(l.Places),
	}
	for _, m := range l.Marks {
		row.Marks = append(row.Marks, markRow{m.Mind.String(), m.State, m.Reason, m.Run})
	}
	return row
}
