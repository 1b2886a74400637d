package record

import (
	"context"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

// The rooms that somebody is in are few; those of an agent may be all there are.
// The order of a cross join is the order in which they are gone through.
const uplinksAcross query = `select ` + headedColumns + `
from (select m.space as shared from members m where m.entity = $3) s cross join uplinks
where uplinks.space = s.shared and agent = $1 and circle <> $2 and live = 1 order by n desc limit $4 + 0`

// Across implements [shell.Record].
func (s Shell) Across(ctx context.Context, m spaces.Mind, who spaces.EntityID, limit int) ([]spaces.Uplink, error) {
	out, err := all(ctx, s.s.engine, uplinksAcross, []any{string(m.Agent), string(m.Circle), string(who), limit}, scanHeaded)
	if err != nil {
		return nil, fmt.Errorf("read rooms that %s shares with %s: %w", m.Agent, who, err)
	}
	return out, nil
}

// Across implements [shell.Record].
func (p *Past) Across(ctx context.Context, m spaces.Mind, who spaces.EntityID, limit int) ([]spaces.Uplink, error) {
	began := p.run.Cycle.Started
	ups, err := p.now.Across(ctx, m, who, limit)
	return slices.DeleteFunc(ups, func(u spaces.Uplink) bool { return u.OpenedAt.After(began) }), err
}
