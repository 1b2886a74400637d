package postgres

import (
	"errors"
	"testing"
)

// DELIVERY 2.7, F37: what a server says of itself decides whether it is refused, and
// whether starting again may help.
func TestServerIsRefusedForWhatItIs(t *testing.T) {
	good := []string{"on", "on", "UTF8"}
	for name, test := range map[string]struct {
		is   serverState
		want error
		says string
	}{
		"a good one":    {serverState{version: 150000, have: good}, nil, ""},
		"an older one":  {serverState{version: 140012, have: good}, ErrSetting, "the server is not set up for a record: it is of version 14 and has to be of 15 or newer"},
		"a replica":     {serverState{version: 170002, readOnly: true, replica: true, have: good}, ErrReadOnly, "the server takes no writes: it is a replica, whose state is behind"},
		"a full one":    {serverState{version: 170002, readOnly: true, have: good}, ErrReadOnly, "the server takes no writes: default_transaction_read_only is on, for this server, database or user"},
		"a losing one":  {serverState{version: 170002, have: []string{"on", "off", "UTF8"}}, ErrSetting, "the server is not set up for a record: fsync is off and has to be on, or a commit that returned would not be on the disk"},
		"one of LATIN1": {serverState{version: 170002, have: []string{"on", "on", "LATIN1"}}, ErrSetting, "the server is not set up for a record: server_encoding is LATIN1 and has to be UTF8, or what people write would not fit"},
	} {
		err := test.is.refused()
		if !errors.Is(err, test.want) || err != nil && err.Error() != test.says {
			t.Errorf("%s: got %v, want %q", name, err, test.says)
		}
	}
}
