package cli

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// pasteable is an installation in which one thing is wrong.
func pasteable(now time.Time) statusAnswer {
	before := func(d time.Duration) *time.Time { return new(now.Add(-d)) }
	a := statusAnswer{
		Version: "0.4.0", Data: "./data", Running: true,
		Health: &console.Health{
			Status: "degraded", CoreReady: true, TrustPassed: true, StartedAt: *before(76 * time.Hour), Listen: "127.0.0.1:7420",
			Extensions: []console.Component{{Name: "model", Kind: "model", State: "misconfigured", Reason: "no such host"}},
		},
		Adapters: []adapterRow{
			{Name: "telegram", State: "connected", Healthy: true, Since: before(76 * time.Hour), Heard: before(12 * time.Second), Said: before(time.Minute)},
			{Name: "acme", State: "degraded", Since: before(6 * time.Minute), Heard: before(6 * time.Minute), Said: before(9 * time.Minute), Waiting: 3, Reason: "not heard for too long"},
			{Name: "none", State: "misconfigured"},
		},
		Minds: []mindRow{
			{Mind: "ada/home", Doing: "resting", Cycles: 41, Tokens: 184_200, Cost: new(0.214), Cached: 0.81, Last: &api.RunRow{Started: *before(2 * time.Minute), Seconds: 4.1, Stop: spaces.StopCompleted}},
			{Mind: "max/home", Doing: "thinking", Cycles: 3, Tokens: 900, Last: &api.RunRow{Started: *before(3 * time.Second)}},
			{Mind: "new/home", Doing: "resting"},
		},
		Tally: console.Totals{Outbox: 3, Oldest: *before(6 * time.Minute), Tokens: 185_100, Bytes: 412e6},
		Jobs:  []jobs.JobSnapshot{jobs.Shown(jobs.Job{ID: 4, Kind: "backfill", Subject: "acme", State: jobs.Running, JobProgress: jobs.JobProgress{Done: 42, Total: 100, Unit: "messages"}})},
	}
	a.Problems = problemRows([]alerts.Alert{
		{ID: 7, Code: alerts.Deaf, Severity: alerts.Fail, Subject: "acme", Opened: *before(6 * time.Minute), Count: 1},
		{ID: 5, Code: alerts.BackupOld, Severity: alerts.Warn, Subject: "the record", Opened: *before(30 * time.Hour), Count: 1, Acked: now.Add(time.Hour)},
	}, now)
	return a
}

// ECOSYSTEM 3.1, 3.3: relative times for a person, moments for a pipe.
func TestStatusIsReadAtATerminalAndInAPipe(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, at := range map[string]timeFormat{"status_terminal": {now, true}, "status_pipe": {now, false}} {
		var out strings.Builder
		a := pasteable(now)
		a.print(&out, at)
		golden(t, name, out.String())
	}
}

// ECOSYSTEM 3.2: --check is the health of a container: 1 when there is a failure that
// no operator has acknowledged, and when no process runs.
func TestStatusCheckAnswersByItsExitCode(t *testing.T) {
	now := time.Now()
	a := pasteable(now)
	if got := strings.Join(a.wrong(), "\n"); got != "TRS-A04 acme is deaf" {
		t.Errorf("wrong is %q", got)
	}
	a.Problems[0].Quiet = &now
	if got := a.wrong(); len(got) != 0 {
		t.Errorf("although somebody has taken it on: %q", got)
	}
	a.Health.TrustPassed = false
	if got := a.wrong(); len(got) != 1 {
		t.Errorf("with the gate shut: %q", got)
	}
	s := stage{folder: t.TempDir()}
	s.done(t, "hello\n", "run")
	if out, _, code := s.do(t, "", "status", "--check"); code != apperr.Failed || out != "nothing runs\n" {
		t.Errorf("without a process: exit %s, %q", code, out)
	}
	s.serve(t)
	if out, errs, code := s.do(t, "", "status", "--check"); code != apperr.Done || out != "well\n" {
		t.Errorf("with a process: exit %s, %q %s", code, out, errs)
	}
}

