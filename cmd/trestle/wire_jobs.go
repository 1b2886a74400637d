package main

import (
	"cmp"
	"context"
	"time"

	"github.com/trestle-bridge/trestle/internal/jobs"
)

// newRunner makes what does the long work of this process. Every change of a
// job is a live event.
func (p *parts) newRunner() *jobs.Runner {
	return &jobs.Runner{
		Ledger: p.store.Jobs(), Kinds: p.works(), Holder: cmp.Or(p.store.Process(), newID()), Logger: p.log.With("part", "jobs"),
		Changed: func(j jobs.Job) {
			shown{p}.Publish("job", jobs.Text(j, time.Now()), map[string]any{
				"id": j.ID, "kind": j.Kind, "state": string(j.State), "done": j.Done, "total": j.Total,
			}, time.Now())
		},
	}
}

// works are the kinds of long work this program can do.
func (p *parts) works() map[string]jobs.Work {
	return map[string]jobs.Work{importKind: importing{p.store, p.log}.work, backfillKind: backfilling{p.store, p.log, p.historian}.work}
}

// jobsBell is rung when there may be something new to do.
const jobsBell = "jobs"

// runJobs does jobs until ctx is done.
func (p *parts) runJobs(ctx context.Context) error {
	rings, stop := p.bells.Listen(jobsBell)
	defer stop()
	return p.newRunner().Run(ctx, rings)
}
