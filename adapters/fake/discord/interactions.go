package discord

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// interaction is a slash command or a pressed button.
type interaction struct {
	made  time.Time
	bot   *BotUser
	token string
	reply int // the kind of the first answer; 0: none yet
	said  string

	press    ButtonPress // who pressed what
	followed []string    // what followed, for the person alone
}

// patience is how long Discord waits for the first answer.
const patience = 3 * time.Second

// Invokes has a person use a slash command of the bot's. The returned function
// tells the kind of the bot's first answer, 0 if there was none in time.
func (c *GuildChannel) Invokes(p *HumanUser, b *BotUser, command, text string) func() int {
	type option struct {
		Type  int    `json:"type"`
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	data := struct {
		ID      SnowflakeID `json:"id"`
		Name    string      `json:"name"`
		Type    int         `json:"type"`
		Options []option    `json:"options,omitempty"`
	}{ID: 1, Name: command, Type: 1}
	if text != "" {
		data.Options = []option{{3, "text", text}}
	}
	return c.interact(p, b, 2, data, 0)
}

func (c *GuildChannel) interact(p *HumanUser, b *BotUser, kind int, data any, under SnowflakeID) func() int {
	d := c.of
	i, told := c.interaction(p, b, kind, data, under)
	if b.profile.InteractionsURL != "" {
		i.answered(d, b.call(d.opts.Client, encode(told)))
	}
	return func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return i.reply
	}
}

// interaction begins one, and tells of it unless the bot is called.
func (c *GuildChannel) interaction(p *HumanUser, b *BotUser, kind int, data any, under SnowflakeID) (*interaction, any) {
	d := c.of
	d.mu.Lock()
	defer d.mu.Unlock()
	id := d.id()
	token := fmt.Sprintf("act-secret-%d", id)
	i := &interaction{made: time.Now(), bot: b, token: token}
	d.acts[id.String()+"/"+token] = i
	if pressed, ok := data.(pressedData); ok {
		i.press = ButtonPress{Who: p.ID, Message: under, CustomID: pressed.CustomID}
		c.presses = append(c.presses, i)
	} else {
		c.commands = append(c.commands, i)
	}
	told := struct {
		ID            SnowflakeID  `json:"id"`
		ApplicationID SnowflakeID  `json:"application_id"`
		Type          int          `json:"type"`
		Token         string       `json:"token"`
		Version       int          `json:"version"`
		GuildID       SnowflakeID  `json:"guild_id,omitzero"`
		ChannelID     SnowflakeID  `json:"channel_id"`
		Channel       wireChannel  `json:"channel"`
		Member        *wireMember  `json:"member,omitempty"`
		User          *wireUser    `json:"user,omitempty"`
		Message       *wireMessage `json:"message,omitempty"`
		Data          any          `json:"data"`
		Permissions   string       `json:"app_permissions"`
		Locale        string       `json:"locale"`
		Entitlements  []struct{}   `json:"entitlements"`
		Owners        struct{}     `json:"authorizing_integration_owners"`
		Limit         int          `json:"attachment_size_limit"`
	}{Permissions: "0", Locale: "en-US", Entitlements: []struct{}{}, Limit: 10 << 20, ID: id, ApplicationID: b.ID, Type: kind, Token: token, Version: 1, GuildID: c.wire.GuildID, ChannelID: c.ID, Channel: c.wire, Data: data}
	if c.guild != nil {
		told.Member = c.guild.members[p.ID]
	} else {
		told.User = &p.user
	}
	if m := findMessage(c, under); m != nil {
		told.Message = new(shownMessage(c, m, b, intentContent, false))
	}
	if b.profile.InteractionsURL == "" {
		dispatchEvent(d, b, "INTERACTION_CREATE", 0, told)
	}
	return i, told
}

type firstAnswer struct {
	Type int `json:"type"`
	Data struct {
		Content string `json:"content"`
	} `json:"data"`
}

// answered notes what a call was answered; nil is nothing.
func (i *interaction) answered(d *Server, raw []byte) {
	var said firstAnswer
	if json.Unmarshal(raw, &said) != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	i.reply, i.said = said.Type, said.Data.Content
}

// key is the one that the bot's calls are signed with. It is made of its id.
func (b *BotUser) key() ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("application " + b.ID.String()))
	return ed25519.NewKeyFromSeed(seed[:])
}

// Sign puts Discord's signature over a call to the bot into its header.
func (b *BotUser) Sign(h http.Header, body []byte, at time.Time) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	h.Set("X-Signature-Timestamp", stamp)
	h.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(b.key(), append([]byte(stamp), body...))))
}

// Pings calls the bot as Discord does when the address is set, and reports whether
// it answers as it should.
func (b *BotUser) Pings() bool {
	var said firstAnswer
	raw := b.call(b.of.opts.Client, []byte(`{"id":"1","type":1,"version":1}`))
	return json.Unmarshal(raw, &said) == nil && said.Type == 1
}

// call makes one signed call and returns what it was answered in time; nil is
// nothing.
func (b *BotUser) call(client *http.Client, body []byte) []byte {
	to, err := url.Parse(b.profile.InteractionsURL)
	if err != nil {
		return nil
	}
	h := http.Header{"Content-Type": {"application/json"}}
	b.Sign(h, body, time.Now())
	patient := *client
	patient.Timeout = patience
	resp, err := patient.Do(&http.Request{
		Method: http.MethodPost, URL: to, Header: h, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	})
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil
	}
	return raw
}

func (d restAPI) answerInteraction(c *call) answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := d.acts[c.r.PathValue("interaction")+"/"+c.r.PathValue("token")]
	var said firstAnswer
	switch {
	case i == nil || time.Since(i.made) > patience:
		return refuse(http.StatusNotFound, 10062, "Unknown interaction")
	case i.reply != 0:
		return refuse(http.StatusBadRequest, 40060, "Interaction has already been acknowledged.")
	case !c.into(&said) || said.Type == 0:
		return badForm("type", "BASE_TYPE_REQUIRED", "This field is required")
	case said.Type == 4 && said.Data.Content == "":
		return refuse(http.StatusBadRequest, 50006, "Cannot send an empty message")
	}
	i.reply, i.said = said.Type, said.Data.Content
	return done
}
