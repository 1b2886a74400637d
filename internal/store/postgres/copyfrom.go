package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/migrations"
)

// Errors of a move.
var (
	// ErrNotEmpty is returned by [Move] for a database that has a record already, or
	// half of another one.
	ErrNotEmpty = errors.New("the database has a record already")
	// ErrUnfinished is returned by [Open] for a database into which a record is
	// being moved.
	ErrUnfinished = errors.New("a record is being moved into this database")
	// ErrDiffers is returned by [Move] when the copy differs from its source: another
	// process has changed one of them meanwhile.
	ErrDiffers = errors.New("the records differ")
)

// A MoveSource is a database without a writer while it is moved.
type MoveSource interface {
	engine.TablePager
	// Identity tells the record from others.
	Identity(ctx context.Context) (string, error)
	// List returns all tables; a table comes after those that its rows point to.
	List(ctx context.Context) ([]engine.CopyTable, error)
	Count(ctx context.Context, t engine.CopyTable) (int64, error)
}

// A CopyProgress is how far a move has come.
type CopyProgress struct {
	Doing string // "copy" or "verify"
	Table string
	Done  int64 // rows of all tables
	Total int64
	Hash  string // of the whole record, once it was verified
}

// pageRows is how many rows go into one transaction.
const pageRows = 500

// Move copies a record into an empty database and compares every row afterwards.
// A move that was interrupted goes on where it stood. Nothing is taken from the
// source. Until it is finished, the database opens for nothing else.
func Move(ctx context.Context, url string, src MoveSource, told func(CopyProgress)) (CopyProgress, error) {
	m := &move{e: &postgresEngine{opts: Options{URL: url}.withDefaults()}, src: src, told: told}
	err := m.run(ctx)
	if err != nil {
		err = fmt.Errorf("move record to %s: %w", place(url), err)
	}
	return m.state, errors.Join(err, m.e.Close())
}

type move struct {
	e      *postgresEngine
	src    MoveSource
	told   func(CopyProgress)
	tables []engine.CopyTable
	state  CopyProgress
}

func (m *move) run(ctx context.Context) (err error) {
	if err := m.e.connect(ctx); err != nil {
		return err
	}
	if err := migrate(ctx, m.e.pool, migrations.Postgres, Options{}.withDefaults()); err != nil {
		return err
	}
	if m.tables, err = m.src.List(ctx); err != nil {
		return err
	}
	if err := m.claim(ctx); err != nil {
		return err
	}
	for _, t := range m.tables {
		n, err := m.src.Count(ctx, t)
		if err != nil {
			return err
		}
		m.state.Total += n
	}
	for _, t := range m.tables {
		if err := m.copy(ctx, t); err != nil {
			return fmt.Errorf("copy %s: %w", t.Name, err)
		}
	}
	if err := m.verify(ctx); err != nil {
		return err
	}
	return m.finish(ctx)
}

const (
	isMoving    = `select to_regclass('moving') is not null`
	hasRecord   = `select exists (select 1 from spaces) or exists (select 1 from processes)`
	makeMoving  = `create table moving (name text not null primary key, after text not null, done bigint not null)`
	markSource  = `insert into moving (name, after, done) values ('', $1, 0)`
	movingFrom  = `select after from moving where name = ''`
	movedRows   = `select coalesce(sum(done), 0) from moving where name <> ''`
	movedSoFar  = `select after, done from moving where name = $1`
	storeMoved  = `insert into moving (name, after, done) values ($1, $2, $3) on conflict (name) do update set after = excluded.after, done = excluded.done`
	dropMoving  = `drop table moving`
	emptyMeta   = `delete from meta`
	identityOf  = `select table_name, column_name from information_schema.columns where table_schema = current_schema() and is_identity = 'YES'`
	continueNum = `select setval(pg_get_serial_sequence('%[1]s', '%[2]s'), (select coalesce(max(%[2]s), 0) + 1 from %[1]s), false)`
)

// unfinished refuses a database into which a record is being moved.
func (e *postgresEngine) unfinished(ctx context.Context) error {
	moving := false
	if err := e.pool.QueryRow(ctx, isMoving).Scan(&moving); err != nil {
		return err
	}
	if !moving {
		return nil
	}
	var rows int64
	if err := e.pool.QueryRow(ctx, movedRows).Scan(&rows); err != nil {
		return err
	}
	return fmt.Errorf("%w; %d rows have arrived", ErrUnfinished, rows)
}

