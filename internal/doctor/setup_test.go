package doctor_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/clockskew"
	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/migrations"
)

// record makes a record of this program in a folder and closes it.
func record(t *testing.T, dir string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, NewID: func() string { return "1" }, Program: "0.9.1"})
	testutil.OK(t, err)
	testutil.OK(t, s.Close(t.Context()))
}

func execute(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(dir, sqlite.FileName))
	testutil.OK(t, err)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// Issue 3: what is wrong with the data folder is found, with its mend.
func TestExaminationOfTheRecordFindsThePlantedFault(t *testing.T) {
	roomy := func(string) (uint64, uint64, error) { return 80e9, 100e9, nil }
	for _, test := range []struct {
		name   string
		code   string
		plant  func(t *testing.T, dir string, x *sqlite.DataDirCheck)
		adjust func(*doctor.DataDir)
		clocks []clockskew.ClockOffset
	}{
		{name: "data well", clocks: []clockskew.ClockOffset{{Host: "api.telegram.org"}}},
		{name: "data on a network disk", code: "TRS-R06", plant: func(_ *testing.T, _ string, x *sqlite.DataDirCheck) {
			x.Networked = func(string) (bool, error) { return true, nil }
		}},
		{name: "disk full", code: "TRS-R01", plant: func(_ *testing.T, _ string, x *sqlite.DataDirCheck) {
			x.Disk = func(string) (uint64, uint64, error) { return 900e6, 100e9, nil }
		}},
		{name: "data open to others", code: "TRS-R09", plant: func(t *testing.T, dir string, _ *sqlite.DataDirCheck) {
			t.Helper()
			if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // that is the fault
				t.Fatal(err)
			}
		}},
		{name: "data damaged", code: "TRS-R07", plant: func(t *testing.T, dir string, _ *sqlite.DataDirCheck) {
			t.Helper()
			f, err := os.OpenFile(filepath.Join(dir, sqlite.FileName), os.O_RDWR, 0)
			testutil.OK(t, err)
			_, err = f.WriteAt([]byte(strings.Repeat("not a database ", 400)), 0)
			testutil.OK(t, errors.Join(err, f.Close()))
		}},
		{name: "schema ahead", code: "TRS-R04", plant: func(t *testing.T, dir string, _ *sqlite.DataDirCheck) {
			t.Helper()
			execute(t, dir, "insert into goose_db_version (version_id, is_applied) values (9999, true)")
		}, adjust: func(r *doctor.DataDir) { r.Knows, r.Pending = 2, 1 }},
		{name: "schema behind", code: "TRS-R16", plant: addMigration, adjust: behind(40e9)},
		{name: "schema behind no room", code: "TRS-R16", plant: addMigration, adjust: behind(9e6)},
		{name: "schema behind in a database", code: "TRS-R16", plant: addMigration, adjust: func(r *doctor.DataDir) {
			behind(0)(r)
			r.Bytes, r.Total = 0, 0
		}},
		{name: "schema behind on a disk of unknown size", code: "TRS-R16", plant: addMigration, adjust: func(r *doctor.DataDir) {
			behind(0)(r)
			r.Total = 0
		}},
		{name: "held by another", code: "TRS-R08", plant: func(t *testing.T, dir string, _ *sqlite.DataDirCheck) {
			t.Helper()
			s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, NewID: func() string { return "2" }})
			testutil.OK(t, err)
			t.Cleanup(func() { testutil.OK(t, s.Close(context.WithoutCancel(t.Context()))) })
		}, adjust: func(r *doctor.DataDir) {
			if r.Holder != os.Getpid() {
				r.Damage = "the holder is not named"
			}
			r.Holder = 4711
		}},
		{name: "backup old", code: "TRS-R02", adjust: func(r *doctor.DataDir) { r.Backup = time.Now().Add(-9*24*time.Hour - time.Hour) }},
		{name: "backup never made", code: "TRS-R02", adjust: func(r *doctor.DataDir) {
			if time.Since(r.Began) > time.Hour {
				r.Damage = "the beginning is not known"
			}
			r.Began = time.Now().Add(-30 * 24 * time.Hour)
		}},
		{name: "clock skew", code: "TRS-H01", clocks: []clockskew.ClockOffset{{Host: "api.telegram.org", Off: -3 * time.Minute}, {Host: "api.openai.com", Off: 2 * time.Second}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder needs its x
				t.Fatal(err)
			}
			record(t, dir)
			x := sqlite.DataDirCheck{Dir: dir, Disk: roomy}
			if test.plant != nil {
				test.plant(t, dir, &x)
			}
			r, err := x.Run(t.Context())
			testutil.OK(t, err)
			if r.MaxAge = 7 * 24 * time.Hour; test.adjust != nil {
				test.adjust(&r)
			}
			r.Folder = "./data"
			text, report := printed(t, "data", func(context.Context) []adapters.AccountDiagnosis { return r.Examine(test.clocks, time.Now()) })
			if len(report.Findings) != 1 || report.Findings[0].Code != test.code {
				t.Errorf("found %+v, want %q alone", report.Findings, test.code)
			}
			golden(t, test.name, text)
		})
	}
}

