package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/spaces"
)

type nowPage struct {
	pageLayout
	Open         []alerts.Alert
	Tally        console.Totals
	Cap, CapHigh int // tokens of a day; 0: no limit
	Minds        []api.MindRow
	More         bool // minds than these
	Adapters     []console.Adapter
	Latest       []recentEvent
}

// A recentEvent is one event in a list of what came last.
type recentEvent struct {
	At    time.Time
	Space spaces.SpaceID
	Seq   int64
	Kind  spaces.EventKind
	Who   string
	What  string
}

func (site *Site) pageNow(r *http.Request) (view, error) {
	p := &nowPage{pageLayout: pageLayout{Title: "Now", Terminal: "trestle status"}}
	var err error
	if p.Tally, err = site.Store.Tally(r.Context(), time.Now()); err != nil {
		return nil, err
	}
	minds, older, err := mindPages{site}.latestMinds(r, rowsAtGlance)
	if err != nil {
		return nil, err
	}
	if p.Open, err = site.Process.Problems(r.Context()); err != nil {
		return nil, err
	}
	if p.Latest, err = site.latestEvents(r, 15); err != nil {
		return nil, err
	}
	p.Minds, p.More, p.Adapters = minds, older != "", site.Process.Adapters()
	p.Cap = site.dailyTokenLimit()
	p.CapHigh = p.Cap * 4 / 5
	return p, nil
}

// dailyTokenLimit returns the tokens that a day may take, as configured.
func (site *Site) dailyTokenLimit() int {
	for _, row := range site.Settings.Rows() {
		if row.Path == "budget.per_day" {
			n, _ := strconv.Atoi(row.Value) // one that is written with a unit is not shown
			return n
		}
	}
	return 0
}

// latestEvents returns what was recorded last, newest first.
func (site *Site) latestEvents(r *http.Request, limit int) ([]recentEvent, error) {
	events, err := site.Store.Recent(r.Context(), "", limit)
	if err != nil {
		return nil, err
	}
	names, err := site.Store.Names(r.Context(), console.Actors(events))
	if err != nil {
		return nil, err
	}
	all := make([]recentEvent, len(events))
	for i, e := range events {
		all[len(events)-1-i] = recentEvent{e.At, e.Space, e.Seq, e.Body.Kind(), console.NameOf(e.Actor, names), console.DescribeEvent(e.Body)}
	}
	return all, nil
}

// LiveTypes are the types of live events, in the order in which docs/console.md
// explains them. Beside them a stream has [notify.Skipped].
var LiveTypes = []string{
	"gate_decision", "agent_assigned", "task_state_change", "phase_change", "hud_rendered", "memory_injected", "agent_thinking",
	"tool_resolved", "tool_executing", "tool_result", "tool_permission_denied", "memory_stored", "context_compacted", "budget_warning",
	"waiting_reply", "phrase_said", "mission_stop", "job", "span_opened", "span_closed", "delivery_sent", "delivery_failed",
	"mission_state_change", "mission_task_state_change",
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

func (site *Site) pageLive(r *http.Request) (view, error) {
	p := &livePage{pageLayout: pageLayout{Title: "Live", Terminal: "trestle events -f"}, Stream: "/events", Address: "http://" + r.Host}
	want := console.EventFilterOf(r).Types
	for _, t := range LiveTypes {
		p.Types = append(p.Types, chip{t, slices.Contains(want, t)})
	}
	if p.Only = len(want) > 0; p.Only {
		p.Stream = "/events?type=" + strings.Join(slices.DeleteFunc(want, func(t string) bool { return !slices.Contains(LiveTypes, t) }), ",")
	}
	var err error
	p.Latest, err = site.latestEvents(r, console.DefaultLimit)
	return p, err
}

type problemsPage struct {
	pageLayout
	Open []alerts.Alert
}

func (site *Site) pageProblems(r *http.Request) (view, error) {
	open, err := site.Process.Problems(r.Context())
	return &problemsPage{pageLayout{Title: "Problems", Terminal: "trestle problems"}, open}, err
}
