package console

import (
	"context"
	"log/slog"
	"time"

	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/spaces"
)

// A LiveEventSource tells as live events what the record learns of connections, deliveries
// and missions: span_opened, span_closed, delivery_sent, delivery_failed,
// mission_state_change and mission_task_state_change. It reads what is committed, so that nothing is told that did not
// happen and nothing twice.
type LiveEventSource struct {
	Reader   ActivityReader
	Missions MoveReader
	Bus      pubsub.EventPublisher
	Logger   *slog.Logger
	// Every is how often it looks. Default: 500 ms.
	Every time.Duration
}

// narrated is how many events are read at once.
const narrated = 500

// Run tells what happens from now on until ctx is done. A record that does not
// answer is asked again.
func (n *LiveEventSource) Run(ctx context.Context) error {
	every := n.Every
	if every == 0 {
		every = 500 * time.Millisecond
	}
	look := time.NewTicker(every)
	defer look.Stop()
	at, moved, troubled := int64(-1), int64(-1), false
	for {
		next, err := n.tell(ctx, at)
		if err == nil {
			moved, err = n.tellMoves(ctx, moved)
		}
		if err != nil && ctx.Err() == nil && !troubled {
			n.Logger.Warn("what happens is not told live", "error", err)
		}
		at, troubled = next, err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
	}
}

// tell tells what has happened behind a place and returns the place it came to.
func (n *LiveEventSource) tell(ctx context.Context, at int64) (int64, error) {
	for {
		events, next, err := n.Reader.Happened(ctx, at, narrated)
		if err != nil {
			return at, err
		}
		for _, e := range events {
			n.publish(e)
		}
		if at = next; len(events) < narrated {
			return at, nil
		}
	}
}

// tellMoves tells what missions have done behind a place and returns the place it came to.
func (n *LiveEventSource) tellMoves(ctx context.Context, at int64) (int64, error) {
	for {
		moves, next, err := n.Missions.Moved(ctx, at, narrated)
		if err != nil {
			return at, err
		}
		for _, m := range moves {
			v, kind := m.Move, "mission_state_change"
			facts := map[string]any{"mission": string(m.Mission), "space": string(m.Space), "from": v.From, "to": v.To, "by": string(v.By), "reason": v.Why, "stop": string(v.Stop)}
			if v.Task > 0 {
				kind = "mission_task_state_change"
				facts["task"], facts["agent"] = v.Task, string(v.Agent)
			}
			if v.Checkpoint > 0 {
				facts["checkpoint"] = v.Checkpoint
			}
			n.Bus.Publish(kind, v.To, facts, v.At)
		}
		if at = next; len(moves) < narrated {
			return at, nil
		}
	}
}

func (n *LiveEventSource) publish(e spaces.Event) {
	facts := map[string]any{"space": string(e.Space), "event": string(e.ID)}
	if s, ok := e.Body.(spaces.SpanChanged); ok {
		kind := map[string]string{"opened": "span_opened", "closed": "span_closed"}[s.What]
		if kind == "" {
			return // a checkpoint
		}
		facts["space"], facts["span"], facts["seq"] = string(s.Space), s.Span, s.Seq
		if m, ok := spaces.MindAt(e.Space, e.Branch); ok {
			facts["mind"] = m.String()
		}
		n.Bus.Publish(kind, string(s.Reason), facts, e.RecvAt)
		return
	}
	if d, ok := e.Body.(spaces.ActionDelivered); ok {
		facts["message"], facts["action"], facts["parts"] = string(d.Message), string(d.Action), len(d.Refs)
		n.Bus.Publish("delivery_sent", string(d.Message), facts, e.RecvAt)
	}
	if f, ok := e.Body.(spaces.SendFailed); ok {
		facts["message"], facts["action"], facts["code"], facts["state"] = string(f.Message), string(f.Action), f.Code, string(f.State)
		n.Bus.Publish("delivery_failed", f.Reason, facts, e.RecvAt)
	}
}
