package discord_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
)

// SEQ-98, R-23: threads, forums and direct chats are where they belong.
func TestPlacesOfMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		forum := w.guild.NewChannel("ideas", fakediscord.Forum)
		post, thread := forum.NewThread(w.kai, "Bread"), w.room.NewThread(w.kai, "Lunch")
		direct := w.bot.Direct(w.kai)
		for _, ch := range []*fakediscord.Channel{w.room, thread, post, direct} {
			ch.Says(w.kai, "hello", fakediscord.Said{})
		}
		type place struct{ Chat, Title, Thread, Name, Group, Kind string }
		var got []place
		for _, u := range w.inbox.take() {
			if _, ok := u.Body.(adapters.Message); ok {
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
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// After a restart the session is resumed, and nothing tells again which channels
// there are: they are asked for.
func TestPlacesAreKnownAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		thread := w.room.NewThread(w.kai, "Lunch")
		synctest.Wait()
		if err := w.stop(); err != nil {
			t.Fatal(err)
		}
		w.client = w.newClient()
		w.receive()
		thread.Says(w.kai, "<#"+w.room.ID.String()+"> <@&"+w.guild.Role(w.bot).String()+">", fakediscord.Said{})
		u, m := body[adapters.Message](t, w.inbox.take())
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
				id := room.Says(w.kai, "can you hear me?", fakediscord.Said{})
				u, m := body[adapters.Message](t, w.inbox.take())
				if u.Chat.ID != chat || u.Chat.Title != "lobby" || u.Chat.Kind != adapters.Channel || m.Text != "can you hear me?" {
					t.Errorf("got %+v", u)
				}
				sent := w.send(adapters.Post{Chat: chat, Text: "yes", ReplyTo: id.String(), Face: adapters.Face{Name: "Max"}})
				ref := adapters.Ref{Chat: chat, Message: sent.Message}
				if err := w.client.Edit(t.Context(), ref, "yes, I do"); err != nil {
					t.Error(err)
				}
				if err := w.client.React(t.Context(), adapters.Ref{Chat: chat, Message: id.String()}, "👂"); err != nil {
					t.Error(err)
				}
				if got := room.Sent(w.bot); len(got) != 1 || got[0].Content != "yes, I do" || got[0].Name != "Max" {
					t.Errorf("sent %+v", got)
				}
				if err := w.stop(); err != nil {
					t.Fatal(err)
				}
				pass(time.Hour)
				w.bot.Forget()
				room.SaysUnheard(w.kai, "meanwhile")
				w.client = w.newClient()
				w.receive()
				pass(time.Minute)
				if diff := cmp.Diff([]string{"meanwhile"}, texts(w.inbox.take())); diff != "" {
					t.Error(diff)
				}
				var read []string
				err := w.client.History(t.Context(), adapters.Stretch{Chat: chat}, func(_ context.Context, p adapters.Page) error {
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

// PLATFORMS 3.2: a field of an unknown form leaves the rest of an answer readable.
func TestAnAnswersUndecodableFieldsAreHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		thread := w.room.NewThread(w.kai, "Lunch")
		thread.Says(w.kai, "bread", fakediscord.Said{})
		w.inbox.take() // and the cursor is behind the thread's beginning
		if err := w.stop(); err != nil {
			t.Fatal(err)
		}
		w.client = w.newClient()
		w.Fault(fake.Fault{Method: "get threads", Do: fake.Garbage, Description: "[]", Times: -1})
		w.Fault(fake.Fault{Method: "get channel", Do: fake.Garbage, Times: -1, Description: fmt.Sprintf(
			`{"id":"%s","type":11,"guild_id":"%s","parent_id":"%s","name":"Lunch","recipients":7,"thread_metadata":"none"}`, thread.ID, w.guild.ID, w.room.ID)})
		w.receive()
		thread.Says(w.kai, "soup", fakediscord.Said{})
		if u, _ := body[adapters.Message](t, w.inbox.take()); u.Chat.ID != w.room.ID.String() || u.Thread.Title != "Lunch" {
			t.Errorf("got %+v", u)
		}
	})
}

// SEQ-06, PLATFORMS 3.3: an update that is not about the words is no edit.
func TestOnlyChangedWordsAreAnEdit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		id := w.says("first")
		w.inbox.take()
		chat := w.room.ID.String()
		for _, update := range []string{
			`{"id":"%s","channel_id":"%s","embeds":[{"type":"link"}]}`,
			`{"id":"%s","channel_id":"%s","content":"first","edited_timestamp":null,"author":{"id":"5","username":"kai"}}`,
			`{"id":"%s","channel_id":"%s","content":"mine","edited_timestamp":"2000-01-01T00:00:01Z","author":{"id":"` + w.bot.ID.String() + `"}}`,
		} {
			w.bot.Inject("MESSAGE_UPDATE", fmt.Appendf(nil, update, id.String(), chat))
		}
		if got := w.inbox.take(); len(got) != 0 {
			t.Errorf("got %+v", got)
		}
		w.room.Edits(id, "second")
		if _, e := body[adapters.Edit](t, w.inbox.take()); e.New.Text != "second" || e.New.ID != id.String() {
			t.Errorf("got %+v", e)
		}
	})
}

