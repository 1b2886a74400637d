package readmodel

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	timersThen engine.QueryText = `select ` + tables.TimerColumns + ` from timers t
where t.agent = $1 and t.circle = $2 and t.kind in ('timer', 'plan') and (t.fired_by = '' or t.fired_at > $3)
  and exists (select 1 from cycles c where c.id = t.cycle and c.started <= $3) order by t.due, t.id limit $4 + 0`
	waitsThen engine.QueryText = `select ` + tables.WaitColumns + ` from waits w where w.agent = $1 and w.circle = $2 and w.started < $3
  and (w.state <> 'told' or exists (select 1 from cycles c where c.id = w.woke and c.started > $3)) order by w.started, w.cycle`
	firedTimer engine.QueryText = `select ` + tables.TimerColumns + ` from timers where fired_by = $1 and fired_by <> ''`
	// The event that opened the run in the inner log tells what was recorded before it.
	runBegan engine.QueryText = `select y.inner_from, e.n from cycles y
join events e on e.space = $2 and e.branch = $3 and e.seq = y.inner_from where y.id = $1`
	lastBefore  engine.QueryText = `select seq from events where space = $1 and branch = 'main' and n < $2 order by seq desc limit 1`
	shownBefore engine.QueryText = `select coalesce(max(upto), -1) from cycles
where agent = $1 and circle = $2 and space = $3 and n is not null and n <= $4`
	firstSpan engine.QueryText = `select from_seq from spans where agent = $1 and circle = $2 and space = $3 order by id limit 1`
)

// A HistoricalView is the record as a mind had it when one of its runs began, for lives of
// that run that do not happen. It never writes. Who is in a room and what people
// are called is as it is now, and what was deleted since is gone; nothing was spent
// and nothing failed.
type HistoricalView struct {
	now   LogReader
	run   console.Run
	inner int64                // its part of the inner log begins here
	began int64                // and here in the order of recording
	seen  int64                // last event of its room that the mind had been shown
	head  int64                // last event of its room that was recorded
	timer *spaces.WakeTimer    // that woke it; nil when a row did
	waits []spaces.PendingWait // whose end it was shown

	mu   sync.Mutex // guards gone
	gone map[spaces.SpaceID]tables.SupersededMessages
}

var _ shell.LogReader = (*HistoricalView)(nil)

// Past returns the record as it was when a run began. A unique beginning of its
// id is enough. No such run is [console.ErrUnknown].
func (c ReadModel) Past(ctx context.Context, id string) (*HistoricalView, error) {
	run, err := c.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	p := &HistoricalView{now: LogReader(c), run: run, gone: map[spaces.SpaceID]tables.SupersededMessages{}}
	if err := p.load(ctx, c.engine); err != nil {
		return nil, fmt.Errorf("load past run %s: %w", run.Cycle.ID, err)
	}
	return p, nil
}

// load reads how things stood when the run began.
func (p *HistoricalView) load(ctx context.Context, src engine.QueryReader) (err error) {
	y := p.run.Cycle
	id := string(y.ID)
	if _, err := engine.ScanRow(ctx, src, runBegan, []any{id, string(y.Mind.Inner()), string(y.Mind.Branch())}, &p.inner, &p.began); err != nil {
		return err
	}
	if p.timer, err = tables.QueryTimer(ctx, src, firedTimer, id); err != nil {
		return err
	}
	if p.waits, err = engine.AllRows(ctx, src, tables.WaitsOfWake, []any{id}, tables.ScanWait); err != nil {
		return err
	}
	if p.seen, err = p.shownUpto(ctx, y.Space); err != nil {
		return err
	}
	p.head, err = p.lastRecorded(ctx, y.Space)
	return err
}

// Run returns the run it looks back to.
func (p *HistoricalView) Run() console.Run { return p.run }

// Entry returns the entry of the configuration that a room, or its server, comes
// from; empty when it has none.
func (p *HistoricalView) Entry(ctx context.Context, space spaces.SpaceID) (key string, err error) {
	if _, err := engine.ScanRow(ctx, p.now.engine, tables.SpaceConfigKey, []any{string(space)}, &key); err != nil {
		return "", fmt.Errorf("entry of %s: %w", space, err)
	}
	if key != "" {
		return key, nil
	}
	return tables.GuildEntryOf(ctx, p.now.engine, space)
}

