package slack

import (
	"context"
	"errors"
	"strings"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
)

var (
	_ adapters.TypingNotifier = (*Client)(nil)
	_ adapters.DraftShower    = (*Client)(nil)
)

const statusMethod = "assistant.threads.setStatus"

// Typing shows a status under a thread for two minutes, or until we write there.
// Slack has no such sign outside threads: there it does nothing.
func (c *messageSender) Typing(ctx context.Context, chat, thread string) error {
	if thread == "" {
		return nil
	}
	return c.status(ctx, chat, thread, "is writing…")
}

// maxStatus bounds the words that a status shows.
const maxStatus = 120

// Preview shows the end of the text in the status under its thread. Slack's
// streams are not used for it: a stream is a message, and one that a crash leaves
// half written would stand beside the whole.
func (c *messageSender) Preview(ctx context.Context, p adapters.OutgoingMessage) error {
	thread := threadOf(p)
	words := []rune(strings.Join(strings.Fields(wordsIn(p.Text)), " "))
	if thread == "" || len(words) == 0 {
		return &adapters.Error{Kind: adapters.Invalid, Op: statusMethod, Err: errors.New("only threads show a status, and only of words")}
	}
	shown := string(words)
	if len(words) > maxStatus {
		shown = "…" + string(words[len(words)-maxStatus:])
	}
	return c.status(ctx, p.Chat, thread, "is writing: "+shown)
}

// Whole reports false: a status is a line.
func (c *messageSender) Whole(string) bool { return false }

// wordsIn returns the words of a part as Split returned it.
func wordsIn(part string) string {
	f := formOf(part, nil)
	if f.markdown != "" {
		return neutral(flat.Read(f.markdown).Words)
	}
	p := &page{}
	p.mrkdwn(f.text) // which names nobody
	return p.text.String()
}

// status sets the line under a thread.
func (c *messageSender) status(ctx context.Context, chat, thread, status string) error {
	_, err := c.call(ctx, statusMethod, func(ctx context.Context, api *slackgo.Client) error {
		return api.SetAssistantThreadsStatusContext(ctx, slackgo.AssistantThreadsSetStatusParameters{
			ChannelID: chat, ThreadTS: thread, Status: status,
		})
	})
	return err
}