// SEQ-06
func TestManyMessagesDeletedAtOnceAreOneUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		a, b := w.says("a"), w.says("b")
		w.inbox.take()
		w.room.Deletes(a, b)
		if _, d := body[adapters.Delete](t, w.inbox.take()); !cmp.Equal(d.Messages, []string{a.String(), b.String()}) {
			t.Errorf("got %v", d.Messages)
		}
	})
}

// What we delete ourselves is no news.
func TestOurOwnDeletionIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		r, err := w.client.Send(t.Context(), adapters.Post{Chat: w.room.ID.String(), Text: "oh"})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.client.Delete(t.Context(), adapters.Ref{Chat: w.room.ID.String(), Message: r.Message}); err != nil {
			t.Fatal(err)
		}
		if got := w.inbox.take(); len(got) != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

// PLATFORMS 3.2: a field of an unknown form leaves the rest readable.
func TestUndecodableFieldsAreHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		chat := w.room.ID.String()
		say := func(id int, more string) {
			w.bot.Inject("MESSAGE_CREATE", fmt.Appendf(nil, `{"id":"%d","channel_id":%q,"guild_id":%q,"content":"words",`+
				`"author":{"id":"5","username":"kai"},"timestamp":"2000-01-01T00:00:00Z"%s}`, id, chat, w.guild.ID.String(), more))
		}
		say(9_000_001, `,"components":[{"type":99,"strange":{}}],"brand_new":{"a":[1,{}]}`)
		say(9_000_002, `,"type":4711`)
		say(9_000_003, `,"mentions":"none","timestamp":"soon","attachments":{"0":{}},"embeds":[{"fields":"none"},7]`)
		say(9_000_005, `,"content":{"parts":["a"]}`)
		say(9_000_004, ``)
		w.bot.Inject("GUILD_CREATE", fmt.Appendf(nil, `{"id":"77","name":["odd"],"channels":[{"id":5},{"id":"78","type":0,"name":"fine"}],"roles":{}}`))
		var read, kept int
		for _, u := range w.inbox.take() {
			switch b := u.Body.(type) {
			case adapters.Message:
				read++
				if b.Text != "words" {
					t.Errorf("got %+v", b)
				}
			case adapters.Linked:
				if u.Chat.Title != "fine" {
					t.Errorf("got %+v", u)
				}
				read++
			case adapters.Unreadable:
				kept++
				if len(u.Raw) == 0 || u.Chat.ID != chat {
					t.Errorf("got %+v", u)
				}
			}
		}
		if read != 5 || kept != 1 {
			t.Errorf("%d read, %d kept raw; want 5, 1", read, kept)
		}
		w.bot.Inject("MESSAGE_UPDATE", fmt.Appendf(nil, `{"id":"9000001","channel_id":%q,"guild_id":%q,"content":"other words","mentions":7,`+
			`"author":{"id":"5","username":"kai"},"timestamp":"soon","edited_timestamp":"2000-01-01T00:00:09Z","embeds":{}}`, chat, w.guild.ID.String()))
		if _, e := body[adapters.Edit](t, w.inbox.take()); e.New.Text != "other words" {
			t.Errorf("got %+v", e)
		}
	})
}

