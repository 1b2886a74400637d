package cli

import (
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/migrations"
)

// ECOSYSTEM 1 rule 1, STYLE 37: a database of an earlier version is copied before it is
// migrated, opens, and runs: what was said is there, and an answer can be had.
func TestYesterdaysInstallationOpensAndRuns(t *testing.T) {
	telegram, url := onTelegram(t, "7001:yesterday")
	s := installed(t, url)
	s.done(t, "@Ada when is lunch on Friday?\n", "chat", "family")
	addMigration(t)
	record := filepath.Join(s.folder, "data", "trestle.db")

	_, errs, code := s.do(t, "", "runs")
	if code != apperr.Failed || !strings.Contains(errs, "older") || !strings.Contains(errs, "start trestle run once") {
		t.Errorf("reading before the upgrade: exit %s: %s", code, errs)
	}
	was := sumOf(t, record)
	if out, errs, code := s.do(t, "", "run", "--check"); code != apperr.Done || sumOf(t, record) != was {
		t.Errorf("check of the upgrade: exit %s: %s%s", code, out, errs)
	}
	out, errs, code := s.do(t, "@Ada is anybody there?\n", "chat", "family")
	if code != apperr.Done || !strings.Contains(out, "is anybody there?") {
		t.Fatalf("chat after the upgrade: exit %s: %q %s", code, out, errs)
	}
	if aside := sumOf(t, record+".schema1"); aside == "" {
		t.Error("no copy was set aside before the migration")
	}
	if all := answerOf[[]jobs.JobSnapshot](t, s, "jobs", "-o", "json"); len(all) != 1 || all[0].Kind != storeopen.MigrateJob || all[0].State != jobs.Done || all[0].Done != 1 || all[0].Total != 1 {
		t.Errorf("the migration is not among the jobs: %+v", all)
	}
	if runs := answerOf[[]api.RunRow](t, s, "runs", "-o", "json"); len(runs) != 2 {
		t.Errorf("there are %d runs, want the earlier one and the new one", len(runs))
	}
	if out, _, _ := s.do(t, "", "events", "--limit", "200"); !strings.Contains(out, "when is lunch on Friday?") || !strings.Contains(out, "is anybody there?") {
		t.Errorf("what was said is not all there:\n%s", out)
	}
	if checked := auditOf(t, s); len(checked) > 0 {
		t.Errorf("the migrated record breaks its invariants: %q", checked)
	}
	s.serve(t)
	methods := map[string]bool{}
	for _, c := range telegram.Ledger().Calls {
		methods[c.Method] = true
	}
	if !methods["getMe"] {
		t.Errorf("the account of yesterday was not reached: %v", methods)
	}
}

// ECOSYSTEM 7: a migration says its plan and the record's size before it begins, and
// how far it is when it takes longer than a second.
func TestMigrationTellsItsPlan(t *testing.T) {
	s := yesterday(t, "http://127.0.0.1:1")
	out, errs, code := s.do(t, "", "migrate")
	if code != apperr.Done || !strings.HasPrefix(out, "schema ") || !regexp.MustCompile(`^migrate schema 1 to \d+ in \d+ steps   \d+\.\d kB, set aside as trestle\.db\.schema1 first\n(migrate schema 1 to \d+ .*\n)*$`).MatchString(errs) {
		t.Errorf("exit %s: %q %q", code, out, errs)
	}
	if out, errs, code := s.do(t, "", "migrate"); code != apperr.Done || errs != "" {
		t.Errorf("a second time: exit %s: %q %q", code, out, errs)
	}
}

// Programs that read the answer, and people who want quiet, are not told the plan.
func TestMigrationTellsItsPlanToPeopleAlone(t *testing.T) {
	for _, flag := range []string{"--output=json", "--quiet"} {
		s := yesterday(t, "http://127.0.0.1:1")
		if out, errs, code := s.do(t, "", "migrate", flag); code != apperr.Done || strings.Contains(errs, "set aside") {
			t.Errorf("%s: exit %s: %q %q", flag, code, out, errs)
		}
	}
}

