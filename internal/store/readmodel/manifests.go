package readmodel

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	namedManifests engine.QueryText = `select hash, first_used, last_used, body from manifests
where hash >= $1 and hash < $1 || '􏿿' order by last_used desc, hash limit $2 + 0`
	denialColumns engine.QueryText = `agent, act, code, reason, hint, space, cycle, phase, tier, risk, at`
	lastDenials   engine.QueryText = `select n, ` + denialColumns + ` from denials where n < $1 and at >= $2 order by n desc limit $3 + 0`
	denialsOf     engine.QueryText = `select n, ` + denialColumns + ` from denials where agent = $4 and n < $1 and at >= $2 order by n desc limit $3 + 0`
	activePrompts engine.QueryText = `select n, section, agent, version, by_whom, at from prompt_activations where undone = 0 order by n`
)

// PromptActivations returns the activated versions of prompt sections that are not rolled
// back, in the order in which they were activated.
func (c ReadModel) PromptActivations(ctx context.Context) ([]spaces.PromptActivation, error) {
	found, err := engine.AllRows(ctx, c.engine, activePrompts, nil, func(r engine.ResultRow) (a spaces.PromptActivation, err error) {
		return a, r.Scan(&a.N, &a.Section, &a.Agent, &a.Version, &a.By, engine.ScanTime(&a.At))
	})
	if err != nil {
		return nil, fmt.Errorf("list activated prompts: %w", err)
	}
	return found, nil
}

// Manifests implements [console.Store].
func (c ReadModel) Manifests(ctx context.Context, beginning string, limit int) ([]console.ManifestUse, error) {
	found, err := engine.AllRows(ctx, c.engine, namedManifests, []any{beginning, limit}, scanManifest)
	if err != nil {
		return nil, fmt.Errorf("list versions of the acts: %w", err)
	}
	return found, nil
}

func scanManifest(r engine.ResultRow) (m console.ManifestUse, err error) {
	var body []byte
	if err := r.Scan(&m.Hash, engine.ScanTime(&m.First), engine.ScanTime(&m.Last), &body); err != nil || body == nil {
		return m, err
	}
	if err := json.Unmarshal(body, &m.Acts); err != nil {
		return m, fmt.Errorf("read acts %s: %w", m.Hash, err)
	}
	return m, nil
}

// Denials implements [console.Store].
func (c ReadModel) Denials(ctx context.Context, f console.DenialFilter) ([]console.Denial, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	if f.Before <= 0 {
		f.Before = math.MaxInt64
	}
	q, args := lastDenials, []any{f.Before, engine.ToMillis(f.Since), f.Limit}
	if f.Agent != "" {
		q, args = denialsOf, append(args, string(f.Agent))
	}
	found, err := engine.AllRows(ctx, c.engine, q, args, func(r engine.ResultRow) (d console.Denial, err error) {
		return d, r.Scan(&d.N, &d.Agent, &d.Act, &d.Code, &d.Reason, &d.Hint, &d.Space, &d.Cycle, &d.Phase, &d.Tier, &d.Risk, engine.ScanTime(&d.At))
	})
	if err != nil {
		return nil, fmt.Errorf("list denials: %w", err)
	}
	return found, nil
}
