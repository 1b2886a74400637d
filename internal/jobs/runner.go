package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"
)

// Handler does the jobs of one kind. It begins at t.Job.Cursor, saves after every
// piece, and returns what Save returned when that is an error. Nil means that the
// job is done; any other error that it failed.
type Handler func(ctx context.Context, t *JobTask) error

// A JobRunner does jobs, one at a time. Its fields are set before use.
type JobRunner struct {
	Ledger Store
	Kinds  map[string]Handler
	Holder string // unique for this process
	// TTL is how long a job that says nothing stays ours. Default: 1 min.
	TTL time.Duration
	// Poll is how often the runner looks for jobs without a notification. Default: 2 s.
	Poll time.Duration
	// Changed is called after each change of a job, by the one who made it. May be nil.
	Changed func(Job)
	Logger  *slog.Logger
}

func (r *JobRunner) ttl() time.Duration {
	if r.TTL > 0 {
		return r.TTL
	}
	return time.Minute
}

// Run does whatever jobs there are until ctx is done. A job under way is then
// given back, to be taken up where it last saved. ring may be nil.
func (r *JobRunner) Run(ctx context.Context, ring <-chan struct{}) error {
	poll := r.Poll
	if poll <= 0 {
		poll = 2 * time.Second
	}
	for ctx.Err() == nil {
		did, err := r.next(ctx, 0)
		if err != nil && ctx.Err() == nil {
			r.Logger.Error("job not taken up", "error", err)
		}
		if did {
			continue
		}
		timer := time.NewTimer(poll)
		select {
		case <-ctx.Done():
		case <-ring:
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// Do does one job now. It fails when the job failed, was paused or cancelled, or
// is not to be had.
func (r *JobRunner) Do(ctx context.Context, id int64) error {
	did, err := r.next(ctx, id)
	if err == nil && !did {
		return fmt.Errorf("take up job %d: %w", id, ErrLost)
	}
	return err
}

// next claims a job and does it. Of a job taken by its number the outcome is
// returned, too.
func (r *JobRunner) next(ctx context.Context, id int64) (did bool, err error) {
	kinds := slices.Sorted(maps.Keys(r.Kinds))
	j, err := r.Ledger.Claim(ctx, JobClaim{ID: id, Kinds: kinds, Holder: r.Holder, TTL: r.ttl(), At: time.Now()})
	if err != nil || j == nil {
		return false, err
	}
	outcome := r.do(ctx, *j)
	if id == 0 {
		return true, nil
	}
	return true, outcome
}

// do has the job's work run and records how it ended.
func (r *JobRunner) do(ctx context.Context, j Job) error {
	r.Logger.Info("job taken up", "job", j.ID, "kind", j.Kind, "subject", j.Subject, "done", j.Done)
	t := &JobTask{runner: r, Job: j, measured: time.Now(), from: j.Done}
	r.changed(j)
	err := r.attempt(ctx, t)
	state := Done
	switch {
	case errors.Is(err, ErrLost), errors.Is(err, ErrPaused), errors.Is(err, ErrCancelled):
		r.Logger.Info("job left", "job", j.ID, "reason", err.Error())
		return err
	case err != nil && ctx.Err() != nil:
		state = Ready
	case err != nil:
		state, t.Job.Error = Failed, err.Error()
		r.Logger.Warn("job failed", "job", j.ID, "kind", j.Kind, "error", err)
	default:
		r.Logger.Info("job done", "job", j.ID, "kind", j.Kind, "done", t.Job.Done)
	}
	// What became of it must be kept even when the process is stopping.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	t.Job.Note, t.Job.Until = "", time.Time{}
	if ended := r.Ledger.End(last, t.Job, state, time.Now()); ended != nil {
		return errors.Join(err, fmt.Errorf("end job %d: %w", j.ID, ended))
	}
	t.Job.State = state
	r.changed(t.Job)
	return err
}

// attempt runs the work. A panic in it is a failure of this job alone.
func (r *JobRunner) attempt(ctx context.Context, t *JobTask) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the work of %s panicked: %v", t.Job.Kind, p)
		}
	}()
	work := r.Kinds[t.Job.Kind]
	if work == nil {
		return fmt.Errorf("this program does not know jobs of the kind %q", t.Job.Kind)
	}
	return work(ctx, t)
}

func (r *JobRunner) changed(j Job) {
	if r.Changed != nil {
		r.Changed(j)
	}
}

// A JobTask is a job in the hands of its work. It belongs to one goroutine.
type JobTask struct {
	Job    Job // as last saved
	runner *JobRunner

	measured time.Time // since when the rate is measured
	from     int64     // what was done then
}

// span is the stretch of time over which a rate is measured.
const span = 5 * time.Second

// Save makes p durable and returns nil when the work may go on. Any error means
// that it must stop and return that error.
func (t *JobTask) Save(ctx context.Context, p JobProgress) error {
	now := time.Now()
	t.Job.JobProgress = p
	if d := now.Sub(t.measured); d >= time.Second {
		rate := float64(p.Done-t.from) / d.Seconds()
		if t.Job.Rate > 0 {
			rate = (rate + t.Job.Rate) / 2
		}
		t.Job.Rate = max(rate, 0)
		if d >= span {
			t.measured, t.from = now, p.Done
		}
	}
	t.Job.Updated = now
	err := t.runner.Ledger.Save(ctx, t.Job, t.runner.ttl(), now)
	switch {
	case errors.Is(err, ErrPaused):
		t.Job.State = Paused
	case errors.Is(err, ErrCancelled):
		t.Job.State = Cancelled
	case err != nil:
		return fmt.Errorf("save job %d: %w", t.Job.ID, err)
	}
	t.runner.changed(t.Job)
	return err
}
