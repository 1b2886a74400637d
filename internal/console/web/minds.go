package web

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/spaces"
)

type mindsPage struct {
	pageLayout
	Minds []api.MindRow
	Older string
}

// mindPages are the pages of minds and of what they keep.
type mindPages struct{ *Site }

func (site mindPages) pageMinds(r *http.Request) (view, error) {
	minds, older, err := site.latestMinds(r, rowsOfPage)
	return &mindsPage{pageLayout{Title: "Minds", Terminal: "trestle status --all"}, minds, older}, err
}

type mindPage struct {
	pageLayout
	Mind     string
	Wordy    string // the model, where it answers in words
	Model    console.ModelUse
	Keyframe *spaces.Keyframe
	Runs     api.RunsAnswer
}

func (site mindPages) pageMind(r *http.Request) (view, error) {
	m, err := api.MindInPath(r)
	if err != nil {
		return nil, err
	}
	p := &mindPage{pageLayout: pageLayout{Title: m.String(), Terminal: "trestle hud " + m.String()}, Mind: m.String(), Model: site.Settings.Model(m.Agent)}
	if p.Keyframe, _, err = site.Store.Turns(r.Context(), m, 1); err != nil {
		return nil, err
	}
	if p.Wordy, err = site.Store.WordyModel(r.Context(), m); err != nil {
		return nil, err
	}
	p.Runs, err = site.api.Runs.ListRuns(r, console.Filter{Agent: m.Agent, Circle: m.Circle, Before: spaces.CycleID(r.URL.Query().Get("before")), Limit: console.DefaultLimit})
	if err == nil && p.Keyframe == nil && len(p.Runs.Runs) == 0 {
		err = console.ErrUnknown
	}
	return p, err
}

// latestMinds returns so many minds, those that ran last first, and the address
// of the next page.
func (site mindPages) latestMinds(r *http.Request, limit int) (rows []api.MindRow, older string, err error) {
	behind, err := cursorOf(r)
	if err != nil {
		return nil, "", err
	}
	found, err := site.Store.LatestMinds(r.Context(), time.Now(), behind, limit+1)
	if err != nil {
		return nil, "", err
	}
	if len(found) > limit {
		found = found[:limit]
		last := found[limit-1]
		end := console.Cursor{ID: last.Mind.String()}
		if last.Last != nil {
			end.At = last.Last.Started
		}
		older = merged(r, map[string]string{"before": end.String()})
	}
	for _, m := range found {
		rows = append(rows, api.MindRowOf(m))
	}
	return rows, older, nil
}

type memoryPage struct {
	pageLayout
	Minds  []api.MindRow // to choose from; with one that is chosen none
	More   string        // the address of those that ran before these
	Memory api.MemoryAnswer
	Words  string
	Reader string
	Later  bool // not the newest page
	Older  string
}

func (site mindPages) pageMemories(r *http.Request) (view, error) {
	minds, more, err := site.latestMinds(r, rowsOfPage)
	return &memoryPage{pageLayout: pageLayout{Title: "Memory", Terminal: "trestle status --all"}, Minds: minds, More: more}, err
}

func (site mindPages) pageMemory(r *http.Request) (view, error) {
	m, err := api.MindInPath(r)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	p := &memoryPage{
		pageLayout: pageLayout{Title: "Memory of " + m.String(), Terminal: "trestle memory " + m.String() + flags(q.Get, "words", "reader")},
		Words:      q.Get("words"), Reader: q.Get("reader"), Later: q.Get("before") != "",
	}
	if p.Memory, err = site.api.Memory.ReadMemory(r, m); p.Memory.Next != "" {
		p.Older = merged(r, map[string]string{"before": p.Memory.Next})
	}
	return p, err
}

// pageChangeMemory changes what a mind has and shows it.
func (site mindPages) pageChangeMemory(w http.ResponseWriter, r *http.Request) {
	var correct *api.MemoryEdit
	if r.PostFormValue("do") == "correct" {
		correct = &api.MemoryEdit{Fact: r.PostFormValue("fact")}
	}
	m, err := site.api.Memory.ChangeMemory(r, r.PostFormValue("id"), correct)
	if no, ok := errors.AsType[console.UserError](err); ok {
		said := no.Refusal()
		site.respond.Fail(w, r, http.StatusBadRequest, said.Error+" "+said.Do)
		return
	}
	if err != nil {
		site.respond.FailInternal(w, r, err)
		return
	}
	http.Redirect(w, r, memoryPath(m), http.StatusSeeOther)
}

func memoryPath(m spaces.Mind) string {
	return "/memory/" + url.PathEscape(string(m.Agent)) + "/" + url.PathEscape(string(m.Circle))
}
