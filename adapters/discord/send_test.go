package discord_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// send posts, in the room if nothing else is said, and fails the test when that fails.
func (w *world) send(p adapters.OutgoingMessage) adapters.Receipt {
	w.t.Helper()
	if p.Chat == "" {
		p.Chat = w.room.ID.String()
	}
	r, err := w.client.Send(w.t.Context(), p)
	testutil.OK(w.t, err)
	return r
}

// K17, K18, I6: whatever became of the first attempt, the second is no second message.
func TestASecondAttemptIsNoSecondMessage(t *testing.T) {
	for name, f := range map[string]fake.CallFault{
		"answer lost":  {Method: "create message", Do: fake.Cut, Apply: true},
		"garbled":      {Method: "create message", Do: fake.Garbage, Apply: true},
		"cut short":    {Method: "create message", Do: fake.Truncate},
		"request lost": {Method: "create message", Do: fake.Cut},
		"502":          {Method: "create message", Do: fake.HTML},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				p := adapters.OutgoingMessage{Chat: w.room.ID.String(), Text: "once", Key: "a key"}
				w.Fault(f)
				if _, err := w.client.Send(t.Context(), p); adapters.KindOf(err) != adapters.Unknown || err == nil {
					t.Errorf("the first attempt: %v, want unknown", err)
				}
				pass(time.Minute)
				w.client = w.newClient() // as after a restart
				w.send(p)
				if got := w.room.Sent(w.bot); len(got) != 1 {
					t.Errorf("%d messages, want one", len(got))
				}
				w.send(adapters.OutgoingMessage{Text: "once", Key: "another key"})
				if got := w.room.Sent(w.bot); len(got) != 2 {
					t.Errorf("%d messages, want two: the same words may be meant twice", len(got))
				}
			})
		})
	}
}

// K17, DELIVERY 2.6 R-DC: through a webhook there is no nonce; what arrived is
// found by its words.
func TestAnAttemptByWebhookIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		p := adapters.OutgoingMessage{Chat: w.room.ID.String(), Text: "**once**", Key: "k", Face: adapters.AgentPersona{Name: "Max"}}
		find := func(want bool) {
			t.Helper()
			r, found, err := w.client.Find(t.Context(), p)
			if found != want || err != nil || found != (r.Message != "") {
				t.Errorf("found %v %+v, %v; want %v", found, r, err, want)
			}
		}
		find(false)
		w.Fault(fake.CallFault{Method: "execute webhook", Do: fake.Cut})
		if _, err := w.client.Send(t.Context(), p); adapters.KindOf(err) != adapters.Unknown || err == nil {
			t.Errorf("got %v, want unknown", err)
		}
		find(false)
		w.Fault(fake.CallFault{Method: "execute webhook", Do: fake.Cut, Apply: true})
		if _, err := w.client.Send(t.Context(), p); adapters.KindOf(err) != adapters.Unknown || err == nil {
			t.Errorf("got %v, want unknown", err)
		}
		w.client = w.newClient() // a new process knows no webhook yet
		find(true)
		w.says("**twice**")
		p.Text = "**twice**"
		find(false) // a person's words are not ours
		pass(time.Hour)
		p.Text = "**once**"
		find(false) // so long ago it was another message
	})
}

// DELIVERY 2.4, 2.6 R-DC: what the bot itself sent is found by its nonce, and other
// words that read the same are not taken for it.
func TestAnAttemptIsFoundByItsNonce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		p := adapters.OutgoingMessage{Chat: w.room.ID.String(), Text: "yes", Key: "first"}
		sent := w.send(p)
		later := w.newClient() // has no receipt of it
		for key, want := range map[string]string{"first": sent.Message, "second": ""} {
			p.Key = key
			if r, found, err := later.Find(t.Context(), p); r.Message != want || found != (want != "") || err != nil {
				t.Errorf("key %s: found %t %+v, %v; want %q", key, found, r, err, want)
			}
		}
	})
}

