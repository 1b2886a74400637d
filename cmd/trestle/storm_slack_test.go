package main

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

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

// DELIVERY F45, I6, I7, I9: refusals for now, errors of the server, garbage, lost
// and late answers: every copy arrives once and in order.
func TestAStormOfSlacksLosesAndDoublesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := bridgedToSlack(t)
		storm := []fake.Fault{
			{Do: fake.Refuse, Status: 429, RetryAfter: 1},
			{Do: fake.Refuse, Status: 429, RetryAfter: 300},
			{Do: fake.HTML, Status: 503},
			{Do: fake.Refuse, Status: 500},
			{Do: fake.Garbage, Apply: true},
			{Do: fake.Garbage},
			{Do: fake.Cut, Apply: true},
			{Do: fake.Cut},
			{Do: fake.Truncate, Apply: true},
			{Do: fake.Hang, Apply: true},
			{Do: fake.Delay, Wait: 40 * time.Second},
		}
		var want []string
		for i, f := range storm {
			f.Method, f.Every, f.Times = "chat.postMessage", 3, 3
			w.slack.Fault(f)
			for n := range 4 {
				text := fmt.Sprintf("%d in storm %d", n, i)
				w.tells(text)
				want = append(want, text)
			}
			<-time.After(15 * time.Minute)
			w.slack.ClearFaults()
		}
		w.settle()
		for _, room := range []string{"kitchen", "cellar"} {
			if diff := cmp.Diff(want, w.slack.arrived(room)); diff != "" {
				t.Errorf("in the %s (-want +got):\n%s", room, diff)
			}
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
		if diff := cmp.Diff([]string{"before", "without a cellar", "behind it"}, w.slack.arrived("kitchen")); diff != "" {
			t.Errorf("in the kitchen (-want +got):\n%s", diff)
		}
		if got := w.slack.arrived("cellar"); !slices.Equal(got, []string{"before"}) {
			t.Errorf("in a channel that is archived arrive %q", got)
		}
		w.audited()
		w.stop()
	})
}
