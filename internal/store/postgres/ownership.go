package postgres

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

const (
	// While others run, a process that only lost its writing connection is not
	// taken for dead: it has prolonged its right lately, or will soon, and says then
	// that the connection counts no more.
	working  = `p.expires > ` + serverNow + ` and (p.expires > ` + serverNow + ` + p.ttl * 3 / 5 or ` + present + `)`
	burySome = `delete from processes p where p.id <> $1 and not (` + working + `) returning p.id`
	members  = `select p.id, p.host, p.pid, p.program, p.since,
  p.bulletin, coalesce((select string_agg(o.thing, chr(10) order by o.thing) from owners o where o.process = p.id), ''), not (` + working + `)
from processes p order by p.since, p.id`
	ownThing = `insert into owners as o (thing, process, epoch, since) values ($1, $2, 1, ` + serverNow + `)
on conflict (thing) do update set process = excluded.process, epoch = o.epoch + 1, since = excluded.since
where o.process <> excluded.process and not exists (select 1 from processes p where p.id = o.process)`
	isOurs      = `select 1 from owners where thing = $1 and process = $2`
	disownThing = `update owners set process = '' where thing = $1 and process = $2`
	sayBulletin = `update processes set bulletin = $2 where id = $1`
)

var _ engine.ClusterEngine = (*postgresEngine)(nil)

// Process implements [engine.Cluster].
func (e *postgresEngine) Process() string { return e.id }

// Members implements [engine.Cluster].
func (e *postgresEngine) Members(ctx context.Context) ([]engine.WriterProcess, error) {
	found, err := e.pool.Query(ctx, members)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(r pgx.CollectableRow) (m engine.WriterProcess, err error) {
		var since int64
		var has string
		err = r.Scan(&m.ID, &m.Host, &m.PID, &m.Program, &since, &m.Bulletin, &has, &m.Dead)
		m.Since = time.UnixMilli(since).UTC()
		if has != "" {
			m.Owned = strings.Split(has, "\n")
		}
		return m, err
	})
}

// RemoveDead implements [engine.Cluster].
func (e *postgresEngine) RemoveDead(ctx context.Context, s engine.WriteSession, starting bool) (gone []string, err error) {
	if starting {
		gone, err = e.buryAtStart(ctx, s)
	} else {
		gone, err = e.burySome(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	for _, id := range gone {
		e.opts.Logger.Warn("process given up", "process", id)
	}
	return gone, nil
}

func (e *postgresEngine) burySome(ctx context.Context, s engine.WriteSession) (gone []string, err error) {
	found, err := s.Query(ctx, burySome, e.id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for found.Next() {
		var id string
		if err := found.Scan(&id); err != nil {
			return nil, err
		}
		gone = append(gone, id)
	}
	return gone, found.Err()
}

func (e *postgresEngine) buryAtStart(ctx context.Context, s engine.WriteSession) ([]string, error) {
	found, err := s.Query(ctx, signs, e.id)
	if err != nil {
		return nil, err
	}
	gone, err := deadOf(found)
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	_, err = s.Exec(ctx, bury, gone)
	return gone, err
}

// Own implements [engine.Cluster].
func (e *postgresEngine) Own(ctx context.Context, s engine.WriteSession, thing string) (mine bool, err error) {
	if _, err := s.Exec(ctx, ownThing, thing, e.id); err != nil {
		return false, err
	}
	found, err := s.Query(ctx, isOurs, thing, e.id)
	if err != nil {
		return false, err
	}
	mine = found.Next()
	return mine, errors.Join(found.Err(), found.Close())
}

// Disown implements [engine.Cluster].
func (e *postgresEngine) Disown(ctx context.Context, s engine.WriteSession, thing string) error {
	_, err := s.Exec(ctx, disownThing, thing, e.id)
	return err
}

// Publish implements [engine.Cluster]. It changes nothing of the record, and so it takes no
// turn.
func (e *postgresEngine) Publish(ctx context.Context, bulletin string) error {
	_, err := e.pool.Exec(ctx, sayBulletin, e.id, bulletin)
	return err
}
