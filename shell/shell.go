package shell

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A Shell runs the cycles of every mind of its agents. Make one with [New].
type Shell struct {
	Options
	catalogue *ToolRegistry
	runner    *toolRunner // nil: there are no outside tools
	minds     *minds
	library   *foreignRooms
	systems   promptCache
	habits    answerHabits
	sheets    sync.Pool // of *sheet

	bell   chan struct{} // something was rung, finished or cancelled
	news   chan struct{} // the store may have work without a notification
	due    chan struct{} // a timer has been set that is due
	looked lastLook

	mu      sync.Mutex // guards the fields below
	agents  map[spaces.AgentID]*Agent
	gone    map[spaces.AgentID]bool        // agents that were replaced by none: they end what they began
	rung    map[wakeKey]bool               // rung since the scheduler last looked
	running map[wakeKey]*activeCycle       // cycles under way
	next    map[wakeKey][]*claimAttempt    // timers that fired while the run before them was about to end
	turns   map[wakeKey]*claimAttempt      // claimed with the commit that woke them
	claimed []*claimAttempt                // of these, the ones whose commit is over
	load    map[spaces.Mind]int            // cycles under way by mind
	resting map[spaces.Mind]maintenanceDue // to be tended when they have rested
	awaited map[wakeKey][]chan error       // see Serve
	torn    map[wakeKey]*interruptedCycle  // what broke off
	split   map[spaces.Mind]time.Time      // until when minds are left to other processes
}

// A lastLook is what the scheduler found when it last looked into the store.
type lastLook struct {
	reach int         // half of how far its sweep looked; Run's own
	late  atomic.Bool // a timer is due that may wait for the end of a cycle
}

// A wakeKey is the unit of claiming.
type wakeKey struct {
	mind  spaces.Mind
	space spaces.SpaceID
}

// An activeCycle is one cycle under way, or about to be claimed.
type activeCycle struct {
	cycle  spaces.CycleID // empty until it is claimed
	cancel context.CancelCauseFunc
	told   spaces.CycleID // cancelled before it began
}

// New returns a shell over its parts. It starts nothing.
func New(o Options) *Shell {
	o.Cycles, o.Minds = cmp.Or(o.Cycles, 1024), cmp.Or(o.Minds, 1024)
	o.Poll, o.Lease = cmp.Or(o.Poll, time.Second), cmp.Or(o.Lease, 10*time.Minute)
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Shell{
		Options: o, agents: map[spaces.AgentID]*Agent{}, gone: map[spaces.AgentID]bool{}, catalogue: NewCatalogue(o.Files),
		bell: make(chan struct{}, 1), news: make(chan struct{}, 1), due: make(chan struct{}, 1), rung: map[wakeKey]bool{}, running: map[wakeKey]*activeCycle{}, next: map[wakeKey][]*claimAttempt{}, turns: map[wakeKey]*claimAttempt{}, load: map[spaces.Mind]int{},
		resting: map[spaces.Mind]maintenanceDue{}, awaited: map[wakeKey][]chan error{}, torn: map[wakeKey]*interruptedCycle{}, split: map[spaces.Mind]time.Time{},
	}
	if o.Outside.Box != nil {
		s.runner = newToolRunner(&s.Options, s.timersDue)
	}
	if o.Texts != nil {
		s.catalogue = s.catalogue.WithFileReading()
	}
	s.minds = newMinds(s, o.Minds)
	s.library = &foreignRooms{shell: s, all: map[spaces.SpaceID]*foreignRoom{}}
	s.SetAgents(o.Agents)
	return s
}

// SetAgents replaces the agents. A cycle under way ends as who began it; the
// next one has the new name, persona, model and grants. Agents that are not
// among the new ones begin nothing any more, and what waits for them stays.
func (s *Shell) SetAgents(agents []Agent) {
	s.mu.Lock()
	for id := range s.agents {
		s.gone[id] = true
	}
	for _, a := range agents {
		s.agents[a.ID] = &a
		delete(s.gone, a.ID)
	}
	s.mu.Unlock()
	s.systems.forget()
	s.wakeUp()
}

