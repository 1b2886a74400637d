package shell

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// goAhead is the only user message of a composition (GTS-03, GTS-14).
const goAhead = "Go ahead."

// A composePrompt is what the words for another room are composed from (GTS-41).
type composePrompt struct {
	Agent, Entity    string
	Persona          string
	Origin           *hud.RoomExcerpt // nil when the agent comes from nowhere
	Target           hud.RoomExcerpt
	Instruction, Why string
	told             *prompts.PromptSet // nil: what is built in
}

// String returns the system message: where the agent was, where it is, what to do
// (GTS-06, GTS-33).
func (b composePrompt) String() string {
	return strings.TrimSpace(cmp.Or(b.told, prompts.BuiltIn()).Expand("compose", b))
}

// composeAll has the words made for those acts of a step that say what to say and
// not how: one more call each, of a frame that holds the two rooms alone (GTS-04).
// What could not be composed, or not be paid for, is refused when the act is performed.
func (c *cycle) composeAll(ctx context.Context, st *stepContext, acts []parsedCall) error {
	for _, a := range acts {
		b, wanted := c.brief(st, a)
		if !wanted || c.spoke+len(st.composed) >= c.maxRoomActs() {
			continue
		}
		spent, _, err := c.overdrawn(ctx)
		if err != nil {
			return fmt.Errorf("compose: %w", err)
		}
		if spent != "" { // which ends the cycle before its next call
			c.log.Warn("words not composed", "detail", spent)
			return nil
		}
		made, err := c.compose(ctx, b)
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("compose: %w", err)
		}
		if err != nil {
			c.log.Warn("words not composed", "kind", llm.KindOf(err).String(), "error", err)
		}
		st.composed[a.ID] = made
	}
	return nil
}

// brief returns what an act's words are composed from, and whether they are to be.
func (c *cycle) brief(st *stepContext, a parsedCall) (b composePrompt, wanted bool) {
	act, ok := a.deed.(sendMessage)
	if !ok || !act.composes() || c.done[doneIn(st.active, a.key)] {
		return b, false
	}
	c.mind.mu.Lock()
	defer c.mind.mu.Unlock()
	target := st.seat(act.Space)
	if target == nil || target.Uplink.Space == st.active || target.Uplink.Muted(st.now) || c.without(a.spec, target.Uplink.Space) {
		return b, false // refused below, in words
	}
	origin := st.view.Seat(st.wake.Cycle.Space)
	if origin == nil || origin == target {
		origin = st.view.Seat(st.active)
	}
	b = composePrompt{told: c.system.set, Agent: c.agent.Name, Entity: string(c.agent.ID.Entity()), Persona: c.agent.Persona, Instruction: strings.TrimSpace(act.Instruction), Why: strings.TrimSpace(act.Why)}
	budget := c.settings.ContextTokens/2 - hud.Bound(b.String())
	b.Origin, b.Target = st.view.Compose(origin, target, c.settings.Histories, budget)
	return b, true
}

// composedText is what was made for a call that asked for words, and what that took.
type composedText struct {
	words string // empty: they could not be made
	took  time.Duration
	usage spaces.TokenUsage
}

// compose asks for the words.
func (c *cycle) compose(ctx context.Context, b composePrompt) (composedText, error) {
	system, began := b.String(), c.shell.Now()
	res, err := llm.GenerateBounded(ctx, c.agent.Model, llm.ModelRequest{
		Model: c.settings.ModelName, NoCalls: true, MaxOutput: c.settings.MaxOutput, CacheKey: c.mind.id.String(),
		Messages: []llm.TranscriptMessage{{Role: llm.System, Text: system}, {Role: llm.User, Text: goAhead}},
	})
	u := c.agent.usage(cmp.Or(res.Model, c.settings.ModelName), res.Usage)
	u.Estimated = hud.Bound(system)
	c.usage, c.unsaved = c.usage.Add(u), c.unsaved.Add(u)
	if brokenOff(res.Finish) {
		res.Text = "" // half a message is not sent
	}
	return composedText{strings.TrimSpace(res.Text), c.shell.Now().Sub(began), u}, err
}

// composes reports whether the words of the message are still to be made.
func (a sendMessage) composes() bool { return a.Text == "" && strings.TrimSpace(a.Instruction) != "" }

// words returns what the message says: its text, or what was composed after its
// instruction.
func (a sendMessage) words(s *stepContext, room *hud.SharedRoom) (string, toolResult) {
	switch {
	case a.Text != "" && a.Instruction != "":
		return "", s.deny("text_and_instruction", "A message has a text or an instruction.", "Leave one out.")
	case !a.composes():
		return s.speech(room, a.Text)
	case room.ID() == s.active:
		return "", s.deny("instruction_here", "You are in that space: you know how to say it.", "Use text.")
	}
	words := s.composed[s.call].words
	if words == "" {
		return "", s.deny("not_composed", "The words could not be made.", "Say them yourself: use text.")
	}
	return s.speech(room, words)
}
