package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/jobs"
)

// newRunner makes what does the long work of this process. Every change of a
// job is a live event.
func (p *components) newRunner(kinds map[string]jobs.Handler) *jobs.Runner {
	return &jobs.Runner{
		Ledger: p.store.Jobs(), Kinds: kinds, Holder: cmp.Or(p.store.Process(), storeopen.NewID()), Logger: p.log.With("part", "jobs"),
		Changed: func(j jobs.Job) {
			clusterBus{p}.Publish("job", jobs.Text(j, time.Now()), map[string]any{
				"id": j.ID, "kind": j.Kind, "state": string(j.State), "done": j.Done, "total": j.Total,
			}, time.Now())
		},
	}
}

// These are rung when there may be something new to do.
const (
	jobsBell   = "jobs"
	backupBell = "backups"
)

// runJobs does jobs until ctx is done. A backup does not wait for a long import.
func (p *components) runJobs(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for bell, kinds := range map[string]map[string]jobs.Handler{
		jobsBell:   {importKind: importJob{p.store, p.log, true, p.config}.work, backfillKind: backfillJob{p.store, p.log, p.historian, p.config}.work},
		backupBell: {backupKind: backupJob{p.store, p.config().Data}.work},
	} {
		rings, stop := p.bells.Listen(bell)
		defer stop()
		g.Go(func() error { return p.newRunner(kinds).Run(ctx, rings) })
	}
	return g.Wait()
}

// jobRequest asks for what is to become of a job.
type jobRequest struct {
	ID   int64      `json:"id"`
	Want jobs.State `json:"want"`
}

func jobError(err error, id int64) error {
	where := fmt.Sprintf("job %d", id)
	switch {
	case errors.Is(err, jobs.ErrUnknown):
		return &apperr.Error{What: "there is no such job", Where: where, Remedy: "see trestle jobs", Code: apperr.Failed}
	case errors.Is(err, jobs.ErrOver):
		return &apperr.Error{What: "the job is over", Where: where, Remedy: "what is done stays done; begin a new one to do more", Code: apperr.Failed}
	}
	return err
}

func (s *Server) askJob(ctx context.Context, q jobRequest) (jobs.Snapshot, error) {
	j, err := jobsBackend{s: s}.Ask(ctx, q.ID, q.Want)
	return jobs.Shown(j), jobError(err, q.ID)
}