func TestFolderWithoutARecordIsFine(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		roomy := func(of string) (uint64, uint64, error) {
			if _, err := os.Stat(of); err != nil {
				t.Errorf("the disk of a folder is asked for that is not there: %s", of)
			}
			return 80e9, 100e9, nil
		}
		r, err := sqlite.DataDirCheck{Dir: dir, Disk: roomy}.Run(t.Context())
		testutil.OK(t, err)
		r.Mode = 0
		if found := r.Examine(nil, time.Now()); len(found) != 1 || found[0].Level != adapters.Fine || !strings.Contains(found[0].What, "nothing is here yet; the first start makes it, 80 GB free") {
			t.Errorf("found %+v", found)
		}
		full := func(string) (uint64, uint64, error) { return 1e6, 100e9, nil }
		r, err = sqlite.DataDirCheck{Dir: dir, Disk: full}.Run(t.Context())
		testutil.OK(t, err)
		if found := r.Examine(nil, time.Now()); len(found) != 1 || found[0].Code != "TRS-R01" {
			t.Errorf("on a full disk: %+v", found)
		}
	}
}

// Issue 3: entries and modes. `--fix` takes the modes away, and says so.
func TestExaminationOfTheSetupFindsAndFixes(t *testing.T) {
	t.Chdir(t.TempDir())
	data, yaml, env := "data", "trestle.yaml", "trestle.env"
	if err := os.Mkdir(data, 0o755); err != nil { //nolint:gosec // that is the fault
		t.Fatal(err)
	}
	for _, f := range []string{yaml, env} {
		if err := os.WriteFile(f, nil, 0o644); err != nil { //nolint:gosec // that is the fault
			t.Fatal(err)
		}
	}
	s := doctor.CheckedSetup{
		Summary: "trestle.yaml, 41 lines; 3 values from the environment", Folder: data,
		Warnings: []doctor.SetupWarning{
			{What: "admit: everybody who finds the bot may talk to the agents", Mend: "write pairing, unless that is meant"},
			{What: "a credential stands in the file as it is, and others can read the file: its mode is 0644", Mend: "chmod 600 trestle.yaml", Grave: true, File: yaml},
			{What: "others can read this file with a credential: its mode is 0644", Mend: "chmod 600 trestle.env", Grave: true, File: env},
			{What: "a file that is gone", Mend: "nothing", File: "gone"},
		},
		Entries: []doctor.BrokenEntry{
			{Path: "adapters.acme", What: "token is empty", Mend: "set SLACK_BOT_TOKEN"},
			{Path: "spaces.ops", What: "the agent \"bea\" is not under agents"},
		},
	}
	parts := []doctor.Check{{Name: "config", Examine: s.Examine, Fix: s.Fix}, {Name: "other", Examine: s.Examine}}
	o := doctor.Options{Parts: []string{"config"}}
	r := doctor.Examine(t.Context(), parts, o)
	var out strings.Builder
	r.Print(&out)
	golden(t, "config broken", out.String())

	var err error
	if r.Changed, err = doctor.Fix(t.Context(), parts, o); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	r.Print(&out)
	golden(t, "config fixed", out.String())
	for path, want := range map[string]os.FileMode{yaml: 0o600, env: 0o600, data: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %o", path, info.Mode(), err, want)
		}
	}
	if again, err := doctor.Fix(t.Context(), parts, o); err != nil || len(again) != 0 {
		t.Errorf("changed again: %v, %v", again, err)
	}
	well := doctor.CheckedSetup{Summary: s.Summary}
	text, _ := printed(t, "config", well.Examine)
	golden(t, "config well", text)
}

