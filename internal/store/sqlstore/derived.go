package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertKeyframe engine.QueryText = `insert into keyframes (agent, circle, n, refs, tokens, upto, cause, at, body, plan)
values ($1, $2, (select coalesce(max(n), 0) + 1 from keyframes where agent = $1 and circle = $2), $3, $4, $5, $6, $7, $8, $9)`
	leasesOf engine.QueryText = `select holder, space, expires from leases where agent = $1 and circle = $2 and expires > $3`
)

// Cut implements [shell.CycleStore]. The keyframe gets the next number of its mind.
func (s MemoryStore) Cut(ctx context.Context, holder string, k spaces.Keyframe, c spaces.ContextCompacted) error {
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if err := t.cycle.checkSoleHolder(ctx, k.Mind, holder, k.At); err != nil {
			return err
		}
		err := t.Run(ctx, insertKeyframe, string(k.Mind.Agent), string(k.Mind.Circle), engine.EncodeList(k.Refs), k.Tokens, k.Upto, k.Cause, engine.ToMillis(k.At), []byte(k.Text), k.Plan)
		if err != nil {
			return err
		}
		return t.inner.append(ctx, k.Mind, k.At, c)
	})
	if err != nil {
		return fmt.Errorf("store keyframe of %s: %w", k.Mind, err)
	}
	return nil
}

// checkSoleHolder fails if another holder has a lease of the mind.
func (t *cycleTx) checkSoleHolder(ctx context.Context, m spaces.Mind, holder string, at time.Time) error {
	leases, err := engine.AllRows(ctx, t, leasesOf, []any{string(m.Agent), string(m.Circle), t.SharedMillis(at)}, func(r engine.ResultRow) (l spaces.MindLease, err error) {
		return l, r.Scan(&l.Holder, &l.Space, engine.ScanTime(&l.Expires))
	})
	if err != nil {
		return err
	}
	for _, l := range leases {
		if l.Holder != holder {
			return fmt.Errorf("%w: %s runs the mind in %s", spaces.ErrLeaseLost, l.Holder, l.Space)
		}
	}
	return nil
}

const (
	digestsFrom  engine.QueryText = `select ` + tables.SummaryColumns + ` from digests where agent = $1 and circle = $2 and replace(sources, $3, '') <> sources order by first`
	insertDigest engine.QueryText = `insert into digests (agent, circle, first, last, body, sources, readers, model, at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
on conflict (agent, circle, first) do update set last = excluded.last, body = excluded.body, sources = excluded.sources,
  readers = excluded.readers, model = excluded.model, at = excluded.at`
	deleteDigest engine.QueryText = `delete from digests where agent = $1 and circle = $2 and first = $3`
	takenBack    engine.QueryText = `select event from redacted where agent = $1 and circle = $2`
)

var _ shell.SummaryStore = AgentStore{}

// Digests implements [shell.SummaryStore].
func (s MemoryStore) Digests(ctx context.Context, m spaces.Mind) ([]spaces.CycleSummary, error) {
	out, err := engine.AllRows(ctx, s.s.engine, tables.SummariesOfMind, []any{string(m.Agent), string(m.Circle)}, tables.ScanSummary)
	if err != nil {
		return nil, fmt.Errorf("read summaries of %s: %w", m, err)
	}
	return out, nil
}

// Digest implements [shell.SummaryStore].
func (s MemoryStore) Digest(ctx context.Context, d spaces.CycleSummary) error {
	stale := false
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if err := t.usage.addDaily(ctx, d.At, "", d.Space, d.Usage); err != nil { // also when the result is discarded
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
		return fmt.Errorf("store summary of cycles %d to %d of %s: %w", d.First, d.Last, d.Mind, err)
	}
	return nil
}

// digestsOf returns the summaries that a message is a source of.
func (s MemoryStore) digestsOf(ctx context.Context, m spaces.Mind, source spaces.EventID) ([]spaces.CycleSummary, error) {
	found, err := engine.AllRows(ctx, s.s.engine, digestsFrom, []any{string(m.Agent), string(m.Circle), `"` + string(source) + `"`}, tables.ScanSummary)
	if err != nil {
		return nil, fmt.Errorf("find summaries of %s: %w", source, err)
	}
	return found, nil
}

// undigest deletes summaries, after their words were removed from what showed them.
func (s MemoryStore) undigest(ctx context.Context, digests []spaces.CycleSummary) error {
	for _, d := range digests {
		err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
			return t.Run(ctx, deleteDigest, string(d.Mind.Agent), string(d.Mind.Circle), d.First)
		})
		if err != nil {
			return fmt.Errorf("delete summary %d of %s: %w", d.First, d.Mind, err)
		}
	}
	return nil
}

const (
	meaningsBetween engine.QueryText = `select event, seq, vector from meanings where space = $1 and seq > $2 and seq <= $3 and model = $4 order by seq`
	insertMeaning   engine.QueryText = `insert into meanings (event, space, seq, model, vector) values ($1, $2, $3, $4, $5)
on conflict (event) do update set model = excluded.model, vector = excluded.vector`
	dropMeaning   engine.QueryText = `delete from meanings where event = $1`
	rewordedSince engine.QueryText = `select exists (select 1 from events
where space = $1 and branch = 'main' and seq > $2 and (kind = 'edited' or kind = 'transcribed' or kind = 'deleted'))`
)

var _ shell.EmbeddingStore = AgentStore{}

// Meanings implements [shell.EmbeddingStore].
func (s MemoryStore) Meanings(ctx context.Context, space spaces.SpaceID, model string, after, upto int64) ([]spaces.MessageEmbedding, error) {
	out, err := engine.AllRows(ctx, s.s.engine, meaningsBetween, []any{string(space), after, upto, model}, func(r engine.ResultRow) (m spaces.MessageEmbedding, err error) {
		var stored []byte
		err = r.Scan(&m.Event, &m.Seq, &stored)
		m.Vector = make(spaces.EmbeddingVector, len(stored))
		for i, b := range stored {
			m.Vector[i] = int8(b)
		}
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read embeddings of %s: %w", space, err)
	}
	return out, nil
}

// Mean implements [shell.EmbeddingStore].
func (s MemoryStore) Mean(ctx context.Context, m spaces.EmbeddingResult) error {
	stale := false
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if err := t.usage.addDaily(ctx, m.At, "", m.Space, m.Usage); err != nil { // also when the result is discarded
			return err
		}
		var err error
		if stale, err = engine.QueryBool(ctx, t, rewordedSince, string(m.Space), m.Upto); err != nil || stale {
			return err
		}
		for _, x := range m.All {
			stored := make([]byte, len(x.Vector))
			for i, n := range x.Vector {
				stored[i] = byte(n)
			}
			if err := t.Run(ctx, insertMeaning, string(x.Event), string(m.Space), x.Seq, m.Model, stored); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && stale && len(m.All) > 0 {
		err = spaces.ErrStale
	}
	if err != nil {
		return fmt.Errorf("store embeddings in %s: %w", m.Space, err)
	}
	return nil
}

// dropEmbedding deletes the embedding of a message whose words an event changes.
func (t *eventTx) dropEmbedding(ctx context.Context, b spaces.EventBody) error {
	switch b.Kind() {
	case spaces.KindEdited, spaces.KindTranscribed, spaces.KindDeleted:
	default:
		return nil
	}
	if message, _ := spaces.Target(b); message != "" {
		return t.Run(ctx, dropMeaning, string(message))
	}
	return nil
}
