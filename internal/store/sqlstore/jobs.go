package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/internal/store/tables"
)

const (
	insertJob engine.QueryText = `insert into jobs (kind, subject, args, state, done, total, unit, cursor, note, created, updated)
values ($1, $2, $3, 'ready', $4, $5, $6, $7, $8, $9, $9) returning ` + tables.JobColumns

	openJobs engine.QueryText = `select ` + tables.JobColumns + ` from jobs
where (state = 'ready' or state = 'running') and (id = $1 or $1 = 0) order by id`
	claimJob engine.QueryText = `update jobs set state = 'running', want = '', holder = $2, epoch = epoch + 1, expires = $3, error = '',
  started = case started when 0 then cast($4 as bigint) else started end, updated = $4, ended = 0 where id = $1 returning ` + tables.JobColumns
	saveProgress engine.QueryText = `update jobs set done = $2, total = $3, unit = $4, rate = $5, cursor = $6, note = $7, until = $8,
  expires = $9, updated = $10 where id = $1`
	settleJob engine.QueryText = `update jobs set state = $2, want = '', error = $3, holder = '', expires = 0, updated = $4,
  note = '', until = 0, rate = 0, ended = case when $2 = 'done' or $2 = 'failed' or $2 = 'cancelled' then cast($4 as bigint) else 0 end where id = $1`
	wantJob engine.QueryText = `update jobs set want = $2, updated = $3 where id = $1`
)

// A JobStore stores long-running jobs.
type JobStore struct {
	readmodel.JobReader
	s *Store
}

var (
	_ jobs.Store     = JobStore{}
	_ jobs.JobQueue  = JobStore{}
	_ jobs.JobReader = JobStore{}
)

// Jobs returns the store of long-running jobs.
func (s *Store) Jobs() JobStore { return JobStore{readmodel.NewJobReader(s.engine), s} }

// Add implements [jobs.Queue].
func (v JobStore) Add(ctx context.Context, j jobs.Job, at time.Time) (jobs.Job, error) {
	var added *jobs.Job
	err := v.s.write(ctx, func(ctx context.Context, t *storeTx) (err error) {
		added, err = engine.FirstRow(ctx, t, insertJob, []any{j.Kind, j.Subject, engine.NonNilBytes(j.Args), j.Done, j.Total, j.Unit, engine.NonNilBytes(j.Cursor), j.Note, engine.ToMillis(at)}, tables.ScanJob)
		return err
	})
	if err != nil {
		return jobs.Job{}, fmt.Errorf("add job %s %s: %w", j.Kind, j.Subject, err)
	}
	return *added, nil
}

// Claim implements [jobs.Store].
func (v JobStore) Claim(ctx context.Context, c jobs.JobClaim) (claimed *jobs.Job, err error) {
	if waiting, err := engine.AllRows(ctx, v.s.engine, openJobs, []any{c.ID}, tables.ScanJob); err != nil || len(waiting) == 0 {
		return nil, err // mostly there is nothing; this avoids a transaction
	}
	err = v.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		open, err := engine.AllRows(ctx, t, openJobs, []any{c.ID}, tables.ScanJob)
		if err != nil {
			return err
		}
		for _, j := range open {
			if (j.State == jobs.Running && j.Expires.After(t.Clock().ToShared(c.At))) || (c.ID == 0 && !slices.Contains(c.Kinds, j.Kind)) {
				continue
			}
			if j.Want != "" { // the process that ran it ended before it could do so
				if err := t.Run(ctx, settleJob, j.ID, string(j.Want), "", engine.ToMillis(c.At)); err != nil {
					return err
				}
				continue
			}
			claimed, err = engine.FirstRow(ctx, t, claimJob, []any{j.ID, c.Holder, t.SharedMillis(c.At.Add(c.TTL)), engine.ToMillis(c.At)}, tables.ScanJob)
			return err
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claim job: %w", err)
	}
	return claimed, nil
}

// heldJob returns a job, or [jobs.ErrLost] if another process has its lease.
func heldJob(ctx context.Context, src engine.QueryReader, j jobs.Job) (jobs.Job, error) {
	now, err := tables.JobByID(ctx, src, j.ID)
	if errors.Is(err, jobs.ErrUnknown) || err == nil && (now.State != jobs.Running || now.Epoch != j.Epoch) {
		err = jobs.ErrLost
	}
	return now, err
}

// Save implements [jobs.Store].
func (v JobStore) Save(ctx context.Context, j jobs.Job, ttl time.Duration, at time.Time) error {
	var want jobs.JobState
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

// End implements [jobs.Store].
func (v JobStore) End(ctx context.Context, j jobs.Job, s jobs.JobState, at time.Time) error {
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

// Ask implements [jobs.Queue].
func (v JobStore) Ask(ctx context.Context, id int64, want jobs.JobState, at time.Time) (j jobs.Job, err error) {
	err = v.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		now, err := tables.JobByID(ctx, t, id)
		if err != nil {
			return err
		}
		if err := ask(ctx, t, now, want, at); err != nil {
			return err
		}
		j, err = tables.JobByID(ctx, t, id)
		return err
	})
	if err != nil {
		return jobs.Job{}, fmt.Errorf("ask job %d to be %s: %w", id, want, err)
	}
	return j, nil
}

// ask changes the state of a job, or stores the request for the process that runs it.
func ask(ctx context.Context, t *storeTx, j jobs.Job, want jobs.JobState, at time.Time) error {
	switch {
	case j.State == want:
		return nil
	case j.State == jobs.Done, j.State == jobs.Cancelled, j.State == jobs.Failed && want == jobs.Paused:
		return jobs.ErrOver
	case j.State == jobs.Running && want == jobs.Ready:
		return t.Run(ctx, wantJob, j.ID, "", engine.ToMillis(at)) // withdraws the request
	case j.State == jobs.Running:
		return t.Run(ctx, wantJob, j.ID, string(want), engine.ToMillis(at))
	case want == jobs.Paused, want == jobs.Cancelled, want == jobs.Ready:
		return t.Run(ctx, settleJob, j.ID, string(want), "", engine.ToMillis(at))
	}
	return errors.New("not a state that can be requested")
}
