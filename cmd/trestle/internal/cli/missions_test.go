package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// ECOSYSTEM 9: the page about missions runs as it is written, over a mission of which the first
// of two tasks is verified.
func TestThePageAboutMissionsRunsAsItIsWritten(t *testing.T) {
	all := recipesOf(t, "missions.md")
	if len(all) != 2 {
		t.Fatalf("the page has %d parts that run", len(all))
	}
	env := onThisMachine(t)
	for _, r := range all {
		t.Run(r.title, func(t *testing.T) {
			folder := t.TempDir()
			testutil.OK(t, os.WriteFile(filepath.Join(folder, "trestle.yaml"), []byte("agents:\n  ada: {name: Ada}\n  max: {name: Max}\n"), 0o600))
			haveMission(t, folder)
			r.play(t, folder, env)
		})
	}
}

// haveMission puts a mission into the record of a folder.
func haveMission(t *testing.T, folder string) {
	t.Helper()
	at := time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(folder, "data"), NewID: storeopen.NewID})
	testutil.OK(t, err)
	defer func() { testutil.OK(t, store.Close(t.Context())) }()
	place, err := store.Border().Open(t.Context(), spaces.OpenRequest{Key: "family", Name: "Family", Circle: "home", Wake: spaces.WakeMention, Agents: []spaces.AgentID{"ada", "max"}, At: at})
	testutil.OK(t, err)
	const id = "00000000-0000-7000-8000-000000003f2a"
	plan := &spaces.Mission{
		ID: id, Space: place.Space, Goal: "Plan the summer party", Coordinator: "ada", State: spaces.MissionProposed, Created: at,
		Team:  []spaces.MissionAgent{{ID: "ada", Name: "Ada"}, {ID: "max", Name: "Max"}},
		Tasks: []spaces.MissionTask{{N: 1, Title: "Find a day", Agent: "max", State: spaces.TaskPending}, {N: 2, Title: "Write the invitation", Agent: "max", After: []int{1}, State: spaces.TaskPending}},
	}
	for _, s := range []spaces.MissionStep{
		{Kind: spaces.MissionPropose, By: "agent:ada", Plan: plan},
		{Kind: spaces.MissionStart},
		{Kind: spaces.MissionSubmit, Task: 1, By: "agent:max", Text: "Saturday"},
		{Kind: spaces.MissionVerify, Task: 1, By: "agent:ada", Text: "a date is named"},
	} {
		s.Mission, s.At = id, at
		_, taken, err := store.Shell().StepMission(t.Context(), s)
		testutil.OK(t, err)
		testutil.Same(t, string(s.Kind), true, taken)
	}
}

// One mission is shown with its tasks, what it used of its budget, and who changed what, why.
func TestAMissionIsShownWhole(t *testing.T) {
	at := time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)
	m := spaces.Mission{
		ID: "00000000-0000-7000-8000-000000003f2a", Goal: "Plan the summer party", Owner: "person-1", Coordinator: "ada", State: spaces.MissionProposed, Created: at, Limit: money.SpendLimit{Tokens: 90000},
		Team:  []spaces.MissionAgent{{ID: "ada", Name: "Ada"}, {ID: "max", Name: "Max"}},
		Tasks: []spaces.MissionTask{{N: 1, Title: "Find a day", Agent: "max", State: spaces.TaskPending}, {N: 2, Title: "Write the invitation", Agent: "ada", After: []int{1}, State: spaces.TaskPending}},
	}
	record := console.MissionRecord{Tokens: 12000, Runs: 3}
	for _, s := range []spaces.MissionStep{
		{Kind: spaces.MissionStart, By: "person-1"},
		{Kind: spaces.MissionSubmit, Task: 1, By: "agent:max", Text: "July"},
		{Kind: spaces.MissionReject, Task: 1, By: "agent:ada", Text: "that is no date"},
		{Kind: spaces.MissionPause, By: "person-1"},
	} {
		s.Mission, s.At = m.ID, at
		moves, _, err := m.Apply(s)
		testutil.OK(t, err)
		record.Changes = append(record.Changes, moves...)
	}
	record.Mission = m
	var b strings.Builder
	printMission(&b, &record, "Family")
	testutil.Same(t, "answer", `mission 3f2a: Plan the summer party
  id       00000000-0000-7000-8000-000000003f2a
  in       Family, led by Ada, asked for by person-1
  state    paused, human_cancelled
  used     12000 of 90000 tokens, 3 runs

TASK   STATE     AGENT   AFTER   TITLE                  WHY
1      working   Max     -       Find a day             that is no date
2      pending   Ada     1       Write the invitation   -

N   AT                     TASK   FROM        TO          AGENT   BY          WHY
1   2026-01-05T09:30:00Z   -      proposed    running     -       person-1    -
2   2026-01-05T09:30:00Z   1      pending     working     max     person-1    -
3   2026-01-05T09:30:00Z   1      working     submitted   max     agent:max   -
4   2026-01-05T09:30:00Z   1      submitted   working     max     agent:ada   that is no date
5   2026-01-05T09:30:00Z   -      running     paused      -       person-1    human_cancelled
`, b.String())
}
