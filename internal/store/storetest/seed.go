package storetest

import (
	"database/sql"
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
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

// SeedFiles writes messages with files, and zero bytes in their words, into a record
// whose schema does not yet say which message shows which file: one is shown twice,
// one by a message that was deleted, and one is on the way.
func SeedFiles(t *testing.T, db *sql.DB) {
	t.Helper()
	do := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	says := func(seq int, id string, body spaces.Body) {
		t.Helper()
		encoded, err := spaces.Encode(body)
		if err != nil {
			t.Fatal(err)
		}
		do(`insert into events (n, space, branch, seq, id, parents, object, thread, reply_to, kind, actor, at, recv_at, readers, cause, root, depth, body, chain)
values ($1, 'room', 'main', $1, $2, '[]', '', '', '', $3, '', 0, 0, 0, '', '', 0, $4, $5)`, seq, id, string(body.Kind()), encoded, []byte{})
	}
	shows := func(files ...string) spaces.Said {
		said := spaces.Said{Text: "look at the \"attachments\"\x00\x00, \\u0000 \\\x00", Ref: spaces.Ref{Account: "telegram:1", Chat: "100", Message: files[0]}}
		for _, f := range files {
			said.Attachments = append(said.Attachments, spaces.Attachment{Kind: "photo", ID: f})
		}
		return said
	}
	says(1, "e1", shows("twice", "coming"))
	says(2, "e2", spaces.Said{Text: `"attachments"`})
	says(3, "e3", shows("gone"))
	says(4, "e4", shows("twice"))
	says(5, "e5", spaces.Deleted{Target: "e3"})
	for _, f := range [][]any{{"twice", "e1", "stored", "abc", 7}, {"coming", "e1", "wanted", "", 0}, {"gone", "e3", "stored", "def", 20}} {
		do(`insert into attachments (account, file, space, event, kind, name, size, state, due, hash, bytes)
values ('telegram:1', $1, 'room', $2, 'photo', '', 0, $3, 0, $4, $5)`, f...)
	}
	do(`insert into meta (name, value) values ('shelved', '27')`)
}

// WantFiles ends the test unless the record says what those messages show by now.
func WantFiles(t *testing.T, db *sql.DB) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `select file, event from showings union all select file, state from attachments
union all select name, value from meta where name = 'shelved' order by 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got [][2]string
	for rows.Next() {
		var r [2]string
		if err := rows.Scan(&r[0], &r[1]); err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	want := [][2]string{{"coming", "e1"}, {"coming", "wanted"}, {"shelved", "7"}, {"twice", "e1"}, {"twice", "e4"}, {"twice", "stored"}}
	if !slices.Equal(got, want) {
		t.Errorf("files are %q, want %q", got, want)
	}
}
