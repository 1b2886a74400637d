package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	passOver   engine.Query = `update uplinks set cursor = $2, cursor_id = $3 where space = $1 and cursor + 1 = $2`
	insertPast engine.Query = `insert into inbox (agent, circle, space, seq, event, root, depth, state, reason, at)
values ($1, $2, $3, $4, $5, $6, $7, 'ignored', 'past', $8)`
	insertStray engine.Query = `insert into strays (account, space, source, reason, at, body) values ($1, $2, $3, $4, $5, $6)`
)

// appendEvent appends an event and lets the minds uplinked there know. An event that
// does not cohere enters as the record of its refusal, and has no id then.
func (i *ingestTx) appendEvent(ctx context.Context, e spaces.Event) (spaces.EventID, error) {
	tie, err := i.assignThread(ctx, &e)
	if err != nil {
		return "", err
	}
	if b, said := e.Body.(spaces.Said); said && b.Past {
		return i.appendHistory(ctx, e, tie)
	}
	if err := i.span.refresh(ctx, e); err != nil {
		return "", err
	}
	err = i.event.append(ctx, &e)
	if errors.Is(err, spaces.ErrTimelineDecoherence) {
		return "", i.appendRefusal(ctx, e, err)
	}
	if err == nil {
		err = i.storeThread(ctx, tie, e)
	}
	if err != nil {
		return "", err
	}
	i.countNew(e.Space)
	if err := i.relayEvent(ctx, e); err != nil {
		return "", err
	}
	return e.ID, i.wakeMinds(ctx, e)
}

// wakeMinds puts an event before the minds of its room, and ends what they waited for.
func (i *ingestTx) wakeMinds(ctx context.Context, e spaces.Event) error {
	woken, err := i.inbox.deliver(ctx, e)
	if err == nil && i.ignoreReason != "" {
		return i.inbox.ignoreForAll(ctx, e, i.ignoreReason)
	}
	if err != nil {
		return err
	}
	over, err := i.wait.settleByEvent(ctx, e, nil)
	for _, m := range woken {
		over = append(over, spaces.PendingWork{Mind: m, Space: e.Space, Since: e.RecvAt})
	}
	for _, w := range over {
		if !slices.ContainsFunc(i.result.Wakes, func(o spaces.PendingWork) bool { return o.Mind == w.Mind && o.Space == e.Space }) {
			i.result.Wakes = append(i.result.Wakes, w)
		}
	}
	return err
}

// appendHistory appends what was said before. Nobody is woken by it, and a mind that had
// seen everything has seen this, too.
func (i *ingestTx) appendHistory(ctx context.Context, e spaces.Event, made *threadMapping) (spaces.EventID, error) {
	if err := i.event.append(ctx, &e); err != nil {
		return "", err
	}
	if err := i.storeThread(ctx, made, e); err != nil {
		return "", err
	}
	i.countNew(e.Space)
	i.result.Past++
	if err := i.Run(ctx, passOver, string(e.Space), e.Seq, string(e.ID)); err != nil {
		return "", fmt.Errorf("pass over %s: %w", e.ID, err)
	}
	r, err := i.space.load(ctx, e.Space)
	if err != nil {
		return "", err
	}
	for _, m := range r.minds {
		if m.Agent.Entity() == e.Actor {
			continue
		}
		err := i.Run(ctx, insertPast, string(m.Agent), string(m.Circle), string(e.Space), e.Seq, string(e.ID), string(e.Root), e.Depth, engine.ToMillis(e.RecvAt))
		if err != nil {
			return "", fmt.Errorf("note that %s is past for %s: %w", e.ID, m, err)
		}
	}
	return e.ID, nil
}

func (i *ingestTx) countNew(space spaces.SpaceID) {
	i.result.New++
	i.result.Spaces = engine.AppendNew(i.result.Spaces, space)
}

// appendRefusal records, in the same space, that an event did not fit (SEQ-10).
func (i *ingestTx) appendRefusal(ctx context.Context, e spaces.Event, why error) error {
	i.log.Warn("event refused", "space", e.Space, "source", e.Source, "error", why)
	raw, err := spaces.Encode(e.Body)
	if err != nil {
		return err
	}
	r := spaces.Event{
		Space: e.Space, Branch: spaces.Primary, Object: e.Object, Thread: e.Thread, Actor: e.Actor,
		At: e.At, RecvAt: e.RecvAt, Source: e.Source,
		Body: spaces.Unreadable{What: string(e.Body.Kind()), Reason: why.Error(), Raw: raw},
	}
	if err := i.event.append(ctx, &r); err != nil {
		return err
	}
	i.countNew(e.Space)
	return nil
}

// storeStray keeps an update that has no log to be kept in.
func (i *ingestTx) storeStray(ctx context.Context, e spaces.Event) error {
	i.log.Error("update without a space", "account", i.batch.Account, "space", e.Space, "source", e.Source)
	raw, err := spaces.Encode(e.Body)
	if err != nil {
		return err
	}
	return i.Run(ctx, insertStray, i.batch.Account, string(e.Space), e.Source, "there is no such space", engine.ToMillis(i.batch.At), raw)
}
