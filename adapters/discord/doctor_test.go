package discord_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/discord"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Issues 3 and 5, ECOSYSTEM 3.3: each planted fault is found, with its mend.
func TestExaminationFindsThePlantedFault(t *testing.T) {
	for _, test := range []struct {
		name    string
		profile fakediscord.BotProfile
		plant   func(w *world, o *discord.Options) (chats []string)
		want    []string
	}{
		{"well", fakediscord.BotProfile{}, func(w *world, _ *discord.Options) []string {
			return []string{w.room.ID.String()}
		}, []string{
			" ok the token is ada's (1): ",
			" ok the privileged intents are on: ",
			" ok in #general the bot has every right: ",
		}},
		{"token shape", fakediscord.BotProfile{}, func(_ *world, o *discord.Options) []string {
			o.Token = "the client secret"
			return nil
		}, []string{
			"TRS-D01 fail this is no bot token: it has three parts with dots between: in the developer portal, page Bot, press Reset Token and set the new one; the client secret is not it",
		}},
		{"token refused", fakediscord.BotProfile{}, func(w *world, _ *discord.Options) []string {
			w.bot.Revoke()
			return nil
		}, []string{
			"TRS-D01 fail discord does not know this token: in the developer portal, page Bot, press Reset Token and set the new one; the client secret is not it",
		}},
		{"unreachable", fakediscord.BotProfile{}, func(_ *world, o *discord.Options) []string {
			o.APIURL = "http://nowhere.test"
			return nil
		}, []string{
			`TRS-D02 fail discord cannot be reached: get me: not_sent: Get "http://nowhere.test/api/v9/users/@me": dial pipe nowhere.test:80: connection refused: look at the network, at api_url, and at discordstatus.com`,
		}},
		{"no intent at all", fakediscord.BotProfile{NoContent: true, NoMembers: true}, nil, []string{
			" ok the token is ada's (1): ",
			"TRS-D03 warn no privileged intent is switched on, or discord did not say: in the developer portal, page Bot, switch on Message Content Intent; without it discord closes with 4014",
		}},
		{"no content", fakediscord.BotProfile{NoContent: true}, nil, []string{
			" ok the token is ada's (1): ",
			"TRS-D03 fail Message Content Intent is off, so discord closes the connection with 4014: in the developer portal, page Bot, switch on Message Content Intent",
		}},
		{"no members", fakediscord.BotProfile{NoMembers: true}, nil, []string{
			" ok the token is ada's (1): ",
			"TRS-D04 warn Server Members Intent is off: who is in a channel, comes or leaves stays unknown: in the developer portal, page Bot, switch on Server Members Intent, or leave it so",
		}},
		{"on no server", fakediscord.BotProfile{}, func(w *world, _ *discord.Options) []string {
			w.guild.Kicks(w.bot)
			return []string{w.room.ID.String()}
		}, []string{
			" ok the token is ada's (1): ",
			" ok the privileged intents are on: ",
			"TRS-D05 warn the bot is on no server: open https://discord.com/oauth2/authorize?client_id=1&scope=bot+applications.commands&permissions=309774896192 and choose one",
			"TRS-D06 fail chat 4 is not shown to the bot: get channel: forbidden: HTTP 403 50001 Missing Access: check the id (right click on the channel, Copy Channel ID) and let the bot see it: https://discord.com/oauth2/authorize?client_id=1&scope=bot+applications.commands&permissions=309774896192",
		}},
		{"a channel without rights, and one that is not there", fakediscord.BotProfile{}, func(w *world, _ *discord.Options) []string {
			mute := w.guild.NewChannel("mute", fakediscord.TextChannel)
			mute.Denies(1<<11 | 1<<29)
			poor := w.guild.NewChannel("poor", fakediscord.TextChannel)
			poor.Denies(1 << 29)
			return []string{mute.ID.String(), poor.ID.String(), "4711"}
		}, []string{
			" ok the token is ada's (1): ",
			" ok the privileged intents are on: ",
			"TRS-D07 fail in #mute the bot lacks: Send Messages, Manage Webhooks: give its role these rights in the channel's settings, page Permissions",
			"TRS-D07 warn in #poor the bot lacks: Manage Webhooks: give its role these rights in the channel's settings, page Permissions",
			"TRS-D06 fail chat 4711 is not shown to the bot: get channel: no_target: HTTP 404 10003 Unknown Channel: check the id (right click on the channel, Copy Channel ID) and let the bot see it: https://discord.com/oauth2/authorize?client_id=1&scope=bot+applications.commands&permissions=309774896192",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, fakediscord.Options{}, test.profile)
				o := discord.Options{Token: rigToken, APIURL: "http://discord.test", HTTPClient: w.http}
				var chats []string
				if test.plant != nil {
					chats = test.plant(w, &o)
				}
				c, err := discord.New(o)
				testutil.OK(t, err)
				var got []string
				for _, f := range c.Examine(t.Context(), chats, false) {
					got = append(got, fmt.Sprintf("%s %s %s: %s", f.Code, f.Level, f.What, f.Mend))
					if (f.Level == adapters.Fine) != (f.Mend == "") || strings.Contains(f.What+f.Mend, rigToken) {
						t.Errorf("finding %+v", f)
					}
				}
				testutil.Same(t, "findings", test.want, got)
			})
		})
	}
}
