package server

import (
	"context"
	"errors"
	"slices"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
)

// directSendStore is the shell's journal. It passes what a step decided to send to the
// connections of this process once the step is committed.
type directSendStore struct {
	sqlstore.AgentStore
	egress func(account string) *activity.Egress // nil when the account has no line that has joined
	ring   func(account string)                  // tells an account, wherever it is served, of its outbox
}

// Commit commits a step and passes on what it decided to send.
func (j directSendStore) Commit(ctx context.Context, c spaces.StepCommit) (spaces.CommitResult, error) {
	var offered []reservedSend
	c.Leaves = func(a spaces.Action) bool {
		out := j.egress(a.Account)
		if out == nil || !out.Reserve(a.ID) {
			return false
		}
		offered = append(offered, reservedSend{out, a.ID})
		return true
	}
	whole := false
	defer func() {
		if whole {
			return
		}
		for _, o := range offered { // it panicked: the hands are free again, and what it stored is looked for
			o.to.Release(o.action, true)
		}
	}()
	done, err := j.AgentStore.Commit(ctx, c)
	whole = true
	for _, o := range offered {
		if i := slices.IndexFunc(done.Leaving, func(a spaces.Action) bool { return a.ID == o.action }); i >= 0 {
			j.passOn(o.to, done.Leaving[i])
		} else {
			o.to.Release(o.action, err != nil && !refused(err))
		}
	}
	for _, account := range done.Waiting {
		j.ring(account)
	}
	return done, err
}

// A reservedSend is an action for which an egress has reserved a slot.
type reservedSend struct {
	to     *activity.Egress
	action spaces.ActionID
}

// passOn passes an action to the egress that reserved a slot for it. If that egress has ended,
// because the account's entry was changed, the next one claims the action from the outbox.
func (j directSendStore) passOn(to *activity.Egress, a spaces.Action) {
	if to.SendReserved(a) {
		return
	}
	if next := j.egress(a.Account); next != nil && next != to {
		next.Release(a.ID, true)
	}
}

// refused reports whether a commit certainly did not happen.
func refused(err error) bool {
	return slices.ContainsFunc([]error{spaces.ErrLeaseLost, spaces.ErrStale, spaces.ErrAgentRun, spaces.ErrHalted}, func(refusal error) bool { return errors.Is(err, refusal) })
}
