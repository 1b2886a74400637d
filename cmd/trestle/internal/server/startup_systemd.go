package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/systemd"
)

const (
	askAgain = 10 * time.Second
	patience = time.Minute
)

// runStage runs a stage of opening the store. While the schema is migrated it asks the service
// manager to wait: for a large database that takes longer than its timeout, and an interrupted
// copy starts again.
func (mon *processMonitor) runStage(ctx context.Context, name string, do func() error) error {
	if name != "schema_migration" || !mon.Manager.Enabled() {
		return mon.Boot.Stage(name, do)
	}
	ask := func() { mon.notifyManager(context.WithoutCancel(ctx), systemd.ExtendTimeout(patience)) }
	ask()
	over := make(chan struct{})
	var asking sync.WaitGroup
	defer asking.Wait()
	defer close(over)
	asking.Go(func() {
		tick := time.NewTicker(askAgain)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				ask()
			case <-over:
				return
			}
		}
	})
	return mon.Boot.Stage(name, do)
}

// reportMigration sends the progress of a migration to the service manager.
func (mon *processMonitor) reportMigration(ctx context.Context, m engine.MigrationProgress) {
	mon.notifyManager(ctx, systemd.StatusLine(fmt.Sprintf("the record comes up to date, schema %d to %d: %d of %d steps", m.From, m.To, m.Done, m.Total)))
}

// notifyManager sends lines to the service manager, if there is one.
func (mon *processMonitor) notifyManager(ctx context.Context, lines ...string) {
	if err := mon.Manager.Notify(ctx, lines...); err != nil {
		mon.Log.Warn("service manager not told", "error", err)
	}
}