// SECURITY S6: no previews, and no mention of a person who is not addressed.
func TestNobodyIsCalledUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		ann := w.AddPerson(fakediscord.UserProfile{Name: "Ann_Lee", Username: "annlee"})
		bob := w.AddPerson(fakediscord.UserProfile{Name: "Bob"})
		w.guild.Joins(ann)
		w.guild.Joins(bob)
		said := w.says("so?")
		text := "@everyone @here <@" + bob.ID.String() + "> <@&" + w.guild.Role(w.bot).String() + "> https://evil.example/leak?x=1 " +
			"[x](https://evil.example) ![y](https://evil.example/z.png) `@Ann_Lee` @annlee, @Ann_Lee!"
		for _, face := range []adapters.AgentPersona{{}, {Name: "Max"}} {
			for _, part := range w.client.Split(text) {
				w.send(adapters.OutgoingMessage{Text: part, ReplyTo: said.String(), Face: face, Mentions: []adapters.Person{
					{ID: ann.ID.String(), Name: "Ann_Lee", Handle: "annlee"},
				}})
			}
		}
		rec := w.Ledger()
		if len(rec.Unfurled) != 0 {
			t.Errorf("previews of %+v", rec.Unfurled)
		}
		for _, n := range rec.Called {
			if n.User != ann.ID || n.Everyone {
				t.Errorf("called %+v, want Ann alone", n)
			}
		}
		if len(rec.Called) != 2 {
			t.Errorf("%d calls, want Ann in both", len(rec.Called))
		}
		call := "<@" + ann.ID.String() + ">"
		if got := w.room.Sent(w.bot)[0].Content; strings.Count(got, call) != 2 || !strings.Contains(got, "`@Ann_Lee`") {
			t.Errorf("sent %q", got)
		}
	})
}

// PLATFORMS 3.3, SEQ-97: a message's length is counted as Discord does it, where some
// letters are two.
func TestLettersThatCountTwiceAreCutInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		for _, text := range []string{strings.Repeat("😀", 1500), strings.Repeat(`😀\*`, 600)} {
			parts := w.client.Split(text)
			for _, part := range parts {
				w.send(adapters.OutgoingMessage{Text: part})
			}
			if len(parts) != 2 {
				t.Errorf("%.20s… is cut into %d parts, want two", text, len(parts))
			}
		}
	})
}

// What calls a person must not make a message too long.
func TestACallThatDoesNotFitStaysWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		text := "@Kai " + strings.Repeat("x", 1990)
		w.send(adapters.OutgoingMessage{Text: text, Mentions: []adapters.Person{{ID: "1234567890123456789", Name: "Kai"}}})
		if got := w.room.Sent(w.bot)[0].Content; got != text {
			t.Errorf("sent %d characters: %.30s", len(got), got)
		}
	})
}

// issue 5: each agent speaks under its own name, by one webhook of the channel.
func TestFacesShareOneWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		thread := w.room.NewThread(w.kai, "Lunch")
		chat := w.room.ID.String()
		for _, p := range []adapters.OutgoingMessage{
			{Text: "one", Face: adapters.AgentPersona{Name: "Ada"}},
			{Text: "two", Face: adapters.AgentPersona{Name: "Clyde from Discord"}},
			{Text: "three", Face: adapters.AgentPersona{Name: "Ada"}, Thread: thread.ID.String()},
		} {
			r := w.send(p)
			ref := adapters.MessageRef{Chat: chat, Thread: p.Thread, Message: r.Message}
			if err := w.client.Edit(t.Context(), ref, p.Text+"!"); err != nil {
				t.Error(err)
			}
		}
		got := append(w.room.Sent(w.bot), thread.Sent(w.bot)...)
		for i, want := range []struct{ name, content string }{{"Ada", "one!"}, {"clyd3 from disc0rd", "two!"}, {"Ada", "three!"}} {
			if got[i].Name != want.name || got[i].Content != want.content || got[i].Webhook != got[0].Webhook || got[i].Webhook == 0 {
				t.Errorf("message %d is %+v, want %+v by webhook %s", i, got[i], want, got[0].Webhook)
			}
		}
		if err := w.client.Delete(t.Context(), adapters.MessageRef{Chat: chat, Message: got[0].ID.String()}); err != nil || !w.room.Sent(w.bot)[0].Deleted {
			t.Errorf("delete: %v", err)
		}
		if heard := w.inbox.take(); len(texts(heard)) != 0 {
			t.Errorf("we heard ourselves: %q", texts(heard))
		}
		w.room.Says(w.kai, "right, Max", fakediscord.PostOptions{ReplyTo: got[1].ID})
		if _, m := body[adapters.IncomingMessage](t, w.inbox.take()); !m.ToUs {
			t.Error("an answer to a face of ours is not meant for us")
		}
		w.room.DropWebhooks()
		w.send(adapters.OutgoingMessage{Text: "four", Face: adapters.AgentPersona{Name: "Ada"}})
		if got := w.room.Sent(w.bot); got[2].Content != "four" || got[2].Webhook == got[1].Webhook {
			t.Errorf("after the webhook was deleted: %+v", got[2])
		}
		again := w.newClient()
		if _, err := again.Send(t.Context(), adapters.OutgoingMessage{Chat: chat, Text: "five", Face: adapters.AgentPersona{Name: "Max"}}); err != nil {
			t.Fatal(err)
		}
		if got := w.room.Sent(w.bot); got[3].Webhook != got[2].Webhook {
			t.Error("a new process made a second webhook")
		}
	})
}

