package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// Rows of the table meta by their names. The engines store rows there as well.
const (
	// MetaDisconnected and an account is the time since which the account is not
	// connected; there is no row while it is.
	MetaDisconnected = "deaf "
	// MetaPairings is the [access.PairingState].
	MetaPairings = "desk"
	// MetaFigures is the number of the event up to which figures were counted.
	MetaFigures = "figures"
	// MetaFramesDropped is the cycle up to which frames were dropped.
	MetaFramesDropped = "frames"
	// MetaMemoryChanges counts the changes that people made to memories.
	MetaMemoryChanges = "memories"
	// MetaStoreName is the name of the database.
	MetaStoreName = "record"
	// MetaShownHorizon is the start time up to which cycles are in the table seen.
	MetaShownHorizon = "seen"
	// MetaGuild and a space is the configuration entry of the server that the space is on.
	MetaGuild = "server "
	// MetaStoredBytes is the size of all stored files.
	MetaStoredBytes = "shelved"
	// MetaRemovals counts the files that no message shows any more.
	MetaRemovals = "unshelved"
)

const selectMeta engine.QueryText = `select value from meta where name = $1`

// MetaValue returns the value of a row of meta; empty if there is none.
func MetaValue(ctx context.Context, src engine.QueryReader, name string) (value string, err error) {
	_, err = engine.ScanRow(ctx, src, selectMeta, []any{name}, &value)
	return value, err
}

// MetaNumber returns the value of a row of meta that is a number; 0 if there is none.
func MetaNumber(ctx context.Context, src engine.QueryReader, name string) (int64, error) {
	value, err := MetaValue(ctx, src, name)
	if err != nil || value == "" {
		return 0, err
	}
	return strconv.ParseInt(value, 10, 64)
}

// GuildEntryOf returns the configuration entry of the server that a space is on; empty
// if none is stored.
func GuildEntryOf(ctx context.Context, src engine.QueryReader, space spaces.SpaceID) (entry string, err error) {
	if entry, err = MetaValue(ctx, src, MetaGuild+string(space)); err != nil {
		return "", fmt.Errorf("server of %s: %w", space, err)
	}
	return entry, nil
}

// LoadPairings returns the senders that wait for admission, and those who were admitted.
func LoadPairings(ctx context.Context, src engine.QueryReader) (d access.PairingState, err error) {
	text, err := MetaValue(ctx, src, MetaPairings)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &d)
	}
	if err != nil {
		return access.PairingState{}, fmt.Errorf("read pairings: %w", err)
	}
	return d, nil
}
