package main

import (
	"errors"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// heardWithin is how lately a platform must have been heard to be healthy
// (ECOSYSTEM 1, rule 4).
const heardWithin = 90 * time.Second

// health is how everything stands, and extension one part of it that may fail
// alone; the console shows both.
type (
	health    = console.Health
	extension = console.Component
)

// health says how everything stands now.
func (s *Server) health() health {
	r := s.boot.Report()
	h := health{CoreReady: r.CoreReady, TrustPassed: r.TrustPassed, Version: buildinfo.Current().Version, StartedAt: r.StartedAt.UTC(), Listen: s.listenAt}
	now := time.Now()
	h.Extensions = append(s.modelExtensions(now), schedulerExtension(s.scheduled.Load(), s.config().HasRole(config.RoleMinds), s.idle.of(alerts.NotTaken, "")))
	h.Extensions = append(h.Extensions, s.recordExtensions(now)...)
	h.Extensions = append(h.Extensions, s.redisExtensions()...)
	for _, l := range s.lineup.all() {
		h.Extensions = append(h.Extensions, lineExtension(l.Status(), now, s.idle.of(alerts.NotSent, l.name)))
	}
	h.Extensions = append(h.Extensions, problemExtensions(s.problems())...)
	h.Extensions = append(h.Extensions, s.reloader.extensions()...)
	if all := s.known.Load(); all != nil {
		for _, f := range *all {
			h.Processes = append(h.Processes, shownProcess(f))
		}
	}
	h.Summarise(r.ReadyAt != nil)
	return h
}

// lineExtension says how an account stands. It is healthy when it was heard
// lately, whatever it believes of itself, and sends what is due; idle says what it
// does not send.
func lineExtension(s activity.ConnStatus, now time.Time, idle string) extension {
	x := extension{
		Name: s.Name, Kind: "adapter", State: string(s.State), Account: s.Account, Handle: s.Handle, Reason: s.Reason,
		Since: stamp(s.Since), Heard: stamp(s.Heard),
		Healthy: s.State == activity.ConnConnected && now.Sub(s.Heard) <= heardWithin || s.State == activity.ConnStandby,
	}
	switch {
	case s.Paused != "":
		x.Healthy, x.Reason = false, s.Paused
	case x.Healthy && idle != "":
		x.Healthy, x.Reason = false, "messages are due and are not sent: "+idle
	}
	return x
}

// problemExtensions lists the entries that cannot run as they are written.
func problemExtensions(problems []config.EntryProblem) []extension {
	var all []extension
	for _, p := range problems {
		all = append(all, extension{Name: p.Entry, Kind: "entry", State: "misconfigured", Reason: p.Err.String()})
	}
	return all
}

func modelExtension(m config.ModelEndpoint, failure string) extension {
	switch {
	case failure != "":
		return extension{Name: "model", Kind: "model", State: "misconfigured", Reason: failure}
	case m.Offline:
		return extension{Name: "model", Kind: "model", State: "offline", Healthy: true, Reason: "no endpoint is configured; the built-in stand-in answers"}
	}
	return extension{Name: "model", Kind: "model", State: "configured", Healthy: true}
}

// recordExtensions says that the record takes nothing, while that is so
// (DELIVERY 2.7, "Disk full"), or that a commit does not come to its end.
func (s *Server) recordExtensions(now time.Time) []extension {
	x := extension{Name: "record", Kind: "record", State: "full", Reason: "the disk is full: nothing is taken in and nothing is sent"}
	_, why := s.unkept.Held()
	busy := s.store.BusyFor()
	switch {
	case errors.Is(why, engine.ErrFull) || now.Sub(s.store.FullAt()) < fullLately:
	case why != nil:
		x.State, x.Reason = "refusing", why.Error()
	case busy > stuckCommit:
		x.State, x.Reason = "stuck", "a commit has not ended for "+busy.Round(time.Second).String()+": nothing is taken in until it has"
	default:
		return nil
	}
	return []extension{x}
}

// schedulerExtension says how the minds stand; idle says what work of theirs nobody
// takes up.
func schedulerExtension(started, here bool, idle string) extension {
	x := extension{Name: "scheduler", Kind: "scheduler", State: "running", Healthy: started}
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

// stamp returns a time for JSON, or nil for none.
func stamp(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC())
}
