package engine

import (
	"context"
	"strconv"
	"time"
)

// MetaAnsweredUntil is the row of the table meta in which a restored database stores
// up to when the updates that platforms kept for it count as handled.
const MetaAnsweredUntil = "dealt"

// AnsweredUntilValue returns the value of that row.
func AnsweredUntilValue(until time.Time) string { return strconv.FormatInt(ToMillis(until), 10) }

const firstMigration QueryText = `select coalesce(cast(min(tstamp) as text), '') from goose_db_version where version_id > 0`

// CreatedAt returns when the first migration of a database ran; zero if that is not
// known.
func CreatedAt(ctx context.Context, src QueryReader) (time.Time, error) {
	var text string
	_, err := ScanRow(ctx, src, firstMigration, nil, &text)
	for _, layout := range []string{time.DateTime, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, err
}
