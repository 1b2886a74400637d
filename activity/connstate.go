package activity

import (
	"cmp"
	"context"
	"time"
)

// ConnState says how an account stands.
type ConnState string

// The states of a line.
const (
	ConnConnecting    ConnState = "connecting"    // not yet heard, or lost and coming back
	ConnConnected     ConnState = "connected"     // heard lately: the only healthy state
	ConnDegraded      ConnState = "degraded"      // not heard for too long; it keeps trying
	ConnMisconfigured ConnState = "misconfigured" // the credentials are refused; it asks again slowly, if at all
	ConnConflict      ConnState = "conflict"      // somebody else receives with our credentials
	ConnStandby       ConnState = "standby"       // another process of the installation serves the account
)

// A ConnStatus is a line as it stands at one moment.
type ConnStatus struct {
	Name    string // of the entry in the configuration
	Account string // account key; empty before the first connection
	Handle  string // what people write after @
	State   ConnState
	Since   time.Time // when it came into this state
	Heard   time.Time // when the platform last proved to be there; zero if never
	Reason  string    // why it is not connected; empty when it is
	Paused  string    // why nothing is sent; empty when sending works
	Stats   IngressStats
}

// Status returns how the line stands now. It may be called at any time.
func (l *Connection) Status() ConnStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := ConnStatus{Name: l.o.Name, State: cmp.Or(l.state, ConnConnecting), Since: l.since, Reason: l.reason}
	if l.in != nil {
		s.Account, s.Handle = l.in.account.Key(), l.in.account.Handle
		s.Heard, s.Stats, s.Paused = l.in.LastHeard(), l.in.Stats(), l.out.Paused()
	}
	return s
}

// setState notes a change of state and says it once.
func (l *Connection) setState(ctx context.Context, state ConnState, reason string) {
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
func (l *Connection) lastLost() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lostAt
}

func (l *Connection) currentState() ConnState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}
