package shell

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/spaces"
)

// maxRepairs is how often in one cycle the agent may ask for nothing we can do.
const maxRepairs = 2

// decide turns one answer into acts, or into rest.
func (c *cycle) decide(ctx context.Context, res llm.ModelResponse) (ended bool, err error) {
	acts, text := fromCalls(res.Calls, c.step), strings.TrimSpace(withoutThinking(res.Text))
	if len(acts) == 0 && !c.settings.Tags && !brokenOff(res.Finish) {
		acts, text = c.tools.fromText(text, c.step, c.written)
	}
	if c.settings.Tags {
		read := fromTags
		if brokenOff(res.Finish) {
			read = fromCut
		}
		acts, text = read(res.Text, c.nonce, c.step)
	}
	switch {
	case len(acts) > 0:
		c.form = cmp.Or(c.form, spaces.AnsweredByCall)
		return c.act(ctx, res, acts, text)
	case res.Finish == llm.Length:
		return c.cutShort(ctx, text)
	case text == "" && !c.empty && c.spoke == 0:
		c.empty = true // asked once more, then taken for silence (DELIVERY 2.8)
		return false, nil
	}
	if handled, ended, err := c.inPlainText(ctx, res, text); handled {
		return ended, err
	}
	if text != "" {
		c.pending = append(c.pending, spaces.TranscriptTurn{Role: spaces.RoleAssistant, Text: text})
	}
	if wordsOf(text) != "" && !c.settings.Tags {
		c.pending = append(c.pending, spaces.TranscriptTurn{Role: spaces.RoleUser, Text: notSentAtAll})
	}
	stop, detail := spaces.StopCompleted, ""
	switch {
	case c.unspoken() && text == "":
		stop, detail = spaces.StopModelError, "empty answers"
	case c.spoke == 0 && text == "":
		stop, detail = spaces.StopSilent, "empty answer"
	case c.spoke == 0 && wordsOf(text) != "":
		stop, detail = spaces.StopSilent, Unheard
	case c.spoke == 0:
		stop = spaces.StopSilent
	}
	return true, c.rest(ctx, stop, detail, text)
}

// brokenOff reports whether a model that stopped for that reason may have more to say.
func brokenOff(f llm.FinishReason) bool { return f == llm.Length || f == llm.Blocked }

// A stepResult is what the acts of one step came to.
type stepResult struct {
	inner   []spaces.EventBody
	raw     string                  // the model's answer
	said    spaces.TranscriptTurn   // it as a turn of the tools dialect
	results []spaces.TranscriptTurn // what the model is told about each act
	useful  int                     // acts that succeeded
	looked  bool                    // one of them showed the agent something new
	missed  bool                    // they were searches, and none of them found a line
}

// performAll performs the acts in order.
func (c *cycle) performAll(st *stepContext, raw string, acts []parsedCall, text string) stepResult {
	d := stepResult{raw: raw, said: spaces.TranscriptTurn{Role: spaces.RoleAssistant, Text: text}, missed: true}
	for _, a := range acts {
		c.shell.publish("tool_resolved", a.Name, c.facts("call", a.ID, "step", c.step, "tier", c.tools.Tier(a.Name)))
		began, made := c.shell.Now(), st.composed[a.ID]
		out := c.perform(st, a)
		took := c.shell.Now().Sub(began) + made.took
		if out.ok {
			d.useful++
		}
		d.looked = d.looked || out.text != "" || out.pending
		d.missed = d.missed && a.Name == "search" && len(out.refs) == 0
		args := a.Args
		if !validObject(args) {
			args = "{}" // nothing unparsable is ever stored (DELIVERY 2.8)
		}
		d.inner = append(d.inner, spaces.ToolCalled{Cycle: c.wake.Cycle.ID, Step: c.step, CallID: a.ID, Name: a.Name, Args: args})
		d.said.Calls = append(d.said.Calls, spaces.TurnCall{ID: a.ID, Name: a.Name, Args: args})
		if out.pending {
			st.outside.runs[len(st.outside.runs)-1].Step = c.step
			continue
		}
		d.inner = append(d.inner,
			spaces.ToolReturned{
				Cycle: c.wake.Cycle.ID, Step: c.step, CallID: a.ID, OK: out.ok, Note: out.note, Refs: out.refs,
				Took: max(0, took.Milliseconds()), Usage: made.usage, // a clock may have been put back
			})
		d.results = append(d.results, spaces.TranscriptTurn{Role: spaces.RoleTool, CallID: a.ID, Text: out.String(), Refs: out.refs})
	}
	for _, denial := range st.denials {
		d.inner = append(d.inner, spaces.CallDenied{Denial: denial})
	}
	return d
}

