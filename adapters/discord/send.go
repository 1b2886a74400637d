package discord

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/markup"
)

var (
	_ adapters.MessageEditor  = (*Client)(nil)
	_ adapters.MessageDeleter = (*Client)(nil)
	_ adapters.TypingNotifier = (*Client)(nil)
)

// suppressEmbeds keeps Discord from fetching what a text links to: a fetch would send
// the URL's query to its host although no person clicked.
const suppressEmbeds = int(discordgo.MessageFlagsSuppressEmbeds)

// allowed says who is notified by a message. Its fields are always written:
// without them everybody is.
type allowed struct {
	Parse       []string `json:"parse"`
	Users       []string `json:"users"`
	RepliedUser bool     `json:"replied_user"`
}

// only returns the allowed mentions that notify those people alone.
func only(ids []string) allowed {
	const most = 100
	if ids == nil {
		ids = []string{}
	}
	return allowed{Parse: []string{}, Users: ids[:min(len(ids), most)]}
}

// outgoing is a message as we send it.
type outgoing struct {
	Content   string     `json:"content"`
	Nonce     string     `json:"nonce,omitempty"`
	Enforce   bool       `json:"enforce_nonce,omitempty"`
	Allowed   allowed    `json:"allowed_mentions"`
	Flags     int        `json:"flags"`
	Reference *reference `json:"message_reference,omitempty"`
	// Attachments tell of files what is not in them; empty: nothing.
	Attachments []voiceAttachment `json:"attachments,omitempty"`
	// Components are the buttons below it.
	Components []discordgo.ActionsRow `json:"components,omitempty"`
}

type reference struct {
	Message string `json:"message_id"`
	Fail    bool   `json:"fail_if_not_exists"`
}

// sentMessage is what we need of the message Discord returns.
type sentMessage struct {
	ID        string    `json:"id"`
	Timestamp time.Time `json:"timestamp"`
}

// UnmarshalJSON reads the message and fails when it has no id: without one there
// is no receipt.
func (m *sentMessage) UnmarshalJSON(raw []byte) error {
	type plain sentMessage
	if err := json.Unmarshal(raw, (*plain)(m)); err != nil {
		return err
	}
	if flake(m.ID) == 0 {
		return errors.New("the answer holds no message id")
	}
	return nil
}

func (m sentMessage) receipt() adapters.Receipt {
	at := m.Timestamp.UTC()
	if m.Timestamp.IsZero() {
		at = flake(m.ID).time()
	}
	return adapters.Receipt{Message: m.ID, At: at}
}

// Send posts one part. With a Key a second attempt within some minutes is no
// second message: Discord returns the first. Under a Face it goes through a
// webhook, where Discord has no such key. In a forum a message outside its threads
// begins one.
func (c *messageSender) Send(ctx context.Context, p adapters.OutgoingMessage) (adapters.Receipt, error) {
	to, err := target(p.Chat, p.Thread)
	if err != nil {
		return adapters.Receipt{}, err
	}
	ch, err := c.lookUp(ctx, to)
	if err != nil {
		return adapters.Receipt{}, notSent(err)
	}
	if c.masked(ch, p.Face) {
		return c.sendAs(ctx, p, ch)
	}
	return c.sendOwn(ctx, p, ch)
}

// sendOwn sends p as the bot that we are.
func (c *messageSender) sendOwn(ctx context.Context, p adapters.OutgoingMessage, ch channel) (adapters.Receipt, error) {
	p.Text = cmp.Or(p.Unmasked, p.Text)
	out := c.outgoing(p, ch.ID)
	if isForum(ch.Type) {
		return c.begin(ctx, ch, p, out)
	}
	if out.Nonce = nonce(p.Key); out.Nonce != "" {
		out.Enforce = true
	}
	if flake(p.ReplyTo) != 0 && p.ReplyTo != p.Thread { // what a thread hangs on is no message in it
		out.Reference = &reference{Message: p.ReplyTo}
	}
	var sent sentMessage
	r := channelRoute("create message", http.MethodPost, ch.ID, "/messages")
	err := c.post(ctx, r, out.spoken(p.Files), p.Files, &sent)
	if len(p.Files) > 0 && p.Files[0].Spoken > 0 && adapters.KindOf(err).Permanent() { // it is a file then
		err = c.post(ctx, r, out, p.Files, &sent)
	}
	if out.Reference != nil && unanswerable(err) {
		out.Reference = nil
		err = c.post(ctx, r, out, p.Files, &sent)
	}
	if err != nil {
		return adapters.Receipt{}, err
	}
	c.receipted.note(sent.ID, p.Key)
	return sent.receipt(), nil
}

// unanswerable reports whether Discord refuses a message only for what it answers: what
// is answered is one of its own notices, or we may not read what was said.
func unanswerable(err error) bool {
	return refusedWith(err, unreadHistory) || refusedWith(err, invalidForm) && strings.Contains(err.Error(), "message_reference")
}