// PLATFORMS 3.2, DELIVERY 2.2.1, F45: a server whose answers are no objects of ours
// costs names, or what history would have told, and that is recorded. The
// connection stays, and what is said now is heard.
func TestAnAnswerOfAnotherFormCostsOnlyWhatItWouldHaveTold(t *testing.T) {
	for name, odd := range map[string]string{"a list": "[]", "null": "null", "a text": `"ok"`, "a number": "7", "an empty object": "{}", "no JSON": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				w.says("before")
				synctest.Wait()
				if err := w.stop(); err != nil {
					t.Fatal(err)
				}
				w.bot.Forget()
				w.room.SaysUnheard(w.kai, "meanwhile")
				for _, call := range []string{"get messages", "get channel", "get guild", "get channels", "get threads", "get member"} {
					w.Fault(fake.Fault{Method: call, Do: fake.Garbage, Description: odd, Times: -1})
				}
				w.client = w.newClient()
				w.receive()
				pass(time.Minute)
				w.says("now")
				got := w.inbox.take()
				if diff := cmp.Diff([]string{"before", "now"}, texts(got)); diff != "" {
					t.Error(diff)
				}
				if name == "a list" {
					return // of no messages: history told that there are none
				}
				if u, gap := body[adapters.Gap](t, got); u.Chat.ID != w.room.ID.String() || gap.From.After(u.At) || u.Key == "" {
					t.Errorf("the gap is %+v", u)
				}
			})
		})
	}
}

// issue 5: slash commands and buttons are answered at once, and are commands.
func TestInteractionsAreCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		under := w.says("choose")
		w.inbox.take()
		defer w.inbox.block()() // what comes before may take long
		slash := w.room.Invokes(w.kai, w.bot, "Stop", "it now")
		button := w.bot.Direct(w.kai).Presses(w.kai, w.bot, under, "approve 42")
		pass(time.Second)
		if slash() != 4 || button() != 6 {
			t.Errorf("answered with %d and %d, want 4 and 6", slash(), button())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		under := w.says("choose")
		w.inbox.take()
		w.room.Invokes(w.kai, w.bot, "stop", "it *now*")
		u, m := body[adapters.Message](t, w.inbox.take())
		if m.Command == nil || m.Command.Name != "stop" || m.Command.Args != "it *now*" || !m.ToUs || u.From.ID != w.kai.ID.String() {
			t.Errorf("got %+v %+v", u, m.Command)
		}
		w.room.Presses(w.kai, w.bot, under, "approve 42")
		if _, m = body[adapters.Message](t, w.inbox.take()); m.Command == nil || m.Command.Name != "approve" || m.Command.Args != "42" || m.ReplyTo != under.String() {
			t.Errorf("got %+v", m)
		}
		for said, want := range map[string]*adapters.Command{
			"/stop now":        {Name: "stop", Args: "now"},
			"<@BOT> /Help":     {Name: "help"},
			"see /usr/bin":     nil,
			"/usr/bin is full": nil,
		} {
			w.says(strings.ReplaceAll(said, "BOT", w.bot.ID.String()))
			if _, m := body[adapters.Message](t, w.inbox.take()); !cmp.Equal(m.Command, want) {
				t.Errorf("%q is the command %+v, want %+v", said, m.Command, want)
			}
		}
	})
}