// told returns the turns of a step in the form of the dialect.
func (c *cycle) told(d stepResult) []spaces.TranscriptTurn {
	if c.settings.Tags {
		return tagTurns(d.raw, d.results)
	}
	return append([]spaces.TranscriptTurn{d.said}, d.results...)
}

// act performs the acts of one step and makes them durable, all or none.
func (c *cycle) act(ctx context.Context, res llm.ModelResponse, acts []ToolCall, text string) (ended bool, err error) {
	read := c.tools.readAll(acts)
	if err := c.learnToolUse(ctx, read); err != nil {
		return true, err
	}
	st := c.stage()
	if err := errors.Join(c.composeAll(ctx, st, read), c.fetchResults(ctx, st, read), c.fetchTexts(ctx, st, read), c.searchFiles(ctx, st, read), c.fetchSkills(ctx, st, read)); err != nil {
		return true, err
	}
	d := c.performAll(st, res.Text, read, text)
	if c.misses++; !d.missed {
		c.misses = 0
	}
	c.denials += len(st.denials)
	if d.useful == 0 && (!d.missed || !c.owesWords()) {
		c.repairs++
	}
	draft := spaces.DraftID("")
	if c.settings.Streaming.Posts() {
		draft = spaces.DraftOf(c.wake.Cycle.ID, c.step) // perhaps of an earlier process
	}
	closing := c.closing(st, text, d.useful == len(acts) && !d.looked)
	c.move(spaces.Acting, "agent", acts[0].Name)
	sc := spaces.StepCommit{
		Inner: append(d.inner, st.inner...), Turns: c.told(d), Effect: st.effects, Timers: st.timers, Runs: st.outside.runs, Missions: st.missions.steps, GivenUp: st.givenUp, Draft: draft, Close: closing,
	}
	if closing == nil {
		c.move(spaces.Engaging, "system", "acted")
	} else {
		c.stop(closing)
	}
	c.active = st.active
	switch err = c.commit(ctx, sc, st.inner); {
	case errors.Is(err, spaces.ErrStale):
		return c.callTools(ctx, st, c.stale(ctx, sc, st, d))
	case errors.Is(err, spaces.ErrAgentRun):
		return c.callTools(ctx, st, c.hushed(ctx, sc, st, d))
	case err != nil:
		return true, err
	}
	c.branch = st.branch
	c.spoke += spoken(st.effects)
	c.committedLive(st)
	if closing != nil {
		return true, nil
	}
	return c.callTools(ctx, st, failpoint.Point("acts.recorded"))
}

// callTools has the outside tools of a step called that was committed with err, also where
// its words were held back: the transcript needs their results.
func (c *cycle) callTools(ctx context.Context, st *stepContext, err error) (ended bool, _ error) {
	if err != nil || len(st.outside.runs) == 0 {
		return false, err
	}
	c.acted = c.acted || !c.parallel(st.outside.runs)
	return c.runTools(ctx, st.outside.runs, false)
}

// spoken counts the effects that reach a person.
func spoken(effects []spaces.RoomEffect) int {
	n := 0
	for i := range effects {
		if effects[i].Branch == "" {
			n++
		}
	}
	return n
}

