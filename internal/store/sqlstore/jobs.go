package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

const (
	jobColumns engine.Query = `id, kind, subject, args, state, want, done, total, unit, rate, cursor, note, until, error, holder, epoch,
  expires, created, started, updated, ended`
	insertJob engine.Query = `insert into jobs (kind, subject, args, state, done, total, unit, cursor, note, created, updated)
values ($1, $2, $3, 'ready', $4, $5, $6, $7, $8, $9, $9) returning ` + jobColumns
	selectJob  engine.Query = `select ` + jobColumns + ` from jobs where id = $1`
	newestJobs engine.Query = `select ` + jobColumns + ` from (select * from jobs where id < $1 or $1 = 0 order by id desc limit $2 + 0) newest order by id`
	openJobs   engine.Query = `select ` + jobColumns + ` from jobs
where (state = 'ready' or state = 'running') and (id = $1 or $1 = 0) order by id`
	claimJob engine.Query = `update jobs set state = 'running', want = '', holder = $2, epoch = epoch + 1, expires = $3, error = '',
  started = case started when 0 then cast($4 as bigint) else started end, updated = $4, ended = 0 where id = $1 returning ` + jobColumns
	saveProgress engine.Query = `update jobs set done = $2, total = $3, unit = $4, rate = $5, cursor = $6, note = $7, until = $8,
  expires = $9, updated = $10 where id = $1`
	settleJob engine.Query = `update jobs set state = $2, want = '', error = $3, holder = '', expires = 0, updated = $4,
  note = '', until = 0, rate = 0, ended = case when $2 = 'done' or $2 = 'failed' or $2 = 'cancelled' then cast($4 as bigint) else 0 end where id = $1`
	wantJob engine.Query = `update jobs set want = $2, updated = $3 where id = $1`
)

// A JobStore keeps long work.
type JobStore struct{ s *Store }

var (
	_ jobs.Store  = JobStore{}
	_ jobs.Queue  = JobStore{}
	_ jobs.Reader = JobStore{}
)

// Jobs returns the store's view of long work.
func (s *Store) Jobs() JobStore { return JobStore{s} }

// Jobs returns the view of long work of a record that is only read: what would
// write fails with [ErrClosed].
func (c ReadModel) Jobs() JobStore { return JobStore{&Store{engine: c.engine}} }

func scanJob(r engine.Row) (j jobs.Job, err error) {
	return j, r.Scan(&j.ID, &j.Kind, &j.Subject, &j.Args, &j.State, &j.Want, &j.Done, &j.Total, &j.Unit, &j.Rate, &j.Cursor,
		&j.Note, engine.ScanTime(&j.Until), &j.Error, &j.Holder, &j.Epoch, engine.ScanTime(&j.Expires), engine.ScanTime(&j.Created), engine.ScanTime(&j.Started),
		engine.ScanTime(&j.Updated), engine.ScanTime(&j.Ended))
}

// Add implements [jobs.Desk].
func (v JobStore) Add(ctx context.Context, j jobs.Job, at time.Time) (jobs.Job, error) {
	var added *jobs.Job
	err := v.s.write(ctx, func(ctx context.Context, t *storeTx) (err error) {
		added, err = engine.FirstRow(ctx, t, insertJob, []any{j.Kind, j.Subject, engine.NonNilBytes(j.Args), j.Done, j.Total, j.Unit, engine.NonNilBytes(j.Cursor), j.Note, engine.ToMillis(at)}, scanJob)
		return err
	})
	if err != nil {
		return jobs.Job{}, fmt.Errorf("add job %s %s: %w", j.Kind, j.Subject, err)
	}
	return *added, nil
}

// Claim implements [jobs.Ledger].
func (v JobStore) Claim(ctx context.Context, c jobs.Claim) (claimed *jobs.Job, err error) {
	if waiting, err := engine.AllRows(ctx, v.s.engine, openJobs, []any{c.ID}, scanJob); err != nil || len(waiting) == 0 {
		return nil, err // a look without the writer: mostly there is nothing
	}
	err = v.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		open, err := engine.AllRows(ctx, t, openJobs, []any{c.ID}, scanJob)
		if err != nil {
			return err
		}
		for _, j := range open {
			if (j.State == jobs.Running && j.Expires.After(t.Clock().ToShared(c.At))) || (c.ID == 0 && !slices.Contains(c.Kinds, j.Kind)) {
				continue
			}
			if j.Want != "" { // whoever had it died before it could do so
				if err := t.Run(ctx, settleJob, j.ID, string(j.Want), "", engine.ToMillis(c.At)); err != nil {
					return err
				}
				continue
			}
			claimed, err = engine.FirstRow(ctx, t, claimJob, []any{j.ID, c.Holder, t.SharedMillis(c.At.Add(c.TTL)), engine.ToMillis(c.At)}, scanJob)
			return err
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claim job: %w", err)
	}
	return claimed, nil
}

