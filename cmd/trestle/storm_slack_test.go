package main

import (
	"testing"
	"testing/synctest"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// bridgedToSlack is a room of a Telegram chat and two Slack channels.
func bridgedToSlack(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, "# slack\nagents: {ada: {name: Ada}}\nlimits: {outgoing: off}\nspaces:\n"+
		"  family: {agents: [ada], wake: none, relay: true, chats: [\"telegram:-1001000000001\", \"acme:C0000007\", \"acme:C0000010\"]}\n")
	w.addChat("kitchen", "slack", []string{"Maya"})
	w.addChat("cellar", "slack", []string{"Maya"})
	w.addChat("family", "supergroup", []string{"Kai"})
	w.settle()
	return w
}

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
		w := bridgedToSlack(t)
		told := w.weathers(func(f fake.Fault) {
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
		w := bridgedToSlack(t)
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
