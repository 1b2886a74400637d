package slack

import (
	"context"
	"encoding/json"
	"slices"

	slackgo "github.com/slack-go/slack"
)

// MaxPrompts is how many prompts Slack shows for a person to choose from
// (docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts).
const MaxPrompts = 4

// promptsMethod sets the prompts of a direct chat.
const promptsMethod = "assistant.threads.setSuggestedPrompts"

// An opening is a person's opening of a place of the app's: its Home, where only the user is
// set, or the direct chat with it.
type opening struct {
	user    string
	channel string // the direct chat
	thread  string // the thread that began so, in the assistant view
}

// openingIn returns what a person opened, if that is what the payload tells.
func openingIn(kind string, payload []byte) opening {
	if kind != "events_api" {
		return opening{}
	}
	var cb struct {
		Event struct {
			Type    string          `json:"type"`
			Tab     string          `json:"tab"`
			User    string          `json:"user"`
			Channel json.RawMessage `json:"channel"`
			Thread  struct {
				Channel string `json:"channel_id"`
				TS      string `json:"thread_ts"`
				User    string `json:"user_id"`
			} `json:"assistant_thread"`
		} `json:"event"`
	}
	if json.Unmarshal(payload, &cb) != nil {
		return opening{}
	}
	switch e := cb.Event; {
	case e.Type == "app_home_opened" && e.Tab == "home":
		return opening{user: e.User}
	case e.Type == "app_home_opened" && e.Tab == messagesTab && idOf(e.Channel) != "":
		return opening{user: e.User, channel: idOf(e.Channel)}
	case e.Type == "assistant_thread_started" && e.Thread.Channel != "":
		return opening{user: e.Thread.User, channel: e.Thread.Channel, thread: e.Thread.TS}
	}
	return opening{}
}

// welcome greets a person in what they opened.
func (o opening) welcome(ctx context.Context, c *messageSender) {
	switch {
	case o.channel != "":
		o.suggest(ctx, c)
	case o.user != "":
		o.publishHome(ctx, c)
	}
}

// suggest shows what a person may begin with above the direct chat. In the agent view the
// prompts stand above all its threads; a thread_ts would make Slack show none. An app that
// is no agent has no such place.
func (o opening) suggest(ctx context.Context, c *messageSender) {
	if c.o.Prompts == nil || c.agent.refused.Load() {
		return
	}
	me, err := c.me(ctx)
	if err != nil {
		return
	}
	p := slackgo.AssistantThreadsSetSuggestedPromptsParameters{
		Title: "Hello, I am " + me.Name + ". What can I do for you?", ChannelID: o.channel, ThreadTS: o.thread,
	}
	for _, text := range slices.Compact(c.o.Prompts()) {
		if len(p.Prompts) < MaxPrompts {
			p.AddPrompt(text, text)
		}
	}
	if len(p.Prompts) == 0 {
		return
	}
	_, err = c.call(ctx, promptsMethod, func(ctx context.Context, api *slackgo.Client) error {
		return api.SetAssistantThreadsSuggestedPromptsContext(ctx, p)
	})
	if refusedFor(err, noSession...) {
		c.log.Debug("no prompts shown, the app is no agent", "chat", o.channel, "error", err)
	} else if err != nil {
		c.log.Warn("prompts not shown", "chat", o.channel, "error", err)
	}
}

// publishHome fills a person's App Home: the page that people open to see what an app
// is for.
func (o opening) publishHome(ctx context.Context, c *messageSender) {
	me, err := c.me(ctx)
	if err != nil {
		return
	}
	text := "*Hello, I am " + escapeMrkdwn(me.Name) + ".*\n" +
		"Write to me in the Messages tab, or invite me to a channel and mention me there: <@" + me.User + ">.\n" +
		"`!help` says what I understand, `!stop` ends what I am doing."
	_, err = c.call(ctx, "views.publish", func(ctx context.Context, api *slackgo.Client) error {
		_, err := api.PublishViewContext(ctx, slackgo.PublishViewContextRequest{
			UserID: o.user,
			View: slackgo.HomeTabViewRequest{
				Type: slackgo.VTHomeTab,
				Blocks: slackgo.Blocks{BlockSet: []slackgo.Block{
					slackgo.NewSectionBlock(slackgo.NewTextBlockObject(slackgo.MarkdownType, text, false, false), nil, nil),
				}},
			},
		})
		return err
	})
	if err != nil {
		c.log.Warn("app home not filled", "user", o.user, "error", err)
	}
}
