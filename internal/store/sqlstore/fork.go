package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// Fork begins a branch of a room that shares the primary one up to at and goes
// on by itself. It copies nothing; what is said on it reaches no platform.
func (s *Store) Fork(ctx context.Context, space spaces.SpaceID, at int64, branch spaces.BranchID) error {
	err := s.write(ctx, func(ctx context.Context, t *storeTx) error { return t.branch.fork(ctx, space, at, branch) })
	if err != nil {
		return fmt.Errorf("fork %s at %d: %w", space, at, err)
	}
	return nil
}

func (t *branchTx) fork(ctx context.Context, space spaces.SpaceID, at int64, branch spaces.BranchID) error {
	b := spaces.Branch{Space: space, ID: branch, From: spaces.Primary, ForkSeq: at, HeadSeq: at}
	found, err := engine.ScanRow(ctx, t, eventChainAt, []any{string(space), string(spaces.Primary), at}, &b.Head, &b.Chain)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("event %d: %w", at, engine.ErrUnknown)
	}
	return t.create(ctx, b)
}

// appendRehearsed appends what an agent does in a rehearsal to its branch of the room,
// which begins with the first of it. No outbox, inbox or member is touched.
func (k *stepTx) appendRehearsed(ctx context.Context, f spaces.Effect) error {
	l, err := k.branch.load(ctx, f.Space, f.Branch)
	if err != nil {
		return err
	}
	if l == nil {
		at, err := k.branch.headSeq(ctx, f.Space)
		if err != nil {
			return err
		}
		if err := k.branch.fork(ctx, f.Space, at, f.Branch); err != nil {
			return err
		}
	}
	e := k.effectEvent(f, f.Branch)
	if err := k.event.append(ctx, &e); err != nil {
		return err
	}
	k.result.Events = append(k.result.Events, e)
	return nil
}
