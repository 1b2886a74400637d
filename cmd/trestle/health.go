package main

import (
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/config"
)

// heardWithin is how lately a platform must have been heard to be healthy
// (ECOSYSTEM 1, rule 4).
const heardWithin = 90 * time.Second

// health is the answer of GET /health.
type health struct {
	Status      string      `json:"status"` // starting, healthy, degraded
	CoreReady   bool        `json:"core_ready"`
	TrustPassed bool        `json:"trust_passed"`
	Version     string      `json:"version"`
	StartedAt   time.Time   `json:"started_at"`
	Listen      string      `json:"listen,omitempty"`
	Extensions  []extension `json:"extensions"`
	Deferred    deferred    `json:"deferred"`
}

// deferred is what phase 2 has come to (PRD-5.3-4).
type deferred struct {
	SkillsLoaded       int  `json:"skills_loaded"`
	ToolsSynced        int  `json:"tools_synced"`
	ChannelsConnected  int  `json:"channels_connected"`
	SchedulerStarted   bool `json:"scheduler_started"`
	EmbeddingsComputed bool `json:"embeddings_computed"`
	AllHealthy         bool `json:"all_healthy"`
}

// health says how everything stands now.
func (s *process) health() health {
	r := s.boot.Report()
	h := health{CoreReady: r.CoreReady, TrustPassed: r.TrustPassed, Version: ownVersion().Version, StartedAt: r.StartedAt.UTC(), Listen: s.listenAt}
	now := time.Now()
	h.Extensions = append(h.Extensions, modelExtension(s.config().Model, s.modelFailed()), schedulerExtension(s.scheduled.Load()))
	for _, l := range s.lines {
		h.Extensions = append(h.Extensions, lineExtension(l.Status(), now))
	}
	h.Extensions = append(h.Extensions, problemExtensions(s.problems())...)
	h.Extensions = append(h.Extensions, s.reloader.extensions()...)
	h.summarise(r.ReadyAt != nil)
	return h
}

// extension is one part that may fail alone.
type extension struct {
	Name    string     `json:"name"`
	Kind    string     `json:"kind"` // adapter, model, scheduler, entry
	State   string     `json:"state"`
	Healthy bool       `json:"healthy"`
	Since   *time.Time `json:"since,omitempty"`
	Heard   *time.Time `json:"heard,omitempty"`
	Handle  string     `json:"handle,omitempty"`
	Reason  string     `json:"reason,omitempty"`
}

// summarise fills in the status: starting until the start is over, degraded
// when any extension is not healthy or the gate was not passed.
func (h *health) summarise(started bool) {
	h.Status, h.Deferred.AllHealthy = "healthy", h.TrustPassed
	for _, x := range h.Extensions {
		switch {
		case !x.Healthy:
			h.Deferred.AllHealthy = false
		case x.Kind == "adapter":
			h.Deferred.ChannelsConnected++
		case x.Kind == "scheduler":
			h.Deferred.SchedulerStarted = true
		}
	}
	if !h.Deferred.AllHealthy {
		h.Status = "degraded"
	}
	if !started {
		h.Status = "starting"
	}
}

// lineExtension says how an account stands. It is healthy when it was heard
// lately, whatever it believes of itself.
func lineExtension(s activity.Status, now time.Time) extension {
	x := extension{
		Name: s.Name, Kind: "adapter", State: string(s.State), Handle: s.Handle, Reason: s.Reason,
		Since: stamp(s.Since), Heard: stamp(s.Heard),
		Healthy: s.State == activity.LineConnected && now.Sub(s.Heard) <= heardWithin,
	}
	if s.Paused != "" {
		x.Healthy, x.Reason = false, s.Paused
	}
	return x
}

// problemExtensions lists the entries that cannot run as they are written.
func problemExtensions(problems []config.Problem) []extension {
	var all []extension
	for _, p := range problems {
		all = append(all, extension{Name: p.Entry, Kind: "entry", State: "misconfigured", Reason: p.Fault.String()})
	}
	return all
}

func modelExtension(m config.Model, failure string) extension {
	switch {
	case failure != "":
		return extension{Name: "model", Kind: "model", State: "misconfigured", Reason: failure}
	case m.Offline:
		return extension{Name: "model", Kind: "model", State: "offline", Healthy: true, Reason: "no endpoint is configured; the built-in stand-in answers"}
	}
	return extension{Name: "model", Kind: "model", State: "configured", Healthy: true}
}

func schedulerExtension(started bool) extension {
	x := extension{Name: "scheduler", Kind: "scheduler", State: "running", Healthy: started}
	if !started {
		x.State = "stopped"
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
