package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/pgnotify"
	"github.com/trestle-bridge/trestle/internal/pubsub/redis"
	"github.com/trestle-bridge/trestle/spaces"
)

// Keys of notifications between processes.
const (
	outboxBell = "outbox" // an outbox may have something new
	mindsCall  = "minds"  // a mind has something to look at
	forgetBell = "forget" // a person had a mind forget or correct something
)

// inTurn is the largest random delay before a process looks for work after a broadcast,
// so that processes do not all claim at once.
const inTurn = 50 * time.Millisecond

// reloadInterval is the time between two reloads of changed memories, since a notification may
// be lost.
const reloadInterval = time.Second

// A notifier notifies listeners in this process, and in others where there are any.
type notifier interface {
	pubsub.Notifier
	pubsub.Subscriber
}

// remoteNotifier is a notifier that also reaches other processes.
type remoteNotifier interface {
	notifier
	Run(ctx context.Context) error
	Trouble() (since time.Time, why error)
}

// openNotifier connects the notifiers of all processes: over Redis where it is configured, else
// through the database where that is a server. It does not wait for an answer: the program runs
// without notifications. On a Redis that several installations use, each has its own keys.
func (node *clusterNode) openNotifier(ctx context.Context) error {
	switch c := node.Config(); {
	case c.Redis != "":
		record, err := node.Store.Name(ctx)
		if err != nil {
			return err
		}
		o := redis.Options{URL: string(c.Redis), Installation: record, Process: node.Mint(), Heard: node.Bus.Relay, Logger: node.Log}
		if node.redis, err = redis.Open(o); err != nil {
			node.addFault("redis", err)
			return nil
		}
		node.notifier, node.remote = node.redis, node.redis
	case c.Database != "":
		b, err := pgnotify.Open(pgnotify.Options{URL: string(c.Database), Process: node.Mint(), Logger: node.Log})
		if err != nil {
			node.addFault("database", err)
			return nil
		}
		node.notifier, node.remote = b, b
	}
	return nil
}

func (node *clusterNode) closeNotifier() error {
	if node.redis == nil {
		return nil
	}
	return node.redis.Close()
}

// listenToPeers handles notifications and work calls of other processes until ctx is done.
func (cs *connectionSet) listenToPeers(ctx context.Context, g *errgroup.Group) {
	if cs.remote == nil {
		return
	}
	g.Go(func() error { return cs.remote.Run(ctx) })
	g.Go(func() error { return cs.onNotification(ctx, outboxBell, cs.notifyOwnOutbox) })
	if !cs.Config().HasRole(config.RoleMinds) {
		return
	}
	g.Go(func() error { return cs.reloadMemories(ctx) })
	if cs.redis != nil {
		g.Go(func() error { return cs.redis.Attend(ctx, mindsCall, cs.attendMind) })
		return
	}
	g.Go(func() error {
		return cs.onNotification(ctx, mindsCall, func() {
			select {
			case <-ctx.Done():
			case <-time.After(rand.N(inTurn)):
				cs.shell.Look()
			}
		})
	})
}

// reloadMemories applies changes of memories that other processes stored, until ctx is done.
func (node *clusterNode) reloadMemories(ctx context.Context) error {
	rings, stop := node.notifier.Listen(forgetBell)
	defer stop()
	look := time.NewTicker(reloadInterval)
	defer look.Stop()
	var seen int64
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-rings:
			err = node.shell.Recollect(ctx)
		case <-look.C:
			seen, err = node.shell.RecollectSince(ctx, seen)
		}
		if err != nil && ctx.Err() == nil {
			node.Log.Warn("not recollected; what was forgotten elsewhere is known here until this works", "error", err)
		}
	}
}

// onNotification calls do at each notification of a key, until ctx is done.
func (node *clusterNode) onNotification(ctx context.Context, key string, do func()) error {
	rings, stop := node.notifier.Listen(key)
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

// sendWorkCalls asks processes with room to run minds: one of them where calls are distributed,
// else the first to claim.
func (node *clusterNode) sendWorkCalls(ws []spaces.PendingWork) {
	switch others := node.remote.(type) {
	case *redis.Client:
		callEach(others, ws)
	case *pgnotify.PostgresNotifier:
		if len(ws) > 0 {
			others.RingOthers(mindsCall)
		}
	}
}

// notifyAccount notifies the connection of an account, in any process, that its outbox may have
// changed.
func (cs *connectionSet) notifyAccount(account string) {
	switch out := cs.egress(account); {
	case out != nil:
		out.Ring()
	case cs.remote != nil:
		cs.remote.Ring(outboxBell)
	}
}

// emptiedLately observes that Redis was emptied within the last minute: the problem
// closes by itself after that.
func emptiedLately(at, now time.Time) []alerts.Observation {
	if at.IsZero() || now.Sub(at) > time.Minute {
		return nil
	}
	evidence := fmt.Sprintf("found empty at %s, by FLUSHALL or because it came back without its data; what Trestle keeps there was made anew, and nothing is lost", textout.FormatTime(at))
	return []alerts.Observation{{Code: alerts.Emptied, Subject: "redis", Evidence: evidence}}
}

// probeNotifier observes whether notifications between processes are delivered.
func (node *clusterNode) probeNotifier() alerts.ConditionProbe {
	return alerts.ConditionProbe{
		Codes: []alerts.ProblemCode{alerts.NoBells, alerts.NoNotices, alerts.Emptied},
		See: func(context.Context) ([]alerts.Observation, error) {
			if node.remote == nil {
				return nil, nil
			}
			_, why := node.remote.Trouble()
			switch {
			case why == nil && node.redis != nil:
				return emptiedLately(node.redis.Emptied(), time.Now()), nil
			case why == nil:
				return nil, nil
			case node.redis != nil:
				return []alerts.Observation{{Code: alerts.NoBells, Subject: "redis", Evidence: why.Error()}}, nil
			}
			return []alerts.Observation{{Code: alerts.NoNotices, Subject: "database", Evidence: why.Error()}}, nil
		},
	}
}
