package telegram_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters/fake/telegram"
)

// drain polls until nothing is left and returns the updates.
func (w world) drain(t *testing.T) []update {
	t.Helper()
	var all []update
	for offset := int64(0); ; {
		us := w.poll(t, offset, fields{"timeout": "1"})
		if len(us) == 0 {
			return all
		}
		all = append(all, us...)
		offset = us[len(us)-1].ID + 1
	}
}

func TestAGroupMovesAndTheOldIDPointsToTheNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		old := w.NewGroup("Family", w.maya)
		old.Adds(w.maya, w.bot)
		to := old.Migrates(w.maya)
		a := w.call(t, "sendMessage", fields{"chat_id": id(old.ID()), "text": "x"})
		if a.Code != 400 || a.Parameters.MigrateTo != to.ID() || a.Description != "Bad Request: group chat was upgraded to a supergroup chat" {
			t.Errorf("the old id got %+v, want a pointer to %d", a, to.ID())
		}
		w.send(t, to.ID(), "x", nil)
		var tos, froms []int64
		for _, u := range w.drain(t) {
			if u.Message != nil && u.Message.MigrateTo != 0 {
				tos = append(tos, u.Message.MigrateTo)
			}
			if u.Message != nil && u.Message.MigrateFrom != 0 {
				froms = append(froms, u.Message.MigrateFrom)
			}
		}
		if !cmp.Equal(tos, []int64{to.ID()}) || !cmp.Equal(froms, []int64{old.ID()}) {
			t.Errorf("service messages to %v, from %v", tos, froms)
		}
	})
}

// A trap of the platform: in a topic, a message that answers nothing refers to
// the topic's first message; in a plain supergroup an answer has a thread id
// without being in a topic.
func TestThreadsLookAsTheyDoThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		forum := w.NewForum("Family", w.maya)
		forum.Adds(w.maya, w.bot)
		topic := forum.NewTopic(w.maya, "Food")
		forum.Says(w.maya, "pasta?", telegram.PostOptions{Thread: topic})
		forum.Says(w.maya, "in general", telegram.PostOptions{})
		plain := w.NewSupergroup("Work", w.maya)
		plain.Adds(w.maya, w.bot)
		q := plain.Says(w.maya, "question", telegram.PostOptions{})
		first := plain.Says(w.maya, "answer", telegram.PostOptions{ReplyTo: q})
		plain.Says(w.maya, "to the answer", telegram.PostOptions{ReplyTo: first})

		got := map[string]message{}
		for _, u := range w.drain(t) {
			if u.Message != nil && u.Message.Text != "" {
				got[u.Message.Text] = *u.Message
			}
		}
		pasta := got["pasta?"]
		if !pasta.IsTopic || pasta.Thread != topic || pasta.ReplyTo == nil || pasta.ReplyTo.TopicCreated == nil {
			t.Errorf("in a topic: %+v", pasta)
		}
		if g := got["in general"]; g.IsTopic || g.Thread != 0 || g.ReplyTo != nil {
			t.Errorf("in the general topic: %+v", g)
		}
		for _, text := range []string{"answer", "to the answer"} {
			if a := got[text]; a.IsTopic || a.Thread != q {
				t.Errorf("%q in a plain supergroup: thread %d, topic %v; want %d, false", text, a.Thread, a.IsTopic, q)
			}
		}
		m := w.send(t, forum.ID(), "with cheese", fields{"message_thread_id": id(topic)})
		if !m.IsTopic || m.Thread != topic {
			t.Errorf("our own message in the topic: %+v", m)
		}
	})
}

