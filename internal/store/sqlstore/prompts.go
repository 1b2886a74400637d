package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertActivation engine.QueryText = `insert into prompt_activations (section, agent, version, by_whom, at) values ($1, $2, $3, $4, $5)`
	undoActivation   engine.QueryText = `update prompt_activations set undone = $3, undone_by = $4 where n =
  (select max(n) from prompt_activations where section = $1 and agent = $2 and undone = 0)`
)

// A PromptStore stores which versions of prompt sections are activated.
type PromptStore struct {
	readmodel.ReadModel
	s *Store
}

var _ prompts.ActivationStore = PromptStore{}

// ActivatePrompt implements [prompts.ActivationStore].
func (p PromptStore) ActivatePrompt(ctx context.Context, a spaces.PromptActivation) error {
	err := p.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		return t.Run(ctx, insertActivation, a.Section, string(a.Agent), a.Version, a.By, engine.ToMillis(a.At))
	})
	if err != nil {
		return fmt.Errorf("activate version %d of prompt section %s: %w", a.Version, a.Section, err)
	}
	return nil
}

// RollBackPrompt implements [prompts.ActivationStore].
func (p PromptStore) RollBackPrompt(ctx context.Context, section string, agent spaces.AgentID, by string, at time.Time) (done bool, err error) {
	err = p.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		n, err := t.Exec(ctx, undoActivation, section, string(agent), engine.ToMillis(at), by)
		done = n > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("roll back prompt section %s: %w", section, err)
	}
	return done, nil
}
