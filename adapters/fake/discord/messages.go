package discord

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// postedMessage is a message as a bot sends it.
type postedMessage struct {
	Content *string  `json:"content"`
	Nonce   any      `json:"nonce"`
	Enforce bool     `json:"enforce_nonce"`
	Flags   int      `json:"flags"`
	Allowed *allowed `json:"allowed_mentions"`
	Target  *struct {
		Message SnowflakeID `json:"message_id"`
		Fail    *bool       `json:"fail_if_not_exists"`
	} `json:"message_reference"`
	Files []struct {
		Filename string   `json:"filename"`
		Seconds  *float64 `json:"duration_secs"`
		Waveform *string  `json:"waveform"`
	} `json:"attachments"`
	Username string         `json:"username"`
	Avatar   string         `json:"avatar_url"`
	Embeds   []any          `json:"embeds"`
	Rows     *[]wireRow     `json:"components"`
	Name     string         `json:"name"`        // of a thread that begins with it
	Thread   string         `json:"thread_name"` // the same, through a webhook
	Message  *postedMessage `json:"message"`
	Tags     []SnowflakeID  `json:"applied_tags"` // of that thread
}

// allowed says who may be notified.
type allowed struct {
	Parse   []string      `json:"parse"`
	Users   []SnowflakeID `json:"users"`
	Roles   []SnowflakeID `json:"roles"`
	Replied bool          `json:"replied_user"`
}

// most is the limit of a message.
const most = 2000

const suppressEmbeds = 1 << 2

