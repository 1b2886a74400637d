package discord_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// SEQ-98, R-23: threads, forums and direct chats are where they belong.
func TestPlacesOfMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		forum := w.guild.NewChannel("ideas", fakediscord.Forum)
		post, thread := forum.NewThread(w.kai, "Bread"), w.room.NewThread(w.kai, "Lunch")
		direct := w.bot.Direct(w.kai)
		for _, ch := range []*fakediscord.GuildChannel{w.room, thread, post, direct} {
			ch.Says(w.kai, "hello", fakediscord.PostOptions{})
		}
		type place struct{ Chat, Title, Thread, Name, Group, Kind string }
		var got []place
		for _, u := range w.inbox.take() {
			if _, ok := u.Body.(adapters.IncomingMessage); ok {
				got = append(got, place{u.Chat.ID, u.Chat.Title, u.Thread.ID, u.Thread.Title, u.Chat.Group, string(u.Chat.Kind)})
			}
		}
		guild := w.guild.ID.String()
		want := []place{
			{w.room.ID.String(), "general", "", "", guild, "channel"},
			{w.room.ID.String(), "general", thread.ID.String(), "Lunch", guild, "channel"},
			{forum.ID.String(), "ideas", post.ID.String(), "Bread", guild, "channel"},
			{direct.ID.String(), "Kai", "", "", "", "direct"},
		}
		testutil.Same(t, "what came", want, got)
	})
}

// After a restart the session is resumed, and nothing tells again which channels
// there are: they are asked for.
func TestPlacesAreKnownAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		thread := w.room.NewThread(w.kai, "Lunch")
		synctest.Wait()
		w.restart()
		thread.Says(w.kai, "<#"+w.room.ID.String()+"> <@&"+w.guild.Role(w.bot).String()+">", fakediscord.PostOptions{})
		u, m := body[adapters.IncomingMessage](t, w.inbox.take())
		if u.Chat.ID != w.room.ID.String() || u.Thread.Title != "Lunch" || m.Text != "#general @ada" || !m.ToUs {
			t.Errorf("got %+v", u)
		}
	})
}

// PLATFORMS 3.3, R-DC: the chats of voice and stage channels are chats like others:
// heard, answered, reacted to, filled after a gap, and read from history.
func TestVoiceAndStageChannelsHaveChats(t *testing.T) {
	for name, kind := range map[string]int{"voice": fakediscord.VoiceChannel, "stage": fakediscord.StageChannel, "announcements": fakediscord.Announcements} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				room := w.guild.NewChannel("lobby", kind)
				chat := room.ID.String()
				id := room.Says(w.kai, "can you hear me?", fakediscord.PostOptions{})
				u, m := body[adapters.IncomingMessage](t, w.inbox.take())
				if u.Chat.ID != chat || u.Chat.Title != "lobby" || u.Chat.Kind != adapters.Channel || m.Text != "can you hear me?" {
					t.Errorf("got %+v", u)
				}
				sent := w.send(adapters.OutgoingMessage{Chat: chat, Text: "yes", ReplyTo: id.String(), Face: adapters.AgentPersona{Name: "Max"}})
				ref := adapters.MessageRef{Chat: chat, Message: sent.Message}
				if err := w.client.Edit(t.Context(), ref, "yes, I do"); err != nil {
					t.Error(err)
				}
				if err := w.client.React(t.Context(), adapters.MessageRef{Chat: chat, Message: id.String()}, "👂"); err != nil {
					t.Error(err)
				}
				if got := room.Sent(w.bot); len(got) != 1 || got[0].Content != "yes, I do" || got[0].Name != "Max" {
					t.Errorf("sent %+v", got)
				}
				testutil.OK(t, w.stop())
				pass(time.Hour)
				w.bot.Forget()
				room.SaysUnheard(w.kai, "meanwhile")
				w.client = w.newClient()
				w.receive()
				pass(time.Minute)
				testutil.Same(t, "texts", []string{"meanwhile"}, texts(w.inbox.take()))
				var read []string
				err := w.client.History(t.Context(), adapters.HistoryRange{Chat: chat}, func(_ context.Context, p adapters.HistoryPage) error {
					read = append(read, texts(p.Updates)...)
					return nil
				})
				if diff := cmp.Diff([]string{"can you hear me?", "meanwhile"}, read); diff != "" || err != nil {
					t.Errorf("history: %v %s", err, diff)
				}
			})
		})
	}
}

// The map of chats follows the server's.
func TestChannelsComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		thread := w.room.NewThread(w.kai, "Lunch")
		w.room.Renames("kitchen")
		if u, r := body[adapters.ChatRenamed](t, w.inbox.take()); r.Title != "kitchen" || u.Chat.ID != w.room.ID.String() || u.Thread.ID != "" {
			t.Errorf("got %+v", u)
		}
		thread.Renames("Dinner")
		if u, r := body[adapters.ChatRenamed](t, w.inbox.take()); r.Title != "Dinner" || u.Chat.ID != w.room.ID.String() || u.Thread.ID != thread.ID.String() {
			t.Errorf("got %+v", u)
		}
		w.room.Drops()
		if u, _ := body[adapters.ChatLost](t, w.inbox.take()); u.Chat.ID != w.room.ID.String() {
			t.Errorf("got %+v", u)
		}
		other := w.NewGuild("Other", w.kai)
		room := other.NewChannel("lobby", fakediscord.TextChannel)
		other.Adds(w.bot, 0)
		if u, _ := body[adapters.ChatGained](t, w.inbox.take()); u.Chat.ID != room.ID.String() || u.Chat.Group != other.ID.String() {
			t.Errorf("got %+v", u)
		}
		for _, event := range []string{"GUILD_DELETE", "GUILD_CREATE"} { // Discord has trouble with it
			w.bot.Inject(event, fmt.Appendf(nil, `{"id":%q,"unavailable":true}`, other.ID.String()))
		}
		if got := w.inbox.take(); len(got) != 0 {
			t.Errorf("a server that is away for a while is told as %+v", got)
		}
		other.Kicks(w.bot)
		if u, _ := body[adapters.ChatLost](t, w.inbox.take()); u.Chat.ID != room.ID.String() {
			t.Errorf("got %+v", u)
		}
		room = w.guild.NewChannel("late", fakediscord.TextChannel)
		id := room.Says(w.kai, "pin this", fakediscord.PostOptions{})
		room.Pins(w.kai, id)
		if _, p := body[adapters.MessagePinned](t, w.inbox.take()); p.Message != id.String() {
			t.Errorf("got %+v", p)
		}
	})
}

// issue 5: `servers:` covers what we can read.
func TestChatsOfAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		hidden := w.guild.NewChannel("secret", fakediscord.TextChannel)
		hidden.Denies(1 << 10)
		w.guild.NewChannel("forum", fakediscord.Forum)
		w.guild.NewChannel("rooms", fakediscord.Category)
		for _, group := range []string{w.guild.ID.String(), ""} {
			chats, err := w.client.Chats(t.Context(), group)
			testutil.OK(t, err)
			var names []string
			for _, c := range chats {
				names = append(names, c.Title)
			}
			testutil.Same(t, "names", []string{"general", "forum"}, names)
		}
	})
}
