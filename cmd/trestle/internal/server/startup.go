package server

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
)

// errSkipped is returned by a stage that has nothing to do.
var errSkipped = errors.New("skipped")

// A startupReporter runs the stages of a start, and stores the duration and result of each.
// Phase 1 must succeed and uses no network; after the trust gate each stage fails alone. Its
// methods may be called concurrently.
type startupReporter struct {
	out io.Writer // gets one line a stage

	mu     sync.Mutex // guards report
	report console.Boot
}

// newStartupReporter returns the reporter of a start, which writes lines to out.
func newStartupReporter(out io.Writer) *startupReporter {
	return &startupReporter{out: out, report: console.Boot{StartedAt: time.Now(), Stages: []console.Stage{}, Failed: []string{}}}
}

// Stage runs one stage and returns its error. A stage that returns errSkipped
// is skipped, and that is no error.
func (b *startupReporter) Stage(name string, do func() error) error {
	began := time.Now()
	err := do()
	r := console.Stage{Stage: name, Status: "success", DurationMS: time.Since(began).Milliseconds()}
	switch {
	case errors.Is(err, errSkipped):
		r.Status, err = "skipped", nil
		b.say("[%s] skipped", name)
	case err != nil:
		r.Status, r.Error = "failed", err.Error()
		b.say("[%s] failed in %dms: %v", name, r.DurationMS, err)
	default:
		b.say("[%s] completed in %dms", name, r.DurationMS)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.report.Stages = append(b.report.Stages, r)
	if r.Status == "failed" {
		b.report.Failed = append(b.report.Failed, name)
	}
	return err
}

// Phase writes which part of the start begins.
func (b *startupReporter) Phase(title string) { b.say("%s", title) }

// say writes a line. A start does not fail because its report cannot be written.
func (b *startupReporter) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.out, "Bootstrap "+format+"\n", args...)
}

// Core stores that phase 1 is over.
func (b *startupReporter) Core() { b.note(func(r *console.Boot) { r.CoreReady = true }) }

// Trust stores that the trust gate was passed: from here on the network may be used.
func (b *startupReporter) Trust() { b.note(func(r *console.Boot) { r.TrustPassed = true }) }

// Ready stores that the start is over.
func (b *startupReporter) Ready() {
	b.note(func(r *console.Boot) {
		r.ReadyAt = new(time.Now())
		r.TotalDurationMS = r.ReadyAt.Sub(r.StartedAt).Milliseconds()
	})
}

func (b *startupReporter) note(change func(*console.Boot)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.report)
}

// Report returns the stages of the start so far.
func (b *startupReporter) Report() console.Boot {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.report
	r.Stages = append([]console.Stage{}, r.Stages...)
	r.Failed = append([]string{}, r.Failed...)
	if r.ReadyAt == nil {
		r.TotalDurationMS = time.Since(r.StartedAt).Milliseconds()
	}
	return r
}
