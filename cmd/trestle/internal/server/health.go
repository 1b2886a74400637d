package server

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/systemd"
)

// heardWithin is the longest time without a sign of the platform for a healthy connection.
const heardWithin = 90 * time.Second

// processMonitor observes a process: its health, its problems, and what it reports to
// operators and to the service manager.
type processMonitor struct {
	*AccountManager
	Boot    *startupReporter
	Manager systemd.ServiceNotifier
	// Ready is closed when everything that can run does.
	Ready chan struct{}
	// Reloader takes over a changed configuration; nil where none is.
	Reloader  *reloader
	ListenAt  string      // where the console is served; empty when it is not
	scheduled atomic.Bool // the scheduler was started
	rewound   string      // what the database had lost at the start; empty when nothing
	idle      idleTracker // work that no process takes up
}

// Health returns the state of the process and its parts.
func (mon *processMonitor) Health() console.Health {
	r := mon.Boot.Report()
	h := console.Health{CoreReady: r.CoreReady, TrustPassed: r.TrustPassed, Version: buildinfo.Current().Version, StartedAt: r.StartedAt.UTC(), Listen: mon.ListenAt}
	now := time.Now()
	h.Extensions = append(mon.modelComponents(now), schedulerComponent(mon.scheduled.Load(), mon.Config().HasRole(config.RoleMinds), mon.idle.of(alerts.NotTaken, "")))
	h.Extensions = append(h.Extensions, mon.storeComponents(now)...)
	h.Extensions = append(h.Extensions, mon.redisComponents()...)
	for _, l := range mon.conns.all() {
		h.Extensions = append(h.Extensions, connectionComponent(l.Status(), now, mon.idle.of(alerts.NotSent, l.name)))
	}
	h.Extensions = append(h.Extensions, ProblemComponents(mon.entryFaults())...)
	h.Extensions = append(h.Extensions, mon.Reloader.extensions()...)
	if all := mon.known.Load(); all != nil {
		for _, f := range *all {
			h.Processes = append(h.Processes, ConsolePeer(f))
		}
	}
	if mon.tools != nil {
		h.Deferred.SkillsLoaded, _ = mon.tools.Skills() // the folders that are none are in the report of the start
		for _, s := range mon.tools.Servers() {
			if !s.State.Fetched.IsZero() {
				h.Deferred.ToolsSynced += len(s.Tools)
			}
		}
	}
	h.Summarise(r.ReadyAt != nil)
	return h
}

// connectionComponent returns the state of an account. It is healthy when its platform was heard
// lately, whatever the state of the connection, and it sends what is due; idle is what it does
// not send.
func connectionComponent(s activity.ConnStatus, now time.Time, idle string) console.Component {
	x := console.Component{
		Name: s.Name, Kind: "adapter", State: string(s.State), Account: s.Account, Handle: s.Handle, Reason: s.Reason,
		Since: OptionalTime(s.Since), Heard: OptionalTime(s.Heard),
		Healthy: s.State == activity.ConnConnected && now.Sub(s.Heard) <= heardWithin || s.State == activity.ConnStandby,
	}
	switch {
	case s.Paused != "":
		x.Healthy, x.Reason = false, s.Paused
	case s.Deaf != "":
		x.Healthy, x.Reason = false, s.Deaf
	case s.Failing != "":
		x.Healthy, x.Reason = false, "messages are not delivered: "+s.Failing
	case x.Healthy && idle != "":
		x.Healthy, x.Reason = false, "messages are due and are not sent: "+idle
	}
	return x
}

// ProblemComponents returns a component for each entry that cannot run.
func ProblemComponents(problems []config.EntryProblem) []console.Component {
	var all []console.Component
	for _, p := range problems {
		all = append(all, console.Component{Name: p.Entry, Kind: "entry", State: "misconfigured", Reason: p.Err.String()})
	}
	return all
}

func modelComponent(m config.ModelEndpoint, failure string) console.Component {
	switch {
	case failure != "":
		return console.Component{Name: "model", Kind: "model", State: "misconfigured", Reason: failure}
	case m.Offline:
		return console.Component{Name: "model", Kind: "model", State: "offline", Healthy: true, Reason: "no endpoint is configured; the built-in stand-in answers"}
	}
	return console.Component{Name: "model", Kind: "model", State: "configured", Healthy: true}
}

// storeComponents reports a store that takes no writes, such as on a full disk, and a commit
// that does not end.
func (mon *processMonitor) storeComponents(now time.Time) []console.Component {
	x := console.Component{Name: "record", Kind: "record", State: "full", Reason: "the disk is full: nothing is taken in and nothing is sent"}
	_, why := mon.Unstored.Held()
	busy := mon.Store.BusyFor()
	switch {
	case errors.Is(why, engine.ErrFull) || now.Sub(mon.Store.FullAt()) < fullLately:
	case why != nil:
		x.State, x.Reason = "refusing", why.Error()
	case mon.unwritable(now) != nil:
		x.State, x.Reason = "refusing", mon.unwritable(now).Error()+": nothing is taken in and nothing is sent"
	case busy > stuckCommitAge:
		x.State, x.Reason = "stuck", "a commit has not ended for "+busy.Round(time.Second).String()+": nothing is taken in until it has"
	default:
		return nil
	}
	return []console.Component{x}
}

// schedulerComponent returns the state of the scheduler; idle is due work that no process takes
// up.
func schedulerComponent(started, here bool, idle string) console.Component {
	x := console.Component{Name: "scheduler", Kind: "scheduler", State: "running", Healthy: started}
	switch {
	case !here:
		x.State, x.Healthy = "elsewhere", true
	case !started:
		x.State = "stopped"
	case idle != "":
		x.State, x.Healthy, x.Reason = "stalled", false, "work is due and nobody takes it up: "+idle
	}
	return x
}

// OptionalTime returns a time for JSON, or nil for none.
func OptionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC())
}
