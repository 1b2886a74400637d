package activity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters"
)

// errDeaf is why a connection is given up that has not been heard for too long.
var errDeaf = errors.New("not heard for too long")

// An AccountConnection keeps one account connected: it connects, receives, sends, and begins
// anew for ever when the connection is lost. It believes in a connection only as
// far as it hears it.
type AccountConnection struct {
	adapter adapters.Adapter
	log     EventLog
	join    OnConnect
	o       ConnectionOptions
	logger  *slog.Logger
	joined  chan struct{} // closed once in and out are there

	mu     sync.Mutex // guards what follows
	in     *Ingress
	out    *Egress
	state  ConnState
	reason string
	since  time.Time
	began  time.Time // when it came into the first state of this run
	lostAt time.Time // when the connection before this one failed
	deafAt time.Time // when one was last given up for [adapters.ErrDeaf]
}

// OnConnect returns the two ways of an account that has connected for the first time.
// It opens the spaces that the configuration names there.
type OnConnect func(ctx context.Context, a adapters.BotAccount) (*Ingress, *Egress, error)

// ConnectionOptions name a line and set its times.
type ConnectionOptions struct {
	// Name is the line's entry in the configuration. Default: none.
	Name string
	// SilenceLimit is how long a healthy platform may be silent. Default: 90 s.
	SilenceLimit time.Duration
	// RetryMax bounds the pause between attempts to connect. Default: 30 s.
	RetryMax time.Duration
	// ConflictRetry is the pause while another program receives with our
	// credentials. Default: 1 min.
	ConflictRetry time.Duration
	// RefusedRetry is the first pause after our credentials were refused: a platform
	// that fails may refuse good ones. It doubles up to ten times itself. Default:
	// 1 min.
	RefusedRetry time.Duration
	// History stores the states of the connection over time. Default: not stored.
	History ConnHistory
	// Logger takes a line for each change of state. Default: none are written.
	Logger *slog.Logger
}

// NewConnection returns a line over an adapter. Nothing happens before Run.
func NewConnection(ad adapters.Adapter, l EventLog, j OnConnect, o ConnectionOptions) *AccountConnection {
	if o.SilenceLimit <= 0 {
		o.SilenceLimit = 90 * time.Second
	}
	if o.RetryMax <= 0 {
		o.RetryMax = 30 * time.Second
	}
	if o.ConflictRetry <= 0 {
		o.ConflictRetry = time.Minute
	}
	if o.RefusedRetry <= 0 {
		o.RefusedRetry = time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &AccountConnection{adapter: ad, log: l, join: j, o: o, logger: o.Logger.With("line", o.Name), joined: make(chan struct{})}
}

// Run keeps the line up until ctx is done and then returns nil. It fails only
// when the record is out of reach at the start; whatever the platform does is
// answered by trying again, or by waiting for other credentials.
func (l *AccountConnection) Run(ctx context.Context) error {
	l.begin(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	beside.Go(func() { l.confirmState(run) })
	tries := l.newTries()
	account, ok := l.connect(ctx, tries)
	if !ok {
		return nil
	}
	in, out, err := l.join(ctx, account)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("join %s: %w", account.Key(), err)
	}
	in.AnswerPresses(l.adapter)
	out.heard = in.LastHeard
	l.mu.Lock()
	l.in, l.out = in, out
	l.mu.Unlock()
	close(l.joined)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return out.Run(ctx) })
	g.Go(func() error {
		in.unsealAdmitted(ctx)
		return nil
	})
	g.Go(func() error { return l.receive(ctx, in, out, tries) })
	return g.Wait()
}

// Joined is closed once the account has connected for the first time and has its two
// ways: from then on [Connection.Status] knows the account.
func (l *AccountConnection) Joined() <-chan struct{} { return l.joined }

// Egress returns the way out, for doorbells and typing; nil before the first
// connection.
func (l *AccountConnection) Egress() *Egress {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out
}

// Ring tells that the outbox may have something new for this account.
func (l *AccountConnection) Ring() {
	if out := l.Egress(); out != nil {
		out.Ring()
	}
}

