package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// A session is the writing connection. Statements whose result the caller does not need
// are held back and sent with the next one whose result it needs, so that a job costs a
// round trip for each of its queries and one for its end.
type session struct {
	e     *postgresEngine
	conn  *pgxpool.Conn // nil until the first turn, and after it broke
	off   pgx.Batch     // put off
	saved int           // how many statements were put off before the savepoint; -1 when it is on the server
	n     int64         // of the turns before this one
	last  bool          // the session had the last turn as far as it knows
}

var _ engine.WriteSession = (*session)(nil)

// Run implements [engine.Session]. What it fails at comes out with the next
// statement that is answered.
func (s *session) Run(_ context.Context, statement string, args ...any) error {
	s.off.Queue(statement, wire(args)...)
	return nil
}

// Query implements [engine.Reader].
func (s *session) Query(ctx context.Context, statement string, args ...any) (engine.Rows, error) {
	s.off.Queue(statement, wire(args)...)
	answers, n, err := s.send(ctx)
	if err != nil {
		return nil, err
	}
	for range n - 1 {
		if _, err := answers.Exec(); err != nil {
			return nil, s.failed(answers, err)
		}
	}
	found, err := answers.Query()
	if err != nil {
		return nil, s.failed(answers, err)
	}
	return &rows{found, answers.Close}, nil
}

// Exec implements [engine.Session].
func (s *session) Exec(ctx context.Context, statement string, args ...any) (n int64, err error) {
	s.off.Queue(statement, wire(args)...)
	tag, err := s.flush(ctx)
	return tag.RowsAffected(), err
}

// Flush implements [engine.Session].
func (s *session) Flush(ctx context.Context) error {
	_, err := s.flush(ctx)
	return err
}

// flush sends what was put off and returns what became of the last of it.
func (s *session) flush(ctx context.Context) (tag pgconn.CommandTag, err error) {
	if s.off.Len() == 0 {
		return tag, nil
	}
	answers, n, err := s.send(ctx)
	if err != nil {
		return tag, err
	}
	for range n {
		if tag, err = answers.Exec(); err != nil {
			return tag, s.failed(answers, err)
		}
	}
	return tag, s.broken(answers.Close())
}

func (s *session) send(ctx context.Context) (answers pgx.BatchResults, n int, err error) {
	batch := s.off
	s.off, s.saved = pgx.Batch{}, -1
	if s.conn == nil {
		return nil, 0, errBroken
	}
	return s.conn.SendBatch(ctx, &batch), batch.Len(), nil
}

// failed ends a batch after one of its statements failed; those behind it were
// not run, and closing tells of the same error once more.
func (s *session) failed(answers pgx.BatchResults, err error) error {
	_ = answers.Close()
	return s.broken(err)
}

// broken gives up a connection that an error left unusable, and with it those
// that lie idle: seldom does one break alone.
func (s *session) broken(err error) error {
	if err != nil && s.conn != nil && s.conn.Conn().IsClosed() {
		s.drop()
		s.e.pool.Reset()
	}
	return err
}

func (s *session) drop() {
	s.conn.Release()
	s.conn, s.last = nil, false
}

// Begin implements [engine.Session]: it waits for the session's turn. The locks
// are taken in one round trip with the questions that every turn begins with.
func (s *session) Begin(ctx context.Context) (turn engine.WriteTurn, err error) {
	s.off, s.saved = pgx.Batch{}, -1
	rested := s.conn != nil
	turn, err = s.takeTurn(ctx)
	if err != nil && rested && s.conn == nil { // it broke at rest, or now: nothing was written on it
		turn, err = s.takeTurn(ctx)
	}
	if err != nil {
		return turn, errors.Join(err, s.Rollback(ctx))
	}
	return turn, nil
}

