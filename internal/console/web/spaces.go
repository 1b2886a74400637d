package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/spaces"
)

type spacesPage struct {
	pageLayout
	Spaces []api.SpaceRow
	Older  string
}

func (site *Site) pageSpaces(r *http.Request) (view, error) {
	rooms, older, err := site.latestSpaces(r)
	return &spacesPage{pageLayout{Title: "Spaces", Terminal: "trestle spaces"}, rooms, older}, err
}

type spacePage struct {
	pageLayout
	Space api.SpaceAnswer
	Lines []spokenLine
	Newer bool
	Muted map[spaces.AgentID]bool
}

// A spokenLine is one event of a space in words.
type spokenLine struct {
	api.LineRow
	Who    string
	What   string
	Agent  bool
	Aside  bool // an event without words
	Origin *spaces.SendOrigin
}

func (site *Site) pageSpace(r *http.Request) (view, error) {
	a, err := site.api.ReadSpace(r)
	if err != nil {
		return nil, err
	}
	var ids []spaces.EntityID
	for _, l := range a.Log {
		ids = append(ids, l.Actor)
	}
	slices.Sort(ids)
	names, err := site.Store.Names(r.Context(), slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	p := &spacePage{
		pageLayout: pageLayout{Title: a.Name, Terminal: "trestle events --space " + string(a.Space)},
		Space:      a, Newer: r.URL.Query().Get("before") != "",
	}
	p.Muted = map[spaces.AgentID]bool{}
	for _, id := range a.Muted {
		p.Muted[id] = true
	}
	for _, l := range a.Log {
		s := spokenLine{LineRow: l, Who: console.NameOf(l.Actor, names), What: console.DescribeEvent(l.Body)}
		_, s.Agent = l.Actor.IsAgent()
		s.Aside = l.Kind != spaces.KindSaid
		if said, ok := l.Body.(spaces.MessagePosted); ok {
			s.Origin = said.Origin
		}
		p.Lines = append(p.Lines, s)
	}
	return p, nil
}

// latestSpaces returns a page of spaces, the liveliest first, and the address of
// the next one.
func (site *Site) latestSpaces(r *http.Request) (rows []api.SpaceRow, older string, err error) {
	behind, err := cursorOf(r)
	if err != nil {
		return nil, "", err
	}
	found, err := site.Store.LatestRooms(r.Context(), behind, rowsOfPage+1)
	if err != nil {
		return nil, "", err
	}
	if len(found) > rowsOfPage {
		found = found[:rowsOfPage]
		last := found[rowsOfPage-1]
		older = merged(r, map[string]string{"before": console.Cursor{At: last.Last, ID: string(last.Space.ID)}.String()})
	}
	for _, o := range found {
		rows = append(rows, api.SpaceRowOf(o))
	}
	return rows, older, nil
}

// rowsOfPage is how many spaces or minds a page lists; rowsAtGlance is how many
// minds the first page does.
const (
	rowsOfPage   = 100
	rowsAtGlance = 20
)

// cursorOf reads behind which row of a list a page begins.
func cursorOf(r *http.Request) (console.Cursor, error) {
	text := r.URL.Query().Get("before")
	if text == "" {
		return console.Cursor{}, nil
	}
	at, id, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil || id == "" {
		return console.Cursor{}, console.ErrParameter
	}
	return console.Cursor{At: time.UnixMilli(n), ID: id}, nil
}
