package discord

import (
	"net/http"
	"time"
)

// wireRow is a row of buttons below a message.
type wireRow struct {
	Type    int          `json:"type"`
	Buttons []wireButton `json:"components"`
}

// wireButton is a button.
type wireButton struct {
	Type     int    `json:"type"`
	Style    int    `json:"style"`
	Label    string `json:"label"`
	CustomID string `json:"custom_id"`
}

// checkRows refuses buttons that Discord would not take.
func checkRows(rows []wireRow) (answer, bool) {
	known := map[string]bool{}
	for _, row := range rows {
		if row.Type != 1 || len(row.Buttons) == 0 || len(row.Buttons) > 5 || len(rows) > 5 {
			return badForm("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length."), true
		}
		for _, b := range row.Buttons {
			switch {
			case b.Type != 2 || b.Style < 1 || b.Style > 4:
				return badForm("components", "BASE_TYPE_CHOICES", "Value must be one of {2}."), true
			case b.Label == "" || len([]rune(b.Label)) > 80 || b.CustomID == "" || len([]rune(b.CustomID)) > 100:
				return badForm("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length."), true
			case known[b.CustomID]:
				return badForm("components", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated"), true
			}
			known[b.CustomID] = true
		}
	}
	return answer{}, false
}

// buttons returns the buttons below a message.
func (m *message) buttons() []wireButton {
	var all []wireButton
	for _, row := range m.wire.Components {
		all = append(all, row.Buttons...)
	}
	return all
}

// A ButtonPress is a press of a button and what came of it.
type ButtonPress struct {
	Who      SnowflakeID
	Message  SnowflakeID
	CustomID string
	Reply    int      // the kind of the first answer; 0: none in time, and the person sees that it failed
	Told     []string // what the person was told alone
}

// Presses has a person press the button with that label, or else one with that custom id,
// which a client may still show, below a message. The returned function tells the kind of
// the bot's first answer, 0 if there was none in time.
func (c *GuildChannel) Presses(p *HumanUser, b *BotUser, under SnowflakeID, button string) func() int {
	id := button
	c.of.mu.Lock()
	if m := findMessage(c, under); m != nil {
		for _, one := range m.buttons() {
			if one.Label == button {
				id = one.CustomID
			}
		}
	}
	c.of.mu.Unlock()
	return c.interact(p, b, 3, pressedData{id, 2}, under)
}

// pressedData is what an interaction says of a pressed button.
type pressedData struct {
	CustomID  string `json:"custom_id"`
	Component int    `json:"component_type"`
}

// PressedButtons returns the presses of buttons in the channel, oldest first.
func (c *GuildChannel) PressedButtons() []ButtonPress {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	var all []ButtonPress
	for _, i := range c.presses {
		one := i.press
		one.Reply = i.reply
		if i.said != "" {
			one.Told = append(one.Told, i.said)
		}
		one.Told = append(one.Told, i.followed...)
		all = append(all, one)
	}
	return all
}

// FollowUpsIn returns what followed slash commands in a channel for the person alone who gave
// them, by command, oldest first.
func FollowUpsIn(c *GuildChannel) (all []string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	for _, i := range c.commands {
		all = append(all, i.followed...)
	}
	return all
}

// tokenLife is how long an interaction can be followed up.
const tokenLife = 15 * time.Minute

// followUp takes what follows the first answer to an interaction, by the token that came
// with it in place of a webhook's.
func (d restAPI) followUp(c *call) answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	var i *interaction
	for _, one := range d.acts {
		if one.token == c.r.PathValue("token") && one.bot.ID == parseID(c.r.PathValue("webhook")) {
			i = one
		}
	}
	var p postedMessage
	switch {
	case i == nil || i.reply == 0:
		return noWebhook
	case time.Since(i.made) > tokenLife:
		return refuse(http.StatusUnauthorized, 50027, "Invalid Webhook Token")
	case !c.into(&p):
		return badForm("content", "BASE_TYPE_BAD_TYPE", "Could not interpret the message.")
	}
	if a, refused := p.check(0); refused {
		return a
	}
	const ephemeral = 1 << 6
	if p.Flags&ephemeral == 0 {
		return refuse(http.StatusBadRequest, 50035, "this fake takes follow-ups for one person alone")
	}
	c.entry.Text = *p.Content
	i.followed = append(i.followed, *p.Content)
	return ok(wireMessage{ID: d.id(), Content: *p.Content, Flags: p.Flags, Timestamp: time.Now()})
}
