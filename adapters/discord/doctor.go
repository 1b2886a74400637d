package discord

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.AccountDiagnoser = (*Client)(nil)

// needed are the rights that the adapter uses, with the names that Discord shows.
var needed = []struct {
	right permission
	name  string
	level adapters.DiagnosisSeverity
}{
	{viewChannel, "View Channels", adapters.Failure},
	{sendMessages, "Send Messages", adapters.Failure},
	{readHistory, "Read Message History", adapters.Failure},
	{sendInThreads, "Send Messages in Threads", adapters.Warning},
	{publicThreads, "Create Public Threads", adapters.Warning},
	{addReactions, "Add Reactions", adapters.Warning},
	{attachFiles, "Attach Files", adapters.Warning},
	{embedLinks, "Embed Links", adapters.Warning},
	{externalEmoji, "Use External Emoji", adapters.Warning},
	{manageWebhooks, "Manage Webhooks", adapters.Warning},
}

// Permissions is the number that an invitation has to carry for the bot to have
// every right it uses.
func Permissions() uint64 {
	var all permission
	for _, n := range needed {
		all |= n.right
	}
	return uint64(all)
}

// InviteLink returns the address by which a person who manages a server lets the
// application's bot in, with the rights it uses and its commands.
func InviteLink(application string) string {
	return fmt.Sprintf("https://discord.com/oauth2/authorize?client_id=%s&scope=bot+applications.commands&permissions=%d", application, Permissions())
}

// tokenShape is a bot's token: an id in base64, a time, and a signature.
var tokenShape = regexp.MustCompile(`^[A-Za-z0-9_-]{18,}\.[A-Za-z0-9_-]{5,7}\.[A-Za-z0-9_-]{25,}$`)

// Examine looks at the token, the intents and the rights in each chat.
func (c *Client) Examine(ctx context.Context, chats []string, _ bool) []adapters.AccountDiagnosis {
	account, err := c.Connect(ctx)
	if err != nil {
		return []adapters.AccountDiagnosis{c.unconnected(err)}
	}
	self, err := c.me(ctx)
	if err != nil {
		return []adapters.AccountDiagnosis{c.unconnected(err)}
	}
	found := []adapters.AccountDiagnosis{{Level: adapters.Fine, What: fmt.Sprintf("the token is %s's (%s)", account.Name, account.ID)}}
	found = append(found, c.examineIntents(self)...)
	servers, err := c.servers(ctx)
	if err == nil && len(servers) == 0 {
		found = append(found, adapters.AccountDiagnosis{
			Code: "TRS-D05", Level: adapters.Warning, What: "the bot is on no server",
			Mend: "open " + InviteLink(self.application) + " and choose one",
		})
	}
	known := map[string]channelPermissions{}
	for _, chat := range chats {
		found = append(found, c.examineChat(ctx, self, chat, known))
	}
	return found
}

// unconnected says why we could not even connect.
func (c *Client) unconnected(err error) adapters.AccountDiagnosis {
	if adapters.KindOf(err) != adapters.Unauthorized {
		return adapters.AccountDiagnosis{
			Code: "TRS-D02", Level: adapters.Failure, What: "discord cannot be reached: " + err.Error(),
			Mend: "look at the network, at api_url, and at discordstatus.com",
		}
	}
	what := "discord does not know this token"
	if !tokenShape.MatchString(string(c.token)) {
		what = "this is no bot token: it has three parts with dots between"
	}
	return adapters.AccountDiagnosis{
		Code: "TRS-D01", Level: adapters.Failure, What: what,
		Mend: "in the developer portal, page Bot, press Reset Token and set the new one; the client secret is not it",
	}
}

// examineIntents looks at what the application may be told.
func (c *Client) examineIntents(self account) []adapters.AccountDiagnosis {
	if self.flags == 0 {
		return []adapters.AccountDiagnosis{{
			Code: "TRS-D03", Level: adapters.Warning, What: "no privileged intent is switched on, or discord did not say",
			Mend: "in the developer portal, page Bot, switch on Message Content Intent; without it discord closes with 4014",
		}}
	}
	var found []adapters.AccountDiagnosis
	if self.flags&(flagContent|flagContentLimited) == 0 {
		found = append(found, adapters.AccountDiagnosis{
			Code: "TRS-D03", Level: adapters.Failure, What: "Message Content Intent is off, so discord closes the connection with 4014",
			Mend: "in the developer portal, page Bot, switch on Message Content Intent",
		})
	}
	if self.flags&(flagMembers|flagMembersLimited) == 0 {
		found = append(found, adapters.AccountDiagnosis{
			Code: "TRS-D04", Level: adapters.Warning, What: "Server Members Intent is off: who is in a channel, comes or leaves stays unknown",
			Mend: "in the developer portal, page Bot, switch on Server Members Intent, or leave it so",
		})
	}
	if len(found) == 0 {
		found = append(found, adapters.AccountDiagnosis{Level: adapters.Fine, What: "the privileged intents are on"})
	}
	return found
}

// channelPermissions is a server with ourselves on it.
type channelPermissions struct {
	guild guild
	me    member
	err   error
}

// examineChat looks at our rights in one chat.
func (c *Client) examineChat(ctx context.Context, self account, chat string, known map[string]channelPermissions) adapters.AccountDiagnosis {
	var ch channel
	if err := c.call(ctx, channelRoute("get channel", http.MethodGet, chat, ""), nil, &ch); err != nil {
		return adapters.AccountDiagnosis{
			Code: "TRS-D06", Level: adapters.Failure, What: "chat " + chat + " is not shown to the bot: " + err.Error(),
			Mend: "check the id (right click on the channel, Copy Channel ID) and let the bot see it: " + InviteLink(self.application),
		}
	}
	if ch.GuildID == "" {
		return adapters.AccountDiagnosis{Level: adapters.Fine, What: "chat " + chat + " is a direct chat"}
	}
	on, seen := known[ch.GuildID]
	if !seen {
		on.guild, on.me, on.err = c.standing(ctx, ch.GuildID)
		known[ch.GuildID] = on
	}
	if on.err != nil {
		return adapters.AccountDiagnosis{
			Code: "TRS-D06", Level: adapters.Failure, What: "the server of chat " + chat + " is not shown to the bot: " + on.err.Error(),
			Mend: "let the bot in again: " + InviteLink(self.application),
		}
	}
	level, missing := adapters.Fine, []string(nil)
	has := on.guild.rights(on.me, ch)
	for _, n := range needed {
		if has&n.right == 0 {
			missing = append(missing, n.name)
			if level != adapters.Failure {
				level = n.level
			}
		}
	}
	if len(missing) == 0 {
		return adapters.AccountDiagnosis{Level: adapters.Fine, What: "in #" + ch.Name + " the bot has every right"}
	}
	return adapters.AccountDiagnosis{
		Code: "TRS-D07", Level: level, What: "in #" + ch.Name + " the bot lacks: " + strings.Join(missing, ", "),
		Mend: "give its role these rights in the channel's settings, page Permissions",
	}
}