// The map of chats follows the server's.
func TestChannelsComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		thread := w.room.NewThread(w.kai, "Lunch")
		w.room.Renames("kitchen")
		if u, r := body[adapters.Renamed](t, w.inbox.take()); r.Title != "kitchen" || u.Chat.ID != w.room.ID.String() || u.Thread.ID != "" {
			t.Errorf("got %+v", u)
		}
		thread.Renames("Dinner")
		if u, r := body[adapters.Renamed](t, w.inbox.take()); r.Title != "Dinner" || u.Chat.ID != w.room.ID.String() || u.Thread.ID != thread.ID.String() {
			t.Errorf("got %+v", u)
		}
		w.room.Drops()
		if u, _ := body[adapters.Unlinked](t, w.inbox.take()); u.Chat.ID != w.room.ID.String() {
			t.Errorf("got %+v", u)
		}
		other := w.NewGuild("Other", w.kai)
		room := other.NewChannel("lobby", fakediscord.TextChannel)
		other.Adds(w.bot, 0)
		if u, _ := body[adapters.Linked](t, w.inbox.take()); u.Chat.ID != room.ID.String() || u.Chat.Group != other.ID.String() {
			t.Errorf("got %+v", u)
		}
		for _, event := range []string{"GUILD_DELETE", "GUILD_CREATE"} { // Discord has trouble with it
			w.bot.Inject(event, fmt.Appendf(nil, `{"id":%q,"unavailable":true}`, other.ID.String()))
		}
		if got := w.inbox.take(); len(got) != 0 {
			t.Errorf("a server that is away for a while is told as %+v", got)
		}
		other.Kicks(w.bot)
		if u, _ := body[adapters.Unlinked](t, w.inbox.take()); u.Chat.ID != room.ID.String() {
			t.Errorf("got %+v", u)
		}
		room = w.guild.NewChannel("late", fakediscord.TextChannel)
		id := room.Says(w.kai, "pin this", fakediscord.Said{})
		room.Pins(w.kai, id)
		if _, p := body[adapters.Pinned](t, w.inbox.take()); p.Message != id.String() {
			t.Errorf("got %+v", p)
		}
	})
}

// SECURITY S10: files are had anew, without the token, up to a limit.
func TestFilesAreFetchedAfterTheirAddressExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.room.Says(w.kai, "", fakediscord.Said{Files: []fakediscord.File{{Name: "cat.png", MIME: "image/png", Data: []byte("meow")}}})
		_, m := body[adapters.Message](t, w.inbox.take())
		want := []adapters.Attachment{{Kind: "photo", ID: m.Attachments[0].ID, Name: "cat.png", MIME: "image/png", Size: 4}}
		if diff := cmp.Diff(want, m.Attachments); diff != "" {
			t.Error(diff)
		}
		pass(48 * time.Hour)
		got, err := w.client.Fetch(t.Context(), m.Attachments[0], 4)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(got)
		if string(data) != "meow" || err != nil || got.Close() != nil {
			t.Errorf("got %q, %v", data, err)
		}
		if _, err := w.client.Fetch(t.Context(), m.Attachments[0], 3); adapters.KindOf(err) != adapters.Invalid || err == nil {
			t.Errorf("too large: %v", err)
		}
		w.room.Deletes(number(m.ID))
		if _, err := w.client.Fetch(t.Context(), m.Attachments[0], 4); adapters.KindOf(err) != adapters.Invalid || err == nil {
			t.Errorf("gone: %v", err)
		}
	})
}

