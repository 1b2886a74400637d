package console

import (
	"net/http"
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

type spacesPage struct {
	pageLayout
	Spaces []SpaceRow
	Older  string
}

func (c *Console) pageSpaces(r *http.Request) (view, error) {
	rooms, older, err := c.latestSpaces(r)
	return &spacesPage{pageLayout{Title: "Spaces", Terminal: "trestle spaces"}, rooms, older}, err
}

type spacePage struct {
	pageLayout
	Space spaceAnswer
	Lines []spokenLine
	Newer bool
}

// A spokenLine is one event of a space in words.
type spokenLine struct {
	lineRow
	Who    string
	What   string
	Agent  bool
	Aside  bool // not said by anybody
	Origin *spaces.SendOrigin
}

func (c *Console) pageSpace(r *http.Request) (view, error) {
	a, err := c.space(r)
	if err != nil {
		return nil, err
	}
	var ids []spaces.EntityID
	for _, l := range a.Log {
		ids = append(ids, l.Actor)
	}
	slices.Sort(ids)
	names, err := c.Record.Names(r.Context(), slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	p := &spacePage{
		pageLayout: pageLayout{Title: a.Name, Terminal: "trestle events --space " + string(a.Space)},
		Space:      a, Newer: r.URL.Query().Get("before") != "",
	}
	for _, l := range a.Log {
		s := spokenLine{lineRow: l, Who: nameOf(l.Actor, names), What: tellingOf(l.Body)}
		_, s.Agent = l.Actor.IsAgent()
		s.Aside = l.Kind != spaces.KindSaid
		if said, ok := l.Body.(spaces.MessagePosted); ok {
			s.Origin = said.Origin
		}
		p.Lines = append(p.Lines, s)
	}
	return p, nil
}
