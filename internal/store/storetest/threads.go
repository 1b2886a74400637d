package storetest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/spaces"
)

var threadTests = map[string]func(*testing.T, *world){
	"ThreadsOfAllChatsAreOne":          threadsMeet,
	"ThreadsOfOneNameAreTwo":           namesakes,
	"AThreadWithoutARootHasOne":        rootless,
	"WhatAnswersAChainIsInIt":          chains,
	"WhatIsDoneInAThreadStaysThere":    doneInThread,
	"AgentsSpeakInTheThreadEverywhere": spokenInThread,
	"NoThreadIsCalledByDeletedWords":   unsaidThread,
}

// inChat makes an item one of a chat and a thread of it.
func (w *world) inChat(it spaces.IngestItem, id, thread string) spaces.IngestItem {
	it.Chat, it.Event.Thread = id, spaces.ThreadID(thread)
	if it.Ref.Message != "" {
		it.Ref.Chat = id
	}
	return it
}

// hears records one message of a chat and a thread of it, and returns its event.
func (w *world) hears(room spaces.SpaceID, from, text, id, thread string) spaces.Event {
	w.t.Helper()
	w.record(w.inChat(w.message(room, from, text), id, thread))
	return w.last(room)
}

// deliver sends all that is due, what woke an agent first, and returns how it was addressed: the chat, its
// thread, and the thread of the room.
func (w *world) deliver() (lines []string) {
	w.t.Helper()
	for due := w.due(); len(due) > 0; due = w.due() {
		for _, a := range due {
			lines = append(lines, string(a.Kind)+" "+a.Chat+"/"+string(a.Thread)+"/"+string(a.RoomThread)+" "+a.Text)
		}
		w.settleAll(due)
	}
	return lines
}

// place returns how a message is in a chat.
func (w *world) place(id string, e spaces.Event) string {
	w.t.Helper()
	refs, _, err := w.s.Border.MessageRefs(w.t.Context(), account, id, e.ID)
	w.ok(err)
	if len(refs) != 1 {
		w.t.Fatalf("%q stands %d times in %s", e.ID, len(refs), id)
	}
	return refs[0].Message
}

// moored returns how a thread of the room hangs in the other chat: how it is called
// there, its anchor, and its title.
func (w *world) moored(room spaces.SpaceID, thread spaces.ThreadID) [3]string {
	w.t.Helper()
	m, err := w.s.Border.ThreadAnchor(w.t.Context(), account, other, room, thread)
	w.ok(err)
	title, err := w.s.Border.ThreadTitle(w.t.Context(), room, thread)
	w.ok(err)
	return [3]string{string(m.There), m.Anchor.Message, title}
}

// SEQ-96: a thread on a message is the thread on its copy, both ways, and after a
// restart.
func threadsMeet(t *testing.T, w *world) {
	room := w.bridged()
	root := w.hears(room, "zoe", "who comes?", chat, "")
	w.deliver()
	copied, own := w.place(other, root), w.place(chat, root)
	first := w.hears(room, "zoe", "me", chat, own)
	if got := w.deliver(); !cmp.Equal(got, []string{"send " + other + "//" + own + " me"}) {
		t.Errorf("carried as %q", got)
	}
	if got := w.moored(room, first.Thread); got != [3]string{"", copied, "who comes?"} {
		t.Errorf("there it hangs on %q", got)
	}
	w.s = w.s.Restart(t, false)
	second := w.hears(room, "tom", "me too", other, copied)
	if got := w.deliver(); !cmp.Equal(got, []string{"send " + chat + "/" + own + "/ me too"}) {
		t.Errorf("carried back as %q", got)
	}
	if got := w.moored(room, first.Thread); got != [3]string{copied, copied, "who comes?"} {
		t.Errorf("there it is %q", got)
	}
	if first.Thread != spaces.ThreadID(own) || second.Thread != first.Thread {
		t.Errorf("the threads are %q and %q, want %q", first.Thread, second.Thread, own)
	}
}

// SEQ-96: what two chats call alike is not one thread.
func namesakes(t *testing.T, w *world) {
	room := w.bridged()
	here, there := w.hears(room, "zoe", "one", chat, "7"), w.hears(room, "tom", "two", other, "7")
	w.hears(room, "tom", "three", other, "7")
	if here.Thread == there.Thread || w.last(room).Thread != there.Thread {
		t.Errorf("threads %q, %q and %q", here.Thread, there.Thread, w.last(room).Thread)
	}
	got := w.deliver()
	slices.Sort(got)
	want := []string{
		"send " + chat + "//" + string(there.Thread) + " three", "send " + chat + "//" + string(there.Thread) + " two", "send " + other + "//7 one",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("carried (-want +got):\n%s", diff)
	}
	w.speak(room, spaces.RoomEffect{Text: "to two", Thread: there.Thread})
	if got := w.deliver()[1:]; !cmp.Equal(got, []string{"send " + chat + "//" + string(there.Thread) + " to two", "send " + other + "/7/ to two"}) {
		t.Errorf("the agent's words go to %q", got)
	}
}

