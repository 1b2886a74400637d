package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
)

var (
	_ adapters.TypingNotifier = (*Client)(nil)
	_ adapters.DraftShower    = (*Client)(nil)
	_ adapters.Stopper        = (*Client)(nil)
	_ adapters.StatusShower   = (*Client)(nil)
)

// ShowRun sets the status of the agent session of a thread, below which Slack shows a Stop
// while it is processing (docs.slack.dev/ai/agent-sessions). The session of a message outside
// threads is that of the thread that hangs on it. A session that begins gets the title. An app
// that is no agent has no sessions: there the status of [messageSender.Typing] is shown while
// the run is processing.
func (c *messageSender) ShowRun(ctx context.Context, s adapters.RunStatus) (adapters.StopControl, error) {
	if c.agent.refused.Load() {
		if s.State == adapters.RunProcessing { // Typing shows it, again and again
			return adapters.StopLine, nil
		}
		return adapters.StopLine, c.status(ctx, s.Chat, cmp.Or(s.Thread, s.Message), "")
	}
	warnings, err := c.setSession(ctx, slackgo.AgentSessionSetStatusParameters{Status: string(s.State), ChannelID: s.Chat, ThreadTS: cmp.Or(s.Thread, s.Message), Title: s.Title})
	if refusedFor(err, noSession...) {
		c.agent.refused.Store(true)
		return adapters.StopLine, c.Typing(ctx, adapters.MessageRef{Chat: s.Chat, Thread: s.Thread, Message: s.Message})
	}
	if err != nil {
		return adapters.StopLine, err
	}
	c.agent.accepted.Store(true)
	c.agent.stopless.Store(slices.Contains(warnings, "missing_agent_session_stopped_event_subscription"))
	if c.agent.stopless.Load() { // Slack shows a sign that cannot be pressed
		return adapters.StopLine, nil
	}
	return adapters.StopNative, nil
}

// ShowsStatus reports whether a status stands below the messages that are worked on: it does
// unless Slack has refused the last one.
func (c *messageSender) ShowsStatus(string) bool { return !c.agent.statusless.Load() }

// setSession sets the status of a session and returns the warnings of the answer.
func (c *messageSender) setSession(ctx context.Context, p slackgo.AgentSessionSetStatusParameters) ([]string, error) {
	raw, err := c.call(ctx, sessionMethod, func(ctx context.Context, api *slackgo.Client) error {
		_, err := api.SetAgentSessionStatusContext(ctx, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	var said struct {
		Warning  string `json:"warning"`
		Metadata struct {
			Warnings []string `json:"warnings"`
		} `json:"response_metadata"`
	}
	_ = json.Unmarshal(raw, &said) // it was read before
	return append(strings.Split(said.Warning, ","), said.Metadata.Warnings...), nil
}

const statusMethod = "assistant.threads.setStatus"

// Typing shows a status under the thread, or under the message that is being answered where
// there is none, for two minutes or until we write below it. It does nothing without either,
// and until [messageSender.ShowRun] has found that the app is no agent: an agent has its
// session for that.
func (c *messageSender) Typing(ctx context.Context, at adapters.MessageRef) error {
	below := cmp.Or(at.Thread, at.Message)
	if below == "" || !c.agent.refused.Load() {
		return nil
	}
	return c.status(ctx, at.Chat, below, "is writing…")
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

// Stoppable reports false: a Stop belongs to the session, not to a status.
func (c *messageSender) Stoppable() bool { return false }

// wordsIn returns the words of a part as Split returned it.
func wordsIn(part string) string {
	f := formOf(part, nil)
	if f.markdown != "" {
		return neutral(flat.Read(f.markdown).Words)
	}
	p := &page{}
	p.mrkdwn(f.text) // which has no mentions
	return p.text.String()
}

// status sets the line under a thread.
func (c *messageSender) status(ctx context.Context, chat, thread, status string) error {
	_, err := c.call(ctx, statusMethod, func(ctx context.Context, api *slackgo.Client) error {
		return api.SetAssistantThreadsStatusContext(ctx, slackgo.AssistantThreadsSetStatusParameters{
			ChannelID: chat, ThreadTS: thread, Status: status,
		})
	})
	if err == nil || adapters.KindOf(err).Permanent() {
		c.agent.statusless.Store(err != nil)
	}
	return err
}
