package cli

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A problem that the database cannot store, since its disk is full, is in the answers of
// status and problems all the same: the process that holds it tells.
func TestUnstoredProblemsAreAnswered(t *testing.T) {
	s := aTalk(t)
	conf, err := config.Load(config.LoadOptions{Folder: s.folder, Lookup: func(string) (string, bool) { return "", false }})
	testutil.OK(t, err)
	r, err := sqlite.Look(t.Context(), conf.Data)
	testutil.OK(t, err)
	defer func() { testutil.OK(t, r.Close()) }()
	o := readContext{
		ReadModel: r, conf: conf,
		health: func(context.Context) (*console.Health, error) { return &console.Health{Status: "degraded"}, nil },
		unkept: func(context.Context) ([]alerts.Alert, error) {
			now := time.Now()
			return []alerts.Alert{{Code: alerts.DiskLow, Severity: alerts.Fail, Subject: "the data folder", Opened: now, Seen: now, Count: 1}}, nil
		},
	}
	told, err := tellStatus(t.Context(), o, url.Values{})
	if a, ok := told.(statusAnswer); err != nil || !ok || !strings.Contains(strings.Join(a.wrong(), "\n"), "TRS-R01") {
		t.Errorf("status --check finds %+v, %v", told, err)
	}
	told, err = tellProblems(t.Context(), o, url.Values{})
	if rows, ok := told.([]problemRow); err != nil || !ok || len(rows) != 1 || rows[0].Code != alerts.DiskLow {
		t.Errorf("problems lists %+v, %v", told, err)
	}
}
