package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// Serve notes that a room is of a server that has an entry of the configuration, for
// those who cannot ask the platform.
func (b BridgeStore) Serve(ctx context.Context, space spaces.SpaceID, entry string) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		return t.Run(ctx, storeMeta, metaServer+string(space), entry)
	})
	if err != nil {
		return fmt.Errorf("note the server of %s: %w", space, err)
	}
	return nil
}

// ServedBy returns the entry of a room's server; empty when none was noted.
func (b BridgeStore) ServedBy(ctx context.Context, space spaces.SpaceID) (entry string, err error) {
	if entry, err = metaOf(ctx, b.s.engine, metaServer+string(space)); err != nil {
		return "", fmt.Errorf("server of %s: %w", space, err)
	}
	return entry, nil
}

// Served returns the entries of all rooms whose server was noted.
func (b BridgeStore) Served(ctx context.Context) (map[spaces.SpaceID]string, error) {
	of := map[spaces.SpaceID]string{}
	err := engine.EachRow(ctx, b.s.engine, servedRooms, nil, func(r engine.Row) error {
		var name, entry string
		if err := r.Scan(&name, &entry); err != nil {
			return err
		}
		of[spaces.SpaceID(strings.TrimPrefix(name, metaServer))] = entry
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list rooms of servers: %w", err)
	}
	return of, nil
}
