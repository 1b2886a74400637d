package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// The times of tool runs.
const (
	toolLease   = 2 * time.Minute  // until another process takes a run's process for ended
	toolRenewal = 30 * time.Second // how often the lease of a run is renewed
	toolNews    = 10 * time.Second // how often people are told of the progress of a run, if there is any
	toolGrace   = 5 * time.Second  // for calls under way when the process stops
)

// maxOrphans is how many runs without a cycle are taken up at once.
const maxOrphans = 64

// A toolRunner calls outside tools, for cycles and for runs whose cycles have ended. A call
// goes on when its cycle does not wait for it any longer.
type toolRunner struct {
	store  ToolRunStore
	box    ToolBox
	holder string
	now    func() time.Time
	log    *slog.Logger
	wake   func() // has due timers looked at

	base context.Context //nolint:containedctx // of all calls; ends with the runner
	stop context.CancelCauseFunc
	work sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	live    map[string]*liveTool
	offered map[spaces.AgentID]offeredTools
}

// A liveTool is a run that this process has taken up.
type liveTool struct {
	asked  spaces.ToolRun          // as it was taken up
	cancel context.CancelCauseFunc // guarded by the runner's mu; nil until it is called
	news   atomic.Pointer[string]  // of its progress, that people were not told
	done   chan struct{}           // closed when final is set
	final  spaces.ToolRun
}

var errToolsStop = errors.New("the process stops")

func newToolRunner(o *Options, wake func()) *toolRunner {
	return &toolRunner{
		store: o.Outside.Runner, box: o.Outside.Box, holder: o.Holder, now: o.Now, log: o.Logger, wake: wake,
		live: map[string]*liveTool{}, offered: map[spaces.AgentID]offeredTools{},
	}
}

// open has calls begin, with the values of ctx. They do not end with it, but with close.
func (r *toolRunner) open(ctx context.Context) {
	r.base, r.stop = context.WithCancelCause(context.WithoutCancel(ctx))
}

// A toolWork is a set of runs that have been taken up together.
type toolWork []*liveTool

// begin takes up runs: all at once, or each after the one before it. Those that a person
// has to decide about are left alone.
func (r *toolRunner) begin(runs []spaces.ToolRun, orphan, parallel bool) toolWork {
	work := make(toolWork, len(runs))
	var queue []*liveTool
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, run := range runs {
		if have := r.live[run.ID]; have != nil {
			work[i] = have
			continue
		}
		t := &liveTool{asked: run, final: run, done: make(chan struct{})}
		work[i] = t
		if run.State != spaces.ToolReady && run.State != spaces.ToolRunning {
			close(t.done)
			continue
		}
		r.live[run.ID] = t
		queue = append(queue, t)
	}
	lanes := [][]*liveTool{queue}
	if parallel {
		lanes = nil
		for _, t := range queue {
			lanes = append(lanes, []*liveTool{t})
		}
	}
	for _, lane := range lanes {
		r.work.Go(func() {
			for _, t := range lane {
				r.call(t, orphan)
			}
		})
	}
	return work
}

// wait waits for all of the runs, or until ctx is done, and returns them as they are then.
func (w toolWork) wait(ctx context.Context) []spaces.ToolRun {
	out := make([]spaces.ToolRun, len(w))
	for i, t := range w {
		select {
		case <-t.done:
			out[i] = t.final
		case <-ctx.Done():
			select {
			case <-t.done:
				out[i] = t.final
			default:
				out[i] = spaces.ToolRun{ID: t.asked.ID, Call: t.asked.Call, Step: t.asked.Step, Tool: t.asked.Tool, State: spaces.ToolRunning}
			}
		}
	}
	return out
}

// call takes a run through to its end. Whatever goes wrong stays in it.
func (r *toolRunner) call(t *liveTool, orphan bool) {
	final := t.asked
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("tool call panicked", "tool", final.Tool, "panic", p, "stack", string(debug.Stack()))
			final = r.end(final, spaces.ToolRunEnd{State: spaces.ToolUnknown, Detail: fmt.Sprint("panic: ", p)})
		}
		r.mu.Lock()
		delete(r.live, final.ID)
		r.mu.Unlock()
		t.final = final
		close(t.done)
	}()
	if r.base.Err() != nil {
		return // the next process begins it
	}
	run, err := r.store.StartRun(r.base, t.asked.ID, r.holder, toolLease, orphan, r.now())
	if err != nil {
		r.log.Error("tool run not begun", "run", t.asked.ID, "error", err)
		return
	}
	final = run
	if run.State != spaces.ToolRunning || run.Holder != r.holder {
		r.wake() // it has ended, or is another process's
		return
	}
	ctx, cancel := context.WithCancelCause(r.base)
	defer cancel(nil)
	r.mu.Lock()
	t.cancel = cancel
	r.mu.Unlock()
	renewals := r.renew(ctx, t, run.ID, cancel)
	final = r.end(run, r.use(ctx, t, run))
	cancel(nil)
	<-renewals
}