const (
	begin    = `begin isolation level read committed`
	turnKey  = `cast(cast(cast('turn' as regclass) as oid) as bigint)`
	lockTurn = `select pg_advisory_xact_lock(` + turnKey + `)`
	askTurn  = `select t.by, t.n, cast(extract(epoch from clock_timestamp()) * 1000 as bigint),
  coalesce((select p.turn from processes p where p.id = $1), -1) from turn t`
	countTurn = `with t as (update turn set by = $1, n = n + 1 returning n) update processes p set turn = t.n from t where p.id = $1`
)

func (s *session) takeTurn(ctx context.Context) (turn engine.WriteTurn, err error) {
	if s.conn == nil {
		if s.conn, err = s.e.attach(ctx); err != nil {
			return turn, err
		}
	}
	s.off.Queue(begin)
	s.off.Queue(lockTurn)
	found, err := s.Query(ctx, askTurn, s.e.id)
	if err != nil {
		return turn, err
	}
	var by string
	var now, had int64
	for found.Next() {
		if err := found.Scan(&by, &s.n, &now, &had); err != nil {
			return turn, errors.Join(err, found.Close())
		}
	}
	if err := found.Close(); err != nil {
		return turn, s.broken(err)
	}
	if had < 0 {
		return turn, ErrBuried
	}
	if had < s.e.had.Load() {
		s.e.left.Store(&had)
		s.e.giveUp(ErrRewound)
		return turn, ErrRewound
	}
	turn.Now = time.UnixMilli(now)
	turn.Stale = by != s.e.id || !s.last
	s.last = true
	return turn, nil
}

// Save implements [engine.Session].
func (s *session) Save(context.Context) error {
	s.saved = s.off.Len()
	s.off.Queue(`savepoint job`)
	return nil
}

// Keep implements [engine.Session].
func (s *session) Keep(context.Context) error {
	s.off.Queue(`release savepoint job`)
	return nil
}

// Undo implements [engine.Session]. What was put off never happened.
func (s *session) Undo(ctx context.Context) error {
	if s.conn == nil {
		return errBroken
	}
	if s.saved >= 0 {
		s.off.QueuedQueries = s.off.QueuedQueries[:s.saved]
		s.saved = -1
		return nil
	}
	s.off = pgx.Batch{}
	// Not prepared: after an error the server prepares nothing until the first of
	// these has run.
	_, err := s.conn.Conn().PgConn().Exec(ctx, `rollback to savepoint job; release savepoint job`).ReadAll()
	return s.broken(err)
}

var (
	errBroken = errors.New("the connection to the server broke")
	errUndone = errors.New("the server has undone the transaction")
)

// Commit implements [engine.Session]. When the connection breaks before the
// answer, the server is asked what became of the turn.
func (s *session) Commit(ctx context.Context) error {
	s.off.Queue(countTurn, s.e.id)
	s.off.Queue(`commit`)
	tag, err := s.flush(ctx)
	switch {
	case err == nil && tag.String() == "COMMIT":
		s.e.had.Store(s.n + 1)
		return nil
	case err == nil: // an error within the transaction was passed over
		s.last = false
		return errUndone
	case s.conn != nil:
		return errors.Join(err, s.Rollback(ctx))
	}
	if lost := s.e.fate(ctx, s.n+1); lost != nil {
		return errors.Join(err, lost)
	}
	s.e.had.Store(s.n + 1)
	return nil
}

// Rollback implements [engine.Session].
func (s *session) Rollback(ctx context.Context) error {
	s.off, s.saved, s.last = pgx.Batch{}, -1, false
	if s.conn == nil {
		return nil // the server has taken back what it had
	}
	if _, err := s.conn.Exec(ctx, `rollback`); err != nil {
		s.drop()
		return fmt.Errorf("roll back: %w", err)
	}
	return nil
}

// Kind implements [engine.Session].
func (s *session) Kind(err error) error { return kind(err) }

// Rest implements [engine.Session]: there is nothing to put in order.
func (s *session) Rest(context.Context) error { return nil }

// Close implements [engine.Session].
func (s *session) Close() error {
	if s.conn != nil {
		s.drop()
	}
	return nil
}
