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
	leaveLeases engine.QueryText = `update leases set expires = 0 where holder = $1 and expires > 0`
	leaveJobs   engine.QueryText = `update jobs set expires = 0 where holder = $1 and state = 'running'`
	leaveTools  engine.QueryText = `update tool_runs set until = 0 where ended = 0 and state = 'running' and holder = $1`
)

// Process returns the id of this process among those that write the database; empty if
// it is the only one that can. Leases that it takes under this id are released when a
// peer removes it.
func (s *Store) Process() string {
	if c, ok := s.engine.(engine.ClusterEngine); ok {
		return c.Process()
	}
	return ""
}

// HoldsLease reports whether this process still owns what it has, as far as it can know
// without a query. Every commit checks it; other actions call HoldsLease first.
func (s *Store) HoldsLease() bool {
	c, several := s.engine.(engine.ClusterEngine)
	return !several || c.HoldsLease()
}

// Own gives this process a thing that one process of the cluster owns at a time. mine
// reports whether this process owns it, until [Store.Disown] or the end of the process.
// Otherwise p owns it; p is zero if the owner has just changed. Without a cluster this
// process owns everything.
func (s *Store) Own(ctx context.Context, thing string) (m engine.WriterProcess, mine bool, err error) {
	c, several := s.engine.(engine.ClusterEngine)
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

// ownerOf returns the owner of a thing without a write transaction.
func ownerOf(ctx context.Context, c engine.ClusterEngine, thing string) (engine.WriterProcess, error) {
	all, err := c.Members(ctx)
	if err != nil {
		return engine.WriterProcess{}, err
	}
	i := slices.IndexFunc(all, func(m engine.WriterProcess) bool { return !m.Dead && slices.Contains(m.Owned, thing) })
	if i < 0 {
		return engine.WriterProcess{}, nil
	}
	return all[i], nil
}

// Disown gives back what [Store.Own] gave, so that a peer can own it at once.
func (s *Store) Disown(ctx context.Context, thing string) error {
	c, several := s.engine.(engine.ClusterEngine)
	if !several {
		return nil
	}
	err := s.write(ctx, func(ctx context.Context, t *storeTx) error { return c.Disown(ctx, t.Session(), thing) })
	if err != nil {
		return fmt.Errorf("disown %s: %w", thing, err)
	}
	return nil
}

// RemoveDead removes the processes that have ended and releases their leases. It returns
// the others, oldest first. It opens a write transaction only if a process has ended.
func (s *Store) RemoveDead(ctx context.Context) (living []engine.WriterProcess, err error) {
	c, several := s.engine.(engine.ClusterEngine)
	if !several {
		return nil, nil
	}
	all, err := c.Members(ctx)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	living = slices.DeleteFunc(slices.Clone(all), func(p engine.WriterProcess) bool { return p.Dead })
	if len(living) == len(all) {
		return living, nil
	}
	if err := s.write(ctx, func(ctx context.Context, t *storeTx) error { return t.recovery.removeDead(ctx, c, false) }); err != nil {
		return living, fmt.Errorf("remove ended processes: %w", err)
	}
	return living, nil
}

// Publish replaces the bulletin that the peers of this process read; see
// [engine.Process]. Without a cluster it does nothing.
func (s *Store) Publish(ctx context.Context, bulletin string) error {
	c, several := s.engine.(engine.ClusterEngine)
	if !several {
		return nil
	}
	if err := c.Publish(ctx, bulletin); err != nil {
		return fmt.Errorf("publish bulletin: %w", err)
	}
	return nil
}

// removeDead removes ended processes and releases their leases.
func (t *recoveryTx) removeDead(ctx context.Context, c engine.ClusterEngine, starting bool) error {
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

// releaseLeases releases the leases of a process.
func (t *recoveryTx) releaseLeases(ctx context.Context, process string) error {
	for _, q := range []engine.QueryText{leaveLeases, leaveJobs, leaveTools} {
		if err := t.Run(ctx, q, process); err != nil {
			return err
		}
	}
	return nil
}

const (
	expireLeases       engine.QueryText = `update leases set expires = 0 where expires > 0`
	expireTools        engine.QueryText = `update tool_runs set until = 0 where ended = 0 and state = 'running'`
	forgetDisconnected engine.QueryText = `delete from meta where substr(name, 1, 5) = '` + tables.MetaDisconnected + `'`
	liveUplinks        engine.QueryText = `select ` + tables.UplinkColumns + ` from uplinks
where live = 1 and exists (select 1 from mappings m where m.space = uplinks.space and m.live = 1) order by agent, n`
)

// A recoveryTx releases what ended processes have left behind.
type recoveryTx struct {
	*writeTx
	branch *branchTx
	span   *spanTx
}

// start releases what earlier processes held if this process is the only one. With lives
// it also opens the connection spans.
func (t *recoveryTx) start(ctx context.Context, lives bool) error {
	if alone, err := t.IsLastWriter(ctx); err != nil || !alone {
		return err
	}
	for _, q := range []engine.QueryText{expireLeases, expireTools} {
		if err := t.Run(ctx, q); err != nil {
			return err
		}
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

// openWhereLeft opens a span where the last span of the uplink ended.
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

// stop closes the open spans when the last process that runs agents stops.
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
