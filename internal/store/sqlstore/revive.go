package sqlstore

import (
	"context"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	expireLeases       engine.Query = `update leases set expires = 0 where expires > 0`
	forgetDisconnected engine.Query = `delete from meta where substr(name, 1, 5) = '` + metaDeaf + `'`
	liveUplinks        engine.Query = `select ` + uplinkColumns + ` from uplinks
where live = 1 and exists (select 1 from mappings m where m.space = uplinks.space and m.live = 1) order by agent, n`
)

// A recoveryTx releases what ended processes have left behind.
type recoveryTx struct {
	*writeTx
	branch *branchTx
	span   *spanTx
}

// revive gives back what earlier processes held, once all of them are gone. Where
// agents live from now on, they are connected from now on.
func (t *recoveryTx) start(ctx context.Context, lives bool) error {
	if alone, err := t.IsLastWriter(ctx); err != nil || !alone {
		return err
	}
	if err := t.Run(ctx, expireLeases); err != nil {
		return err
	}
	at := t.now()
	if err := t.Run(ctx, forgetSenders, engine.DayNumber(at)); err != nil || !lives {
		return err
	}
	if err := t.Run(ctx, forgetDisconnected); err != nil {
		return err
	}
	crashed, err := engine.AllRows(ctx, t, openSpans, nil, scanSpan)
	if err != nil {
		return err
	}
	for _, s := range crashed {
		u, err := uplinkOf(ctx, t, s.Mind, s.Space)
		if err != nil {
			return err
		}
		if err := t.span.close(ctx, s, spanMark{u.Cursor, u.CursorID}, spaces.SpanCrashed, at); err != nil {
			return err
		}
	}
	ups, err := engine.AllRows(ctx, t, liveUplinks, nil, scanUplink)
	if err != nil {
		return err
	}
	for _, u := range ups {
		if err := t.span.openWhereLeft(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// resume opens a span where the last one of the uplink ended.
func (t *spanTx) openWhereLeft(ctx context.Context, u spaces.Uplink) error {
	last, err := engine.FirstRow(ctx, t, spansOf, []any{string(u.Mind.Agent), string(u.Mind.Circle), string(u.Space), 1}, scanSpan)
	if err != nil {
		return err
	}
	from := spanMark{seq: u.Cursor + 1}
	if last != nil {
		from.seq = last.To + 1
	}
	if from.id, err = eventIDAtSeq(ctx, t, u.Space, from.seq); err != nil {
		return err
	}
	return t.open(ctx, u.Mind, u.Space, from, spaces.SpanStarted, t.now())
}

// rest closes what is open, for a clean stop of the last process in which agents
// lived.
func (t *recoveryTx) stop(ctx context.Context) error {
	if alone, err := t.IsLastWriter(ctx); err != nil || !alone {
		return err
	}
	open, err := engine.AllRows(ctx, t, openSpans, nil, scanSpan)
	if err != nil {
		return err
	}
	for _, s := range open {
		l, err := t.branch.load(ctx, s.Space, spaces.Primary)
		if err != nil {
			return err
		}
		if err := t.span.close(ctx, s, spanMark{l.HeadSeq, l.Head}, spaces.SpanStopped, t.now()); err != nil {
			return err
		}
	}
	return nil
}