// agent returns the agent with an id; nil when none ever ran here.
func (s *Shell) agent(id spaces.AgentID) *Agent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agents[id]
}

// serves reports whether an agent may begin cycles. s.mu is held.
func (s *Shell) serves(id spaces.AgentID) bool {
	return s.agents[id] != nil && !s.gone[id]
}

// isHere is serves for who does not hold mu.
func (s *Shell) isHere(id spaces.AgentID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.serves(id)
}

// Ring tells that minds have something to do. It never blocks; a ring that gets
// lost costs one poll.
func (s *Shell) Ring(ws []spaces.PendingWork) {
	s.mu.Lock()
	for _, w := range ws {
		s.rung[wakeKey{w.Mind, w.Space}] = true
	}
	s.mu.Unlock()
	s.wakeUp()
}

// Idle reports whether no cycle is under way, none broke off, and no notification waits.
func (s *Shell) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running) == 0 && len(s.rung) == 0 && len(s.torn) == 0
}

// Catalogue returns the acts this shell offers.
func (s *Shell) Catalogue() *ToolRegistry { return s.catalogue }

func (s *Shell) wakeUp() { ringOn(s.bell) }

// Look tells that some minds may have something to do. It never
// blocks; what gets lost costs one poll.
func (s *Shell) Look() { ringOn(s.news) }

func (s *Shell) timersDue() { ringOn(s.due) }

func ringOn(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default: // already rung
	}
}

// Run gives every mind its cycles until ctx is done. Then it takes no new work
// and waits for the cycles under way, whose model calls end with ctx; they are
// resumed by the next process.
func (s *Shell) Run(ctx context.Context) error {
	var cycles sync.WaitGroup
	if s.runner != nil {
		s.runner.open(ctx)
		defer s.runner.close()
	}
	defer cycles.Wait()
	sweep, timers := time.NewTimer(0), time.NewTimer(0)
	defer sweep.Stop()
	defer timers.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.bell:
		case <-s.news:
			s.sweep(ctx)
		case <-s.due:
			timers.Reset(0)
		case <-sweep.C:
			s.sweep(ctx)
			for _, p := range s.rested() {
				cycles.Go(func() {
					s.tend(ctx, p)
					s.digest(ctx, p)
					s.mean(ctx, p)
				})
			}
			sweep.Reset(s.Poll)
		case <-timers.C:
			timers.Reset(s.fire(ctx, &cycles))
		}
		for _, t := range s.ready() {
			cycles.Go(func() { s.serve(ctx, t) })
		}
		for _, t := range s.given() {
			cycles.Go(func() { s.attend(ctx, t) })
		}
	}
}

// sweep rings for what is waiting in the record, rung for or not (K4, K15).
func (s *Shell) sweep(ctx context.Context) {
	ws, err := s.waiting(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.Logger.Error("inbox not readable", "error", err)
		}
		return
	}
	if s.runner != nil {
		if err := s.runner.sweep(ctx); err != nil && ctx.Err() == nil {
			s.Logger.Error("tool runs not readable", "error", err)
		}
	}
	s.mu.Lock()
	for _, w := range ws {
		s.rung[wakeKey{w.Mind, w.Space}] = true
	}
	s.mend(time.Now())
	s.mu.Unlock()
}

// waiting lists what waits for the agents that are served here, the oldest first: as
// much as may run at once, however much that is older waits for others.
func (s *Shell) waiting(ctx context.Context) ([]spaces.PendingWork, error) {
	for limit := max(s.Cycles, s.looked.reach); ; limit *= 2 {
		ws, err := s.Inbox.Waiting(ctx, time.Now(), limit)
		if err != nil {
			return nil, err
		}
		whole := len(ws) < limit
		s.mu.Lock()
		ws = slices.DeleteFunc(ws, func(w spaces.PendingWork) bool { return !s.serves(w.Mind.Agent) })
		s.mu.Unlock()
		if whole || len(ws) >= s.Cycles {
			s.looked.reach = limit / 2
			return ws, nil
		}
	}
}

