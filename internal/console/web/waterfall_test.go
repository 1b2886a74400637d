package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// The waterfall has a row for the wait, each step, the calls it made and what was sent, each where it was in
// time; what goes on lasts until now, and a long wait takes no more than a third.
func TestWaterfallShowsWhatTookHowLong(t *testing.T) {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(s float64) time.Time { return began.Add(time.Duration(s * float64(time.Second))) }
	run := console.Run{
		Cycle:  spaces.Cycle{ID: "run", Started: began},
		Events: []spaces.Event{{RecvAt: at(-30)}, {RecvAt: at(-60)}, {RecvAt: at(1)}},
		Steps:  []spaces.Step{{N: 0, Phase: spaces.Contemplation, State: spaces.StepDone, At: at(2)}, {N: 1, Phase: spaces.Engagement, State: spaces.StepDone, At: at(4)}, {N: 2, Phase: spaces.Engagement, State: spaces.StepDone, At: at(9)}, {N: 3}},
		Tools: []spaces.ToolRun{
			{Step: 1, Tool: "web.fetch", State: spaces.ToolDone, Started: at(4), Ended: at(8)},
			{Step: 1, Tool: "never begun"},
		},
		Actions: []spaces.Action{{Kind: spaces.ActSend, Account: "telegram:1", Chat: "5", Created: at(4), State: spaces.ActionSent}, {Kind: spaces.ActSend, Account: "slack:T1", Created: at(4), State: spaces.ActionReady}},
		Settled: []time.Time{at(5), {}},
	}
	var got []string
	for _, b := range waterfall(run, at(10)) {
		got = append(got, fmt.Sprintf("%s|%s|%d+%d|%s|%s", b.Label, b.Class, b.X, b.W, b.Took, b.Href))
	}
	// Ten seconds, and five of the minute before, are 730 wide.
	want := `waited|waited|170+243|1 m|
step 0 contemplation|contemplation|413+97|2.0 s|/runs/run/steps/0
step 1 engagement|engagement|510+98|2.0 s|/runs/run/steps/1
web.fetch|tool|608+194|4.0 s|
step 2 engagement|engagement|802+49|1.0 s|/runs/run/steps/2
send telegram|sending|608+48|1.0 s|#receipts
send slack|sending|608+292|6.0 s|#receipts`
	testutil.Same(t, "rows", want, strings.Join(got, "\n"))
	if bars := waterfall(console.Run{Cycle: spaces.Cycle{Started: began}}, at(1)); len(bars) != 0 {
		t.Errorf("a run without anything has rows %+v", bars)
	}
}
