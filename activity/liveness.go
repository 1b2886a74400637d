package activity

import (
	"context"
	"sync"
	"time"
)

// A livenessMonitor marks a connection as lost after a time without traffic and as
// restored with the next, stores both, so that connection spans close and open, and
// cancels a silent connection so that it is made again.
type livenessMonitor struct {
	line *AccountConnection
	in   *Ingress
	told bool // a state was stored: the state that another process left is not known
	deaf bool // what it was last told

	mu   sync.Mutex // guards give
	give context.CancelCauseFunc
}

func newLivenessMonitor(l *AccountConnection, in *Ingress) *livenessMonitor {
	return &livenessMonitor{line: l, in: in}
}

// runBeside runs talk with the ear beside it and returns what talk returned.
func (e *livenessMonitor) runBeside(ctx context.Context, talk func(context.Context) error) error {
	var beside sync.WaitGroup
	defer beside.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	beside.Go(func() { e.monitor(ctx) })
	return talk(ctx)
}

// watch makes give the end of the connection that now is.
func (e *livenessMonitor) watch(give context.CancelCauseFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.give = give
}

// monitor follows what is heard until ctx is done.
func (e *livenessMonitor) monitor(ctx context.Context) {
	began := time.Now()
	for {
		patience := e.line.o.SilenceLimit - time.Since(laterOf(began, e.in.LastHeard()))
		if patience <= 0 {
			e.onSilence(ctx)
			began = time.Now() // the next connection has its own time
			continue
		}
		timer := time.NewTimer(patience)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-e.in.hearing:
			e.onSound(ctx)
		case <-timer.C:
		}
		timer.Stop()
	}
}

// onSilence makes the line deaf and drops its connection.
func (e *livenessMonitor) onSilence(ctx context.Context) {
	if s := e.line.currentState(); s != ConnMisconfigured && s != ConnConflict {
		e.line.setState(ctx, ConnDegraded, errDeaf.Error())
	}
	e.storeConnected(ctx, false)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.give != nil {
		e.give(errDeaf)
	}
}

// onSound makes the line healthy, unless what was heard was the last of a
// connection that is lost by now.
func (e *livenessMonitor) onSound(ctx context.Context) {
	if !e.in.LastHeard().After(e.line.lastLost()) {
		return
	}
	e.line.setState(ctx, ConnConnected, "")
	e.storeConnected(ctx, true)
}

// storeConnected tells the record of a change. One it does not take is told again with the
// next sound or silence.
func (e *livenessMonitor) storeConnected(ctx context.Context, hears bool) {
	if e.told && e.deaf == !hears {
		return
	}
	account := e.in.account.Key()
	if err := e.line.log.SetConnected(ctx, account, hears, time.Now()); err != nil {
		if ctx.Err() == nil {
			e.line.logger.Error("hearing not recorded", "account", account, "hears", hears, "err", err)
		}
		return
	}
	e.told, e.deaf = true, !hears
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
