package sqlstore

import (
	"context"
	"fmt"
	"math"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// Runs are listed from their newest end. What a list is narrowed to most
// decides along which index it goes; the rest is looked at row by row.
const (
	foundColumns engine.Query = ` and ($3 = '' or space = $3) and ($4 = '' or agent = $4) and ($5 = '' or stop = $5) and started >= $6
  and (started < $1 or started = $1 and id < $2) order by started desc, id desc limit $7 + 0`
	foundCycles engine.Query = `select ` + cycleColumns + ` from cycles where started <= $1` + foundColumns
	foundIn     engine.Query = `select ` + cycleColumns + ` from cycles where space = $3 and started <= $1` + foundColumns
	foundStops  engine.Query = `select ` + cycleColumns + ` from cycles where stop is not null and stop = $5 and started <= $1` + foundColumns
	foundOf     engine.Query = `select ` + cycleColumns + ` from cycles where agent = $4 and circle = $8 and started <= $1` + foundColumns
	cycleBegan  engine.Query = `select started from cycles where id = $1`
)

// Runs implements [console.Record].
func (c ReadModel) Runs(ctx context.Context, f console.Filter) ([]spaces.Cycle, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	began := int64(math.MaxInt64)
	if f.Before != "" {
		known, err := engine.ScanRow(ctx, c.engine, cycleBegan, []any{string(f.Before)}, &began)
		if err == nil && !known {
			err = console.ErrUnknown
		}
		if err != nil {
			return nil, fmt.Errorf("list runs before %s: %w", f.Before, err)
		}
	}
	q := foundCycles
	switch {
	case f.Stop != "" && f.Stop != spaces.StopCompleted && f.Stop != spaces.StopSilent: // they are seldom
		q = foundStops
	case f.Space != "":
		q = foundIn
	}
	args := []any{began, string(f.Before), string(f.Space), string(f.Agent), string(f.Stop), engine.ToMillis(f.Since), f.Limit}
	if f.Circle != "" {
		q, args = foundOf, append(args, string(f.Circle))
	}
	found, err := engine.AllRows(ctx, c.engine, q, args, scanCycle)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return found, nil
}
