package server

import (
	"encoding/json"
	"fmt"
	"testing"

	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// The owner in the workspace, and a person whose id is an owner's elsewhere.
const (
	slackOwner     = "U0LIVIA"
	slackOwnerName = "Olivia"
	slackForeign   = "U0ELSEWHERE"
)

// slackSenders are the twelve kinds of sender as Slack's events. Slack knows no
// anonymous admin: what speaks for the workspace is Slack itself.
func slackSenders(w *world) []wireSender {
	s, n := w.slack, 0
	named, lea := s.AddPerson(fakeslack.UserProfile{Name: slackOwnerName}), s.AddPerson(fakeslack.UserProfile{Name: "Lea"})
	guest := s.AddPerson(fakeslack.UserProfile{Name: slackOwnerName, Team: "T0OTHER"})
	foreign := s.AddPerson(fakeslack.UserProfile{Name: slackOwnerName, ID: slackForeign})
	fred := s.AddPerson(fakeslack.UserProfile{Name: "Fred"})
	event := func(channel, kind, more string) string {
		n++
		return fmt.Sprintf(`{"type":"message","channel":%q,"channel_type":%q,"ts":"946684%03d.000100","event_ts":"946684%03d.000100",%s}`, channel, kind, 800+n, 800+n, more)
	}
	direct := func(p *fakeslack.HumanUser, more string) string {
		return event(s.app.Direct(p).ID, "im", fmt.Sprintf(`"user":%q,"text":%q%s`, p.ID, canary, more))
	}
	room := func(more string, who ...*fakeslack.HumanUser) string {
		c := s.NewChannel("nobody-named-it", s.people[slackOwnerName], fred)
		c.Invites(fred, s.app) // a room that an owner invites us to is let in
		for _, p := range who {
			c.Joins(p)
			c.Leaves(p)
			c.Joins(p)
		}
		w.settle()
		return event(c.ID, "channel", fmt.Sprintf(`"text":"<@%s> %s",%s`, s.app.User(), canary, more))
	}
	return []wireSender{
		{"renamed to the owner's name", direct(named, ""), true},
		{"bot", room(`"subtype":"bot_message","bot_id":"B0BEEP","username":"Beep"`), false},
		{"webhook", room(fmt.Sprintf(`"subtype":"bot_message","bot_id":"B0HOOK","username":%q,"icons":{"emoji":":crown:"}`, slackOwnerName)), false},
		{"Slack itself", room(`"user":"USLACKBOT"`), false},
		{"forwards the owner's words", event(s.app.Direct(fred).ID, "im", fmt.Sprintf(
			`"user":%q,"text":"","attachments":[{"is_share":true,"author_name":%q,"author_id":%q,"text":%q}]`, fred.ID, slackOwnerName, slackOwner, canary)), true},
		{"edits after they were shut out", event(s.app.Direct(lea).ID, "im", fmt.Sprintf(
			`"subtype":"message_changed","message":{"type":"message","user":%[1]q,"text":%[2]q,"ts":"946684799.000100","edited":{"user":%[1]q,"ts":"946684900.000000"}}`, lea.ID, canary)), false},
		{"left and rejoined", room(fmt.Sprintf(`"user":%q`, lea.ID), lea), true},
		{"the owner in a thread of a channel", room(fmt.Sprintf(`"user":%q,"thread_ts":"946684000.000100"`, slackOwner)), true},
		{"guest", direct(guest, `,"user_team":"T0OTHER","source_team":"T0OTHER"`), true},
		{"deleted user", room(`"subtype":"me_message"`), false},
		{"same id on another platform", direct(foreign, ""), true},
		{"impersonates with capitals and look-alikes", direct(s.AddPerson(fakeslack.UserProfile{Name: "ＯＬＩＶＩＡ", Handle: "0livia"}), ""), true},
	}
}

// SECURITY S1, Slack's third of the matrix.
func TestNobodyUnauthorisedWakesAnAgentOnSlack(t *testing.T) {
	wireStage{
		config: "# slack\n", owner: "acme:T0000001/" + slackOwner, elsewhere: spaces.PlatformIdentity{Platform: "discord", User: slackForeign},
		greets: func(w *world) {
			olivia := w.slack.AddPerson(fakeslack.UserProfile{Name: slackOwnerName, ID: slackOwner})
			w.slack.people[slackOwnerName] = olivia
			w.slack.app.Direct(olivia).Says(olivia, "hello", fakeslack.PostOptions{})
		},
		pairs: func(w *world) {
			if _, err := w.process.pair(w.t.Context(), console.PairRequest{Code: w.codeOf(slackOwner), Role: "owner"}); err != nil {
				w.t.Fatal(err)
			}
		},
		senders: slackSenders,
		deliver: func(w *world, event json.RawMessage) error { w.slack.app.Inject(event); return nil },
	}.play(t)
}
