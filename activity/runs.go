package activity

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// lineAfter is how long a run shows nothing with a button before people are shown a line with
// one.
const lineAfter = 5 * time.Second

// runTracker holds the runs that an egress shows. Each has a goroutine until it rests.
type runTracker struct {
	mu    sync.Mutex // guards what follows
	begin func(*liveRun)
	all   map[spaces.CycleID]*liveRun
	// waiting are the runs that rest until a person or a tool has answered: the run that the
	// answer wakes is shown where they were.
	waiting map[spaces.CycleID]*liveRun
}

// maxWaiting bounds the runs that wait.
const maxWaiting = 1000

// wait notes that a run rests until it is answered.
func (t *runTracker) wait(g *liveRun) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting == nil || len(t.waiting) >= maxWaiting {
		t.waiting = map[spaces.CycleID]*liveRun{}
	}
	t.waiting[g.sign.Run] = g
}

// A liveRun is a run that people are shown.
type liveRun struct {
	sign   spaces.RunSign
	thread spaces.ThreadID // as the chat calls it
	rested <-chan bool     // see [shell.TypingNotifier]
	before *liveRun        // that waited for what woke it; nil: none did
	told   atomic.Bool     // see [spaces.RunSign]
	asked  atomic.Pointer[[]spaces.AckReaction]
}

// open says how runs are shown, or with nil that none are any more.
func (t *runTracker) open(begin func(*liveRun)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begin = begin
}

func (t *runTracker) end(run spaces.CycleID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, run)
}

// ShowRun shows a run in the chat of the message that woke it, or else where the run was
// shown that waited for what woke it, with the platform's means to stop it, until rested
// delivers its end: true when it waits for a person, an approval or a tool. A channel that is
// closed without a value leaves what is shown to the process that goes on with the run.
// thread is that of the message, as the chat calls it. Of a run that is shown already,
// ShowRun only learns whether people were told that they wait, and what they asked. ShowRun
// never blocks, and after [Egress.Run] has returned it does nothing.
func (e *Egress) ShowRun(s spaces.RunSign, thread spaces.ThreadID, rested <-chan bool) {
	t := &e.runs
	t.mu.Lock()
	defer t.mu.Unlock()
	if g := t.all[s.Run]; g != nil {
		g.told.Store(s.Told)
		g.asked.Store(&s.Asked)
		return
	}
	if t.begin == nil || e.stopper == nil {
		return
	}
	before := t.waiting[s.After]
	delete(t.waiting, s.After)
	switch {
	case !s.Message.IsZero():
	case before == nil:
		return
	default:
		s.Message, s.Title, thread = before.sign.Message, before.sign.Title, before.thread
	}
	if t.all == nil {
		t.all = map[spaces.CycleID]*liveRun{}
	}
	g := &liveRun{sign: s, thread: thread, rested: rested, before: before}
	g.told.Store(s.Told)
	g.asked.Store(&s.Asked)
	t.all[s.Run] = g
	t.begin(g)
}

// StopRuns has nothing further shown of runs that a person has stopped, and deletes what is
// shown of them. It never blocks.
func (e *Egress) StopRuns(runs []spaces.StoppedRun) {
	for _, r := range runs {
		e.drafts.stopRun(r.Run)
	}
	e.Ring()
}

// followRun shows a run until it rests, or until stop.
func (e *Egress) followRun(stop, work context.Context, g *liveRun) {
	defer e.runs.end(g.sign.Run)
	if b := g.before; b != nil && (b.sign.Message != g.sign.Message || b.thread != g.thread) {
		e.showState(work, b, adapters.RunActive)
	}
	g.before = nil
	control := e.showState(work, g, adapters.RunProcessing)
	acked := map[ackTarget]bool{}
	acknowledgeAll(work, e, g, acked)
	line := spaces.MessageDraft{
		ID: spaces.DraftOf(g.sign.Run, lineStep), Cycle: g.sign.Run, Step: lineStep, Agent: g.sign.Agent, Space: g.sign.Space,
		Account: g.sign.Message.Account, Chat: g.sign.Message.Chat, Thread: g.thread, Text: cmp.Or(spaces.PlainText(g.sign.Name), "The agent") + " is at work",
		Show: spaces.StreamEdits,
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	grown, shown := g.sign.Began, false
	for {
		select {
		case suspended, over := <-g.rested:
			if !over {
				return
			}
			state := adapters.RunActive
			if suspended {
				state = adapters.RunSuspended
				e.runs.wait(g)
			}
			e.EndDraft(line.ID) // which rings for the reactions as well
			e.showState(work, g, state)
			return
		case <-stop.Done():
			return
		case <-tick.C:
		}
		acknowledgeAll(work, e, g, acked)
		if control != adapters.StopLine || e.chooser == nil || !e.editsDrafts() {
			continue
		}
		switch grows := g.told.Load() || e.drafts.ofRun(g.sign.Run, line.ID); {
		case grows:
			grown = time.Now()
			if shown { // a chat has one line with a button
				shown = false
				e.removeLine(work, line)
			}
		case !shown && time.Since(grown) >= lineAfter:
			shown = true
			e.ShowDraft(line)
		}
	}
}

// lineStep is the step of the draft that is a line about a run. No message takes it over.
const lineStep = -1

// removeLine deletes the line about a run, because something with a button grows.
func (e *Egress) removeLine(ctx context.Context, line spaces.MessageDraft) {
	ctx, cancel := context.WithTimeout(ctx, e.o.SendLimit)
	defer cancel()
	d, stands, err := e.postedDraft(ctx, line.Account, line.ID)
	if err == nil && stands {
		err = e.deleteDraft(ctx, d)
	}
	if err != nil {
		e.logger.Debug("line about a run not deleted yet", "chat", line.Chat, "err", err)
	}
}

// showState shows the state of a run. Where that fails, a button is the way to stop it.
func (e *Egress) showState(ctx context.Context, g *liveRun, state adapters.RunState) adapters.StopControl {
	ctx, cancel := context.WithTimeout(ctx, e.o.SendLimit)
	defer cancel()
	m := g.sign.Message
	control := adapters.StopLine
	err := e.catchPanic("show run", func() (err error) {
		control, err = e.stopper.ShowRun(ctx, adapters.RunStatus{Chat: m.Chat, Thread: string(g.thread), Message: m.Message, Title: g.sign.Title, State: state})
		return err
	})
	if err != nil {
		e.limits.noteLimit(ctx, m.Chat, err)
		e.logger.Debug("run not shown", "chat", m.Chat, "state", string(state), "err", err)
		return adapters.StopLine
	}
	return control
}
