package server

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/redact"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/telemetry"
	"github.com/trestle-bridge/trestle/spaces"
)

// newTelemetry returns the metrics and traces of this process. If traces cannot be exported,
// that entry does not run.
func (s *Server) newTelemetry(ctx context.Context) *telemetry.Telemetry {
	var exporter telemetry.SpanExporter
	if t := s.Config().Telemetry; t.Traces != "" {
		var err error
		if exporter, err = telemetry.NewExporter(ctx, string(t.Traces)); err != nil {
			s.addFault("telemetry", err)
		}
	}
	known := new(redact.SecretRegistry)
	known.AddSecrets(s.Config().Secrets()...)
	return telemetry.New(telemetry.Options{
		See: s.processMetrics, Live: func(room int) pubsub.LiveStream { return s.Bus.Open(room) }, Run: s.readRun,
		Exporter: exporter, Content: s.Config().Telemetry.Content, Scrub: known.Scrub, Version: buildinfo.Current().Version, Logger: s.Log,
	})
}

// processMetrics returns the metrics of the process for a scrape.
func (s *Server) processMetrics(ctx context.Context) (telemetry.ProcessMetrics, error) {
	now := time.Now()
	t, err := s.Store.Console().Tally(ctx, now)
	if err != nil {
		return telemetry.ProcessMetrics{}, err
	}
	open, err := consoleBackend{s}.Problems(ctx)
	if err != nil {
		return telemetry.ProcessMetrics{}, err
	}
	f := telemetry.ProcessMetrics{
		Inbox: t.Inbox, Open: t.Open, Outbox: t.Outbox, Oldest: t.Oldest, Unknown: t.Unknown, Failed: t.Failed,
		Waits: t.Waits, Timers: t.Timers, Tokens: t.Tokens, Bytes: t.Bytes,
		Statements: engine.StatementCount(), Commits: s.Store.Commits(),
	}
	for _, p := range open {
		f.Problems = append(f.Problems, telemetry.OpenProblem{Code: string(p.Code), Subject: p.Subject, Severity: string(p.Severity)})
	}
	for _, l := range s.conns.all() {
		st := l.Status()
		a := telemetry.AccountMetrics{
			Name: st.Name, Connected: st.State == activity.ConnConnected, Heard: st.Heard, Received: st.Stats.Recorded, Refused: st.Stats.Refused,
		}
		if hook, ok := l.adapter.(adapters.WebhookReceiver); ok {
			a.Calls = hook.RefusedCalls()
		}
		f.Accounts = append(f.Accounts, a)
	}
	return f, nil
}

// readRun reads a run for its trace.
func (s *Server) readRun(ctx context.Context, id spaces.CycleID) (telemetry.RunRecord, error) {
	r, err := s.Store.Console().Run(ctx, string(id))
	if err != nil {
		return telemetry.RunRecord{}, err
	}
	a, _ := s.Config().Agent(string(r.Cycle.Mind.Agent))
	return telemetry.RunRecord{
		Cycle: r.Cycle, Events: r.Events, Steps: r.Steps, Turns: r.Turns, Actions: r.Actions, Model: a.Model.Name, Agent: a.Name,
	}, nil
}

// observeCall returns the function that observes the calls of an endpoint, for its health and
// for the metrics.
func (as *agentSet) observeCall(sense *endpointHealth) func(llm.ModelRequest, llm.ModelResponse, time.Duration, error) {
	return func(r llm.ModelRequest, resp llm.ModelResponse, took time.Duration, err error) {
		sense.saw(r, resp, err)
		if as.telemetry == nil {
			return
		}
		outcome := "answered"
		if err != nil {
			outcome = llm.KindOf(err).String()
		}
		as.telemetry.Called(telemetry.ModelCall{
			Model: r.Model, Took: took, Prompt: resp.Usage.Prompt, Cached: resp.Usage.Cached, Output: resp.Usage.Output, Outcome: outcome,
		})
	}
}