// SEQ-96: a thread that hangs on no message hangs on its first; its name is told
// once or later.
func rootless(t *testing.T, w *world) {
	room := w.bridged()
	first := w.hears(room, "zoe", "soup?", chat, "7")
	w.deliver()
	copied := w.place(other, first)
	if got := w.moored(room, first.Thread); got != [3]string{"", copied, "soup?"} {
		t.Errorf("there it hangs on %q", got)
	}
	named := w.inChat(w.message(room, "zoe", "or bread?"), chat, "7")
	named.ThreadTitle = "Lunch"
	w.record(named)
	if got := w.moored(room, first.Thread); got[2] != "Lunch" {
		t.Errorf("it is called %q", got[2])
	}
	if e := w.hears(room, "tom", "both", other, copied); e.Thread != first.Thread {
		t.Errorf("the answer there is in %q", e.Thread)
	}
}

// SEQ-96: in a chat without threads what answers a message of one is part of it;
// what answers the message it hangs on need not be.
func chains(t *testing.T, w *world) {
	room := w.bridged()
	root := w.hears(room, "zoe", "who comes?", chat, "")
	w.deliver()
	inside := w.hears(room, "zoe", "me", chat, w.place(chat, root))
	w.deliver()
	for _, c := range []struct {
		about spaces.Event
		want  spaces.ThreadID
	}{{inside, inside.Thread}, {root, ""}} {
		answer := w.inChat(w.message(room, "tom", "fine"), other, "")
		answer.ReplyRef = spaces.MessageRef{Account: account, Chat: other, Message: w.place(other, c.about)}
		w.record(answer)
		if got := w.last(room).Thread; got != c.want {
			t.Errorf("the answer to %v is in %q, want %q", c.about.Body, got, c.want)
		}
	}
}

// SEQ-96: an edit, a reaction or a deletion is applied to the message in its own
// thread, whatever thread the platform's update names.
func doneInThread(t *testing.T, w *world) {
	room := w.bridged()
	inside := w.hears(room, "zoe", "me", chat, "7")
	w.deliver()
	copied := spaces.MessageRef{Account: account, Chat: other, Message: w.place(other, inside)}
	for want, body := range map[string]spaces.EventBody{
		"react " + other + "//7 👍":     spaces.ReactionAdded{Ref: inside.Body.(spaces.MessagePosted).Ref, Emoji: "👍"},
		"react " + chat + "/7/ 👀":      spaces.ReactionAdded{Ref: copied, Emoji: "👀"},
		"edit " + other + "//7 not me": spaces.MessageEdited{Ref: inside.Body.(spaces.MessagePosted).Ref, Text: "not me"},
	} {
		it := w.inChat(w.fact(room, "zoe", body), chat, "")
		if r, ok := body.(spaces.ReactionAdded); ok {
			it.Chat = r.Ref.Chat
		}
		w.record(it)
		if got := w.deliver(); !cmp.Equal(got, []string{want}) {
			t.Errorf("%s goes to %q, want %q", body.Kind(), got, want)
		}
	}
}

// SEQ-96: an agent's words go to the thread in every chat, and what became of them
// is told in it.
func spokenInThread(t *testing.T, w *world) {
	room := w.bridged()
	inside := w.hears(room, "zoe", "me", chat, "7")
	w.deliver()
	w.speak(room, spaces.RoomEffect{Text: "fine", Thread: inside.Thread})
	if got := w.deliver()[1:]; !cmp.Equal(got, []string{"send " + chat + "/7/ fine", "send " + other + "//7 fine"}) {
		t.Errorf("sent to %q", got)
	}
	for _, e := range w.log(room) {
		if e.Body.Kind() == spaces.KindDelivered && e.Thread != "7" {
			t.Errorf("delivery is told in %q", e.Thread)
		}
	}
}

// SEQ-96, SECURITY S14: a thread without a name is titled by the present text of its
// message, and has no title once that is deleted.
func unsaidThread(t *testing.T, w *world) {
	room := w.bridged()
	root := w.hears(room, "zoe", "the pin is 1234", chat, "")
	w.deliver()
	inside := w.hears(room, "zoe", "oh dear", chat, w.place(chat, root))
	said := root.Body.(spaces.MessagePosted).Ref
	w.record(w.inChat(w.fact(room, "zoe", spaces.MessageEdited{Ref: said, Text: "who has the pin?"}), chat, ""))
	if got := w.moored(room, inside.Thread)[2]; got != "who has the pin?" {
		t.Errorf("it is called %q", got)
	}
	w.record(w.inChat(w.fact(room, "zoe", spaces.MessageDeleted{Ref: said}), chat, ""))
	if got := w.moored(room, inside.Thread)[2]; got != "" {
		t.Errorf("after the deletion it is called %q", got)
	}
}
