package discord_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/discord"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/adapters/httpx"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// PLATFORMS 3.2: a field of an unknown form leaves the rest of an answer readable.
func TestAnAnswersUndecodableFieldsAreHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		thread := w.room.NewThread(w.kai, "Lunch")
		thread.Says(w.kai, "bread", fakediscord.PostOptions{})
		w.inbox.take() // and the cursor is behind the thread's beginning
		testutil.OK(t, w.stop())
		w.client = w.newClient()
		w.Fault(fake.CallFault{Method: "get threads", Do: fake.Garbage, Description: "[]", Times: -1})
		w.Fault(fake.CallFault{Method: "get channel", Do: fake.Garbage, Times: -1, Description: fmt.Sprintf(
			`{"id":"%s","type":11,"guild_id":"%s","parent_id":"%s","name":"Lunch","recipients":7,"thread_metadata":"none"}`, thread.ID, w.guild.ID, w.room.ID)})
		w.receive()
		thread.Says(w.kai, "soup", fakediscord.PostOptions{})
		if u, _ := body[adapters.IncomingMessage](t, w.inbox.take()); u.Chat.ID != w.room.ID.String() || u.Thread.Title != "Lunch" {
			t.Errorf("got %+v", u)
		}
	})
}

// An edit tells what the message carries now; one that does not list the files keeps them.
func TestEditTellsWhatAMessageCarries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		for i, c := range []struct {
			files string
			want  []string
			keeps bool
		}{
			{`,"attachments":[{"id":"31","filename":"new.png","content_type":"image/png","size":9}]`, []string{"photo new.png"}, false},
			{`,"attachments":[]`, nil, false},
			{``, nil, true},
		} {
			w.bot.Inject("MESSAGE_UPDATE", fmt.Appendf(nil, `{"id":"9000001","channel_id":%q,"guild_id":%q,"content":"look","author":{"id":"5","username":"kai"},"edited_timestamp":"2000-01-01T00:00:0%dZ"%s}`,
				w.room.ID.String(), w.guild.ID.String(), i, c.files))
			_, edit := body[adapters.MessageEdit](t, w.inbox.take())
			var got []string
			for _, f := range edit.New.Attachments {
				got = append(got, f.Kind+" "+f.Name)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || edit.KeepsFiles != c.keeps {
				t.Errorf("%s: keeps %v (-want +got):\n%s", c.files, edit.KeepsFiles, diff)
			}
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
		if _, e := body[adapters.MessageEdit](t, w.inbox.take()); e.New.Text != "second" || e.New.ID != id.String() {
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
		if _, d := body[adapters.MessageDeletion](t, w.inbox.take()); !cmp.Equal(d.Messages, []string{a.String(), b.String()}) {
			t.Errorf("got %v", d.Messages)
		}
	})
}

// What we delete ourselves is no news.
func TestOurOwnDeletionIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		r, err := w.client.Send(t.Context(), adapters.OutgoingMessage{Chat: w.room.ID.String(), Text: "oh"})
		testutil.OK(t, err)
		testutil.OK(t, w.client.Delete(t.Context(), adapters.MessageRef{Chat: w.room.ID.String(), Message: r.Message}))
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
			case adapters.IncomingMessage:
				read++
				if b.Text != "words" {
					t.Errorf("got %+v", b)
				}
			case adapters.ChatGained:
				if u.Chat.Title != "fine" {
					t.Errorf("got %+v", u)
				}
				read++
			case adapters.UnreadableUpdate:
				kept++
				if len(u.Raw) == 0 || u.Chat.ID != chat {
					t.Errorf("got %+v", u)
				}
			}
		}
		if read != 4 || kept != 2 { // type 4711 is not a message of a person
			t.Errorf("%d read, %d kept raw; want 4, 2", read, kept)
		}
		w.bot.Inject("MESSAGE_UPDATE", fmt.Appendf(nil, `{"id":"9000001","channel_id":%q,"guild_id":%q,"content":"other words","mentions":7,`+
			`"author":{"id":"5","username":"kai"},"timestamp":"soon","edited_timestamp":"2000-01-01T00:00:09Z","embeds":{}}`, chat, w.guild.ID.String()))
		if _, e := body[adapters.MessageEdit](t, w.inbox.take()); e.New.Text != "other words" {
			t.Errorf("got %+v", e)
		}
	})
}

