package sqlstore

import (
	"context"
	"fmt"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"slices"
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
	living = slices.DeleteFunc(slices.Clone(all), isDead)
	if len(living) == len(all) {
		return living, nil
	}
	if err := s.write(ctx, func(ctx context.Context, t *storeTx) error { return t.recovery.removeDead(ctx, c, false) }); err != nil {
		return living, fmt.Errorf("give up dead processes: %w", err)
	}
	return living, nil
}

func isDead(m engine.Process) bool { return m.Dead }

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

// Members returns the processes that write the record, the oldest first; none
// where it has one process alone.
func (c ReadModel) Members(ctx context.Context) ([]engine.Process, error) {
	crew, several := c.engine.(engine.Cluster)
	if !several {
		return nil, nil
	}
	all, err := crew.Members(ctx)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return slices.DeleteFunc(all, isDead), nil
}
