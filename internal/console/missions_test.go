package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-7.1-1, PRD-7.1-A4: missions are listed; one is shown with its tasks in the order in which they can be
// done, who changed what, its checkpoints, and the room beside it; it is started, held back
// and resumed from a checkpoint on the page and over the API.
func TestMissionsAreShownInTheConsole(t *testing.T) {
	w := consoletest.Open(t)
	l := w.Live("we meet at the lake")
	const id = "00000000-0000-7000-8000-000000003f2a"
	plan := &spaces.Mission{
		ID: id, Space: l.Space, Goal: "Plan <b>the</b> party", Coordinator: "ada", State: spaces.MissionProposed, Created: time.Now(),
		Team: []spaces.MissionAgent{{ID: "ada", Name: "Ada"}},
		Tasks: []spaces.MissionTask{
			{N: 1, Title: "Find a day", DoneWhen: "one is named", Agent: "ada", State: spaces.TaskPending},
			{N: 2, Title: "Find a place", DoneWhen: "one is named", Agent: "ada", State: spaces.TaskPending},
			{N: 3, Title: "Invite", DoneWhen: "it is sent", Agent: "ada", After: []int{1, 2}, State: spaces.TaskPending},
		},
	}
	_, taken, err := w.Store.Shell().StepMission(t.Context(), spaces.MissionStep{Mission: id, Kind: spaces.MissionPropose, By: "agent:ada", Plan: plan, At: time.Now()})
	testutil.OK(t, err)
	testutil.Same(t, "proposed", true, taken)

	list := ownerDo(t, w, http.MethodGet, "/missions", "").Body.String()
	for _, want := range []string{`href="/missions/` + id + `"`, "Plan &lt;b&gt;the&lt;/b&gt; party", "0 of 3", "Ada"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list has no %s", want)
		}
	}
	page := ownerDo(t, w, http.MethodGet, "/missions/"+id, "").Body.String()
	for _, want := range []string{`formaction="/missions/` + id + `/start"`, `href="#t2">after 2`, "we meet at the lake", "agent:ada", "Done when it is sent"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if n := strings.Count(page, `<ol class="column">`); n != 2 {
		t.Errorf("the tasks stand in %d columns, want 2", n)
	}
	for path, code := range map[string]int{"/missions/3f2a/pause": 303, "/missions/3f2a/start": 303, "/missions/none/pause": 404, "/missions/3f2a/overdue": 404} {
		if rec := ownerDo(t, w, http.MethodPost, path, ""); rec.Code != code {
			t.Errorf("%s: %d, want %d", path, rec.Code, code)
		}
	}
	for n, kind := range []spaces.MissionStepKind{spaces.MissionStart, spaces.MissionSubmit} {
		_, taken, err := w.Store.Shell().StepMission(t.Context(), spaces.MissionStep{Mission: id, Kind: kind, Task: n, By: "agent:ada", Text: "July", At: time.Now()})
		testutil.OK(t, err)
		testutil.Same(t, string(kind), true, taken)
	}
	page = ownerDo(t, w, http.MethodGet, "/missions/"+id, "").Body.String()
	for _, want := range []string{"the plan took effect", "task 1 was verified", `name="from_checkpoint" value="2"`, "1 of 3"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	all := told[api.CheckpointsAnswer](t, w, "/api/missions/3f2a/checkpoints", 200).Checkpoints
	if len(all) != 2 || all[1].Task != 1 || all[1].Tasks[0].Result != "July" || all[1].Heads[l.Space] == 0 {
		t.Errorf("checkpoints over the API: %+v", all)
	}
	for query, code := range map[string]int{"?from_checkpoint=latest": 422, "?from_checkpoint=2": 422, "?from_checkpoint=0": 400, "?from_checkpoint=soon": 400} {
		if rec := ownerDo(t, w, http.MethodPost, "/api/missions/3f2a/resume"+query, ""); rec.Code != code {
			t.Errorf("%s: %d, want %d: %s", query, rec.Code, code, rec.Body)
		}
	}
	if rec := ownerDo(t, w, http.MethodPost, "/api/missions/3f2a/pause?from_checkpoint=1", ""); rec.Code != 400 {
		t.Errorf("pause from a checkpoint: %d", rec.Code)
	}
	if got := told[api.MissionsAnswer](t, w, "/api/missions", 200); len(got.Missions) != 1 || got.Missions[0].ID != id {
		t.Errorf("over the API %+v", got)
	}
	if got := told[console.MissionRecord](t, w, "/api/missions/3f2a", 200); len(got.Changes) < 6 || got.Runs != 0 {
		t.Errorf("over the API %+v", got)
	}
}
