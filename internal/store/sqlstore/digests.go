package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	digestColumns engine.Query = `agent, circle, first, last, body, sources, readers, model, at`
	digestsOf     engine.Query = `select ` + digestColumns + ` from digests where agent = $1 and circle = $2 order by first`
	digestsFrom   engine.Query = `select ` + digestColumns + ` from digests where agent = $1 and circle = $2 and replace(sources, $3, '') <> sources order by first`
	insertDigest  engine.Query = `insert into digests (agent, circle, first, last, body, sources, readers, model, at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
on conflict (agent, circle, first) do update set last = excluded.last, body = excluded.body, sources = excluded.sources,
  readers = excluded.readers, model = excluded.model, at = excluded.at`
	deleteDigest engine.Query = `delete from digests where agent = $1 and circle = $2 and first = $3`
	takenBack    engine.Query = `select event from redacted where agent = $1 and circle = $2`
)

var _ shell.SummaryStore = AgentStore{}

// Digests implements [shell.Digests].
func (s AgentStore) Digests(ctx context.Context, m spaces.Mind) ([]spaces.CycleSummary, error) {
	out, err := engine.AllRows(ctx, s.s.engine, digestsOf, []any{string(m.Agent), string(m.Circle)}, scanDigest)
	if err != nil {
		return nil, fmt.Errorf("read digests of %s: %w", m, err)
	}
	return out, nil
}

// Digest implements [shell.Digests].
func (s AgentStore) Digest(ctx context.Context, d spaces.CycleSummary) error {
	stale := false
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if err := t.usage.addDaily(ctx, d.At, "", d.Space, d.Usage); err != nil { // whatever becomes of it
			return err
		}
		if d.Text == "" {
			return nil
		}
		gone, err := engine.AllRows(ctx, t, takenBack, []any{string(d.Mind.Agent), string(d.Mind.Circle)}, engine.ScanValue[spaces.EventID])
		if err != nil {
			return err
		}
		stale = slices.ContainsFunc(d.Sources, func(id spaces.EventID) bool { return slices.Contains(gone, id) })
		if stale {
			return nil
		}
		return t.Run(ctx, insertDigest, string(d.Mind.Agent), string(d.Mind.Circle), d.First, d.Last, d.Text,
			engine.EncodeList(d.Sources), engine.EncodeList(d.Readers), d.Model, engine.ToMillis(d.At))
	})
	if err == nil && stale {
		err = spaces.ErrStale
	}
	if err != nil {
		return fmt.Errorf("digest cycles %d to %d of %s: %w", d.First, d.Last, d.Mind, err)
	}
	return nil
}

// digestsOf returns what was made of a message.
func (s AgentStore) digestsOf(ctx context.Context, m spaces.Mind, source spaces.EventID) ([]spaces.CycleSummary, error) {
	found, err := engine.AllRows(ctx, s.s.engine, digestsFrom, []any{string(m.Agent), string(m.Circle), `"` + string(source) + `"`}, scanDigest)
	if err != nil {
		return nil, fmt.Errorf("find digests of %s: %w", source, err)
	}
	return found, nil
}

// undigest deletes digests, after their words have gone from all that showed them.
func (s AgentStore) undigest(ctx context.Context, digests []spaces.CycleSummary) error {
	for _, d := range digests {
		err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
			return t.Run(ctx, deleteDigest, string(d.Mind.Agent), string(d.Mind.Circle), d.First)
		})
		if err != nil {
			return fmt.Errorf("delete digest %d of %s: %w", d.First, d.Mind, err)
		}
	}
	return nil
}

func scanDigest(r engine.Row) (d spaces.CycleSummary, err error) {
	return d, r.Scan(&d.Mind.Agent, &d.Mind.Circle, &d.First, &d.Last, &d.Text, engine.ScanList(&d.Sources),
		engine.ScanList(&d.Readers), &d.Model, engine.ScanTime(&d.At))
}
