package shell

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/spaces"
)

// mostFits is how often a frame is made smaller for one answer.
const mostFits = 6

// ask asks the model. When the endpoint refuses the frame as too long, the model learns
// the window (see [llm.ModelCapability]), and a frame that fits is sent at once.
func (c *cycle) ask(ctx context.Context, noCalls bool) (res llm.ModelResponse, err error) {
	for range mostFits {
		res, err = c.askOnce(ctx, noCalls)
		if err == nil || llm.KindOf(err) != llm.TooLong {
			return res, err
		}
		fitting := c.agent.fit(c.settings)
		if fitting.ContextTokens >= c.settings.ContextTokens {
			return res, err
		}
		c.log.Warn("the prompt is longer than the model's window", "tokens", c.size, "window", fitting.ContextTokens, "error", err)
		c.settings = fitting
	}
	return res, err
}

// fit returns settings that stay within the window that the agent's model is known to
// have.
func (a *Agent) fit(s AgentSettings) AgentSettings {
	if a == nil {
		return s
	}
	if w := llm.CapabilityOf(a.Model, s.ModelName).Window; w > 0 && w < s.ContextTokens {
		s.ContextTokens, s.MaxOutput = w, min(s.MaxOutput, w/4)
	}
	return s
}

// askOnce renders the frame and makes one model call.
func (c *cycle) askOnce(ctx context.Context, noCalls bool) (llm.ModelResponse, error) {
	c.see(ctx)
	shown, lines, tokens := c.pictures()
	sheet := c.shell.sheet()
	defer c.shell.done(sheet)
	if err := c.frame(sheet, lines, tokens); err != nil {
		return llm.ModelResponse{}, &llm.Error{Kind: llm.TooLong, Err: err}
	}
	req := llm.ModelRequest{
		Model: c.settings.ModelName, Messages: sheet.messages, NoCalls: noCalls,
		MaxOutput: c.settings.MaxOutput, Tokens: c.size, CacheKey: c.mind.id.String(),
	}
	req.Messages[len(req.Messages)-1].Pictures = shown // the tail is always there
	if !c.settings.Tags && c.takesTools() {
		req.Tools = c.tools.Tools()
	}
	if c.sketched != nil && !noCalls {
		req.Hear = c.sketched.hear
	}
	c.shell.publish("agent_thinking", string(c.phase), c.facts("step", c.step, "messages", len(req.Messages)))
	if err := failpoint.Point("model.before_call"); err != nil {
		return llm.ModelResponse{}, err
	}
	res, err := c.generate(ctx, req)
	u := c.agent.usage(cmp.Or(res.Model, c.settings.ModelName), res.Usage)
	u.Estimated = c.size
	c.usage, c.unsaved = c.usage.Add(u), c.unsaved.Add(u)
	if err != nil {
		return llm.ModelResponse{}, err
	}
	if len(req.Tools) > 0 && !c.takesTools() {
		c.inWords = true // the endpoint has just refused tools: its words are all that it can answer with
	}
	c.finish, c.standIn, c.thought = string(res.Finish), res.Model, llm.CutText(res.Reasoning, maxThought)
	return res, failpoint.Point("model.after_call")
}

// generate calls the model, and tells people who wait when that takes long. No watch is left
// of a model that panics.
func (c *cycle) generate(ctx context.Context, req llm.ModelRequest) (llm.ModelResponse, error) {
	defer c.watchSlow(ctx)()
	return llm.GenerateBounded(ctx, c.agent.Model, req)
}

// maxThought limits the bytes of reasoning that are kept of one step.
const maxThought = 16 << 10

// takesTools reports whether the agent's model may be offered tools, as far as is known.
func (c *cycle) takesTools() bool {
	return llm.CapabilityOf(c.agent.Model, c.settings.ModelName).TakesTools()
}

// frame renders what the model sees now, beside pictures that take some tokens.
func (c *cycle) frame(onto *requestBuffer, pictures []hud.ImageRef, tokens int) error {
	m := c.mind
	m.mu.Lock()
	defer m.mu.Unlock()
	c.unsay()
	v := m.view(c)
	defer m.across(v)()
	v.Current = append(slices.Clip(c.turns), c.pending...)
	v.FixedTokens += tokens
	c.learnAsked()
	v.Asked = c.meaning
	in := hud.TailInput{Now: c.shell.Now(), Phase: c.phaseText(), Options: c.options(), Failures: c.failures, Pictures: pictures, Runs: m.runs(c), Waits: m.waits}
	c.recall(v, &in)
	in.SetUp, in.List, in.Missions = c.onboard(v), c.checklistSection(v), c.missionSection(v)
	v.FixedTokens += c.setUp.tokens
	tail := v.Tail(in)
	frame, err := v.Frame(tail)
	if err != nil {
		return fmt.Errorf("frame of %s: %w", m.id, err)
	}
	c.size, c.shown, c.request = frame.Tokens, shown(v, tail, &frame), m.hasher.Hash(&frame)
	plan, err := json.Marshal(frame.Plan)
	if err != nil {
		panic("shell: frame plan does not marshal: " + err.Error())
	}
	c.plan = plan
	c.shell.publish("hud_rendered", string(c.phase), c.facts("step", c.step, "tokens", frame.Tokens, "budget", frame.Plan.Budget, "recalled", len(in.Recalled)))
	if freed := frame.Plan.Freed(); freed > 0 {
		c.shell.publish("context_compacted", hud.CutFrame, c.facts("before", frame.Tokens+freed, "after", frame.Tokens, "freed", freed, "cycles", 0))
	}
	c.tellLayers(v, &frame)
	onto.write(&frame)
	return nil
}

