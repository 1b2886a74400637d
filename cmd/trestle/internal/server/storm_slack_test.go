package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters/fake"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
)

// arrived returns what the app posted in a channel.
func (s *slackSide) arrived(room string) (all []string) {
	for _, m := range s.rooms[room].Sent() {
		all = append(all, m.Text)
	}
	return all
}

// DELIVERY F45, I6, I7, I9: every copy arrives once and in order.
func TestAStormOfSlacksLosesAndDoublesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := bridgedTo(t, "slack", "acme:C0000007", "acme:C0000010")
		told := w.weathers(func(f fake.CallFault) {
			f.Method, f.Every, f.Times = "chat.postMessage", 3, 3
			w.slack.Fault(f)
		}, w.slack.ClearFaults)
		for _, room := range []string{"kitchen", "cellar"} {
			arrive(t, room, told, w.slack.arrived(room))
		}
		struck := 0
		for _, c := range w.slack.Ledger().Calls {
			if c.Early > 0 {
				t.Errorf("%s came %s before Slack allows it", c.Method, c.Early)
			}
			if c.Fault != "" {
				struck++
			}
		}
		if least := 2 * len(storm); struck < least {
			t.Errorf("%d calls were struck, want %d or more", struck, least)
		}
		w.audited()
		w.stop()
	})
}

// DELIVERY F46: what can never succeed fails at once, and what is behind it, and
// beside it, passes.
func TestWhatSlackNeverTakesHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := bridgedTo(t, "slack", "acme:C0000007", "acme:C0000010")
		w.tells("before")
		w.settle()
		w.slack.rooms["cellar"].Archives(w.slack.people["Maya"])
		w.settle()
		w.tells("without a cellar")
		w.tells("behind it")
		w.settle()
		arrive(t, "kitchen", []string{"before", "without a cellar", "behind it"}, w.slack.arrived("kitchen"))
		arrive(t, "cellar", []string{"before"}, w.slack.arrived("cellar"))
		w.audited()
		w.stop()
	})
}

// DELIVERY F23, F26, I2, M4, M5: each message is told five times, over either socket, as
// a retry after the program was down, and again long after; it is recorded and
// answered once.
func TestWhatSlackTellsAgainIsAnsweredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers strings.Builder
		want := []string{}
		for i := range 6 {
			fmt.Fprintf(&answers, "ada acts: send_message {\"text\":\"answer %d\"}\nada rests: Responded to Maya about it.\n", i)
			want = append(want, fmt.Sprintf("answer %d", i))
		}
		w := newWorld(t, "# slack\nagents: {ada: {name: Ada, phases: one}}\nservers:\n  \"acme:T0000001\": {agents: [ada], wake: all}\n", script(t, answers.String())...)
		w.addChat("kitchen", "slack", []string{"Maya"})
		w.settle()
		s := w.slack
		say := func(i int) {
			s.rooms["kitchen"].Says(s.people["Maya"], fmt.Sprintf("question %d", i), fakeslack.PostOptions{})
		}
		s.app.Disorder(5)
		for i := range 4 {
			say(i)
			w.settle()
		}
		w.end()
		say(4) // no socket is open: tried at once, and after a minute
		pass(30 * time.Second)
		w.start()
		pass(2 * time.Minute)
		say(5)
		w.settle()
		pass(time.Hour)
		s.app.Redeliver(1000)
		w.settle()
		arrive(t, "kitchen", want, s.arrived("kitchen"))
		late := 0
		for _, a := range s.Ledger().Acked {
			if a.Kind == "message" && a.Attempt > 0 {
				late++
			}
		}
		if late < 6 {
			t.Errorf("%d messages were acknowledged as retries: the story shows nothing", late)
		}
		w.audited()
		w.stop()
	})
}

// DELIVERY F24, I2, I11: an edit before its original, a reply before its parent, a
// delete of an unknown message, and all of it twice, leave a sound log in which each
// fact is recorded once.
func TestSlacksEventsOutOfOrderLeaveASoundLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "# slack\nagents: {ada: {name: Ada}}\nservers:\n  \"acme:T0000001\": {agents: [ada], wake: none}\n")
		w.addChat("kitchen", "slack", []string{"Maya"})
		w.settle()
		s := w.slack
		said := func(n int, text, more string) string {
			return fmt.Sprintf(`"type":"message","user":%q,"text":%q,"ts":"946684%03d.000100"%s`, s.people["Maya"].ID, text, n, more)
		}
		in := fmt.Sprintf(`"channel":%q,"channel_type":"channel"`, s.rooms["kitchen"].ID)
		events := []string{
			`{"type":"message","subtype":"message_changed",` + in + `,"event_ts":"946684809.000000","message":{` + said(801, "mended", `,"edited":{"ts":"946684809.000000"}`) + `}}`,
			`{` + said(801, "original", "") + `,` + in + `}`,
			`{` + said(803, "an answer", `,"thread_ts":"946684802.000100"`) + `,` + in + `}`,
			`{` + said(802, "what it answers", "") + `,` + in + `}`,
			`{"type":"message","subtype":"message_deleted",` + in + `,"event_ts":"946684810.000100","deleted_ts":"946684804.000100"}`,
		}
		for range 2 {
			for _, e := range events {
				s.app.Inject(json.RawMessage(e))
				w.settle()
			}
		}
		w.audited()
		got, _ := w.render("log")
		want := "== kitchen\n#1 linked C0000007\n#2 joined Ada\n#3 edited Maya \"mended\"\n#4 said Maya \"original\"\n" +
			"#5 said Maya/946684802.000100 \"an answer\"\n#6 said Maya \"what it answers\"\n#7 deleted\n"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
		w.stop()
	})
}

// DELIVERY F28, I13: sockets that are half open while no other can be had are told as
// degraded within 90 seconds, for as long as it lasts, and the line is back within
// a minute of its path being healed, with all that was said.
func TestASlackThatFellSilentIsToldAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "# slack\nagents: {ada: {name: Ada}}\nservers:\n  \"acme:T0000001\": {agents: [ada], wake: none}\n")
		w.addChat("kitchen", "slack", []string{"Maya"})
		w.settle()
		healthy := func() bool { return part(t, w.process.Health(), "acme").Healthy }
		w.slack.app.Freeze()
		w.slack.Fault(fake.CallFault{Method: "apps.connections.open", Do: fake.Cut, Times: -1})
		w.slack.rooms["kitchen"].Says(w.slack.people["Maya"], "into the void", fakeslack.PostOptions{})
		pass(91 * time.Second)
		for range 60 {
			if healthy() {
				t.Fatal("a line that hears nothing is called healthy")
			}
			pass(time.Minute)
		}
		w.slack.ClearFaults()
		pass(time.Minute)
		if !healthy() {
			t.Error("a minute after the path was healed the line is not healthy")
		}
		w.settle()
		if got, _ := w.render("log"); !strings.Contains(got, `said Maya "into the void"`) {
			t.Errorf("what was said meanwhile is not in the log:\n%s", got)
		}
		w.stop()
	})
}
