package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// counts are what happened since the start.
type counts struct {
	cycles     *prometheus.CounterVec   // agent, stop
	cycleTime  *prometheus.HistogramVec // agent
	calls      *prometheus.CounterVec   // model, outcome
	callTime   *prometheus.HistogramVec // model
	tokens     *prometheus.CounterVec   // model, kind
	deliveries *prometheus.CounterVec   // outcome
	denials    *prometheus.CounterVec   // code
	phrases    *prometheus.CounterVec   // agent, phrase
	frame      prometheus.Histogram
	skipped    prometheus.Counter
}

// seconds are the bounds of what takes from a commit to a patient model.
var seconds = []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}

func newCounts(r *prometheus.Registry) *counts {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "trestle_" + name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	histogram := func(name, help string, bounds []float64, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "trestle_" + name, Help: help, Buckets: bounds}, labels)
		r.MustRegister(h)
		return h
	}
	c := &counts{
		cycles:     counter("cycles_total", "Cycles that ended, by the reason they stopped for.", "agent", "stop"),
		cycleTime:  histogram("cycle_seconds", "From the claim of a wake to its rest.", seconds, "agent"),
		calls:      counter("model_calls_total", "Calls of models.", "model", "outcome"),
		callTime:   histogram("model_call_seconds", "How long models took to answer.", seconds, "model"),
		tokens:     counter("model_tokens_total", "Tokens of models: prompt, cached (part of prompt) and output.", "model", "kind"),
		deliveries: counter("deliveries_total", "Messages of agents, by what became of them.", "outcome"),
		denials:    counter("denials_total", "Acts of agents that were refused.", "code"),
	}
	c.phrases = counter("phrases_total", "Messages of agents with a phrase that they should not use.", "agent", "phrase")
	c.frame = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "trestle_frame_tokens", Help: "Tokens that the model was shown at a step.", Buckets: prometheus.ExponentialBuckets(500, 2, 9),
	})
	c.skipped = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "trestle_live_events_skipped_total", Help: "Live events that came faster than they were counted.",
	})
	r.MustRegister(c.frame, c.skipped)
	return c
}

// A ModelCall is one call of a model.
type ModelCall struct {
	Model                  string
	Took                   time.Duration
	Prompt, Cached, Output int // tokens
	Outcome                string
}

// Called counts a call of a model. It may be called from anywhere.
func (t *Telemetry) Called(c ModelCall) {
	t.counts.calls.WithLabelValues(c.Model, c.Outcome).Inc()
	t.counts.callTime.WithLabelValues(c.Model).Observe(c.Took.Seconds())
	t.counts.tokens.WithLabelValues(c.Model, "prompt").Add(float64(c.Prompt))
	t.counts.tokens.WithLabelValues(c.Model, "cached").Add(float64(c.Cached))
	t.counts.tokens.WithLabelValues(c.Model, "output").Add(float64(c.Output))
}
