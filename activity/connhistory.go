package activity

import (
	"context"
	"time"
)

const (
	// attestEvery is how often a line that stands as it stood says that it still does.
	attestEvery = time.Minute
	// lastWord is how long the end of a run waits until that was said once more.
	lastWord = 2 * time.Second
)

// A ConnHistory keeps how lines stood over time, for people to look at. A line whose
// logbook fails goes on without.
type ConnHistory interface {
	// StateChanged notes that a span begins and that the line's span before it lasted until
	// then; not when the new one is the first of its run: then the one before ended
	// when it was last seen. A span that is noted again has other words.
	StateChanged(ctx context.Context, s ConnPeriod) error
	// StillInState notes that the newest span of a line still lasts.
	StillInState(ctx context.Context, line string, at time.Time) error
}

// A ConnPeriod is a time during which a line stood in one way. It lasts until the
// line's next one, or until it was last seen.
type ConnPeriod struct {
	Line    string // name of its entry
	Account string // account key; empty before the first connection
	State   ConnState
	Reason  string // why it is not connected; empty when it is
	From    time.Time
	First   bool // of a run
}

// storePeriod takes what a line has become into its logbook.
func (l *Connection) storePeriod(ctx context.Context, s ConnPeriod) {
	if l.o.History == nil {
		return
	}
	if err := l.o.History.StateChanged(ctx, s); err != nil && ctx.Err() == nil {
		l.logger.Error("line span not recorded", "state", string(s.State), "err", err)
	}
}

// begin is the first state of a run.
func (l *Connection) begin(ctx context.Context) {
	l.mu.Lock()
	l.state = ""
	l.mu.Unlock()
	l.setState(ctx, ConnConnecting, "")
}

// confirmState tells the logbook every minute, and at the end of the run, that the line
// stands as it stood.
func (l *Connection) confirmState(ctx context.Context) {
	if l.o.History == nil {
		return
	}
	tick := time.NewTicker(attestEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
			defer cancel()
			l.storeStillInState(last)
			return
		case <-tick.C:
			l.storeStillInState(ctx)
		}
	}
}

func (l *Connection) storeStillInState(ctx context.Context) {
	if err := l.o.History.StillInState(ctx, l.o.Name, time.Now()); err != nil && ctx.Err() == nil {
		l.logger.Error("line not attested", "err", err)
	}
}
