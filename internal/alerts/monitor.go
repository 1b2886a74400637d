package alerts

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"
)

// A ConditionProbe looks for conditions.
type ConditionProbe struct {
	// Codes are the conditions it would see. Those it does not report are well.
	Codes []ProblemCode
	// See returns what there is now. An error means that it could not look: then
	// nothing is concluded.
	See func(ctx context.Context) ([]Observation, error)
}

// An AlertNotifier tells an operator of a problem that opened, lasts, or is over.
type AlertNotifier interface {
	// Tell returns whether it has told, or will surely do so; false asks for the
	// same again later. The problem is closed when it is over.
	Tell(ctx context.Context, p Alert, at time.Time) bool
}

// An AlertMonitor looks again and again, keeps the problems in its store, and has its
// tellers tell of them.
type AlertMonitor struct {
	Store   Store
	Looks   []ConditionProbe
	Tellers []AlertNotifier
	// Reserve holds what the store cannot take. Default: one of its own.
	Reserve *MemoryBuffer
	// Every is the time between two looks. Default: 10 s.
	Every time.Duration
	// Logger takes a line when a problem opens or closes. Default: none are written.
	Logger *slog.Logger

	resumed time.Time // when the process last went on after it had been stopped
}

// Limits of a stop of the whole process (SIGSTOP, a machine that was suspended): how
// much later than planned a round begins after one, and for how long no problem opens
// then. What looks silent or late after a stop is so by the stop alone.
const (
	stoppedFor    = 20 * time.Second
	settleResumed = time.Minute
)

// Run looks until ctx is done and returns nil.
func (w *AlertMonitor) Run(ctx context.Context) error {
	every := w.Every
	if every <= 0 {
		every = 10 * time.Second
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		w.Round(ctx, time.Now())
		looked := time.Now()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		w.rested(every, looked, time.Now())
	}
}

// rested notes that the process was stopped, when a pause that should have lasted every
// took much longer.
func (w *AlertMonitor) rested(every time.Duration, from, to time.Time) {
	stopped := max(to.Sub(from), to.Round(0).Sub(from.Round(0))) - every // a suspended machine's monotonic clock does not advance
	if stopped < stoppedFor {
		return
	}
	w.resumed = to
	w.logger().Warn("the process was stopped; problems that this seems to show are not opened yet", "for", stopped.Round(time.Second).String())
}

// Round looks once, keeps what changed, and tells of what is due. What the store
// cannot take is logged and held; the next round tries again.
func (w *AlertMonitor) Round(ctx context.Context, at time.Time) {
	if w.Reserve == nil {
		w.Reserve = new(MemoryBuffer)
	}
	store := w.Reserve.Over(w.Store)
	err := errors.Join(w.look(ctx, store, at), w.tell(ctx, store, at))
	if err != nil && ctx.Err() == nil {
		w.logger().Warn("problems not kept", "error", err)
	}
}

func (w *AlertMonitor) look(ctx context.Context, store Store, at time.Time) error {
	o := probeResult{at: at, settling: !w.resumed.IsZero() && at.Sub(w.resumed) < settleResumed}
	for _, l := range w.Looks {
		seen, err := l.See(ctx)
		if err != nil {
			if ctx.Err() == nil {
				w.logger().Warn("cannot look for problems", "codes", l.Codes, "error", err)
			}
			continue
		}
		o.covered, o.seen = append(o.covered, l.Codes...), append(o.seen, seen...)
	}
	open, err := store.Problems(ctx, at)
	if err != nil {
		return err
	}
	open = slices.DeleteFunc(open, func(p Alert) bool { return !p.Closed.IsZero() })
	changed := advance(open, o)
	for _, p := range changed {
		w.say(p, at)
	}
	if held, _ := w.Reserve.Held(); len(changed)+len(held) == 0 {
		return nil
	}
	return store.Keep(ctx, changed)
}

// say writes the log's line on opening and on closing.
func (w *AlertMonitor) say(p Alert, at time.Time) {
	switch {
	case p.ID == 0 && p.Opened.Equal(at):
		w.logger().Warn("problem opened", "code", p.Code, "subject", p.Subject, "what", p.What(), "evidence", p.Evidence)
	case !p.Closed.IsZero():
		w.logger().Info("problem closed", "code", p.Code, "subject", p.Subject, "lasted", p.Closed.Sub(p.Opened).Round(time.Second))
	}
}

// overdue is how long after its end a problem's end may still be told.
const overdue = 24 * time.Hour

func (w *AlertMonitor) tell(ctx context.Context, store Store, at time.Time) error {
	if len(w.Tellers) == 0 {
		return nil
	}
	all, err := store.Problems(ctx, at.Add(-overdue))
	if err != nil {
		return err
	}
	var changed []Alert
	for _, p := range all {
		if !due(p, at) {
			continue
		}
		heard := false
		for _, t := range w.Tellers {
			heard = t.Tell(ctx, p, at) || heard
		}
		if heard {
			changed = append(changed, told(p, at))
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return store.Keep(ctx, changed)
}

func (w *AlertMonitor) logger() *slog.Logger {
	if w.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return w.Logger
}
