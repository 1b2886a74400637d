package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	holding engine.Query = `select y.state, y.space, y.turns, y.actions, coalesce(l.holder, ''), coalesce(l.epoch, 0), coalesce(l.expires - l.ttl, 0), y.halted, y.crashes
from cycles y left join leases l on l.agent = y.agent and l.circle = y.circle and l.space = y.space where y.id = $1`
	refuseWrite   engine.Query = `update leases set refused = refused + 1 where agent = $1 and circle = $2 and space = $3`
	extendLease   engine.Query = `update leases set expires = $4 + ttl where agent = $1 and circle = $2 and space = $3`
	releaseLease  engine.Query = `update leases set expires = 0 where agent = $1 and circle = $2 and space = $3`
	cycleProgress engine.Query = `active = $2, upto = case when upto < $3 then $3 else upto end, turns = turns + $4, tokens = tokens + $5, actions = $6,
  prompt = prompt + $7, cached = cached + $8, output = output + $9, estimated = estimated + $10, calls = calls + $11`
	advanceCycle engine.Query = `update cycles set ` + cycleProgress + ` where id = $1`
)

// leaseSlack is how many milliseconds a lease may be short of its time: it is not
// extended for less.
const leaseSlack = 1000

// Commit implements [shell.Journal].
func (s AgentStore) Commit(ctx context.Context, c spaces.StepCommit) (spaces.CommitResult, error) {
	var done spaces.CommitResult
	stored, err := encode(c)
	if err != nil {
		return done, fmt.Errorf("commit step %d of %s: %w", c.Step.N, c.Step.Cycle, err)
	}
	err = s.s.writeFrequent(ctx, func(ctx context.Context, t *writeTx) error {
		k := stepTx{writeTx: t, c: c, stored: stored, mind: c.Lease.Mind}
		if err := k.all(ctx); err != nil {
			return err
		}
		done = k.done
		if c.Close != nil {
			return t.Reached("cycle.before_commit")
		}
		return nil
	})
	if err != nil {
		return spaces.CommitResult{}, fmt.Errorf("commit step %d of %s: %w", c.Step.N, c.Step.Cycle, err)
	}
	if c.Close != nil {
		err = failpoint.Point("cycle.after_commit")
	}
	if err == nil && len(done.Leaving) > 0 {
		err = failpoint.Point("outbox.sending")
	}
	return done, err
}

// A storedStep is what a step says at length as it is stored. It is encoded before the
// writer turns to the step, for which others wait.
type storedStep struct {
	turns []storedTurn
	shown []byte
}

type storedTurn struct {
	refs string
	body []byte
}

func encode(c spaces.StepCommit) (s storedStep, err error) {
	for _, turn := range c.Turns {
		body, err := json.Marshal(turn)
		if err != nil {
			return s, fmt.Errorf("encode turn: %w", err)
		}
		s.turns = append(s.turns, storedTurn{engine.EncodeList(turn.Refs), body})
	}
	if c.Step.Shown == nil {
		return s, nil
	}
	if s.shown, err = json.Marshal(c.Step.Shown); err != nil {
		return s, fmt.Errorf("encode frame: %w", err)
	}
	return s, nil
}

// A stepTx is one step on its way into the record.
type stepTx struct {
	*writeTx
	c      spaces.StepCommit
	stored storedStep
	mind   spaces.Mind
	done   spaces.CommitResult

	space   spaces.SpaceID // trigger space
	turns   int            // before this step
	ordinal int            // of the next action
	spoke   int            // messages of this step
	leased  int64          // when the lease was last taken or extended
	crashes int            // of processes, since it last committed
}

func (k *stepTx) all(ctx context.Context) error {
	if err := k.hold(ctx); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{k.uncharge, k.effects, k.think, k.show, k.steps, k.timers, k.charge, k.join} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	if k.c.Close != nil {
		return k.close(ctx)
	}
	if err := k.Run(ctx, advanceCycle, k.progress()...); err != nil {
		return fmt.Errorf("advance cycle: %w", err)
	}
	now := k.SharedMillis(k.c.At)
	if now-k.leased < leaseSlack {
		return nil // it was taken or extended just now
	}
	return k.Run(ctx, extendLease, k.key(now)...)
}

// key returns the arguments that name the lease, with more behind them.
func (k *stepTx) key(more ...any) []any {
	return append([]any{string(k.mind.Agent), string(k.mind.Circle), string(k.space)}, more...)
}

// hold makes sure that the cycle is still the caller's. A refusal is counted:
// nothing else of the commit happens.
func (k *stepTx) hold(ctx context.Context) error {
	var state spaces.CycleState
	var holder string
	var epoch int64
	var halted int
	found, err := engine.ScanRow(ctx, k.writeTx, holding, []any{string(k.c.Step.Cycle)}, &state, &k.space, &k.turns, &k.ordinal, &holder, &epoch, &k.leased, &halted, &k.crashes)
	if err != nil {
		return err
	}
	l := k.c.Lease
	if found && state == spaces.CycleOpen && epoch == l.Epoch && holder == l.Holder {
		if halted > 0 && (k.c.Close == nil || k.c.Close.Stop != spaces.StopCancelled) {
			return spaces.ErrHalted
		}
		return nil
	}
	if err := k.Run(ctx, refuseWrite, string(l.Mind.Agent), string(l.Mind.Circle), string(l.Space)); err != nil {
		return err
	}
	k.CommitRefusal()
	return fmt.Errorf("%w: epoch is %d of %q, write has %d of %q", spaces.ErrLeaseLost, epoch, holder, l.Epoch, l.Holder)
}

