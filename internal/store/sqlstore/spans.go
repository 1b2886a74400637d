package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	spanColumns engine.Query = `id, agent, circle, space, from_seq, from_id, to_seq, to_id, opened_at, closed_at, opener, closer, checked`
	insertSpan  engine.Query = `insert into spans (agent, circle, space, from_seq, from_id, opened_at, opener)
values ($1, $2, $3, $4, $5, $6, $7) on conflict (space, agent, circle) where closed_at = 0 do nothing returning id`
	closeSpan engine.Query = `update spans set to_seq = $2, to_id = $3, closed_at = $4, closer = $5 where id = $1`
	checkSpan engine.Query = `update spans set checked = $2 where id = $1`
	openSpan  engine.Query = `select ` + spanColumns + ` from spans where space = $1 and agent = $2 and circle = $3 and closed_at = 0`
	openSpans engine.Query = `select ` + spanColumns + ` from spans where closed_at = 0 order by id`
	roomSpans engine.Query = `select ` + spanColumns + ` from spans where space = $1 and closed_at = 0 order by id`
	spansOf   engine.Query = `select ` + spanColumns + ` from spans where agent = $1 and circle = $2 and space = $3 order by id desc limit $4 + 0`
)

func scanSpan(r engine.Row) (s spaces.ConnectionSpan, err error) {
	return s, r.Scan(&s.ID, &s.Mind.Agent, &s.Mind.Circle, &s.Space, &s.From, &s.FromID, &s.To, &s.ToID,
		engine.ScanTime(&s.Opened), engine.ScanTime(&s.Closed), &s.Opener, &s.Closer, engine.ScanTime(&s.Checked))
}

// A spanMark is a place in a space's log.
type spanMark struct {
	seq int64
	id  spaces.EventID // empty when the event has not come yet
}

// A spanTx opens and closes connection spans.
type spanTx struct {
	*writeTx
	branch *branchTx
	inner  *innerTx
	space  *spaceTx
}

// openAt opens a span of an uplink from a place on, unless one is open.
func (t *spanTx) open(ctx context.Context, m spaces.Mind, space spaces.SpaceID, from spanMark, why spaces.SpanReason, at time.Time) error {
	var id int64
	found, err := engine.ScanRow(ctx, t, insertSpan, []any{string(m.Agent), string(m.Circle), string(space), from.seq, string(from.id), engine.ToMillis(at), string(why)}, &id)
	if err != nil {
		return fmt.Errorf("open span of %s in %s: %w", m, space, err)
	}
	if !found {
		return nil
	}
	return t.inner.append(ctx, m, at, spaces.SpanChanged{Span: id, Space: space, What: "opened", Reason: why, Event: from.id, Seq: from.seq})
}

// closeAt closes a span at the last place it covers.
func (t *spanTx) close(ctx context.Context, s spaces.ConnectionSpan, to spanMark, why spaces.SpanReason, at time.Time) error {
	if to.seq < s.From {
		to = spanMark{seq: s.From - 1} // it covered nothing
	}
	if err := t.Run(ctx, closeSpan, s.ID, to.seq, string(to.id), engine.ToMillis(at), string(why)); err != nil {
		return fmt.Errorf("close span of %s in %s: %w", s.Mind, s.Space, err)
	}
	return t.inner.append(ctx, s.Mind, at, spaces.SpanChanged{Span: s.ID, Space: s.Space, What: "closed", Reason: why, Event: to.id, Seq: to.seq})
}

// disconnect closes the open spans of a space at its head.
func (t *spanTx) closeAll(ctx context.Context, r *spaceState, why spaces.SpanReason, at time.Time) error {
	l, err := t.branch.load(ctx, r.ID, spaces.Primary)
	if err != nil {
		return err
	}
	for _, m := range r.minds {
		if err := t.closeOf(ctx, m, r.ID, spanMark{l.HeadSeq, l.Head}, why, at); err != nil {
			return err
		}
	}
	return nil
}

