package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// F35, F41, I10: where connections break, those who live have none for a while. A process
// that starts then gives none of them up: they would end, start again, and do the same to
// it, and what they had in hand would count as what ended them. Who is known to be dead need not
// be waited for.
func TestStartTakesNobodyForDeadWhoOnlyLostAConnection(t *testing.T) {
	here, err := os.Hostname()
	testutil.OK(t, err)
	over := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	testutil.OK(t, over.Run())
	for name, test := range map[string]struct {
		host  string
		pid   int
		quiet time.Duration // since the last sign of life, of a term of an hour
		dies  bool
	}{
		"on another machine":             {"elsewhere", 7, 0, false},
		"on this one, and it runs":       {here, os.Getppid(), 0, false},
		"on this one, and it is over":    {here, over.Process.Pid, 0, true},
		"on this one, in our place":      {here, os.Getpid(), 0, true},
		"elsewhere, silent for too long": {"elsewhere", 7, 25 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			database := server.Database(t)
			o := options(t, database)
			o.Term = time.Hour // none says meanwhile that it lives
			first := open(t, o)
			room := openRoom(t, first)
			server.Do(t, database, fmt.Sprintf(`update processes set host = '%s', pid = %d, backend = 1, began = '9', expires = expires - %d`,
				test.host, test.pid, test.quiet.Milliseconds()))
			open(t, o)
			_, err := first.Border().Record(t.Context(), message(room, "zoe", 1))
			if test.dies != errors.Is(err, postgres.ErrBuried) {
				t.Errorf("the process that lost its connection got %v; given up: want %t", err, test.dies)
			}
		})
	}
}
