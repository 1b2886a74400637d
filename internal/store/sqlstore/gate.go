package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	selectRoot engine.QueryText = `select messages, tokens, cost, stopped from roots where root = $1`
	// lastInThread selects the newest line of an agent in a thread, among the five hundred
	// events of the space before a seq.
	lastInThread engine.QueryText = `select actor, at from events where space = $1 and thread = $2 and thread <> '' and seq < $3 and seq >= $3 - 500
and branch = 'main' and kind = 'said' and actor like 'agent:%' order by seq desc limit 1`
	// maxMembers bounds the members in the input of the gate, beside the authors of the
	// rows.
	maxMembers = 256
	// maxCachedMembers bounds the members of a space that are cached.
	maxCachedMembers = 32
)

// runGate calls the gate with the due rows of a mind in a space up to the seq last,
// stores its decisions, and returns the rows that wake, claimed for the cycle.
func (t *claimTx) runGate(ctx context.Context, c spaces.WakeClaim, cycle spaces.CycleID, last int64) ([]tables.InboxEntry, spaces.Uplink, error) {
	due, err := t.inbox.dueRows(ctx, c, last)
	if err != nil || len(due) == 0 {
		return nil, spaces.Uplink{}, err
	}
	j, err := t.gateInput(ctx, c, due)
	if err != nil {
		return nil, spaces.Uplink{}, fmt.Errorf("read what the gate needs: %w", err)
	}
	verdicts := map[int64]spaces.GateDecision{}
	for _, v := range c.Judge(j) {
		verdicts[v.Seq] = v
	}
	var woken []tables.InboxEntry
	for _, e := range due {
		v, ok := verdicts[e.Seq]
		if !ok {
			return nil, j.Uplink, fmt.Errorf("no verdict on row %d of %s", e.Seq, c.Space)
		}
		e.Reason = v.Reason
		if err := t.inbox.storeDecision(ctx, &e, v, cycle); err != nil {
			return nil, j.Uplink, fmt.Errorf("store verdict on row %d: %w", e.Seq, err)
		}
		if v.Wake {
			woken = append(woken, e)
		} else if !v.Later.IsZero() {
			continue
		} else if err := t.wait.settleIgnored(ctx, e, j.Waits, v.Reason, c.At); err != nil {
			return nil, j.Uplink, err
		}
		if v.Say == "" {
			continue
		}
		if err := t.outbox.announce(ctx, spaces.RoomNotice{Room: c.Space, Key: v.Once, Thread: e.Subject.Thread, Text: v.Say, At: c.At}); err != nil {
			return nil, j.Uplink, err
		}
	}
	return woken, j.Uplink, nil
}

// dueRows returns the rows of a mind in a space that are due, up to the seq last, with those
// that the gate has put off. It does not query again if the last query left no row and none
// was added since.
func (t *inboxTx) dueRows(ctx context.Context, c spaces.WakeClaim, last int64) ([]tables.InboxEntry, error) {
	here := inboxKey{c.Mind, c.Space}
	if t.cache.handled[here] {
		return nil, nil
	}
	ready, known := t.cache.recent.ready[here]
	if !known {
		var err error
		ready, err = engine.AllRows(ctx, t, readyRows, []any{string(c.Mind.Agent), string(c.Mind.Circle), string(c.Space), maxRows}, tables.ScanInboxEntry)
		if err != nil {
			return nil, err
		}
	}
	delete(t.cache.recent.ready, here)
	now := t.Clock().ToShared(c.At)
	due := slices.DeleteFunc(slices.Clone(ready), func(e tables.InboxEntry) bool {
		retried := e.Attempts+e.Crashes > 0 // what the gate has put off is judged with everything new
		return retried && e.NotBefore.After(now) || e.Seq > last
	})
	// Every due row gets a decision now, or this write is undone.
	t.cache.handled[here] = len(due) == len(ready) && len(ready) < maxRows
	return due, nil
}

func (t *inboxTx) storeDecision(ctx context.Context, e *tables.InboxEntry, v spaces.GateDecision, cycle spaces.CycleID) error {
	key := []any{string(e.Mind.Agent), string(e.Mind.Circle), string(e.Space), e.Seq, v.Reason}
	if !v.Wake && !v.Later.IsZero() {
		delete(t.cache.handled, inboxKey{e.Mind, e.Space})
		return t.Run(ctx, deferRow, append(key[:4], engine.CeilMillis(t.Clock().ToShared(v.Later)))...)
	}
	if !v.Wake {
		return t.Run(ctx, ignoreRow, key...)
	}
	e.State, e.Cycle = spaces.RowClaimed, cycle
	delete(t.cache.accounts, cycle)
	return t.Add(ctx, claimedRows, append(key, string(cycle))...)
}

