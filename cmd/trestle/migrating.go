package main

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

// migrateKind is the kind of job that a migration was.
const migrateKind = "migrate"

// A migrationProgress shows how an older record comes up to date, and keeps it among the
// jobs when it has: before that, this program does not know its tables.
type migrationProgress struct {
	plan   io.Writer
	shower *jobs.ProgressPrinter
	began  time.Time // zero: the record was up to date
	now    engine.Migration
}

// migrating returns what shows a migration to whoever called the program.
func (p *CLI) migrating() *migrationProgress {
	m := &migrationProgress{plan: p.errs, shower: p.progress()}
	if p.quiet || p.output != "text" {
		m.plan = io.Discard
	}
	return m
}

// told is called with the plan and after each step.
func (m *migrationProgress) told(now engine.Migration) {
	if m.now = now; m.began.IsZero() {
		m.began = time.Now()
		aside := ""
		if now.Copy != "" {
			aside = ", set aside as " + filepath.Base(now.Copy) + " first"
		}
		_, _ = fmt.Fprintf(m.plan, "migrate schema %d to %d in %d steps   %s%s\n", now.From, now.To, now.Total, console.Size(now.Bytes), aside)
	}
	j := m.job()
	j.State = jobs.Running
	if now.Done == now.Total {
		j.State = jobs.Done
	}
	m.shower.Show(j, time.Now())
}

func (m *migrationProgress) job() jobs.Job {
	return jobs.Job{
		Kind: migrateKind, Subject: fmt.Sprintf("schema %d to %d", m.now.From, m.now.To), Started: m.began,
		Progress: jobs.Progress{Done: int64(m.now.Done), Total: int64(m.now.Total), Unit: "steps"},
	}
}

// keep puts what was done among the jobs of the record that is open now.
func (m *migrationProgress) keep(ctx context.Context, s *sqlstore.Store, log *slog.Logger) error {
	if m.began.IsZero() {
		return nil
	}
	return keepJob(ctx, s, m.job(), log)
}

// keepJob puts work that is done among the jobs.
func keepJob(ctx context.Context, s *sqlstore.Store, j jobs.Job, log *slog.Logger) error {
	added, err := s.Jobs().Add(ctx, j, time.Now())
	if err != nil {
		return err
	}
	r := jobs.Runner{
		Ledger: s.Jobs(), Holder: newID(), Logger: log,
		Kinds: map[string]jobs.Handler{j.Kind: func(ctx context.Context, t *jobs.Task) error { return t.Save(ctx, j.Progress) }},
	}
	return r.Do(ctx, added.ID)
}