// Wake returns what the run began with, as if nothing of it had happened.
func (p *HistoricalView) Wake() spaces.Wake {
	y := p.run.Cycle
	w := spaces.Wake{Cycle: spaces.Cycle{
		ID: y.ID, Mind: y.Mind, Space: y.Space, Epoch: y.Epoch, State: spaces.CycleOpen, Wake: y.Wake, Active: y.Space,
		Upto: p.seen, Base: y.Base, Authority: y.Authority, Started: y.Started,
	}, Timer: p.timer, Waits: p.waits}
	for i := range p.waits {
		w.Consumed = append(w.Consumed, p.waits[i].Consumed())
	}
	for i, r := range p.run.Rows {
		if e := p.run.Events[i]; e.Seq <= p.head { // what came later joined it
			w.Rows, w.Events = append(w.Rows, r), append(w.Events, e)
			w.Consumed = append(w.Consumed, spaces.ConsumedRow{Event: e.ID, Root: e.Root, Depth: e.Depth, At: e.Seq})
			w.Head = max(w.Head, e.Seq)
		}
	}
	return w
}

// shownUpto returns the last event of a room that the mind had been shown before the
// run: that of its last run there, or of the moment it came in.
func (p *HistoricalView) shownUpto(ctx context.Context, space spaces.SpaceID) (int64, error) {
	y, src := p.run.Cycle, p.now.engine
	place := []any{string(y.Mind.Agent), string(y.Mind.Circle), string(space)}
	var upto, from int64
	if _, err := engine.ScanRow(ctx, src, shownBefore, append(slices.Clip(place), y.Base), &upto); err != nil || upto >= 0 {
		return upto, err
	}
	_, err := engine.ScanRow(ctx, src, firstSpan, place, &from)
	return max(from-1, 0), err
}

// lastRecorded returns the last event of a room that was recorded before the run.
func (p *HistoricalView) lastRecorded(ctx context.Context, space spaces.SpaceID) (seq int64, err error) {
	_, err = engine.ScanRow(ctx, p.now.engine, lastBefore, []any{string(space), p.began}, &seq)
	return seq, err
}

// Space implements [shell.Record].
func (p *HistoricalView) Space(ctx context.Context, id spaces.SpaceID) (spaces.Space, []spaces.SpaceMember, error) {
	return p.now.Space(ctx, id)
}

// Events implements [shell.Record].
func (p *HistoricalView) Events(ctx context.Context, space spaces.SpaceID, branch spaces.BranchID, after int64, limit int) ([]spaces.Event, error) {
	last, err := p.lastRecorded(ctx, space)
	if err != nil {
		return nil, fmt.Errorf("events of %s: %w", space, err)
	}
	events, err := p.now.Events(ctx, space, branch, after, limit)
	if err != nil {
		return nil, err
	}
	events = slices.DeleteFunc(events, func(e spaces.Event) bool { return e.Seq > last })
	deleted, err := p.deletedIn(ctx, space, last)
	if err != nil {
		return nil, fmt.Errorf("what was deleted in %s: %w", space, err)
	}
	s := tables.Redactor{Messages: map[spaces.EventID]bool{}}
	s.HideDeleted(events, deleted)
	return s.Redact(events), nil
}

// deletedIn returns what was deleted of a room since its last event of then.
func (p *HistoricalView) deletedIn(ctx context.Context, space spaces.SpaceID, last int64) (tables.SupersededMessages, error) {
	p.mu.Lock()
	known, ok := p.gone[space]
	p.mu.Unlock()
	if ok {
		return known, nil
	}
	found, err := tables.DeletedSince(ctx, p.now.engine, space, last)
	if err == nil {
		p.mu.Lock()
		p.gone[space] = found
		p.mu.Unlock()
	}
	return found, err
}

// Self implements [shell.Record].
func (p *HistoricalView) Self(ctx context.Context, m spaces.Mind) ([]spaces.Event, error) {
	events, err := p.now.Self(ctx, m)
	return slices.DeleteFunc(events, func(e spaces.Event) bool { return e.Seq >= p.inner }), err
}

// Waits implements [shell.Record]. What was given up later is not among them.
func (p *HistoricalView) Waits(ctx context.Context, m spaces.Mind) ([]spaces.PendingWait, error) {
	waits, err := engine.AllRows(ctx, p.now.engine, waitsThen, []any{string(m.Agent), string(m.Circle), engine.ToMillis(p.run.Cycle.Started)}, tables.ScanWait)
	if err != nil {
		return nil, fmt.Errorf("waits of %s: %w", m, err)
	}
	for i := range waits {
		waits[i].Outcome, waits[i].Answers = "", nil
	}
	return waits, nil
}