// fire runs the timers that are due and returns when to look again.
func (s *Shell) fire(ctx context.Context, cycles *sync.WaitGroup) time.Duration {
	wakes, err := s.Inbox.Due(ctx, time.Now(), s.Holder, s.Lease, s.Cycles, s.isHere)
	if err != nil && ctx.Err() == nil {
		s.Logger.Error("timers not readable", "error", err)
	}
	for i := range wakes {
		w := &wakes[i]
		p := wakeKey{w.Cycle.Mind, w.Cycle.Space}
		s.mu.Lock()
		if !s.serves(p.mind.Agent) { // it has just left; its cycle stays open until it is back, or a start ends it
			s.mu.Unlock()
			s.Logger.Warn("timer of an agent that is not here", "mind", p.mind.String(), "cycle", w.Cycle.ID)
			continue
		}
		t := &claimAttempt{place: p, wake: w}
		if s.running[p] != nil { // the wake before it is closed in the record, and about to end here
			s.next[p] = append(s.next[p], t)
			s.mu.Unlock()
			continue
		}
		s.begins(p)
		s.mu.Unlock()
		cycles.Go(func() { s.attend(ctx, t) })
	}
	next, ok, err := s.Inbox.NextTimer(ctx)
	wait := time.Until(next)
	s.looked.late.Store(ok && wait <= 0)
	if err != nil || !ok || wait <= 0 && len(wakes) == 0 { // what is due is held back: its mind is busy, or not here
		return s.Poll
	}
	return min(max(wait, time.Millisecond), s.Poll)
}

// begins notes that a place runs. s.mu is held.
func (s *Shell) begins(p wakeKey) {
	s.running[p] = &activeCycle{}
	s.load[p.mind]++
}

// finished gives a place free, or to the timer that has fired there meanwhile. err is
// why what was begun there has not come to its end.
func (s *Shell) finished(p wakeKey, err error) {
	s.mu.Lock()
	s.tears(p, err)
	delete(s.running, p)
	if s.load[p.mind]--; s.load[p.mind] <= 0 {
		delete(s.load, p.mind)
	}
	if next := s.next[p]; len(next) > 0 {
		s.begins(p)
		s.claimed, s.next[p] = append(s.claimed, next[0]), next[1:]
	} else {
		delete(s.next, p)
	}
	if err != nil || !s.rung[p] {
		s.served(p, err)
	}
	if s.looked.late.Load() {
		s.timersDue()
	}
	s.mu.Unlock()
	s.wakeUp()
}

// judge returns the gate for a place, and publishes its verdicts.
func (s *Shell) judge(p wakeKey) func(spaces.GateInput) []spaces.GateDecision {
	set := s.Settings(p.mind.Agent, p.space)
	gate := Gate{Agent: p.mind.Agent, Root: set.Budget.Root, Sender: set.Budget.Sender, Ambient: set.Ambient}
	return func(j spaces.GateInput) []spaces.GateDecision {
		j.Space.Wake = cmp.Or(set.Wake, j.Space.Wake)
		verdicts := gate.Judge(j)
		for i, v := range verdicts {
			s.publish("gate_decision", v.Reason, map[string]any{
				"mind": p.mind.String(), "space": string(p.space), "event": string(j.Events[i].ID), "wake": v.Wake,
			})
		}
		return verdicts
	}
}

func (s *Shell) publish(kind, content string, metadata map[string]any) {
	if s.Bus != nil {
		s.Bus.Publish(kind, content, metadata, time.Now())
	}
}

func (s *Shell) log(w *spaces.Wake) *slog.Logger {
	return s.Logger.With("cycle", w.Cycle.ID, "mind", w.Cycle.Mind.String(), "space", w.Cycle.Space)
}
