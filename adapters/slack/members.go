package slack

import (
	"context"
	"encoding/json"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
)

var (
	_ adapters.Lister = (*Client)(nil)
	_ adapters.Roster = (*Client)(nil)
)

// joined returns the conversations that the app is in, those that are not
// archived, and remembers what they are called.
func (c *Client) joined(ctx context.Context) ([]channel, error) {
	me, err := c.me(ctx)
	if err != nil {
		return nil, err
	}
	var all []channel
	for page, err := range pages(func(cursor string) (list, error) {
		return reading[list](ctx, c, "users.conversations", func(ctx context.Context, api *slackgo.Client) error {
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
			c.names.keepChat(chatOf(ch, me.Team), namesKept)
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

// manyUnknown is how many people must be unknown before the workspace's list, two
// hundred a call, is read instead of asking for each.
const manyUnknown = 30

// Members returns everybody in a channel, ourselves among them.
func (c *Client) Members(ctx context.Context, chat string) ([]adapters.Person, error) {
	me, err := c.me(ctx)
	if err != nil {
		return nil, err
	}
	read := reader{c: c, self: me}
	var ids []string
	for page, err := range pages(func(cursor string) (list, error) {
		return reading[list](ctx, c, "conversations.members", func(ctx context.Context, api *slackgo.Client) error {
			_, _, err := api.GetUsersInConversationContext(ctx, &slackgo.GetUsersInConversationParameters{
				ChannelID: chat, Cursor: cursor, Limit: pageSize,
			})
			return err
		})
	}) {
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Members {
			ids = append(ids, idOf(raw))
		}
	}
	if unknown := c.names.unknown(ids); len(unknown) > manyUnknown {
		if err := c.learn(ctx, unknown); err != nil {
			c.log.Debug("people not listed", "chat", chat, "error", err)
		}
	}
	people := make([]adapters.Person, len(ids))
	for i, id := range ids {
		people[i] = read.who(ctx, id, "")
	}
	return people, nil
}

// learn reads who is in the workspace until everybody in unknown has been found.
func (c *Client) learn(ctx context.Context, unknown map[string]bool) error {
	for page, err := range pages(func(cursor string) (list, error) {
		return reading[list](ctx, c, "users.list", func(ctx context.Context, api *slackgo.Client) error {
			_, err := api.GetUsersPaginated(slackgo.GetUsersOptionLimit(pageSize), slackgo.GetUsersOptionCursor(cursor)).Next(ctx)
			return err
		})
	}) {
		if err != nil {
			return err
		}
		for _, raw := range page.Members {
			var u user
			if json.Unmarshal(raw, &u) == nil && unknown[u.ID] {
				c.names.learned(u)
				delete(unknown, u.ID)
			}
		}
		if len(unknown) == 0 {
			break
		}
	}
	return nil
}
