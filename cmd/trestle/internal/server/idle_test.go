package server

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// open returns the codes of the open problems with what they are about.
func (w *world) open() []string {
	w.t.Helper()
	all, err := w.process.Store.Problems().Problems(w.t.Context(), time.Now())
	testutil.OK(w.t, err)
	var codes []string
	for _, p := range alerts.Worst(all) {
		codes = append(codes, string(p.Code)+" "+p.Subject)
	}
	return codes
}

// watched lets time go by while the problems of the world are watched.
func (w *world) watched(watch *alerts.AlertMonitor, d time.Duration) {
	w.t.Helper()
	for range d / (10 * time.Second) {
		watch.Round(w.t.Context(), time.Now())
		pass(10 * time.Second)
	}
}

// DELIVERY 2.2.8, PRD-12-4: a message that could be taken up and is not makes health say
// so after two minutes, and opens a problem, which closes once it is taken up.
func TestWorkThatNobodyTakesUpIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "alarms: {backup_age: 0}\nphases: one\nspaces:\n  home: {chats: [\"telegram:5000000001\"]}\n", llmtest.ScriptStep{Always: true, Response: llm.ModelResponse{Text: "Responded to nobody."}})
		defer w.stop()
		watch := w.process.newAlertMonitor()
		w.addChat("boss", "direct", []string{"Kai"})
		w.process.disk = func(string) (uint64, uint64, error) { return 50e9, 100e9, nil }
		w.process.shell.SetAgents(nil) // as if it hung
		w.says(w.chats["boss"], w.people["Kai"], "are you there?", 0, 0)
		w.watched(watch, 100*time.Second)
		if h := w.process.Health(); h.Status != "healthy" || len(w.open()) != 0 {
			t.Errorf("after 100 s: %+v, %q", h, w.open())
		}
		w.watched(watch, 40*time.Second)
		testutil.Same(t, "open after 140 s", []string{"TRS-R18 agents.ada"}, w.open())
		h := w.process.Health()
		if x := part(t, h, "scheduler"); h.Status != "degraded" || x.State != "stalled" || !strings.Contains(x.Reason, "agents.ada, in a room, since ") {
			t.Errorf("after 140 s: %s, %+v", h.Status, x)
		}
		if w.process.isHealthy(t.Context()) {
			t.Error("the dead man's switch is fed")
		}
		w.process.shell.SetAgents(w.process.agents())
		w.watched(watch, 20*time.Second)
		if h := w.process.Health(); h.Status != "healthy" {
			t.Errorf("when it is taken up: %+v", h)
		}
		w.watched(watch, 70*time.Second)
		if open := w.open(); len(open) != 0 || len(w.model.Requests()) == 0 {
			t.Errorf("open are %q; the model was asked %d times", open, len(w.model.Requests()))
		}
	})
}

// DELIVERY 2.2.8: the same for what could be sent and is not.
func TestMessageThatNobodySendsIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "alarms: {backup_age: 0}\nphases: one\nspaces:\n  home: {chats: [\"telegram:5000000001\"]}\n", llmtest.ScriptStep{Always: true, Response: llm.ModelResponse{Text: "Responded to nobody."}})
		defer w.stop()
		watch := w.process.newAlertMonitor()
		w.addChat("boss", "direct", []string{"Kai"})
		w.process.disk = func(string) (uint64, uint64, error) { return 50e9, 100e9, nil }
		out := w.process.connectionOf("telegram").Egress()
		var full []spaces.ActionID // as if what it carries never came to an end
		for id := spaces.ActionID("x"); out.Reserve(id); id += "x" {
			full = append(full, id)
		}
		w.says(w.chats["boss"], w.people["Kai"], "/status", 0, 0)
		w.watched(watch, 140*time.Second)
		testutil.Same(t, "open after 140 s", []string{"TRS-O03 telegram"}, w.open())
		h := w.process.Health()
		if x := part(t, h, "telegram"); h.Status != "degraded" || x.Healthy || !strings.Contains(x.Reason, "1 could be sent") {
			t.Errorf("after 140 s: %s, %+v", h.Status, x)
		}
		for _, id := range full {
			out.Release(id, false)
		}
		w.watched(watch, 20*time.Second)
		if h := w.process.Health(); h.Status != "healthy" || len(w.told()) != 1 {
			t.Errorf("when it is sent: %+v, %q", h, w.told())
		}
		w.watched(watch, 70*time.Second)
		if open := w.open(); len(open) != 0 {
			t.Errorf("open are %q", open)
		}
	})
}

// What a known reason holds back is no problem of its own: the mind has as many runs as
// it may have in any of its rooms, its agent is not here, or other processes run minds.
func TestWorkThatIsHeldBackIsNotIdle(t *testing.T) {
	since := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	folder := t.TempDir()
	text := "data: ./data\nagents: {ada: {parallel: 4}, max: {}}\nspaces: {family: {parallel: 2}}\n"
	testutil.OK(t, os.WriteFile(filepath.Join(folder, config.DefaultFile), []byte(text), 0o600))
	c, err := config.Load(config.LoadOptions{Folder: folder, Lookup: func(string) (string, bool) { return "", false }})
	testutil.OK(t, err)
	s := NewServer(c, slog.New(slog.DiscardHandler), io.Discard, false)
	s.scheduled.Store(true)
	got := s.idleAgents([]alerts.UnclaimedMind{
		{Agent: "ada", Circle: "home", Rooms: 3, Since: since, Runs: 2},
		{Agent: "gone", Circle: "home", Rooms: 1, Since: since},
		{Agent: "max", Circle: "home", Rooms: 2, Since: since.Add(time.Minute), Runs: 1},
		{Agent: "max", Circle: "club", Rooms: 1, Since: since},
	})
	want := []idleWork{{alerts.Observation{Code: alerts.NotTaken, Subject: "agents.max", Evidence: "in 3 rooms, since 2026-03-01T09:00:00Z"}, since.String()}}
	if !slices.Equal(got, want) {
		t.Errorf("idle are %+v", got)
	}
	s.scheduled.Store(false)
	if got := s.idleAgents([]alerts.UnclaimedMind{{Agent: "max", Rooms: 1, Since: since}}); len(got) != 0 {
		t.Errorf("a process without minds sees %+v", got)
	}
}

// A look tells of what it has watched for a while: what is new each time is taken up,
// and what piled up before the start is about to be.
func TestIdleWorkIsWatchedForAWhile(t *testing.T) {
	var l idleTracker
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	of := func(mark, evidence string) []idleWork {
		return []idleWork{{alerts.Observation{Code: alerts.NotTaken, Subject: "agents.ada", Evidence: evidence}, mark}}
	}
	for n, step := range []struct {
		after time.Duration
		due   []idleWork
		told  int
	}{
		{0, of("a", "1"), 0},
		{29 * time.Second, of("a", "2"), 0},
		{30 * time.Second, of("a", "3"), 1},
		{40 * time.Second, of("b", "4"), 0},
		{70 * time.Second, of("b", "5"), 1},
		{80 * time.Second, nil, 0},
		{90 * time.Second, of("b", "6"), 0},
	} {
		if got := l.look(at.Add(step.after), step.due); len(got) != step.told || step.told > 0 && got[0].Evidence != step.due[0].Evidence {
			t.Errorf("step %d tells %+v", n, got)
		}
		if said := l.of(alerts.NotTaken, "agents.ada") != ""; said != (step.told > 0) {
			t.Errorf("step %d: health says %t", n, said)
		}
	}
}