// cut closes the open span of one uplink, if there is one.
func (t *spanTx) closeOf(ctx context.Context, m spaces.Mind, space spaces.SpaceID, to spanMark, why spaces.SpanReason, at time.Time) error {
	open, err := engine.AllRows(ctx, t, openSpan, []any{string(space), string(m.Agent), string(m.Circle)}, scanSpan)
	if err != nil {
		return err
	}
	for _, s := range open {
		if err := t.close(ctx, s, to, why, at); err != nil {
			return err
		}
	}
	return nil
}

// connect opens spans of every uplink of a space from its next event on.
func (t *spanTx) openAll(ctx context.Context, r *spaceState, why spaces.SpanReason, at time.Time) error {
	l, err := t.branch.load(ctx, r.ID, spaces.Primary)
	if err != nil {
		return err
	}
	for _, m := range r.minds {
		if err := t.open(ctx, m, r.ID, spanMark{seq: l.HeadSeq + 1}, why, at); err != nil {
			return err
		}
	}
	return nil
}

// spanCheckpointEvery is how often an open span is checkpointed, while something happens there.
const spanCheckpointEvery = 24 * time.Hour

// stir begins new spans when a room that was silent for long hears something,
// and checkpoints those that have been open for a day.
func (t *spanTx) refresh(ctx context.Context, e spaces.Event) error {
	l, err := t.branch.load(ctx, e.Space, spaces.Primary)
	if err != nil || l == nil {
		return err
	}
	r, err := t.space.load(ctx, e.Space)
	if err != nil {
		return err
	}
	idle := l.lastAt != 0 && e.RecvAt.Sub(engine.FromMillis(l.lastAt)) >= t.idle
	if !idle && e.RecvAt.Before(r.checkAt) {
		return nil
	}
	open, err := engine.AllRows(ctx, t, roomSpans, []any{string(r.ID)}, scanSpan)
	if err != nil {
		return err
	}
	r.checkAt = e.RecvAt.Add(spanCheckpointEvery)
	for _, s := range open { // none: not connected, the room stirs unheard
		if idle {
			err = t.reopenAfterIdle(ctx, s, l, e.RecvAt)
		} else {
			err = t.checkpoint(ctx, r, s, l, e.RecvAt)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reopen ends a span where the silence had lasted long enough, or began in the middle of
// it, and begins the next one.
func (t *spanTx) reopenAfterIdle(ctx context.Context, s spaces.ConnectionSpan, l *branchState, at time.Time) error {
	last := engine.FromMillis(l.lastAt).Add(t.idle)
	if last.Before(s.Opened) {
		last = s.Opened
	}
	if err := t.close(ctx, s, spanMark{l.HeadSeq, l.Head}, spaces.SpanIdle, last); err != nil {
		return err
	}
	return t.open(ctx, s.Mind, s.Space, spanMark{seq: l.HeadSeq + 1}, spaces.SpanStirred, at)
}

// checkpointSpan marks how far a span has come, once a day.
func (t *spanTx) checkpoint(ctx context.Context, r *spaceState, s spaces.ConnectionSpan, l *branchState, at time.Time) error {
	due := s.Opened
	if s.Checked.After(due) {
		due = s.Checked
	}
	due = due.Add(spanCheckpointEvery)
	if at.Before(due) {
		if due.Before(r.checkAt) {
			r.checkAt = due
		}
		return nil
	}
	if err := t.Run(ctx, checkSpan, s.ID, engine.ToMillis(at)); err != nil {
		return fmt.Errorf("checkpoint span of %s in %s: %w", s.Mind, s.Space, err)
	}
	return t.inner.append(ctx, s.Mind, at, spaces.SpanChanged{
		Span: s.ID, Space: s.Space, What: "checkpointed", Reason: spaces.SpanCheckpoint, Event: l.Head, Seq: l.HeadSeq,
	})
}

// Spans implements [shell.Record].
func (s AgentStore) Spans(ctx context.Context, m spaces.Mind, space spaces.SpaceID, limit int) ([]spaces.ConnectionSpan, error) {
	out, err := engine.AllRows(ctx, s.s.engine, spansOf, []any{string(m.Agent), string(m.Circle), string(space), limit}, scanSpan)
	if err != nil {
		return nil, fmt.Errorf("read spans of %s in %s: %w", m, space, err)
	}
	return out, nil
}
