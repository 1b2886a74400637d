package web

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

type searchPage struct {
	pageLayout
	Hits []hit
}

// A hit is one thing that was found.
type hit struct {
	Kind, Name, Path, Note string
}

// maxHits is how much of a kind is found.
const maxHits = 50

func (site *Site) pageSearch(r *http.Request) (view, error) {
	words := strings.TrimSpace(r.URL.Query().Get("q"))
	p := &searchPage{pageLayout: pageLayout{Title: "Search", Query: words, Terminal: "trestle search " + quoted(words)}}
	var err error
	if words != "" {
		p.Hits, err = site.search(r, words)
	}
	return p, err
}

// mindsIn returns the minds of the agents that are in rooms, by name.
func mindsIn(rooms []console.Room) []spaces.Mind {
	seen := map[spaces.Mind]bool{}
	for _, o := range rooms {
		for _, a := range o.Agents {
			seen[spaces.Mind{Agent: a, Circle: o.Space.Circle}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b spaces.Mind) int { return strings.Compare(a.String(), b.String()) })
}

// search finds spaces, minds, people and runs by name or the beginning of an id, and
// messages by their words.
func (site *Site) search(r *http.Request, words string) ([]hit, error) {
	var hits []hit
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(words)) }
	rooms, err := site.Store.Rooms(r.Context())
	if err != nil {
		return nil, err
	}
	for _, o := range rooms {
		if has(o.Space.Name) || has(string(o.Space.ID)) || slices.ContainsFunc(o.Chats, func(m spaces.ChatMapping) bool { return has(m.Chat) || has(m.Title) }) {
			hits = append(hits, hit{"space", o.Space.Name, "/spaces/" + string(o.Space.ID), textformat.CountNoun(o.Members, "member")})
		}
	}
	for _, m := range mindsIn(rooms) {
		if name := site.names.ofMind(m.String()); has(m.String()) || has(name) {
			hits = append(hits, hit{"mind", name, "/minds/" + m.String(), ""})
		}
	}
	people, err := site.Store.People(r.Context(), words, maxHits)
	if err != nil {
		return nil, err
	}
	for _, m := range people {
		hits = append(hits, hit{"person", m.Name, "/spaces/" + string(m.Space), "in " + site.names.ofSpace(m.Space)})
	}
	if run, err := site.Store.Run(r.Context(), words); err == nil {
		hits = append(hits, hit{"run", string(run.Cycle.ID), "/runs/" + string(run.Cycle.ID), string(run.Cycle.Stop)})
	}
	hits = hits[:min(len(hits), 3*maxHits)]
	said, err := site.api.SearchMessages(r, maxHits)
	if err != nil {
		return nil, err
	}
	for _, m := range said {
		where := "/spaces/" + string(m.Space) + "?before=" + console.FormatInt(m.Seq+1)
		hits = append(hits, hit{"message", m.Text, where, m.Name + " in " + site.names.ofSpace(m.Space) + ", " + m.At.UTC().Format("2006-01-02 15:04")})
	}
	return hits, nil
}
