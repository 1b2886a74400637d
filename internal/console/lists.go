package console

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// rowsOfPage is how many spaces or minds a page lists; rowsAtGlance is how many
// minds the first page does.
const (
	rowsOfPage   = 100
	rowsAtGlance = 20
)

// String writes a cursor for an address.
func (c Cursor) String() string {
	if c.At.IsZero() {
		return "0." + c.ID
	}
	return formatInt(c.At.UnixMilli()) + "." + c.ID
}

// cursorOf reads behind which row of a list a page begins.
func cursorOf(r *http.Request) (Cursor, error) {
	text := r.URL.Query().Get("before")
	if text == "" {
		return Cursor{}, nil
	}
	at, id, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil || id == "" {
		return Cursor{}, errNumber
	}
	return Cursor{time.UnixMilli(n), id}, nil
}

// latestSpaces returns a page of spaces, the liveliest first, and the address of
// the next one.
func (c *Console) latestSpaces(r *http.Request) (rows []SpaceRow, older string, err error) {
	behind, err := cursorOf(r)
	if err != nil {
		return nil, "", err
	}
	found, err := c.Record.LatestRooms(r.Context(), behind, rowsOfPage+1)
	if err != nil {
		return nil, "", err
	}
	if len(found) > rowsOfPage {
		found = found[:rowsOfPage]
		last := found[rowsOfPage-1]
		older = merged(r, map[string]string{"before": Cursor{last.Last, string(last.Space.ID)}.String()})
	}
	for _, o := range found {
		rows = append(rows, spaceRowOf(o))
	}
	return rows, older, nil
}

// latestMinds returns so many minds, those that ran last first, and the address
// of the next page.
func (c *Console) latestMinds(r *http.Request, limit int) (rows []mindRow, older string, err error) {
	behind, err := cursorOf(r)
	if err != nil {
		return nil, "", err
	}
	found, err := c.Record.LatestMinds(r.Context(), time.Now(), behind, limit+1)
	if err != nil {
		return nil, "", err
	}
	if len(found) > limit {
		found = found[:limit]
		last := found[limit-1]
		end := Cursor{ID: last.Mind.String()}
		if last.Last != nil {
			end.At = last.Last.Started
		}
		older = merged(r, map[string]string{"before": end.String()})
	}
	for _, m := range found {
		rows = append(rows, mindRowOf(m))
	}
	return rows, older, nil
}

func mindRowOf(m Mind) mindRow {
	row := mindRow{Mind: m.Mind.String(), Cycles: m.Cycles, Tokens: m.Tokens}
	if m.Last != nil {
		row.Last = new(RowOf(*m.Last))
	}
	return row
}

// mindName writes a mind for people: one of a room's own circle is known by the
// room.
func (c *Console) mindName(text string) string {
	m, _ := spaces.ParseMind(text)
	if room, own := m.Circle.Own(); own {
		return Plain(string(m.Agent)) + " in " + c.spaceName(room)
	}
	return Plain(text)
}
