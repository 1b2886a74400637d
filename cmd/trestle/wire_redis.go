package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/notify"
	"github.com/trestle-bridge/trestle/internal/notify/redis"
	"github.com/trestle-bridge/trestle/spaces"
)

// aMind is a mind with something to look at, as processes tell one another of it.
type aMind struct {
	Mind  spaces.Mind    `json:"mind"`
	Space spaces.SpaceID `json:"space"`
}

// callEach lets any process that has room look after minds.
func callEach(others notify.Caller, ws []spaces.Waiting) {
	for _, w := range ws {
		note, err := json.Marshal(aMind{w.Mind, w.Space})
		if err != nil {
			panic("trestle: a mind has no JSON: " + err.Error())
		}
		others.Call(mindsCall, string(note))
	}
}

// attendMind answers a call for a mind: this process's shell looks after it. The
// record says whether there is still something to do, and who does it. The answer is
// over with the commit of the cycle (CON-36).
func (s *process) attendMind(ctx context.Context, note string) error {
	var m aMind
	if err := json.Unmarshal([]byte(note), &m); err != nil {
		return fmt.Errorf("read call: %w", err)
	}
	return s.shell.Serve(ctx, spaces.Waiting{Mind: m.Mind, Space: m.Space})
}

// shown publishes what happens in this process, here and in others.
type shown struct{ p *parts }

// Publish implements [notify.Publisher].
func (s shown) Publish(kind, content string, metadata map[string]any, at time.Time) {
	s.p.bus.Publish(kind, content, metadata, at)
	if s.p.redis != nil {
		s.p.redis.Show(notify.Event{Type: kind, Content: content, Metadata: metadata, At: at})
	}
}

// redisExtensions says how the server is, where there is one.
func (s *process) redisExtensions() []extension {
	if s.redis == nil {
		return nil
	}
	x := extension{Name: "redis", Kind: "redis", State: "connected", Healthy: true}
	if since, why := s.redis.Trouble(); why != nil {
		x.State, x.Healthy, x.Reason, x.Since = "lost", false, why.Error(), stamp(since)
	}
	return []extension{x}
}

// examineRedis asks the configured server for real.
func (x *examination) examineRedis(ctx context.Context) []adapters.Finding {
	client, err := redis.Open(redis.Options{URL: string(x.conf.Redis), Process: "doctor"})
	if err == nil {
		err = client.Ping(ctx)
		_ = client.Close() // it was only asked
	}
	if err != nil {
		return []adapters.Finding{doctor.Warn("TRS-R12", "redis cannot be used: "+err.Error(), "see that the server runs and that the address and the password are right; nothing is lost meanwhile")}
	}
	return []adapters.Finding{doctor.Fine("answers, and takes what it is told")}
}
