package shell

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/spaces"
)

// A cycle is one wake on its way from start to rest. It belongs to one
// goroutine.
type cycle struct {
	shell   *Shell
	mind    *mind
	place   wakeKey
	wake    *spaces.Wake
	machine *StateMachine
	log     *slog.Logger
	names   [3]any // of cycle, mind and space, as live events have them
	began   time.Time
	since   time.Time // what failed after it is news
	looked  time.Time // when it was last asked what failed; zero: never

	cycleConfig
	nonce string // of the tags dialect

	branch   spaces.BranchID         // on which it acts, once it has forked
	step     int                     // number of the next model call
	phase    spaces.Phase            // it is in
	upto     int64                   // last event of the trigger space that was shown
	judged   int64                   // last event of it that the gate had judged when it was last asked
	turns    []spaces.TranscriptTurn // committed
	pending  []spaces.TranscriptTurn // shown, not yet committed
	failures []spaces.SendFailed     // of what was sent, for the next frame

	keptWaiting atomic.Bool          // people can have been told that they wait
	workedOn    askedMessages        // with which people addressed the agent
	early       *llm.ModelResponse   // calls that the model made while it thought: the first step of engagement
	usage       spaces.TokenUsage    // of all calls
	unsaved     spaces.TokenUsage    // of calls whose step is not committed
	request     string               // hash of the last frame
	finish      string               // why the model stopped, last time
	thought     string               // the reasoning that the endpoint told of, last time
	standIn     string               // the model that answered in place of the agent's own, last time; empty: its own did
	plan        []byte               // of the last frame
	size        int                  // of the last frame, in tokens
	shown       *spaces.FrameSources // what it was made of
	// recalled are the old lines shown beside the log, chosen once a cycle and
	// again when something new is shown; nil until then.
	recalled []hud.RecalledLine
	asked    <-chan spaces.EmbeddingVector // will deliver the embedding of the words that woke it; nil: none was requested
	meaning  spaces.EmbeddingVector        // that, once it is known
	layers   []memoryLayer                 // of memory in the last frame
	awokeBy  *spaces.ToolRun               // the call whose end woke it
	found    lookFinding                   // what the look of the timer that woke it found
	results  []string                      // calls of outside tools whose results are shown and not committed
	missions missionView                   // of the room
	toolUse  toolUse                       // of outside tools, when a step calls some
	sights   []imageRef                    // pictures worth seeing now, whether they are here or not
	seen     map[imageRef]llm.ModelImage   // those that were asked for; an empty one cannot be shown
	denials  int
	spoke    int                     // effects committed
	acted    bool                    // an outside tool that may have changed something was called
	done     map[string]bool         // acts already performed, to refuse repeating them
	setUp    onboardingState         // of the room that woke it
	repairs  int                     // steps that asked for nothing we could do
	misses   int                     // steps of searches in a row that found nothing
	form     spaces.AnswerForm       // of the first answer to a person; empty: none yet
	delivers bool                    // the act under way is the model's plain text
	empty    bool                    // the last answer was empty
	warned   bool                    // a budget is nearly spent, and that was said
	reread   bool                    // stale speech was shown once
	again    int                     // the step that looks again because of it
	unsaid   int                     // how many of the mind's deletions since it began are out of its turns
	sketched *draftStream            // what is shown of the step before it is decided; nil: nothing
	heard    int                     // ends of waits that were shown
	overs    map[spaces.EventID]bool // of these, the questions whose end an earlier process showed
	ended    []spaces.EventBody      // ends of waits shown and not committed
}

// A cycleConfig is what a mind looks at its history with: as whom, within which
// limits, and from which room.
type cycleConfig struct {
	agent    *Agent // as it was when the cycle began
	settings AgentSettings
	system   systemPrompt
	tools    *ToolRegistry
	inWords  bool           // the model is known to answer in words
	active   spaces.SpaceID // where plain messages go
}

