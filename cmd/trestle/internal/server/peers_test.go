package server

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Issue 7: processes with different configurations are reported, and so is a role that
// no process has.
func TestProcessesThatDoNotFitTogetherAreFoundOut(t *testing.T) {
	all := config.AllRoles()
	own := peer{engine.WriterProcess{Program: "1.2"}, peerStatus{Roles: all, Folder: "a", Bells: "redis one:6379"}}
	other := func(version string, b peerStatus) peer {
		return peer{engine.WriterProcess{ID: "p2", Host: "far", PID: 7, Program: version}, b}
	}
	for name, test := range map[string]struct {
		own    peer
		others []peer
		want   []string
	}{
		"alone":         {own, nil, nil},
		"the same":      {own, []peer{other("1.2", own.peerStatus)}, nil},
		"not yet heard": {own, []peer{other("1.2", peerStatus{})}, nil},
		"all different": {
			own,
			[]peer{other("1.3", peerStatus{Roles: all, Folder: "b", Bells: "the database"})},
			[]string{"versions: process 7 on far: 1.3; here: 1.2", "doorbells: process 7 on far: the database; here: redis one:6379", "folders of files: process 7 on far: b; here: a"},
		},
		"nobody thinks": {
			peer{own.WriterProcess, peerStatus{Roles: []config.ProcessRole{config.RoleConsole}}},
			[]peer{other("1.2", peerStatus{Roles: []config.ProcessRole{config.RoleAdapters}})},
			[]string{"roles: no process has the role minds"},
		},
	} {
		var got []string
		for _, s := range disagreements(test.own, test.others) {
			if s.Code != alerts.Disagree {
				t.Errorf("%s: code %s", name, s.Code)
			}
			got = append(got, s.Subject+": "+s.Evidence)
		}
		testutil.Same(t, name, test.want, got)
	}
}

// Issue 7: a role without a process is no problem while processes start or are replaced
// one by one; it becomes one when it stays so.
func TestRoleThatIsNobodysForAMomentIsNotTold(t *testing.T) {
	idle, at := firstSeen{}, time.Unix(0, 0)
	seen := func(subject string) alerts.Observation {
		return alerts.Observation{Code: alerts.Disagree, Subject: subject, Evidence: subject}
	}
	for n, step := range []struct {
		after time.Duration
		seen  []alerts.Observation
		want  int
	}{
		{0, []alerts.Observation{seen("roles"), seen("versions")}, 1},
		{roleGrace - time.Second, []alerts.Observation{seen("roles")}, 0},
		{time.Second, nil, 0}, // a person took it
		{time.Second, []alerts.Observation{seen("roles")}, 0},
		{roleGrace, []alerts.Observation{seen("roles")}, 1},
	} {
		at = at.Add(step.after)
		if got := idle.since(at, step.seen); len(got) != step.want {
			t.Errorf("look %d: told %+v, want %d", n, got, step.want)
		}
	}
}

// Issue 7: the process that sends alerts includes the problems that other processes
// report of themselves, each once, and knows the accounts that they serve.
func TestProblemsOfOtherProcessesAreSeen(t *testing.T) {
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), NewID: storeopen.NewID})
	testutil.OK(t, err)
	t.Cleanup(func() { testutil.OK(t, store.Close(context.WithoutCancel(t.Context()))) })
	s := NewServer(new(config.Config), slog.New(slog.DiscardHandler), io.Discard, false)
	s.Store = store
	deaf := alerts.Observation{Code: alerts.Deaf, Subject: "telegram"}
	both := alerts.Observation{Code: alerts.Deaf, Subject: "slack"}
	s.known.Store(new([]peer{
		{engine.WriterProcess{ID: "p2"}, peerStatus{Accounts: map[string]string{"telegram": "telegram:7001"}, Seen: []alerts.Observation{deaf, both, {Code: alerts.DiskLow, Subject: "the data folder"}}}},
		{engine.WriterProcess{ID: "p3", Bulletin: "of a version to come"}, decodeStatus(engine.WriterProcess{Bulletin: "of a version to come"})},
	}))
	look := s.includePeers(alerts.ConditionProbe{
		Codes: []alerts.ProblemCode{alerts.Deaf},
		See:   func(context.Context) ([]alerts.Observation, error) { return []alerts.Observation{both}, nil },
	})
	got, err := look.See(t.Context())
	if diff := cmp.Diff([]alerts.Observation{both, deaf}, got); diff != "" || err != nil {
		t.Errorf("seen (-want +got), %v:\n%s", err, diff)
	}
	testutil.Same(t, "account", "telegram:7001", s.accountOf("telegram"))
	called := func(account string) string {
		t.Helper()
		name, err := s.adapterOf(t.Context(), account)
		testutil.OK(t, err)
		return name
	}
	testutil.Same(t, "who serves it told", "telegram", called("telegram:7001"))
	s.known.Store(nil)
	testutil.Same(t, "nobody told", "telegram:7001", called("telegram:7001"))
	testutil.OK(t, store.Border().StateChanged(t.Context(), activity.ConnPeriod{Line: "telegram", Account: "telegram:7001", State: activity.ConnConnected, From: time.Now(), First: true}))
	testutil.Same(t, "who served it is gone", "telegram", called("telegram:7001"))
}
