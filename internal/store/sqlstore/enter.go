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

// enter appends an event and lets the minds uplinked there know. An event that
// does not cohere enters as the record of its refusal, and has no id then.
func (i *ingestTx) enter(ctx context.Context, e spaces.Event) (spaces.EventID, error) {
	tie, err := i.thread(ctx, &e)
	if err != nil {
		return "", err
	}
	if b, said := e.Body.(spaces.Said); said && b.Past {
		return i.recall(ctx, e, tie)
	}
	if err := i.stir(ctx, e); err != nil {
		return "", err
	}
	err = i.append(ctx, &e)
	if errors.Is(err, spaces.ErrTimelineDecoherence) {
		return "", i.refuse(ctx, e, err)
	}
	if err == nil {
		err = i.keep(ctx, tie, e)
	}
	if err != nil {
		return "", err
	}
	i.count(e.Space)
	if err := i.relay(ctx, e); err != nil {
		return "", err
	}
	return e.ID, i.wake(ctx, e)
}

// wake puts an event before the minds of its room, and ends what they waited for.
func (i *ingestTx) wake(ctx context.Context, e spaces.Event) error {
	woken, err := i.knock(ctx, e)
	if err == nil && i.hushed != "" {
		return i.hush(ctx, e, i.hushed)
	}
	if err != nil {
		return err
	}
	over, err := i.answered(ctx, e, nil)
	for _, m := range woken {
		over = append(over, spaces.PendingWork{Mind: m, Space: e.Space, Since: e.RecvAt})
	}
	for _, w := range over {
		if !slices.ContainsFunc(i.done.Wakes, func(o spaces.PendingWork) bool { return o.Mind == w.Mind && o.Space == e.Space }) {
			i.done.Wakes = append(i.done.Wakes, w)
		}
	}
	return err
}

// recall appends what was said before. Nobody is woken by it, and a mind that had
// seen everything has seen this, too.
func (i *ingestTx) recall(ctx context.Context, e spaces.Event, made *threadMapping) (spaces.EventID, error) {
	if err := i.append(ctx, &e); err != nil {
		return "", err
	}
	if err := i.keep(ctx, made, e); err != nil {
		return "", err
	}
	i.count(e.Space)
	i.done.Past++
	if err := i.Run(ctx, passOver, string(e.Space), e.Seq, string(e.ID)); err != nil {
		return "", fmt.Errorf("pass over %s: %w", e.ID, err)
	}
	r, err := i.room(ctx, e.Space)
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

func (i *ingestTx) count(space spaces.SpaceID) {
	i.done.New++
	i.done.Spaces = engine.AppendNew(i.done.Spaces, space)
}

// refuse records, in the same space, that an event did not fit (SEQ-10).
func (i *ingestTx) refuse(ctx context.Context, e spaces.Event, why error) error {
	i.lg.Warn("event refused", "space", e.Space, "source", e.Source, "error", why)
	raw, err := spaces.Encode(e.Body)
	if err != nil {
		return err
	}
	r := spaces.Event{
		Space: e.Space, Branch: spaces.Primary, Object: e.Object, Thread: e.Thread, Actor: e.Actor,
		At: e.At, RecvAt: e.RecvAt, Source: e.Source,
		Body: spaces.Unreadable{What: string(e.Body.Kind()), Reason: why.Error(), Raw: raw},
	}
	if err := i.append(ctx, &r); err != nil {
		return err
	}
	i.count(e.Space)
	return nil
}

// stray keeps an update that has no log to be kept in.
func (i *ingestTx) stray(ctx context.Context, e spaces.Event) error {
	i.lg.Error("update without a space", "account", i.batch.Account, "space", e.Space, "source", e.Source)
	raw, err := spaces.Encode(e.Body)
	if err != nil {
		return err
	}
	return i.Run(ctx, insertStray, i.batch.Account, string(e.Space), e.Source, "there is no such space", engine.ToMillis(i.batch.At), raw)
}