// check refuses what Discord would.
func (p *postedMessage) check(files int) (answer, bool) {
	if p.Content == nil {
		p.Content = new("")
	}
	units := len(utf16.Encode([]rune(*p.Content)))
	nonce := ""
	switch n := p.Nonce.(type) {
	case string:
		nonce = n
	case float64:
		nonce = strconv.FormatFloat(n, 'f', 0, 64)
	}
	p.Nonce = nonce
	switch {
	case units > most:
		return badForm("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length."), true
	case strings.TrimSpace(*p.Content) == "" && files == 0 && len(p.Embeds) == 0:
		return refuse(http.StatusBadRequest, 50006, "Cannot send an empty message"), true
	case len(nonce) > 25:
		return badForm("nonce", "NONCE_TYPE_TOO_LONG", "Must be 25 or fewer in length."), true
	case files > 10:
		return badForm("attachments", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length."), true
	case p.Allowed != nil && slices.Contains(p.Allowed.Parse, "users") && len(p.Allowed.Users) > 0:
		return badForm("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "parse:[\"users\"] and users: [ids...] are mutually exclusive."), true
	}
	if a, refused := p.checkVoice(files); refused {
		return a, true
	}
	if p.Rows != nil {
		return checkRows(*p.Rows)
	}
	return answer{}, false
}

const voiceMessage = 1 << 13

// checkVoice refuses what Discord would of a voice message.
func (p *postedMessage) checkVoice(files int) (answer, bool) {
	switch {
	case p.Flags&voiceMessage == 0:
		return answer{}, false
	case *p.Content != "" || len(p.Embeds) > 0 || p.Rows != nil:
		return refuse(http.StatusBadRequest, 50159, "Voice messages do not support additional content"), true
	case files != 1 || len(p.Files) != 1:
		return refuse(http.StatusBadRequest, 50160, "Voice messages must have a single audio attachment"), true
	case p.Files[0].Seconds == nil || p.Files[0].Waveform == nil:
		return refuse(http.StatusBadRequest, 50161, "Voice messages must have supporting metadata"), true
	}
	return answer{}, false
}

// rows returns the buttons that a message is to have, given those it has.
func (p *postedMessage) rows(now []wireRow) []wireRow {
	if p.Rows == nil {
		return now
	}
	return *p.Rows
}

func (d restAPI) createMessage(c *call, ch *GuildChannel) answer {
	var p postedMessage
	if !c.into(&p) {
		return badForm("content", "BASE_TYPE_BAD_TYPE", "Could not interpret the message.")
	}
	if ch.wire.Type == Forum || ch.wire.Type == Category {
		return refuse(http.StatusBadRequest, 50008, "Cannot send messages in a non-text channel")
	}
	if ch.isThread() && ch.wire.Thread.Locked {
		return refuse(http.StatusBadRequest, 160005, "This thread is locked")
	}
	if len(c.files) > 0 && ch.guild != nil && rightsIn(ch, c.bot)&attaching != attaching {
		return noRight
	}
	if a, refused := p.check(len(c.files)); refused {
		return a
	}
	c.entry.Text, c.entry.Nonce = *p.Content, p.Nonce.(string)
	m := &message{by: c.bot, wire: wireMessage{Author: c.bot.user, Content: *p.Content, Flags: p.Flags, Nonce: p.Nonce.(string), Components: p.rows(nil)}}
	if p.Target != nil && ch.guild != nil && rightsIn(ch, c.bot)&reading != reading {
		return refuse(http.StatusForbidden, 160002, "Cannot reply without permission to read message history")
	}
	if p.Target != nil {
		answered := findMessage(ch, p.Target.Message)
		if answered != nil && !slices.Contains(answerable, answered.wire.Type) {
			return badForm("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message")
		}
		if answered != nil {
			m.wire.Type = reply
			m.wire.Reference = &wireReference{MessageID: p.Target.Message, ChannelID: ch.ID, GuildID: ch.wire.GuildID}
		} else if p.Target.Fail == nil || *p.Target.Fail {
			return badForm("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
		}
	}
	if earlier, same := c.bot.once(p, ch); same {
		c.entry.Message = earlier.wire.ID
		return ok(shownMessage(ch, earlier, c.bot, intentContent, false))
	}
	d.deliver(c, ch, m, &p)
	if p.Enforce {
		c.bot.nonces[m.wire.Nonce] = noncePost{m, time.Now().Add(nonceLife)}
	}
	return ok(shownMessage(ch, m, c.bot, intentContent, false))
}

// answerable are the types of messages that can be answered: what people and programs say.
var answerable = []int{0, reply, 20, 23}

// nonceLife is how long a nonce finds its message: "the past few minutes".
const nonceLife = 5 * time.Minute

// once returns the message that an earlier attempt with the same nonce made.
func (b *BotUser) once(p postedMessage, ch *GuildChannel) (*message, bool) {
	n, found := b.nonces[p.Nonce.(string)]
	same := found && p.Enforce && p.Nonce != "" && time.Now().Before(n.until) && n.message.wire.ChannelID == ch.ID
	return n.message, same
}

var link = regexp.MustCompile(`<?https?://[^\s<>]+>?`)

// deliver keeps a bot's message, tells of it, and notes whom it notifies and what
// Discord would fetch for it.
func (d restAPI) deliver(c *call, ch *GuildChannel, m *message, p *postedMessage) {
	for _, f := range c.files {
		m.wire.Attachments = append(m.wire.Attachments, d.keepFile(ch, f))
	}
	ch.add(m)
	c.entry.Message = m.wire.ID
	by := m.wire.Author.ID
	d.ledger.note(func(r *CallLog) {
		for _, address := range link.FindAllString(m.wire.Content, -1) {
			if m.wire.Flags&suppressEmbeds == 0 && !strings.HasPrefix(address, "<") {
				r.Unfurled = append(r.Unfurled, LinkPreview{At: time.Now(), Bot: by, Channel: ch.ID, URL: address})
			}
		}
		for _, who := range m.wire.Mentions {
			if p.Allowed.lets(who.ID, strings.Contains(m.wire.Content, who.ID.String())) {
				r.Called = append(r.Called, MentionNotice{Bot: by, Message: m.wire.ID, User: who.ID})
			}
		}
		if m.wire.MentionEveryone && (p.Allowed == nil || slices.Contains(p.Allowed.Parse, "everyone")) {
			r.Called = append(r.Called, MentionNotice{Bot: by, Message: m.wire.ID, Everyone: true})
		}
	})
}

// lets reports whether a person is notified who is named, or only answered.
func (a *allowed) lets(who SnowflakeID, named bool) bool {
	switch {
	case a == nil:
		return true
	case named:
		return slices.Contains(a.Parse, "users") || slices.Contains(a.Users, who)
	default:
		return a.Replied
	}
}

func (d restAPI) editMessage(c *call, ch *GuildChannel, m *message) answer {
	if m.by != c.bot || m.wire.WebhookID != 0 {
		return refuse(http.StatusForbidden, 50005, "Cannot edit a message authored by another user")
	}
	return d.edit(c, ch, m)
}

// edit replaces the words of a message.
func (d restAPI) edit(c *call, ch *GuildChannel, m *message) answer {
	if threadArchived(ch) {
		return archived
	}
	var p postedMessage
	if !c.into(&p) {
		return badForm("content", "BASE_TYPE_BAD_TYPE", "Could not interpret the message.")
	}
	if p.Content != nil {
		if a, refused := p.check(len(m.wire.Attachments)); refused {
			return a
		}
		c.entry.Text = *p.Content
		m.wire.Content = *p.Content
		ch.mention(&m.wire)
	}
	m.wire.Components = p.rows(m.wire.Components)
	m.wire.Flags, m.wire.EditedTimestamp = p.Flags, new(time.Now())
	c.entry.Message = m.wire.ID
	ch.tell("MESSAGE_UPDATE", m)
	return ok(shownMessage(ch, m, m.by, intentContent, false))
}

// manageMessages is the right to delete what others wrote.
const manageMessages = 1 << 13

func deleteMessage(c *call, ch *GuildChannel, m *message) answer {
	own := m.by == c.bot && m.wire.WebhookID == 0
	if !own && (ch.guild == nil || rightsIn(ch, c.bot)&manageMessages == 0) {
		return noRight
	}
	if threadArchived(ch) {
		return archived
	}
	c.entry.Message = m.wire.ID
	deleteMessageLocked(ch, []SnowflakeID{m.wire.ID})
	return done
}

// getMessages returns the messages around a place, the newest first. A caller without
// the right to read history gets an empty list, not an error
// (docs.discord.com/developers/resources/message#get-channel-messages).
func getMessages(c *call, ch *GuildChannel) answer {
	q := c.r.URL.Query()
	n := atMost(c, 50, 100)
	var all []*message
	hidden := ch.guild != nil && rightsIn(ch, c.bot)&reading != reading
	for _, m := range ch.messages {
		if !m.deleted && !hidden {
			all = append(all, m)
		}
	}
	switch {
	case q.Has("after"):
		after := parseID(q.Get("after"))
		all = slices.DeleteFunc(all, func(m *message) bool { return m.wire.ID <= after })
		all = all[:min(n, len(all))]
	case q.Has("before"):
		before := parseID(q.Get("before"))
		all = slices.DeleteFunc(all, func(m *message) bool { return m.wire.ID >= before })
		all = all[max(0, len(all)-n):]
	default:
		all = all[max(0, len(all)-n):]
	}
	list := []wireMessage{}
	for _, m := range slices.Backward(all) {
		list = append(list, shownMessage(ch, m, c.bot, intentContent, false))
	}
	return ok(list)
}

// emojiOf reads an emoji in a path: Unicode, or name:id.
func emojiOf(s string) (wireEmoji, bool) {
	name, id, custom := strings.Cut(s, ":")
	if !custom {
		return wireEmoji{Name: name}, name != "" && name[0] >= 0x80
	}
	n, err := strconv.ParseInt(id, 10, 64)
	return wireEmoji{ID: new(SnowflakeID(n)), Name: name}, err == nil
}

func (d restAPI) putReaction(c *call, ch *GuildChannel, m *message) answer {
	e, known := emojiOf(c.r.PathValue("emoji"))
	if !known || e.ID != nil && (ch.guild == nil || !slices.ContainsFunc(ch.guild.emojis, e.same)) {
		return refuse(http.StatusBadRequest, 10014, "Unknown Emoji")
	}
	if threadArchived(ch) {
		return archived
	}
	ch.react(m, reaction{c.bot.ID, e})
	return done
}

func (d restAPI) dropReaction(c *call, ch *GuildChannel, m *message) answer {
	if threadArchived(ch) {
		return archived
	}
	if e, known := emojiOf(c.r.PathValue("emoji")); known {
		ch.unreact(m, reaction{c.bot.ID, e})
	}
	return done
}

func (d restAPI) beginThread(c *call, ch *GuildChannel) answer {
	var p postedMessage
	if !c.into(&p) || p.Name == "" || len([]rune(p.Name)) > 100 {
		return badForm("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}
	if ch.wire.Type != Forum {
		return ok(openThreadOn(ch, c.bot.ID, 0, p.Name).wire)
	}
	if p.Message == nil {
		return badForm("message", "BASE_TYPE_REQUIRED", "This field is required")
	}
	if a, refused := p.Message.check(len(c.files)); refused {
		return a
	}
	if a, refused := untaggedForum(ch, p.Tags); refused {
		return a
	}
	th := openThreadOn(ch, c.bot.ID, 0, p.Name)
	th.wire.Applied = p.Tags
	m := &message{by: c.bot, wire: wireMessage{ID: th.ID, Author: c.bot.user, Content: *p.Message.Content, Flags: p.Message.Flags, Components: p.Message.rows(nil)}}
	c.entry.Text = m.wire.Content
	d.deliver(c, th, m, p.Message)
	w := th.wire
	w.Message = new(shownMessage(th, m, c.bot, intentContent, false))
	return ok(w)
}

// openOn opens a thread on a message, which has its id then.
func openOn(c *call, ch *GuildChannel, m *message) answer {
	var p postedMessage
	switch {
	case !c.into(&p) || p.Name == "" || len([]rune(p.Name)) > 100:
		return badForm("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	case ch.wire.Type != TextChannel && ch.wire.Type != Announcements:
		return refuse(http.StatusBadRequest, 50024, "Cannot execute action on this channel type")
	case ch.of.channels[m.wire.ID] != nil:
		return refuse(http.StatusBadRequest, 160004, "A thread has already been created for this message")
	}
	return ok(openThreadOn(ch, c.bot.ID, m.wire.ID, p.Name).wire)
}
