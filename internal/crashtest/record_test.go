//go:build faultinject

package crashtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	kept "github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A record is what one copy of the database says. The harness has SQL of its own
// so that it does not see the database through the code it audits.
type record struct {
	events  []event
	rows    []row
	cycles  map[string]cycle
	orders  []order            // in the order of decision
	mapped  map[message]string // event by where it is on the platform
	files   map[string]int     // attachments by their state
	inner   int                // events of inner logs
	checked []readmodel.Violation
}

type event struct {
	n, seq              int64
	space, id           string
	kind, actor, source string
	cause, root         string
	body                string
}

type row struct {
	space, event, state, reason, cycle string
}

type cycle struct {
	state, stop, detail string
	done                int // finished steps
	acted               int // finished steps of engagement
}

type order struct {
	n                     int64
	id, cycle, kind       string
	chat, thread          string
	text, state           string
	part                  int
	created, expires, due int64
	settled               int64
}

type message struct{ chat, id string }

// copyRecord copies the database of a program that does not run into a folder of
// its own, with its log.
func copyRecord(t *testing.T, data string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{sqlite.FileName, sqlite.FileName + "-wal"} {
		if err := copyFile(filepath.Join(data, name), filepath.Join(to, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return to
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(err, out.Close())
	}
	return out.Close()
}

// readRecord reads the database in a folder without a writer.
func readRecord(t *testing.T, dir string) record {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, sqlite.FileName))
	testutil.OK(t, err)
	defer func() { _ = db.Close() }()
	return readTables(t, db)
}

func readTables(t *testing.T, db *sql.DB) record {
	t.Helper()
	r := record{cycles: map[string]cycle{}, mapped: map[message]string{}, files: map[string]int{}}
	for _, read := range []func(context.Context, *sql.DB) error{r.readEvents, r.readInbox, r.readCycles, r.readOutbox, r.readPlaces, r.readFiles} {
		testutil.OK(t, read(t.Context(), db))
	}
	return r
}

func (r *record) readFiles(ctx context.Context, db *sql.DB) error {
	return query(ctx, db, `select state, count(*) from attachments group by state`, func(rows *sql.Rows) error {
		var state string
		var n int
		err := rows.Scan(&state, &n)
		r.files[state] = n
		return err
	})
}

// audited reads the database in a folder and has the store look it over too.
func audited(t *testing.T, dir string) record {
	t.Helper()
	r := readRecord(t, dir)
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, NewID: auditor()})
	testutil.OK(t, err)
	r.checks(t, s)
	return r
}

// auditor mints ids for what opening a record writes.
func auditor() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("audit-%d", n) }
}

// checks has an open store look itself over, and closes it.
func (r *record) checks(t *testing.T, s *kept.Store) {
	t.Helper()
	var err error
	r.checked, err = s.Audit(t.Context(), time.Now())
	testutil.OK(t, errors.Join(err, s.Close(t.Context())))
}

// query hands each row of an answer to scan.
func query(ctx context.Context, db *sql.DB, text string, scan func(*sql.Rows) error) error {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return rows.Err()
}

func (r *record) readEvents(ctx context.Context, db *sql.DB) error {
	return query(ctx, db, `select n, seq, space, id, kind, actor, coalesce(source, ''), cause, root, body from events order by n`, func(rows *sql.Rows) error {
		var e event
		if err := rows.Scan(&e.n, &e.seq, &e.space, &e.id, &e.kind, &e.actor, &e.source, &e.cause, &e.root, &e.body); err != nil {
			return err
		}
		if strings.HasPrefix(e.space, "inner:") {
			r.inner++
			return nil
		}
		r.events = append(r.events, e)
		return nil
	})
}

func (r *record) readInbox(ctx context.Context, db *sql.DB) error {
	return query(ctx, db, `select space, event, state, reason, cycle from inbox`, func(rows *sql.Rows) error {
		var w row
		err := rows.Scan(&w.space, &w.event, &w.state, &w.reason, &w.cycle)
		r.rows = append(r.rows, w)
		return err
	})
}

func (r *record) readCycles(ctx context.Context, db *sql.DB) error {
	const text = `select y.id, y.state, coalesce(y.stop, ''), y.detail, sum(case when s.state = 'done' then 1 else 0 end), sum(case when s.state = 'done' and s.phase = 'engagement' then 1 else 0 end)
from cycles y left join steps s on s.cycle = y.id group by y.id`
	return query(ctx, db, text, func(rows *sql.Rows) error {
		var id string
		var y cycle
		err := rows.Scan(&id, &y.state, &y.stop, &y.detail, &y.done, &y.acted)
		r.cycles[id] = y
		return err
	})
}

func (r *record) readOutbox(ctx context.Context, db *sql.DB) error {
	const text = `select n, id, cycle, kind, chat, thread, text, state, part, created, expires, not_before, settled from outbox order by n`
	return query(ctx, db, text, func(rows *sql.Rows) error {
		var o order
		err := rows.Scan(&o.n, &o.id, &o.cycle, &o.kind, &o.chat, &o.thread, &o.text, &o.state, &o.part, &o.created, &o.expires, &o.due, &o.settled)
		r.orders = append(r.orders, o)
		return err
	})
}

func (r *record) readPlaces(ctx context.Context, db *sql.DB) error {
	return query(ctx, db, `select chat, message, event from messages where own = 0`, func(rows *sql.Rows) error {
		var m message
		var id string
		err := rows.Scan(&m.chat, &m.id, &id)
		r.mapped[m] = id
		return err
	})
}

// busy asks the database of a running program how much is left to do: rows not
// handled, cycles not closed, actions not settled. A busy database is busy.
func (p *program) busy(ctx context.Context) bool {
	db, err := p.look()
	if err != nil {
		return true
	}
	defer func() { _ = db.Close() }()
	var left int
	err = db.QueryRowContext(ctx, `select (select count(*) from inbox where state in ('ready', 'claimed')) +
  (select count(*) from cycles where state = 'open') + (select count(*) from attachments where state = 'wanted') + (select count(*) from outbox where state in ('ready', 'sending'))`).Scan(&left)
	return err != nil || left > 0
}

// look opens the database of a program for reading, beside it.
func (p *program) look() (*sql.DB, error) {
	if p.database != "" {
		return sql.Open("pgx", p.database)
	}
	return sql.Open("sqlite3", "file:"+filepath.Join(p.data, sqlite.FileName)+"?mode=ro&_pragma=busy_timeout(2000)")
}

// readable reports whether the database of a running program holds a message.
func (p *program) readable(ctx context.Context) bool {
	db, err := p.look()
	if err != nil {
		return false
	}
	defer func() { _ = db.Close() }()
	var n int
	return db.QueryRowContext(ctx, `select count(*) from inbox`).Scan(&n) == nil && n > 0
}
