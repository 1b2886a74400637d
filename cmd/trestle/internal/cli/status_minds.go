package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/spaces"
)

// mindRow is one mind as a list shows it.
type mindRow struct {
	Mind   string      `json:"mind"`
	Room   string      `json:"room,omitempty"` // the name of its only one, where the circle is that room's own
	Doing  string      `json:"doing"`          // resting, thinking
	Cycles int64       `json:"cycles"`
	Tokens int         `json:"tokens_today"`
	Cost   *float64    `json:"cost_today"`   // null when no price was known
	Cached float64     `json:"cached_today"` // share of what the model read that the endpoint had kept
	Last   *api.RunRow `json:"last"`         // null before the first
}

// mindsAtGlance is how many minds a status lists.
const mindsAtGlance = 20

// readMinds lists the minds that ran last, or all.
func (a *statusAnswer) readMinds(ctx context.Context, o readContext, all bool, now time.Time) error {
	limit := mindsAtGlance
	if all {
		limit = math.MaxInt32 - 1
	}
	minds, err := o.LatestMinds(ctx, now, console.Cursor{}, limit+1)
	if err != nil {
		return err
	}
	if a.More = len(minds) > limit; a.More {
		minds = minds[:limit]
	}
	names, err := o.RoomNames(ctx)
	a.Minds = mindRows(minds, names)
	return err
}

func mindRows(minds []console.Mind, names map[spaces.SpaceID]string) []mindRow {
	rows := make([]mindRow, 0, len(minds))
	for _, m := range minds {
		r := mindRow{Mind: m.Mind.String(), Doing: "resting", Cycles: m.Cycles, Tokens: m.Tokens, Cost: api.CostOf(m.Cost)}
		if room, own := m.Mind.Circle.Own(); own {
			r.Room = names[room]
		}
		if m.Open > 0 {
			r.Doing = "thinking"
		}
		if m.Prompt > 0 {
			r.Cached = float64(m.Cached) / float64(m.Prompt)
		}
		if m.Last != nil {
			r.Last = new(api.RowOf(*m.Last))
		}
		rows = append(rows, r)
	}
	return rows
}

func (a *statusAnswer) printMinds(w io.Writer, at timeFormat) {
	rows := [][]string{{"MIND", "DOING", "CYCLES", "LAST CYCLE", "STOP", "TODAY", "CACHED", "ROOM"}}
	for _, m := range a.Minds {
		last, stop := "-", "-"
		if m.Last != nil {
			last, stop = at.past(m.Last.Started), textout.OrDash(string(m.Last.Stop))
			if m.Last.Stop != "" {
				last += fmt.Sprintf(", %.1f s", m.Last.Seconds)
			}
		}
		today := tokenCount(m.Tokens) + " tok"
		if m.Cost != nil {
			today += fmt.Sprintf("  %.2f", *m.Cost)
		}
		rows = append(rows, []string{m.Mind, m.Doing, fmt.Sprint(m.Cycles), last, stop, today, fmt.Sprintf("%.0f %%", 100*m.Cached), textout.OrDash(m.Room)})
	}
	if !slices.ContainsFunc(a.Minds, func(m mindRow) bool { return m.Room != "" }) {
		for i, r := range rows {
			rows[i] = r[:len(r)-1]
		}
	}
	textout.WriteTable(w, rows)
	if a.More {
		fmt.Fprintln(w, "these ran last; trestle status --all lists every mind")
	}
}