// run lives one cycle. Whatever goes wrong in it stays in it: a panic becomes a
// failed attempt.
func (s *Shell) run(ctx context.Context, p wakeKey, w *spaces.Wake) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.leads(p, w.Cycle.ID, cancel)

	m := s.minds.get(w.Cycle.Mind)
	c := s.newCycle(m, p, w)
	defer func() {
		if r := recover(); r != nil {
			c.log.Error("cycle panicked", "panic", r, "stack", string(debug.Stack()))
			if err = c.abandon(ctx, spaces.StopCoordinator, "internal error", false); err != nil {
				c.log.Error("cycle not abandoned", "error", err) // it stays open and is resumed when its lease runs out
			}
		}
	}()
	if w.Timer != nil {
		m.replan()
	}
	m.begin(w.Cycle.ID, w.Cycle.Space)
	defer func() {
		m.end(w.Cycle.ID, nil, time.Time{})
		if err := m.settle(ctx, &w.Cycle); err != nil {
			c.log.Error("deleted words not redacted", "error", err)
		}
	}()
	learned := c.learnTool(ctx)
	rest, again := s.show(w, c.awokeBy, c.toldToWait, c.workedOn.list)
	c.workedOn.again = again
	defer func() { rest(err == nil, w.Cycle.Stop) }()

	s.publish("agent_assigned", string(m.id.Agent), c.facts("wake", w.Cycle.Wake, "rows", len(w.Rows), "resumed", w.Resumed))
	if err = learned; err == nil {
		err = c.live(ctx)
	}
	if err != nil && halted(ctx, err) {
		err = c.cancelled(ctx, err)
	} else if ctx.Err() != nil {
		return context.Cause(ctx) // the process stops; the next one resumes here
	}
	if errors.Is(err, errSplit) {
		return c.yield(ctx)
	}
	if err != nil {
		m.doubt()
		c.log.Error("cycle interrupted", "error", err) // it stays open, and goes on soon
	}
	return err
}

func (s *Shell) newCycle(m *mind, p wakeKey, w *spaces.Wake) *cycle {
	settings, agent := s.Settings(m.id.Agent, w.Cycle.Space), s.agent(m.id.Agent)
	if w.Timer != nil { // it is counted where the timer was set
		settings.Budget.Space = s.Settings(m.id.Agent, w.Timer.Space).Budget.Space
	}
	settings = agent.fit(settings)
	c := &cycle{
		shell: s, mind: m, place: p, wake: w, log: s.log(w), names: [...]any{string(w.Cycle.ID), m.id.String(), string(w.Cycle.Space)}, began: s.Now(),
		cycleConfig: cycleConfig{agent: agent, settings: settings, system: s.prompt(agent, settings, false), tools: s.catalogueOf(m.id.Agent), active: woken(w)}, upto: w.Cycle.Upto,
		turns: w.Turns, usage: w.Cycle.Usage, done: map[string]bool{}, overs: map[spaces.EventID]bool{}, seen: map[imageRef]llm.ModelImage{},
		machine: NewMachine(w.Cycle.ID, spaces.Idle),
	}
	if settings.Tags {
		c.nonce = s.Nonce()
	}
	for _, st := range w.Steps {
		if st.State == spaces.StepDone {
			c.step = st.N + 1
		}
	}
	c.takesUp(w.Rows)
	c.workedOn.add(c.asks(w.Rows, w.Events))
	c.judged = w.Head
	for _, r := range w.Rows {
		c.judged = max(c.judged, r.Seq)
	}
	c.retrace(w.Inner)
	return c
}

// woken returns the space that is active when a cycle begins or goes on: a timer wakes the
// mind in the room where it was set.
func woken(w *spaces.Wake) spaces.SpaceID {
	if w.Cycle.Active == "" && w.Timer != nil {
		return w.Timer.Space
	}
	return w.Cycle.Active
}

// live runs the phases from the state that the cycle is in.
func (c *cycle) live(ctx context.Context) error {
	if c.wake.Halted {
		return spaces.ErrHalted
	}
	if err := c.learnHabit(ctx); err != nil {
		return err
	}
	c.listen(ctx)
	defer c.wonder(ctx)()
	c.mind.overtaken(c.wake.Cycle.Base)
	if err := c.mind.refresh(ctx, c.wake.Cycle.Space); err != nil {
		return err
	}
	c.since = c.mind.informed()
	if err := c.whole(ctx); err != nil {
		return err
	}
	if ended, err := c.lookFirst(ctx); ended || err != nil {
		return err
	}
	if ended, err := c.takeUpTools(ctx); ended || err != nil {
		return err
	}
	switch {
	case c.phase == spaces.Engagement: // its tools were taken up
	case len(c.turns) == 0 && c.thinksFirst():
		c.move(spaces.Contemplating, "coordinator", c.wake.Cycle.Wake)
		c.enter(spaces.Contemplation)
		if ended, err := c.contemplate(ctx); ended || err != nil {
			return err
		}
	default:
		c.move(spaces.Engaging, "coordinator", c.wake.Cycle.Wake)
	}
	c.enter(spaces.Engagement)
	return c.engage(ctx)
}

