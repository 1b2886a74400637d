package postgres_test

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// F33: before a start fails at it, an examination tells that the user may not make the
// tables, or change those that an upgrade changes. Where nothing is to be made no such right
// is needed.
func TestExaminationTellsOfMissingRights(t *testing.T) {
	for name, test := range map[string]struct {
		schema string // made as trestle: older, current, or none
		rights string
		want   string
	}{
		"an empty database":               {"", "", "may not create tables"},
		"an empty one, with the right":    {"", "grant create on schema public to %", ""},
		"an older record of another user": {"older", "grant create on schema public to %", "may not change the tables"},
		"an older record, and nothing":    {"older", "", "may not create tables"},
		"a record of today":               {"current", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			database := server.Database(t)
			if test.schema != "" {
				testutil.OK(t, open(t, options(t, database)).Close(t.Context()))
			}
			if test.schema == "older" {
				later(t, colours)
			}
			user := "clerk_of_" + database
			server.Do(t, database, "create role "+user+" login")
			server.Do(t, database, "grant select on all tables in schema public to "+user)
			if test.rights != "" {
				server.Do(t, database, strings.ReplaceAll(test.rights, "%", user))
			}
			var found doctor.DataDir
			postgres.Examine(t.Context(), strings.Replace(server.URL(database), "trestle@", user+"@", 1), &found)
			if (found.Refused == "") != (test.want == "") || !strings.Contains(found.Refused, test.want) {
				t.Errorf("found %q, want %q", found.Refused, test.want)
			}
		})
	}
}
