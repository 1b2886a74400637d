package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// A ReadModel is the record as operators see it. It never writes.
type ReadModel struct{ engine engine.Engine }

var (
	_ console.Store          = ReadModel{}
	_ console.ActivityReader = ReadModel{}
)

// Console returns the operators' view of the store. It needs no Close.
func (s *Store) Console() ReadModel { return ReadModel{s.engine} }

// Look returns the operators' view of a record whose schema is the one this
// program knows, beside whoever writes it. The caller closes it, and e with it.
func Look(e engine.Engine) ReadModel { return ReadModel{e} }

// Backup writes a copy of the record as it stands now to file, which must be
// absent or empty. Whoever writes goes on meanwhile. It fails with [ErrNoBackup] where
// the engine leaves that to its own tools.
func (c ReadModel) Backup(ctx context.Context, file string) error {
	b, ok := c.engine.(engine.BackupEngine)
	if !ok {
		return fmt.Errorf("back up to %s: %w", file, engine.ErrNoBackup)
	}
	return b.Backup(ctx, file)
}

// Close closes what [Look] was given.
func (c ReadModel) Close() error {
	if c.engine == nil {
		return nil
	}
	return c.engine.Close()
}
