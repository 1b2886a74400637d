package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/notify"
	"github.com/trestle-bridge/trestle/internal/notify/redis"
	"github.com/trestle-bridge/trestle/internal/problems"
	"github.com/trestle-bridge/trestle/spaces"
)

// What is rung and called for between processes.
const (
	outboxBell = "outbox" // an outbox may have something new
	mindsCall  = "minds"  // a mind has something to look at
)

// bells ring in this process, and in others where there is a Redis.
type bells interface {
	notify.Ringer
	notify.Listener
}

// openRedis joins the bells with those of other processes, where a Redis is
// configured. Whether it answers is not asked: the program runs without it.
func (s *process) openRedis() {
	url := string(s.config().Redis)
	if url == "" {
		return
	}
	c, err := redis.Open(redis.Options{URL: url, Process: s.mint(), Heard: s.bus.Relay, Logger: s.log})
	if err != nil {
		s.misfit("redis", err)
		return
	}
	s.bells, s.far = c, c
}

func (s *process) closeRedis() error {
	if s.far == nil {
		return nil
	}
	return s.far.Close()
}

// hearOthers serves what other processes ring and call for, until ctx is done.
func (s *process) hearOthers(ctx context.Context, g *errgroup.Group) {
	if s.far == nil {
		return
	}
	g.Go(func() error { return s.far.Run(ctx) })
	g.Go(func() error { return s.far.Attend(ctx, mindsCall, s.attendMind) })
	g.Go(func() error {
		rings, stop := s.bells.Listen(outboxBell)
		defer stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-rings:
				s.ringOwnLines()
			}
		}
	})
}

// aMind is a mind with something to look at, as processes tell one another of it.
type aMind struct {
	Mind  spaces.Mind    `json:"mind"`
	Space spaces.SpaceID `json:"space"`
}

// callForMinds lets any process that has room look after minds.
func (p *parts) callForMinds(ws []spaces.Waiting) {
	if p.far == nil {
		return
	}
	for _, w := range ws {
		note, err := json.Marshal(aMind{w.Mind, w.Space})
		if err != nil {
			panic("trestle: a mind has no JSON: " + err.Error())
		}
		p.far.Call(mindsCall, string(note))
	}
}

// attendMind answers a call for a mind: this process's shell looks after it. The
// record says whether there is still something to do, and who does it.
func (s *process) attendMind(_ context.Context, note string) error {
	var m aMind
	if err := json.Unmarshal([]byte(note), &m); err != nil {
		return fmt.Errorf("read call: %w", err)
	}
	s.shell.Ring([]spaces.Waiting{{Mind: m.Mind, Space: m.Space}})
	return nil
}

// ringAccount tells the line of an account, in whichever process it is, that its
// outbox has something new.
func (p *parts) ringAccount(account string) {
	switch out := p.egress(account); {
	case out != nil:
		out.Ring()
	case p.far != nil:
		p.far.Ring(outboxBell)
	}
}

// shown publishes what happens in this process, here and in others.
type shown struct{ p *parts }

// Publish implements [notify.Publisher].
func (s shown) Publish(kind, content string, metadata map[string]any, at time.Time) {
	s.p.bus.Publish(kind, content, metadata, at)
	if s.p.far != nil {
		s.p.far.Show(notify.Event{Type: kind, Content: content, Metadata: metadata, At: at})
	}
}

// lookAtRedis sees whether the server carries what processes tell one another.
func (s *process) lookAtRedis() problems.Look {
	return problems.Look{
		Codes: []problems.Code{problems.NoBells},
		See: func(context.Context) ([]problems.Sighting, error) {
			if s.far == nil {
				return nil, nil
			}
			if _, why := s.far.Trouble(); why != nil {
				return []problems.Sighting{{Code: problems.NoBells, Subject: "redis", Evidence: why.Error()}}, nil
			}
			return nil, nil
		},
	}
}

// redisExtensions says how the server is, where there is one.
func (s *process) redisExtensions() []extension {
	if s.far == nil {
		return nil
	}
	x := extension{Name: "redis", Kind: "redis", State: "connected", Healthy: true}
	if since, why := s.far.Trouble(); why != nil {
		x.State, x.Healthy, x.Reason, x.Since = "lost", false, why.Error(), stamp(since)
	}
	return []extension{x}
}

// examineRedis asks the configured server for real.
func (x *examination) examineRedis(ctx context.Context) []adapters.Finding {
	return []adapters.Finding{redisFinding(ctx, x.conf)}
}

func redisFinding(ctx context.Context, c *config.Config) adapters.Finding {
	client, err := redis.Open(redis.Options{URL: string(c.Redis), Process: "doctor"})
	if err == nil {
		err = client.Ping(ctx)
		_ = client.Close() // it was only asked
	}
	if err != nil {
		return doctor.Warn("TRS-R12", "redis cannot be used: "+err.Error(), "see that the server runs and that the address and the password are right; nothing is lost meanwhile")
	}
	return doctor.Fine("answers, and takes what it is told")
}
