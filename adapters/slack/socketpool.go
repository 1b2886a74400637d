package slack

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters"
)

// twice is how many sockets are kept: Slack retires each of them now and then,
// brings every envelope by any one of them, and loses what finds none.
const twice = 2

// socketPool are the sockets of one Receive.
type socketPool struct {
	c     *Client
	inbox *inbox
	heard func()
	holed func() // called when there was a time without any socket
	// listens is called at every hello.
	listens func()

	mu      sync.Mutex // guards what follows
	open    []*socket
	deaf    bool        // there was a socket, and for a time there is none
	failing [twice]bool // whose last attempt to open one failed
}

// run keeps the sockets until ctx is done. It fails when none is left and neither
// of them can be opened again, which is for the caller to mend.
func (l *socketPool) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for n := range twice {
		g.Go(func() error { return l.keep(ctx, n) })
	}
	return g.Wait()
}

// settled is how long a socket must have stood for its end to be routine.
const settled = 10 * time.Second

// keep keeps one socket after the other. A retired one is read on until its
// successor says hello. One that stood for a while is followed at once; where
// they end as soon as they are open, as with too_many_websockets, the pauses grow.
func (l *socketPool) keep(ctx context.Context, n int) error {
	pause := &backoff.ExponentialBackOff{InitialInterval: 500 * time.Millisecond, RandomizationFactor: 0.3, Multiplier: 2, MaxInterval: time.Minute}
	pause.Reset()
	var readers sync.WaitGroup
	defer readers.Wait()
	for ctx.Err() == nil {
		s, err := l.c.openSocket(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if !l.bearable(n, err) {
				return err
			}
			rest := pause.NextBackOff()
			if e, ok := errors.AsType[*adapters.Error](err); ok && e.Kind == adapters.Limited {
				rest = max(rest, e.RetryAfter)
			}
			l.c.log.Warn("socket not opened", "pause", rest, "error", err)
			adapters.SleepContext(ctx, rest)
			continue
		}
		l.works(n)
		opened := time.Now()
		ended := make(chan error, 1)
		retire := make(chan struct{})
		readers.Go(func() { ended <- l.serve(ctx, s, retire) })
		select {
		case <-retire: // another is opened while this one still listens
		case err = <-ended:
			if ctx.Err() != nil {
				return nil
			}
			l.c.log.Info("socket lost", "error", l.c.scrub(0, err))
		}
		if time.Since(opened) >= settled {
			pause.Reset()
		} else {
			adapters.SleepContext(ctx, pause.NextBackOff())
		}
	}
	return nil
}

// bearable notes that a socket could not be opened and reports whether it may be
// missing for a while: another one listens or may yet be had, and trying again
// may help.
func (l *socketPool) bearable(n int, err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failing[n] = true
	switch adapters.KindOf(err) {
	case adapters.Unauthorized:
		return false
	case adapters.Limited:
		return true
	case adapters.Unknown, adapters.NotSent, adapters.Invalid, adapters.NoTarget, adapters.Forbidden, adapters.Moved, adapters.Conflict:
	}
	return len(l.open) > 0 || slices.Contains(l.failing[:], false)
}

// works notes that a socket was opened.
func (l *socketPool) works(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failing[n] = false
}

// serve reads one socket to its end. It closes retire when Slack wants it replaced.
func (l *socketPool) serve(ctx context.Context, s *socket, retire chan<- struct{}) error {
	stop := context.AfterFunc(ctx, s.close)
	defer stop()
	defer s.close()
	defer l.remove(s)
	var grace *time.Timer
	retired := false
	err := s.read(l.heard, func(frame []byte) error {
		d, e := deliveryOf(frame)
		switch {
		case e.Type == "hello":
			l.add(s)
			l.listens()
		case e.Type == "disconnect" && !retired:
			l.c.log.Debug("socket retired", "reason", e.Reason)
			retired = true
			close(retire)
			grace = time.AfterFunc(retireGrace, s.close)
		case d == nil:
		default:
			if e.ID != "" {
				d.acks = append(d.acks, func() { l.ack(s, e.ID) })
			}
			if !l.inbox.add(d) {
				l.c.log.Warn("too much waits, slack will bring it again", "update", d.id)
			}
		}
		return nil
	})
	if grace != nil {
		grace.Stop()
	}
	return err
}

// retireGrace is how long a retired socket is still read.
const retireGrace = 10 * time.Second

// ack answers by the socket that brought the envelope, else by another.
func (l *socketPool) ack(s *socket, envelope string) {
	if s.ack(envelope) {
		return
	}
	l.mu.Lock()
	others := slices.Clone(l.open)
	l.mu.Unlock()
	for _, o := range others {
		if o.ack(envelope) {
			return
		}
	}
}

// add notes that a socket listens. What was said while none did is asked for now, and
// not when the last one ended: from here on nothing is missed.
func (l *socketPool) add(s *socket) {
	l.mu.Lock()
	deaf := l.deaf
	l.open, l.deaf = append(l.open, s), false
	l.mu.Unlock()
	if deaf {
		l.holed()
	}
}

func (l *socketPool) remove(s *socket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	had := len(l.open)
	l.open = slices.DeleteFunc(l.open, func(o *socket) bool { return o == s })
	l.deaf = l.deaf || had > 0 && len(l.open) == 0
}
