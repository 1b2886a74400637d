package shell

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// commitLimit bounds a commit that must happen although its caller is stopping.
const commitLimit = 10 * time.Second

// commit makes a step durable. learnt are those of its inner bodies that change
// what the agent has: notes, goals, memories, bookmarks. What the model answered
// is worth keeping even while the process stops, so the commit does not end
// with ctx.
func (c *cycle) commit(ctx context.Context, sc spaces.StepCommit, learnt []spaces.EventBody) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitLimit)
	defer cancel()
	now := c.shell.Now()
	sc.Lease, sc.Active, sc.Upto, sc.At = c.wake.Lease, c.active, c.upto, now
	sc.Step = spaces.Step{
		Cycle: c.wake.Cycle.ID, N: c.step, Phase: c.phase, State: spaces.StepDone,
		Request: c.request, Finish: c.finish, Model: c.standIn, Usage: c.unsaved, At: now, Frame: c.plan, Shown: c.shown,
	}
	if moves, ok := c.machine.Taken(); ok {
		sc.Inner = append(slices.Clip(sc.Inner), moves)
	}
	sc.Turns = append(slices.Clip(c.pending), sc.Turns...)
	if c.thought != "" {
		sc.Inner = append([]spaces.EventBody{spaces.ThoughtRecorded{Cycle: c.wake.Cycle.ID, Step: c.step, Text: c.thought}}, sc.Inner...)
	}
	sc.Inner = append(slices.Clip(c.ended), sc.Inner...)
	sc.Shown = c.results
	if c.found.text == "" || len(sc.Turns) > 0 { // what was found and not shown is found again
		sc.Looked = c.found.timer
	}
	if own := c.setUp.told(sc.Close); len(own) > 0 {
		sc.Inner, learnt = slices.Concat(own, sc.Inner), slices.Concat(own, learnt)
	}
	if sc.Close == nil && c.takesIn(spoken(sc.Effect)) && len(sc.Runs) == 0 || sc.Close != nil && !sc.Close.Back {
		sc.Judge = c.shell.judge(c.place)
	}
	if sc.Close != nil {
		if !sc.Close.Back || c.lastAttempt(sc.Close) {
			sc.Turns = append(sc.Turns, c.apologise(sc.Close)...)
			sc.Close.Withdraw = c.withdraws()
		}
		if c.addressed() {
			sc.Close.Model, sc.Close.Answered = cmp.Or(c.standIn, c.settings.ModelName), c.form
		}
		if sc.Close.Rest == "" && !sc.Close.Back {
			sc.Close.Rest, sc.Close.Derived = c.derive(sc), true
		}
		sc.Close.Denials, sc.Close.Manifest, sc.Close.Plan = c.denials, c.tools.Manifest(), c.plan
		sc.Close.Prompts = strings.Join(c.system.set.Used(), " ")
	}
	done, err := c.shell.Journal.Commit(ctx, sc)
	if err != nil {
		return fmt.Errorf("commit step %d: %w", c.step, err)
	}
	c.step++
	c.turns = append(c.turns, sc.Turns...)
	if sc.Looked != nil {
		c.found.timer = nil
	}
	c.pending, c.ended, c.results, c.unsaved, c.empty, c.thought = nil, nil, nil, spaces.TokenUsage{}, false, ""
	c.setUp.noted = nil
	c.mind.learn(learnt, now)
	if len(sc.Timers) > 0 || slices.ContainsFunc(learnt, func(b spaces.EventBody) bool { return b.Kind() == spaces.KindForgot }) {
		c.mind.replan()
	}
	if sc.Close != nil && sc.Close.Stop == spaces.StopWaitingReply {
		c.mind.reexpect()
		c.shell.publish("waiting_reply", sc.Close.Detail, c.facts("until", now.Add(c.settings.WaitTimeout).UTC()))
	}
	c.join(done)
	if len(done.Wakes) > 0 {
		c.shell.Ring(done.Wakes)
	}
	if sc.Close != nil {
		c.shell.answered(c.agent.ID, sc.Close.Model, sc.Close.Answered)
	}
	if sc.Close != nil && !sc.Close.Back {
		c.closed(sc.Close, done.N, now)
	}
	return nil
}

