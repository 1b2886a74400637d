package jobs

import (
	"context"
	"time"
)

// A Store is what a [Runner] asks of the record.
type Store interface {
	// Claim leases a job to the holder until at plus ttl and returns it, running: the
	// job of that id, or with 0 the oldest of the kinds; nil when none is to be had.
	// To be had are ready jobs and running ones whose lease has run out. One of the
	// latter that was asked to pause or to end does so instead.
	Claim(ctx context.Context, c JobClaim) (*Job, error)
	// Save writes how far a claimed job is and extends its lease. When an operator
	// asked for it, the job becomes paused or cancelled in the same commit, and the
	// answer is [ErrPaused] or [ErrCancelled]; [ErrLost], and nothing is written,
	// when the job's epoch is not the newest.
	Save(ctx context.Context, j Job, ttl time.Duration, at time.Time) error
	// End gives a claimed job up in the state: Done, Failed with j.Error, or Ready
	// to be taken again. [ErrLost] as for Save.
	End(ctx context.Context, j Job, s JobState, at time.Time) error
}

// A JobClaim says which job is to be leased, to whom and for how long.
type JobClaim struct {
	ID     int64    // 0: any
	Kinds  []string // with ID 0: only of these
	Holder string
	TTL    time.Duration
	At     time.Time
}

// A JobQueue is where people add jobs and say what is to become of them.
type JobQueue interface {
	// Add records a job that is ready and returns it with its number. Of the job
	// only kind, subject, arguments and progress are looked at.
	Add(ctx context.Context, j Job, at time.Time) (Job, error)
	// Ask has a job become Paused, Cancelled or Ready (to resume) and returns it as
	// it is then. A running one is told with its next Save. [ErrUnknown], or
	// [ErrOver] for a job that is done, or cancelled; a failed one can be resumed.
	Ask(ctx context.Context, id int64, want JobState, at time.Time) (Job, error)
}

// A JobReader is what can be seen of jobs.
type JobReader interface {
	// Job returns one job, or [ErrUnknown].
	Job(ctx context.Context, id int64) (Job, error)
	// Jobs returns the newest jobs, of all or with before of those with a smaller
	// number, oldest first, at most limit.
	Jobs(ctx context.Context, before int64, limit int) ([]Job, error)
}
