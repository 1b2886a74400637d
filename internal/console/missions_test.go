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

// Missions are listed; one is shown with its tasks in the order in which they can be
// done, who changed what, and the room beside it; it is started and held back on the page and
// over the API.
func TestMissionsAreShownInTheConsole(t *testing.T) {
	w := consoletest.Open(t)
	l := w.Live("we meet at the lake")
	const id = "00000000-0000-7000-8000-000000003f2a"
	plan := &spaces.Mission{
		ID: id, Space: l.Space, Goal: "Plan <b>the</b> party", Coordinator: "ada", State: spaces.MissionProposed, Created: time.Now(),
		Team: []spaces.MissionAgent{{ID: "ada", Name: "Ada"}, {ID: "max", Name: "Max"}},
		Tasks: []spaces.MissionTask{
			{N: 1, Title: "Find a day", DoneWhen: "one is named", Agent: "max", State: spaces.TaskPending},
			{N: 2, Title: "Find a place", DoneWhen: "one is named", Agent: "ada", State: spaces.TaskPending},
			{N: 3, Title: "Invite", DoneWhen: "it is sent", Agent: "max", After: []int{1, 2}, State: spaces.TaskPending},
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
	if got := told[api.MissionsAnswer](t, w, "/api/missions", 200); len(got.Missions) != 1 || got.Missions[0].ID != id {
		t.Errorf("over the API %+v", got)
	}
	if got := told[console.MissionRecord](t, w, "/api/missions/3f2a", 200); len(got.Changes) != 1 || got.Runs != 0 {
		t.Errorf("over the API %+v", got)
	}
}
