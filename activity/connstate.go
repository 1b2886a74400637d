package activity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// ConnState is the state of an account's connection.
type ConnState string

// The states of a line.
const (
	ConnConnecting    ConnState = "connecting"    // not yet heard, or lost and coming back
	ConnConnected     ConnState = "connected"     // heard lately: the only healthy state
	ConnDegraded      ConnState = "degraded"      // not heard for too long; it keeps trying
	ConnMisconfigured ConnState = "misconfigured" // the credentials are refused; it asks again slowly, if at all
	ConnConflict      ConnState = "conflict"      // another program receives with our credentials
	ConnStandby       ConnState = "standby"       // another process of the installation serves the account
)

// A ConnStatus is the state of a connection at one moment.
type ConnStatus struct {
	Name    string // of the entry in the configuration
	Account string // account key; empty before the first connection
	Handle  string // what people write after @
	State   ConnState
	Since   time.Time // when it came into this state
	Heard   time.Time // when the platform last proved to be there; zero if never
	Reason  string    // why it is not connected; empty when it is
	Paused  string    // why nothing is sent; empty when sending works
	Failing string    // why what is sent has not been delivered for half a minute; empty when it is
	Deaf    string    // why it was connected anew though the connection worked; empty once live messages come again
	Stats   IngressStats
	Panic   PanicNote // the last update or action that ran into a fault of this program; zero if none did
}

// Status returns the state of the connection now. It may be called at any time.
func (l *AccountConnection) Status() ConnStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := ConnStatus{Name: l.o.Name, State: cmp.Or(l.state, ConnConnecting), Since: l.since, Reason: l.reason}
	if l.in != nil {
		s.Account, s.Handle = l.in.account.Key(), l.in.account.Handle
		s.Heard, s.Stats, s.Paused = l.in.LastHeard(), l.in.Stats(), l.out.Paused()
		s.Failing = l.out.Failing()
		if at := l.deafAt; !at.IsZero() && l.in.lastLive().Before(at) && time.Since(at) < deafTold {
			s.Deaf = fmt.Sprintf("%s; connected anew at %s, and history was read", adapters.ErrDeaf, at.UTC().Format(time.RFC3339))
		}
		if s.Panic = l.in.counters.panics.newest(); l.out.panics.newest().At.After(s.Panic.At) {
			s.Panic = l.out.panics.newest()
		}
	}
	return s
}

// deafTold is how long after it an account is told of that was connected anew for
// being deaf, where nobody writes in its chats.
const deafTold = 2 * adapters.DeafAgain

// noteDeaf notes that the account is connected anew for being deaf.
func (l *AccountConnection) noteDeaf(err error) {
	if !errors.Is(err, adapters.ErrDeaf) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deafAt = time.Now()
}

// setState notes a change of state and says it once.
func (l *AccountConnection) setState(ctx context.Context, state ConnState, reason string) {
	l.mu.Lock()
	same := l.state == state && l.reason == reason
	if l.state != state {
		l.since = time.Now()
	}
	if l.state == "" {
		l.began = l.since
	}
	l.state, l.reason = state, reason
	span := ConnPeriod{Line: l.o.Name, State: state, Reason: reason, From: l.since, First: l.since.Equal(l.began)}
	if l.in != nil {
		span.Account = l.in.account.Key()
	}
	l.mu.Unlock()
	if !same {
		l.storePeriod(ctx, span)
	}
	switch {
	case same:
	case state == ConnConnected || state == ConnConnecting && reason == "":
		l.logger.Info("line state", "state", string(state))
	default:
		l.logger.Warn("line state", "state", string(state), "reason", reason)
	}
}

// lastLost returns when a connection last failed.
func (l *AccountConnection) lastLost() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lostAt
}

func (l *AccountConnection) currentState() ConnState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

const (
	// attestEvery is how often an unchanged connection state is confirmed in the store.
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
func (l *AccountConnection) storePeriod(ctx context.Context, s ConnPeriod) {
	if l.o.History == nil {
		return
	}
	if err := l.o.History.StateChanged(ctx, s); err != nil && ctx.Err() == nil {
		l.logger.Error("line span not recorded", "state", string(s.State), "err", err)
	}
}

// begin is the first state of a run.
func (l *AccountConnection) begin(ctx context.Context) {
	l.mu.Lock()
	l.state = ""
	l.mu.Unlock()
	l.setState(ctx, ConnConnecting, "")
}

// confirmState stores every minute, and at the end of the run, that the connection's
// state has not changed.
func (l *AccountConnection) confirmState(ctx context.Context) {
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

func (l *AccountConnection) storeStillInState(ctx context.Context) {
	if err := l.o.History.StillInState(ctx, l.o.Name, time.Now()); err != nil && ctx.Err() == nil {
		l.logger.Error("line not attested", "err", err)
	}
}