// SECURITY S7: the console is called as others would call it.
func TestExaminationOfTheConsoleCallsItFromOutside(t *testing.T) {
	serve := func(host string, status int) string {
		ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", host+":0")
		testutil.OK(t, err)
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/health" { // which tells everybody one word
				w.WriteHeader(status)
			}
		}))
		s.Listener = ln
		s.Start()
		t.Cleanup(s.Close)
		return ln.Addr().String()
	}
	// Everything in 127/8 reaches a listener on all addresses, as others would.
	outside := func() ([]net.IP, error) { return []net.IP{net.IPv4(127, 0, 0, 2)}, nil }
	_, closed, err := net.SplitHostPort(serve("127.0.0.3", 200))
	testutil.OK(t, err)
	for _, test := range []struct {
		name, code string
		c          doctor.ConsoleAddress
	}{
		{"console well", "", doctor.ConsoleAddress{Listen: serve("127.0.0.1", 200), Running: true}},
		{"console not running", "", doctor.ConsoleAddress{Listen: "127.0.0.1:7420"}},
		{"console not served", "", doctor.ConsoleAddress{}},
		{"console open", "TRS-C04", doctor.ConsoleAddress{Listen: serve("0.0.0.0", 200), Running: true}},
		{"console open with a credential", "TRS-C04", doctor.ConsoleAddress{Listen: serve("0.0.0.0", 401), Running: true}},
		{"console open, nothing runs", "TRS-C04", doctor.ConsoleAddress{Listen: "0.0.0.0:7420"}},
		{"console silent", "TRS-C05", doctor.ConsoleAddress{Listen: "127.0.0.1:" + closed, Running: true}},
	} {
		test.c.Addresses = outside
		text, r := printed(t, "console", test.c.Examine)
		if r.Findings[0].Code != test.code {
			t.Errorf("%s: found %+v", test.name, r.Findings)
		}
		text = strings.NewReplacer("0.0.0.0", "[all]", "127.0.0.2", "10.1.2.3").Replace(text)
		golden(t, test.name, portless(text))
	}
}

// portless masks the port of every address of this machine.
func portless(text string) string {
	var out []string
	for word := range strings.SplitSeq(text, " ") {
		if host, rest, ok := strings.Cut(word, ":"); ok && (strings.HasSuffix(host, "10.1.2.3") || strings.HasSuffix(host, "[all]")) {
			word = host + ":N" + strings.TrimLeft(rest, "0123456789")
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// ECOSYSTEM 3.2: doctor [PART…] --only CODE --min warn|fail.
func TestReportIsNarrowed(t *testing.T) {
	parts := []doctor.Check{
		{Name: "config", Examine: func(context.Context) []adapters.AccountDiagnosis {
			return []adapters.AccountDiagnosis{doctor.Fine("fine")}
		}},
		{Name: "telegram", Examine: func(context.Context) []adapters.AccountDiagnosis {
			return []adapters.AccountDiagnosis{doctor.Warn("TRS-T02", "privacy", "off"), doctor.Fail("TRS-T03", "webhook", "delete")}
		}},
		{Name: "data", Last: true, Examine: func(context.Context) []adapters.AccountDiagnosis {
			return []adapters.AccountDiagnosis{doctor.Warn("TRS-R02", "old", "backup")}
		}},
	}
	codes := func(o doctor.Options) (codes []string, r doctor.CheckReport) {
		r = doctor.Examine(t.Context(), parts, o)
		for _, f := range r.Findings {
			codes = append(codes, f.Part+" "+f.Code)
		}
		return codes, r
	}
	all, r := codes(doctor.Options{})
	testutil.Same(t, "what came", []string{"config ", "telegram TRS-T02", "telegram TRS-T03", "data TRS-R02"}, all)
	if !r.Reaches(adapters.Failure) || !r.Reaches(adapters.Warning) {
		t.Error("a failure reaches both levels")
	}
	some, r := codes(doctor.Options{Parts: []string{"data", "config"}})
	testutil.Same(t, "what came", []string{"config ", "data TRS-R02"}, some)
	if r.Reaches(adapters.Failure) || !r.Reaches(adapters.Warning) {
		t.Error("a warning reaches its own level alone")
	}
	if one, _ := codes(doctor.Options{Only: "TRS-T03"}); len(one) != 1 || one[0] != "telegram TRS-T03" {
		t.Errorf("--only gave %v", one)
	}
}

// addMigration gives the program a migration that the database has not.
func addMigration(t *testing.T, _ string, _ *sqlite.DataDirCheck) {
	t.Helper()
	later := map[string]string{"9000_later.sql": "-- +goose Up\nalter table spaces add column colour text;\n"}
	testutil.Replace(t, &migrations.SQLite, testutil.WithFiles(t, migrations.SQLite, later))
}

// behind sees that the step and the size of the file were found, and gives the record
// sizes that stay the same.
func behind(free uint64) func(r *doctor.DataDir) {
	return func(r *doctor.DataDir) {
		if r.Pending != 1 || r.Schema != 1 || r.Knows != 9000 || r.Bytes == 0 {
			r.Damage = "the pending migration is not found"
		}
		r.Schema, r.Knows, r.Bytes, r.Free, r.Total = 26, 27, 4e6, free, 100e6
		if free > r.Total {
			r.Total = free
		}
	}
}
