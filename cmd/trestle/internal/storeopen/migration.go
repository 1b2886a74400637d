package storeopen

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
)

// MigrateJob is the kind of job that a migration was.
const MigrateJob = "migrate"

// A MigrationProgress shows how an older record comes up to date, and keeps it among the
// jobs when it has: before that, this program does not know its tables.
type MigrationProgress struct {
	Out     io.Writer
	Printer *jobs.ProgressPrinter
	began   time.Time // zero: the record was up to date
	now     engine.MigrationProgress
}

// Show is called with the plan and after each step.
func (m *MigrationProgress) Show(now engine.MigrationProgress) {
	if m.now = now; m.began.IsZero() {
		m.began = time.Now()
		aside := ""
		if now.Copy != "" {
			aside = ", set aside as " + filepath.Base(now.Copy) + " first"
		}
		_, _ = fmt.Fprintf(m.Out, "migrate schema %d to %d in %d steps   %s%s\n", now.From, now.To, now.Total, console.Size(now.Bytes), aside)
	}
	j := m.job()
	j.State = jobs.Running
	if now.Done == now.Total {
		j.State = jobs.Done
	}
	m.Printer.Show(j, time.Now())
}

func (m *MigrationProgress) job() jobs.Job {
	return jobs.Job{
		Kind: MigrateJob, Subject: fmt.Sprintf("schema %d to %d", m.now.From, m.now.To), Started: m.began,
		JobProgress: jobs.JobProgress{Done: int64(m.now.Done), Total: int64(m.now.Total), Unit: "steps"},
	}
}

// AddJob puts what was done among the jobs of the record that is open now.
func (m *MigrationProgress) AddJob(ctx context.Context, s *sqlstore.Store, log *slog.Logger) error {
	if m.began.IsZero() {
		return nil
	}
	return AddFinishedJob(ctx, s, m.job(), log)
}

// AddFinishedJob puts work that is done among the jobs.
func AddFinishedJob(ctx context.Context, s *sqlstore.Store, j jobs.Job, log *slog.Logger) error {
	added, err := s.Jobs().Add(ctx, j, time.Now())
	if err != nil {
		return err
	}
	r := jobs.JobRunner{
		Ledger: s.Jobs(), Holder: NewID(), Logger: log,
		Kinds: map[string]jobs.Handler{j.Kind: func(ctx context.Context, t *jobs.JobTask) error { return t.Save(ctx, j.JobProgress) }},
	}
	return r.Do(ctx, added.ID)
}
