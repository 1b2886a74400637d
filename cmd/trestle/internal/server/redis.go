package server

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/redis"
	"github.com/trestle-bridge/trestle/spaces"
)

// wakeNote is a mind with something to look at, as processes tell one another of it.
type wakeNote struct {
	Mind  spaces.Mind    `json:"mind"`
	Space spaces.SpaceID `json:"space"`
}

// callEach sends a work call for each mind.
func callEach(others pubsub.WorkDispatcher, ws []spaces.PendingWork) {
	for _, w := range ws {
		note, err := json.Marshal(wakeNote{w.Mind, w.Space})
		if err != nil {
			panic("trestle: a mind has no JSON: " + err.Error())
		}
		others.Call(mindsCall, string(note))
	}
}

// attendMind handles a work call for a mind: the shell of this process runs it if the store
// still has work for it. It returns with the commit of the cycle.
func (as *agentSet) attendMind(ctx context.Context, note string) error {
	var m wakeNote
	if err := json.Unmarshal([]byte(note), &m); err != nil {
		return fmt.Errorf("read call: %w", err)
	}
	return as.shell.Serve(ctx, spaces.PendingWork{Mind: m.Mind, Space: m.Space})
}

// clusterBus publishes live events to this process and to others.
type clusterBus struct{ node *clusterNode }

// Publish implements [notify.Publisher].
func (s clusterBus) Publish(kind, content string, metadata map[string]any, at time.Time) {
	s.node.Bus.Publish(kind, content, metadata, at)
	if s.node.redis != nil {
		s.node.redis.Show(pubsub.LiveEvent{Type: kind, Content: content, Metadata: metadata, At: at})
	}
}

// redisComponents returns the state of the Redis server, if one is configured.
func (node *clusterNode) redisComponents() []console.Component {
	if node.redis == nil {
		return nil
	}
	x := console.Component{Name: "redis", Kind: "redis", State: "connected", Healthy: true}
	if since, why := node.redis.Trouble(); why != nil {
		x.State, x.Healthy, x.Reason, x.Since = "lost", false, why.Error(), OptionalTime(since)
	}
	return []console.Component{x}
}

// examineRedis sends a ping to the configured server.
func (x *examination) examineRedis(ctx context.Context) []adapters.AccountDiagnosis {
	client, err := redis.Open(redis.Options{URL: string(x.conf.Redis), Process: "doctor"})
	if err == nil {
		err = client.Ping(ctx)
		_ = client.Close() // it was only asked
	}
	if err != nil {
		return []adapters.AccountDiagnosis{doctor.Warn("TRS-R12", "redis cannot be used: "+err.Error(), "see that the server runs and that the address and the password are right; nothing is lost meanwhile")}
	}
	return []adapters.AccountDiagnosis{doctor.Fine("answers, and takes what it is told")}
}
