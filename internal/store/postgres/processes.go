package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

const (
	serverNow   = `cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
	nameBackend = `update processes set backend = pg_backend_pid(),
  began = (select cast(a.backend_start as text) from pg_stat_activity a where a.pid = pg_backend_pid()) where id = $1`
	// A process lives while its time has not run out and the server still has the
	// connection it writes on. That connection is a hint that makes taking over
	// faster: a process that only lost it finds its row gone, and ends.
	// A server that came up since has lost all of them, which is a hint of nothing.
	living    = `p.expires > ` + serverNow + ` and (` + present + `)`
	present   = `p.backend = 0 or p.began < cast(pg_postmaster_start_time() as text) or ` + connected
	connected = `exists (select 1 from pg_stat_activity a where a.pid = p.backend and cast(a.backend_start as text) = p.began)`
	signs     = `select p.id, p.host, p.pid, not (` + working + `) from processes p where p.id <> $1 and not (` + living + `)`
	bury      = `delete from processes where id = any ($1)`
	others    = `select p.host, p.pid, p.program, p.expires - ` + serverNow + ` from processes p where p.id <> $1`
	// A process that owns the upkeep alone serves no account.
	othersLive = others + ` and not exists (select 1 from owners o where o.thing = $2 and o.process = p.id)`
	enlist     = `insert into processes (id, host, pid, program, backend, began, ttl, expires, since)
values ($1, $2, $3, $4, 0, '', $5, ` + serverNow + ` + $5, ` + serverNow + `)`
	// A connection that the server has no more tells nothing of a process that lives.
	prolong = `update processes p set expires = ` + serverNow + ` + p.ttl, backend = case when ` + connected + ` then p.backend else 0 end where p.id = $1`
	// Who still has something leased is not out of the list until others have given
	// it up, and that with it.
	resign = `delete from processes where id = $1 and not exists (select 1 from leases where holder = $1 and expires > 0)
  and not exists (select 1 from jobs where holder = $1 and state = 'running' and expires > 0)`
)

// upkeep is what a process owns that only looks after the record.
const upkeep = "upkeep"

// ownConns is how many connections there may be for the right to write. One is used; a
// next one while the server has not said that the first is over.
const ownConns = 4

// enlist makes this process one of those that write the record, and begins to
// keep it one.
func (e *postgresEngine) enlist(ctx context.Context) error {
	id := e.opts.NewID()
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	if e.own, err = e.apart(ctx); err != nil {
		return err
	}
	var since time.Time
	err = pgx.BeginFunc(ctx, e.own, func(t pgx.Tx) error {
		if _, err := t.Exec(ctx, lockTurn); err != nil {
			return err
		}
		since = time.Now() // the turn may have been long in coming
		if err := grownMeanwhile(ctx, t); err != nil {
			return err
		}
		if e.opts.Alone {
			if err := nobodyElse(ctx, t, id); err != nil {
				return err
			}
		}
		_, err := t.Exec(ctx, enlist, id, host, os.Getpid(), e.opts.Program, e.opts.Term.Milliseconds())
		if err == nil && !e.opts.Lives {
			_, err = t.Exec(ctx, ownThing, upkeep, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	e.id = id
	e.held.Store(&since)
	// It is kept until Close; the context of the caller that opened the store may have
	// ended by then.
	keeping, quit := context.WithCancel(context.WithoutCancel(ctx))
	e.quit = quit
	e.keeper.Go(func() { e.keep(keeping, since) })
	return nil
}

// apart opens connections for the right to write. Reads may wait for as long as a
// table is locked and take up all others, which is no reason to give up.
func (e *postgresEngine) apart(ctx context.Context) (*pgxpool.Pool, error) {
	c := e.pool.Config()
	c.MaxConns, c.MinConns, c.MinIdleConns = ownConns, 0, 0
	return pgxpool.NewWithConfig(ctx, c)
}

// grownMeanwhile refuses a record that a newer program has walked up since this one
// looked at its schema: that program has the turn while it does.
func grownMeanwhile(ctx context.Context, t pgx.Tx) error {
	have, err := schemaOf(ctx, t)
	if err == nil && have > Schema() {
		err = engine.NewerError(have, Schema(), programOf(ctx, t))
	}
	return err
}

func nobodyElse(ctx context.Context, t pgx.Tx, id string) error {
	found, err := rowsOf(t.Query(ctx, signs, id))
	if err != nil {
		return err
	}
	gone, err := deadOf(found)
	if err != nil {
		return err
	}
	if _, err := t.Exec(ctx, bury, gone); err != nil {
		return err
	}
	return inUse(t.QueryRow(ctx, others+` limit 1`, id))
}

// deadOf reads the [signs] of death of other processes and returns those that are dead for a
// process that starts. Where connections break all the time, living processes have none either,
// and declaring them dead for that would end one after the other; so they get time for a
// heartbeat, unless they ran on this machine, where their process id can be checked.
func deadOf(found engine.Rows) (gone []string, err error) {
	defer func() { err = errors.Join(err, found.Close()) }()
	here, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	gone = []string{} // nil would be null
	for found.Next() {
		var id, host string
		var pid int64
		var dead bool
		if err := found.Scan(&id, &host, &pid, &dead); err != nil {
			return nil, err
		}
		if dead || host == here && !runs(int(pid)) {
			gone = append(gone, id)
		}
	}
	return gone, found.Err()
}

// runs reports whether another process of this machine has that number. Our own id may
// have been another process's before, as in a container that is started again.
func runs(pid int) bool {
	if pid == os.Getpid() {
		return false
	}
	p, err := os.FindProcess(pid)
	return err == nil && !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// inUse returns an [*InUseError] for the process that a row names, if it names one.
func inUse(found pgx.Row) error {
	var other InUseError
	var left int64
	err := found.Scan(&other.Host, &other.PID, &other.Program, &left)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	other.Expires = time.Duration(left) * time.Millisecond
	return &other
}

// keep prolongs the right to write. What the server does not confirm in time is
// not trusted: others may have been given it, so the process is told to end a
// while before they can.
func (e *postgresEngine) keep(ctx context.Context, since time.Time) {
	next := time.NewTimer(e.opts.Term / 5)
	defer next.Stop()
	defer e.witness()
	defer e.resign(context.WithoutCancel(ctx))
	well := true
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		asked := time.Now()
		err := e.prolong(ctx, since.Add(e.opts.Term*4/5))
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			since, well = asked, true
			e.held.Store(&asked)
			e.witness()
			next.Reset(e.opts.Term / 5)
			continue
		case errors.Is(err, ErrBuried):
			e.giveUp(err)
			return
		case time.Since(since) >= e.opts.Term*4/5:
			e.giveUp(fmt.Errorf("the right to write was not prolonged for %s: %w", time.Since(since).Round(time.Second), err))
			return
		}
		if well { // once: what is opened from here on finds the server as it is now
			e.pool.Reset()
			e.opts.Logger.Warn("right to write not prolonged, asking again", "error", err)
		}
		well = false
		next.Reset(e.opts.Term / 50)
	}
}

// prolong has the server confirm once that this process lives, while that is of use.
// A connection that lay idle while the server was away fails at its first use, and so
// would the next; it is opened anew, with as few round trips as can be.
func (e *postgresEngine) prolong(ctx context.Context, until time.Time) error {
	ctx, end := context.WithDeadline(ctx, until)
	defer end()
	limited, cancel := context.WithTimeout(ctx, e.opts.Term/5)
	defer cancel()
	tag, err := e.own.Exec(limited, prolong, pgx.QueryExecModeExec, e.id) // one round trip, also on a new connection
	if err == nil && tag.RowsAffected() == 0 {
		return ErrBuried
	}
	if err != nil && codeOf(err) == "" {
		e.own.Reset()
	}
	return err
}

// giveUp ends what is on its way to the server, which might be waited for without
// end, and tells the process.
func (e *postgresEngine) giveUp(why error) {
	e.given.Do(func() {
		e.cables.cut()
		e.opts.Lost(why)
	})
}

// HoldsLease implements [engine.Cluster]. A process gives itself up before its time runs out;
// others may give up one whose connection broke sooner: see [working]. Where the
// machine slept, the clock on the wall alone went on.
func (e *postgresEngine) HoldsLease() bool {
	since := e.held.Load()
	if since == nil {
		return false
	}
	now := time.Now()
	return max(now.Sub(*since), now.Round(0).Sub(since.Round(0))) < e.opts.Term*2/5
}

// resign gives the right to write back, so that others need not wait for it. A
// server that cannot be reached lets it run out.
func (e *postgresEngine) resign(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := e.own.Exec(ctx, resign, e.id); err != nil {
		e.opts.Logger.Warn("right to write not given back", "error", err)
	}
}

// IsLastWriter implements [engine.Recoverer].
func (e *postgresEngine) IsLastWriter(ctx context.Context, s engine.WriteSession) (bool, error) {
	found, err := s.Query(ctx, othersLive, e.id, upkeep)
	if err != nil {
		return false, err
	}
	alone := !found.Next()
	return alone, found.Close()
}
