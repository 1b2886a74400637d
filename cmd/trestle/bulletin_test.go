package main

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/check"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/problems"
	"github.com/trestle-bridge/trestle/internal/store/record"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
)

// Issue 7: processes that were told different things are found out, and so is work
// that nobody does.
func TestProcessesThatDoNotFitTogetherAreFoundOut(t *testing.T) {
	all := config.Roles()
	own := fellow{record.Member{Program: "1.2"}, bulletin{Roles: all, Folder: "a", Bells: "redis one:6379"}}
	other := func(version string, b bulletin) fellow {
		return fellow{record.Member{ID: "p2", Host: "far", PID: 7, Program: version}, b}
	}
	for name, test := range map[string]struct {
		own    fellow
		others []fellow
		want   []string
	}{
		"alone":         {own, nil, nil},
		"the same":      {own, []fellow{other("1.2", own.bulletin)}, nil},
		"not yet heard": {own, []fellow{other("1.2", bulletin{})}, nil},
		"all different": {
			own,
			[]fellow{other("1.3", bulletin{Roles: all, Folder: "b", Bells: "the database"})},
			[]string{"versions: process 7 on far: 1.3; here: 1.2", "doorbells: process 7 on far: the database; here: redis one:6379", "folders of files: process 7 on far: b; here: a"},
		},
		"nobody thinks": {
			fellow{own.Member, bulletin{Roles: []config.Role{config.ShowsConsole}}},
			[]fellow{other("1.2", bulletin{Roles: []config.Role{config.ServesAccounts}})},
			[]string{"roles: no process has the role minds"},
		},
	} {
		var got []string
		for _, s := range disagreements(test.own, test.others) {
			if s.Code != problems.Disagree {
				t.Errorf("%s: code %s", name, s.Code)
			}
			got = append(got, s.Subject+": "+s.Evidence)
		}
		check.Same(t, name, test.want, got)
	}
}

// Issue 7: a role that is nobody's while processes start or change by turns is no
// problem; one that stays so is.
func TestRoleThatIsNobodysForAMomentIsNotTold(t *testing.T) {
	idle, at := lasting{}, time.Unix(0, 0)
	seen := func(subject string) problems.Sighting {
		return problems.Sighting{Code: problems.Disagree, Subject: subject, Evidence: subject}
	}
	for n, step := range []struct {
		after time.Duration
		seen  []problems.Sighting
		want  int
	}{
		{0, []problems.Sighting{seen("roles"), seen("versions")}, 1},
		{roleGrace - time.Second, []problems.Sighting{seen("roles")}, 0},
		{time.Second, nil, 0}, // somebody took it
		{time.Second, []problems.Sighting{seen("roles")}, 0},
		{roleGrace, []problems.Sighting{seen("roles")}, 1},
	} {
		at = at.Add(step.after)
		if got := idle.since(at, step.seen); len(got) != step.want {
			t.Errorf("look %d: told %+v, want %d", n, got, step.want)
		}
	}
}

// Issue 7: whoever tells of problems tells of those that other processes see of
// themselves, each once, and knows the accounts that others serve.
func TestProblemsOfOtherProcessesAreSeen(t *testing.T) {
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), NewID: newID})
	check.OK(t, err)
	t.Cleanup(func() { check.OK(t, store.Close(context.WithoutCancel(t.Context()))) })
	s := &process{parts: &parts{store: store}}
	deaf := problems.Sighting{Code: problems.Deaf, Subject: "telegram"}
	both := problems.Sighting{Code: problems.Deaf, Subject: "slack"}
	s.known.Store(new([]fellow{
		{record.Member{ID: "p2"}, bulletin{Accounts: map[string]string{"telegram": "telegram:7001"}, Seen: []problems.Sighting{deaf, both, {Code: problems.DiskLow, Subject: "the data folder"}}}},
		{record.Member{ID: "p3", Bulletin: "of a version to come"}, bulletinOf(record.Member{Bulletin: "of a version to come"})},
	}))
	look := s.everywhere(problems.Look{
		Codes: []problems.Code{problems.Deaf},
		See:   func(context.Context) ([]problems.Sighting, error) { return []problems.Sighting{both}, nil },
	})
	got, err := look.See(t.Context())
	if diff := cmp.Diff([]problems.Sighting{both, deaf}, got); diff != "" || err != nil {
		t.Errorf("seen (-want +got), %v:\n%s", err, diff)
	}
	check.Same(t, "account", "telegram:7001", s.accountOf("telegram"))
	called := func(account string) string {
		t.Helper()
		name, err := s.adapterOf(t.Context(), account)
		check.OK(t, err)
		return name
	}
	check.Same(t, "who serves it told", "telegram", called("telegram:7001"))
	s.known.Store(nil)
	check.Same(t, "nobody told", "telegram:7001", called("telegram:7001"))
	check.OK(t, store.Border().Stood(t.Context(), activity.LineSpan{Line: "telegram", Account: "telegram:7001", State: activity.LineConnected, From: time.Now(), First: true}))
	check.Same(t, "who served it is gone", "telegram", called("telegram:7001"))
}
