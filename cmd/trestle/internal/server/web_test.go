package server

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/terminal"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-5.3-5, PRD-5.3-A3: what failed is named, and healthy means that it hears.
func TestHealthNamesWhatFailed(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	connected := activity.ConnStatus{Name: "telegram", State: activity.ConnConnected, Heard: now.Add(-time.Minute)}
	deaf := activity.ConnStatus{Name: "telegram", State: activity.ConnConnected, Heard: now.Add(-2 * time.Minute)}
	paused := activity.ConnStatus{Name: "telegram", State: activity.ConnConnected, Heard: now, Paused: "the token was refused"}
	lost := activity.ConnStatus{Name: "telegram", State: activity.ConnConflict, Heard: now, Reason: "somebody else polls"}
	for _, test := range []struct {
		name    string
		status  activity.ConnStatus
		started bool
		want    string
	}{
		{"heard lately", connected, true, "healthy"},
		{"deaf", deaf, true, "degraded"},
		{"cannot send", paused, true, "degraded"},
		{"conflict", lost, true, "degraded"},
		{"still starting", connected, false, "starting"},
	} {
		h := console.Health{TrustPassed: true, Extensions: []console.Component{connectionComponent(test.status, now, "")}}
		h.Summarise(test.started)
		if h.Status != test.want {
			t.Errorf("%s: %s, want %s", test.name, h.Status, test.want)
		}
	}
	if x := modelComponent(config.ModelEndpoint{}, "no such host"); x.Healthy || x.Reason != "no such host" {
		t.Errorf("model is %+v", x)
	}
}

// PRD-5.4-3, PRD-5.4-A3
func TestBootReportHasEveryStage(t *testing.T) {
	b := newStartupReporter(io.Discard)
	_ = b.Stage("one", func() error { return nil })
	_ = b.Stage("two", func() error { return errSkipped })
	if err := b.Stage("three", func() error { return io.ErrUnexpectedEOF }); err == nil {
		t.Error("a failed stage returned nothing")
	}
	if b.Report().ReadyAt != nil {
		t.Error("ready before the end")
	}
	b.Core()
	b.Trust()
	b.Ready()
	got := b.Report()
	want := []console.Stage{{Stage: "one", Status: "success"}, {Stage: "two", Status: "skipped"}, {Stage: "three", Status: "failed", Error: "unexpected EOF"}}
	if diff := cmp.Diff(want, got.Stages, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "DurationMS" }, cmp.Ignore())); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"three"}, got.Failed); diff != "" || got.ReadyAt == nil || !got.CoreReady || !got.TrustPassed {
		t.Errorf("report is %+v", got)
	}
}

// SECURITY S18
func TestTerminalShowsNoControlCharacters(t *testing.T) {
	got := terminal.LineText(control.HeardLine{Kind: "posted", Who: "Ada", Text: "a\x1b[31mb\x07\u009bc\r\nd\te"}, terminal.LineForm{Names: true})
	if want := "Ada: a\\x1b[31mb\\x07\\x9bc\\x0d\nd\te"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The reason why a message woke no agent is one sentence: whom to name, or else what each agent
// is held back by.
func TestReasonIsOneSentence(t *testing.T) {
	c := &config.Config{Agents: []config.AgentEntry{{ID: "ada", Name: "Ada"}, {ID: "max", Name: "Max"}}}
	const whom = "not addressed: no agent of this room was named; write "
	for want, rows := range map[string][]string{
		"not answered: no agent is in this room": nil,
		whom + "@Ada for an answer":              {"ada:ambient"},
		whom + "@Ada or @Max for an answer":      {"ada:wake_none", "max:seen"},
		whom + "@gone for an answer":             {"gone:sampled", "max:muted"},
		"not answered: no agent was woken (Ada: the agent is muted here; Max: its sender wrote more in a minute than is looked at)": {"ada:muted", "max:rate"},
	} {
		var all []spaces.InboxRow
		for _, r := range rows {
			agent, reason, _ := strings.Cut(r, ":")
			all = append(all, spaces.InboxRow{Mind: spaces.Mind{Agent: spaces.AgentID(agent)}, State: spaces.RowIgnored, Reason: reason})
		}
		if got := reasonText(c, all); got != want {
			t.Errorf("%v: %q, want %q", rows, got, want)
		}
	}
}
