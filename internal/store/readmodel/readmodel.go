package readmodel

import (
	"context"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
)

// A ReadModel is the record as operators see it. It never writes.
type ReadModel struct{ engine engine.DatabaseEngine }

// OpenReadOnly returns the operators' view of a record whose schema is the one this
// program knows, while other processes write. Closing it closes e.
func OpenReadOnly(e engine.DatabaseEngine) ReadModel { return ReadModel{e} }

// Backup writes a copy of the database to file, which must be absent or empty. Other
// processes may write meanwhile. It fails with [engine.ErrNoBackup] where
// the engine leaves that to its own tools.
func (c ReadModel) Backup(ctx context.Context, file string) error {
	b, ok := c.engine.(engine.BackupEngine)
	if !ok {
		return fmt.Errorf("back up to %s: %w", file, engine.ErrNoBackup)
	}
	return b.Backup(ctx, file)
}

// Close closes what [Look] was given.
func (c ReadModel) Close() error {
	if c.engine == nil {
		return nil
	}
	return c.engine.Close()
}

// Members returns the processes that write the record, the oldest first; none
// where it has one process alone.
func (c ReadModel) Members(ctx context.Context) ([]engine.WriterProcess, error) {
	crew, several := c.engine.(engine.ClusterEngine)
	if !several {
		return nil, nil
	}
	all, err := crew.Members(ctx)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return slices.DeleteFunc(all, func(p engine.WriterProcess) bool { return p.Dead }), nil
}

var (
	_ console.Store          = ReadModel{}
	_ console.ActivityReader = ReadModel{}
)

const (
	newestJobs engine.QueryText = `select ` + tables.JobColumns + ` from (select * from jobs where id < $1 or $1 = 0 order by id desc limit $2 + 0) newest order by id`
)

// A JobReader reads jobs.
type JobReader struct{ engine engine.DatabaseEngine }

// NewJobReader returns a JobReader of a database.
func NewJobReader(e engine.DatabaseEngine) JobReader { return JobReader{e} }

// Job implements [jobs.Shelf].
func (v JobReader) Job(ctx context.Context, id int64) (jobs.Job, error) {
	j, err := tables.JobByID(ctx, v.engine, id)
	if err != nil {
		return jobs.Job{}, fmt.Errorf("read job %d: %w", id, err)
	}
	return j, nil
}

// Jobs implements [jobs.Shelf].
func (v JobReader) Jobs(ctx context.Context, before int64, limit int) ([]jobs.Job, error) {
	found, err := engine.AllRows(ctx, v.engine, newestJobs, []any{before, limit}, tables.ScanJob)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return found, nil
}

// Jobs returns the reader of jobs.
func (c ReadModel) Jobs() JobReader { return JobReader(c) }
