package discord_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
)

// voiced is a person's words from another chat.
func voiced(chat, text string) adapters.OutgoingMessage {
	return adapters.OutgoingMessage{Chat: chat, Text: text, Unmasked: "**Zoe** (Slack): " + text, Face: adapters.AgentPersona{Name: "Zoe (Slack)"}}
}

// SEQ-96, issue 5: people's words from another chat stand under their name where
// we may have a webhook, else behind it; their edits do the same.
func TestCarriedWordsAlwaysShowWhoseTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		shut := w.guild.NewChannel("shut", fakediscord.TextChannel)
		shut.Denies(fakediscord.ManageWebhooks)
		direct := w.bot.Direct(w.kai)
		for _, c := range []struct {
			room       *fakediscord.GuildChannel
			name, want string
			edited     string
		}{
			{w.room, "Zoe (Slack)", "hello", "hi"},
			{shut, "ada", "**Zoe** (Slack): hello", "**Zoe** (Slack): hi"},
			{direct, "ada", "**Zoe** (Slack): hello", "**Zoe** (Slack): hi"},
		} {
			p := voiced(c.room.ID.String(), "hello")
			r := w.send(p)
			if got := c.room.Sent(w.bot)[0]; got.Name != c.name || got.Content != c.want {
				t.Errorf("%q says %q, want %q to say %q", got.Name, got.Content, c.name, c.want)
			}
			ref := adapters.MessageRef{Chat: p.Chat, Message: r.Message}
			again := w.newClient() // which knows nothing of what was sent how
			if err := again.EditAs(t.Context(), ref, "hi", "**Zoe** (Slack): hi"); err != nil {
				t.Error(err)
			}
			if got := c.room.Sent(w.bot)[0].Content; got != c.edited {
				t.Errorf("edited to %q, want %q", got, c.edited)
			}
			if err := w.newClient().Delete(t.Context(), ref); err != nil || !c.room.Sent(w.bot)[0].Deleted {
				t.Errorf("not deleted by another process: %v", err)
			}
		}
		if got := texts(w.inbox.take()); len(got) != 0 {
			t.Errorf("we heard ourselves: %q", got) // K20: no echo of a webhook is anybody's message
		}
	})
}

// PLATFORMS 3.3: a channel that lets us have no webhook is not asked with every
// message; and after a while it is.
func TestAChannelWithoutWebhooksIsNotAskedAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		chat := w.room.ID.String()
		asked := func() (n int) {
			for _, c := range w.Ledger().Calls {
				if c.Method == "get webhooks" {
					n++
				}
			}
			return n
		}
		w.room.Denies(fakediscord.ManageWebhooks)
		for range 3 {
			w.send(voiced(chat, "hello"))
		}
		if n := asked(); n != 1 || w.client.SupportsPersona(chat) {
			t.Errorf("asked %d times, want once; has faces: %t", n, w.client.SupportsPersona(chat))
		}
		pass(11 * time.Minute)
		w.send(voiced(chat, "hello"))
		if n := asked(); n != 2 {
			t.Errorf("asked %d times after eleven minutes, want twice", n)
		}
	})
}

// PLATFORMS 3.3: all that is said in a forum is said in threads; a face begins one
// as we do.
func TestAFaceBeginsAThreadOfAForum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		forum := w.guild.NewChannel("ideas", fakediscord.Forum)
		r := w.send(voiced(forum.ID.String(), "a *round* table\nfor all"))
		th := forum.Threads()["a round table"]
		if th == nil {
			t.Fatalf("the forum has %d threads, none by the first words", len(forum.Threads()))
		}
		if got := th.Sent(w.bot); len(got) != 1 || got[0].Name != "Zoe (Slack)" || got[0].ID.String() != r.Message {
			t.Errorf("in the thread: %+v, receipt %+v", got, r)
		}
	})
}

// DELIVERY K17, I6: a webhook's message whose answer was lost is found by its author
// and text since it was decided; messages of other authors, and earlier ones, are not
// taken for it.
func TestOnlyTheSameWordsOfTheSameFaceAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		chat := w.room.ID.String()
		found := func(c adapters.DeliveryChecker, p adapters.OutgoingMessage) bool {
			t.Helper()
			_, ok, err := c.Find(t.Context(), p)
			if err != nil {
				t.Error(err)
			}
			return ok
		}
		earlier := voiced(chat, "ok")
		earlier.Key, earlier.Decided = "1", time.Now()
		w.send(earlier)
		pass(time.Minute)
		p := voiced(chat, "ok")
		p.Key, p.Decided = "2", time.Now()
		other := p
		other.Face.Name = "Lee (Slack)"
		w.send(other)
		if found(w.client, p) || found(w.newClient(), p) {
			t.Error("other words were taken for these")
		}
		w.Fault(fake.CallFault{Method: "execute webhook", Do: fake.Cut, Apply: true})
		if _, err := w.client.Send(t.Context(), p); adapters.KindOf(err) != adapters.Unknown {
			t.Fatalf("sending: %v, want unknown", err)
		}
		if !found(w.client, p) || !found(w.newClient(), p) {
			t.Error("what arrived is not found")
		}
	})
}