// Plans implements [shell.Record]. What was called off later is not among them.
func (p *HistoricalView) Plans(ctx context.Context, m spaces.Mind, limit int) ([]spaces.WakeTimer, error) {
	plans, err := engine.AllRows(ctx, p.now.engine, timersThen, []any{string(m.Agent), string(m.Circle), engine.ToMillis(p.run.Cycle.Started), limit}, tables.ScanTimer)
	if err != nil || len(plans) == 0 {
		return nil, err
	}
	seen := map[string]bool{}
	plans = slices.DeleteFunc(plans, func(t spaces.WakeTimer) bool { // what recurred later was set later
		again := seen[t.Name()]
		seen[t.Name()] = true
		return again
	})
	return plans, tables.RedactNotes(ctx, p.now.engine, plans)
}

// Uplinks implements [shell.Record].
func (p *HistoricalView) Uplinks(ctx context.Context, m spaces.Mind) ([]spaces.Uplink, error) {
	began := p.run.Cycle.Started
	ups, err := p.now.Uplinks(ctx, m)
	ups = slices.DeleteFunc(ups, func(u spaces.Uplink) bool { return u.OpenedAt.After(began) })
	for i := range ups {
		u := &ups[i]
		u.CursorID = ""
		if u.Cursor, err = p.shownUpto(ctx, u.Space); err != nil {
			return nil, fmt.Errorf("cursor of %s in %s: %w", m, u.Space, err)
		}
		if u.FreshAt.After(began) {
			u.Fresh, u.FreshAt = 0, time.Time{}
		}
	}
	return ups, err
}

// Across implements [shell.Record].
func (p *HistoricalView) Across(ctx context.Context, m spaces.Mind, who spaces.EntityID, limit int) ([]spaces.Uplink, error) {
	began := p.run.Cycle.Started
	ups, err := p.now.Across(ctx, m, who, limit)
	return slices.DeleteFunc(ups, func(u spaces.Uplink) bool { return u.OpenedAt.After(began) }), err
}

// Spans implements [shell.Record].
func (p *HistoricalView) Spans(ctx context.Context, m spaces.Mind, space spaces.SpaceID, limit int) ([]spaces.ConnectionSpan, error) {
	began := p.run.Cycle.Started
	spans, err := p.now.Spans(ctx, m, space, limit)
	spans = slices.DeleteFunc(spans, func(s spaces.ConnectionSpan) bool { return s.Opened.After(began) })
	for i := range spans {
		if s := &spans[i]; s.Closed.After(began) {
			s.Closed, s.To, s.ToID, s.Closer = time.Time{}, 0, "", ""
		}
	}
	return spans, err
}

// Keyframe implements [shell.Record]: the one the run's first frame began with.
func (p *HistoricalView) Keyframe(ctx context.Context, m spaces.Mind) (*spaces.Keyframe, error) {
	if len(p.run.Steps) == 0 || p.run.Steps[0].Shown == nil || p.run.Steps[0].Shown.Keyframe == 0 {
		return nil, nil
	}
	return engine.FirstRow(ctx, p.now.engine, oneKeyframe, []any{string(m.Agent), string(m.Circle), p.run.Steps[0].Shown.Keyframe}, tables.ScanKeyframe)
}

// Cycles implements [shell.Record].
func (p *HistoricalView) Cycles(ctx context.Context, m spaces.Mind, n int64, turns bool, limit int) ([]spaces.ClosedCycle, error) {
	cycles, err := p.now.Cycles(ctx, m, n, turns, limit)
	return slices.DeleteFunc(cycles, func(c spaces.ClosedCycle) bool { return c.N > p.run.Cycle.Base }), err
}

// Entities implements [shell.Record].
func (p *HistoricalView) Entities(ctx context.Context, ids []spaces.EntityID) (map[spaces.EntityID]spaces.Entity, error) {
	return p.now.Entities(ctx, ids)
}

// Spent implements [shell.Record].
func (*HistoricalView) Spent(context.Context, time.Time, spaces.AgentID, spaces.SpaceID) (shell.UsageToday, error) {
	return shell.UsageToday{}, nil
}

// SpentBySenders implements [shell.Record].
func (*HistoricalView) SpentBySenders(context.Context, time.Time, spaces.CycleID) (money.UsedTokens, error) {
	return money.UsedTokens{}, nil
}

// AnswerForms implements [shell.LogReader].
func (*HistoricalView) AnswerForms(context.Context, spaces.AgentID, string, int) ([]spaces.AnswerForm, error) {
	return nil, nil
}

// Failures implements [shell.Record].
func (*HistoricalView) Failures(context.Context, spaces.Mind, time.Time) ([]spaces.SendFailed, error) {
	return nil, nil
}
