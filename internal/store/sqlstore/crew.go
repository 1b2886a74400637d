package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A Process is one of the processes that write a record.
type Process struct {
	ID      string
	Host    string
	PID     int64
	Program string // its version; empty when it did not say
	Since   time.Time
	Has     []string // what it has for itself, in their order

	Bulletin string // what it last told the others of itself
	Dead     bool   // its time is over, and nobody has given it up yet
}

// String names the process for people.
func (m Process) String() string { return fmt.Sprintf("process %d on %s", m.PID, m.Host) }

// A Cluster is an engine whose record several processes write, each of which may
// have things for itself: accounts, and duties that are done once. It has a thing
// as long as it has the right to write, so that every commit proves it.
type Cluster interface {
	Recoverer
	// Process names this process among the others.
	Process() string
	// Holds reports whether this process was told so lately that it has the right to
	// write that nobody can have been given it since.
	Holds() bool
	// Members returns the processes that write, the oldest first.
	Members(ctx context.Context) ([]Process, error)
	// Bury gives up the processes whose time is over and returns them. One that
	// starts takes every sign of death for one; later a process that may only have
	// lost a connection gets time to say so.
	Bury(ctx context.Context, s Session, starting bool) (gone []string, err error)
	// Own gives this process a thing that nobody has, and reports whether it is
	// this one's.
	Own(ctx context.Context, s Session, thing string) (mine bool, err error)
	// Disown gives a thing back.
	Disown(ctx context.Context, s Session, thing string) error
	// Say replaces what this process tells the others of itself.
	Say(ctx context.Context, bulletin string) error
}

const (
	leaveLeases query = `update leases set expires = 0 where holder = $1 and expires > 0`
	leaveJobs   query = `update jobs set expires = 0 where holder = $1 and state = 'running'`
)

// Process names this process among those that write the record; empty where it
// is the only one that can. Leases that it takes under this name are free as soon
// as it is given up.
func (s *Store) Process() string {
	if c, ok := s.engine.(Cluster); ok {
		return c.Process()
	}
	return ""
}

// Holds reports whether what this process has is still its own, as far as it can know
// without asking. Every commit proves it; what is no commit asks here first.
func (s *Store) Holds() bool {
	c, several := s.engine.(Cluster)
	return !several || c.Holds()
}

// Own gives this process a thing that one process of the installation has at a
// time: mine is true when it has it, until [Store.Disown] or its end. Otherwise m
// has it; it is zero when that just changed. Where the record has one process
// alone everything is its own.
func (s *Store) Own(ctx context.Context, thing string) (m Process, mine bool, err error) {
	c, several := s.engine.(Cluster)
	if !several {
		return m, true, nil
	}
	m, err = ownerOf(ctx, c, thing)
	if err == nil && m.ID == "" {
		err = s.write(ctx, func(ctx context.Context, t *tx) error {
			if err := t.bury(ctx, c, false); err != nil {
				return err
			}
			var err error
			mine, err = c.Own(ctx, t.session, thing)
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
func ownerOf(ctx context.Context, c Cluster, thing string) (Process, error) {
	all, err := c.Members(ctx)
	if err != nil {
		return Process{}, err
	}
	i := slices.IndexFunc(all, func(m Process) bool { return !m.Dead && slices.Contains(m.Has, thing) })
	if i < 0 {
		return Process{}, nil
	}
	return all[i], nil
}

// Disown gives back what [Store.Own] gave, so that others need not wait for it.
func (s *Store) Disown(ctx context.Context, thing string) error {
	c, several := s.engine.(Cluster)
	if !several {
		return nil
	}
	err := s.write(ctx, func(ctx context.Context, t *tx) error { return c.Disown(ctx, t.session, thing) })
	if err != nil {
		return fmt.Errorf("disown %s: %w", thing, err)
	}
	return nil
}

// Bury gives up the processes that have died: what they had leased is free. It
// returns the others, the oldest first. Where none has died, it takes no turn of
// the writer.
func (s *Store) Bury(ctx context.Context) (living []Process, err error) {
	c, several := s.engine.(Cluster)
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
	if err := s.write(ctx, func(ctx context.Context, t *tx) error { return t.bury(ctx, c, false) }); err != nil {
		return living, fmt.Errorf("give up dead processes: %w", err)
	}
	return living, nil
}

func isDead(m Process) bool { return m.Dead }

// Say tells the other processes something of this one, in place of what it told
// before; see [Process]. It is gone when the process is. Where the record has one
// process alone nobody hears it.
func (s *Store) Say(ctx context.Context, bulletin string) error {
	c, several := s.engine.(Cluster)
	if !several {
		return nil
	}
	if err := c.Say(ctx, bulletin); err != nil {
		return fmt.Errorf("tell other processes: %w", err)
	}
	return nil
}

// bury gives up dead processes: what they had leased is free.
func (t *tx) bury(ctx context.Context, c Cluster, starting bool) error {
	gone, err := c.Bury(ctx, t.session, starting)
	if err != nil {
		return err
	}
	for _, process := range gone {
		if err := t.free(ctx, process); err != nil {
			return err
		}
	}
	return nil
}

// free lets everybody have what a process has leased.
func (t *tx) free(ctx context.Context, process string) error {
	for _, q := range []query{leaveLeases, leaveJobs} {
		if err := t.run(ctx, q, process); err != nil {
			return err
		}
	}
	return nil
}

// Members returns the processes that write the record, the oldest first; none
// where it has one process alone.
func (c ReadModel) Members(ctx context.Context) ([]Process, error) {
	crew, several := c.engine.(Cluster)
	if !several {
		return nil, nil
	}
	all, err := crew.Members(ctx)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return slices.DeleteFunc(all, isDead), nil
}
