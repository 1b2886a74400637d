package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	leaveLeases engine.Query = `update leases set expires = 0 where holder = $1 and expires > 0`
	leaveJobs   engine.Query = `update jobs set expires = 0 where holder = $1 and state = 'running'`
)

// Process names this process among those that write the record; empty where it
// is the only one that can. Leases that it takes under this name are free as soon
// as it is given up.
func (s *Store) Process() string {
	if c, ok := s.engine.(engine.Cluster); ok {
		return c.Process()
	}
	return ""
}

// HoldsLease reports whether what this process has is still its own, as far as it can know
// without asking. Every commit proves it; what is no commit asks here first.
func (s *Store) HoldsLease() bool {
	c, several := s.engine.(engine.Cluster)
	return !several || c.HoldsLease()
}

// Own gives this process a thing that one process of the installation has at a
// time: mine is true when it has it, until [Store.Disown] or its end. Otherwise m
// has it; it is zero when that just changed. Where the record has one process
// alone everything is its own.
func (s *Store) Own(ctx context.Context, thing string) (m engine.Process, mine bool, err error) {
	c, several := s.engine.(engine.Cluster)
	if !several {
		return m, true, nil
	}
	m, err = ownerOf(ctx, c, thing)
	if err == nil && m.ID == "" {
		err = s.write(ctx, func(ctx context.Context, t *storeTx) error {
			if err := t.recovery.removeDead(ctx, c, false); err != nil {
				return err
			}
			var err error
			mine, err = c.Own(ctx, t.Session(), thing)
			return err
		})
	}
	if err != nil {
		return m, false, fmt.Errorf("own %s: %w", thing, err)
	}
	return m, mine || m.ID == c.Process(), nil
}

// ownerOf returns who has a thing, without a turn of the writer: mostly that does
// not change.
func ownerOf(ctx context.Context, c engine.Cluster, thing string) (engine.Process, error) {
	all, err := c.Members(ctx)
	if err != nil {
		return engine.Process{}, err
	}
	i := slices.IndexFunc(all, func(m engine.Process) bool { return !m.Dead && slices.Contains(m.Owned, thing) })
	if i < 0 {
		return engine.Process{}, nil
	}
	return all[i], nil
}

// Disown gives back what [Store.Own] gave, so that others need not wait for it.
func (s *Store) Disown(ctx context.Context, thing string) error {
	c, several := s.engine.(engine.Cluster)
	if !several {
		return nil
	}
	err := s.write(ctx, func(ctx context.Context, t *storeTx) error { return c.Disown(ctx, t.Session(), thing) })
	if err != nil {
		return fmt.Errorf("disown %s: %w", thing, err)
	}
	return nil
}

// RemoveDead gives up the processes that have died: what they had leased is free. It
// returns the others, the oldest first. Where none has died, it takes no turn of
// the writer.
func (s *Store) RemoveDead(ctx context.Context) (living []engine.Process, err error) {
	c, several := s.engine.(engine.Cluster)
	if !several {
		return nil, nil
	}
	all, err := c.Members(ctx)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	living = slices.DeleteFunc(slices.Clone(all), func(p engine.Process) bool { return p.Dead })
	if len(living) == len(all) {
		return living, nil
	}
	if err := s.write(ctx, func(ctx context.Context, t *storeTx) error { return t.recovery.removeDead(ctx, c, false) }); err != nil {
		return living, fmt.Errorf("give up dead processes: %w", err)
	}
	return living, nil
}

// Publish tells the other processes something of this one, in place of what it told
// before; see [Process]. It is gone when the process is. Where the record has one
// process alone nobody hears it.
func (s *Store) Publish(ctx context.Context, bulletin string) error {
	c, several := s.engine.(engine.Cluster)
	if !several {
		return nil
	}
	if err := c.Publish(ctx, bulletin); err != nil {
		return fmt.Errorf("tell other processes: %w", err)
	}
	return nil
}

// bury gives up dead processes: what they had leased is free.
func (t *recoveryTx) removeDead(ctx context.Context, c engine.Cluster, starting bool) error {
	gone, err := c.RemoveDead(ctx, t.Session(), starting)
	if err != nil {
		return err
	}
	for _, process := range gone {
		if err := t.releaseLeases(ctx, process); err != nil {
			return err
		}
	}
	return nil
}

// free lets everybody have what a process has leased.
func (t *recoveryTx) releaseLeases(ctx context.Context, process string) error {
	for _, q := range []engine.Query{leaveLeases, leaveJobs} {
		if err := t.Run(ctx, q, process); err != nil {
			return err
		}
	}
	return nil
}

const (
	expireLeases       engine.Query = `update leases set expires = 0 where expires > 0`
	forgetDisconnected engine.Query = `delete from meta where substr(name, 1, 5) = '` + tables.MetaDisconnected + `'`
	liveUplinks        engine.Query = `select ` + tables.UplinkColumns + ` from uplinks
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
	crashed, err := engine.AllRows(ctx, t, openSpans, nil, tables.ScanSpan)
	if err != nil {
		return err
	}
	for _, s := range crashed {
		u, err := tables.UplinkOf(ctx, t, s.Mind, s.Space)
		if err != nil {
			return err
		}
		if err := t.span.close(ctx, s, spanMark{u.Cursor, u.CursorID}, spaces.SpanCrashed, at); err != nil {
			return err
		}
	}
	ups, err := engine.AllRows(ctx, t, liveUplinks, nil, tables.ScanUplink)
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
	last, err := engine.FirstRow(ctx, t, tables.SpansOfUplink, []any{string(u.Mind.Agent), string(u.Mind.Circle), string(u.Space), 1}, tables.ScanSpan)
	if err != nil {
		return err
	}
	from := spanMark{seq: u.Cursor + 1}
	if last != nil {
		from.seq = last.To + 1
	}
	if from.id, err = tables.EventIDAtSeq(ctx, t, u.Space, from.seq); err != nil {
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
	open, err := engine.AllRows(ctx, t, openSpans, nil, tables.ScanSpan)
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
