package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// StoryReader is what a narrator reads. Its promises are those of [console.Store]
// and of the shell's record.
type StoryReader interface {
	Rooms(ctx context.Context) ([]console.Room, error)
	Run(ctx context.Context, id string) (console.Run, error)
	Events(ctx context.Context, space spaces.SpaceID, branch spaces.BranchID, after int64, limit int) ([]spaces.Event, error)
}

// A Narrator tells what the agents do, as the record has it.
type Narrator struct {
	Record StoryReader
	Live   pubsub.LiveStream
	Tell   LinePrinter
}

// Run tells of every cycle that ends until ctx is done.
func (n *Narrator) Run(ctx context.Context) error {
	for {
		e, err := n.Live.Next(ctx)
		if err != nil {
			return nil //nolint:nilerr // it fails only when ctx is done
		}
		id, ok := e.Metadata["cycle"].(string)
		if e.Type != "mission_stop" || !ok {
			continue
		}
		if err := n.tellRun(ctx, id); err != nil && ctx.Err() == nil {
			return fmt.Errorf("tell of run %s: %w", id, err)
		}
	}
}

func (n *Narrator) tellRun(ctx context.Context, id string) error {
	run, err := n.Record.Run(ctx, id)
	if err != nil {
		return err
	}
	names, err := n.names(ctx)
	if err != nil {
		return err
	}
	where := string(run.Cycle.Mind.Agent)
	n.Tell(where, wakes(run, names[run.Cycle.Space]))
	for _, e := range run.Inner {
		if d, ok := e.Body.(spaces.CallDenied); ok {
			n.Tell(where, fmt.Sprintf("DENIED %s for %s: %s", d.Denial.Act, names[run.Cycle.Space], d.Denial.Reason))
		}
	}
	for _, said := range spoken(run) {
		if said.space == run.Cycle.Space {
			n.Tell(names[said.space], fmt.Sprintf("%s: %q", title(where), said.text))
			continue
		}
		n.Tell(where, fmt.Sprintf("carries it to %s (circle %s): %q", names[said.space], run.Cycle.Mind.Circle, said.text))
	}
	return nil
}

// wakes tells of a run in one line: why it began, what it saw, how it ended.
func wakes(run console.Run, room string) string {
	y := run.Cycle
	text := "wakes in " + room + ": " + y.Wake
	var plan hud.FramePlan
	if json.Unmarshal(y.Plan, &plan) == nil && plan.Tokens > 0 {
		text += fmt.Sprintf(" · frame %s tokens", textformat.Thousands(plan.Tokens))
	}
	thinks, steps := 0, 0
	for _, s := range run.Steps {
		if s.Phase == spaces.Contemplation {
			thinks++
		} else {
			steps++
		}
	}
	if thinks > 0 {
		text += " · contemplates"
	}
	return text + fmt.Sprintf(" · %s in %s", y.Stop, textformat.CountNoun(steps, "step"))
}

// words are what an agent said in a room.
type words struct {
	space spaces.SpaceID
	text  string
}

// spoken returns what a run said, once for each room, however many chats it has.
func spoken(run console.Run) []words {
	var all []words
	seen := map[spaces.EventID]bool{}
	for _, a := range run.Actions {
		if a.Kind == spaces.ActSend && !seen[a.Event] {
			seen[a.Event] = true
			all = append(all, words{a.Space, a.Text})
		}
	}
	return all
}

func (n *Narrator) names(ctx context.Context) (map[spaces.SpaceID]string, error) {
	rooms, err := n.Record.Rooms(ctx)
	names := map[spaces.SpaceID]string{}
	for _, r := range rooms {
		names[r.Space.ID] = r.Space.Name
	}
	return names, err
}

// Recovered waits until everything that a cut kept away is in the record, and
// says so in one line, with what the agent's connection span shows of it.
func (n *Narrator) Recovered(ctx context.Context, c PlatformOutage) (string, error) {
	healed := time.Now()
	for {
		found, span, err := n.look(ctx, c)
		if err != nil {
			return "", err
		}
		if found == len(c.Missed) && span != "" {
			return fmt.Sprintf("back after %s · %s missed · all recovered in %s · %s", healed.Sub(c.Began).Round(time.Second),
				textformat.CountNoun(len(c.Missed), "message"), time.Since(healed).Round(100*time.Millisecond), span), nil
		}
		if !wait(ctx, 50*time.Millisecond) {
			return "", context.Cause(ctx)
		}
	}
}

// look counts what a cut kept away and is in the record by now, and describes
// the gap in the connection span of the room's first mind; empty as long as
// there is none.
func (n *Narrator) look(ctx context.Context, c PlatformOutage) (found int, span string, err error) {
	rooms, err := n.Record.Rooms(ctx)
	if err != nil {
		return 0, "", err
	}
	for _, r := range rooms {
		if r.Space.Name != c.Room || len(r.Agents) == 0 {
			continue
		}
		events, err := n.Record.Events(ctx, r.Space.ID, spaces.Primary, 0, 10_000)
		if err != nil {
			return 0, "", err
		}
		for _, e := range events {
			said, ok := e.Body.(spaces.MessagePosted)
			if ok && !e.RecvAt.Before(c.Began) && strings.Contains(strings.Join(c.Missed, "\n"), said.Text) {
				found++
			}
		}
		mind := spaces.Mind{Agent: r.Agents[0], Circle: r.Space.Circle}
		inner, err := n.Record.Events(ctx, mind.Inner(), mind.Branch(), 0, 10_000)
		if err != nil {
			return 0, "", err
		}
		return found, gap(inner, r.Space.ID, c), nil
	}
	return 0, "", nil
}

// gap tells where the span of a space closed and opened again after a cut.
func gap(inner []spaces.Event, space spaces.SpaceID, c PlatformOutage) string {
	var closed *spaces.SpanChanged
	for _, e := range inner {
		s, ok := e.Body.(spaces.SpanChanged)
		if !ok || s.Space != space || e.RecvAt.Before(c.Began) {
			continue
		}
		switch s.What {
		case "closed":
			closed = &s
		case "opened":
			if closed != nil {
				return fmt.Sprintf("span shows the gap: closed after #%d (%s), then open again (%s)", closed.Seq, closed.Reason, s.Reason)
			}
		}
	}
	return ""
}

// title writes an agent's id as its name is written in this demo.
func title(agent string) string { return strings.ToUpper(agent[:1]) + agent[1:] }
