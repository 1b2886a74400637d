package readmodel

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	ratingsOfCycle engine.QueryText = `select event, who, coalesce((select name from entities n where n.id = who), ''), space, cycle, rating, why, at from feedback where cycle = $1 and who <> '' order by at, event, who`
	worstCycles    engine.QueryText = `select cycle from feedback where who <> '' and rating = 'bad' and ($1 = '' or agent = $1)
group by cycle order by count(*) desc, max(at) desc, cycle desc limit $2 + 0`
)

// ratingsOfRun returns the ratings of what a run said. A reason that was deleted is empty.
func ratingsOfRun(ctx context.Context, src engine.QueryReader, run spaces.CycleID) ([]spaces.Feedback, error) {
	all, err := engine.AllRows(ctx, src, ratingsOfCycle, []any{string(run)}, func(r engine.ResultRow) (f spaces.Feedback, err error) {
		return f, r.Scan(&f.Event, &f.Who, &f.Name, &f.Space, &f.Run, &f.Rating, &f.Why, engine.ScanTime(&f.At))
	})
	if err != nil {
		return nil, fmt.Errorf("read ratings of %s: %w", run, err)
	}
	for i := range all {
		reason := all[i].Why
		if all[i].Why = ""; reason == "" {
			continue
		}
		e, err := tables.EventByID(ctx, src, spaces.EventID(reason))
		if err != nil {
			return nil, err
		}
		if e == nil {
			continue
		}
		if said, ok := e.Body.(spaces.MessagePosted); ok {
			all[i].Why = said.Text
		}
	}
	return all, nil
}

// WorstRuns returns the runs whose messages people rated bad: those with most such ratings
// first, of these the ones that were rated last. An empty agent is any.
func WorstRuns(ctx context.Context, c ReadModel, agent spaces.AgentID, limit int) ([]spaces.CycleID, error) {
	runs, err := engine.AllRows(ctx, c.engine, worstCycles, []any{string(agent), limit}, engine.ScanValue[spaces.CycleID])
	if err != nil {
		return nil, fmt.Errorf("list the worst runs: %w", err)
	}
	return runs, nil
}