// issue 5: backfill reads a chat and its threads, page by page, under the keys of
// what was heard live.
func TestHistoryIsReadWithItsThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		for i := range 150 {
			w.says(fmt.Sprint("line ", i))
		}
		thread, archived := w.room.NewThread(w.kai, "Lunch"), w.room.NewThread(w.kai, "Old")
		thread.Says(w.kai, "in the thread", fakediscord.Said{})
		archived.Says(w.kai, "long ago", fakediscord.Said{})
		archived.Archive()
		private := w.room.NewPrivateThread(w.kai, "Psst")
		private.Says(w.kai, "between us", fakediscord.Said{})
		private.Archive()
		live := map[string]bool{}
		for _, u := range w.inbox.take() {
			live[u.Key] = true
		}
		var pages []adapters.Page
		read := func(s adapters.Stretch) []string {
			t.Helper()
			var words []string
			err := w.client.History(t.Context(), s, func(_ context.Context, p adapters.Page) error {
				pages = append(pages, p)
				words = append(words, texts(p.Updates)...)
				for _, u := range p.Updates {
					if _, ok := u.Body.(adapters.Message); ok && !live[u.Key] {
						t.Errorf("key %s was not heard live", u.Key)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return words
		}
		all := read(adapters.Stretch{Chat: w.room.ID.String()})
		if len(all) != 152 || all[0] != "line 0" || all[149] != "line 149" || all[150] != "in the thread" || all[151] != "long ago" {
			t.Errorf("read %d: %q", len(all), all)
		}
		if len(pages) < 3 || pages[len(pages)-1].Cursor != nil {
			t.Errorf("%d pages, the last with cursor %q", len(pages), pages[len(pages)-1].Cursor)
		}
		if rest := read(adapters.Stretch{Chat: w.room.ID.String(), Cursor: pages[0].Cursor}); len(rest) != 52 || rest[0] != "line 100" {
			t.Errorf("from the first cursor on %d: %q", len(rest), rest)
		}
		if alone := read(adapters.Stretch{Chat: private.ID.String()}); !cmp.Equal(alone, []string{"between us"}) {
			t.Errorf("the private thread holds %q", alone)
		}
		if one := read(adapters.Stretch{Chat: w.room.ID.String(), Thread: thread.ID.String()}); !cmp.Equal(one, []string{"in the thread"}) {
			t.Errorf("the thread holds %q", one)
		}
	})
}

// issue 5: a stretch of history has its two ends.
func TestHistoryIsReadBetweenTwoMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pass(16 * 365 * 24 * time.Hour) // Discord's ids hold the time since 2015
		w := open(t)
		var said []time.Time
		for i := range 6 {
			pass(time.Hour)
			said = append(said, time.Now())
			w.says(fmt.Sprint("line ", i))
		}
		for _, test := range []struct {
			from, to time.Time
			want     []string
		}{
			{said[1], said[3], []string{"line 1", "line 2", "line 3"}},
			{said[4].Add(time.Minute), time.Time{}, []string{"line 5"}},
			{time.Time{}, said[0], []string{"line 0"}},
		} {
			var read []string
			err := w.client.History(t.Context(), adapters.Stretch{Chat: w.room.ID.String(), From: test.from, To: test.to}, func(_ context.Context, p adapters.Page) error {
				read = append(read, texts(p.Updates)...)
				return nil
			})
			if diff := cmp.Diff(test.want, read); diff != "" || err != nil {
				t.Errorf("from %s to %s: %v\n%s", test.from, test.to, err, diff)
			}
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
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, c := range chats {
				names = append(names, c.Title)
			}
			if diff := cmp.Diff([]string{"general", "forum"}, names); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// PLATFORMS 3.3: a moderator takes one emoji off a message, or all of them.
func TestClearedReactionsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		id := w.room.Says(w.kai, "lunch?", fakediscord.Said{})
		w.room.Reacts(w.kai, id, "👍", "🎉")
		w.inbox.take()
		for _, emoji := range []string{"👍", ""} {
			w.room.Clears(id, emoji)
			u, cleared := body[adapters.Cleared](t, w.inbox.take())
			if u.Chat.ID != w.room.ID.String() || u.From != (adapters.Person{}) || u.Key == "" || cleared != (adapters.Cleared{Message: id.String(), Emoji: emoji}) {
				t.Errorf("cleared %q is told as %+v", emoji, u)
			}
		}
	})
}

// SECURITY S5, issue 5: who comes to a server comes into the channels that they see.
func TestWhoComesIsNotInChannelsHiddenFromThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.guild.NewChannel("secret", fakediscord.TextChannel).Denies(1 << 10)
		tom := w.AddPerson(fakediscord.Profile{Name: "Tom"})
		synctest.Wait()
		w.inbox.take()
		w.guild.Joins(tom)
		var came []string
		for _, u := range w.inbox.take() {
			if _, ok := u.Body.(adapters.Joined); ok {
				came = append(came, u.Chat.Title)
			}
		}
		if diff := cmp.Diff([]string{"general"}, came); diff != "" {
			t.Errorf("came into (-want +got):\n%s", diff)
		}
	})
}
