package pgnotify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	patience = 2 * time.Second       // for any answer
	gap      = 20 * time.Millisecond // between two statements that tell of rings
)

const (
	// Nothing of a notification is worth waiting for a disk.
	listen = `set synchronous_commit = off; listen trestle_bells`
	tell   = `select pg_notify('trestle_bells', k) from unnest(cast($1 as text[])) k`
)

// errMute is why a connection is given up that is open and passes nothing on.
var errMute = errors.New("the server passes no notifications on: a pooler in between needs session mode")

// A listenConn is one connection, for telling and hearing.
type listenConn struct {
	*PostgresNotifier
	conn  *pgx.Conn
	told  time.Time // when rings were last told
	heard time.Time // when anything was last heard
	asked time.Time // since when an echo is awaited; zero when none is
}

// connected tells and hears over one connection, and returns why that ended. well
// is called each time the connection has proved itself.
func (b *PostgresNotifier) connected(ctx context.Context, well func()) error {
	conn, err := pgx.ConnectConfig(ctx, b.server)
	if err != nil {
		return err
	}
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		_ = conn.Close(last) // it holds nothing
	}()
	l := &listenConn{PostgresNotifier: b, conn: conn}
	if err := l.begin(ctx); err != nil {
		return err
	}
	for {
		proved, err := l.round(ctx)
		if err != nil {
			return err
		}
		if proved {
			well()
			b.saw(nil)
		}
	}
}

// begin takes part, and rings everything: this process may have been away.
func (l *listenConn) begin(ctx context.Context) error {
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := l.conn.PgConn().Exec(limit, listen).ReadAll(); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	l.here.RingAll()
	return nil
}

// round says what there is to say and waits once for news. It reports whether
// there was any.
func (l *listenConn) round(ctx context.Context) (heard bool, err error) {
	now := time.Now()
	switch {
	case now.Sub(l.told) < gap:
	case l.asked.IsZero() && now.Sub(l.heard) > l.o.Silence:
		l.asked = now
		err = l.tell(ctx, append(l.take(), "")) // an empty key, which comes back
	default:
		if keys := l.take(); len(keys) > 0 {
			err = l.tell(ctx, keys)
		}
	}
	if err != nil {
		return false, err
	}
	if !l.asked.IsZero() && now.Sub(l.asked) > patience {
		return false, errMute
	}
	n, err := l.wait(ctx)
	if err != nil || n == nil {
		return false, err
	}
	l.heard, l.asked = time.Now(), time.Time{}
	if from, key, _ := strings.Cut(n.Payload, "\n"); from != l.o.Process && key != "" {
		l.here.Ring(key)
	}
	return true, nil
}

// tell lets the server pass keys on.
func (l *listenConn) tell(ctx context.Context, keys []string) error {
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	l.told = time.Now()
	for i, key := range keys {
		keys[i] = l.o.Process + "\n" + key
	}
	if _, err := l.conn.Exec(limit, tell, keys); err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	return nil
}

// wait returns what the server passes on next, or nil when there is something to
// do before that.
func (l *listenConn) wait(ctx context.Context) (*pgconn.Notification, error) {
	until := l.heard.Add(l.o.Silence)
	if !l.asked.IsZero() {
		until = l.asked.Add(patience)
	}
	limit, cancel := context.WithCancel(ctx)
	defer cancel()
	if l.await(cancel) {
		until = l.told.Add(gap)
	}
	defer l.await(nil)
	limit, end := context.WithDeadline(limit, until.Add(time.Millisecond))
	defer end()
	n, err := l.conn.WaitForNotification(limit)
	if err != nil && limit.Err() != nil && ctx.Err() == nil && !l.conn.IsClosed() {
		return nil, nil
	}
	return n, err
}
