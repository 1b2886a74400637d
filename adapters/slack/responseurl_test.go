package slack_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
)

// PLATFORMS 2: a slash command reaches us also from where the app is not. The person
// who gave it is answered, up to five times within half an hour, and others do not see
// it.
func TestACommandIsAnsweredWhereTheAppIsNot(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		c, _ := w.runs(new(book), w.options())
		other := w.NewChannel("elsewhere", w.maya)
		post := adapters.OutgoingMessage{Chat: other.ID, Text: "I am *not* in here"}
		if _, err := c.Send(t.Context(), post); adapters.KindOf(err) != adapters.Forbidden {
			t.Fatalf("without a command: %v, want forbidden", err)
		}
		other.Commands(w.maya, w.app, "/trestle", "status")
		pass(time.Second)
		for range 5 {
			r, err := c.Send(t.Context(), post)
			if err != nil || r.Message != "" {
				t.Errorf("the command is answered with %+v, %v", r, err)
			}
		}
		if _, err := c.Send(t.Context(), post); adapters.KindOf(err) != adapters.Forbidden {
			t.Errorf("the sixth answer: %v, want forbidden", err)
		}
		other.Commands(w.maya, w.app, "/trestle", "status")
		pass(31 * time.Minute)
		if _, err := c.Send(t.Context(), post); adapters.KindOf(err) != adapters.Forbidden {
			t.Errorf("after half an hour: %v, want forbidden", err)
		}
		got := other.Whispers()
		if len(got) != 5 || got[0] != (fakeslack.EphemeralMessage{To: w.maya.ID, Text: "I am *not* in here"}) {
			t.Errorf("whispered: %+v", got)
		}
		if sent := other.Sent(); len(sent) > 0 {
			t.Errorf("the channel shows %+v", sent)
		}
		if log := w.host.Log.String(); strings.Contains(log, "/respond/") {
			t.Errorf("the log has the address:\n%s", log)
		}
	})
}

// SECURITY S6, S10: an answer goes to Slack's own hosts alone.
func TestACommandNamesNoForeignAddress(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		c, _ := w.runs(new(book), w.options())
		other := w.NewChannel("elsewhere", w.maya)
		for _, address := range []string{"https://evil.example/respond", "http://hooks.slack.com/x", "https://hooks.slack.com.evil.example/x", "::", ""} {
			w.app.InjectPayload("slash_commands", []byte(`{"command":"/trestle","channel_id":"`+other.ID+`","user_id":"`+w.maya.ID+`","response_url":"`+address+`"}`))
			pass(time.Second)
			if _, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: other.ID, Text: "hello"}); adapters.KindOf(err) != adapters.Forbidden {
				t.Errorf("%q: %v, want forbidden", address, err)
			}
		}
		if log := w.host.Log.String(); strings.Contains(log, "command not answered") {
			t.Errorf("somebody was called:\n%s", log)
		}
	})
}
