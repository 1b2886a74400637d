package server

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// An operator starts a mission, pauses it, sees what it is, and cancels it; what it
// does not take is told with what to do, and people read each step in the room.
func TestAnOperatorStepsAMission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, `
phases: one
agents:
  ada: {name: Ada}
  max: {name: Max}
spaces:
  family: {name: Family, agents: [ada, max], wake: mention, chats: ["telegram:-1001000000001"]}
`, script(t, `
ada acts: propose_mission {"goal":"Find a day","tasks":[{"title":"Find a day","agent":"Max","done_when":"one date is named"}]}
max acts: ask {"question":"Which day?","options":["Friday","Saturday"]}
max acts: submit_task {"result":"Friday"}
ada acts: verify_task {"ok":true,"why":"a day is named"}
ada acts: send_message {"text":"It is Friday."} || Responded to Kai.
`)...)
		s := &scene{world: w, labels: map[string]int64{}}
		s.do(t, "chat family supergroup Kai")
		s.do(t, "Kai@family: @Ada a mission: find a day")
		all, err := w.process.Store.Console().Missions().Missions(t.Context(), 5)
		testutil.OK(t, err)
		if len(all) != 1 {
			t.Fatalf("%d missions, want one", len(all))
		}
		at := consoleBackend{w.process}
		number := all[0].Number()
		for _, c := range []struct {
			step spaces.MissionStepKind
			want spaces.MissionState // empty: it is not taken
			read string              // in the room
		}{
			{spaces.MissionPause, "", "(proposed)"},
			{spaces.MissionStart, spaces.MissionRunning, "(0 of 1)"},
			{spaces.MissionPause, spaces.MissionPaused, "paused: a person stopped it"},
			{spaces.MissionCancel, spaces.MissionCancelled, "cancelled"},
			{spaces.MissionResume, "", "cancelled"},
		} {
			m, err := at.StepMission(t.Context(), number, spaces.MissionStep{Kind: c.step})
			w.settle()
			if c.want == "" {
				if told, ok := errors.AsType[*apperr.Error](err); !ok || !strings.Contains(told.Remedy, number) {
					t.Errorf("%s: %v, want an error that says what to do", c.step, err)
				}
			} else {
				testutil.OK(t, err)
				testutil.Same(t, string(c.step), c.want, m.State)
			}
			if sent := w.sent(); !strings.Contains(sent, c.read) {
				t.Errorf("after %s people read %s, want %q", c.step, sent, c.read)
			}
		}
		if _, err := at.StepMission(t.Context(), "none", spaces.MissionStep{Kind: spaces.MissionStart}); !errors.Is(err, console.ErrUnknown) {
			t.Errorf("a mission that is not there: %v", err)
		}
		record, err := w.process.Store.Console().Missions().Mission(t.Context(), number)
		testutil.OK(t, err)
		table := w.process.Store.Console().Missions()
		moves, end, err := table.Moved(t.Context(), 0, 500)
		testutil.OK(t, err)
		testutil.Same(t, "moves in the order of the record", record.Changes[len(record.Changes)-1], moves[len(moves)-1].Move)
		if _, last, err := table.Moved(t.Context(), -1, 500); err != nil || last != end || len(moves) != len(record.Changes) {
			t.Errorf("%d moves to %d, the end is at %d: %v", len(moves), end, last, err)
		}
		var by []string
		for _, v := range record.Changes {
			if v.Task == 0 {
				by = append(by, v.To+" by "+string(v.By))
			}
		}
		testutil.Same(t, "who changed it", "proposed by agent:ada, running by operator, paused by operator, cancelled by operator", strings.Join(by, ", "))
		if _, err := at.StepMission(t.Context(), number, spaces.MissionStep{Kind: spaces.MissionResume, From: 2}); err == nil || !strings.Contains(err.Error(), "1 checkpoints") {
			t.Errorf("from a checkpoint that is not there: %v", err)
		}
		if c := record.Checkpoints; len(c) != 1 || c[0].Tokens != 0 || c[0].Heads[record.Mission.Space] == 0 || c[0].Heads["inner:max"] == 0 {
			t.Errorf("checkpoints %+v", c)
		}
		m, err := at.StepMission(t.Context(), number, spaces.MissionStep{Kind: spaces.MissionResume, From: spaces.LatestCheckpoint})
		testutil.OK(t, err)
		testutil.Same(t, "cancelled and resumed", spaces.MissionRunning, m.State)
		w.settle()
		after, err := w.process.Store.Console().Missions().Mission(t.Context(), number)
		testutil.OK(t, err)
		if c := after.Checkpoints; len(c) != 2 || c[1].Task != 1 || c[1].Tokens <= record.Tokens || c[1].Tokens >= after.Tokens {
			t.Errorf("checkpoints %+v, while %d and then %d tokens were used in all", c, record.Tokens, after.Tokens)
		}
		if sent := w.sent(); !strings.Contains(sent, "goes on from checkpoint 1, with 0 of 1 tasks done") {
			t.Errorf("people read %s", sent)
		}
		if record.Runs != 1 || record.Tokens == 0 {
			t.Errorf("%d runs used %d tokens, want one that used some", record.Runs, record.Tokens)
		}
		w.stop()
	})
}