// PLATFORMS 3.3: refused calls are counted against the address of the caller, so that
// an answer which grows by edits of a webhook's message is refused once at most.
func TestAWebhooksMessageIsRefusedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		r := w.send(adapters.OutgoingMessage{Text: "one", Face: adapters.AgentPersona{Name: "Max"}})
		for range 5 {
			testutil.OK(t, w.client.Edit(t.Context(), adapters.MessageRef{Chat: w.room.ID.String(), Message: r.Message}, "one and more"))
		}
		refused := 0
		for _, c := range w.Ledger().Calls {
			if c.Status == http.StatusForbidden {
				refused++
			}
		}
		if refused > 1 {
			t.Errorf("%d of five edits were refused first, want one at most", refused)
		}
	})
}

// Where a webhook may not be, the message is sent all the same.
func TestWithoutARightToWebhooksTheBotSpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.room.Denies(fakediscord.ManageWebhooks)
		w.send(adapters.OutgoingMessage{Text: "hello", Key: "k", Face: adapters.AgentPersona{Name: "Max"}})
		if got := w.room.Sent(w.bot); len(got) != 1 || got[0].Name != "ada" || got[0].Webhook != 0 {
			t.Errorf("sent %+v", got)
		}
	})
}

// F45, PLATFORMS 3.3: the limits that Discord names are kept, so that it never
// has to refuse; those it names with a refusal are told.
func TestNamedLimitsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, fakediscord.Options{Limits: true}, fakediscord.BotProfile{})
		chat := w.room.ID.String()
		for sent := 0; sent < 40; {
			_, err := w.client.Send(t.Context(), adapters.OutgoingMessage{Chat: chat, Text: "x"})
			e, limited := errors.AsType[*adapters.Error](err)
			switch {
			case err == nil:
				sent++
			case limited && e.Kind == adapters.Limited && e.RetryAfter > 0:
				pass(e.RetryAfter)
			default:
				t.Fatal(err)
			}
		}
		for _, c := range w.Ledger().Calls {
			if c.Status == http.StatusTooManyRequests {
				t.Errorf("%s came %s too early", c.Method, c.Early)
			}
		}
	})
}

// F45: a limit by what comes before Discord is no JSON.
func TestACloudflareLimitIsALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.Fault(fake.CallFault{Method: "create message", Do: fake.HTML, Status: http.StatusTooManyRequests, RetryAfter: 30})
		p := adapters.OutgoingMessage{Chat: w.room.ID.String(), Text: "x"}
		for _, want := range []time.Duration{30 * time.Second, 20 * time.Second} {
			_, err := w.client.Send(t.Context(), p)
			if e, ok := errors.AsType[*adapters.Error](err); !ok || e.Kind != adapters.Limited || e.RetryAfter != want {
				t.Errorf("got %v, want limited for %s", err, want)
			}
			pass(10 * time.Second)
		}
		calls := 0
		for _, c := range w.Ledger().Calls {
			if c.Method == "create message" {
				calls++
			}
		}
		if calls != 1 {
			t.Errorf("%d calls, want one: all are counted together", calls)
		}
	})
}

// F46: what can never succeed is told apart.
func TestRefusalsAreToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		gone := w.guild.NewChannel("gone", fakediscord.TextChannel)
		gone.Drops()
		hidden := w.guild.NewChannel("hidden", fakediscord.TextChannel)
		hidden.Denies(1 << 10)
		quiet := w.guild.NewChannel("quiet", fakediscord.TextChannel)
		quiet.Denies(1 << 11)
		room := w.room.ID.String()
		for name, test := range map[string]struct {
			post adapters.OutgoingMessage
			want adapters.FailureKind
		}{
			"channel gone":   {adapters.OutgoingMessage{Chat: gone.ID.String(), Text: "x"}, adapters.NoTarget},
			"thread gone":    {adapters.OutgoingMessage{Chat: room, Thread: "4711", Text: "x"}, adapters.NoTarget},
			"not shown":      {adapters.OutgoingMessage{Chat: hidden.ID.String(), Text: "x"}, adapters.Forbidden},
			"may not write":  {adapters.OutgoingMessage{Chat: quiet.ID.String(), Text: "x"}, adapters.Forbidden},
			"too long":       {adapters.OutgoingMessage{Chat: room, Text: strings.Repeat("x", 2001)}, adapters.Invalid},
			"empty":          {adapters.OutgoingMessage{Chat: room, Text: " "}, adapters.Invalid},
			"no channel":     {adapters.OutgoingMessage{Chat: "general", Text: "x"}, adapters.Invalid},
			"too many files": {adapters.OutgoingMessage{Chat: room, Text: "x", Files: make([]adapters.OutgoingFile, 11)}, adapters.Invalid},
		} {
			if _, err := w.client.Send(t.Context(), test.post); adapters.KindOf(err) != test.want || err == nil {
				t.Errorf("%s: %v, want %s", name, err, test.want)
			}
		}
	})
}

