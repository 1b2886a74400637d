package readmodel

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

const (
	figurePoints engine.QueryText = `select at, received, sent, unsent, failed, denied, calls, prompt, cached, output, cost from figures
where span = $1 and space = $2 and agent = $3 and platform = $4 and at >= $5 and at < $6 order by at`
	figureTimes engine.QueryText = `select at, bound, answers from answer_times
where span = $1 and space = $2 and agent = $3 and platform = $4 and at >= $5 and at < $6 order by at, bound`
	// figureParts !The added 0 keeps the engine from reading the rows of all spaces.
	figureParts engine.QueryText = `select agent, platform, sum(received), sum(sent), sum(unsent), sum(failed), sum(denied),
  sum(calls), sum(prompt), sum(cached), sum(output), sum(cost) from figures
where span = $1 and space = $2 and at + 0 >= $3 and at + 0 < $4 and (agent = '' or platform = '') and agent <> platform
group by agent, platform order by agent, platform`
)

// A FigureTable reads what happened over time. It implements [console.FigureReader].
type FigureTable struct{ engine engine.DatabaseEngine }

// NewFigureTable returns a FigureTable of a database.
func NewFigureTable(e engine.DatabaseEngine) FigureTable { return FigureTable{e} }

var _ console.FigureReader = FigureTable{}

// Points implements [console.FigureReader].
func (f FigureTable) Points(ctx context.Context, q console.FigureQuery) (points []console.FigurePoint, err error) {
	args := []any{q.Span.Milliseconds(), string(q.Space), string(q.Agent), q.Platform, engine.ToMillis(q.From), engine.ToMillis(q.To)}
	err = f.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		points, err = engine.AllRows(ctx, src, figurePoints, args, func(r engine.ResultRow) (p console.FigurePoint, err error) {
			p.Times = console.AnswerTimes{}
			return p, r.Scan(append([]any{engine.ScanTime(&p.At)}, countFields(&p.FigureCounts)...)...)
		})
		if err != nil {
			return err
		}
		next := 0 // an hour with answers has a row of counts: the answer was sent in it
		return engine.EachRow(ctx, src, figureTimes, args, func(r engine.ResultRow) error {
			var at, n int64
			var bound int
			if err := r.Scan(&at, &bound, &n); err != nil {
				return err
			}
			for next < len(points) && engine.ToMillis(points[next].At) < at {
				next++
			}
			if next == len(points) {
				return fmt.Errorf("answers at %d are not counted", at)
			}
			points[next].Times[bound] = n
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read figures: %w", err)
	}
	return points, nil
}

// Parts implements [console.FigureReader].
func (f FigureTable) Parts(ctx context.Context, q console.FigureQuery) ([]console.FigureTotal, error) {
	args := []any{q.Span.Milliseconds(), string(q.Space), engine.ToMillis(q.From), engine.ToMillis(q.To)}
	found, err := engine.AllRows(ctx, f.engine, figureParts, args, func(r engine.ResultRow) (t console.FigureTotal, err error) {
		return t, r.Scan(append([]any{&t.Agent, &t.Platform}, countFields(&t.FigureCounts)...)...)
	})
	if err != nil {
		return nil, fmt.Errorf("read figures of agents and platforms: %w", err)
	}
	return found, nil
}

// countFields returns the scan destinations for the counts.
func countFields(c *console.FigureCounts) []any {
	return []any{&c.Received, &c.Sent, &c.Unsent, &c.Failed, &c.Denied, &c.Calls, &c.Prompt, &c.Cached, &c.Output, &c.Cost}
}
