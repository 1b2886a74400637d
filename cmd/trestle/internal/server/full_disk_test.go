package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// fullRecord takes no problem while full says so.
type fullRecord struct {
	alerts.Store
	full *bool
}

func (f fullRecord) Keep(ctx context.Context, changed []alerts.Alert) error {
	if *f.full {
		return engine.ErrFull
	}
	return f.Store.Keep(ctx, changed)
}

// DELIVERY 2.7 "Disk full", F30: a full disk is said at once by everything that
// says how the program is, although it cannot be recorded, and is over by itself.
func TestFullDiskIsSaidEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "alarms: {chat: \"telegram:5000000001\", backup_age: 0}\n")
		defer w.stop()
		w.addChat("boss", "direct", []string{"Kai"})
		w.says(w.chats["boss"], w.people["Kai"], "/start", 0, 0)
		before, s, full := len(w.told()), w.process, true
		free := uint64(0)
		s.disk = func(string) (uint64, uint64, error) { return free, 100e9, nil }
		watch := s.newAlertMonitor()
		watch.Store = fullRecord{watch.Store, &full}
		watch.Round(t.Context(), time.Now())

		if got := s.Health(); got.Status != "degraded" || !slices.ContainsFunc(got.Extensions, func(x console.Component) bool { return x.Kind == "record" && x.State == "full" && !x.Healthy }) {
			t.Errorf("health is %+v", got)
		}
		if s.isHealthy(t.Context()) || !strings.Contains(s.statusLine(t.Context()), "TRS-R01") {
			t.Errorf("the dead man's switch is fed; the service manager reads %q", s.statusLine(t.Context()))
		}
		if shown, err := (consoleBackend{s}).Problems(t.Context()); err != nil || len(shown) != 1 {
			t.Errorf("the console shows %+v, %v", shown, err)
		}
		if got := overSocket(t, s); len(got) != 1 || got[0].Code != alerts.DiskLow {
			t.Errorf("a command hears %+v", got)
		}
		if got := w.told()[before:]; len(got) != 0 {
			t.Errorf("a chat was told by way of a record that takes nothing: %q", got)
		}

		full, free = false, 50e9
		for range 9 {
			watch.Round(t.Context(), time.Now())
			pass(10 * time.Second)
		}
		if got := s.Health(); got.Status != "healthy" || !s.isHealthy(t.Context()) || len(overSocket(t, s)) != 0 {
			t.Errorf("with room again health is %+v", got)
		}
		kept, err := s.Store.Problems().Problems(t.Context(), time.Now().Add(-time.Hour))
		if err != nil || len(kept) != 1 || kept[0].Closed.IsZero() {
			t.Errorf("the record has %+v, %v", kept, err)
		}
	})
}

// overSocket lists what a process says on its socket that its record cannot take.
func overSocket(t *testing.T, s *Server) (held []alerts.Alert) {
	t.Helper()
	rw := httptest.NewRecorder()
	controlServer{s}.serveUnkept(rw, httptest.NewRequestWithContext(t.Context(), http.MethodGet, control.UnstoredProblemsPath, nil))
	if err := json.Unmarshal(rw.Body.Bytes(), &held); err != nil {
		t.Fatalf("%v: %s", err, rw.Body)
	}
	return held
}