// think appends the step to the inner log.
func (k *stepTx) think(ctx context.Context) error {
	if err := k.inner(ctx, k.mind, k.c.At, k.c.Inner...); err != nil {
		return err
	}
	for _, b := range k.c.Inner {
		if d, ok := b.(spaces.Denied); ok {
			if err := k.deny(ctx, k.mind, d.Denial); err != nil {
				return err
			}
		}
		if f, ok := b.(spaces.Forgot); ok {
			if err := k.Run(ctx, forgetTimer, string(k.mind.Agent), string(k.mind.Circle), f.ID); err != nil {
				return fmt.Errorf("forget plan: %w", err)
			}
		}
	}
	return nil
}

// show stores the turns, numbered after those of earlier steps.
func (k *stepTx) show(ctx context.Context) error {
	next := k.turns
	for few := range slices.Chunk(k.stored.turns, len(insertTurns)) {
		values := []any{string(k.c.Step.Cycle)}
		for _, turn := range few {
			values = append(values, next, turn.refs, turn.body)
			next++
		}
		if err := k.Run(ctx, insertTurns[len(few)-1], values...); err != nil {
			return fmt.Errorf("store turns: %w", err)
		}
	}
	return nil
}

// steps finishes this step and begins the next, unless the cycle ends.
func (k *stepTx) steps(ctx context.Context) error {
	s := k.c.Step
	if s.State == "" {
		s.State = spaces.StepDone
	}
	at := s.At
	if at.IsZero() {
		at = k.c.At
	}
	q, args := finishStep, []any{
		string(s.Cycle), s.N, string(s.Phase), string(s.State), s.Request, s.Finish,
		s.Usage.Prompt, s.Usage.Cached, s.Usage.Output, s.Usage.Estimated, s.Usage.Calls, engine.ToMillis(at), s.Frame,
	}
	shown, err := k.shown(ctx, s.Shown)
	if err != nil {
		return err
	}
	args = append(args, shown...)
	if k.c.Close == nil {
		q, args = finishAndStart, append(args, engine.ToMillis(k.c.At))
	}
	if err := k.Run(ctx, q, args...); err != nil {
		return fmt.Errorf("store step: %w", err)
	}
	return nil
}

func (k *stepTx) timers(ctx context.Context) error {
	if len(k.c.Timers) == 0 {
		return nil
	}
	charged, err := k.payers(ctx, k.c.Step.Cycle)
	if err != nil {
		return fmt.Errorf("find who has timers set: %w", err)
	}
	for _, t := range k.c.Timers {
		if t.Kind != spaces.TimerPlan { // that is for a time of day, which is everybody's
			t.Due = k.Clock().ToShared(t.Due)
		}
		if err := k.Run(ctx, insertTimer, timerValues(t, charged.people)...); err != nil {
			return fmt.Errorf("set timer: %w", err)
		}
		if err := k.doze(ctx, t, k.c.At); err != nil {
			return err
		}
	}
	return nil
}

// join gives the cycle the rows that arrived meanwhile and wake. A cycle that
// ends takes only what it has been shown.
func (k *stepTx) join(ctx context.Context) error {
	if k.c.Judge == nil || k.space == "" {
		return nil
	}
	last := int64(math.MaxInt64)
	if k.c.Close != nil {
		last = k.c.Upto
	}
	joined, _, err := k.judge(ctx, spaces.Claim{Mind: k.mind, Space: k.space, At: k.c.At, Judge: k.c.Judge}, k.c.Step.Cycle, last)
	if err != nil {
		return err
	}
	for _, e := range joined {
		k.done.Joined = append(k.done.Joined, e.InboxRow)
		k.done.JoinedEvents = append(k.done.JoinedEvents, e.event)
	}
	if k.c.Close == nil || len(joined) > 0 {
		if k.done.Waits, err = k.ends(ctx, k.mind, k.space, k.c.Step.Cycle, k.c.At); err != nil {
			return err
		}
	}
	if k.done.Head, err = k.head(ctx, k.space); err != nil || len(joined)+len(k.done.Waits) == 0 {
		return err
	}
	if k.done.Authority, err = k.authority(ctx, joined, k.done.Waits); err != nil {
		return err
	}
	return k.Run(ctx, lowerAuthority, string(k.c.Step.Cycle), int(k.done.Authority))
}

// progress are the arguments of cycleProgress.
func (k *stepTx) progress() []any {
	tokens := 0
	for _, t := range k.c.Turns {
		tokens += t.Tokens
	}
	u := k.c.Step.Usage
	return []any{
		string(k.c.Step.Cycle), string(k.c.Active), k.c.Upto, len(k.c.Turns), tokens, k.ordinal,
		u.Prompt, u.Cached, u.Output, u.Estimated, u.Calls,
	}
}
