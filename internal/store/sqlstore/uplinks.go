package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertUplink engine.QueryText = `insert into uplinks (agent, circle, space, cursor, cursor_id, erased, live, opened_at, n)
values ($1, $2, $3, $4, $5, $4, 1, $6, (select coalesce(max(n), 0) + 1 from uplinks where agent = $1))
on conflict (agent, circle, space) do update set live = 1, cursor = excluded.cursor, cursor_id = excluded.cursor_id where uplinks.live = 0`
	endUplink    engine.QueryText = `update uplinks set live = 0 where agent = $1 and circle = $2 and space = $3`
	renewUplinks engine.QueryText = `update uplinks set fresh = $2, fresh_at = $3 where space = $1 and live = 1`
	unlikeMuted  engine.QueryText = `select agent from uplinks where space = $1 and live = 1 and ($2 = '' or agent = $2) and muted_until <> $3 order by agent`
	mutedStill   engine.QueryText = `select agent from uplinks where space = $1 and live = 1 and ($2 = '' or agent = $2) and muted_until > $3 order by agent`
	muteUplinks  engine.QueryText = `update uplinks set muted_until = $3 where space = $1 and live = 1 and ($2 = '' or agent = $2)`
	moveCursor   engine.QueryText = `update uplinks set cursor = r.seq, cursor_id = r.event, erased = r.seq
from (select cast($1 as text) as agent, cast($2 as text) as circle, cast($3 as text) as space, cast($4 as bigint) as seq, cast($5 as text) as event) r
where uplinks.agent = r.agent and uplinks.circle = r.circle and uplinks.space = r.space and uplinks.cursor < r.seq`
)

// An uplinkTx connects minds to spaces.
type uplinkTx struct {
	*writeTx
	branch *branchTx
	inner  *innerTx
	space  *spaceTx
	span   *spanTx
	wait   *waitTx
}

// connect connects a mind to a space from its head on. Messages that were deleted while
// the mind was away are still to be removed from it. An existing uplink does not change.
func (t *uplinkTx) connect(ctx context.Context, m spaces.Mind, r *spaceState, at time.Time) error {
	if err := t.inner.ensureMind(ctx, m, at); err != nil {
		return err
	}
	l, err := t.branch.load(ctx, r.ID, spaces.Primary)
	if err != nil {
		return err
	}
	n, err := t.Exec(ctx, insertUplink, string(m.Agent), string(m.Circle), string(r.ID), l.HeadSeq, string(l.Head), engine.ToMillis(at))
	if err != nil {
		return fmt.Errorf("uplink %s to %s: %w", m, r.ID, err)
	}
	if n == 0 {
		return nil
	}
	if err := t.space.reloadChats(ctx, r); err != nil {
		return err
	}
	return t.span.open(ctx, m, r.ID, spanMark{seq: l.HeadSeq + 1}, spaces.SpanLinked, at)
}

// disconnect ends the uplink of a mind.
func (t *uplinkTx) disconnect(ctx context.Context, m spaces.Mind, r *spaceState, at time.Time) error {
	l, err := t.branch.load(ctx, r.ID, spaces.Primary)
	if err != nil {
		return err
	}
	if err := t.span.closeOf(ctx, m, r.ID, spanMark{l.HeadSeq, l.Head}, spaces.SpanUnlinked, at); err != nil {
		return err
	}
	if err := t.Run(ctx, endUplink, string(m.Agent), string(m.Circle), string(r.ID)); err != nil {
		return fmt.Errorf("unlink %s from %s: %w", m, r.ID, err)
	}
	if _, err := t.wait.dropInSpace(ctx, r.ID, m.Agent, at); err != nil {
		return err
	}
	return t.space.reloadChats(ctx, r)
}

// Renew gives every mind of a space a new start: earlier events are shown only if they
// are looked up. It deletes nothing.
func (s RunStore) Renew(ctx context.Context, space spaces.SpaceID, at time.Time) error {
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		l, err := t.branch.load(ctx, space, spaces.Primary)
		if err != nil {
			return err
		}
		if l == nil {
			return engine.ErrUnknown
		}
		return t.Run(ctx, renewUplinks, string(space), l.HeadSeq, engine.ToMillis(at))
	})
	if err != nil {
		return fmt.Errorf("renew %s: %w", space, err)
	}
	return nil
}

// Mute mutes or unmutes agents in a space and returns those that it changed.
func (s RunStore) Mute(ctx context.Context, m spaces.MuteRequest) (changed []spaces.AgentID, err error) {
	until := m.Until
	if until.IsZero() {
		until = spaces.MutedForGood
	}
	key := []any{string(m.Space), string(m.Agent)}
	others, compared, muted := unlikeMuted, engine.ToMillis(until), engine.ToMillis(until)
	if m.Lifted {
		others, compared, muted = mutedStill, engine.ToMillis(m.At), 0
	}
	err = s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if changed, err = engine.AllRows(ctx, t, others, append(slices.Clip(key), compared), engine.ScanValue[spaces.AgentID]); err != nil {
			return err
		}
		return t.Run(ctx, muteUplinks, append(slices.Clip(key), muted)...)
	})
	if err != nil {
		return nil, fmt.Errorf("mute in %s: %w", m.Space, err)
	}
	return changed, nil
}

