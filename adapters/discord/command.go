package discord

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
)

// typed is a command written as words, perhaps after our name.
var typed = regexp.MustCompile(`^\s*(?:<@!?(\d+)>[\s,:]*)?/([A-Za-z0-9_-]{1,32})(?:\s+(?s:(.*)))?$`)

// address sets what m has to do with us: its command, if it has one, and whether
// it is meant for us.
func (c *messageReader) address(self account, m *message, out *adapters.Message) {
	if m.Content != nil {
		if found := typed.FindStringSubmatch(*m.Content); found != nil && (found[1] == "" || found[1] == self.ID) {
			words, _ := readMarkdown(found[3], c.namesFor(m))
			out.Command = &adapters.Command{Name: strings.ToLower(found[2]), Args: strings.TrimSpace(words)}
		}
	}
	answers := out.ReplyTo != "" && m.Referenced != nil && c.isOurs(self, m.Referenced)
	if answers && (m.Content == nil || !calls(*m.Content, self.ID)) {
		// Discord counts whoever is answered among those who are named.
		out.Mentions = slices.DeleteFunc(out.Mentions, func(p adapters.Person) bool { return p.ID == self.ID })
	}
	for _, p := range out.Mentions {
		out.ToUs = out.ToUs || p.ID == self.ID
	}
	switch {
	case m.GuildID == "":
		ch, known := c.known.channel(m.ChannelID)
		out.ToUs = out.ToUs || !known || ch.Type == discordgo.ChannelTypeDM
	case c.known.mine(m.GuildID, m.MentionRoles):
		out.ToUs = true
	case answers:
		out.ByReply = !out.ToUs
		out.ToUs = true
	}
}

// calls reports whether content names somebody.
func calls(content, id string) bool {
	return strings.Contains(content, "<@"+id+">") || strings.Contains(content, "<@!"+id+">")
}