// PLATFORMS 3.2, DELIVERY 2.2.1, F45: when answers of the API have another form, names
// and history are missing, and that is recorded. The connection stays, and new messages
// are received.
func TestAnAnswerOfAnotherFormCostsOnlyWhatItWouldHaveTold(t *testing.T) {
	for name, odd := range map[string]string{"a list": "[]", "null": "null", "a text": `"ok"`, "a number": "7", "an empty object": "{}", "no JSON": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				w.says("before")
				synctest.Wait()
				testutil.OK(t, w.stop())
				w.bot.Forget()
				w.room.SaysUnheard(w.kai, "meanwhile")
				for _, call := range []string{"get messages", "get channel", "get guild", "get channels", "get threads", "get member"} {
					w.Fault(fake.CallFault{Method: call, Do: fake.Garbage, Description: odd, Times: -1})
				}
				w.client = w.newClient()
				w.receive()
				pass(time.Minute)
				w.says("now")
				got := w.inbox.take()
				testutil.Same(t, "texts", []string{"before", "now"}, texts(got))
				if name == "a list" {
					return // of no messages: history told that there are none
				}
				if u, gap := body[adapters.UpdateGap](t, got); u.Chat.ID != w.room.ID.String() || gap.From.After(u.At) || u.Key == "" {
					t.Errorf("the gap is %+v", u)
				}
			})
		})
	}
}

// issue 5, TOOLS 4: slash commands and presses of buttons are answered at once, whatever comes
// before them.
func TestInteractionsAreAnsweredAndRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		under := w.says("choose")
		w.inbox.take()
		defer w.inbox.block()() // what comes before may take long
		slash := w.room.Invokes(w.kai, w.bot, "Stop", "it now")
		button := w.room.Presses(w.kai, w.bot, under, "approve 42")
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
		u, m := body[adapters.IncomingMessage](t, w.inbox.take())
		if m.Command == nil || m.Command.Name != "stop" || m.Command.Args != "it *now*" || !m.ToUs || u.From.ID != w.kai.ID.String() {
			t.Errorf("got %+v %+v", u, m.Command)
		}
		w.room.Presses(w.kai, w.bot, under, "approve 42")
		if u, picked := body[adapters.ChoicePicked](t, w.inbox.take()); picked.Value != "approve 42" || picked.Message != under.String() || u.From.ID != w.kai.ID.String() {
			t.Errorf("got %+v", picked)
		}
		for said, want := range map[string]*adapters.ChatCommand{
			"/stop now":        {Name: "stop", Args: "now"},
			"<@BOT> /Help":     {Name: "help"},
			"see /usr/bin":     nil,
			"/usr/bin is full": nil,
		} {
			w.says(strings.ReplaceAll(said, "BOT", w.bot.ID.String()))
			if _, m := body[adapters.IncomingMessage](t, w.inbox.take()); !cmp.Equal(m.Command, want) {
				t.Errorf("%q is the command %+v, want %+v", said, m.Command, want)
			}
		}
	})
}

// SECURITY S10: files are had anew, without the token, up to a limit.
func TestFilesAreFetchedAfterTheirAddressExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.room.Says(w.kai, "", fakediscord.PostOptions{Files: []fakediscord.SharedFile{{Name: "cat.png", MIME: "image/png", Data: []byte("meow")}}})
		_, m := body[adapters.IncomingMessage](t, w.inbox.take())
		want := []adapters.IncomingFile{{Kind: "photo", ID: m.Attachments[0].ID, Name: "cat.png", MIME: "image/png", Size: 4}}
		testutil.Same(t, "Attachments", want, m.Attachments)
		pass(48 * time.Hour)
		got, err := w.client.Fetch(t.Context(), m.Attachments[0], 4)
		testutil.OK(t, err)
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

// SECURITY S16: who has a file's address may open it, and its name is a person's words:
// neither is in an error.
func TestAFilesAddressIsInNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.room.Says(w.kai, "", fakediscord.PostOptions{Files: []fakediscord.SharedFile{{Name: "cat.png", Data: []byte("meow")}}})
		_, m := body[adapters.IncomingMessage](t, w.inbox.take())
		broken := httpx.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.Path, "/files/") {
				return nil, errors.New("the line is cut")
			}
			return w.http.Transport.RoundTrip(r)
		})
		c, err := discord.New(discord.Options{Token: rigToken, APIURL: "http://discord.test", HTTPClient: &http.Client{Transport: broken}})
		testutil.OK(t, err)
		_, err = c.Fetch(t.Context(), m.Attachments[0], 4)
		if said := fmt.Sprint(err); adapters.KindOf(err) != adapters.NotSent || !strings.Contains(said, "the line is cut") || strings.Contains(said, "cat") || strings.Contains(said, "ex=") {
			t.Errorf("got %v", err)
		}
	})
}

// PLATFORMS 3.3: a moderator takes one emoji off a message, or all of them.
func TestClearedReactionsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		id := w.room.Says(w.kai, "lunch?", fakediscord.PostOptions{})
		w.room.Reacts(w.kai, id, "👍", "🎉")
		w.inbox.take()
		for _, emoji := range []string{"👍", ""} {
			w.room.Clears(id, emoji)
			u, cleared := body[adapters.ReactionsCleared](t, w.inbox.take())
			if u.Chat.ID != w.room.ID.String() || u.From != (adapters.Person{}) || u.Key == "" || cleared != (adapters.ReactionsCleared{Message: id.String(), Emoji: emoji}) {
				t.Errorf("cleared %q is told as %+v", emoji, u)
			}
		}
	})
}