// thinksFirst reports whether the cycle begins with a call in which nothing is said.
func (c *cycle) thinksFirst() bool {
	switch c.settings.Phases {
	case PhasesOne:
		return false
	case PhasesTwo:
		return true
	case PhasesAuto:
	}
	return !c.addressed() && c.wake.Timer == nil
}

func (c *cycle) enter(p spaces.Phase) {
	c.phase = p
	c.shell.publish("phase_change", string(p), c.facts())
}

func (c *cycle) move(to spaces.ShellState, by, reason string) {
	c.change(to, TransitionCause{By: by, Reason: reason, At: c.shell.Now()})
}

// change makes a move that is known to be legal, and tells it.
func (c *cycle) change(to spaces.ShellState, why TransitionCause) {
	t := c.machine.must(to, why)
	c.shell.publish("task_state_change", string(to), c.facts("from", t.From, "to", t.To, "by", t.By, "reason", t.Reason))
}

// contemplate makes the call in which nothing leaves (commit 3a).
func (c *cycle) contemplate(ctx context.Context) (ended bool, err error) {
	if ended, err := c.afford(ctx); ended || err != nil {
		return ended, err
	}
	if err := c.notice(ctx); err != nil {
		return true, err
	}
	res, err := c.ask(ctx, true)
	if err != nil {
		return true, c.failed(ctx, err)
	}
	var turns []spaces.TranscriptTurn
	if res.Text != "" {
		c.thought = res.Text
		turns = append(turns, spaces.TranscriptTurn{Role: spaces.RoleAssistant, Text: res.Text})
	}
	var learnt []spaces.EventBody
	for _, s := range sections(res.Text) {
		if s[0] == "goals" {
			learnt = append(learnt, spaces.GoalSet{Text: s[1], Status: "active"})
			continue
		}
		learnt = append(learnt, spaces.NoteAdded{Text: s[1], Label: s[0], Cycle: c.wake.Cycle.ID})
	}
	if len(res.Calls) > 0 {
		c.early = &llm.ModelResponse{Calls: res.Calls, Finish: res.Finish}
	}
	c.move(spaces.Engaging, "agent", "thought")
	err = c.commit(ctx, spaces.StepCommit{Inner: learnt, Turns: turns}, learnt)
	if err != nil {
		return true, err
	}
	return false, failpoint.Point("step.recorded")
}

// engage lets the agent act until it rests (commit 3b, once a step).
func (c *cycle) engage(ctx context.Context) error {
	for {
		if c.step >= c.settings.MaxSteps {
			return c.rest(ctx, spaces.StopMaxSteps, "")
		}
		if ended, err := c.afford(ctx); ended || err != nil {
			return err
		}
		if err := c.look(ctx); err != nil {
			return err
		}
		if err := c.notice(ctx); err != nil {
			return err
		}
		if ended, err := c.answer(ctx); ended || err != nil {
			return err
		}
	}
}

// answer makes one step of engagement; people may see it grow. Calls that the model made while
// it thought are that step, unless there is something new to show it since.
func (c *cycle) answer(ctx context.Context) (ended bool, err error) {
	early := c.early
	c.early = nil
	if early != nil && len(c.pending) == 0 {
		return c.decide(ctx, *early)
	}
	c.sketched = c.sketch()
	defer c.sketched.hush()
	searched := c.searchedEnough()
	if searched {
		c.inWords = true
		c.pending = append(c.pending, spaces.TranscriptTurn{Role: spaces.RoleUser, Text: answerNow})
	}
	res, err := c.ask(ctx, searched)
	if err != nil {
		return true, c.failed(ctx, err)
	}
	return c.decide(ctx, res)
}

// maxMisses is how many steps of searches in a row may find nothing before a model is to
// answer a person with what it knows.
const maxMisses = 4

const answerNow = "Your searches find nothing new. Write your answer now, as plain text: it is sent to the room. Say so if you could not find what was asked for."

// searchedEnough reports whether a person waits for an answer that further searches would
// only delay.
func (c *cycle) searchedEnough() bool { return c.misses >= maxMisses && c.owesWords() }

// owesWords reports whether a person waits for an answer, and the model's plain text may be
// it.
func (c *cycle) owesWords() bool {
	return c.unspoken() && !c.settings.Tags && c.settings.PlainText != PlainPrivate
}

// facts returns the metadata of a live event about the cycle.
func (c *cycle) facts(pairs ...any) map[string]any {
	f := map[string]any{"cycle": c.names[0], "mind": c.names[1], "space": c.names[2]}
	for i := 0; i+1 < len(pairs); i += 2 {
		f[pairs[i].(string)] = pairs[i+1]
	}
	return f
}
