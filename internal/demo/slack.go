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

// SlackDemo is the demo's Slack: one app over Socket Mode, and channels with people.
// It is safe for concurrent use once every room is open.
type SlackDemo struct {
	workspace *slack.Server
	app       *slack.WorkspaceApp
	people    map[string]*slack.HumanUser
	channels  map[string]*slack.WorkspaceChannel
}

var _ FakePlatform = (*SlackDemo)(nil)

// NewSlack returns a workspace without channels.
func NewSlack() *SlackDemo {
	w := slack.New(slack.Options{})
	return &SlackDemo{
		workspace: w, app: w.AddApp(slack.AppProfile{Name: "Trestle", BotToken: slackBotToken, AppToken: slackAppToken}),
		people: map[string]*slack.HumanUser{}, channels: map[string]*slack.WorkspaceChannel{},
	}
}

// Serve answers on ln until ctx is done.
func (s *SlackDemo) Serve(ctx context.Context, ln net.Listener) error {
	return s.workspace.Serve(ctx, ln)
}

// Open makes a channel of the room's people and invites the app.
func (s *SlackDemo) Open(r StoryRoom) string {
	var people []*slack.HumanUser
	for _, name := range r.People {
		if s.people[name] == nil {
			s.people[name] = s.workspace.AddPerson(slack.UserProfile{Name: name})
		}
		people = append(people, s.people[name])
	}
	c := s.workspace.NewChannel(strings.TrimPrefix(r.Name, "#"), people...)
	c.Invites(people[0], s.app)
	s.channels[r.Key] = c
	return c.ID
}

// Says has a person say something in a channel.
func (s *SlackDemo) Says(room, person, text string) {
	s.channels[room].Says(s.people[person], text, slack.PostOptions{})
}

// Entry is the entry of a Slack app.
func (s *SlackDemo) Entry(url string) string {
	return fmt.Sprintf("{type: slack, bot_token: %q, app_token: %q, api_url: %q}", slackBotToken, slackAppToken, url)
}