// takesIn reports whether rows that arrive in this step may join the cycle; said is how many
// messages the step sends. An act takes a step, and acts in rooms are counted, so the last third
// of either is for what is there: what comes then is seen, and answered, by the next cycle
// (ADR 4). Only who looks again is shown all that came. Nor do rows join a step that calls
// outside tools: the run may end before the next step, and would consume what it was never
// shown.
func (c *cycle) takesIn(said int) bool {
	steps, acts := c.settings.MaxSteps-(c.step+1), c.maxRoomActs()-c.spoke-said
	enough := steps >= max(1, c.settings.MaxSteps/3) && acts >= max(1, c.settings.MaxRoomActs/3)
	return enough || steps > 0 && acts > 0 && c.again == c.step+1
}

// join takes rows that arrived meanwhile into the cycle.
func (c *cycle) join(done spaces.CommitResult) {
	c.judged = max(c.judged, done.Head)
	if y := &c.wake.Cycle; len(done.Joined)+len(done.Waits) > 0 {
		y.Authority = min(y.Authority, done.Authority)
	}
	for i := range done.Waits {
		c.wake.Waits = append(c.wake.Waits, done.Waits[i])
		c.wake.Consumed = append(c.wake.Consumed, done.Waits[i].Consumed())
	}
	c.takesUp(done.Joined)
	c.workedOn.add(c.asks(done.Joined, done.JoinedEvents))
	for i, r := range done.Joined {
		e := done.JoinedEvents[i]
		c.wake.Rows = append(c.wake.Rows, r)
		c.wake.Events = append(c.wake.Events, e)
		c.wake.Consumed = append(c.wake.Consumed, spaces.ConsumedRow{Event: e.ID, Root: e.Root, Depth: e.Depth, At: e.Seq})
	}
}

// resting are the states that a cycle may end in beside idle.
var resting = map[spaces.StopReason]spaces.ShellState{
	spaces.StopSleeping:     spaces.Sleeping,
	spaces.StopWaitingReply: spaces.WaitingReply,
	spaces.StopWaitingTool:  spaces.WaitingReply,
}

// stop moves the machine to where the closing ends it.
func (c *cycle) stop(cl *spaces.CycleClose) {
	c.change(cmp.Or(resting[cl.Stop], spaces.Idle), TransitionCause{By: "agent", Reason: string(cl.Stop), Stop: cl.Stop, At: c.shell.Now()})
}

// rest closes the cycle. text is what the agent wrote last, if anything.
func (c *cycle) rest(ctx context.Context, stop spaces.StopReason, detail string, text ...string) error {
	cl := &spaces.CycleClose{Stop: stop, Detail: detail}
	for _, t := range text {
		cl.Rest = restLine(t) // words that were not sent are no account of what was done
	}
	return c.close(ctx, cl)
}

// close ends the cycle as cl says.
func (c *cycle) close(ctx context.Context, cl *spaces.CycleClose) error {
	c.stop(cl)
	return c.commit(ctx, spaces.StepCommit{Close: cl}, nil)
}

// closed takes the finished cycle into the mind's history.
func (c *cycle) closed(cl *spaces.CycleClose, n int64, at time.Time) {
	c.wake.Cycle.Stop = cl.Stop
	c.mind.end(c.wake.Cycle.ID, &spaces.ClosedCycle{
		ID: c.wake.Cycle.ID, N: n, Space: c.wake.Cycle.Space, Rest: cl.Rest, Stop: cl.Stop, Ended: at, Turns: c.turns,
	}, c.looked)
	c.log.Info("cycle closed", "stop", cl.Stop, "detail", cl.Detail, "steps", c.step, "spoke", c.spoke, "denials", c.denials,
		"tokens", c.usage.Prompt+c.usage.Output, "ms", at.Sub(c.began).Milliseconds())
	c.shell.publish("mission_stop", string(cl.Stop), c.facts("detail", cl.Detail, "tokens", c.usage.Prompt+c.usage.Output, "steps", c.step))
}

// The delays before a failed wake is tried again, by attempt.
var retryAfter = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

// timerAgain is the delay before a timer whose wake met a failing endpoint fires
// again. It doubles with each of its tries, up to the last of retryAfter. A wake the
// endpoint refuses for what is in it is over.
const timerAgain = 2 * time.Minute