// connect proves the credentials, as often as it takes. It returns false when
// ctx is done first, which with dead credentials is the only end.
func (l *AccountConnection) connect(ctx context.Context, tries *reconnectBackoff) (adapters.BotAccount, bool) {
	for {
		account, err := l.adapter.Connect(ctx)
		if err == nil {
			return account, ctx.Err() == nil
		}
		if !l.retry(ctx, err, tries) {
			return adapters.BotAccount{}, false
		}
	}
}

// retry says what a failure means and waits until it is time to try again. It
// returns false when there will be no such time.
func (l *AccountConnection) retry(ctx context.Context, err error, tries *reconnectBackoff) bool {
	if ctx.Err() != nil {
		return false
	}
	l.mu.Lock()
	l.lostAt = time.Now()
	l.mu.Unlock()
	pause := tries.failed.NextBackOff()
	switch adapters.KindOf(err) {
	case adapters.Unauthorized:
		l.setState(ctx, ConnMisconfigured, err.Error())
		if adapters.IsFinal(err) {
			<-ctx.Done()
			return false
		}
		pause = tries.refused.NextBackOff()
	case adapters.Conflict:
		l.setState(ctx, ConnConflict, err.Error())
		pause = l.o.ConflictRetry
	case adapters.Limited:
		l.setState(ctx, l.retryingState(), err.Error())
		if wait, ok := adapters.RetryDelay(err); ok {
			pause = max(pause, wait)
		}
	case adapters.Unknown, adapters.NotSent, adapters.Invalid, adapters.NoTarget, adapters.Forbidden, adapters.Moved:
		l.setState(ctx, l.retryingState(), err.Error())
	}
	adapters.SleepContext(ctx, pause)
	return ctx.Err() == nil
}

// retryingState is the state of a line that failed: a deaf one stays so until it hears.
func (l *AccountConnection) retryingState() ConnState {
	if l.currentState() == ConnDegraded {
		return ConnDegraded
	}
	return ConnConnecting
}

// receive reads the platform until ctx is done, over as many connections as it
// takes. The first one has been made.
func (l *AccountConnection) receive(ctx context.Context, in *Ingress, out *Egress, tries *reconnectBackoff) error {
	ear := newLivenessMonitor(l, in)
	return ear.runBeside(ctx, func(ctx context.Context) error {
		for connected := true; ctx.Err() == nil; connected = false {
			if !connected {
				account, ok := l.connect(ctx, tries)
				if !ok {
					return nil
				}
				if account.Key() != in.account.Key() {
					l.setState(ctx, ConnMisconfigured, "the credentials are now another account's: "+account.Key())
					<-ctx.Done()
					return nil
				}
				if time.Since(in.LastHeard()) < l.o.SilenceLimit {
					out.Resume()
				} else {
					out.Recover()
				}
			}
			since := in.LastHeard()
			err := l.listen(ctx, in, ear)
			if in.LastHeard().After(since) {
				tries.reset()
			}
			l.noteDeaf(err)
			if !l.retry(ctx, err, tries) {
				return nil
			}
		}
		return nil
	})
}

// listen is one connection: it ends with the reason it was lost.
func (l *AccountConnection) listen(ctx context.Context, in *Ingress, ear *livenessMonitor) error {
	cursor, err := l.log.Cursor(ctx, in.account.Key())
	if err != nil {
		return fmt.Errorf("cursor of %s: %w", in.account.Key(), err)
	}
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	ear.watch(give)
	err = l.adapter.Receive(ctx, cursor, in)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		return errors.New("the adapter stopped receiving")
	}
	return err
}

// reconnectBackoff are the pauses between attempts to connect. They grow until the line
// hears again.
type reconnectBackoff struct{ failed, refused *backoff.ExponentialBackOff }

func (l *AccountConnection) newTries() *reconnectBackoff {
	t := &reconnectBackoff{
		failed: &backoff.ExponentialBackOff{
			InitialInterval: 500 * time.Millisecond, RandomizationFactor: 0.3, Multiplier: 2, MaxInterval: l.o.RetryMax,
		},
		refused: &backoff.ExponentialBackOff{InitialInterval: l.o.RefusedRetry, Multiplier: 2, MaxInterval: 10 * l.o.RefusedRetry},
	}
	t.reset()
	return t
}

func (t *reconnectBackoff) reset() {
	t.failed.Reset()
	t.refused.Reset()
}
