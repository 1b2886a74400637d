package shell

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

// A WakePreview asks what a mind would be shown if one message woke it, the mind
// having seen all that was said before. Nothing is claimed, stored or asked.
type WakePreview struct {
	Mind  spaces.Mind
	Space spaces.SpaceID
	// Message is a message in the space.
	Message spaces.MessageRef
	// Tokens bound all that comes from conversations: keyframe, turns and recalled
	// lines, with their headers.
	Tokens int
	// Weights are those of relevance. Default: those of every frame.
	Weights *recall.RankWeights
	// AsRunning divides the tokens as a running program does whose budget they are: by the
	// settings of the context's marks and of recalled lines. Otherwise most are for recalled
	// lines.
	AsRunning bool
}

// A PreviewFrame is the frame that a message would cause.
type PreviewFrame struct {
	Frame  []hud.FrameMessage
	Tokens int // exact, of what comes from conversations
	Fixed  int // of the system text, the tools and the words of the phase
	Plain  int // of the shown lines as bare ones: who, a colon, the words
	Heads  int // of Tokens, those of headings that stand once a frame or a room
	// Took is how long the frame took, apart from its keyframe: that is cut between
	// cycles.
	Took time.Duration
	// Shown names the messages whose words stand whole in the frame, by where they
	// stand on their platform; each once, in no particular order.
	Shown []spaces.MessageRef
}

// ErrNoMessage is returned by [Shell.Preview] when the message is not in the log
// of a space that the mind is connected to.
var ErrNoMessage = errors.New("no such message before this mind")

// keyframeShare is the part of the bound, in percent, that a preview that is not as running
// gives the keyframe: the newest lines, for continuity (CONTEXT 1.1). The rest is recalled.
const keyframeShare = 14

// Preview renders the frame. It may be called beside running cycles.
func (s *Shell) Preview(ctx context.Context, p WakePreview) (PreviewFrame, error) {
	m := s.minds.get(p.Mind)
	if err := m.refresh(ctx, p.Space); err != nil {
		return PreviewFrame{}, fmt.Errorf("preview for %s: %w", p.Mind, err)
	}
	settings := s.Settings(p.Mind.Agent, p.Space)
	if err := m.history(ctx, settings.SpansShown); err != nil {
		return PreviewFrame{}, fmt.Errorf("preview for %s: %w", p.Mind, err)
	}
	agent := s.agent(p.Mind.Agent)
	c := &cycle{
		shell: s, mind: m, phase: spaces.Engagement, cycleConfig: cycleConfig{agent: agent, settings: agent.fit(settings), system: s.prompt(agent, settings, false), tools: s.catalogueOf(p.Mind.Agent), active: p.Space},
		wake: &spaces.Wake{Cycle: spaces.Cycle{Mind: p.Mind, Space: p.Space, Base: math.MaxInt64}},
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return c.preview(p)
}

// preview renders the frame. The mind's lock is held.
func (c *cycle) preview(p WakePreview) (PreviewFrame, error) {
	v := c.mind.view(c)
	v.Seats, v.Weights = slices.Clone(v.Seats), p.Weights
	seat := v.Seat(p.Space)
	if seat == nil {
		return PreviewFrame{}, ErrNoMessage
	}
	trigger := seat.Room.Chat.About(spaces.MessagePinned{Ref: p.Message})
	if trigger == nil {
		return PreviewFrame{}, ErrNoMessage
	}
	for i := range v.Seats {
		v.Seats[i].Uplink.Cursor = v.Seats[i].Room.Upto()
	}
	seat.Uplink.Cursor = trigger.Seq - 1
	in := hud.TailInput{Now: trigger.At, Phase: c.phaseText(), Options: c.options()}
	words := v.Counter.MessageTokens(v.Tail(in).Text)
	v.Limits.MaxLogTokens = p.Tokens + words
	v.Limits.ContextTokens = p.Tokens + words + v.FixedTokens + v.Limits.MaxOutputTokens
	if !p.AsRunning {
		v.Limits.HighWater, v.Limits.LowWater = 100, keyframeShare
	}
	if cause, due := v.NeedsCut(words); due {
		k, _ := v.Cut(cause)
		k.At = trigger.At
		v.Keyframe = &k
		v.Closed = slices.DeleteFunc(slices.Clone(v.Closed), func(x spaces.ClosedCycle) bool { return x.N <= k.Upto })
	}
	began := time.Now()
	turn := v.Inbox(seat, trigger.Seq-1, trigger.Seq, map[spaces.EventID]string{trigger.ID: "preview"}, trigger.At)
	v.Current = []spaces.TranscriptTurn{turn}
	look, looks := hud.NewLookBack(v, trigger.Text)
	if looks {
		in.Counts = look.Counts()
	}
	switch {
	case p.AsRunning:
		in.Recalled = recalledLines(c, v, in, trigger.Text, look, looks)
	case looks:
		in.Recalled = look.Lines(look.Spare(in))
	default:
		in.Recalled = v.Recall(trigger.Text, p.Tokens-v.Count())
	}
	tail := v.Tail(in)
	frame, err := v.Frame(tail)
	if err != nil {
		return PreviewFrame{}, fmt.Errorf("preview for %s: %w", p.Mind, err)
	}
	took := time.Since(began)
	v.Counter.Exactly(&frame)
	fixed := v.FixedTokens + words
	done := PreviewFrame{Frame: frame.Messages(), Tokens: frame.Tokens - fixed, Fixed: fixed, Took: took}
	whole := v.ShownWhole(&frame, tail)
	done.Plain, done.Heads = v.PlainTokens(whole), v.HeadTokens(&frame, tail)
	for _, m := range whole {
		if m.ID != trigger.ID && len(m.Refs) > 0 {
			done.Shown = append(done.Shown, m.Refs[0])
		}
	}
	return done, nil
}
