package sqlstore

import (
	"context"
	"fmt"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"strconv"
)

// What the record knows of itself, one value a name. The engines keep values there, too.
const (
	metaDeaf      = "deaf "     // and an account: since when it is not heard; absent while it is
	metaDesk      = "desk"      // who waits to be let in, and who was
	metaFrames    = "frames"    // the cycle up to which frames were let go
	metaMemories  = "memories"  // how often people changed what minds remember
	metaRecord    = "record"    // its name
	metaSeen      = "seen"      // the horizon of the table seen
	metaServer    = "server "   // and a room: the entry of the configuration that its server has
	metaShelved   = "shelved"   // bytes of the files that are kept
	metaUnshelved = "unshelved" // how often the last message that showed a file was deleted
)

const (
	selectMeta  engine.Query = `select value from meta where name = $1`
	servedRooms engine.Query = `select name, value from meta where name > '` + metaServer + `' and name < '` + metaServer + `~' order by name`
	beginMeta   engine.Query = `insert into meta (name, value) values ($1, $2) on conflict (name) do nothing`
	storeMeta   engine.Query = `insert into meta (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`
	dropMeta    engine.Query = `delete from meta where name = $1`
	addMeta     engine.Query = `insert into meta (name, value) values ($1, $2)
on conflict (name) do update set value = cast(cast(meta.value as bigint) + cast(excluded.value as bigint) as text)`
)

// metaOf returns a value; empty when there is none.
func metaOf(ctx context.Context, src engine.Reader, name string) (value string, err error) {
	_, err = engine.ScanRow(ctx, src, selectMeta, []any{name}, &value)
	return value, err
}

// numberOf returns a value that is a number; 0 when there is none.
func numberOf(ctx context.Context, src engine.Reader, name string) (int64, error) {
	value, err := metaOf(ctx, src, name)
	if err != nil || value == "" {
		return 0, err
	}
	return strconv.ParseInt(value, 10, 64)
}

// Name returns what tells this record from all others that share a server beside it.
// Whoever asks first gives it its name, which every process reads from then on; a copy
// has that of its original.
func (s *Store) Name(ctx context.Context) (name string, err error) {
	name, err = metaOf(ctx, s.engine, metaRecord)
	if err == nil && name == "" {
		err = s.write(ctx, func(ctx context.Context, t *storeTx) error { return t.Run(ctx, beginMeta, metaRecord, s.opts.NewID()) })
		if err == nil {
			name, err = metaOf(ctx, s.engine, metaRecord)
		}
	}
	if err != nil {
		return "", fmt.Errorf("read the name of the record: %w", err)
	}
	return name, nil
}
