package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

const noteDealt = `insert into meta (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`

// NoteDealt stores in a database file that no process has open, whatever its schema,
// until when messages that platforms kept count as handled, see
// [record.Border.DealtUntil]. It is on disk when NoteDealt returns, and there is
// nothing beside the file.
func NoteDealt(ctx context.Context, file string, until time.Time) (err error) {
	db, err := sql.Open("sqlite3", source(file, "rw", shared))
	if err == nil {
		_, err = db.ExecContext(ctx, noteDealt, engine.MetaAnsweredUntil, engine.AnsweredUntilValue(until))
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		return fmt.Errorf("note until when all is dealt with: %w", kind(err))
	}
	return nil
}
