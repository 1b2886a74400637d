package main

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// ECOSYSTEM 6: full requests are kept as long as the configuration says.
func TestFramesAreKeptAsLongAsConfigured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "admit: open\nagents: {ada: {name: Ada, phases: one}}\nretention: {frames: 30m}\n", script(t, "ada acts: send_message {\"text\":\"Hello.\"}\nada rests: Responded to Kai. Greeted.\n")...)
		w.addChat("home", "group", []string{"Kai"})
		w.settle()
		w.chats["home"].Says(w.people["Kai"], "@ada_bot hello", faketelegram.Said{})
		w.settle()
		expired := func() bool {
			t.Helper()
			view := w.process.store.Console()
			runs, err := view.Runs(t.Context(), console.Filter{})
			if err != nil || len(runs) != 1 {
				t.Fatal(runs, err)
			}
			f, err := view.Frame(t.Context(), runs[0].ID, 0)
			testutil.OK(t, err)
			return f.Step.Expired
		}
		if w.restart(); expired() {
			t.Error("the frame is let go within its time")
		}
		pass(40 * time.Minute)
		w.restart()
		if w.settle(); !expired() {
			t.Error("the frame is kept beyond its time")
		}
		w.stop()
	})
}

// Who asks for what is not kept any more is told so.
func TestRunsWithoutTheirFramesSaySo(t *testing.T) {
	s := aTalk(t)
	record, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(s.folder, "data"), NewID: storeopen.NewID})
	testutil.OK(t, err)
	if _, err := record.Shell().ShedFrames(t.Context(), time.Now().Add(time.Hour), 100); err != nil {
		t.Error(err)
	}
	testutil.OK(t, record.Close(t.Context()))
	run := string(answerOf[[]console.RunRow](t, s, "runs", "-o", "json")[0].Run)
	for _, ask := range [][]string{{"hud", "ada/home", "--at", run}, {"rehearse", run}, {"explain", run, "--frame"}} {
		out, errs, _ := s.do(t, "", ask...)
		if !strings.Contains(out+errs, "not kept any more") || !strings.Contains(out+errs, "retention.frames") {
			t.Errorf("%v: %s%s", ask, out, errs)
		}
	}
	if out, errs, code := s.do(t, "", "explain", run); code != apperr.Done || !strings.Contains(out, "tok") {
		t.Errorf("explain: exit %s: %s%s", code, out, errs)
	}
}
