package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	selectRoot engine.Query = `select messages, tokens, stopped from roots where root = $1`
	// maxMembers bounds the members the gate is shown, beside those who act.
	maxMembers = 256
	// maxCachedMembers bounds the members of a room that are kept in memory.
	maxCachedMembers = 32
)

// judge has the gate judge the due rows of a mind in a space, as far as the
// event at last, stores its verdicts, and returns those that wake, claimed for
// the cycle.
func (t *claimTx) runGate(ctx context.Context, c spaces.Claim, cycle spaces.CycleID, last int64) ([]tables.InboxEntry, spaces.Uplink, error) {
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
		} else if err := t.wait.settleIgnored(ctx, e, j.Waits, v.Reason, c.At); err != nil {
			return nil, j.Uplink, err
		}
		if v.Say == "" {
			continue
		}
		if err := t.outbox.announce(ctx, c.Space, systemNotice{key: v.Once, thread: e.Subject.Thread, text: v.Say, at: c.At}); err != nil {
			return nil, j.Uplink, err
		}
	}
	return woken, j.Uplink, nil
}

// due returns the rows of a mind in a space whose time has come, as far as the
// event at last. Where the last look left nothing, and nothing came since, it
// does not look again.
func (t *inboxTx) dueRows(ctx context.Context, c spaces.Claim, last int64) ([]tables.InboxEntry, error) {
	here := inboxKey{c.Mind, c.Space}
	if t.cache.handled[here] {
		return nil, nil
	}
	ready, err := engine.AllRows(ctx, t, readyRows, []any{string(c.Mind.Agent), string(c.Mind.Circle), string(c.Space), maxRows}, tables.ScanInboxEntry)
	if err != nil {
		return nil, err
	}
	now := t.Clock().ToShared(c.At)
	due := slices.DeleteFunc(slices.Clone(ready), func(e tables.InboxEntry) bool { return e.NotBefore.After(now) || e.Seq > last })
	// Every due row gets a verdict now, or nothing of this write is kept.
	t.cache.handled[here] = len(due) == len(ready) && len(ready) < maxRows
	return due, nil
}

func (t *inboxTx) storeDecision(ctx context.Context, e *tables.InboxEntry, v spaces.GateDecision, cycle spaces.CycleID) error {
	key := []any{string(e.Mind.Agent), string(e.Mind.Circle), string(e.Space), e.Seq, v.Reason}
	if !v.Wake {
		return t.Run(ctx, ignoreRow, key...)
	}
	e.State, e.Cycle = spaces.RowClaimed, cycle
	delete(t.cache.accounts, cycle)
	return t.Run(ctx, claimRow, append(key, string(cycle))...)
}

// judged collects all the gate may want to know.
func (t *claimTx) gateInput(ctx context.Context, c spaces.Claim, due []tables.InboxEntry) (j spaces.GateInput, err error) {
	m, space := c.Mind, c.Space
	r, err := t.space.load(ctx, space)
	if err != nil {
		return j, err
	}
	if r == nil {
		return j, fmt.Errorf("space %s: %w", space, engine.ErrUnknown)
	}
	j.Space = r.Space
	if j.Uplink, err = tables.UplinkOf(ctx, t, m, space); err != nil {
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
	j.Senders, j.At = map[spaces.EntityID]int{}, c.At
	for _, e := range due {
		j.Rows = append(j.Rows, e.InboxRow)
		j.Events = append(j.Events, e.Subject)
		if err := t.addTargets(ctx, &j, e); err != nil {
			return j, err
		}
	}
	return j, nil
}

// present returns the members of a space: those longest there, and in any case
// those whose doing is judged.
func (t *spaceTx) membersForGate(ctx context.Context, space spaces.SpaceID, due []tables.InboxEntry) ([]spaces.Member, error) {
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
			members = append(members, spaces.Member{Entity: who, Since: e.Seq})
		}
	}
	return members, nil
}

// roster returns the members of a space, at most maxMembers. The caller only
// reads them.
func (t *spaceTx) members(ctx context.Context, space spaces.SpaceID) ([]spaces.Member, error) {
	if members, ok := t.cache.members[space]; ok {
		return members, nil
	}
	members, err := tables.MembersOfSpace(ctx, t, space, maxMembers)
	if err == nil && len(members) <= maxCachedMembers {
		t.cache.members[space] = members
	}
	return members, err
}

// about adds who wrote the messages an event is about, and what its chain has
// used so far.
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
		tokens := 0
		if _, err := engine.ScanRow(ctx, t, tables.SenderTokens, []any{engine.DayNumber(j.At), string(e.Subject.Actor)}, &tokens); err != nil {
			return err
		}
		j.Senders[e.Subject.Actor] = tokens
	}
	fresh := e.Root == e.Event && e.Attempts == 0 && e.Crashes == 0
	if _, ok := j.Roots[e.Root]; ok || fresh {
		return nil // a fresh root has used nothing
	}
	tally, err := t.usage.chainUsage(ctx, e.Root)
	j.Roots[e.Root] = tally
	return err
}

// used returns what a chain has used so far.
func (t *usageTx) chainUsage(ctx context.Context, root spaces.EventID) (tally spaces.ChainUsage, err error) {
	_, err = engine.ScanRow(ctx, t, selectRoot, []any{string(root)}, &tally.Messages, &tally.Tokens, &tally.Stopped)
	return tally, err
}
