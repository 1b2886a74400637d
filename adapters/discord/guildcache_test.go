package discord

import (
	"strconv"
	"testing"

	"github.com/bwmarrin/discordgo"
)

// SECURITY S5: a server's chats stay known however many threads and direct chats
// there are: who loses sight of them is told chat by chat.
func TestManyThreadsPushNoChatOut(t *testing.T) {
	var d directory
	d.learnGuild(guild{ID: "1", Channels: elements[channel]{{ID: "2"}, {ID: "3", ParentID: "2", Type: discordgo.ChannelTypeGuildPrivateThread}}}, "9")
	for i := range maxChannels + 10 {
		d.learnChannel(channel{ID: strconv.Itoa(1000 + i), GuildID: "1", ParentID: "2", Type: discordgo.ChannelTypeGuildPublicThread})
	}
	if got := d.chatsOf("1"); len(got) != 2 || got[0].ID != "2" || got[1].ID != "3" {
		t.Errorf("the server's chats are %+v", got)
	}
	if n := len(d.channels); n > maxChannels {
		t.Errorf("%d channels are remembered", n)
	}
}
