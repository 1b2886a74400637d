package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A record that has lived in a file goes on in a database: nothing of the talk is
// lost, one process at a time has it, and every command reads it there.
func TestRecordMovesIntoADatabaseAndGoesOn(t *testing.T) {
	var pg testservers.PostgresServer
	t.Cleanup(func() { testutil.OK(t, pg.Stop()) })
	s := aTalk(t)
	blank := s
	blank.env += "\nTRESTLE_DATABASE=" + pg.URL(pg.Database(t))
	if _, errs, code := blank.do(t, "", "runs"); code != apperr.Failed || !strings.Contains(errs, "pg_dump") || strings.Contains(errs, "sets a copy") {
		t.Errorf("reading before the upgrade: exit %s: %s", code, errs)
	}
	was := answerOf[[]api.RunRow](t, s, "runs", "-o", "json")
	address := pg.URL(pg.Database(t))
	out, errs, code := s.do(t, "", "move", "--to", address)
	if code != apperr.Done || !strings.Contains(out, "now set the key database") {
		t.Fatalf("move: exit %s: %s%s", code, out, errs)
	}
	s.env += "\nTRESTLE_DATABASE=" + address
	s.done(t, "hello again\n", "chat")
	is := answerOf[[]api.RunRow](t, s, "runs", "-o", "json")
	if all := answerOf[[]jobs.JobSnapshot](t, s, "jobs", "-o", "json"); len(all) != 1 || all[0].Kind != "move" || all[0].State != jobs.Done || all[0].Done < 20 {
		t.Errorf("the move is not among the jobs: %+v", all)
	}
	if len(was) != 1 || len(is) != 2 || is[1].Run != was[0].Run {
		t.Errorf("runs were %+v and are %+v", was, is)
	}
	for _, test := range []struct {
		args []string
		want string
		code apperr.ExitCode
	}{
		{[]string{"doctor", "data"}, "Postgres 1", apperr.Done},
		{[]string{"migrate"}, "schema", apperr.Done},
		{[]string{"backup", "copy.db"}, "pg_dump", apperr.Usage},
		{[]string{"move"}, "has a record already", apperr.Usage},
		{[]string{"run", "--check"}, "everything starts", apperr.Done},
	} {
		out, errs, code := s.do(t, "", test.args...)
		if code != test.code || !strings.Contains(out+errs, test.want) {
			t.Errorf("%v: exit %s, want %s and %q:\n%s%s", test.args, code, test.code, test.want, out, errs)
		}
	}
	s.serve(t)
	second := s
	second.folder = t.TempDir()
	if out, errs, code := second.do(t, "hello\n", "run"); code != apperr.TryAgain || !strings.Contains(out+errs, "serves the rooms of the terminal") {
		t.Errorf("a second process: exit %s: %s%s", code, out, errs)
	}
	if a := answerOf[statusAnswer](t, s, "status", "-o", "json"); len(a.Processes) != 1 || !slices.Contains(a.Processes[0].Has, server.AccountThing(server.LocalName)) {
		t.Errorf("processes are %+v, want the one that serves the terminal's rooms", a.Processes)
	}
	if out, errs, code := second.do(t, "", "migrate"); code != apperr.Done || !strings.Contains(out, "schema") {
		t.Errorf("migrate with nothing to do, beside a process: exit %s: %s%s", code, out, errs)
	}
	if out, errs, code := second.do(t, "hello\n", "chat"); code != apperr.TryAgain || !strings.Contains(out+errs, "in use by process") {
		t.Errorf("a command that wants the record alone: exit %s: %s%s", code, out, errs)
	}
}

// A move needs a record in the data folder and the address of a database, by its flag
// or by the key.
func TestMoveSaysWhatItLacks(t *testing.T) {
	const address = "postgres://127.0.0.1:1/x"
	for _, test := range []struct {
		env, to, want string
		code          apperr.ExitCode
	}{
		{"", "", "no database is named", apperr.Usage},
		{"", address, "there is no record here yet", apperr.Failed},
		{"\nTRESTLE_DATABASE=" + address, "", "there is no record here yet", apperr.Failed},
	} {
		s := stage0(t)
		s.env += test.env
		out, errs, code := s.do(t, "", "move", "--to", test.to)
		if code != test.code || !strings.Contains(out+errs, test.want) {
			t.Errorf("to %q, with%q: exit %s, want %s and %q:\n%s%s", test.to, test.env, code, test.code, test.want, out, errs)
		}
	}
}

