package server

import (
	"context"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/pgnotify"
	"github.com/trestle-bridge/trestle/internal/pubsub/redis"
	"github.com/trestle-bridge/trestle/spaces"
)

// What is rung and called for between processes.
const (
	outboxBell = "outbox" // an outbox may have something new
	mindsCall  = "minds"  // a mind has something to look at
	forgetBell = "forget" // a person had a mind forget or correct something
)

// inTurn is the largest random delay before a process looks for work after a broadcast,
// so that processes do not all claim at once.
const inTurn = 50 * time.Millisecond

// recollectEvery is how often a process looks whether minds had to forget something in
// another process: a notification may be lost.
const recollectEvery = time.Second

// A notifier rings in this process, and in others where there are any.
type notifier interface {
	pubsub.Notifier
	pubsub.Subscriber
}

// remoteNotifier is a bell that is heard in other processes, too.
type remoteNotifier interface {
	notifier
	Run(ctx context.Context) error
	Trouble() (since time.Time, why error)
}

// openBells joins the bells with those of other processes: over Redis where one is
// configured, else through the database where that is a server. Whether they answer
// is not asked: the program runs without them. On a Redis that other installations
// use, too, each hears itself alone: its keys have the name of its record.
func (s *Server) openBells(ctx context.Context) error {
	switch c := s.Config(); {
	case c.Redis != "":
		record, err := s.Store.Name(ctx)
		if err != nil {
			return err
		}
		o := redis.Options{URL: string(c.Redis), Installation: record, Process: s.Mint(), Heard: s.Bus.Relay, Logger: s.Log}
		if s.redis, err = redis.Open(o); err != nil {
			s.misfit("redis", err)
			return nil
		}
		s.bells, s.far = s.redis, s.redis
	case c.Database != "":
		b, err := pgnotify.Open(pgnotify.Options{URL: string(c.Database), Process: s.Mint(), Logger: s.Log})
		if err != nil {
			s.misfit("database", err)
			return nil
		}
		s.bells, s.far = b, b
	}
	return nil
}

func (s *Server) closeBells() error {
	if s.redis == nil {
		return nil
	}
	return s.redis.Close()
}

// hearOthers serves what other processes ring and call for, until ctx is done.
func (s *Server) hearOthers(ctx context.Context, g *errgroup.Group) {
	if s.far == nil {
		return
	}
	g.Go(func() error { return s.far.Run(ctx) })
	g.Go(func() error { return s.answer(ctx, outboxBell, s.ringOwnLines) })
	if !s.Config().HasRole(config.RoleMinds) {
		return
	}
	g.Go(func() error { return s.recollect(ctx) })
	if s.redis != nil {
		g.Go(func() error { return s.redis.Attend(ctx, mindsCall, s.attendMind) })
		return
	}
	g.Go(func() error {
		return s.answer(ctx, mindsCall, func() {
			select {
			case <-ctx.Done():
			case <-time.After(rand.N(inTurn)):
				s.shell.Look()
			}
		})
	})
}

// recollect has the minds in memory forget what they were told to forget in another
// process, until ctx is done.
func (s *Server) recollect(ctx context.Context) error {
	rings, stop := s.bells.Listen(forgetBell)
	defer stop()
	look := time.NewTicker(recollectEvery)
	defer look.Stop()
	var seen int64
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-rings:
			err = s.shell.Recollect(ctx)
		case <-look.C:
			seen, err = s.shell.RecollectSince(ctx, seen)
		}
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("not recollected; what was forgotten elsewhere is known here until this works", "error", err)
		}
	}
}

// answer does something each time a bell rings, until ctx is done.
func (s *Server) answer(ctx context.Context, key string, do func()) error {
	rings, stop := s.bells.Listen(key)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rings:
			do()
		}
	}
}

// callForMinds lets any process that has room look after minds: one of them where
// calls are handed out, else the first to claim.
func (p *Components) callForMinds(ws []spaces.PendingWork) {
	switch others := p.far.(type) {
	case *redis.Client:
		callEach(others, ws)
	case *pgnotify.PostgresNotifier:
		if len(ws) > 0 {
			others.RingOthers(mindsCall)
		}
	}
}

// ringAccount tells the line of an account, in whichever process it is, that its
// outbox has something new.
func (p *Components) ringAccount(account string) {
	switch out := p.egress(account); {
	case out != nil:
		out.Ring()
	case p.far != nil:
		p.far.Ring(outboxBell)
	}
}

// lookAtBells sees whether what processes tell one another is carried.
func (s *Server) lookAtBells() alerts.ConditionProbe {
	return alerts.ConditionProbe{
		Codes: []alerts.ProblemCode{alerts.NoBells, alerts.NoNotices},
		See: func(context.Context) ([]alerts.Observation, error) {
			if s.far == nil {
				return nil, nil
			}
			_, why := s.far.Trouble()
			switch {
			case why == nil:
				return nil, nil
			case s.redis != nil:
				return []alerts.Observation{{Code: alerts.NoBells, Subject: "redis", Evidence: why.Error()}}, nil
			}
			return []alerts.Observation{{Code: alerts.NoNotices, Subject: "database", Evidence: why.Error()}}, nil
		},
	}
}
