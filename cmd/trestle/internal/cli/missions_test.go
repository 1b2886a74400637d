package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

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
