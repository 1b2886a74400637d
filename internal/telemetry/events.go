package telemetry

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/spaces"
)

// mostWatched bounds the runs and the deliveries that are remembered.
const mostWatched = 10_000

// An eventFollower makes counts and traces of live events. It is one goroutine's.
type eventFollower struct {
	counts *counts
	traces *traces // nil when there are none
	runs   map[string]*watched
	sent   map[string]sent // by action
}

// watched is what the live events have told of a run so far.
type watched struct {
	began    time.Time
	agent    string
	thinking map[int]time.Time // by step: when the model was asked
	tools    []tool
}

// tool is one act of an agent while it was carried out.
type tool struct {
	name, call string
	step       int
	from, to   time.Time
	ok         bool
}

// sent is what became of an action.
type sent struct {
	at   time.Time
	code string // why it failed; empty when it did not
}

// take takes in one live event.
func (f *eventFollower) take(ctx context.Context, e pubsub.LiveEvent) {
	switch e.Type {
	case pubsub.Skipped:
		n, _ := e.Metadata["count"].(int)
		f.counts.skipped.Add(float64(max(n, 1)))
		clear(f.runs) // what was begun may have ended unseen
	case "hud_rendered":
		f.counts.frame.Observe(float64(number(e, "tokens")))
	case "tool_permission_denied":
		f.counts.denials.WithLabelValues(text(e, "code")).Inc()
	case "phrase_said":
		f.counts.phrases.WithLabelValues(text(e, "agent"), e.Content).Inc()
	case "delivery_sent":
		f.counts.deliveries.WithLabelValues("sent").Inc()
		f.keep(ctx, text(e, "action"), sent{at: e.At})
	case "delivery_failed":
		f.counts.deliveries.WithLabelValues(text(e, "state")).Inc()
		f.keep(ctx, text(e, "action"), sent{at: e.At, code: text(e, "code")})
	case "agent_assigned":
		if len(f.runs) < mostWatched {
			f.runs[text(e, "cycle")] = &watched{began: e.At, agent: e.Content, thinking: map[int]time.Time{}}
		}
	case "agent_thinking", "tool_executing", "tool_result":
		if w := f.runs[text(e, "cycle")]; w != nil {
			w.take(e)
		}
	case "mission_stop":
		f.ended(ctx, e)
	}
}

// take takes in what happens within a run.
func (w *watched) take(e pubsub.LiveEvent) {
	step := number(e, "step")
	switch e.Type {
	case "agent_thinking":
		w.thinking[step] = e.At
	case "tool_executing":
		w.tools = append(w.tools, tool{name: e.Content, call: text(e, "call"), step: step, from: e.At})
	case "tool_result":
		for i := range w.tools {
			if t := &w.tools[i]; t.to.IsZero() && t.call == text(e, "call") && t.step == step {
				t.to = e.At
				t.ok, _ = e.Metadata["ok"].(bool)
			}
		}
	}
}

// ended counts a run that has ended, and traces it.
func (f *eventFollower) ended(ctx context.Context, e pubsub.LiveEvent) {
	id := text(e, "cycle")
	w := f.runs[id]
	delete(f.runs, id)
	if w == nil {
		w = &watched{}
	}
	f.counts.cycles.WithLabelValues(w.agent, e.Content).Inc()
	if !w.began.IsZero() {
		f.counts.cycleTime.WithLabelValues(w.agent).Observe(e.At.Sub(w.began).Seconds())
	}
	if f.traces != nil {
		f.traces.run(ctx, spaces.CycleID(id), w, f.sent)
	}
}

// keep remembers what became of an action for the span of its run, or tells it
// at once when that span is there already.
func (f *eventFollower) keep(ctx context.Context, action string, s sent) {
	if f.traces == nil || f.traces.delivered(ctx, action, s) {
		return
	}
	if len(f.sent) >= mostWatched {
		clear(f.sent)
	}
	f.sent[action] = s
}

func text(e pubsub.LiveEvent, name string) string {
	s, _ := e.Metadata[name].(string)
	return s
}

func number(e pubsub.LiveEvent, name string) int {
	n, _ := e.Metadata[name].(int)
	return n
}