// says reports whether one of the effects is a message to the room that woke the cycle,
// or to any room where none did.
func (c *cycle) says(effects []spaces.RoomEffect) bool {
	home := c.home()
	return slices.ContainsFunc(effects, func(e spaces.RoomEffect) bool {
		return e.Kind == spaces.ActSend && e.Branch == "" && (e.Space == home || home == "")
	})
}

// closing returns how the cycle ends with these acts, or nil if it goes on: an
// act ended it, all acts succeeded, showed it nothing new and one of them said something
// to people or the agent gave its account, or it has asked too often for what cannot be done.
func (c *cycle) closing(st *stepContext, text string, clean bool) *spaces.CycleClose {
	line := cmp.Or(restLine(text), st.account)
	switch {
	case len(st.outside.runs) > 0:
		return nil // the results come first
	case st.stop == spaces.StopCompleted && c.spoke+spoken(st.effects) == 0 && len(st.missions.steps) == 0:
		return &spaces.CycleClose{Stop: spaces.StopSilent, Rest: line}
	case c.delivers && clean:
		return &spaces.CycleClose{Stop: spaces.StopCompleted, Detail: spokeInWords, Rest: line}
	case st.stop != "":
		return &spaces.CycleClose{Stop: st.stop, Detail: st.stopDetail, Rest: line}
	case clean && (line != "" || c.says(st.effects)) && !st.more:
		return &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: line}
	case c.repairs > maxRepairs && c.spoke > 0:
		return &spaces.CycleClose{Stop: spaces.StopCompleted, Detail: "asked for what could not be done", Rest: line}
	case c.repairs > maxRepairs:
		return &spaces.CycleClose{Stop: spaces.StopModelError, Detail: "no valid act in three steps", Rest: line}
	}
	return nil
}

// cutShort handles an answer that ended at the token limit before any act.
func (c *cycle) cutShort(ctx context.Context, text string) (ended bool, err error) {
	c.repairs++
	if c.repairs > maxRepairs {
		return true, c.rest(ctx, spaces.StopModelError, "answers were cut at the token limit")
	}
	turns := []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: "RESULT: your answer was cut at the token limit before any act. Be shorter."}}
	if text != "" {
		turns = append([]spaces.TranscriptTurn{{Role: spaces.RoleAssistant, Text: text}}, turns...)
	}
	return false, c.commit(ctx, spaces.StepCommit{Turns: turns}, nil)
}

// tagTurns is the tags dialect's form of a step: the model's own text, then the
// results as quoted lines.
func tagTurns(text string, results []spaces.TranscriptTurn) []spaces.TranscriptTurn {
	var lines strings.Builder
	var refs []spaces.EventID
	for _, r := range results {
		lines.WriteString("RESULT " + r.CallID + ": " + r.Text + "\n")
		refs = append(refs, r.Refs...)
	}
	return []spaces.TranscriptTurn{
		{Role: spaces.RoleAssistant, Text: strings.TrimSpace(text)},
		{Role: spaces.RoleUser, Text: strings.TrimSpace(lines.String()), Refs: refs},
	}
}

var restForm = regexp.MustCompile(`(?im)^\s*(Responded to .+|Stayed silent.*|Nothing to add.*)$`)

// restLine finds the agent's own account of the cycle in a text (CON-23).
func restLine(text string) string {
	return strings.TrimSpace(restForm.FindString(text))
}

// committedLive tells the live events of acts that are durable now.
func (c *cycle) committedLive(st *stepContext) {
	for _, b := range st.inner {
		if r, ok := b.(spaces.MemoryAdded); ok {
			c.shell.publish("memory_stored", r.What, c.facts("memory", r.ID))
		}
	}
	for i := range st.effects {
		if e := &st.effects[i]; e.Kind == spaces.ActSend || e.Kind == spaces.ActEdit {
			c.tellPhrase(e.Text)
		}
	}
	for i := range st.denials {
		c.tellDenial(&st.denials[i])
	}
}