// ECOSYSTEM 3.2: where many rooms have a mind each, a status lists those that ran
// last, by their rooms' names, and says how to see the rest.
func TestStatusListsTheLatestOfManyMinds(t *testing.T) {
	s := stage{folder: t.TempDir()}
	s.done(t, "hello\n", "run")
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(s.folder, "data"), NewID: storeopen.NewID})
	testutil.OK(t, err)
	const many = 30
	for i := range many {
		_, err := store.Border().Open(t.Context(), spaces.OpenRequest{
			Name: "room " + strconv.Itoa(i), Agents: []spaces.AgentID{"trestle"}, At: time.Now(),
			Chats: []spaces.ChatMapping{{Account: "telegram:1", Chat: strconv.Itoa(i), Live: true}},
		})
		testutil.OK(t, err)
	}
	testutil.OK(t, store.Close(t.Context()))
	a := answerOf[statusAnswer](t, s, "status", "-o", "json")
	if len(a.Minds) != mindsAtGlance || !a.More || a.Minds[0].Last == nil || a.Minds[0].Room != "" || !strings.HasPrefix(a.Minds[1].Room, "room ") {
		t.Errorf("%d minds, more: %v, %+v", len(a.Minds), a.More, a.Minds[:2])
	}
	if a := answerOf[statusAnswer](t, s, "status", "--all", "-o", "json"); len(a.Minds) != many+1 || a.More {
		t.Errorf("with --all %d minds, more: %v", len(a.Minds), a.More)
	}
	out, _, _ := s.do(t, "", "status")
	if !strings.Contains(out, "trestle status --all") || !strings.Contains(out, a.Minds[1].Room) {
		t.Errorf("the text does not say how to see the rest, or what a room is called:\n%s", out)
	}
	if out, _, _ := s.do(t, "", "status", "--all"); strings.Contains(out, "--all") {
		t.Errorf("all minds are there, and more are offered:\n%s", out)
	}
}

// ECOSYSTEM 3.2: --watch shows it until it is interrupted.
func TestStatusIsWatchedUntilItIsInterrupted(t *testing.T) {
	s := stage{folder: t.TempDir()}
	s.done(t, "hello\n", "run")
	shown := &watch{want: "not running", seen: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan apperr.ExitCode, 1)
	go func() {
		ended <- s.program(strings.NewReader(""), shown, &screen{}).Run(ctx, []string{"status", "--watch"})
	}()
	<-shown.seen
	stop()
	if code := <-ended; code != apperr.Done {
		t.Errorf("exit %s", code)
	}
}

// ECOSYSTEM 3.2: spans as a text timeline.
func TestConnectionsAreDrawnAsALine(t *testing.T) {
	now := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	from := now.Add(-40 * time.Hour)
	hour := func(n int) time.Time { return from.Add(time.Duration(n) * time.Hour) }
	a := adapterAnswer{
		adapterRow: adapterRow{Name: "telegram", Account: "telegram:7001", Handle: "ada_bot", State: "connected", Heard: new(now.Add(-2 * time.Second))},
		From:       from, To: now,
		Rooms: []connectionHistory{
			{Name: "Family", Mind: "ada/home", Spans: []connectedSpan{
				{hour(-5), new(hour(10).Add(20 * time.Minute)), spaces.SpanLinked, spaces.SpanDeaf},
				{hour(10).Add(30 * time.Minute), new(hour(20)), spaces.SpanHeard, spaces.SpanStopped},
				{hour(30), nil, spaces.SpanStarted, ""},
			}},
			{Name: "#ops", Mind: "max/home", Spans: []connectedSpan{{hour(1), new(hour(2)), spaces.SpanLinked, spaces.SpanUnlinked}}},
		},
	}
	var out strings.Builder
	a.print(&out, timeFormat{now, true})
	golden(t, "adapter_line", out.String())
}
