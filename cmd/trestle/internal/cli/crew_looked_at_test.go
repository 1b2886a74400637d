package cli

import (
	"slices"
	"strings"
	"testing"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// I13, DELIVERY 2.2: commands beside several processes show the whole installation's state, also
// from a folder whose process is in reserve, or that has none; and none of them receives updates in
// place of the process that serves an account.
func TestCommandsBesideSeveralProcessesDisturbNone(t *testing.T) {
	var server testservers.PostgresServer
	t.Cleanup(func() { testutil.OK(t, server.Stop()) })
	telegram, url := onTelegram(t, "7003:served")
	serving := stage{folder: t.TempDir(), env: "TRESTLE_DATABASE=" + server.URL(server.Database(t)) + "\nTRESTLE_LISTEN=\n" +
		"TELEGRAM_BOT_TOKEN=7003:served\nTELEGRAM_API_URL=" + url + "\nOPENAI_BASE_URL=" + onModel(t, new(llmtest.Server))}
	idle := serving
	idle.folder = t.TempDir()
	if _, errs, code := idle.do(t, "", "doctor", "telegram"); code != apperr.Done || !slices.ContainsFunc(telegram.Ledger().Calls, polls) {
		t.Errorf("no second poller was looked for where nothing runs: exit %s: %s", code, errs)
	}
	serving.serve(t)
	standing := serving
	standing.folder = t.TempDir()
	standing.serve(t)
	for name, s := range map[string]stage{"a folder whose process stands by": standing, "a folder without a process": idle} {
		a := answerOf[statusAnswer](t, s, "status", "-o", "json")
		if len(a.Adapters) != 1 || a.Adapters[0].State != "standby" || !strings.HasSuffix(a.Adapters[0].Reason, " serves it") || len(a.Processes) != 2 {
			t.Errorf("%s: the account is %+v, beside %d processes", name, a.Adapters, len(a.Processes))
		}
		if out, errs, code := s.do(t, "", "doctor", "telegram"); code != apperr.Done {
			t.Errorf("%s: doctor: exit %s: %s%s", name, code, out, errs)
		}
	}
	for _, c := range telegram.Ledger().Calls {
		if c.Status == 409 {
			t.Errorf("the process that serves the account was thrown off: %+v", c)
		}
	}
	if out, errs, code := idle.do(t, "", "status"); code != apperr.Done || !strings.Contains(out, "not running here") {
		t.Errorf("status: exit %s: %s%s", code, out, errs)
	}
}

func polls(c faketelegram.APICall) bool { return c.Method == "getUpdates" }
