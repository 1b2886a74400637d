package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// A setting is what every connection depends on.
type setting struct {
	name string
	want []string
	why  string
}

// The server's answers come in this order.
var settings = []setting{
	// A commit that waits for a replica as well is more than is asked for.
	{"synchronous_commit", []string{"on", "remote_apply"}, "a commit that returned would not be on the disk"},
	{"fsync", []string{"on"}, "a commit that returned would not be on the disk"},
	{"server_encoding", []string{"UTF8"}, "what people write would not fit"},
}

// oldest is the first version of the server whose SQL the record is written in.
const oldest = 15

// A serverState is what a connection says of its server.
type serverState struct {
	version  int // 150004 is 15.4
	readOnly bool
	replica  bool
	have     []string // of each of the settings
}

const readCondition = `select cast(current_setting('server_version_num') as integer), current_setting('transaction_read_only') = 'on',
  pg_is_in_recovery(), current_setting('synchronous_commit'), current_setting('fsync'), current_setting('server_encoding')`

// examineConn refuses a server that would break a promise, and one that takes no
// writes now.
func examineConn(ctx context.Context, c *pgx.Conn) error {
	is := serverState{have: make([]string, len(settings))}
	places := []any{&is.version, &is.readOnly, &is.replica}
	for i := range is.have {
		places = append(places, &is.have[i])
	}
	// Nothing is prepared for a statement that a connection is asked once.
	if err := c.QueryRow(ctx, readCondition, pgx.QueryExecModeSimpleProtocol).Scan(places...); err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	return is.refused()
}

// refused says why a record cannot be on such a server; nil when it can.
func (is serverState) refused() error {
	switch {
	case is.version < oldest*10000:
		return fmt.Errorf("%w: it is of version %d and has to be of %d or newer", ErrSetting, is.version/10000, oldest)
	case is.replica:
		return fmt.Errorf("%w: it is a replica, whose state is behind", ErrReadOnly)
	case is.readOnly:
		return fmt.Errorf("%w: default_transaction_read_only is on, for this server, database or user", ErrReadOnly)
	}
	for i, s := range settings {
		if !slices.Contains(s.want, is.have[i]) {
			return fmt.Errorf("%w: %s is %s and has to be %s, or %s", ErrSetting, s.name, is.have[i], s.want[0], s.why)
		}
	}
	return nil
}