// PLATFORMS 3.3: a message to a forum begins a thread, also where Discord refuses one
// without a tag.
func TestForumsThatNeedATagGetOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		forum := w.guild.NewChannel("ideas", fakediscord.Forum)
		forum.NeedsTag("!announced", "bread", "cake")
		synctest.Wait()
		for text, want := range map[string]string{"What about tea?": "bread", "Announced: a cake": "cake"} {
			for _, p := range []adapters.OutgoingMessage{{Chat: forum.ID.String(), Text: text}, voiced(forum.ID.String(), text+" Or not?")} {
				r, err := w.client.Send(t.Context(), p)
				if err != nil || r.Message == "" {
					t.Fatal(err)
				}
				th := forum.Threads()[p.Text]
				if th == nil {
					t.Fatalf("no thread for %q", p.Text)
				}
				if got := th.Tagged(forum); !slices.Equal(got, []string{want}) {
					t.Errorf("%q is tagged %q, want %s", p.Text, got, want)
				}
			}
		}
	})
}

// SEQ-99, R-23: what is left of a conversation's verbs.
func TestForumsReactionsAndEmoji(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		forum := w.guild.NewChannel("ideas", fakediscord.Forum)
		blob := w.guild.AddEmoji("blob")
		synctest.Wait()
		r, err := w.client.Send(t.Context(), adapters.OutgoingMessage{Chat: forum.ID.String(), Text: "**New** bread\n\nWhat do you think?"})
		if err != nil || r.Message == "" {
			t.Fatal(err)
		}
		id := w.says("nice :blob:?")
		w.send(adapters.OutgoingMessage{Text: "nice :blob: `:blob:` :nope:"})
		if got, want := w.room.Sent(w.bot)[0].Content, "nice <:blob:"+blob.String()+"> `:blob:` :nope:"; got != want {
			t.Errorf("sent %q, want %q", got, want)
		}
		ref := adapters.MessageRef{Chat: w.room.ID.String(), Message: id.String()}
		for _, emoji := range []string{"👍", ":blob:", "❤️", "❤️", ""} {
			if err := w.client.React(t.Context(), ref, emoji); err != nil {
				t.Errorf("react %q: %v", emoji, err)
			}
		}
		if err := w.client.React(t.Context(), ref, ":nope:"); adapters.KindOf(err) != adapters.Invalid || err == nil {
			t.Errorf("an unknown emoji: %v", err)
		}
		var emoji []string
		for _, u := range w.inbox.take() {
			if r, ok := u.Body.(adapters.ReactionChange); ok {
				emoji = append(emoji, r.New...)
			}
		}
		if len(emoji) != 0 {
			t.Errorf("we heard our own reactions: %q", emoji)
		}
		w.room.Reacts(w.kai, id, "🔥")
		if u, r := body[adapters.ReactionChange](t, w.inbox.take()); !cmp.Equal(r.New, []string{"🔥"}) || u.From.Name != "Kai" {
			t.Errorf("got %+v", u)
		}
	})
}

// issue 5: two accounts in one process know nothing of each other.
func TestTwoAccountsInOneProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := open(t), open(t)
		b.bot.Close(4000)
		a.says("to a")
		b.says("to b")
		pass(5 * time.Second)
		for _, w := range []*world{a, b} {
			want := map[*world]string{a: "to a", b: "to b"}[w]
			if got := texts(w.inbox.take()); !cmp.Equal(got, []string{want}) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}

// PLATFORMS 0.10, SECURITY S16: an address that is a credential shows nowhere.
func TestAWebhooksAddressIsInNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		p := adapters.OutgoingMessage{Chat: w.room.ID.String(), Text: "x", Face: adapters.AgentPersona{Name: "Max"}}
		for _, do := range []fake.FaultKind{fake.Cut, fake.HTML, fake.Garbage, fake.Refuse, fake.Hang} {
			w.Fault(fake.CallFault{Method: "execute webhook", Do: do})
			_, err := w.client.Send(t.Context(), p)
			if err == nil || strings.Contains(err.Error(), "hook-secret") || strings.Contains(err.Error(), rigToken) {
				t.Errorf("%s: %v", do, err)
			}
		}
	})
}
