package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/mentions"
)

var (
	_ adapters.MessageEditor  = (*Client)(nil)
	_ adapters.MessageDeleter = (*Client)(nil)

	_ adapters.ThreadBroadcaster = (*Client)(nil)
)

// metadataType names the metadata of our messages. Everybody in the workspace can
// read it, so that it holds an opaque id and nothing else.
const metadataType = "trestle_delivery"

// form is one part in Slack's words.
type form struct {
	text     string // mrkdwn; with blocks what notifications show
	markdown string
	blocks   string // JSON
	buttons  string // JSON of the block with them, below the words; empty: none
}

// formOf reads a part as Split returned it and calls the people in it.
func formOf(part string, people []adapters.Person) form {
	names := &caller{mentions.Of(people, written), maxMentions}
	if md, ok := strings.CutPrefix(part, markdownSign); ok {
		return form{markdown: names.inText(md)}
	}
	if blocks, ok := strings.CutPrefix(part, blocksSign); ok {
		return form{blocks: names.inBlocks(blocks), text: escapeMrkdwn(wordsOf(blocks))}
	}
	return form{text: names.inText(part)}
}

// asMrkdwn returns the part as mrkdwn and without buttons, for a server that does not take
// its form.
func (f form) asMrkdwn() form {
	if f.markdown == "" {
		return form{text: f.text}
	}
	t := flat.Read(f.markdown)
	return form{text: t.Write(0, len(t.Words), mrkdwnWriter{})}
}

// wordsOf returns the words of blocks that we wrote.
func wordsOf(blocks string) string {
	var list []richText
	_ = json.Unmarshal([]byte(blocks), &list) // they are ours
	var parts []string
	for _, b := range list {
		for _, part := range b.Elements {
			var words strings.Builder
			for _, run := range part.Elements {
				words.WriteString(run.Text)
			}
			parts = append(parts, words.String())
		}
	}
	return neutral(strings.Join(parts, "\n"))
}

// set puts the part into the fields of a call.
func (f form) set(v url.Values) {
	switch {
	case f.buttons != "":
		v.Set("blocks", f.withRow())
		v.Set("text", f.asMrkdwn().text)
	case f.markdown != "":
		v.Set("markdown_text", f.markdown) // beside it Slack takes neither text nor blocks
	case f.blocks != "":
		v.Set("blocks", f.blocks)
		v.Set("text", f.text)
	default:
		v.Set("text", f.text)
	}
}

// Send posts one part. Slack's refusal of a form, or of the message answered, is a
// definite no, so the part is then sent once more without it; nothing else is ever
// repeated. An answer goes into the thread of the message answered. Where the app is
// not a member, a slash command can be answered to the person who gave it: that makes
// no message, and the receipt names none.
func (c *messageSender) Send(ctx context.Context, p adapters.OutgoingMessage) (adapters.Receipt, error) {
	files, err := c.upload(ctx, p.Files)
	if err != nil {
		return adapters.Receipt{}, err
	}
	p = c.masked(p)
	f, thread := formOf(p.Text, p.Mentions).withButtons(p.Choices), threadOf(p)
	receipt, err := c.post(ctx, p, f, thread)
	if p.Thread == "" && thread != "" && refusedFor(err, unthreadable...) {
		thread = ""
		receipt, err = c.post(ctx, p, f, thread)
	}
	if p.Face != (adapters.AgentPersona{}) && refusedFor(err, "missing_scope") {
		c.faceless.Store(true)
		p = c.masked(p)
		f = formOf(p.Text, p.Mentions).withButtons(p.Choices)
		receipt, err = c.post(ctx, p, f, thread)
	}
	if f != f.asMrkdwn() && refusedFor(err, formless...) {
		c.log.Warn("form refused, sending mrkdwn", "op", "chat.postMessage", "error", err)
		f = f.asMrkdwn()
		receipt, err = c.post(ctx, p, f, thread)
	}
	if refusedFor(err, "not_in_channel", "channel_not_found") && c.answerCommand(ctx, p.Chat, f) {
		return adapters.Receipt{At: time.Now().UTC()}, nil
	}
	if shut := refusedFor(err, "messages_tab_disabled"); shut || err == nil && strings.HasPrefix(p.Chat, "D") {
		c.closed.Store(shut)
	}
	if err == nil && len(files) > 0 {
		err = c.attach(ctx, adapters.MessageRef{Chat: p.Chat, Message: receipt.Message}, f, files)
	}
	return receipt, err
}

// formless are the refusals of a part's form.
var formless = []string{
	"no_text", "invalid_blocks", "invalid_blocks_format", "invalid_arguments", "invalid_arg_name", "markdown_text_conflict",
	"msg_blocks_too_long",
}

// unthreadable are the refusals of an answer that are about the thread it would begin.
var unthreadable = []string{
	"thread_not_found", "invalid_thread_ts", "cannot_reply_to_message", "message_not_found",
	"restricted_action_non_threadable_channel", "restricted_action_thread_locked",
}

// Broadcasts reports true: every channel and direct chat shows a thread's answer
// that was sent to it as well (docs.slack.dev/reference/methods/chat.postMessage,
// reply_broadcast).
func (c *messageSender) Broadcasts(string) bool { return true }