// PLATFORMS 1.5: privacy mode and bot-to-bot mode.
func TestABotSeesOnlyWhatItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		shy := w.AddBot(telegram.BotProfile{Token: "78:b", Name: "Shy", Username: "shy_bot", Privacy: true})
		social := w.AddBot(telegram.BotProfile{Token: "79:c", Name: "Social", Username: "social_bot", SeesBots: true})
		g := w.NewSupergroup("Family", w.maya)
		for _, b := range []*telegram.BotUser{w.bot, shy, social} {
			g.Adds(w.maya, b)
		}
		as := func(b *telegram.BotUser) world {
			x := w
			x.token = b.Token()
			return x
		}
		for _, b := range []*telegram.BotUser{w.bot, shy, social} {
			as(b).drain(t)
		}
		shys := as(shy).send(t, g.ID(), "I am shy", nil)
		g.Says(w.maya, "just talking", telegram.PostOptions{})
		g.Says(w.maya, "hey @shy_bot", telegram.PostOptions{})
		g.Says(w.maya, "/stop", telegram.PostOptions{})
		g.Says(w.maya, "/stop@ada_bot", telegram.PostOptions{})
		g.Says(w.maya, "indeed", telegram.PostOptions{ReplyTo: shys.ID})
		as(w.bot).send(t, g.ID(), "a bot talks", nil)

		for b, want := range map[*telegram.BotUser][]string{
			w.bot:  {"just talking", "hey @shy_bot", "/stop", "/stop@ada_bot", "indeed"},
			shy:    {"hey @shy_bot", "/stop", "indeed"},
			social: {"I am shy", "just talking", "hey @shy_bot", "/stop", "/stop@ada_bot", "indeed", "a bot talks"},
		} {
			var got []string
			for _, u := range as(b).drain(t) {
				got = append(got, u.Message.Text)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s saw (-want +got)\n%s", b.Username(), d)
			}
		}
	})
}

func TestComingsAndGoingsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		kai := w.AddPerson(telegram.UserProfile{Name: "Kai"})
		g := w.NewSupergroup("Family", w.maya)
		g.Adds(w.maya, w.bot)
		g.Joins(kai)
		g.Renames(w.maya, "Clan")
		g.Pins(w.maya, g.Says(kai, "pin me", telegram.PostOptions{}))
		g.Leaves(kai, kai)
		g.Kicks(w.maya, w.bot)
		g.Says(w.maya, "unheard", telegram.PostOptions{})

		var got []string
		for _, u := range w.drain(t) {
			switch m := u.Message; {
			case u.MyMember != nil:
				got = append(got, "mine "+u.MyMember.New.Status)
			case len(m.NewMembers) > 0:
				got = append(got, "new "+id(m.NewMembers[0].ID))
			default:
				got = append(got, "message "+m.Text)
			}
		}
		want := []string{"mine member", "new 77", "new " + id(kai.ID), "message ", "message pin me", "message ", "message ", "mine kicked"}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		if g.Title() != "Clan" {
			t.Errorf("title %q, want Clan", g.Title())
		}
	})
}

func TestAChannelSpeaksAsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		c := w.NewChannel("News", w.maya)
		c.Adds(w.maya, w.bot)
		c.Says(w.maya, "extra", telegram.PostOptions{})
		us := w.drain(t)
		p := us[len(us)-1].Post
		if p == nil || p.Text != "extra" || p.From.ID != 0 || p.SenderChat == nil || p.SenderChat.ID != c.ID() {
			t.Errorf("got %+v, want a post of the channel", p)
		}
	})
}

func TestAnInjectedUpdateArrivesAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		for _, members := range []string{`{"brand_new":{"x":1}}`, `{"message":"not an object"}`, `{}`} {
			want, err := w.bot.Inject(json.RawMessage(members))
			if err != nil {
				t.Fatal(err)
			}
			var raw []map[string]json.RawMessage
			w.must(t, &raw, "getUpdates", fields{"offset": id(want)})
			if got := string(raw[0]["update_id"]); got != id(want) {
				t.Errorf("%s: update_id %s, want %d", members, got, want)
			}
			delete(raw[0], "update_id")
			b, err := json.Marshal(raw[0])
			if err != nil || string(b) != members {
				t.Errorf("got %s, %v; want %s", b, err, members)
			}
		}
		for _, bad := range []string{`null`, `[]`, `{`} {
			if _, err := w.bot.Inject(json.RawMessage(bad)); err == nil {
				t.Errorf("%s was taken", bad)
			}
		}
	})
}

func TestWaitingForWhatABotSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		go func() {
			pass(time.Minute)
			w.call(t, "sendMessage", fields{"chat_id": id(chat.ID()), "text": "at last"})
		}()
		sent, err := chat.AwaitSent(t.Context(), 1)
		if err != nil || len(sent) != 1 || sent[0].Text != "at last" {
			t.Errorf("got %+v, %v", sent, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := chat.AwaitSent(ctx, 2); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting in vain gave %v", err)
		}
	})
}

func TestARevokedTokenIsUnauthorized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		w.bot.Revoke()
		if a := w.call(t, "getMe", nil); a.Code != 401 {
			t.Errorf("got %+v, want 401", a)
		}
	})
}
