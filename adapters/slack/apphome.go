package slack

import (
	"context"

	slackgo "github.com/slack-go/slack"
)

// hello fills somebody's App Home: the page that people open to see what an app
// is for.
func (c *Client) hello(ctx context.Context, user string) {
	me, err := c.me(ctx)
	if err != nil {
		return
	}
	text := "*Hello, I am " + escapeMrkdwn(me.Name) + ".*\n" +
		"Write to me in the Messages tab, or invite me to a channel and mention me there: <@" + me.User + ">.\n" +
		"`!help` says what I understand, `!stop` ends what I am doing."
	_, err = c.call(ctx, "views.publish", func(ctx context.Context, api *slackgo.Client) error {
		_, err := api.PublishViewContext(ctx, slackgo.PublishViewContextRequest{
			UserID: user,
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
		c.log.Warn("app home not filled", "user", user, "error", err)
	}
}
