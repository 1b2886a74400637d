package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

const (
	beginWrite  = `begin immediate`
	commitWrite = `commit`
	undoAll     = `rollback`
	saveJob     = `savepoint job`
	keepJob     = `release job`
	undoJob     = `rollback to job`
	waitNot     = `pragma busy_timeout = 0`
	waitAgain   = `pragma busy_timeout = 5000`
	foldLogIn   = `pragma wal_checkpoint(truncate)`
)

// A session is the connection that writes.
type session struct {
	*connection
	folder *checkpointer
	file   string
	opened os.FileInfo // of file
	dirty  bool        // written since the log was last folded in
}

var _ engine.WriteSession = (*session)(nil)

// Run implements [engine.Session].
func (s *session) Run(ctx context.Context, statement string, args ...any) error {
	_, err := s.Exec(ctx, statement, args...)
	return err
}

// Flush implements [engine.Session]: nothing is put off.
func (s *session) Flush(context.Context) error { return nil }

// Begin implements [engine.Session]. This process is the only writer of the file, and
// Begin fails while the file is not in its place. First it checkpoints the rest of a WAL
// of which the [checkpointer] has left only the commits made meanwhile.
func (s *session) Begin(ctx context.Context) (engine.WriteTurn, error) {
	if !s.isInPlace() {
		return engine.WriteTurn{}, errGone
	}
	if s.folder.rest.Swap(false) {
		s.folder.part(ctx, s.connection)
	}
	return engine.WriteTurn{}, s.Run(ctx, beginWrite)
}

// isInPlace reports whether the file is the one that was opened. What else is wrong
// with it the engine says.
func (s *session) isInPlace() bool {
	now, err := os.Stat(s.file)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return os.SameFile(s.opened, now)
}

// Save implements [engine.Session].
func (s *session) Save(ctx context.Context) error { return s.Run(ctx, saveJob) }

// Keep implements [engine.Session].
func (s *session) Keep(ctx context.Context) error { return s.Run(ctx, keepJob) }

// Undo implements [engine.Session].
func (s *session) Undo(ctx context.Context) error {
	return errors.Join(s.Run(ctx, undoJob), s.Run(ctx, keepJob))
}

// Commit implements [engine.Session].
func (s *session) Commit(ctx context.Context) error {
	err := s.Run(ctx, commitWrite)
	s.dirty = true
	if err != nil {
		return errors.Join(err, s.Rollback(ctx))
	}
	if s.folder.commits.Add(1)%foldEvery == 0 {
		s.folder.ring()
	}
	return nil
}

// Rollback implements [engine.Session]. After some errors, a full disk among
// them, the engine has already done so.
func (s *session) Rollback(ctx context.Context) error {
	err := s.Run(ctx, undoAll)
	if err != nil && s.outside(ctx) {
		return nil
	}
	return err
}

// outside reports whether no transaction is open.
func (s *session) outside(ctx context.Context) bool {
	if s.Run(ctx, beginWrite) != nil {
		return false
	}
	return s.Run(ctx, undoAll) == nil
}

// Kind implements [engine.Session].
func (s *session) Kind(err error) error { return kind(err) }

// Rest checkpoints the WAL and truncates it. It does not wait for readers; a later call
// does what this one could not.
func (s *session) Rest(ctx context.Context) error {
	if !s.dirty {
		return nil
	}
	if err := s.Run(ctx, waitNot); err != nil {
		return err
	}
	busy, err := fold(ctx, s, foldLogIn)
	s.dirty = err != nil || busy
	return errors.Join(err, s.Run(ctx, waitAgain))
}

// Close gives up the connection and that of the folder.
func (s *session) Close() error { return errors.Join(s.folder.stop(), s.connection.Close()) }