// SECURITY S1: who reacts is known to be a person, also where Discord tells their id alone:
// in direct chats, and where an emoji is taken away.
func TestWhoReactsIsKnownToBeAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		for _, in := range []*fakediscord.GuildChannel{w.room, w.bot.Direct(w.kai)} {
			id := in.Says(w.kai, "lunch?", fakediscord.PostOptions{})
			w.restart() // who said it is forgotten
			in.Reacts(w.kai, id, "👍")
			in.Reacts(w.kai, id)
			synctest.Wait()
			told := 0
			for _, u := range w.inbox.take() {
				if _, reacted := u.Body.(adapters.ReactionChange); reacted {
					told++
					if u.From.ID != w.kai.ID.String() || u.From.Kind != adapters.Human {
						t.Errorf("in %s it was %+v", in.ID, u.From)
					}
				}
			}
			if told != 2 {
				t.Errorf("%d changes are told, want 2", told)
			}
		}
	})
}

// DELIVERY 2.2 (7): when Discord does not answer who a person is, messages do not wait
// long for it.
func TestWhoReactsHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		id := w.says("lunch?")
		w.inbox.take()
		w.Fault(hang("get user"))
		for n := range 20 {
			w.bot.Inject("MESSAGE_REACTION_REMOVE", fmt.Appendf(nil,
				`{"user_id":"%d","channel_id":"%s","message_id":"%s","guild_id":"%s","emoji":{"name":"👍"}}`, 9000+n, w.room.ID, id, w.guild.ID))
		}
		w.says("soup")
		pass(3 * time.Second)
		if got := texts(w.inbox.take()); !cmp.Equal(got, []string{"soup"}) {
			t.Errorf("after three seconds %q is heard", got)
		}
	})
}

// Issue 3: two bots of ours in one channel tell of one message, by one key.
func TestTwoBotsTellOfOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		other := w.AddBot(fakediscord.BotProfile{Token: "another", Name: "max"})
		w.guild.Adds(other, 0)
		second, err := discord.New(discord.Options{Token: "another", APIURL: "http://discord.test", HTTPClient: w.http})
		testutil.OK(t, err)
		var theirs inbox
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- second.Receive(ctx, nil, &theirs) }()
		synctest.Wait()
		w.inbox.take()
		theirs.take()
		id := w.says("hello")
		pass(time.Second)
		w.room.Edits(id, "hello!")
		w.room.Deletes(id)
		one, two := w.inbox.take(), theirs.take()
		cancel()
		testutil.OK(t, <-ended)
		if len(one) != 3 || len(two) != 3 {
			t.Fatalf("told of %d and %d facts, want 3", len(one), len(two))
		}
		for i := range one {
			if one[i].Key != two[i].Key || !one[i].Common || !two[i].Common {
				t.Errorf("one tells of %s (common %t), the other of %s (common %t)", one[i].Key, one[i].Common, two[i].Key, two[i].Common)
			}
		}
		direct := w.bot.Direct(w.kai).Says(w.kai, "psst", fakediscord.PostOptions{})
		if u, m := body[adapters.IncomingMessage](t, w.inbox.take()); m.ID != direct.String() || u.Common {
			t.Errorf("a direct chat is nobody else's: %+v", u)
		}
	})
}

// SECURITY S5, issue 5: who comes to a server comes into the channels that they see.
func TestWhoComesIsNotInChannelsHiddenFromThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.guild.NewChannel("secret", fakediscord.TextChannel).Denies(1 << 10)
		tom := w.AddPerson(fakediscord.UserProfile{Name: "Tom"})
		synctest.Wait()
		w.inbox.take()
		w.guild.Joins(tom)
		var came []string
		for _, u := range w.inbox.take() {
			if _, ok := u.Body.(adapters.PeopleJoined); ok {
				came = append(came, u.Chat.Title)
			}
		}
		testutil.Same(t, "came into", []string{"general"}, came)
	})
}

// SECURITY S1: a channel that the bot may not see is not reported as joined.
func TestANewServerOpensWhatItShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		g := w.NewGuild("New", w.kai)
		shown, hidden := g.NewChannel("general", fakediscord.TextChannel), g.NewChannel("hidden", fakediscord.TextChannel)
		hidden.ShowsTo()
		g.Adds(w.bot, 0)
		var got []string
		for _, u := range w.inbox.take() {
			if _, ok := u.Body.(adapters.ChatGained); ok {
				got = append(got, u.Chat.ID)
			}
		}
		testutil.Same(t, "let into", []string{shown.ID.String()}, got)
	})
}
