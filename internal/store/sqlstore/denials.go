package sqlstore

import (
	"context"
	"fmt"
	"math"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	denialColumns engine.Query = `agent, act, code, reason, hint, space, cycle, phase, tier, risk, at`
	insertDenial  engine.Query = `insert into denials (agent, circle, act, code, reason, hint, space, cycle, phase, tier, risk, at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
	lastDenials engine.Query = `select n, ` + denialColumns + ` from denials where n < $1 and at >= $2 order by n desc limit $3 + 0`
	denialsOf   engine.Query = `select n, ` + denialColumns + ` from denials where agent = $4 and n < $1 and at >= $2 order by n desc limit $3 + 0`
)

func (t *cycleTx) storeDenial(ctx context.Context, m spaces.Mind, d spaces.Denial) error {
	err := t.Run(ctx, insertDenial, string(d.Agent), string(m.Circle), d.Act, d.Code, d.Reason, d.Hint, string(d.Space), string(d.Cycle),
		d.Phase, string(d.Tier), string(d.Risk), engine.ToMillis(d.At))
	if err != nil {
		return fmt.Errorf("store denial of %s: %w", d.Act, err)
	}
	return nil
}

// Denials implements [console.Record].
func (c ReadModel) Denials(ctx context.Context, f console.DenialFilter) ([]console.Denial, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	if f.Before <= 0 {
		f.Before = math.MaxInt64
	}
	q, args := lastDenials, []any{f.Before, engine.ToMillis(f.Since), f.Limit}
	if f.Agent != "" {
		q, args = denialsOf, append(args, string(f.Agent))
	}
	found, err := engine.AllRows(ctx, c.engine, q, args, func(r engine.Row) (d console.Denial, err error) {
		return d, r.Scan(&d.N, &d.Agent, &d.Act, &d.Code, &d.Reason, &d.Hint, &d.Space, &d.Cycle, &d.Phase, &d.Tier, &d.Risk, engine.ScanTime(&d.At))
	})
	if err != nil {
		return nil, fmt.Errorf("list denials: %w", err)
	}
	return found, nil
}
