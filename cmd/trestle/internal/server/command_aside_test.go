package server

import (
	"strings"
	"testing"
	"testing/synctest"

	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
)

// PLATFORMS 2, SECURITY S2: a person who gives a slash command where the app is not a
// member gets a private answer, and no answer is left waiting.
func TestAStrangersCommandIsAnsweredWhereTheAppIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "# slack\nagents: {ada: {name: Ada, phases: one}}\nadmit: pairing\n")
		maya := w.slack.AddPerson(fakeslack.UserProfile{Name: "Maya"})
		c := w.slack.NewChannel("elsewhere", maya)
		c.Commands(maya, w.slack.app, "/trestle", "start")
		w.settle()
		got := c.Whispers()
		if len(got) != 1 || got[0].To != maya.ID || !strings.Contains(got[0].Text, "trestle pair ") {
			t.Fatalf("whispered: %+v", got)
		}
		if sent := c.Sent(); len(sent) > 0 {
			t.Errorf("the channel shows %+v", sent)
		}
	})
}
