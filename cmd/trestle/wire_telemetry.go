package main

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/model"
	"github.com/trestle-bridge/trestle/internal/notify"
	"github.com/trestle-bridge/trestle/internal/secrets"
	"github.com/trestle-bridge/trestle/internal/telemetry"
	"github.com/trestle-bridge/trestle/spaces"
)

// newTelemetry makes what tells other programs how this one is doing. Where
// traces cannot go, that entry does not run, and everything else does.
func (s *process) newTelemetry(ctx context.Context) *telemetry.Telemetry {
	var exporter telemetry.Exporter
	if t := s.config().Telemetry; t.Traces != "" {
		var err error
		if exporter, err = telemetry.NewExporter(ctx, string(t.Traces)); err != nil {
			s.misfit("telemetry", err)
		}
	}
	known := new(secrets.Registry)
	known.Know(s.config().Secrets()...)
	return telemetry.New(telemetry.Options{
		See: s.figures, Live: func(room int) notify.Stream { return s.bus.Open(room) }, Run: s.traced,
		Exporter: exporter, Content: s.config().Telemetry.Content, Scrub: known.Scrub, Version: ownVersion().Version, Logger: s.log,
	})
}

// figures is how the process stands, for a scrape.
func (s *process) figures(ctx context.Context) (telemetry.Figures, error) {
	now := time.Now()
	t, err := s.store.Console().Tally(ctx, now)
	if err != nil {
		return telemetry.Figures{}, err
	}
	open, err := desk{s}.Problems(ctx)
	if err != nil {
		return telemetry.Figures{}, err
	}
	f := telemetry.Figures{
		Inbox: t.Inbox, Open: t.Open, Outbox: t.Outbox, Oldest: t.Oldest, Unknown: t.Unknown, Failed: t.Failed,
		Waits: t.Waits, Timers: t.Timers, Tokens: t.Tokens, Bytes: t.Bytes,
	}
	for _, p := range open {
		f.Problems = append(f.Problems, telemetry.Problem{Code: p.Code, Subject: p.Subject, Severity: p.Severity})
	}
	for _, l := range s.lineup.all() {
		st := l.Status()
		a := telemetry.Account{
			Name: st.Name, Connected: st.State == activity.LineConnected, Heard: st.Heard, Received: st.Tally.Recorded, Refused: st.Tally.Refused,
		}
		if hook, ok := l.adapter.(adapters.Hook); ok {
			a.Calls = hook.RefusedCalls()
		}
		f.Accounts = append(f.Accounts, a)
	}
	return f, nil
}

// traced reads a run for its trace.
func (s *process) traced(ctx context.Context, id spaces.CycleID) (telemetry.Run, error) {
	r, err := s.store.Console().Run(ctx, string(id))
	if err != nil {
		return telemetry.Run{}, err
	}
	a, _ := s.config().Agent(string(r.Cycle.Mind.Agent))
	return telemetry.Run{
		Cycle: r.Cycle, Events: r.Events, Steps: r.Steps, Turns: r.Turns, Actions: r.Actions, Model: a.Model.Name, Agent: a.Name,
	}, nil
}

// saw returns what takes in the calls of an endpoint: what tells problems from
// them, and what counts them.
func (p *parts) saw(sense *endpointSense) func(model.Request, model.Response, time.Duration, error) {
	return func(r model.Request, resp model.Response, took time.Duration, err error) {
		sense.saw(r, resp, err)
		if p.telemetry == nil {
			return
		}
		outcome := "answered"
		if err != nil {
			outcome = model.KindOf(err).String()
		}
		p.telemetry.Called(telemetry.Call{
			Model: r.Model, Took: took, Prompt: resp.Usage.Prompt, Cached: resp.Usage.Cached, Output: resp.Usage.Output, Outcome: outcome,
		})
	}
}
