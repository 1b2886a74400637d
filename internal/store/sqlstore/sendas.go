package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/spaces"
)

// SendAs stores a message of an agent that no cycle decided, with one action for every
// chat of its space. It wakes whom a message of the agent wakes. It fails with
// [spaces.ErrAgentRun] when agents have sent their maximum of messages since a person
// last spoke there, and then nothing is stored.
func (s RunStore) SendAs(ctx context.Context, m spaces.OutsideMessage) (spaces.CommitResult, error) {
	var done spaces.CommitResult
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		k := stepTx{storeTx: t, mind: spaces.Mind{Agent: m.Agent}, commit: spaces.StepCommit{At: m.At}}
		if err := k.storeEffect(ctx, m.Effect); err != nil {
			return err
		}
		done = k.result
		return nil
	})
	if err != nil {
		return spaces.CommitResult{}, fmt.Errorf("send as %s in %s: %w", m.Agent, m.Effect.Space, err)
	}
	return done, nil
}
