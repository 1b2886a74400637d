package demo

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/trestle-bridge/trestle/adapters/fake/slack"
)

const (
	slackBotToken = "xoxb-demo"
	slackAppToken = "xapp-demo"
)

// Slack is the demo's Slack: one app over Socket Mode, and channels with people.
// It is safe for concurrent use once every room is open.
type Slack struct {
	workspace *slack.Slack
	app       *slack.App
	people    map[string]*slack.Person
	channels  map[string]*slack.Channel
}

var _ Platform = (*Slack)(nil)

// NewSlack returns a workspace without channels.
func NewSlack() *Slack {
	w := slack.New(slack.Options{})
	return &Slack{
		workspace: w, app: w.AddApp(slack.AppProfile{Name: "Trestle", BotToken: slackBotToken, AppToken: slackAppToken}),
		people: map[string]*slack.Person{}, channels: map[string]*slack.Channel{},
	}
}

// Serve answers on ln until ctx is done.
func (s *Slack) Serve(ctx context.Context, ln net.Listener) error { return s.workspace.Serve(ctx, ln) }

// Open makes a channel of the room's people and invites the app.
func (s *Slack) Open(r Room) string {
	var people []*slack.Person
	for _, name := range r.People {
		if s.people[name] == nil {
			s.people[name] = s.workspace.AddPerson(slack.Profile{Name: name})
		}
		people = append(people, s.people[name])
	}
	c := s.workspace.NewChannel(strings.TrimPrefix(r.Name, "#"), people...)
	c.Invites(people[0], s.app)
	s.channels[r.Key] = c
	return c.ID
}

// Says has a person say something in a channel.
func (s *Slack) Says(room, person, text string) {
	s.channels[room].Says(s.people[person], text, slack.Said{})
}

// Entry is the entry of a Slack app.
func (s *Slack) Entry(url string) string {
	return fmt.Sprintf("{type: slack, bot_token: %q, app_token: %q, api_url: %q}", slackBotToken, slackAppToken, url)
}
