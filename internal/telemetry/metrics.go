package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ProcessMetrics is how the program is at one moment.
type ProcessMetrics struct {
	Inbox      int       // rows that wait to be handled or are being handled
	Open       int       // cycles under way
	Outbox     int       // actions that are to be sent
	Oldest     time.Time // when the oldest of them was decided; zero without any
	Unknown    int       // actions that may have arrived
	Failed     int       // actions that never will, today
	Waits      int       // runs that wait for an answer
	Timers     int
	Tokens     int   // used today
	Bytes      int64 // of the database
	Statements int64 // that the process has run
	Commits    int64 // that it has made
	Accounts   []AccountMetrics
	Problems   []OpenProblem
}

// An AccountMetrics is one account on one platform.
type AccountMetrics struct {
	Name      string // of its entry
	Connected bool
	Heard     time.Time // when the platform last gave a sign; zero for never
	Received  int64     // updates recorded since the start
	Refused   int64     // updates whose sender was not admitted
	Calls     int64     // calls over HTTP that were refused
}

// An OpenProblem is one that is open.
type OpenProblem struct{ Code, Subject, Severity string }

// gauges is the collector of one scrape: its figures are as old as the answer
// they stand in.
type gauges struct{ f ProcessMetrics }

func described(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("trestle_"+name, help, labels, nil)
}

// What each scrape reads.
var (
	inbox      = described("inbox_rows", "Rows that wait to be handled or are being handled.")
	open       = described("open_cycles", "Cycles under way.")
	outbox     = described("outbox_actions", "Actions that are to be sent.")
	oldest     = described("outbox_oldest_seconds", "Age of the oldest action that is to be sent; 0 without any.")
	unknown    = described("unknown_actions", "Actions that may have arrived.")
	failed     = described("failed_actions_today", "Actions that failed for good since midnight.")
	waits      = described("waits", "Runs that wait for an answer.")
	timers     = described("timers", "Timers and plans that are set.")
	tokens     = described("tokens_today", "Tokens used since midnight.")
	bytes      = described("database_bytes", "Size of the database.")
	statements = described("database_statements_total", "Statements of SQL since the start.")
	commits    = described("database_commits_total", "Commits since the start.")
	connected  = described("adapter_connected", "Whether an account is connected.", "adapter")
	heard      = described("adapter_heard_timestamp_seconds", "When the platform last gave a sign of life.", "adapter")
	received   = described("adapter_updates_total", "Updates recorded since the start.", "adapter")
	refused    = described("adapter_refused_total", "Updates of people who were not let in since the start.", "adapter")
	calls      = described("adapter_calls_refused_total", "Calls over HTTP that did not prove to come from the platform, since the start.", "adapter")
	problem    = described("problem", "Problems that are open.", "code", "subject", "severity")
)

// Describe implements [prometheus.Collector].
func (g gauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{inbox, open, outbox, oldest, unknown, failed, waits, timers, tokens, bytes, statements, commits, connected, heard, received, refused, calls, problem} {
		out <- d
	}
}

// Collect implements [prometheus.Collector].
func (g gauges) Collect(out chan<- prometheus.Metric) {
	f := g.f
	tell := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	tell(inbox, float64(f.Inbox))
	tell(open, float64(f.Open))
	tell(outbox, float64(f.Outbox))
	tell(oldest, age(f.Oldest))
	tell(unknown, float64(f.Unknown))
	tell(failed, float64(f.Failed))
	tell(waits, float64(f.Waits))
	tell(timers, float64(f.Timers))
	tell(tokens, float64(f.Tokens))
	tell(bytes, float64(f.Bytes))
	out <- prometheus.MustNewConstMetric(statements, prometheus.CounterValue, float64(f.Statements))
	out <- prometheus.MustNewConstMetric(commits, prometheus.CounterValue, float64(f.Commits))
	for _, a := range f.Accounts {
		up := 0.0
		if a.Connected {
			up = 1
		}
		tell(connected, up, a.Name)
		if !a.Heard.IsZero() {
			tell(heard, float64(a.Heard.UnixMilli())/1000, a.Name)
		}
		out <- prometheus.MustNewConstMetric(received, prometheus.CounterValue, float64(a.Received), a.Name)
		out <- prometheus.MustNewConstMetric(refused, prometheus.CounterValue, float64(a.Refused), a.Name)
		out <- prometheus.MustNewConstMetric(calls, prometheus.CounterValue, float64(a.Calls), a.Name)
	}
	for _, p := range f.Problems {
		tell(problem, 1, p.Code, p.Subject, p.Severity)
	}
}

// age is how long ago t was in seconds; 0 for no time.
func age(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return time.Since(t).Seconds()
}
