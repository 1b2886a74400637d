package server

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/systemd"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

// isHealthy reports whether every failing problem is acknowledged.
func (mon *processMonitor) isHealthy(ctx context.Context) bool {
	now := time.Now()
	all, err := mon.alertStore().Problems(ctx, now)
	return err == nil && !alerts.Unwell(all, now) && mon.unwritable(now) == nil && mon.Boot.Report().TrustPassed
}

// sendHeartbeats requests the heartbeat address while the process is healthy, until ctx is
// done.
func (mon *processMonitor) sendHeartbeats(ctx context.Context) error {
	url := mon.Config().Alerts.DeadMan
	if url == "" {
		return nil
	}
	return (&alerts.Heartbeat{URL: string(url), Client: mon.outboundClient(), Well: mon.isHealthy, Logger: mon.Log}).Run(ctx)
}

// reportStatus sends the status of the process to the service manager, until ctx is done. It
// feeds the watchdog only while the store answers and
// accepts commits.
func (mon *processMonitor) reportStatus(ctx context.Context) error {
	n := mon.Manager
	if !n.Enabled() {
		return nil
	}
	every := 10 * time.Second
	if w := n.Watchdog(); w > 0 {
		every = min(every, w/2)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	up, ready, said := mon.Ready, false, ""
	for {
		var lines []string
		if !ready && mon.Boot.Report().ReadyAt != nil { // with the gate shut as well: the core runs
			ready = true
			lines = append(lines, systemd.Ready)
		}
		if status := mon.statusLine(ctx); status != said {
			said = status
			lines = append(lines, systemd.StatusLine(status))
		}
		if n.Watchdog() > 0 && mon.isAlive(ctx) {
			lines = append(lines, systemd.Alive)
		}
		if len(lines) > 0 {
			mon.notifyManager(ctx, lines...)
		}
		select {
		case <-up:
			up = nil
		case <-tick.C:
		case <-ctx.Done():
			mon.notifyManager(context.WithoutCancel(ctx), systemd.Stopping)
			return nil
		}
	}
}

// isAlive reports whether the store answers and accepts commits.
func (mon *processMonitor) isAlive(ctx context.Context) bool {
	_, _, err := mon.Store.Shell().NextTimer(ctx)
	return err == nil && mon.unwritable(time.Now()) == nil
}

// statusLine returns the status of the process in one line.
func (mon *processMonitor) statusLine(ctx context.Context) string {
	h := mon.Health()
	line := fmt.Sprintf("%s; %s connected", h.Status, textformat.CountNoun(h.Deferred.ChannelsConnected, "account"))
	all, err := mon.alertStore().Problems(ctx, time.Now())
	if err != nil {
		return line
	}
	open := alerts.Worst(all)
	if len(open) > 0 {
		line += fmt.Sprintf("; %s: %s %s", textformat.CountNoun(len(open), "problem"), open[0].Code, open[0].What())
	}
	return line
}
