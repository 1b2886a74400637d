package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/fault"
	"github.com/trestle-bridge/trestle/internal/model"
	"github.com/trestle-bridge/trestle/spaces"
)

// ask renders the frame and makes one model call.
func (c *cycle) ask(ctx context.Context, noCalls bool) (model.Response, error) {
	c.see(ctx)
	shown, lines, tokens := c.pictures()
	prompt, err := c.frame(lines, tokens)
	if err != nil {
		return model.Response{}, &model.Error{Kind: model.TooLong, Err: err}
	}
	req := model.Request{
		Model: c.settings.ModelName, Messages: prompt, NoCalls: noCalls,
		MaxOutput: c.settings.MaxOutput, CacheKey: c.mind.id.String(),
	}
	req.Messages[len(req.Messages)-1].Pictures = shown // the tail is always there
	if !c.settings.Tags {
		req.Tools = c.shell.catalogue.Tools()
	}
	if c.sketched != nil && !noCalls {
		req.Hear = c.sketched.hear
	}
	c.shell.publish("agent_thinking", string(c.phase), c.facts("step", c.step, "messages", len(req.Messages)))
	if err := fault.Point("model.before_call"); err != nil {
		return model.Response{}, err
	}
	res, err := c.agent.Model.Generate(ctx, req)
	u := spaces.Usage{Prompt: res.Usage.Prompt, Cached: res.Usage.Cached, Output: res.Usage.Output, Estimated: c.size, Calls: 1}
	c.usage, c.unsaved = c.usage.Add(u), c.unsaved.Add(u)
	if err != nil {
		return model.Response{}, err
	}
	c.finish = string(res.Finish)
	return res, fault.Point("model.after_call")
}

// frame renders what the model sees now, beside pictures that take some tokens.
func (c *cycle) frame(pictures []hud.Pictured, tokens int) ([]model.Message, error) {
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
	if c.recalled == nil {
		c.recalled = append([]hud.Recalled{}, v.Recall(c.query(), c.settings.RecallTokens)...)
	}
	in.Recalled = c.recalled
	in.SetUp = c.onboard(v)
	tail := v.Tail(in)
	frame, err := v.Frame(tail)
	if err != nil {
		return nil, fmt.Errorf("frame of %s: %w", m.id, err)
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
	return messages(&frame), nil
}

// shown returns what the frame was made of.
func shown(v *hud.View, tail hud.Tail, f *hud.Frame) *spaces.Shown {
	s := &spaces.Shown{System: v.System, Turns: len(v.Current), Tail: tail.String(), Refs: tail.Refs}
	if v.Keyframe != nil {
		s.Keyframe = v.Keyframe.N
	}
	if len(f.Plan.Shed) == 0 {
		return s
	}
	for _, m := range f.Messages()[1:] {
		s.Whole = append(s.Whole, spaces.Turn{Role: m.Role, Text: m.Text, Calls: m.Calls, CallID: m.CallID})
	}
	return s
}

// query returns the words that old lines are recalled by: what woke the cycle.
func (c *cycle) query() string {
	var words []string
	for _, e := range c.wake.Events {
		if said, ok := e.Body.(spaces.Said); ok {
			words = append(words, said.Text)
		}
	}
	if c.wake.Timer != nil {
		words = append(words, c.wake.Timer.Note)
	}
	return strings.Join(words, "\n")
}

func (c *cycle) phaseText() string {
	text := phases[string(c.phase)]
	if c.settings.OnePhase {
		text = phases["one"]
	}
	if c.settings.Tags && c.phase == spaces.Engagement {
		text += "\nActs need k=\"" + c.nonce + "\": <msg k=\"" + c.nonce + "\">…</msg>"
	}
	return text
}

// runs lists the mind's other open cycles (BLU-44). m.mu is held.
func (m *mind) runs(c *cycle) []hud.Run {
	var runs []hud.Run
	for id, space := range m.open {
		if id != c.wake.Cycle.ID {
			runs = append(runs, hud.Run{Cycle: id, Status: spaces.Engaging, Wake: "inbox", Space: space, Active: space})
		}
	}
	sortRuns(runs)
	return runs
}

// messages returns a frame as a request has it.
func messages(f *hud.Frame) []model.Message {
	calls := 0
	for m := range f.All() {
		calls += len(m.Calls)
	}
	out, all := make([]model.Message, 0, f.Len()), make([]model.Call, 0, calls)
	for m := range f.All() {
		from := len(all)
		for _, call := range m.Calls {
			all = append(all, model.Call(call))
		}
		out = append(out, model.Message{Role: model.Role(m.Role), Text: m.Text, CallID: m.CallID, Calls: all[from:len(all):len(all)]})
	}
	return out
}
