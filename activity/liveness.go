package activity

import (
	"context"
	"sync"
	"time"
)

// A livenessMonitor watches whether a line is heard. It tells the record when it goes deaf
// and when it hears again, so that connection spans close and open (DESIGN 4),
// and gives up a connection that has gone silent.
type livenessMonitor struct {
	line *Connection
	in   *Ingress
	told bool // the record was told something: what another process left is not known
	deaf bool // what it was last told

	mu   sync.Mutex // guards give
	give context.CancelCauseFunc
}

func newEar(l *Connection, in *Ingress) *livenessMonitor { return &livenessMonitor{line: l, in: in} }

// attend runs talk with the ear beside it and returns what talk returned.
func (e *livenessMonitor) attend(ctx context.Context, talk func(context.Context) error) error {
	var beside sync.WaitGroup
	defer beside.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	beside.Go(func() { e.listen(ctx) })
	return talk(ctx)
}

// watch makes give the end of the connection that now is.
func (e *livenessMonitor) watch(give context.CancelCauseFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.give = give
}

// listen follows what is heard until ctx is done.
func (e *livenessMonitor) listen(ctx context.Context) {
	began := time.Now()
	for {
		patience := e.line.o.Deaf - time.Since(latest(began, e.in.LastHeard()))
		if patience <= 0 {
			e.silence(ctx)
			began = time.Now() // the next connection has its own time
			continue
		}
		timer := time.NewTimer(patience)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-e.in.hearing:
			e.sound(ctx)
		case <-timer.C:
		}
		timer.Stop()
	}
}

// silence makes the line deaf and drops its connection.
func (e *livenessMonitor) silence(ctx context.Context) {
	if s := e.line.stands(); s != LineMisconfigured && s != LineConflict {
		e.line.become(ctx, LineDegraded, errDeaf.Error())
	}
	e.tell(ctx, false)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.give != nil {
		e.give(errDeaf)
	}
}

// sound makes the line healthy, unless what was heard was the last of a
// connection that is lost by now.
func (e *livenessMonitor) sound(ctx context.Context) {
	if !e.in.LastHeard().After(e.line.lost()) {
		return
	}
	e.line.become(ctx, LineConnected, "")
	e.tell(ctx, true)
}

// tell tells the record of a change. One it does not take is told again with the
// next sound or silence.
func (e *livenessMonitor) tell(ctx context.Context, hears bool) {
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

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
