package main

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/inproc"
	"github.com/trestle-bridge/trestle/spaces"
)

// keptEvents is how many live events a reader that was away can catch up with.
const keptEvents = 1024

// newBus makes the bus of this process. Its ids are behind those of every
// earlier process.
func newBus() *inproc.Bus { return &inproc.Bus{After: time.Now().UnixMicro(), Keep: keptEvents} }

// newConsole makes the console of a process whose shell is there.
func (s *Server) newConsole() *console.Console {
	return console.New(console.Options{
		Record: s.store.Console(), Keys: s.store.Keys(), Process: consoleBackend{s}, Jobs: jobsBackend{s.store.Jobs(), s}, Settings: settings{s.config, s.keyOf}, Live: liveEvents{s.bus},
		Tools: s.shell.Catalogue().Manifest, Answers: s.answers, Metrics: s.telemetry.Metrics(), Access: s.access, Logger: s.log,
	})
}

func (s *Server) narrator() *console.LiveEventSource {
	return &console.LiveEventSource{Record: s.store.Console(), Bus: s.bus, Logger: s.log}
}

// access says from where the console may be called, as the configuration in
// force has it.
func (p *components) access() console.Access {
	c := p.config()
	return console.Access{Token: string(c.Token), Hosts: c.Hosts, Proxies: c.Proxies}
}

// liveEvents is the bus as the console reads it.
type liveEvents struct{ bus *inproc.Bus }

// Open implements [console.Live].
func (l liveEvents) Open(room int) pubsub.Stream { return l.bus.Open(room) }

// Resume implements [console.Live].
func (l liveEvents) Resume(id int64, room int) pubsub.Stream { return l.bus.Resume(id, room) }

// consoleBackend is the running program as the console asks it.
type consoleBackend struct{ s *Server }

var _ console.Process = consoleBackend{}

// Health implements [console.Process].
func (d consoleBackend) Health() console.Health { return d.s.health() }

// Boot implements [console.Process].
func (d consoleBackend) Boot() console.Boot { return d.s.boot.Report() }

// Adapters implements [console.Process].
func (d consoleBackend) Adapters() []console.Adapter {
	var all []console.Adapter
	for _, l := range d.s.lineup.all() {
		st := l.Status()
		all = append(all, console.Adapter{
			Name: st.Name, Account: st.Account, Handle: st.Handle, State: string(st.State), Since: stamp(st.Since), Heard: stamp(st.Heard),
			Reason: st.Reason, Paused: st.Paused, Received: st.Stats.Recorded, Refused: st.Stats.Refused,
		})
	}
	return all
}

// Problems implements [console.Process].
func (d consoleBackend) Problems(ctx context.Context) ([]console.Problem, error) {
	found, err := d.s.troubles().Problems(ctx, time.Now())
	if err != nil {
		return nil, err
	}
	var open []console.Problem
	for _, p := range alerts.Worst(found) {
		open = append(open, console.Problem{
			Code: string(p.Code), Severity: string(p.Severity), Subject: p.Subject, Says: p.What(), Evidence: p.Evidence,
			Remedy: p.Remedy(), Opened: p.Opened, Seen: p.Seen, Count: p.Count,
		})
	}
	return open, nil
}

// Pairings implements [console.Process].
func (d consoleBackend) Pairings(ctx context.Context) ([]console.Pairing, error) {
	at, err := d.s.border.Load(ctx)
	if err != nil {
		return nil, err
	}
	var waiting []console.Pairing
	for _, p := range at.Pending {
		if p.Expires.After(time.Now()) {
			waiting = append(waiting, console.Pairing{Account: p.Account, Chat: p.Chat, User: p.User, Name: p.Name, Expires: p.Expires})
		}
	}
	return waiting, nil
}

// Cancel implements [console.Process].
func (d consoleBackend) Cancel(ctx context.Context, run spaces.CycleID) (bool, error) {
	done, err := runControl{d.s.components}.Halt(ctx, spaces.StopRequest{Run: run, Unsent: true, Say: "Stopped by a person."})
	return len(done.Runs) > 0, err
}

// Forget implements [console.Process]. Minds of other processes look when they are
// rung, and within a second when the ring was lost.
func (d consoleBackend) Forget(ctx context.Context, m spaces.Mind, id string) (bool, error) {
	had, err := d.s.shell.Forget(ctx, m, id)
	d.recollect(had)
	return had, err
}

// Correct implements [console.Process].
func (d consoleBackend) Correct(ctx context.Context, m spaces.Mind, id, fact string) (bool, error) {
	fact, err := factFor(d.s.config(), m, fact)
	if err != nil {
		return false, err
	}
	had, err := d.s.shell.Correct(ctx, m, id, fact)
	d.recollect(had)
	return had, err
}

// recollect has other processes look at what their minds remember.
func (d consoleBackend) recollect(changed bool) {
	if changed && d.s.far != nil {
		d.s.far.Ring(forgetBell)
	}
}

// jobsBackend is the jobs of the record as the console sees and steers them.
type jobsBackend struct {
	jobs.Reader
	s *Server
}

var _ console.Jobs = jobsBackend{}

// Ask implements [console.Jobs].
func (w jobsBackend) Ask(ctx context.Context, id int64, want jobs.State) (jobs.Job, error) {
	j, err := w.s.store.Jobs().Ask(ctx, id, want, time.Now())
	if err == nil {
		w.s.bells.Ring(jobsBell)
	}
	return j, err
}
