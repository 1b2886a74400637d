package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/markup"
)

var _ adapters.ChoiceOfferer = (*Client)(nil)

// choiceAction begins the action_id of our buttons; their place follows.
const choiceAction = "choice:"

// maxSection is how many characters a section block holds
// (docs.slack.dev/reference/block-kit/blocks/section-block).
const maxSection = 3000

// withButtons returns f with buttons below its words. They are shown to everyone: who may
// press one depends on roles, which are looked up at the press.
func (f form) withButtons(choices []adapters.ChoiceButton) form {
	if len(choices) == 0 {
		return f
	}
	row := slackgo.NewActionBlock("")
	for i, c := range choices {
		label := slackgo.NewTextBlockObject(slackgo.PlainTextType, c.Label, false, false)
		row.Elements.ElementSet = append(row.Elements.ElementSet, slackgo.NewButtonBlockElement(choiceAction+strconv.Itoa(i), c.Value, label))
	}
	f.buttons = encodeBlock(row)
	return f
}

// withRow returns the JSON of blocks that hold the words and, below them, the buttons.
// Sections are cut where Slack ends them.
func (f form) withRow() string {
	var blocks []json.RawMessage
	switch {
	case f.markdown != "":
		blocks = append(blocks, json.RawMessage(encodeBlock(slackgo.NewMarkdownBlock("", f.markdown))))
	case f.blocks != "":
		_ = json.Unmarshal([]byte(f.blocks), &blocks) // they are ours
	default:
		for words := range slices.Chunk([]rune(f.text), maxSection) {
			text := slackgo.NewTextBlockObject(slackgo.MarkdownType, string(words), false, true)
			blocks = append(blocks, json.RawMessage(encodeBlock(slackgo.NewSectionBlock(text, nil, nil))))
		}
	}
	return encodeBlock(append(blocks, json.RawMessage(f.buttons)))
}

// encodeBlock returns a block, or a list of blocks, as JSON.
func encodeBlock(block any) string {
	out, err := json.Marshal(block)
	if err != nil {
		panic("slack: a block does not encode: " + err.Error()) // it is made of strings
	}
	return string(out)
}

// A pressed is a payload of block_actions: a person pressed a button below a message
// (docs.slack.dev/reference/interaction-payloads/block_actions-payload).
type pressed struct {
	Type string `json:"type"`
	User user   `json:"user"`
	Team struct {
		ID string `json:"id"`
	} `json:"team"`
	Channel   channel `json:"channel"`
	Container struct {
		TS     string `json:"message_ts"`
		Thread string `json:"thread_ts"`
	} `json:"container"`
	Message struct {
		Thread string `json:"thread_ts"`
		Team   string `json:"team"`
		Bot    string `json:"bot_id"`
	} `json:"message"`
	Actions []struct {
		Action string `json:"action_id"`
		Value  string `json:"value"`
		At     string `json:"action_ts"`
	} `json:"actions"`
}

// press reads a press of one of our buttons. What else people do with blocks, such as
// with those of another workspace where the app is, tells nothing.
func (r reader) press(ctx context.Context, d *delivery) []adapters.Update {
	var p pressed
	if err := json.Unmarshal(d.payload, &p); err != nil {
		return []adapters.Update{r.unreadable(d, d.kind, err.Error(), nil)}
	}
	if p.Type != "block_actions" || len(p.Actions) != 1 || !strings.HasPrefix(p.Actions[0].Action, choiceAction) {
		return nil
	}
	if !slices.Contains([]string{p.Team.ID, p.User.Team, p.Message.Team}, r.self.Team) || p.Message.Bot != "" && p.Message.Bot != r.self.Bot {
		r.c.log.Warn("press in another workspace left aside", "update", d.id, "team", p.Team.ID)
		return nil
	}
	on, picked := p.Container, p.Actions[0]
	if p.Channel.ID == "" || on.TS == "" || p.User.ID == "" {
		return []adapters.Update{r.unreadable(d, d.kind, "it does not say who pressed below which message", nil)}
	}
	u := adapters.Update{
		ID: d.id, Key: eventKey("press", p.Channel.ID, on.TS, p.User.ID, picked.At),
		Chat: r.c.names.chat(ctx, p.Channel.ID, "", r.self.Team), From: r.who(ctx, p.User.ID, p.User.Team), At: timeOf(picked.At),
	}
	for _, thread := range []string{on.Thread, p.Message.Thread} {
		if thread != "" && thread != on.TS {
			u.Thread = adapters.Thread{ID: thread}
		}
	}
	u.Body = adapters.ChoicePicked{Message: on.TS, Value: picked.Value, Press: strings.Join([]string{p.Channel.ID, u.Thread.ID, p.User.ID}, "/")}
	return []adapters.Update{u}
}

// AnswerPress shows text to the person who pressed, in the thread of the message. Slack
// takes the press for done by its acknowledgement, so that an empty text calls nobody.
// The answer goes to Slack's Web API and not to the address that comes with a press: that
// one needs no token, and must not be stored.
func (c *messageSender) AnswerPress(ctx context.Context, press, text string) error {
	const method = "chat.postEphemeral"
	where := strings.Split(press, "/")
	if len(where) != 3 || where[0] == "" || where[2] == "" {
		return &adapters.Error{Kind: adapters.Invalid, Op: method, Err: fmt.Errorf("%q names no press", press)}
	}
	if text == "" {
		return nil
	}
	words := neutral(text)
	f := form{text: escapeMrkdwn(words), blocks: writeBlocks(&markup.StyledText{Words: words}, 0, len(words))}
	_, err := c.call(ctx, method, func(ctx context.Context, api *slackgo.Client) error {
		_, err := api.PostEphemeralContext(ctx, where[0], where[2], c.fields(method, func(v url.Values) {
			f.set(v)
			if where[1] != "" {
				v.Set("thread_ts", where[1])
			}
		}))
		return err
	})
	return err
}
