package discord

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/emoji"
)

var _ adapters.ReactionSetter = (*Client)(nil)

// React sets our reaction on message m: the emoji we put there before is taken
// back. An emoji is Unicode, or a name in colons of the server's own.
func (c *messageSender) React(ctx context.Context, m adapters.MessageRef, emoji string) error {
	return c.inChannelOf(ctx, m, func(to string) error { return c.reactIn(ctx, to, m, emoji) })
}

// reactIn is React for a message of the channel to.
func (c *messageSender) reactIn(ctx context.Context, to string, m adapters.MessageRef, emoji string) (err error) {
	wanted := ""
	if emoji != "" {
		if wanted, err = c.reaction(to, emoji); err != nil {
			return err
		}
	}
	at := "/messages/" + url.PathEscape(m.Message)
	var now struct {
		Reactions []struct {
			Me    bool      `json:"me"`
			Emoji emojiName `json:"emoji"`
		} `json:"reactions"`
	}
	if err := c.call(ctx, channelRoute("get message", http.MethodGet, to, at), nil, &now); err != nil {
		return err
	}
	for _, r := range now.Reactions {
		switch name := r.Emoji.path(); {
		case !r.Me:
		case name == wanted:
			wanted = ""
		default:
			err := c.call(ctx, channelRoute("take reaction back", http.MethodDelete, to, at+"/reactions/"+name+"/@me"), nil, nil)
			if err != nil {
				return err
			}
		}
	}
	if wanted == "" {
		return nil
	}
	return c.call(ctx, channelRoute("react", http.MethodPut, to, at+"/reactions/"+wanted+"/@me"), nil, nil)
}

// emojiName is an emoji as a path names it.
type emojiName customEmoji

func (e emojiName) path() string {
	if e.ID == "" {
		return url.PathEscape(bareEmoji(e.Name))
	}
	return url.PathEscape(e.Name + ":" + e.ID)
}

// reaction returns an emoji as a path names it. A name in colons is that of the
// server's own emoji, else that of one that all have.
func (c *messageSender) reaction(channel, shown string) (string, error) {
	name := strings.Trim(shown, ":")
	if name == shown {
		return emojiName{Name: shown}.path(), nil
	}
	ch, _ := c.known.channel(channel)
	if e, ok := c.known.customEmoji(ch.GuildID, name); ok {
		return emojiName(e).path(), nil
	}
	if plain := emoji.ToUnicode(shown); plain != shown {
		return emojiName{Name: plain}.path(), nil
	}
	return "", &adapters.Error{Kind: adapters.Invalid, Op: "react", Err: fmt.Errorf("the server has no emoji %q", name)}
}

// bareEmoji returns emoji without the selector that only changes its looks.
func bareEmoji(emoji string) string { return strings.ReplaceAll(emoji, "\uFE0F", "") }
