package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Who asks for what is not kept any more is told so.
func TestRunsWithoutTheirFramesSaySo(t *testing.T) {
	s := aTalk(t)
	record, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(s.folder, "data"), NewID: storeopen.NewID})
	testutil.OK(t, err)
	if _, err := record.Shell().ShedFrames(t.Context(), time.Now().Add(time.Hour), 100); err != nil {
		t.Error(err)
	}
	testutil.OK(t, record.Close(t.Context()))
	run := string(answerOf[[]api.RunRow](t, s, "runs", "-o", "json")[0].Run)
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
