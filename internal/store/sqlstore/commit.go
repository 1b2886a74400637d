package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	holding engine.QueryText = `select y.state, y.space, y.turns, y.actions, coalesce(l.holder, ''), coalesce(l.epoch, 0), coalesce(l.expires - l.ttl, 0), y.halted, y.crashes, y.mission, y.task
from cycles y left join leases l on l.agent = y.agent and l.circle = y.circle and l.space = y.space where y.id = $1`
	refuseWrite   engine.QueryText = `update leases set refused = refused + 1 where agent = $1 and circle = $2 and space = $3`
	extendLease   engine.QueryText = `update leases set expires = $4 + ttl where agent = $1 and circle = $2 and space = $3`
	releaseLease  engine.QueryText = `update leases set expires = 0 where agent = $1 and circle = $2 and space = $3`
	cycleProgress engine.QueryText = `active = $2, upto = case when upto < $3 then $3 else upto end, turns = turns + $4, tokens = tokens + $5, actions = $6,
  prompt = prompt + $7, cached = cached + $8, output = output + $9, estimated = estimated + $10, calls = calls + $11, cost = cost + $12`
	advanceCycle engine.QueryText = `update cycles set ` + cycleProgress + ` where id = $1`
)

// leaseSlack is the number of milliseconds by which a lease may be short of its full
// time without being extended.
const leaseSlack = 1000

