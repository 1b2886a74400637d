package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// What an older program knew the name of alone is filled in when it is offered again.
	noteOffered engine.Query = `insert into manifests (hash, first_used, last_used, body) values ($1, $2, $2, $3)
on conflict (hash) do update set body = coalesce(manifests.body, excluded.body),
  last_used = case when manifests.last_used < excluded.last_used then excluded.last_used else manifests.last_used end`
	namedManifests engine.Query = `select hash, first_used, last_used, body from manifests
where hash >= $1 and hash < $1 || '􏿿' order by last_used desc, hash limit $2 + 0`
)

// noteEvery is how often the use of one version of the acts is noted, in
// milliseconds: a message does not pay for it.
const noteEvery = int64(time.Hour / time.Millisecond)

// storeManifest keeps the acts that the cycle was offered, with the first cycle that was
// offered them, and notes from time to time that they are in use.
func (k *stepTx) storeManifest(ctx context.Context, m spaces.ToolManifest) error {
	now := engine.ToMillis(k.commit.At)
	if noted, known := k.cache.manifests[m.Hash]; m.Hash == "" || known && now < noted+noteEvery {
		return nil
	}
	var body any
	if m.Acts != nil {
		text, err := json.Marshal(m.Acts)
		if err != nil {
			return fmt.Errorf("encode acts: %w", err)
		}
		body = text
	}
	if err := k.Run(ctx, noteOffered, m.Hash, now, body); err != nil {
		return fmt.Errorf("keep acts %s: %w", m.Hash, err)
	}
	k.cache.manifests[m.Hash] = now
	return nil
}

// Manifests implements [console.Record].
func (c ReadModel) Manifests(ctx context.Context, beginning string, limit int) ([]console.Manifest, error) {
	found, err := engine.AllRows(ctx, c.engine, namedManifests, []any{beginning, limit}, scanManifest)
	if err != nil {
		return nil, fmt.Errorf("list versions of the acts: %w", err)
	}
	return found, nil
}

func scanManifest(r engine.Row) (m console.Manifest, err error) {
	var body []byte
	if err := r.Scan(&m.Hash, engine.ScanTime(&m.First), engine.ScanTime(&m.Last), &body); err != nil || body == nil {
		return m, err
	}
	if err := json.Unmarshal(body, &m.Acts); err != nil {
		return m, fmt.Errorf("read acts %s: %w", m.Hash, err)
	}
	return m, nil
}