// maxOutage is how old a message may be that waits for an endpoint which makes nothing
// of any request. Failures count against older ones: it may be them that it fails of.
const maxOutage = 24 * time.Hour

// failed ends the cycle after a model call that will not succeed now. If the
// agent has not spoken yet its rows go back for another attempt; otherwise what
// is done stays done.
func (c *cycle) failed(ctx context.Context, cause error) error {
	if ctx.Err() != nil {
		return cause // the process stops and the next one resumes here, or a person stopped the run
	}
	kind := llm.KindOf(cause)
	stop := spaces.StopModelError
	if kind.Retryable() {
		stop = spaces.StopMaxRetries
	}
	if kind == llm.Timeout {
		stop = spaces.StopTimeout
	}
	if kind == llm.Rejected || kind == llm.TooLong {
		c.mind.owe(hud.CutGuard) // the same transcript would be refused again
	}
	c.log.Warn("model call failed", "kind", kind.String(), "error", cause)
	return c.abandon(ctx, stop, textformat.ClipBytes(cause.Error(), 380)+problemOf(kind), kind.Outage() && c.waited() <= maxOutage, kind)
}

// waited returns for how long the oldest of what woke the cycle has waited.
func (c *cycle) waited() (longest time.Duration) {
	for _, e := range c.wake.Events {
		longest = max(longest, c.shell.Now().Sub(e.RecvAt))
	}
	return longest
}

// attempts returns how often the rows of the cycle went back to be tried again.
func (c *cycle) attempts() (most int) {
	for _, r := range c.wake.Rows {
		most = max(most, r.Attempts)
	}
	return most
}

// lastAttempt reports whether rows that go back with this closing are dead by that.
func (c *cycle) lastAttempt(cl *spaces.CycleClose) bool {
	return cl.Back && !cl.Spared && c.attempts()+1 >= spaces.MaxAttempts
}

// problemOf names, behind a blank and in brackets, the problem that operators look
// up for a failure of the endpoint; nothing when it is the request's.
func problemOf(k llm.ErrorKind) string {
	switch k {
	case llm.Denied:
		return " (TRS-M01)"
	case llm.NoModel:
		return " (TRS-M02)"
	case llm.TooLong:
		return " (TRS-M03)"
	case llm.Unavailable, llm.Timeout, llm.Garbled:
		return " (TRS-M05)"
	case llm.Limited, llm.Rejected:
	}
	return ""
}

// abandon closes the cycle without an answer. Spared, what woke it is not to blame: it
// is tried again however often it was, and the more rarely the longer it has waited, for
// many rooms may wait with it.
func (c *cycle) abandon(ctx context.Context, stop spaces.StopReason, detail string, spared bool, of ...llm.ErrorKind) error {
	attempts := c.attempts()
	last := len(retryAfter) - 1
	pause := retryAfter[min(attempts, last)]
	if spared {
		pause = max(pause, min(c.waited()/8, retryAfter[last]))
	}
	cl := &spaces.CycleClose{Stop: stop, Detail: textformat.ClipBytes(detail, 400), Back: c.spoke == 0 && !c.acted, Spared: spared, RetryAt: c.shell.Now().Add(pause)}
	for _, kind := range of {
		c.tellsOfOutage(cl, kind, pause)
	}
	sc := spaces.StepCommit{Close: cl}
	if t := c.wake.Timer; t != nil && cl.Back && (spared || stop != spaces.StopModelError) {
		again := *t
		again.ID, again.Due, again.Tries = c.shell.NewID(), c.shell.Now().Add(min(timerAgain<<min(t.Tries, 8), retryAfter[last])), t.Tries+1
		again.Cron = "" // the next time it recurs is set already
		sc.Timers = append(sc.Timers, again)
	}
	if cl.Back {
		c.pending, c.ended, c.results, c.found.timer = nil, nil, nil, nil // the next attempt shows it again
	}
	if at := c.machine.State(); at == spaces.Idle || at == spaces.Sleeping || at == spaces.WaitingReply {
		c.machine = NewMachine(c.wake.Cycle.ID, spaces.Engaging) // a refused commit's moves did not happen
	}
	c.stop(cl)
	c.shell.publish("mission_stop", string(stop), c.facts("detail", cl.Detail, "retry", cl.Back))
	return c.commit(ctx, sc, nil)
}