// Commit implements [shell.CycleStore].
func (s RunStore) Commit(ctx context.Context, c spaces.StepCommit) (spaces.CommitResult, error) {
	var done spaces.CommitResult
	stored, err := encodeStep(c)
	if err != nil {
		return done, fmt.Errorf("commit step %d of %s: %w", c.Step.N, c.Step.Cycle, err)
	}
	err = s.s.writeFrequent(ctx, func(ctx context.Context, t *storeTx) error {
		k := stepTx{storeTx: t, commit: c, stored: stored, mind: c.Lease.Mind}
		if err := k.store(ctx); err != nil {
			return err
		}
		done = k.result
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

// A storedStep holds the encoded parts of a step. They are encoded before the write
// transaction begins.
type storedStep struct {
	turns []storedTurn
	shown []byte
}

type storedTurn struct {
	refs string
	body []byte
}

func encodeStep(c spaces.StepCommit) (s storedStep, err error) {
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

// A stepTx is the commit of one step.
type stepTx struct {
	*storeTx
	commit spaces.StepCommit
	stored storedStep
	mind   spaces.Mind
	result spaces.CommitResult

	runState      // before this step
	opened   bool // by this process, and nothing else has changed it since
	sent     int  // messages of this step
}

func (k *stepTx) store(ctx context.Context) error {
	if err := k.checkLease(ctx); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{k.resetCrashes, k.dropGivenUp, k.storeEffects, k.appendInner, k.storeTurns, k.storeSteps, k.storeTimers, k.storeRuns, k.chargeUsage, k.joinRows} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	if k.commit.Close != nil {
		return k.closeCycle(ctx)
	}
	if err := k.RunAside(ctx, advanceCycle, k.progressArgs()...); err != nil {
		return fmt.Errorf("advance cycle: %w", err)
	}
	if now := k.SharedMillis(k.commit.At); now-k.leased >= leaseSlack { // else it was taken or extended just now
		if err := k.Run(ctx, extendLease, k.leaseKey(now)...); err != nil {
			return err
		}
		k.leased = now
	}
	if k.opened {
		k.turns += len(k.stored.turns)
		k.cache.recent.runs[k.commit.Step.Cycle] = k.runState
	}
	return nil
}

// leaseKey returns the key of the lease, with more arguments appended.
func (k *stepTx) leaseKey(more ...any) []any {
	return append([]any{string(k.mind.Agent), string(k.mind.Circle), string(k.trigger)}, more...)
}

// checkLease fails unless the caller still holds the lease of the cycle. A refusal is
// counted in the database; nothing else of the commit is stored.
func (k *stepTx) checkLease(ctx context.Context) error {
	l := k.commit.Lease
	k.runState, k.opened = k.cache.recent.runs[k.commit.Step.Cycle]
	if k.opened && k.epoch == l.Epoch && k.holder == l.Holder {
		return nil
	}
	var state spaces.CycleState
	var halted int
	found, err := engine.ScanRow(ctx, k, holding, []any{string(k.commit.Step.Cycle)}, &state, &k.trigger, &k.turns, &k.ordinal, &k.holder, &k.epoch, &k.leased, &halted, &k.crashes, &k.task.Mission, &k.task.Task)
	if err != nil {
		return err
	}
	k.opened = false
	if found && state == spaces.CycleOpen && k.epoch == l.Epoch && k.holder == l.Holder {
		if halted > 0 && (k.commit.Close == nil || k.commit.Close.Stop != spaces.StopCancelled) {
			return spaces.ErrHalted
		}
		return nil
	}
	if err := k.Run(ctx, refuseWrite, string(l.Mind.Agent), string(l.Mind.Circle), string(l.Space)); err != nil {
		return err
	}
	k.CommitRefusal()
	return fmt.Errorf("%w: epoch is %d of %q, write has %d of %q", spaces.ErrLeaseLost, k.epoch, k.holder, l.Epoch, l.Holder)
}

// appendInner appends the events of the step to the inner log.
func (k *stepTx) appendInner(ctx context.Context) error {
	if err := k.inner.append(ctx, k.mind, k.commit.At, k.commit.Inner...); err != nil {
		return err
	}
	for _, b := range k.commit.Inner {
		if d, ok := b.(spaces.CallDenied); ok {
			if err := k.cycle.storeDenial(ctx, k.mind, d.Denial); err != nil {
				return err
			}
		}
		if f, ok := b.(spaces.MemoryRemoved); ok {
			if err := k.Run(ctx, forgetTimer, string(k.mind.Agent), string(k.mind.Circle), f.ID); err != nil {
				return fmt.Errorf("forget plan: %w", err)
			}
		}
	}
	return nil
}

// storeTurns stores the turns, numbered after those of earlier steps.
func (k *stepTx) storeTurns(ctx context.Context) error {
	for i, turn := range k.stored.turns {
		if err := k.Add(ctx, turnRows, string(k.commit.Step.Cycle), k.turns+i, turn.refs, turn.body); err != nil {
			return fmt.Errorf("store turns: %w", err)
		}
	}
	return nil
}

// storeSteps stores the end of this step and the start of the next one, unless the cycle
// ends.
func (k *stepTx) storeSteps(ctx context.Context) error {
	s := k.commit.Step
	if s.State == "" {
		s.State = spaces.StepDone
	}
	at := s.At
	if at.IsZero() {
		at = k.commit.At
	}
	args := []any{
		string(s.Cycle), s.N, string(s.Phase), string(s.State), s.Request, s.Finish,
		s.Usage.Prompt, s.Usage.Cached, s.Usage.Output, s.Usage.Estimated, s.Usage.Calls, s.Usage.Cost, engine.ToMillis(at), s.Frame,
	}
	shown, err := k.frameColumns(ctx, s.Shown)
	if err != nil {
		return err
	}
	args = append(append(args, shown...), s.Model)
	if err := k.Add(ctx, stepRows, args...); err != nil {
		return fmt.Errorf("store step: %w", err)
	}
	if k.commit.Close != nil {
		return nil
	}
	return k.startStep(ctx, s.Cycle, s.N+1, spaces.Engagement, k.commit.At)
}

func (k *stepTx) storeTimers(ctx context.Context) error {
	if err := k.timer.looked(ctx, k.commit.Looked); err != nil || len(k.commit.Timers) == 0 {
		return err
	}
	k.forgetRecent()
	charged, err := k.usage.accountsOf(ctx, k.commit.Step.Cycle)
	if err != nil {
		return fmt.Errorf("find who has timers set: %w", err)
	}
	for _, t := range k.commit.Timers {
		if t.Kind != spaces.TimerPlan { // the time of a plan is a time of day
			t.Due = k.Clock().ToShared(t.Due)
		}
		if err := k.Run(ctx, insertTimer, timerValues(t, charged.people)...); err != nil {
			return fmt.Errorf("set timer: %w", err)
		}
		if err := k.span.closeAsleep(ctx, t, k.commit.At); err != nil {
			return err
		}
	}
	return nil
}

// forgetRecent forgets what the writes of messages have stored lately, because the step
// does what they seldom do.
func (k *stepTx) forgetRecent() { k.cache.recent, k.opened = newRecentState(), false }

func (k *stepTx) storeRuns(ctx context.Context) error {
	if len(k.commit.Runs)+len(k.commit.Shown)+len(k.commit.Missions) > 0 || k.task.Task != 0 {
		k.forgetRecent()
	}
	if err := k.toolRun.store(ctx, &k.commit); err != nil {
		return err
	}
	return k.timer.mission.store(ctx, &k.commit)
}

// joinRows adds the rows that arrived meanwhile and wake to the cycle. A cycle that ends
// takes only rows that it was shown.
func (k *stepTx) joinRows(ctx context.Context) error {
	if k.commit.Judge == nil || k.trigger == "" {
		return nil
	}
	last := int64(math.MaxInt64)
	if k.commit.Close != nil {
		last = k.commit.Upto
	}
	joined, _, err := k.claim.runGate(ctx, spaces.WakeClaim{Mind: k.mind, Space: k.trigger, At: k.commit.At, Judge: k.commit.Judge}, k.commit.Step.Cycle, last)
	if err != nil {
		return err
	}
	for _, e := range joined {
		k.result.Joined = append(k.result.Joined, e.InboxRow)
		k.result.JoinedEvents = append(k.result.JoinedEvents, e.Subject)
	}
	if k.commit.Close == nil || len(joined) > 0 {
		if k.result.Waits, err = k.wait.claimEnded(ctx, k.mind, k.trigger, k.commit.Step.Cycle, k.commit.At); err != nil {
			return err
		}
	}
	if k.result.Head, err = k.branch.headSeq(ctx, k.trigger); err != nil || len(joined)+len(k.result.Waits) == 0 {
		return err
	}
	if k.result.Authority, err = k.entity.authorityOf(ctx, joined, k.result.Waits); err != nil {
		return err
	}
	return k.Run(ctx, lowerAuthority, string(k.commit.Step.Cycle), int(k.result.Authority))
}

// progressArgs returns the arguments of cycleProgress.
func (k *stepTx) progressArgs() []any {
	tokens := 0
	for _, t := range k.commit.Turns {
		tokens += t.Tokens
	}
	u := k.commit.Step.Usage
	return []any{
		string(k.commit.Step.Cycle), string(k.commit.Active), k.commit.Upto, len(k.commit.Turns), tokens, k.ordinal,
		u.Prompt, u.Cached, u.Output, u.Estimated, u.Calls, u.Cost,
	}
}

const closeCycle engine.QueryText = `update cycles set ` + cycleProgress + `, state = $13, stop = $14, detail = $15, rest = $16, denials = $17,
  manifest = $18, plan = $19, n = $20, ended = $21, inner_to = $22, model = $23, answered = $24, prompts = $25 where id = $1`

// closeCycle ends the cycle: its rows are consumed or returned, the cursor of the uplink
// moves, and the cycle gets its number and stop reason.
func (k *stepTx) closeCycle(ctx context.Context) error {
	settle := k.consumeRows
	if k.commit.Close.Back {
		k.forgetRecent()
		settle = k.returnRows
	}
	state, number, err := settle(ctx)
	if err != nil {
		return err
	}
	if err := k.appendSummary(ctx, number); err != nil {
		return err
	}
	for _, n := range k.commit.Close.Notices {
		n.At = k.commit.At
		if err := k.outbox.announce(ctx, n); err != nil {
			return err
		}
	}
	for _, n := range k.commit.Close.Withdraw {
		if err := k.outbox.withdraw(ctx, n.Room, n.Key, k.commit.Step.Cycle, k.commit.At); err != nil {
			return err
		}
	}
	if !k.commit.Close.Back {
		if err := k.settleWaitsForAgent(ctx); err != nil {
			return err
		}
	}
	if !k.opened { // else it has called none
		if err := k.toolRun.settle(ctx, &k.commit); err != nil {
			return err
		}
	}
	if err := k.timer.mission.settle(ctx, &k.commit, k.task); err != nil {
		return fmt.Errorf("settle task: %w", err)
	}
	delete(k.cache.accounts, k.commit.Step.Cycle)
	own, err := k.branch.load(ctx, k.mind.Inner(), k.mind.Branch())
	if err != nil {
		return err
	}
	c := k.commit.Close
	if err := k.storeManifest(ctx, c.Manifest); err != nil {
		return err
	}
	err = k.RunAside(ctx, closeCycle, append(k.progressArgs(), string(state), string(c.Stop), c.Detail, c.Rest, c.Denials,
		c.Manifest.Hash, c.Plan, number, engine.ToMillis(k.commit.At), own.HeadSeq, c.Model, string(c.Answered), c.Prompts)...)
	if err != nil {
		return fmt.Errorf("close cycle: %w", err)
	}
	if !k.opened {
		return k.Run(ctx, releaseLease, k.leaseKey()...)
	}
	delete(k.cache.recent.runs, k.commit.Step.Cycle)
	k.cache.recent.places[inboxKey{k.mind, k.trigger}] = leaseState{epoch: k.epoch, holder: k.holder}
	return k.Add(ctx, leaseRows, k.leaseKey(k.holder, k.epoch, int64(0), k.ttl)...)
}

// consumeRows consumes the rows and numbers the cycle among the closed ones.
func (k *stepTx) consumeRows(ctx context.Context) (spaces.CycleState, any, error) {
	if err := k.Add(ctx, eatenRows, string(k.commit.Step.Cycle)); err != nil {
		return "", nil, err
	}
	if err := k.advanceCursor(ctx); err != nil {
		return "", nil, err
	}
	n, err := k.cycle.lastNumber(ctx, k.mind)
	if err != nil {
		return "", nil, err
	}
	k.result.N = n + 1
	k.cache.closedCycles[k.mind] = k.result.N
	return spaces.CycleClosed, k.result.N, nil
}

// returnRows returns the rows for another attempt. The cycle gets no number: the mind
// does not remember it.
func (k *stepTx) returnRows(ctx context.Context) (spaces.CycleState, any, error) {
	clear(k.cache.handled)
	cycle, retry := string(k.commit.Step.Cycle), engine.CeilMillis(k.Clock().ToShared(k.commit.Close.RetryAt))
	waits, most := returnWaits, maxAttempts
	var err error
	if k.commit.Close.Spared {
		waits, most = spareWaits, maxSpared
		err = k.Run(ctx, spareAll, cycle, retry, most)
	} else {
		err = k.giveUpOrReturn(ctx, cycle, retry, most)
	}
	if err != nil {
		return "", nil, err
	}
	if n, err := k.Exec(ctx, waits, cycle, retry, most); err != nil || n == 0 {
		return spaces.CycleAbandoned, nil, err
	}
	return spaces.CycleAbandoned, nil, k.wait.refresh(ctx, k.trigger)
}

// advanceCursor moves the cursor of the uplink to the last event that the mind was
// shown.
func (k *stepTx) advanceCursor(ctx context.Context) error {
	if k.trigger == "" || k.commit.Upto == 0 {
		return nil
	}
	l, err := k.branch.load(ctx, k.trigger, spaces.Primary)
	if err != nil {
		return err
	}
	id, err := k.branch.idAt(ctx, l, k.commit.Upto)
	if err != nil {
		return err
	}
	here := inboxKey{k.mind, k.trigger}
	if u, ok := k.cache.recent.uplinks[here]; ok && u.Cursor < k.commit.Upto {
		u.Cursor, u.CursorID, u.Erased = k.commit.Upto, id, k.commit.Upto
		k.cache.recent.uplinks[here] = u
	}
	return k.Add(ctx, cursorRows, k.leaseKey(k.commit.Upto, string(id))...)
}

// giveUpOrReturn returns the rows but for those that were tried often enough. Who waits for an
// answer to one of these waits in vain.
func (k *stepTx) giveUpOrReturn(ctx context.Context, cycle string, retry int64, most int) error {
	dead, err := k.wait.eventsOf(ctx, k.trigger, diedOf, cycle, most)
	if err != nil {
		return err
	}
	if err := k.Run(ctx, returnAll, cycle, retry, most, tables.AttemptsReason+string(k.commit.Close.Stop)); err != nil {
		return err
	}
	return k.settleWaits(ctx, dead, spaces.WaitFailed)
}

// appendSummary appends the end of the cycle to the inner log.
func (k *stepTx) appendSummary(ctx context.Context, number any) error {
	c := k.commit.Close
	var last []spaces.EventBody
	if c.Rest != "" && number != nil {
		last = append(last, spaces.CycleSummarised{Cycle: k.commit.Step.Cycle, N: k.result.N, Text: c.Rest, Derived: c.Derived})
	}
	last = append(last, spaces.CycleStopped{Cycle: k.commit.Step.Cycle, Reason: c.Stop, Detail: c.Detail})
	return k.inner.append(ctx, k.mind, k.commit.At, last...)
}
