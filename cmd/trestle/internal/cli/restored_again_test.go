package cli

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// K25, ECOSYSTEM 3.2: what is restored knows from when on people wait, whichever
// schema it has, also one that was restored before; and there is nothing beside it.
func TestRestoreSaysUntilWhenAllIsDealtWith(t *testing.T) {
	s := installed(t, "http://127.0.0.1:1")
	s.done(t, "", "backup", "old.db")
	addMigration(t)
	old := filepath.Join(s.folder, "old.db")
	schema := tableOf(t, old, "select max(version_id) from goose_db_version")
	from := old
	for n, since := range []string{"2026-02-03T04:05:06Z", "2h", ""} {
		there := filepath.Join(s.folder, "restored"+strconv.Itoa(n))
		began := time.Now()
		args := []string{"restore", from, "--data", there, "-o", "json"}
		if since != "" {
			args = append(args, "--down-since", since)
		}
		a := answerOf[restoredAnswer](t, s, args...)
		want := map[string]time.Time{"2026-02-03T04:05:06Z": time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC), "2h": began.Add(-2 * time.Hour), "": began}[since]
		if off := a.Dealt.Sub(want); off < -time.Second || off > time.Minute || a.SHA256 != sumOf(t, from) {
			t.Errorf("since %q: %+v, want %s", since, a, want)
		}
		from = filepath.Join(there, "trestle.db")
		ms, err := strconv.ParseInt(tableOf(t, from, "select value from meta where name = 'dealt'"), 10, 64)
		testutil.OK(t, err)
		if got := time.UnixMilli(ms); got.Sub(a.Dealt).Abs() > time.Second {
			t.Errorf("the record says %s, the answer %s", got, a.Dealt)
		}
		if is := tableOf(t, from, "select max(version_id) from goose_db_version"); is != schema {
			t.Errorf("the schema was %s and is %s", schema, is)
		}
		held, err := os.ReadDir(there)
		if err != nil || len(held) != 1 {
			t.Errorf("the folder holds %v, %v", held, err)
		}
		if checked := answerOf[checkedBackup](t, s, "backup", "--check", from, "-o", "json"); len(checked.Findings) > 0 {
			t.Errorf("it has %q", checked.Findings)
		}
	}
	for _, since := range []string{"tomorrow", "-2h", "2999-01-01T00:00:00Z", "2026-02-03"} {
		_, errs, code := s.do(t, "", "restore", old, "--data", filepath.Join(s.folder, "never"), "--down-since="+since)
		if code != apperr.Usage || !strings.Contains(errs, "no time that has passed") {
			t.Errorf("since %s: exit %s: %s", since, code, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(s.folder, "never")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was restored: %v", err)
	}
}

// A database is put back with its server's tools; a file is no help there.
func TestAFileIsNotRestoredBesideADatabase(t *testing.T) {
	s := stage0(t)
	s.env += "\nTRESTLE_DATABASE=postgres://trestle@127.0.0.1:1/trestle?sslmode=disable"
	if _, errs, code := s.do(t, "", "restore", "some.db"); code != apperr.Usage || !strings.Contains(errs, "in a database") {
		t.Errorf("exit %s: %s", code, errs)
	}
	if _, errs, code := s.do(t, "", "restore", "--down-since", "0s"); code == apperr.Done || !strings.Contains(errs, "refused") {
		t.Errorf("exit %s: %s", code, errs)
	}
}

// A database that was restored by other means can be marked, too, but not when the
// operator only forgot to name the file.
func TestARecordThatWasPutBackLearnsUntilWhenAllIsDealtWith(t *testing.T) {
	s := aTalk(t)
	file := filepath.Join(s.folder, "data", "trestle.db")
	if _, errs, code := s.do(t, "", "restore"); code != apperr.Usage || tableOf(t, file, "select count(*) from meta where name = 'dealt'") != "0" {
		t.Errorf("exit %s: %s", code, errs)
	}
	a := answerOf[restoredAnswer](t, s, "restore", "--down-since", "2026-02-03T04:05:06Z", "-o", "json")
	want := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	if is := tableOf(t, file, "select value from meta where name = 'dealt'"); !a.Dealt.Equal(want) || is != strconv.FormatInt(want.UnixMilli(), 10) {
		t.Errorf("the answer is %+v, the record says %s", a, is)
	}
	if _, errs, code := s.do(t, "", "restore", "--down-since", "2h", "--data", filepath.Join(s.folder, "nowhere")); code != apperr.Failed || !strings.Contains(errs, "no record here") {
		t.Errorf("exit %s: %s", code, errs)
	}
	s.serve(t)
	if _, errs, code := s.do(t, "", "restore", "--down-since", "2h"); code == apperr.Done {
		t.Errorf("beside a process that serves: exit %s: %s", code, errs)
	}
}

// tableOf returns the one value that a question to a file has.
func tableOf(t *testing.T, file, question string) (value string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+file+"?mode=ro")
	testutil.OK(t, err)
	defer func() { testutil.OK(t, db.Close()) }()
	testutil.OK(t, db.QueryRowContext(t.Context(), question).Scan(&value))
	return value
}
