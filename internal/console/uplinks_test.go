package console_test

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var figure = regexp.MustCompile(`(?s)<figure class="timeline".*</figure>`)

// ECOSYSTEM 6, Uplinks: a row for each uplink and a row for each account, with
// the times in which it was cut, tried again, or waited for a person; where no
// process served it there is nothing.
func TestTimelineShowsAgentsAndAccounts(t *testing.T) {
	w := consoletest.Open(t)
	begin := consoletest.Started
	at := func(minutes int) time.Time { return begin.Add(time.Duration(minutes) * time.Minute) }
	_, err := w.Store.Border().Open(t.Context(), spaces.OpenRequest{
		Key: "ops", Name: "#ops", Circle: "home", Wake: spaces.WakeAll, Agents: []spaces.AgentID{"ada"}, At: at(2),
		Chats: []spaces.ChatMapping{{Account: "slack:T1:U1", Chat: "C1", Live: true}},
	})
	err = errors.Join(err, w.Store.Border().SetConnected(t.Context(), "slack:T1:U1", false, at(20)), w.Store.Border().SetConnected(t.Context(), "slack:T1:U1", true, at(30)))
	for _, s := range []activity.ConnPeriod{
		{Line: "acme", State: activity.ConnConnecting, From: at(1), First: true},
		{Line: "acme", Account: "slack:T1:U1", State: activity.ConnConnected, From: at(2)},
		{Line: "acme", Account: "slack:T1:U1", State: activity.ConnConnecting, Reason: "EOF", From: at(18)},
		{Line: "acme", Account: "slack:T1:U1", State: activity.ConnDegraded, Reason: "not heard for too long", From: at(20)},
		{Line: "acme", Account: "slack:T1:U1", State: activity.ConnConnected, From: at(30)},
		{Line: "a<b>", State: activity.ConnConflict, Reason: `"><script>x</script>`, From: at(1), First: true},
		{Line: "a<b>", State: activity.ConnMisconfigured, Reason: "401 Unauthorized", From: at(5)},
	} {
		err = errors.Join(err, w.Store.Border().StateChanged(t.Context(), s))
	}
	// The process stops at 40 and another begins at 50.
	err = errors.Join(err, w.Store.Border().StillInState(t.Context(), "acme", at(40)), w.Store.Border().StillInState(t.Context(), "a<b>", at(40)),
		w.Store.Border().StateChanged(t.Context(), activity.ConnPeriod{Line: "acme", Account: "slack:T1:U1", State: activity.ConnConnected, From: at(50), First: true}),
		w.Store.Border().StillInState(t.Context(), "acme", at(55)))
	testutil.OK(t, err)
	page := do(t, w.Console.Handler(), call{
		target: fmt.Sprintf("/uplinks?from=%d&to=%d", begin.UnixMilli(), at(60).UnixMilli()), header: cookie(w.Key(console.KeySession).Secret),
	})
	if page.Code != http.StatusOK {
		t.Fatalf("%d %s", page.Code, page.Body)
	}
	got := strings.ReplaceAll(figure.FindString(page.Body.String()), "00000000-0000-7000-8000-", "") + "\n"
	golden(t, "uplinks.svg", got)
}

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a rendered page with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	testutil.Golden(t, *update, "testdata/"+name, got)
}