// A move that ended early says what is to be done, and whether calling it again helps.
func TestMoveThatEndedEarlySaysWhatToDo(t *testing.T) {
	for name, test := range map[string]struct {
		err    error
		remedy string
		code   apperr.ExitCode
	}{
		"a record is there":           {postgres.ErrNotEmpty, "name an empty database", apperr.Usage},
		"used meanwhile":              {postgres.ErrDiffers, "make the database anew", apperr.Failed},
		"a server that loses commits": {postgres.ErrSetting, "TRS-R11", apperr.Failed},
		"anything else":               {errors.New("connection refused"), "it goes on where it stood", apperr.Failed},
	} {
		err := fmt.Errorf("move record: %w", test.err)
		f, ok := errors.AsType[*apperr.Error](moveFailure(t.Context(), err))
		if !ok || !strings.Contains(f.Remedy, test.remedy) || f.Code != test.code || f.What != err.Error() {
			t.Errorf("%s: got %+v, want %q and exit code %d", name, f, test.remedy, test.code)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if s, ok := errors.AsType[*reportedError](moveFailure(stopped, context.Canceled)); !ok || s.code != apperr.Interrupted {
		t.Errorf("interrupted it says %+v", s)
	}
}

// What is wrong with a database is said, and nothing of its password is.
func TestDatabaseThatCannotBeUsedIsExplained(t *testing.T) {
	s := stage0(t)
	s.env += "\nTRESTLE_DATABASE=postgres://trestle:hunter22hunter22@127.0.0.1:1/trestle?sslmode=disable"
	for _, command := range []string{"run", "status", "doctor", "migrate"} {
		out, errs, code := s.do(t, "", command)
		if code == apperr.Done || strings.Contains(out+errs, "hunter22") || !strings.Contains(out+errs, "refused") {
			t.Errorf("%s: exit %s: %s%s", command, code, out, errs)
		}
	}
}

// DELIVERY 2.7 "Disk full": who starts on a full disk is to be started again, and is
// there by itself once there is room.
func TestAStartOnAFullDiskIsTriedAgain(t *testing.T) {
	full := &fs.PathError{Op: "open", Path: "trestle.lock", Err: syscall.ENOSPC}
	for name, err := range map[string]error{"of the record": engine.ErrFull, "of the folder": full} {
		f, ok := errors.AsType[*apperr.Error](storeopen.OpenError(fmt.Errorf("open record: %w", err), "/var/lib/trestle"))
		if !ok || !strings.Contains(f.Remedy, "make room on this disk") || f.Code != apperr.TryAgain {
			t.Errorf("%s: got %+v, want exit code %d", name, f, apperr.TryAgain)
		}
	}
}

// Issue 7, F33: a record that does not open says what to do about it, and whether
// starting again may help.
func TestRecordThatDoesNotOpenSaysWhatToDo(t *testing.T) {
	other := &postgres.InUseError{Host: "far", PID: 7, Program: "1.2", Expires: 9 * time.Second}
	for name, test := range map[string]struct {
		err    error
		remedy string
		code   apperr.ExitCode
	}{
		"another process":                 {other, "its right to write ends in 10 s", apperr.TryAgain},
		"an older schema that others use": {fmt.Errorf("the schema is to go from 39 to 40: %w", other), "stop the other process", apperr.TryAgain},
		"a newer schema":                  {engine.ErrNewer, "TRS-R04", apperr.BadConfig},
		"a move that broke off":           {postgres.ErrUnfinished, "call trestle move again", apperr.BadConfig},
		"a server that loses commits":     {postgres.ErrSetting, "TRS-R11", apperr.BadConfig},
		"a server that takes no writes":   {postgres.ErrReadOnly, "start again", apperr.TryAgain},
		"a server without room":           {engine.ErrFull, "the disk of the server", apperr.TryAgain},
		"no server":                       {errors.New("connection refused"), "see that the server runs", apperr.TryAgain},
	} {
		err := fmt.Errorf("open record in trestle on db.example.org: %w", test.err)
		f, ok := errors.AsType[*apperr.Error](storeopen.OpenError(err, "database"))
		if !ok || !strings.Contains(f.Remedy, test.remedy) || f.Code != test.code || f.What != err.Error() {
			t.Errorf("%s: got %+v, want %q and exit code %d", name, f, test.remedy, test.code)
		}
	}
}

// DELIVERY 2.7: who serves a record has set room aside for a disk that is full. Who looks
// after one has not.
func TestAProcessSetsRoomAside(t *testing.T) {
	s := stage0(t)
	folder := filepath.Join(s.folder, "data")
	file := filepath.Join(folder, "trestle.ballast")
	s.done(t, "", "migrate")
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("to bring a record up to date, %v", err)
	}
	s.serve(t)
	free, _, err := sqlite.Disk(folder)
	testutil.OK(t, err)
	if has, err := os.Stat(file); free > 10*storeopen.ReservedSpace && (err != nil || has.Size() != storeopen.ReservedSpace) {
		t.Errorf("with %d bytes free it has %v, %v", free, has, err)
	}
}
