package slack

import (
	"context"
	"encoding/json"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.DeliveryChecker = (*Client)(nil)

// Find looks for a part among the newest messages of its chat or thread, by the
// id in its metadata, and attaches the files that it lacks. What was posted longer
// ago than two hundred messages is not found.
func (c *messageSender) Find(ctx context.Context, p adapters.OutgoingMessage) (adapters.Receipt, bool, error) {
	if p.Key == "" {
		return adapters.Receipt{}, false, nil
	}
	thread := threadOf(p)
	for _, in := range []string{thread, ""} {
		raw, err := c.newest(ctx, p.Chat, in)
		if err != nil && !refusedFor(err, "thread_not_found", "invalid_thread_ts") {
			return adapters.Receipt{}, false, err
		}
		for _, one := range raw {
			if keyIn(one) == p.Key {
				if err := c.attachMissingFiles(ctx, one, p); err != nil {
					return adapters.Receipt{}, false, err
				}
				ts := markOf(one).TS
				return adapters.Receipt{Message: ts, At: timeOf(ts)}, ts != "", nil
			}
		}
		if in == "" || p.Thread != "" { // an answer whose message vanished went to the channel
			break
		}
	}
	return adapters.Receipt{}, false, nil
}

// newest returns the newest messages of a chat, or of a thread of it, with their
// metadata. Of an answer Slack lists nothing but itself and whose thread it is in
// (docs.slack.dev/reference/methods/conversations.replies): that thread is meant.
func (c *historyReader) newest(ctx context.Context, chat, thread string) ([]json.RawMessage, error) {
	all, err := c.latest(ctx, chat, thread)
	for _, one := range all {
		if m := markOf(one); m.TS == thread && m.ThreadTS != "" && m.ThreadTS != thread && err == nil {
			return c.latest(ctx, chat, m.ThreadTS)
		}
	}
	return all, err
}

// latest is newest for a thread that is named by its first message.
func (c *historyReader) latest(ctx context.Context, chat, thread string) ([]json.RawMessage, error) {
	method := "conversations.history"
	if thread != "" {
		method = "conversations.replies"
	}
	var all []json.RawMessage
	for page, err := range pages(func(cursor string) (list, error) {
		return callInto[list](ctx, c.apiClient, method, func(ctx context.Context, api *slackgo.Client) error {
			if thread == "" {
				_, err := api.GetConversationHistoryContext(ctx, &slackgo.GetConversationHistoryParameters{
					ChannelID: chat, Limit: pageSize, IncludeAllMetadata: true,
				})
				return err
			}
			_, _, _, err := api.GetConversationRepliesContext(ctx, &slackgo.GetConversationRepliesParameters{
				ChannelID: chat, Timestamp: thread, Cursor: cursor, Limit: pageSize, IncludeAllMetadata: true,
			})
			return err
		})
	}) {
		if err != nil {
			return all, err
		}
		all = append(all, page.Messages...)
		if thread == "" { // a thread's newest messages are on its last page, a channel's on the first
			break
		}
	}
	return all, nil
}

// keyIn returns the id in a message's metadata.
func keyIn(raw json.RawMessage) string {
	var m struct {
		Metadata struct {
			Type    string `json:"event_type"`
			Payload struct {
				ID string `json:"id"`
			} `json:"event_payload"`
		} `json:"metadata"`
	}
	if json.Unmarshal(raw, &m) != nil || m.Metadata.Type != metadataType {
		return ""
	}
	return m.Metadata.Payload.ID
}
