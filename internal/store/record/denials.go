package record

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertDenial query = `insert into denials (agent, circle, act, code, reason, hint, space, cycle, phase, tier, risk, at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
	denialsOf query = `select agent, act, code, reason, hint, space, cycle, phase, tier, risk, at from denials where cycle = $1 order by n`
)

func (t *tx) deny(ctx context.Context, m spaces.Mind, d spaces.Denial) error {
	err := t.run(ctx, insertDenial, string(d.Agent), string(m.Circle), d.Act, d.Code, d.Reason, d.Hint, string(d.Space), string(d.Cycle),
		d.Phase, string(d.Tier), string(d.Risk), ms(d.At))
	if err != nil {
		return fmt.Errorf("store denial of %s: %w", d.Act, err)
	}
	return nil
}

// Deny implements [shell.Journal]: a denial is a row and an event of the inner
// log (PRD-5.1).
func (s Shell) Deny(ctx context.Context, m spaces.Mind, d spaces.Denial) error {
	return s.s.write(ctx, func(ctx context.Context, t *tx) error {
		if err := t.deny(ctx, m, d); err != nil {
			return err
		}
		return t.inner(ctx, m, d.At, spaces.Denied{Denial: d})
	})
}
