package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

type denialsPage struct {
	chrome
	Denials      denialsAnswer
	Agent, Since string
	Older        string
	Wrong        string
}

func (c *Console) pageDenials(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	p := &denialsPage{
		chrome: chrome{Title: "Denials", Terminal: "trestle denials" + flags(q.Get, "agent", "since")},
		Agent:  q.Get("agent"), Since: q.Get("since"),
	}
	var err error
	switch p.Denials, err = c.denials(r); {
	case err == errNumber: //nolint:errorlint // it is ours and never wrapped
		p.Wrong = "Since is a time such as 2h, 7d or 2026-01-31T00:00:00Z."
	case err != nil:
		c.broken(w, r, err)
		return
	case p.Denials.Next > 0:
		p.Older = merged(r, map[string]string{"before": formatInt(p.Denials.Next)})
	}
	c.render(w, r, http.StatusOK, "denials", p)
}

// vocabulary is every type of live event (PRD-6.2-2).
var vocabulary = []string{
	"agent_assigned", "agent_thinking", "tool_resolved", "tool_permission_denied", "tool_executing", "tool_result",
	"memory_injected", "memory_stored", "context_compacted", "budget_warning", "task_state_change", "mission_stop",
	"phase_change", "hud_rendered", "span_opened", "span_closed", "delivery_sent", "delivery_failed", "gate_decision",
	"waiting_reply", "phrase_said", "job",
}

type livePage struct {
	chrome
	Types   []chip
	Only    bool // some types alone
	Stream  string
	Address string
	Latest  []happening
}

type chip struct {
	Name string
	Here bool
}

func (c *Console) pageLive(w http.ResponseWriter, r *http.Request) {
	p := &livePage{chrome: chrome{Title: "Live", Terminal: "trestle events -f"}, Stream: "/events", Address: "http://" + r.Host}
	want := siftOf(r).types
	for _, t := range vocabulary {
		p.Types = append(p.Types, chip{t, slices.Contains(want, t)})
	}
	if p.Only = len(want) > 0; p.Only {
		p.Stream = "/events?type=" + strings.Join(slices.DeleteFunc(want, func(t string) bool { return !slices.Contains(vocabulary, t) }), ",")
	}
	var err error
	if p.Latest, err = c.latest(r, pageSize); err != nil {
		c.broken(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "live", p)
}

type problemsPage struct {
	chrome
	Open []Problem
}

func (c *Console) pageProblems(w http.ResponseWriter, r *http.Request) {
	open, err := c.Process.Problems(r.Context())
	if err != nil {
		c.broken(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "problems", &problemsPage{chrome{Title: "Problems", Terminal: "trestle problems"}, open})
}

type settingsPage struct {
	chrome
	Rows    []Row
	Tokens  []Key
	Waiting []Pairing
}

func (c *Console) pageSettings(w http.ResponseWriter, r *http.Request) {
	p := &settingsPage{chrome: chrome{Title: "Settings", Terminal: "trestle config show --all --origin"}, Rows: c.Settings.Rows()}
	var err error
	if p.Tokens, err = c.Keys.ListKeys(r.Context(), KeyToken); err != nil {
		c.broken(w, r, err)
		return
	}
	if p.Waiting, err = c.Process.Pairings(r.Context()); err != nil {
		c.broken(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "settings", p)
}

type searchPage struct {
	chrome
	Hits []hit
}

// A hit is one thing that was found.
type hit struct {
	Kind, Name, Path, Note string
}

// maxHits is how much of a kind is found.
const maxHits = 50

func (c *Console) pageSearch(w http.ResponseWriter, r *http.Request) {
	words := strings.TrimSpace(r.URL.Query().Get("q"))
	p := &searchPage{chrome: chrome{Title: "Search", Query: words, Terminal: "trestle search " + quoted(words)}}
	var err error
	if words != "" {
		if p.Hits, err = c.look(r, words); err != nil {
			c.broken(w, r, err)
			return
		}
	}
	c.render(w, r, http.StatusOK, "search", p)
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
		if has(o.Space.Name) || has(string(o.Space.ID)) || slices.ContainsFunc(o.Chats, func(m spaces.Mapping) bool { return has(m.Chat) || has(m.Title) }) {
			hits = append(hits, hit{"space", o.Space.Name, "/spaces/" + string(o.Space.ID), count(o.Members, "member")})
		}
	}
	minds, err := c.minds(r)
	if err != nil {
		return nil, err
	}
	for _, m := range minds.Minds {
		if has(m.Mind) {
			hits = append(hits, hit{"mind", m.Mind, "/minds/" + m.Mind, ""})
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
