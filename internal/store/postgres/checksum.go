package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// Page implements [engine.Pager].
func (e *postgresEngine) Page(ctx context.Context, t engine.CopyTable, after []any, limit int) ([][]any, error) {
	found, err := e.pool.Query(ctx, t.PageStatement(after != nil)+strconv.Itoa(limit), after...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(r pgx.CollectableRow) ([]any, error) { return r.Values() })
}

// digest returns the hash of a table and how many rows it has.
func digest(ctx context.Context, src engine.TablePager, t engine.CopyTable) (sum [sha256.Size]byte, rows int, err error) {
	h := sha256.New()
	var after []any
	for {
		page, err := src.Page(ctx, t, after, pageRows)
		if err != nil {
			return sum, rows, err
		}
		if len(page) == 0 {
			return [sha256.Size]byte(h.Sum(nil)), rows, nil
		}
		after = t.KeyOf(page[len(page)-1])
		for _, row := range page {
			for _, v := range wire(row) {
				put(h, v)
			}
		}
		rows += len(page)
	}
}

// put adds a value to a hash so that no two rows look alike.
func put(h hash.Hash, v any) {
	kind, bytes := byte('?'), []byte(nil)
	switch v := v.(type) {
	case nil:
		kind = 'n'
	case int64:
		kind, bytes = 'i', binary.BigEndian.AppendUint64(nil, uint64(v))
	case float64:
		kind, bytes = 'f', binary.BigEndian.AppendUint64(nil, math.Float64bits(v))
	case string:
		kind, bytes = 't', []byte(v)
	case []byte:
		kind, bytes = 'b', v
	}
	h.Write(binary.BigEndian.AppendUint64([]byte{kind}, uint64(len(bytes))))
	h.Write(bytes)
}
