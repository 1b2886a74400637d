package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/backup"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// open opens the stage's record until the test ends.
func (s stage) open(t *testing.T) *sqlstore.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(s.folder, "data"), NewID: storeopen.NewID})
	testutil.OK(t, err)
	t.Cleanup(func() { testutil.OK(t, store.Close(context.WithoutCancel(t.Context()))) })
	return store
}

// partials returns what cut off backups left in the stage's folder.
func (s stage) partials(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(s.folder, "*.partial"))
	testutil.OK(t, err)
	return found
}

// ECOSYSTEM 7: a backup is a job, of the running process or of the one that was
// called, and is listed.
func TestBackupIsAJob(t *testing.T) {
	for name, running := range map[string]bool{"running": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			s := aTalk(t)
			if running {
				s.serve(t)
			}
			out, errs, code := s.do(t, "", "backup", "monday.db", "-o", "jsonl")
			lines := strings.Split(strings.TrimSpace(out), "\n")
			var j jobs.JobSnapshot
			if err := json.Unmarshal([]byte(lines[max(len(lines)-2, 0)]), &j); code != apperr.Done || err != nil || j.State != jobs.Done || j.Kind != backup.BackupKind {
				t.Fatalf("exit %s, %v: %s%s", code, err, out, errs)
			}
			all := answerOf[[]jobs.JobSnapshot](t, s, "jobs", "-o", "json")
			if len(all) != 1 || all[0].State != jobs.Done || all[0].Subject != "monday.db" || all[0].Done == 0 || all[0].Done != all[0].Total {
				t.Errorf("jobs are %+v", all)
			}
			if checked := answerOf[checkedBackup](t, s, "backup", "--check", "monday.db", "-o", "json"); len(checked.Findings) > 0 {
				t.Errorf("the copy has %q", checked.Findings)
			}
			if left := s.partials(t); len(left) > 0 || backup.LastBackup(filepath.Join(s.folder, "data")).IsZero() {
				t.Errorf("left %q, noted at %s", left, backup.LastBackup(filepath.Join(s.folder, "data")))
			}
		})
	}
}

// A process that may not write where the caller may has the copy made by the caller.
func TestBackupIsMadeWhereTheProcessCannotWrite(t *testing.T) {
	s := aTalk(t)
	store := s.open(t)
	if a, err := (backup.CopyJob{Store: store, DataDir: s.folder}).Add(t.Context(), filepath.Join(s.folder, "nowhere", "monday.db")); err == nil {
		t.Errorf("a job was added for a folder that is not there: %+v", a)
	}
	s.done(t, "", "backup", "monday.db") // another process holds the database, and none answers
	if checked := answerOf[checkedBackup](t, s, "backup", "--check", "monday.db", "-o", "json"); len(checked.Findings) > 0 || len(s.partials(t)) > 0 {
		t.Errorf("the copy has %q, left %q", checked.Findings, s.partials(t))
	}
}

// ECOSYSTEM 7: a process may be done before the caller looks where it writes: its
// copy is taken for one, and where none is seen there is no job to be given up.
func TestABackupMayBeOverBeforeItIsLookedAt(t *testing.T) {
	s := aTalk(t)
	store := s.open(t)
	file := filepath.Join(s.folder, "monday.db")
	w := backup.CopyJob{Store: store, DataDir: filepath.Join(s.folder, "data")}
	a, err := w.Add(t.Context(), file)
	testutil.OK(t, err)
	p := s.program(nil, &screen{}, &screen{})
	testutil.OK(t, installation{p}.doHere(t.Context(), store, a.Job, w.Work, p.progress()))
	for _, seen := range []bool{true, false} {
		if there, err := (backupCommand{installation{p}}).copiedThere(t.Context(), a, file); there != seen || err != nil {
			t.Errorf("the copy is there: %t, want %t, %v", there, seen, err)
		}
		testutil.OK(t, os.RemoveAll(file))
	}
}

// ECOSYSTEM 7: killed in the middle, a backup leaves nothing under its name; the
// next process says so, and makes it anew when it is asked to. The copy of a record
// does not copy itself where it is restored.
func TestBackupThatIsCutOffLeavesNothingHalf(t *testing.T) {
	s := aTalk(t)
	store := s.open(t)
	file := filepath.Join(s.folder, "monday.db")
	w := backup.CopyJob{Store: store, DataDir: filepath.Join(s.folder, "data")}
	a, err := w.Add(t.Context(), file)
	testutil.OK(t, err)
	// As a process leaves it that is killed while it copies.
	long := time.Now().Add(-time.Hour)
	j, err := store.Jobs().Claim(t.Context(), jobs.JobClaim{ID: a.ID, Holder: "dead", TTL: time.Minute, At: long})
	testutil.OK(t, err)
	j.Cursor = []byte("copying")
	testutil.OK(t, store.Jobs().Save(t.Context(), *j, time.Minute, long))
	testutil.OK(t, os.WriteFile(a.Partial, []byte("half of a copy"), 0o600))
	do := func() error {
		p := s.program(nil, &screen{}, &screen{})
		return installation{p}.doHere(t.Context(), store, a.Job, w.Work, p.progress())
	}
	if err := do(); err == nil || !strings.Contains(err.Error(), backup.ErrCutOff.Error()) {
		t.Errorf("the next process says %v", err)
	}
	if _, err := os.Stat(file); err == nil || len(s.partials(t)) > 0 {
		t.Errorf("there is a file (%v), and %q", err, s.partials(t))
	}
	if _, err := store.Jobs().Ask(t.Context(), a.ID, jobs.Ready, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := do(); err != nil {
		t.Fatalf("resumed: %v", err)
	}
	if findings, _, err := auditBackup(t.Context(), file); err != nil || len(findings) > 0 {
		t.Errorf("the copy has %q, %v", findings, err)
	}

	s.done(t, "", "restore", "monday.db", "--data", "elsewhere")
	testutil.OK(t, os.Remove(file))
	there, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(s.folder, "elsewhere"), NewID: storeopen.NewID})
	testutil.OK(t, err)
	defer func() { _ = there.Close(t.Context()) }() // what it held was read
	copied, err := there.Jobs().Job(t.Context(), a.ID)
	if err != nil || copied.State != jobs.Running || len(copied.Cursor) == 0 {
		t.Errorf("in the copy the job is %+v, %v: the test tests nothing", copied, err)
	}
}

// A backup is looked at in a copy, and none of it stays behind when that is
// interrupted.
func TestInterruptedCheckLeavesNoCopyOfTheRecord(t *testing.T) {
	s := aTalk(t)
	s.done(t, "", "backup", "monday.db")
	between := t.TempDir()
	t.Setenv("TMPDIR", between)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, args := range [][]string{{"backup", "--check", "monday.db"}, {"restore", "monday.db", "--data", filepath.Join(s.folder, "other")}} {
		if code := s.program(nil, &screen{}, &screen{}).Run(ctx, args); code != apperr.Interrupted {
			t.Errorf("%s: exit %s", args, code)
		}
	}
	if left, err := os.ReadDir(between); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