// The file stays as it is when its record moves, also one of an older schema: that is
// refused, with what to do first.
func TestMoveLeavesAnOlderFileAsItIs(t *testing.T) {
	s := yesterday(t, "http://127.0.0.1:1")
	record := filepath.Join(s.folder, "data", "trestle.db")
	_, errs, code := s.do(t, "", "move", "--to", "postgres://trestle@127.0.0.1:1/trestle?sslmode=disable")
	if code != apperr.Failed || !strings.Contains(errs, "its schema is 1") || !strings.Contains(errs, "trestle migrate") {
		t.Errorf("exit %s: %s", code, errs)
	}
	if copies, err := filepath.Glob(record + ".schema*"); err != nil || len(copies) > 0 {
		t.Errorf("copies are %v (%v)", copies, err)
	}
	if _, errs, _ := s.do(t, "", "runs"); !strings.Contains(errs, "its schema is 1") {
		t.Errorf("after it: %s", errs)
	}
}

// An older record is no reason to be calm: doctor says what the next start does, and
// what room that needs.
func TestDoctorTellsOfAnOlderSchema(t *testing.T) {
	s := yesterday(t, "http://127.0.0.1:1")
	out, errs, _ := s.do(t, "", "doctor", "data")
	for _, want := range []string{"TRS-R16", "the schema is 1", "sets a copy aside"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s%s", want, out, errs)
		}
	}
}

// yesterday returns a folder with the installation of testdata/upgrade, whose
// Telegram is at url, as an earlier version of the program left it.
func yesterday(t *testing.T, url string) stage {
	t.Helper()
	s := installed(t, url)
	addMigration(t)
	return s
}

func installed(t *testing.T, url string) stage {
	t.Helper()
	s := stage0(t)
	text, err := os.ReadFile("testdata/upgrade/trestle.yaml")
	testutil.OK(t, err)
	here := strings.Replace(string(text), "http://127.0.0.1:18081", url, 1)
	testutil.OK(t, os.WriteFile(filepath.Join(s.folder, "trestle.yaml"), []byte(here), 0o600))
	s.done(t, "", "migrate")
	return s
}

// addMigration gives the program a migration that the databases have not.
func addMigration(t *testing.T) {
	t.Helper()
	later := map[string]string{"0002_later.sql": "-- +goose Up\nalter table spaces add column colour text;\n"}
	testutil.Replace(t, &migrations.SQLite, testutil.WithFiles(t, migrations.SQLite, later))
}

// auditOf returns what an audit of the stage's record finds.
func auditOf(t *testing.T, s stage) []string {
	t.Helper()
	s.done(t, "", "backup", "audited.db")
	out, _, _ := s.do(t, "", "backup", "--check", "audited.db", "-o", "json")
	var checked checkedBackup
	testutil.OK(t, json.Unmarshal([]byte(out), &checked))
	return checked.Findings
}

// F33: a command that reads a database of a newer version names that version, and the code
// under which the problem is explained.
func TestReadingANewerRecordNamesItsProblem(t *testing.T) {
	s := aTalk(t)
	alters(t, filepath.Join(s.folder, "data", "trestle.db"), "insert into goose_db_version (version_id, is_applied) values (9999, true)")
	for _, command := range []string{"status", "problems", "runs", "run", "migrate"} {
		out, errs, code := s.do(t, "", command)
		if code == apperr.Done || !strings.Contains(out+errs, "its schema is 9999") || !strings.Contains(out+errs, "(TRS-R04)") {
			t.Errorf("%s: exit %s, want the schema and TRS-R04:\n%s%s", command, code, out, errs)
		}
	}
}

// alters does something to a record from outside.
func alters(t *testing.T, file, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", file)
	testutil.OK(t, err)
	_, err = db.ExecContext(t.Context(), statement)
	testutil.OK(t, errors.Join(err, db.Close()))
}