// post makes the call of Send.
func (c *messageSender) post(ctx context.Context, p adapters.OutgoingMessage, f form, thread string) (adapters.Receipt, error) {
	const method = "chat.postMessage"
	raw, err := c.call(ctx, method, func(ctx context.Context, api *slackgo.Client) error {
		_, _, err := api.PostMessageContext(ctx, p.Chat, c.fields(method, func(v url.Values) {
			f.set(v)
			v.Set("unfurl_links", "false") // a fetch would carry out whatever the address holds
			v.Set("unfurl_media", "false")
			if p.Key != "" {
				v.Set("client_msg_id", p.Key)
				v.Set("metadata", metadata(p.Key))
			}
			if thread != "" {
				v.Set("thread_ts", thread)
				v.Set("reply_broadcast", strconv.FormatBool(p.Broadcast))
			}
			face(v, p.Face)
		}))
		return err
	})
	if err != nil {
		return adapters.Receipt{}, err
	}
	return receiptOf(method, raw)
}

// fields returns the library's option that sets the fields of a chat method: it
// has no options for some of them, and orders those it has.
func (c *apiClient) fields(method string, set func(url.Values)) slackgo.MsgOption {
	return slackgo.UnsafeMsgOptionEndpoint(c.base+"/api/"+method, set)
}

// metadata is what a message is found by again.
func metadata(key string) string {
	out, err := json.Marshal(map[string]any{"event_type": metadataType, "event_payload": map[string]string{"id": key}})
	if err != nil {
		panic("slack: a key does not marshal: " + err.Error())
	}
	return string(out)
}

// receiptOf reads which message was made. Without its ts there is no receipt.
func receiptOf(method string, raw []byte) (adapters.Receipt, error) {
	var made struct {
		TS string `json:"ts"`
	}
	if err := json.Unmarshal(raw, &made); err != nil || made.TS == "" {
		return adapters.Receipt{}, &adapters.Error{Kind: adapters.Unknown, Op: method, Err: errors.New("the answer holds no ts")}
	}
	return adapters.Receipt{Message: made.TS, At: timeOf(made.TS)}, nil
}

// Edit replaces the words of message m by text, one part as Split returned it.
func (c *messageSender) Edit(ctx context.Context, m adapters.MessageRef, text string) error {
	return c.updateWithFallback(ctx, m, formOf(text, nil), nil)
}

// EditChoices is Edit that gives the message these buttons.
func (c *messageSender) EditChoices(ctx context.Context, m adapters.MessageRef, text string, choices []adapters.ChoiceButton) error {
	return c.updateWithFallback(ctx, m, formOf(text, nil).withButtons(choices), nil)
}

// updateWithFallback gives a message words, and files if there are any: those are then all that it
// has. Slack leaves a message its files where none are named, but not its words.
func (c *messageSender) updateWithFallback(ctx context.Context, m adapters.MessageRef, f form, files []string) error {
	err := c.update(ctx, m, f, files)
	if f != f.asMrkdwn() && refusedFor(err, formless...) {
		err = c.update(ctx, m, f.asMrkdwn(), files)
	}
	return err
}

// maxUpdate is how long a text may be that an update brings
// (docs.slack.dev/reference/methods/chat.update, msg_too_long).
const maxUpdate = 4000

// update makes the call of revise. Slack keeps a message's blocks unless it is given
// others, so that a text without any needs the empty list.
func (c *messageSender) update(ctx context.Context, m adapters.MessageRef, f form, files []string) error {
	const method = "chat.update"
	_, err := c.call(ctx, method, func(ctx context.Context, api *slackgo.Client) error {
		_, _, _, err := api.UpdateMessageContext(ctx, m.Chat, m.Message, c.fields(method, func(v url.Values) {
			f.set(v)
			switch {
			case f.buttons == "" && f.markdown == "" && f.blocks == "":
				v.Set("blocks", "[]")
			case v.Get("blocks") != "" && utf8.RuneCountInString(v.Get("text")) > maxUpdate: // it shows in notifications alone
				v.Set("text", string([]rune(v.Get("text"))[:maxUpdate-1])+"…")
			}
			if len(files) > 0 {
				v.Set("file_ids", listOf(files))
			}
		}))
		return err
	})
	return err
}

// maxDeleted bounds how many of our deletions are remembered until they are told.
const maxDeleted = 1024

// Delete deletes message m. One that is gone already is success.
func (c *messageSender) Delete(ctx context.Context, m adapters.MessageRef) error {
	c.mu.Lock()
	if len(c.deleted) >= maxDeleted {
		clear(c.deleted)
	}
	c.deleted[m.Chat+"/"+m.Message] = struct{}{}
	c.mu.Unlock()
	_, err := c.call(ctx, "chat.delete", func(ctx context.Context, api *slackgo.Client) error {
		_, _, err := api.DeleteMessageContext(ctx, m.Chat, m.Message)
		return err
	})
	if refusedFor(err, "message_not_found") {
		return nil
	}
	if e, ok := errors.AsType[*adapters.Error](err); ok && e.Kind != adapters.Unknown { // who deletes it later is not us
		c.mu.Lock()
		delete(c.deleted, m.Chat+"/"+m.Message)
		c.mu.Unlock()
	}
	return err
}

// deletedByUs reports whether we asked for the end of that message.
func (c *messageSender) deletedByUs(chat, ts string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ours := c.deleted[chat+"/"+ts]
	return ours
}

var _ adapters.ThreadOpener = (*Client)(nil)

// Thread returns the thread on message m: its own name. There is nothing to open,
// and threads have no titles.
func (*Client) Thread(_ context.Context, m adapters.MessageRef, _ string) (string, error) {
	return m.Message, nil
}

// threadOf returns the thread that a post goes into: an answer's is named after its
// first message, and never after another answer
// (docs.slack.dev/reference/methods/chat.postMessage, thread_ts).
func threadOf(p adapters.OutgoingMessage) string { return cmp.Or(p.Thread, p.Start, p.ReplyTo) }
