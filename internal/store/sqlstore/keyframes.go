package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	keyframeColumns engine.Query = `agent, circle, n, refs, tokens, upto, cause, at, body, plan`
	newestKeyframe  engine.Query = `select ` + keyframeColumns + ` from keyframes where agent = $1 and circle = $2 order by n desc limit 1`
	insertKeyframe  engine.Query = `insert into keyframes (agent, circle, n, refs, tokens, upto, cause, at, body, plan)
values ($1, $2, (select coalesce(max(n), 0) + 1 from keyframes where agent = $1 and circle = $2), $3, $4, $5, $6, $7, $8, $9)`
	leasesOf engine.Query = `select holder, space, expires from leases where agent = $1 and circle = $2 and expires > $3`
)

// Cut implements [shell.Journal]. The keyframe's number is the next of its mind,
// whatever k says.
func (s AgentStore) Cut(ctx context.Context, holder string, k spaces.Keyframe, c spaces.Compacted) error {
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if err := t.cycle.checkSoleHolder(ctx, k.Mind, holder, k.At); err != nil {
			return err
		}
		err := t.Run(ctx, insertKeyframe, string(k.Mind.Agent), string(k.Mind.Circle), engine.EncodeList(k.Refs), k.Tokens, k.Upto, k.Cause, engine.ToMillis(k.At), []byte(k.Text), k.Plan)
		if err != nil {
			return err
		}
		return t.inner.append(ctx, k.Mind, k.At, c)
	})
	if err != nil {
		return fmt.Errorf("cut %s: %w", k.Mind, err)
	}
	return nil
}

// alone fails when a lease of the mind is in other hands than the holder's.
func (t *cycleTx) checkSoleHolder(ctx context.Context, m spaces.Mind, holder string, at time.Time) error {
	leases, err := engine.AllRows(ctx, t, leasesOf, []any{string(m.Agent), string(m.Circle), t.SharedMillis(at)}, func(r engine.Row) (l spaces.Lease, err error) {
		return l, r.Scan(&l.Holder, &l.Space, engine.ScanTime(&l.Expires))
	})
	if err != nil {
		return err
	}
	for _, l := range leases {
		if l.Holder != holder {
			return fmt.Errorf("%w: %s runs the mind in %s", spaces.ErrLeaseLost, l.Holder, l.Space)
		}
	}
	return nil
}

func scanKeyframe(r engine.Row) (k spaces.Keyframe, err error) {
	var body []byte
	err = r.Scan(&k.Mind.Agent, &k.Mind.Circle, &k.N, engine.ScanList(&k.Refs), &k.Tokens, &k.Upto, &k.Cause, engine.ScanTime(&k.At), &body, &k.Plan)
	k.Text = string(body)
	return k, err
}

// Keyframe implements [shell.Record].
func (s AgentStore) Keyframe(ctx context.Context, m spaces.Mind) (*spaces.Keyframe, error) {
	k, err := engine.FirstRow(ctx, s.s.engine, newestKeyframe, []any{string(m.Agent), string(m.Circle)}, scanKeyframe)
	if err != nil {
		return nil, fmt.Errorf("read keyframe of %s: %w", m, err)
	}
	return k, nil
}
