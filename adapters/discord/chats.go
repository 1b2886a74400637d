package discord

import (
	"context"
	"net/http"
	"strconv"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.ChatLister = (*Client)(nil)

// Chats returns the channels of a server in which we can read what people write.
func (c *Client) Chats(ctx context.Context, group string) ([]adapters.Chat, error) {
	groups := []string{group}
	if group == "" {
		var err error
		if groups, err = c.servers(ctx); err != nil {
			return nil, err
		}
	}
	var all []adapters.Chat
	for _, id := range groups {
		g, me, err := c.standing(ctx, id)
		if err != nil {
			return nil, err
		}
		var channels []channel
		if err := c.patiently(ctx, guildRoute("get channels", id, "/channels"), &channels); err != nil {
			return nil, err
		}
		for _, ch := range channels {
			if holdsMessages(ch.Type) && !isThread(ch.Type) && g.shows(me, ch) {
				ch.GuildID = id
				all = append(all, ch.chat())
			}
		}
	}
	return all, nil
}

// servers returns the ids of the servers that we are on.
func (c *guildDirectory) servers(ctx context.Context) ([]string, error) {
	const most = 200
	var all []string
	for after := ""; ; {
		var page []guild
		path := "/users/@me/guilds?limit=" + strconv.Itoa(most) + after
		if err := c.patiently(ctx, route{op: "get guilds", method: http.MethodGet, path: path}, &page); err != nil {
			return nil, err
		}
		for _, g := range page {
			all = append(all, g.ID)
		}
		if len(page) < most {
			return all, nil
		}
		after = "&after=" + page[len(page)-1].ID
	}
}
