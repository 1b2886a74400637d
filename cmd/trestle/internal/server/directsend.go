package server

import (
	"context"
	"errors"
	"slices"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
)

// directSendStore is the shell's journal with a way to the lines of this process: what
// a step decided to send leaves with the commit that makes it durable.
type directSendStore struct {
	sqlstore.AgentStore
	egress func(account string) *activity.Egress // nil when the account has no line that has joined
	ring   func(account string)                  // tells an account, wherever it is served, of its outbox
}

// Commit makes a step durable and hands on what it decided to send.
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
			j.hand(o.to, done.Leaving[i])
		} else {
			o.to.Release(o.action, err != nil && !refused(err))
		}
	}
	for _, account := range done.Waiting {
		j.ring(account)
	}
	return done, err
}

// A reservedSend is an action that a way out has kept a hand for.
type reservedSend struct {
	to     *activity.Egress
	action spaces.ActionID
}

// hand gives an action to the way out that kept a hand for it. If that one has
// ended since, because the account's entry was changed, the account's next one
// finds the action among what was left behind.
func (j directSendStore) hand(to *activity.Egress, a spaces.Action) {
	if to.SendReserved(a) {
		return
	}
	if next := j.egress(a.Account); next != nil && next != to {
		next.Release(a.ID, true)
	}
}

// refused reports whether a commit surely did not happen.
func refused(err error) bool {
	return slices.ContainsFunc([]error{spaces.ErrLeaseLost, spaces.ErrStale, spaces.ErrAgentRun, spaces.ErrHalted}, func(refusal error) bool { return errors.Is(err, refusal) })
}