// gateInput loads the input of the gate.
func (t *claimTx) gateInput(ctx context.Context, c spaces.WakeClaim, due []tables.InboxEntry) (j spaces.GateInput, err error) {
	m, space := c.Mind, c.Space
	r, err := t.space.load(ctx, space)
	if err != nil {
		return j, err
	}
	if r == nil {
		return j, fmt.Errorf("space %s: %w", space, engine.ErrUnknown)
	}
	j.Space = r.Space
	if j.Uplink, err = t.uplinkOf(ctx, m, space); err != nil {
		return j, err
	}
	if j.Members, err = t.space.membersForGate(ctx, space, due); err != nil {
		return j, err
	}
	if r.hasWaits {
		if j.Waits, err = engine.AllRows(ctx, t, mindWaits, []any{string(m.Agent), string(m.Circle), string(space)}, tables.ScanWait); err != nil {
			return j, err
		}
	}
	j.ReplyTos, j.Roots = map[spaces.EventID]spaces.EntityID{}, map[spaces.EventID]spaces.ChainUsage{}
	j.Senders, j.At, j.Threads = map[spaces.EntityID]money.UsedTokens{}, c.At, map[spaces.ThreadID]spaces.ThreadLine{}
	for _, e := range due {
		j.Rows = append(j.Rows, e.InboxRow)
		j.Events = append(j.Events, e.Subject)
		if err := t.addTargets(ctx, &j, e); err != nil {
			return j, err
		}
		if err := t.addThread(ctx, &j, e); err != nil {
			return j, err
		}
	}
	return j, nil
}

// uplinkOf returns the uplink of a mind to a space; zero if there is none.
func (t *writeTx) uplinkOf(ctx context.Context, m spaces.Mind, space spaces.SpaceID) (spaces.Uplink, error) {
	if u, ok := t.cache.recent.uplinks[inboxKey{m, space}]; ok {
		return u, nil
	}
	u, err := tables.UplinkOf(ctx, t, m, space)
	if err == nil && u.Space != "" {
		t.cache.recent.uplinks[inboxKey{m, space}] = u
	}
	return u, err
}

// usedBy returns what a person has used on a day.
func (t *writeTx) usedBy(ctx context.Context, k senderKey) (used money.UsedTokens, err error) {
	if used, ok := t.cache.recent.senders[k]; ok {
		return used, nil
	}
	if _, err := engine.ScanRow(ctx, t, tables.SenderTokens, []any{k.day, string(k.who)}, &used.Tokens, &used.Cost); err != nil {
		return used, err
	}
	t.cache.recent.senders[k] = used
	return used, nil
}

// membersForGate returns the members who joined first, and in any case the authors of
// the rows.
func (t *spaceTx) membersForGate(ctx context.Context, space spaces.SpaceID, due []tables.InboxEntry) ([]spaces.SpaceMember, error) {
	members, err := t.members(ctx, space)
	if err != nil || len(members) < maxMembers {
		return members, err
	}
	there := map[spaces.EntityID]bool{}
	for _, m := range members {
		there[m.ID] = true
	}
	for _, e := range due {
		if there[e.Subject.Actor] {
			continue
		}
		there[e.Subject.Actor] = true
		who, found, err := tables.EntityByID(ctx, t, e.Subject.Actor)
		if err != nil {
			return nil, err
		}
		if found {
			members = append(members, spaces.SpaceMember{Entity: who, Since: e.Seq})
		}
	}
	return members, nil
}

// members returns up to maxMembers members of a space. The caller must not change the
// slice.
func (t *spaceTx) members(ctx context.Context, space spaces.SpaceID) ([]spaces.SpaceMember, error) {
	if members, ok := t.cache.members[space]; ok {
		return members, nil
	}
	members, err := tables.MembersOfSpace(ctx, t, space, maxMembers)
	if err == nil && len(members) <= maxCachedMembers {
		t.cache.members[space] = members
	}
	return members, err
}

// addTargets adds the authors of the messages that an event is about, and the usage of
// its chain.
func (t *claimTx) addTargets(ctx context.Context, j *spaces.GateInput, e tables.InboxEntry) error {
	target, _ := spaces.Target(e.Subject.Body)
	for _, id := range []spaces.EventID{e.Subject.ReplyTo, target} {
		if _, ok := j.ReplyTos[id]; ok || id == "" {
			continue
		}
		var who spaces.EntityID
		found, err := engine.ScanRow(ctx, t, tables.EventActor, []any{string(id)}, &who)
		if err != nil {
			return err
		}
		if found {
			j.ReplyTos[id] = who
		}
	}
	if _, ok := j.Senders[e.Subject.Actor]; !ok {
		used, err := t.usedBy(ctx, senderKey{engine.DayNumber(j.At), e.Subject.Actor})
		if err != nil {
			return err
		}
		j.Senders[e.Subject.Actor] = used
	}
	fresh := e.Root == e.Event && e.Attempts == 0 && e.Crashes == 0
	if _, ok := j.Roots[e.Root]; ok || fresh {
		return nil // a new chain has no usage
	}
	tally, err := t.usage.chainUsage(ctx, e.Root)
	j.Roots[e.Root] = tally
	return err
}

// addThread adds who spoke last in the thread of an event.
func (t *claimTx) addThread(ctx context.Context, j *spaces.GateInput, e tables.InboxEntry) error {
	thread := e.Subject.Thread
	if _, ok := j.Threads[thread]; ok || thread == "" {
		return nil
	}
	var last spaces.ThreadLine
	_, err := engine.ScanRow(ctx, t, lastInThread, []any{string(e.Space), string(thread), e.Seq}, &last.Who, engine.ScanTime(&last.At))
	j.Threads[thread] = last
	return err
}

// chainUsage returns the usage of a causal chain.
func (t *usageTx) chainUsage(ctx context.Context, root spaces.EventID) (tally spaces.ChainUsage, err error) {
	_, err = engine.ScanRow(ctx, t, selectRoot, []any{string(root)}, &tally.Messages, &tally.Tokens, &tally.Cost, &tally.Stopped)
	return tally, err
}
