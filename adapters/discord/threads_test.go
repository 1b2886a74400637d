package discord_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// SEQ-96: a thread on a message is opened once, found again by a later process and
// after an answer that got lost, and never where Discord has none.
func TestAThreadOnAMessageIsOpenedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.room.Says(w.kai, "who comes?", fakediscord.PostOptions{})
		id := w.says("who brings **cake**?")
		m := adapters.MessageRef{Chat: w.room.ID.String(), Message: id.String()}
		lost := w.Fault(fake.CallFault{Method: "open thread", Do: fake.Cut, Apply: true})
		if _, err := w.client.Thread(t.Context(), m, "who brings **cake**?"); err == nil || adapters.KindOf(err).Permanent() {
			t.Errorf("a lost answer: %v", err)
		}
		for _, client := range []any{w.client, w.newClient()} {
			got, err := client.(adapters.ThreadOpener).Thread(t.Context(), m, "who brings **cake**?")
			if err != nil || got != m.Message {
				t.Errorf("got %q, %v", got, err)
			}
		}
		if threads := w.room.Threads(); len(threads) != 1 || threads["who brings cake?"] == nil || lost.Hits() != 1 {
			t.Errorf("threads %v", threads)
		}
		for name, kind := range map[string]int{"voice": fakediscord.VoiceChannel, "stage": fakediscord.StageChannel} {
			room := w.guild.NewChannel(name, kind)
			m := adapters.MessageRef{Chat: room.ID.String(), Message: room.Says(w.kai, "hear, hear", fakediscord.PostOptions{}).String()}
			if _, err := w.client.Thread(t.Context(), m, "x"); adapters.KindOf(err) != adapters.Invalid || err == nil {
				t.Errorf("in the chat of a %s channel: %v", name, err)
			}
		}
		forum := w.guild.NewChannel("ideas", fakediscord.Forum)
		r, err := w.client.Send(t.Context(), adapters.OutgoingMessage{Chat: forum.ID.String(), Text: "bread"})
		testutil.OK(t, err)
		if got, err := w.client.Thread(t.Context(), adapters.MessageRef{Chat: forum.ID.String(), Message: r.Message}, "x"); err != nil || got != r.Message {
			t.Errorf("in a forum: %q, %v", got, err)
		}
	})
}

// SEQ-99, R-23: a message is edited, reacted to and deleted in the channel that holds
// it: its thread, the parent channel for the one that a thread began on, the forum's
// thread that it began.
func TestMessagesOfThreadsAreChangedWhereTheyStand(t *testing.T) {
	for _, face := range []adapters.AgentPersona{{}, {Name: "Max"}} {
		t.Run(fmt.Sprintf("face %q", face.Name), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				forum := w.guild.NewChannel("ideas", fakediscord.Forum)
				thread := w.room.NewThread(w.kai, "food")
				synctest.Wait()
				chat, other := w.room.ID.String(), thread.ID.String()
				post := func(p adapters.OutgoingMessage) string {
					p.Text, p.Face = "soup", face
					r, err := w.client.Send(t.Context(), p)
					testutil.OK(t, err)
					return r.Message
				}
				root := post(adapters.OutgoingMessage{Chat: chat})
				on, err := w.client.Thread(t.Context(), adapters.MessageRef{Chat: chat, Message: root}, "soup")
				testutil.OK(t, err)
				begun := post(adapters.OutgoingMessage{Chat: forum.ID.String()})
				for _, m := range []adapters.MessageRef{
					{Chat: chat, Thread: other, Message: post(adapters.OutgoingMessage{Chat: chat, Thread: other})}, // in its thread
					{Chat: chat, Thread: other, Message: post(adapters.OutgoingMessage{Chat: chat})},                // in the chat
					{Chat: chat, Thread: on, Message: root},                                                         // what a thread hangs on
					{Chat: forum.ID.String(), Message: begun},                                                       // what began a forum's
					{Chat: forum.ID.String(), Thread: begun, Message: begun},                                        // what began a forum's, in it
				} {
					for verb, do := range map[string]func() error{
						"edit":  func() error { return w.client.Edit(t.Context(), m, "bread") },
						"react": func() error { return w.client.React(t.Context(), m, "👍") },
					} {
						if err := do(); err != nil {
							t.Errorf("%s %+v: %v", verb, m, err)
						}
					}
					if m.Message == begun && m.Thread == "" {
						continue // is deleted as the one in it
					}
					if err := w.client.Delete(t.Context(), m); err != nil {
						t.Errorf("delete %+v: %v", m, err)
					}
				}
				var left []string
				for _, room := range []*fakediscord.GuildChannel{w.room, thread, forum.Threads()["soup"]} {
					for _, m := range room.Sent(w.bot) {
						if !m.Deleted || m.Content == "soup" {
							left = append(left, m.Content)
						}
					}
				}
				testutil.Same(t, "left as they were", []string(nil), left)
			})
		})
	}
}

// PLATFORMS 3.3, SEQ-99: in a thread that was put away a message is edited, deleted and
// reacted to all the same; one that is locked stays as it is.
func TestMessagesOfAThreadThatWasPutAwayAreChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		chat := w.room.ID.String()
		for _, face := range []adapters.AgentPersona{{}, {Name: "Max"}} {
			thread := w.room.NewThread(w.kai, "aside"+face.Name)
			in := thread.ID.String()
			sent := w.send(adapters.OutgoingMessage{Thread: in, Text: "one", Face: face})
			at := adapters.MessageRef{Chat: chat, Thread: in, Message: sent.Message}
			thread.Archive()
			if err := w.client.Edit(t.Context(), at, "two"); err != nil {
				t.Error(err)
			}
			thread.Archive()
			if err := w.client.React(t.Context(), at, "👍"); err != nil {
				t.Error(err)
			}
			if got := thread.Sent(w.bot); got[0].Content != "two" || len(got[0].Reactions) != 1 {
				t.Errorf("face %q: %+v", face.Name, got)
			}
			thread.Locks()
			if err := w.client.Delete(t.Context(), at); adapters.KindOf(err) != adapters.NoTarget || err == nil {
				t.Errorf("face %q: %v, want no target", face.Name, err)
			}
			thread.Archive()
			if err := w.client.Delete(t.Context(), at); err != nil || !thread.Sent(w.bot)[0].Deleted {
				t.Errorf("face %q: not deleted, %v", face.Name, err)
			}
		}
		thread := w.room.NewThread(w.kai, "in trouble")
		at := adapters.MessageRef{Chat: chat, Thread: thread.ID.String(), Message: w.send(adapters.OutgoingMessage{Thread: thread.ID.String(), Text: "one"}).Message}
		thread.Archive()
		w.Fault(fake.CallFault{Method: "edit channel", Do: fake.Refuse, RetryAfter: 5})
		if err := w.client.Delete(t.Context(), at); adapters.KindOf(err) != adapters.Limited || err == nil {
			t.Errorf("%v, want limited", err)
		}
	})
}
