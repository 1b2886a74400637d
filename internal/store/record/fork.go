package record

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/spaces"
)

// Fork begins a branch of a room that shares the primary one up to at and goes
// on by itself. It copies nothing; what is said on it reaches no platform.
func (s *Store) Fork(ctx context.Context, space spaces.SpaceID, at int64, branch spaces.BranchID) error {
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		b := spaces.Branch{Space: space, ID: branch, From: spaces.Primary, ForkSeq: at, HeadSeq: at}
		found, err := one(ctx, t, eventChainAt, []any{string(space), string(spaces.Primary), at}, &b.Head, &b.Chain)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("event %d: %w", at, ErrUnknown)
		}
		return t.newLine(ctx, b)
	})
	if err != nil {
		return fmt.Errorf("fork %s at %d: %w", space, at, err)
	}
	return nil
}