const (
	insertSpan engine.QueryText = `insert into spans (agent, circle, space, from_seq, from_id, opened_at, opener)
values ($1, $2, $3, $4, $5, $6, $7) on conflict (space, agent, circle) where closed_at = 0 do nothing returning id`
	closeSpan engine.QueryText = `update spans set to_seq = $2, to_id = $3, closed_at = $4, closer = $5 where id = $1`
	checkSpan engine.QueryText = `update spans set checked = $2 where id = $1`
	openSpan  engine.QueryText = `select ` + tables.SpanColumns + ` from spans where space = $1 and agent = $2 and circle = $3 and closed_at = 0`
	openSpans engine.QueryText = `select ` + tables.SpanColumns + ` from spans where closed_at = 0 order by id`
	roomSpans engine.QueryText = `select ` + tables.SpanColumns + ` from spans where space = $1 and closed_at = 0 order by id`
)

// A spanMark is a position in the log of a space.
type spanMark struct {
	seq int64
	id  spaces.EventID // empty for an event to come
}

// A spanTx opens and closes connection spans.
type spanTx struct {
	*writeTx
	branch *branchTx
	inner  *innerTx
	space  *spaceTx
}

// open opens a span of an uplink, unless one is open.
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

// close closes a span at its last event.
func (t *spanTx) close(ctx context.Context, s spaces.ConnectionSpan, to spanMark, why spaces.SpanReason, at time.Time) error {
	if to.seq < s.From {
		to = spanMark{seq: s.From - 1} // it covered nothing
	}
	if err := t.Run(ctx, closeSpan, s.ID, to.seq, string(to.id), engine.ToMillis(at), string(why)); err != nil {
		return fmt.Errorf("close span of %s in %s: %w", s.Mind, s.Space, err)
	}
	return t.inner.append(ctx, s.Mind, at, spaces.SpanChanged{Span: s.ID, Space: s.Space, What: "closed", Reason: why, Event: to.id, Seq: to.seq})
}

// closeAll closes the open spans of a space at its head.
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

// closeOf closes the open span of an uplink, if there is one.
func (t *spanTx) closeOf(ctx context.Context, m spaces.Mind, space spaces.SpaceID, to spanMark, why spaces.SpanReason, at time.Time) error {
	open, err := engine.AllRows(ctx, t, openSpan, []any{string(space), string(m.Agent), string(m.Circle)}, tables.ScanSpan)
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

// openAll opens a span of every uplink of a space, from its next event on.
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

// spanCheckpointEvery is the interval of the checkpoints of open spans.
const spanCheckpointEvery = 24 * time.Hour

// refresh starts new spans if the space was idle before this event, and checkpoints
// spans that have been open for a day.
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
	open, err := engine.AllRows(ctx, t, roomSpans, []any{string(r.ID)}, tables.ScanSpan)
	if err != nil {
		return err
	}
	r.checkAt = e.RecvAt.Add(spanCheckpointEvery)
	for _, s := range open { // none if the space is not connected
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

// reopenAfterIdle closes a span at the time when the space became idle, and opens the
// next one.
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

// checkpoint stores the head as the checkpoint of a span, once a day.
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

const mindsUplinks engine.QueryText = `select space from uplinks where agent = $1 and circle = $2 and live = 1 order by n`

// closeAsleep closes the spans of a mind that goes to sleep.
func (t *spanTx) closeAsleep(ctx context.Context, timer spaces.WakeTimer, at time.Time) error {
	return t.eachSleepingUplink(ctx, timer, func(id spaces.SpaceID, l *branchState) error {
		return t.closeOf(ctx, timer.Mind, id, spanMark{l.HeadSeq, l.Head}, spaces.SpanAsleep, at)
	})
}

// openAwake opens spans of a mind that wakes from sleep.
func (t *spanTx) openAwake(ctx context.Context, timer spaces.WakeTimer, at time.Time) error {
	return t.eachSleepingUplink(ctx, timer, func(id spaces.SpaceID, l *branchState) error {
		return t.open(ctx, timer.Mind, id, spanMark{seq: l.HeadSeq + 1}, spaces.SpanAwake, at)
	})
}

// eachSleepingUplink calls do for every space of the mind of a sleep timer; other timers
// concern no span.
func (t *spanTx) eachSleepingUplink(ctx context.Context, timer spaces.WakeTimer, do func(spaces.SpaceID, *branchState) error) error {
	if timer.Kind != spaces.TimerSleep {
		return nil
	}
	ids, err := engine.AllRows(ctx, t, mindsUplinks, []any{string(timer.Mind.Agent), string(timer.Mind.Circle)}, engine.ScanValue[spaces.SpaceID])
	if err != nil {
		return err
	}
	for _, id := range ids {
		l, err := t.branch.load(ctx, id, spaces.Primary)
		if err != nil {
			return err
		}
		if err := do(id, l); err != nil {
			return err
		}
	}
	return nil
}
