package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// A setting is what every connection depends on (DELIVERY 2.7).
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
	{"transaction_read_only", []string{"off"}, "it is a replica, whose state is behind"},
}

const readSettings = `select current_setting('synchronous_commit'), current_setting('fsync'), current_setting('server_encoding'),
  current_setting('transaction_read_only')`

// examineConn refuses a server that would break a promise.
func examineConn(ctx context.Context, c *pgx.Conn) error {
	have := make([]string, len(settings))
	places := make([]any, len(settings))
	for i := range have {
		places[i] = &have[i]
	}
	if err := c.QueryRow(ctx, readSettings).Scan(places...); err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	for i, s := range settings {
		if !slices.Contains(s.want, have[i]) {
			return fmt.Errorf("%w: %s is %s and has to be %s, or %s", ErrSetting, s.name, have[i], s.want[0], s.why)
		}
	}
	return nil
}
