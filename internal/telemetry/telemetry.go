package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/spaces"
)

// Options are what telemetry is made of. Exporter may be nil; the rest is needed.
type Options struct {
	// See returns the process's present figures. It is called at each scrape.
	See func(context.Context) (ProcessMetrics, error)
	// Live opens a stream of live events that holds so many unread.
	Live func(room int) pubsub.LiveStream
	// Run reads everything that belongs to a cycle.
	Run func(ctx context.Context, id spaces.CycleID) (RunRecord, error)
	// Exporter takes the spans; nil makes none.
	Exporter SpanExporter
	// Content puts what was read and said into spans.
	Content bool
	// Scrub takes credentials out of what goes into spans.
	Scrub   func(string) string
	Version string
	Logger  *slog.Logger
}

// A RunRecord is one cycle as the record has it.
type RunRecord struct {
	Cycle   spaces.Cycle
	Events  []spaces.Event // that it was shown
	Steps   []spaces.Step
	Turns   []spaces.TranscriptTurn
	Actions []spaces.Action
	Model   string // that its agent asks
	Agent   string // its name
}

// Telemetry counts and traces. Make one with [New]; its methods may overlap.
type Telemetry struct {
	o        Options
	registry *prometheus.Registry
	counts   *counts
	traces   *traces // nil without an exporter
}

// New returns telemetry over its parts. Nothing happens before Run.
func New(o Options) *Telemetry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "trestle_build_info", Help: "1, labelled with the version that runs.", ConstLabels: prometheus.Labels{"version": o.Version},
	})
	info.Set(1)
	r.MustRegister(info)
	t := &Telemetry{o: o, registry: r, counts: newCounts(r)}
	if o.Exporter != nil {
		t.traces = newTraces(o)
	}
	return t
}

// scrapeTime bounds how long a scrape may ask the record.
const scrapeTime = 5 * time.Second

// Metrics answers in the exposition format of Prometheus. A record that does not
// answer makes the scrape fail, so that a graph shows a hole and not a zero. Who
// may ask is the caller's to say.
func (t *Telemetry) Metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), scrapeTime)
		defer cancel()
		f, err := t.o.See(ctx)
		if err != nil {
			t.o.Logger.Warn("figures not read", "error", err)
			http.Error(w, "the record does not answer", http.StatusServiceUnavailable)
			return
		}
		now := prometheus.NewRegistry()
		now.MustRegister(gauges{f})
		promhttp.HandlerFor(prometheus.Gatherers{t.registry, now}, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	})
}

// A SpanExporter takes spans away.
type SpanExporter = sdk.SpanExporter

// unread is how many live events may wait to be counted.
const unread = 8192

// Run counts and traces until ctx is done, and hands over the spans that are
// left.
func (t *Telemetry) Run(ctx context.Context) error {
	stream := t.o.Live(unread)
	defer stream.Close()
	f := eventFollower{counts: t.counts, traces: t.traces, runs: map[string]*watched{}, sent: map[string]sent{}}
	for {
		e, err := stream.Next(ctx)
		if err != nil {
			break
		}
		if e.From == "" { // each process counts what happens in it
			f.take(ctx, e)
		}
	}
	if t.traces == nil {
		return nil
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	return t.traces.provider.Shutdown(last)
}