// use calls the tool of a run.
func (r *toolRunner) use(ctx context.Context, t *liveTool, run spaces.ToolRun) spaces.ToolRunEnd {
	if err := failpoint.Point("tool.before_call"); err != nil {
		return spaces.ToolRunEnd{State: spaces.ToolFailed, Detail: err.Error()}
	}
	answer, err := r.box.Use(ctx, ToolUse{ID: run.ID, Tool: run.Tool, Agent: run.Mind.Agent, Space: run.Space, Asker: run.Asker, Args: json.RawMessage(run.Args), Input: run.Input, Progress: func(text string) { t.news.Store(&text) }})
	end := spaces.ToolRunEnd{State: spaces.ToolDone, Result: answer.Text}
	switch {
	case ctx.Err() != nil && err != nil && errors.Is(context.Cause(ctx), errToolsStop) && run.Repeats:
		end.State = spaces.ToolRunning // the next process begins it again
	case ctx.Err() != nil && err != nil && errors.Is(context.Cause(ctx), errCancelled):
		end.State = spaces.ToolCancelled
	case ctx.Err() != nil && err != nil:
		end.State, end.Detail = spaces.ToolUnknown, context.Cause(ctx).Error()
	case err != nil && answer.Unsure && !run.Repeats:
		end.State, end.Detail = spaces.ToolUnknown, err.Error()
	case err != nil:
		end.State, end.Detail = spaces.ToolFailed, err.Error()
	case answer.Failed:
		end.State = spaces.ToolFailed
	case answer.Input.Question != "" && run.Attempt > maxToolInputs:
		end.State, end.Result = spaces.ToolFailed, "It asked for input too often."
	case answer.Input.Question != "":
		end = r.requestInput(run, answer.Input)
	}
	if err := failpoint.Point("tool.after_call"); err != nil {
		r.log.Error("tool result not stored", "error", err)
	}
	return end
}

// end stores the end of a run and returns the run as it is then.
func (r *toolRunner) end(run spaces.ToolRun, e spaces.ToolRunEnd) spaces.ToolRun {
	if e.State == spaces.ToolRunning {
		return run
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.base), commitLimit)
	defer cancel()
	e.ID, e.Holder, e.At = run.ID, r.holder, r.now()
	stored, err := r.store.EndRun(ctx, e)
	if err != nil {
		r.log.Error("end of a tool run not stored", "run", run.ID, "tool", run.Tool, "state", e.State, "error", err)
		return run
	}
	if !stored {
		e.State = spaces.ToolCancelled // a person was faster
	}
	r.log.Info("tool called", "tool", run.Tool, "run", run.ID, "state", e.State, "ms", e.At.Sub(run.Started).Milliseconds(), "detail", e.Detail)
	run.State, run.Result, run.Detail, run.Input = e.State, e.Result, e.Detail, e.Input
	if e.State.Ended() {
		run.Ended = e.At
	}
	r.wake()
	return run
}

// renew keeps the lease of a run until ctx ends, and cancels the run when another process
// or a person has ended it.
func (r *toolRunner) renew(ctx context.Context, t *liveTool, id string, cancel context.CancelCauseFunc) <-chan struct{} {
	over := make(chan struct{})
	r.work.Go(func() {
		defer close(over)
		tick := time.NewTicker(toolRenewal)
		defer tick.Stop()
		news := time.NewTicker(toolNews)
		defer news.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-news.C:
				r.tellProgress(ctx, t)
				continue
			case <-tick.C:
			}
			held, err := r.store.RenewRun(ctx, id, r.holder, toolLease, r.now())
			if err != nil {
				r.log.Warn("lease of a tool run not renewed", "run", id, "error", err)
			} else if !held {
				cancel(errCancelled)
				return
			}
		}
	})
	return over
}

// tellProgress tells people who wait for a run what it tells of its progress, if that is
// new.
func (r *toolRunner) tellProgress(ctx context.Context, t *liveTool) {
	text := t.news.Swap(nil)
	if text == nil {
		return
	}
	line := fmt.Sprintf(progressNotice, t.asked.Tool, textformat.ClipRunes(strings.NewReplacer("`", "'", "\n", " ").Replace(*text), maxProgress))
	if err := r.store.TellProgress(ctx, t.asked, line, r.now()); err != nil {
		r.log.Warn("people not told of the progress of a tool run", "run", t.asked.ID, "error", err)
	}
}

// maxProgress is how much people are shown of what a tool tells of its progress, in
// characters.
const maxProgress = 120

// cancel ends calls that are stored as cancelled.
func (r *toolRunner) cancel(calls []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.live {
		if t.cancel != nil && slices.Contains(calls, t.asked.ID) {
			t.cancel(errCancelled)
		}
	}
}

// sweep takes up runs that no cycle looks after: those that a person has allowed, those
// whose process has ended, and those that no one decided about in time.
func (r *toolRunner) sweep(ctx context.Context) error {
	runs, err := r.store.UnattendedRuns(ctx, r.now(), maxOrphans)
	if err != nil || len(runs) == 0 {
		return err
	}
	for _, run := range runs {
		if run.State != spaces.ToolAsked {
			continue
		}
		if _, err := r.store.EndRun(ctx, spaces.ToolRunEnd{ID: run.ID, State: spaces.ToolExpired, At: r.now()}); err != nil {
			return err
		}
		r.wake()
	}
	r.begin(slices.DeleteFunc(runs, func(run spaces.ToolRun) bool { return run.State == spaces.ToolAsked }), false, true) //nolint:contextcheck // calls outlive the sweep
	return nil
}

// close waits a little for calls under way and cancels the rest.
func (r *toolRunner) close() {
	over := make(chan struct{})
	go func() {
		r.work.Wait()
		close(over)
	}()
	r.mu.Lock()
	busy := len(r.live) > 0
	r.mu.Unlock()
	if busy {
		select {
		case <-over:
		case <-time.After(toolGrace):
		}
	}
	r.stop(errToolsStop)
	<-over
}
