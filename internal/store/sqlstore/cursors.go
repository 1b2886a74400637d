package sqlstore

import (
	"context"
	"fmt"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

const (
	upsertCursor engine.Query = `insert into cursors (account, data, at) values ($1, $2, $3)
on conflict (account) do update set data = excluded.data, at = excluded.at`
	selectCursor engine.Query = `select data from cursors where account = $1`
)

// Cursor implements [activity.Log].
func (b BridgeStore) Cursor(ctx context.Context, account string) ([]byte, error) {
	var data []byte
	if _, err := engine.ScanRow(ctx, b.s.engine, selectCursor, []any{account}, &data); err != nil {
		return nil, fmt.Errorf("read cursor of %s: %w", account, err)
	}
	return data, nil
}