// target returns the channel that is meant: a thread is one.
func target(chat, thread string) (string, error) {
	id := cmp.Or(thread, chat)
	if flake(id) == 0 {
		return "", &adapters.Error{Kind: adapters.Invalid, Op: "create message", Err: fmt.Errorf("%q is no channel of discord's", id)}
	}
	return id, nil
}

// outgoing returns what every way of sending p has in common.
func (c *messageSender) outgoing(p adapters.OutgoingMessage, to string) outgoing {
	ch, _ := c.known.channel(to)
	content, called := c.called(p, ch.GuildID)
	return outgoing{Content: content, Allowed: only(called), Flags: suppressEmbeds, Components: rows(p.Choices)}
}

// nonce returns what tells Discord that two attempts are one message: at most 25
// characters, a digest of key.
func nonce(key string) string {
	if key == "" {
		return ""
	}
	h := fnv.New128a()
	_, _ = h.Write([]byte(key)) // a hash never fails
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// begin opens a thread of a forum with p as its first message.
func (c *messageSender) begin(ctx context.Context, forum channel, p adapters.OutgoingMessage, out outgoing) (adapters.Receipt, error) {
	body := struct {
		Name    string   `json:"name"`
		Message outgoing `json:"message"`
		Tags    []string `json:"applied_tags,omitempty"`
	}{title(p.Text), out, forum.tags(p.Text)}
	var made struct {
		Message sentMessage `json:"message"`
	}
	if err := c.post(ctx, channelRoute("begin thread", http.MethodPost, forum.ID, "/threads"), body, p.Files, &made); err != nil {
		return adapters.Receipt{}, err
	}
	return made.Message.receipt(), nil
}

// tagNeeded is the flag of a forum whose threads need a tag.
const tagNeeded = 1 << 4

// tags returns what tag a thread of a forum gets that needs one: the first that its
// words name, or else the first that anybody may give.
func (ch channel) tags(text string) []string {
	if ch.Flags&tagNeeded == 0 {
		return nil
	}
	var first []string
	for _, t := range ch.Tags {
		switch {
		case t.Moderated:
		case t.Name != "" && strings.Contains(strings.ToLower(text), strings.ToLower(t.Name)):
			return []string{t.ID}
		case first == nil:
			first = []string{t.ID}
		}
	}
	return first
}

// title returns a thread's name from the first message in it.
func title(part string) string {
	words, _ := readMarkdown(part, mentionNames{})
	line, _, _ := strings.Cut(strings.TrimSpace(words), "\n")
	const most = 90
	if runes := []rune(line); len(runes) > most {
		line = string(runes[:most]) + "…"
	}
	if markup.Blank(line) {
		return "…"
	}
	return line
}

// Edit replaces the words of message m by text, one part as Split returned it.
// It notifies no one.
func (c *messageSender) Edit(ctx context.Context, m adapters.MessageRef, text string) error {
	return c.EditAs(ctx, m, text, text)
}

// edit edits a message that we sent ourselves.
func (c *messageSender) edit(ctx context.Context, to string, m adapters.MessageRef, e edited) error {
	return c.call(ctx, channelRoute("edit message", http.MethodPatch, to, "/messages/"+url.PathEscape(m.Message)), e, nil)
}

// edited is what an edit sets. Without buttons it takes those of the message away.
type edited struct {
	Content    string                 `json:"content"`
	Allowed    allowed                `json:"allowed_mentions"`
	Flags      int                    `json:"flags"`
	Components []discordgo.ActionsRow `json:"components"`
}

func editedTo(text string, choices []adapters.ChoiceButton) edited {
	return edited{text, only(nil), suppressEmbeds, append([]discordgo.ActionsRow{}, rows(choices)...)}
}

// notOurs is the code for a message by another, such as a webhook of ours.
const notOurs = 50005

// Delete deletes message m. One that is gone already is success.
func (c *messageSender) Delete(ctx context.Context, m adapters.MessageRef) error {
	c.deleted.add(m.Message) // what we do ourselves is no news
	err := c.inChannelOf(ctx, m, func(to string) error {
		r := channelRoute("delete message", http.MethodDelete, to, "/messages/"+url.PathEscape(m.Message))
		err := c.call(ctx, r, nil, nil)
		if err != nil && adapters.KindOf(err) == adapters.Forbidden {
			return c.deleteAs(ctx, to, m, err)
		}
		return err
	})
	if refusedWith(err, unknownMessage) {
		return nil
	}
	return err
}

// Typing shows for ten seconds, or until the next message, that we write.
func (c *messageSender) Typing(ctx context.Context, at adapters.MessageRef) error {
	to, err := target(at.Chat, at.Thread)
	if err != nil {
		return err
	}
	return c.call(ctx, channelRoute("type", http.MethodPost, to, "/typing"), nil, nil)
}