// recall chooses the old lines that the frame shows. Words that look back at old talk have
// what is left of the budget but for a part, which the cycle's own turns may take; where no
// line may be recalled they have none either. The mind's lock is held.
func (c *cycle) recall(v *hud.MindView, in *hud.TailInput) {
	words := c.query()
	look, looks := hud.NewLookBack(v, words)
	if looks {
		in.Counts = look.Counts()
	}
	if c.recalled == nil {
		c.recalled = append([]hud.RecalledLine{}, recalledLines(c, v, *in, words, look, looks)...)
	}
	in.Recalled = c.recalled
}

// recalledLines returns the old lines that answer the words, or that they look back at.
func recalledLines(c *cycle, v *hud.MindView, in hud.TailInput, words string, look *hud.LookBack, looks bool) []hud.RecalledLine {
	switch tokens := c.settings.RecallTokens; {
	case looks && tokens > 0:
		return look.Lines(max(tokens, look.Spare(in)-v.Budget()/spareForTurns))
	case !looks && (words == "" || !greetings.tellsNothing(words, c.members())):
		return v.Recall(words, tokens)
	}
	return nil
}

// spareForTurns is the part of the budget that a look back leaves free.
const spareForTurns = 10

// shown returns what the frame was made of.
func shown(v *hud.MindView, tail hud.FrameTail, f *hud.Frame) *spaces.FrameSources {
	s := &spaces.FrameSources{System: v.System, Turns: len(v.Current), Tail: tail.String(), Refs: f.Refs()}
	if v.Keyframe != nil {
		s.Keyframe = v.Keyframe.N
	}
	if len(f.Plan.Shed) == 0 {
		return s
	}
	for _, m := range f.Messages()[1:] {
		s.Whole = append(s.Whole, spaces.TranscriptTurn{Role: m.Role, Text: m.Text, Calls: m.Calls, CallID: m.CallID})
	}
	return s
}

// members returns who is in the room that woke the cycle. m.mu is held.
func (c *cycle) members() []spaces.SpaceMember {
	if seat := c.mind.seat(c.wake.Cycle.Space); seat != nil {
		return seat.Room.Members()
	}
	return nil
}

// query returns the words that old lines are recalled by: what woke the cycle.
func (c *cycle) query() string {
	var words []string
	for _, e := range c.wake.Events {
		if said, ok := e.Body.(spaces.MessagePosted); ok {
			words = append(words, said.Text)
		}
	}
	if t := c.wake.Timer; t != nil && t.Kind == spaces.TimerTask {
		words = append(words, c.taskWords())
	} else if t != nil {
		words = append(words, t.Note)
	}
	return strings.Join(words, "\n")
}

func (c *cycle) phaseText() string {
	text := c.system.set.Phase(string(c.phase))
	if !c.thinksFirst() {
		text = c.system.set.Phase("one")
	}
	if c.wake.Task.Task > 0 {
		text = taskPhase
	}
	if c.settings.Tags && c.phase == spaces.Engagement {
		text += "\nActs need k=\"" + c.nonce + "\": <msg k=\"" + c.nonce + "\">…</msg>"
	}
	return text
}

// runs lists the mind's other open cycles (BLU-44). m.mu is held.
func (m *mind) runs(c *cycle) []hud.OpenCycle {
	var runs []hud.OpenCycle
	for id, space := range m.open {
		if id != c.wake.Cycle.ID {
			runs = append(runs, hud.OpenCycle{Cycle: id, Status: spaces.Engaging, Wake: "inbox", Space: space, Active: space})
		}
	}
	slices.SortFunc(runs, func(a, b hud.OpenCycle) int { return cmp.Compare(a.Cycle, b.Cycle) })
	return runs
}

// A requestBuffer is a reusable slice of messages for one model call.
type requestBuffer struct {
	messages []llm.TranscriptMessage
	calls    []llm.ToolCall // of all messages
}

// sheet returns an empty buffer. It is the caller's until it is returned.
func (s *Shell) sheet() *requestBuffer {
	if used, ok := s.sheets.Get().(*requestBuffer); ok {
		return used
	}
	return &requestBuffer{}
}

// done gives a sheet back, when the model has answered.
func (s *Shell) done(used *requestBuffer) {
	clear(used.messages) // the words may go
	clear(used.calls)
	used.messages, used.calls = used.messages[:0], used.calls[:0]
	s.sheets.Put(used)
}

// write puts a frame on an empty sheet as a request has it.
func (s *requestBuffer) write(f *hud.Frame) {
	s.messages = slices.Grow(s.messages, f.Len())
	for m := range f.All() {
		asked := llm.TranscriptMessage{Role: llm.MessageRole(m.Role), Text: m.Text, CallID: m.CallID}
		if n := len(s.calls); len(m.Calls) > 0 {
			for _, call := range m.Calls {
				s.calls = append(s.calls, llm.ToolCall(call))
			}
			asked.Calls = s.calls[n:len(s.calls):len(s.calls)]
		}
		s.messages = append(s.messages, asked)
	}
}