// jobOf returns a job as it stands, or [jobs.ErrUnknown].
func jobOf(ctx context.Context, src engine.Reader, id int64) (jobs.Job, error) {
	found, err := engine.FirstRow(ctx, src, selectJob, []any{id}, scanJob)
	if err != nil {
		return jobs.Job{}, err
	}
	if found == nil {
		return jobs.Job{}, jobs.ErrUnknown
	}
	return *found, nil
}

// heldJob returns a job as it stands, or [jobs.ErrLost] when somebody else has it.
func heldJob(ctx context.Context, src engine.Reader, j jobs.Job) (jobs.Job, error) {
	now, err := jobOf(ctx, src, j.ID)
	if errors.Is(err, jobs.ErrUnknown) || err == nil && (now.State != jobs.Running || now.Epoch != j.Epoch) {
		err = jobs.ErrLost
	}
	return now, err
}

// Save implements [jobs.Ledger].
func (v JobStore) Save(ctx context.Context, j jobs.Job, ttl time.Duration, at time.Time) error {
	var want jobs.State
	err := v.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		now, err := heldJob(ctx, t, j)
		if err != nil {
			return err
		}
		want = now.Want
		err = t.Run(ctx, saveProgress, j.ID, j.Done, j.Total, j.Unit, j.Rate, engine.NonNilBytes(j.Cursor), j.Note, engine.ToMillis(j.Until), t.SharedMillis(at.Add(ttl)), engine.ToMillis(at))
		if err != nil || want == "" {
			return err
		}
		return t.Run(ctx, settleJob, j.ID, string(want), "", engine.ToMillis(at))
	})
	switch {
	case err != nil:
		return fmt.Errorf("save job %d: %w", j.ID, err)
	case want == jobs.Paused:
		return jobs.ErrPaused
	case want == jobs.Cancelled:
		return jobs.ErrCancelled
	}
	return nil
}

// End implements [jobs.Ledger].
func (v JobStore) End(ctx context.Context, j jobs.Job, s jobs.State, at time.Time) error {
	err := v.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		now, err := heldJob(ctx, t, j)
		if err != nil {
			return err
		}
		if s == jobs.Ready && now.Want != "" {
			s = now.Want
		}
		return t.Run(ctx, settleJob, j.ID, string(s), j.Error, engine.ToMillis(at))
	})
	if err != nil {
		return fmt.Errorf("end job %d: %w", j.ID, err)
	}
	return nil
}

// Ask implements [jobs.Desk].
func (v JobStore) Ask(ctx context.Context, id int64, want jobs.State, at time.Time) (j jobs.Job, err error) {
	err = v.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		now, err := jobOf(ctx, t, id)
		if err != nil {
			return err
		}
		if err := ask(ctx, t, now, want, at); err != nil {
			return err
		}
		j, err = jobOf(ctx, t, id)
		return err
	})
	if err != nil {
		return jobs.Job{}, fmt.Errorf("ask job %d to be %s: %w", id, want, err)
	}
	return j, nil
}

// ask changes a job to what is wanted of it, or tells the one who has it.
func ask(ctx context.Context, t *storeTx, j jobs.Job, want jobs.State, at time.Time) error {
	switch {
	case j.State == want:
		return nil
	case j.State == jobs.Done, j.State == jobs.Cancelled, j.State == jobs.Failed && want == jobs.Paused:
		return jobs.ErrOver
	case j.State == jobs.Running && want == jobs.Ready:
		return t.Run(ctx, wantJob, j.ID, "", engine.ToMillis(at)) // it goes on after all
	case j.State == jobs.Running:
		return t.Run(ctx, wantJob, j.ID, string(want), engine.ToMillis(at))
	case want == jobs.Paused, want == jobs.Cancelled, want == jobs.Ready:
		return t.Run(ctx, settleJob, j.ID, string(want), "", engine.ToMillis(at))
	}
	return errors.New("nobody can ask for that")
}

// Job implements [jobs.Shelf].
func (v JobStore) Job(ctx context.Context, id int64) (jobs.Job, error) {
	j, err := jobOf(ctx, v.s.engine, id)
	if err != nil {
		return jobs.Job{}, fmt.Errorf("read job %d: %w", id, err)
	}
	return j, nil
}

// Jobs implements [jobs.Shelf].
func (v JobStore) Jobs(ctx context.Context, before int64, limit int) ([]jobs.Job, error) {
	found, err := engine.AllRows(ctx, v.s.engine, newestJobs, []any{before, limit}, scanJob)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return found, nil
}
