package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
)

const (
	servedRooms engine.QueryText = `select name, value from meta where name > '` + tables.MetaGuild + `' and name < '` + tables.MetaGuild + `~' order by name`
	beginMeta   engine.QueryText = `insert into meta (name, value) values ($1, $2) on conflict (name) do nothing`
	storeMeta   engine.QueryText = `insert into meta (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`
	dropMeta    engine.QueryText = `delete from meta where name = $1`
	addMeta     engine.QueryText = `insert into meta (name, value) values ($1, $2)
on conflict (name) do update set value = cast(cast(meta.value as bigint) + cast(excluded.value as bigint) as text)`
)

// Name returns the unique name of the database, which tells it from others on the same
// server. The first call creates it; a copy of a database has the name of the original.
func (s *Store) Name(ctx context.Context) (name string, err error) {
	name, err = tables.MetaValue(ctx, s.engine, tables.MetaStoreName)
	if err == nil && name == "" {
		err = s.write(ctx, func(ctx context.Context, t *storeTx) error {
			return t.Run(ctx, beginMeta, tables.MetaStoreName, s.opts.NewID())
		})
		if err == nil {
			name, err = tables.MetaValue(ctx, s.engine, tables.MetaStoreName)
		}
	}
	if err != nil {
		return "", fmt.Errorf("read the name of the database: %w", err)
	}
	return name, nil
}
