package console_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

var (
	jobList = regexp.MustCompile(`(?s)<article class="job.*</article>`)
	moments = regexp.MustCompile(`<time[^>]*>[^<]*</time>`)
)

// ECOSYSTEM 6 and 7: each state of a job with how far it is, how fast, how long it
// will take, and what it would take to go on; what can be done with it and no more.
func TestJobsPageTellsEveryState(t *testing.T) {
	w := consoletest.Open(t)
	desk, now := w.Store.Jobs(), time.Now()
	// play has one more job live through what do says.
	play := func(kind string, total int64, do func(j *jobs.Job) error) {
		t.Helper()
		added, err := desk.Add(t.Context(), jobs.Job{Kind: kind, Subject: "acme <b>", JobProgress: jobs.JobProgress{Total: total, Unit: "messages"}}, now)
		testutil.OK(t, err)
		if do == nil {
			return
		}
		j, err := desk.Claim(t.Context(), jobs.JobClaim{ID: added.ID, Holder: "one", TTL: time.Hour, At: now})
		if err != nil || j == nil {
			t.Fatal(j, err)
		}
		j.Done, j.Rate = 6310, 38
		testutil.OK(t, desk.Save(t.Context(), *j, time.Hour, now))
		testutil.OK(t, do(j))
	}
	ask := func(want jobs.JobState) func(*jobs.Job) error {
		return func(j *jobs.Job) error {
			_, err := desk.Ask(t.Context(), j.ID, want, now)
			return err
		}
	}
	end := func(s jobs.JobState, why string) func(*jobs.Job) error {
		return func(j *jobs.Job) error {
			j.Error = why
			return desk.End(t.Context(), *j, s, now)
		}
	}
	play("import", 15020, nil)
	play("backfill", 15020, func(j *jobs.Job) error {
		j.Note, j.Until = "slack asks to wait", now.Add(90*time.Minute+45*time.Second)
		return desk.Save(t.Context(), *j, time.Hour, now)
	})
	play("import", 0, ask(jobs.Paused))
	play("import", 15020, end(jobs.Failed, "the disk <i>is</i> full"))
	play("import", 15020, func(j *jobs.Job) error {
		if err := end(jobs.Failed, "the disk is full")(j); err != nil {
			return err
		}
		return ask(jobs.Cancelled)(j)
	})
	play("backup", 6310, end(jobs.Done, ""))
	page := do(t, w.Console.Handler(), call{target: "/jobs", header: cookie(w.Key(console.KeySession).Secret)})
	golden(t, "jobs.html", moments.ReplaceAllString(jobList.FindString(page.Body.String()), "<time>")+"\n")
}

// ECOSYSTEM 7: one implementation for terminal and console: a page's button does
// what the command does, and what cannot be done is refused with its reason.
func TestJobsAreSteeredFromTheConsole(t *testing.T) {
	w := consoletest.Open(t)
	if _, err := w.Store.Jobs().Add(t.Context(), jobs.Job{Kind: "import"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	session := cookie(w.Key(console.KeySession).Secret)
	for _, step := range []struct {
		path string
		code int
		want jobs.JobState
	}{
		{"/api/jobs/1/pause", 200, jobs.Paused},
		{"/jobs/1/resume", 303, jobs.Ready},
		{"/jobs/1/dance", 404, jobs.Ready},
		{"/api/jobs/2/pause", 404, jobs.Ready},
		{"/api/jobs/x/pause", 404, jobs.Ready},
		{"/jobs/1/cancel", 303, jobs.Cancelled},
		{"/api/jobs/1/resume", 409, jobs.Cancelled},
		{"/jobs/1/resume", 303, jobs.Cancelled},
	} {
		if got := do(t, w.Console.Handler(), call{method: http.MethodPost, target: step.path, header: session}); got.Code != step.code {
			t.Errorf("%s: %d %s, want %d", step.path, got.Code, got.Body, step.code)
		}
		if j, err := w.Store.Jobs().Job(t.Context(), 1); err != nil || j.State != step.want {
			t.Errorf("after %s it is %s, %v, want %s", step.path, j.State, err, step.want)
		}
	}
	if got := do(t, w.Console.Handler(), call{method: http.MethodPost, target: "/jobs/1/resume"}); got.Code != http.StatusUnauthorized {
		t.Errorf("without a session: %d", got.Code)
	}
	if got := do(t, w.Console.Handler(), call{target: "/jobs?before=x", header: session}); got.Code != http.StatusNotFound || !strings.Contains(got.Body.String(), "Nothing here") {
		t.Errorf("a wrong page: %d", got.Code)
	}
}