// claim makes the database the place of this move, or finds that it is already.
func (m *move) claim(ctx context.Context) error {
	source, err := m.src.Identity(ctx)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, m.e.pool, func(t pgx.Tx) error {
		if _, err := t.Exec(ctx, lockTurn); err != nil {
			return err
		}
		moving, has := false, false
		if err := t.QueryRow(ctx, isMoving).Scan(&moving); err != nil {
			return err
		}
		if moving {
			var from string
			if err := t.QueryRow(ctx, movingFrom).Scan(&from); err != nil {
				return err
			}
			if from != source {
				return fmt.Errorf("%w: half of another one", ErrNotEmpty)
			}
			return nil
		}
		if err := t.QueryRow(ctx, hasRecord).Scan(&has); err != nil {
			return err
		}
		if has {
			return ErrNotEmpty
		}
		for _, statement := range []string{makeMoving, emptyMeta} {
			if _, err := t.Exec(ctx, statement); err != nil {
				return err
			}
		}
		_, err := t.Exec(ctx, markSource, source)
		return err
	})
}

func (m *move) tell(doing string, t engine.CopyTable, rows int) {
	m.state.Doing, m.state.Table = doing, t.Name
	m.state.Done += int64(rows)
	m.told(m.state)
}

// copy brings over what is missing of a table, page by page.
func (m *move) copy(ctx context.Context, t engine.CopyTable) error {
	after, done, err := m.reached(ctx, t)
	if err != nil {
		return err
	}
	m.tell("copy", t, int(done))
	for {
		page, err := m.src.Page(ctx, t, after, pageRows)
		if err != nil || len(page) == 0 {
			return err
		}
		after = t.KeyOf(page[len(page)-1])
		for _, row := range page {
			wire(row)
		}
		done += int64(len(page))
		if err := m.store(ctx, t, page, after, done); err != nil {
			return err
		}
		m.tell("copy", t, len(page))
	}
}

// reached returns how far an earlier move came with a table.
func (m *move) reached(ctx context.Context, t engine.CopyTable) (after []any, done int64, err error) {
	var text string
	err = m.e.pool.QueryRow(ctx, movedSoFar, t.Name).Scan(&text, &done)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	after, err = storedKey(text)
	return after, done, err
}

// storedKey reads the key of a row as a move stores it, every number whole.
func storedKey(text string) (key []any, err error) {
	numbers := json.NewDecoder(strings.NewReader(text))
	numbers.UseNumber()
	if err := numbers.Decode(&key); err != nil {
		return nil, err
	}
	for i, v := range key {
		if n, ok := v.(json.Number); ok {
			if key[i], err = n.Int64(); err != nil {
				return nil, err
			}
		}
	}
	return key, nil
}

// store writes a page together with how far the move has come.
func (m *move) store(ctx context.Context, t engine.CopyTable, page [][]any, after []any, done int64) error {
	key, err := json.Marshal(after)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, m.e.pool, func(tx pgx.Tx) error {
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{t.Name}, t.Columns, pgx.CopyFromRows(page)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, storeMoved, t.Name, string(key), done)
		return err
	})
}

// verify compares every row of both records, in the order of their keys.
func (m *move) verify(ctx context.Context) error {
	m.state.Done = 0
	whole := sha256.New()
	for _, t := range m.tables {
		there, rows, err := digest(ctx, m.src, t)
		if err != nil {
			return fmt.Errorf("verify %s: %w", t.Name, err)
		}
		here, _, err := digest(ctx, m.e, t)
		if err != nil {
			return fmt.Errorf("verify %s: %w", t.Name, err)
		}
		if there != here {
			return fmt.Errorf("%w in %s", ErrDiffers, t.Name)
		}
		whole.Write(there[:])
		m.tell("verify", t, rows)
	}
	m.state.Hash = hex.EncodeToString(whole.Sum(nil))
	return nil
}

// finish lets the database be opened: new rows get numbers behind those that came.
func (m *move) finish(ctx context.Context) error {
	return pgx.BeginFunc(ctx, m.e.pool, func(t pgx.Tx) error {
		found, err := t.Query(ctx, identityOf)
		if err != nil {
			return err
		}
		numbers, err := pgx.CollectRows(found, func(r pgx.CollectableRow) (statement string, err error) {
			var table, column string
			err = r.Scan(&table, &column)
			return fmt.Sprintf(continueNum, table, column), err
		})
		if err != nil {
			return err
		}
		for _, statement := range append(numbers, dropMoving) {
			if _, err := t.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}
