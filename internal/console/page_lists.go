package console

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

type denialsPage struct {
	pageLayout
	Denials      denialsAnswer
	Agent, Since string
	Older        string
	Wrong        string
}

func (c *Console) pageDenials(r *http.Request) (view, error) {
	q := r.URL.Query()
	p := &denialsPage{
		pageLayout: pageLayout{Title: "Denials", Terminal: "trestle denials" + flags(q.Get, "agent", "since")},
		Agent:      q.Get("agent"), Since: q.Get("since"),
	}
	var err error
	switch p.Denials, err = c.denials(r); {
	case errors.Is(err, errNumber):
		p.Wrong = wrongSince
		return p, nil
	case p.Denials.Next > 0:
		p.Older = merged(r, map[string]string{"before": formatInt(p.Denials.Next)})
	}
	return p, err
}

// wrongSince is said of a time that nobody can read.
const wrongSince = "Since is a time such as 2h, 7d or 2026-01-31T00:00:00Z."

// LiveTypes are the types of live events, in the order in which docs/console.md
// explains them (PRD-6.2-2). Beside them a stream has [notify.Skipped].
var LiveTypes = []string{
	"gate_decision", "agent_assigned", "task_state_change", "phase_change", "hud_rendered", "memory_injected", "agent_thinking",
	"tool_resolved", "tool_executing", "tool_result", "tool_permission_denied", "memory_stored", "context_compacted", "budget_warning",
	"waiting_reply", "phrase_said", "mission_stop", "job", "span_opened", "span_closed", "delivery_sent", "delivery_failed",
}

type livePage struct {
	pageLayout
	Types   []chip
	Only    bool // some types alone
	Stream  string
	Address string
	Latest  []recentEvent
}

type chip struct {
	Name string
	Here bool
}

func (c *Console) pageLive(r *http.Request) (view, error) {
	p := &livePage{pageLayout: pageLayout{Title: "Live", Terminal: "trestle events -f"}, Stream: "/events", Address: "http://" + r.Host}
	want := siftOf(r).types
	for _, t := range LiveTypes {
		p.Types = append(p.Types, chip{t, slices.Contains(want, t)})
	}
	if p.Only = len(want) > 0; p.Only {
		p.Stream = "/events?type=" + strings.Join(slices.DeleteFunc(want, func(t string) bool { return !slices.Contains(LiveTypes, t) }), ",")
	}
	var err error
	p.Latest, err = c.latest(r, pageSize)
	return p, err
}

type problemsPage struct {
	pageLayout
	Open []Problem
}

func (c *Console) pageProblems(r *http.Request) (view, error) {
	open, err := c.Process.Problems(r.Context())
	return &problemsPage{pageLayout{Title: "Problems", Terminal: "trestle problems"}, open}, err
}

type settingsPage struct {
	pageLayout
	Rows    []SettingRow
	Tokens  []Key
	Waiting []Pairing
}

func (c *Console) pageSettings(r *http.Request) (view, error) {
	p := &settingsPage{pageLayout: pageLayout{Title: "Settings", Terminal: "trestle config show --all --origin"}, Rows: c.Settings.Rows()}
	var err error
	if p.Tokens, err = c.Keys.ListKeys(r.Context(), KeyToken); err != nil {
		return nil, err
	}
	p.Waiting, err = c.Process.Pairings(r.Context())
	return p, err
}

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

func (c *Console) pageSearch(r *http.Request) (view, error) {
	words := strings.TrimSpace(r.URL.Query().Get("q"))
	p := &searchPage{pageLayout: pageLayout{Title: "Search", Query: words, Terminal: "trestle search " + quoted(words)}}
	var err error
	if words != "" {
		p.Hits, err = c.look(r, words)
	}
	return p, err
}

// mindsIn returns the minds of the agents that are in rooms, by name.
func mindsIn(rooms []Room) []spaces.Mind {
	seen := map[spaces.Mind]bool{}
	for _, o := range rooms {
		for _, a := range o.Agents {
			seen[spaces.Mind{Agent: a, Circle: o.Space.Circle}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b spaces.Mind) int { return strings.Compare(a.String(), b.String()) })
}

// look finds spaces, minds, people and runs by name or the beginning of an id, and
// messages by their words.
func (c *Console) look(r *http.Request, words string) ([]hit, error) {
	var hits []hit
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(words)) }
	rooms, err := c.Record.Rooms(r.Context())
	if err != nil {
		return nil, err
	}
	for _, o := range rooms {
		if has(o.Space.Name) || has(string(o.Space.ID)) || slices.ContainsFunc(o.Chats, func(m spaces.ChatMapping) bool { return has(m.Chat) || has(m.Title) }) {
			hits = append(hits, hit{"space", o.Space.Name, "/spaces/" + string(o.Space.ID), textformat.CountNoun(o.Members, "member")})
		}
	}
	for _, m := range mindsIn(rooms) {
		if name := c.mindName(m.String()); has(m.String()) || has(name) {
			hits = append(hits, hit{"mind", name, "/minds/" + m.String(), ""})
		}
	}
	people, err := c.Record.People(r.Context(), words, maxHits)
	if err != nil {
		return nil, err
	}
	for _, m := range people {
		hits = append(hits, hit{"person", m.Name, "/spaces/" + string(m.Space), "in " + c.spaceName(m.Space)})
	}
	if run, err := c.Record.Run(r.Context(), words); err == nil {
		hits = append(hits, hit{"run", string(run.Cycle.ID), "/runs/" + string(run.Cycle.ID), string(run.Cycle.Stop)})
	}
	hits = hits[:min(len(hits), 3*maxHits)]
	said, err := c.said(r, maxHits)
	if err != nil {
		return nil, err
	}
	for _, m := range said {
		where := "/spaces/" + string(m.Space) + "?before=" + formatInt(m.Seq+1)
		hits = append(hits, hit{"message", m.Text, where, m.Name + " in " + c.spaceName(m.Space) + ", " + m.At.UTC().Format("2006-01-02 15:04")})
	}
	return hits, nil
}
