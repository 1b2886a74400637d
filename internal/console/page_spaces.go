package console

import (
	"net/http"

	"github.com/trestle-bridge/trestle/spaces"
)

type spacesPage struct {
	chrome
	Spaces []spaceRow
}

func (c *Console) pageSpaces(w http.ResponseWriter, r *http.Request) {
	a, err := c.spaces(r)
	if err != nil {
		c.broken(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "spaces", &spacesPage{chrome{Title: "Spaces", Terminal: "trestle spaces"}, a.Spaces})
}

type spacePage struct {
	chrome
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
	Origin *spaces.Provenance
}

func (c *Console) pageSpace(w http.ResponseWriter, r *http.Request) {
	id := spaces.SpaceID(r.PathValue("id"))
	a, err := c.space(r, id)
	if err == errNumber { //nolint:errorlint // it is ours and never wrapped
		c.missing(w, r)
		return
	}
	if err != nil {
		c.broken(w, r, err)
		return
	}
	ids := make([]spaces.EntityID, 0, len(a.Log))
	for _, l := range a.Log {
		ids = append(ids, l.Actor)
	}
	names, err := c.Record.Names(r.Context(), unique(ids))
	if err != nil {
		c.broken(w, r, err)
		return
	}
	p := &spacePage{
		chrome: chrome{Title: a.Name, Terminal: "trestle events --space " + string(id)},
		Space:  a, Newer: r.URL.Query().Get("before") != "",
	}
	for _, l := range a.Log {
		s := spokenLine{lineRow: l, Who: nameOf(l.Actor, names), What: tellingOf(l.Body)}
		_, s.Agent = l.Actor.IsAgent()
		s.Aside = l.Kind != spaces.KindSaid
		if said, ok := l.Body.(spaces.Said); ok {
			s.Origin = said.Origin
		}
		p.Lines = append(p.Lines, s)
	}
	c.render(w, r, http.StatusOK, "space", p)
}

// unique returns the ids, each once and none empty.
func unique(ids []spaces.EntityID) []spaces.EntityID {
	seen := map[spaces.EntityID]bool{"": true}
	var out []spaces.EntityID
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
