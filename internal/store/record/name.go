package record

import (
	"context"
	"fmt"
)

const (
	nameRecord   query = `insert into meta (name, value) values ('record', $1) on conflict (name) do nothing`
	nameOfRecord query = `select value from meta where name = 'record'`
)

// Name returns what tells this record from all others that share a server beside it.
// Whoever asks first gives it its name, which every process reads from then on; a copy
// has that of its original.
func (s *Store) Name(ctx context.Context) (name string, err error) {
	named, err := one(ctx, s.engine, nameOfRecord, nil, &name)
	if err == nil && !named {
		err = s.write(ctx, func(ctx context.Context, t *tx) error { return t.run(ctx, nameRecord, s.opts.NewID()) })
		if err == nil {
			_, err = one(ctx, s.engine, nameOfRecord, nil, &name)
		}
	}
	if err != nil {
		return "", fmt.Errorf("read the name of the record: %w", err)
	}
	return name, nil
}
