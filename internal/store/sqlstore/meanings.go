package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	meaningsBetween engine.Query = `select event, seq, vector from meanings where space = $1 and seq > $2 and seq <= $3 and model = $4 order by seq`
	insertMeaning   engine.Query = `insert into meanings (event, space, seq, model, vector) values ($1, $2, $3, $4, $5)
on conflict (event) do update set model = excluded.model, vector = excluded.vector`
	dropMeaning   engine.Query = `delete from meanings where event = $1`
	rewordedSince engine.Query = `select exists (select 1 from events
where space = $1 and branch = 'main' and seq > $2 and (kind = 'edited' or kind = 'transcribed' or kind = 'deleted'))`
)

var _ shell.EmbeddingStore = AgentStore{}

// Meanings implements [shell.Meanings].
func (s AgentStore) Meanings(ctx context.Context, space spaces.SpaceID, model string, after, upto int64) ([]spaces.Embedding, error) {
	out, err := engine.AllRows(ctx, s.s.engine, meaningsBetween, []any{string(space), after, upto, model}, func(r engine.Row) (m spaces.Embedding, err error) {
		var stored []byte
		err = r.Scan(&m.Event, &m.Seq, &stored)
		m.Vector = make(spaces.EmbeddingVector, len(stored))
		for i, b := range stored {
			m.Vector[i] = int8(b)
		}
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read meanings of %s: %w", space, err)
	}
	return out, nil
}

// Mean implements [shell.Meanings].
func (s AgentStore) Mean(ctx context.Context, m spaces.EmbeddingResult) error {
	stale := false
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if err := t.usage.addDaily(ctx, m.At, "", m.Space, m.Usage); err != nil { // whatever becomes of it
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
		return fmt.Errorf("keep meanings in %s: %w", m.Space, err)
	}
	return nil
}

// reword forgets where the words of a message stood that an event changes.
func (t *eventTx) dropEmbedding(ctx context.Context, b spaces.Body) error {
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
