package slack

import (
	"context"
	"fmt"
	"slices"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/emoji"
)

var _ adapters.ReactionSetter = (*Client)(nil)

// React sets our reaction on message m; an empty emoji takes it back. Slack lets
// us have several: those that are not the one are taken away.
func (c *messageSender) React(ctx context.Context, m adapters.MessageRef, shown string) error {
	name := ""
	if shown != "" {
		var known bool
		if name, known = emoji.Name(shown); !known {
			return &adapters.Error{Kind: adapters.Invalid, Op: "reactions.add", Err: fmt.Errorf("slack has no name for %q", shown)}
		}
	}
	item := slackgo.NewRefToMessage(m.Chat, m.Message)
	ours, err := c.reactionsOf(ctx, item)
	if err != nil && (shown == "" || adapters.KindOf(err) != adapters.Forbidden) {
		return err // without the right to read them the new one can still be set
	}
	for _, other := range ours {
		if other == name {
			continue
		}
		_, err := c.call(ctx, "reactions.remove", func(ctx context.Context, api *slackgo.Client) error {
			return api.RemoveReactionContext(ctx, other, item)
		})
		if err != nil && !refusedFor(err, "no_reaction") {
			return err
		}
	}
	if name == "" || slices.Contains(ours, name) {
		return nil
	}
	_, err = c.call(ctx, "reactions.add", func(ctx context.Context, api *slackgo.Client) error {
		return api.AddReactionContext(ctx, name, item)
	})
	if refusedFor(err, "already_reacted") {
		return nil
	}
	return err
}

// reactionsOf returns the names of our reactions on a message.
func (c *messageSender) reactionsOf(ctx context.Context, item slackgo.ItemRef) ([]string, error) {
	me, err := c.me(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := callInto[struct {
		Message struct {
			Reactions []struct {
				Name  string   `json:"name"`
				Users []string `json:"users"`
			} `json:"reactions"`
		} `json:"message"`
	}](ctx, c.apiClient, "reactions.get", func(ctx context.Context, api *slackgo.Client) error {
		_, err := api.GetReactionsContext(ctx, item, slackgo.GetReactionsParameters{Full: true})
		return err
	})
	var ours []string
	for _, r := range answer.Message.Reactions {
		if slices.Contains(r.Users, me.User) {
			ours = append(ours, r.Name)
		}
	}
	return ours, err
}
