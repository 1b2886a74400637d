package server

import (
	"context"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// ownerPoll is the time between two attempts to acquire what another process has, and between
// two looks for dead processes.
const ownerPoll = time.Second

// Duties that one process of an installation has at a time, beside accounts.
const (
	dutyProblems = "duty problems" // looking for them and telling of them
	dutyVoices   = "duty voices"   // having them heard
	dutyFrames   = "duty frames"   // letting go of old ones
	dutyFigures  = "duty figures"  // counting what happened
)

// AccountThing returns the name of the right to serve the account of an entry.
func AccountThing(name string) string { return "adapter " + name }

// ProcessServing returns the process that serves the account of an entry; nil when none does.
func ProcessServing(crew []engine.WriterProcess, name string) *engine.WriterProcess {
	i := slices.IndexFunc(crew, func(m engine.WriterProcess) bool { return slices.Contains(m.Owned, AccountThing(name)) })
	if i < 0 {
		return nil
	}
	return &crew[i]
}

// runExclusive runs do while this process holds the lock called thing. While another process
// holds it, runExclusive waits and calls other, which may be nil, with that process.
func (node *clusterNode) runExclusive(ctx context.Context, thing string, other func(engine.WriterProcess), do func(context.Context) error) error {
	if !node.acquire(ctx, thing, other) {
		return nil
	}
	defer node.release(ctx, thing)
	return do(ctx)
}

// acquire returns true once this process holds the lock, and false when ctx is done before
// that.
func (node *clusterNode) acquire(ctx context.Context, thing string, other func(engine.WriterProcess)) bool {
	tick := time.NewTicker(ownerPoll)
	defer tick.Stop()
	for {
		has, mine, err := node.Store.Own(ctx, thing)
		switch {
		case mine:
			return true
		case err != nil && ctx.Err() == nil:
			node.Log.Warn("owner not known", "thing", thing, "error", err)
		case err == nil && other != nil:
			other(has)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}

// release frees the lock.
func (node *clusterNode) release(ctx context.Context, thing string) {
	if err := WithGrace(ctx, func(ctx context.Context) error { return node.Store.Disown(ctx, thing) }); err != nil {
		node.Log.Warn("not given back, it passes on later", "thing", thing, "error", err)
	}
}

// watchPeers frees the locks and leases of dead processes and updates the list of those that
// live, until ctx is done. A store that only one process writes has no others.
func (node *clusterNode) watchPeers(ctx context.Context) error {
	if node.Store.Process() == "" {
		return nil
	}
	tick := time.NewTicker(ownerPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		living, err := node.Store.RemoveDead(ctx)
		if err != nil && ctx.Err() == nil {
			node.Log.Warn("dead processes not given up", "error", err)
		}
		if living != nil {
			node.known.Store(new(DecodePeers(living)))
		}
	}
}

// standBy stores which other process serves the account.
func (l *accountConn) standBy(has engine.WriterProcess) {
	if has.ID != "" {
		l.other.Store(&has)
	}
}

// Status returns the state of the connection, also while another process has it.
func (l *accountConn) Status() activity.ConnStatus {
	st := l.AccountConnection.Status()
	if has := l.other.Load(); has != nil {
		st.State, st.Since, st.Reason = activity.ConnStandby, has.Since, has.String()+" serves it"
	}
	return st
}
