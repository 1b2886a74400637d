package slack

import (
	"context"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.ChatLister = (*Client)(nil)

const infoMethod = "conversations.info"

// channelInfo is what Slack answers about one conversation.
type channelInfo struct {
	Channel channel `json:"channel"`
}

// infoOf asks about one.
func infoOf(id string) func(context.Context, *slackgo.Client) error {
	return func(ctx context.Context, api *slackgo.Client) error {
		_, err := api.GetConversationInfoContext(ctx, &slackgo.GetConversationInfoInput{ChannelID: id})
		return err
	}
}

// joined returns the conversations that the app is in, those that are not
// archived, and remembers what they are called.
func (c *historyReader) joined(ctx context.Context) ([]channel, error) {
	me, err := c.me(ctx)
	if err != nil {
		return nil, err
	}
	var all []channel
	for page, err := range pages(func(cursor string) (list, error) {
		return reading[list](ctx, c.apiClient, "users.conversations", func(ctx context.Context, api *slackgo.Client) error {
			_, _, err := api.GetConversationsForUserContext(ctx, &slackgo.GetConversationsForUserParameters{
				Cursor: cursor, Limit: pageSize, ExcludeArchived: true,
				Types: []string{"public_channel", "private_channel", "mpim", "im"},
			})
			return err
		})
	}) {
		if err != nil {
			return nil, err
		}
		for _, ch := range page.Channels {
			c.names.keepChat(knownChat{chat: chatOf(ch, me.Team)}, namesKept)
		}
		all = append(all, page.Channels...)
	}
	return all, nil
}

// Chats returns the channels that the app is in, direct chats among them when no
// group is asked for.
func (c *Client) Chats(ctx context.Context, group string) ([]adapters.Chat, error) {
	me, err := c.me(ctx)
	if err != nil {
		return nil, err
	}
	joined, err := c.joined(ctx)
	if err != nil {
		return nil, err
	}
	var chats []adapters.Chat
	for _, ch := range joined {
		if chat := chatOf(ch, me.Team); group == "" || chat.Group == group {
			chats = append(chats, chat)
		}
	}
	return chats, nil
}
