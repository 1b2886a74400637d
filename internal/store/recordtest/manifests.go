package recordtest

import (
	"database/sql"
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
)

// SeedRuns writes runs into a record whose schema does not yet keep the acts they were
// offered: two of one version, one of another, and one that is open.
func SeedRuns(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, y := range []struct {
		id, state, manifest string
		n, stop             any
		ended               int
	}{
		{"a", "closed", "older", 1, "completed", 1000},
		{"b", "closed", "newer", 2, "completed", 3000},
		{"c", "abandoned", "older", nil, "model_error", 2000},
		{"d", "open", "", nil, nil, 0},
	} {
		if _, err := db.ExecContext(t.Context(), `insert into cycles (id, agent, circle, space, epoch, state, wake, active, upto, base, n, stop, manifest, started, ended, inner_from)
values ($1, 'ada', 'home', 'room', 0, $2, 'direct', '', 0, 0, $3, $4, $5, 500, $6, 1)`, y.id, y.state, y.n, y.stop, y.manifest, y.ended); err != nil {
			t.Fatal(err)
		}
	}
}

// WantVersions ends the test unless the record knows the versions that those runs were
// offered, by their names alone.
func WantVersions(t *testing.T, c sqlstore.ReadModel) {
	t.Helper()
	got, err := c.Manifests(t.Context(), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range got {
		if m.Acts != nil {
			t.Errorf("%s has acts", m.Hash)
		}
		lines = append(lines, m.Hash+" "+m.First.UTC().Format("05")+" "+m.Last.UTC().Format("05"))
	}
	if want := []string{"newer 03 03", "older 01 02"}; !slices.Equal(lines, want) {
		t.Errorf("versions %q, want %q", lines, want)
	}
}
