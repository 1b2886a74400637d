package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A record that refuses every commit for ten seconds is told by everything that says how
// the program is, and the signs of life stop; once it can be written, all goes on.
func TestARecordThatCannotBeWrittenIsSaidEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "admit: open\n")
		defer w.stop()
		w.addChat("kai", "direct", []string{"Kai"})
		s := w.process
		file := filepath.Join(s.Config().Data, sqlite.FileName)
		testutil.OK(t, os.Rename(file, file+".away"))
		w.says(w.chats["kai"], w.people["Kai"], "/start", 0, 0)
		pass(5 * time.Second)
		if !s.isAlive(t.Context()) || !s.isHealthy(t.Context()) {
			t.Error("five seconds end the signs of life")
		}
		pass(15 * time.Second)
		h := s.Health()
		if x := part(t, h, "record"); h.Status != "degraded" || x.State != "refusing" || !strings.Contains(x.Reason, "removed or replaced") {
			t.Errorf("health is %s, %+v", h.Status, x)
		}
		if s.isAlive(t.Context()) || s.isHealthy(t.Context()) {
			t.Error("the watchdog or the dead man's switch is fed")
		}
		watch := s.newAlertMonitor()
		watch.Round(t.Context(), time.Now())
		if held, why := s.Unstored.Held(); why == nil || len(held) == 0 || held[0].Code != alerts.Unwritable {
			t.Errorf("the open problems are %+v, %v", held, why)
		}
		testutil.OK(t, os.Rename(file+".away", file))
		for range 12 {
			pass(10 * time.Second)
			watch.Round(t.Context(), time.Now())
		}
		if h := s.Health(); h.Status != "healthy" || !s.isAlive(t.Context()) || !s.isHealthy(t.Context()) {
			t.Errorf("once it can be written health is %s, %+v", h.Status, h.Extensions)
		}
	})
}
