package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/backup"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/history"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/jobs"
)

// newRunner returns the runner of jobs of these kinds. It publishes every change of a job as a
// live event.
func (node *clusterNode) newRunner(kinds map[string]jobs.Handler) *jobs.JobRunner {
	return &jobs.JobRunner{
		Ledger: node.Store.Jobs(), Kinds: kinds, Holder: cmp.Or(node.Store.Process(), storeopen.NewID()), Logger: node.Log.With("part", "jobs"),
		Changed: func(j jobs.Job) {
			clusterBus{node}.Publish("job", jobs.Text(j, time.Now()), map[string]any{
				"id": j.ID, "kind": j.Kind, "state": string(j.State), "done": j.Done, "total": j.Total,
			}, time.Now())
		},
	}
}

// Keys of the notifications that there may be a new job.
const (
	jobsKey    = "jobs"
	backupsKey = "backups"
)

func (am *AccountManager) importJob() history.ImportJob {
	return history.ImportJob{Store: am.Store, Log: am.Log, Served: true, Config: am.Config}
}

func (am *AccountManager) backfillJob() history.BackfillJob {
	return history.BackfillJob{Store: am.Store, Logger: am.Log, Reader: am.historyReader, Config: am.Config}
}

func (am *AccountManager) backupJob() backup.CopyJob {
	return backup.CopyJob{Store: am.Store, DataDir: am.Config().Data}
}

// runJobs runs jobs until ctx is done. Backups have a runner of their own, so that they do not
// wait for a long import.
func (am *AccountManager) runJobs(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for bell, kinds := range map[string]map[string]jobs.Handler{
		jobsKey:    {history.ImportKind: am.importJob().Work, history.BackfillKind: am.backfillJob().Work},
		backupsKey: {backup.BackupKind: am.backupJob().Work},
	} {
		rings, stop := am.notifier.Listen(bell)
		defer stop()
		g.Go(func() error { return am.newRunner(kinds).Run(ctx, rings) })
	}
	return g.Wait()
}

// JobRequest pauses, resumes or cancels a job.
type JobRequest struct {
	ID   int64         `json:"id"`
	Want jobs.JobState `json:"want"`
}

// JobError returns an error with a remedy for a job that cannot be changed.
func JobError(err error, id int64) error {
	where := fmt.Sprintf("job %d", id)
	switch {
	case errors.Is(err, jobs.ErrUnknown):
		return &apperr.Error{What: "there is no such job", Where: where, Remedy: "see trestle jobs", Code: apperr.Failed}
	case errors.Is(err, jobs.ErrOver):
		return &apperr.Error{What: "the job is over", Where: where, Remedy: "what is done stays done; begin a new one to do more", Code: apperr.Failed}
	}
	return err
}

func (ctl controlServer) askJob(ctx context.Context, q JobRequest) (jobs.JobSnapshot, error) {
	j, err := jobsBackend{s: ctl.Server}.Ask(ctx, q.ID, q.Want)
	return jobs.Shown(j), JobError(err, q.ID)
}
