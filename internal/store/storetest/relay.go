package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/spaces"
)

var relayTests = map[string]func(*testing.T, *world){
	"WordsAreCarriedToTheOtherChats": carriedOver,
	"WhatIsDoneToWordsIsCarriedToo":  changesCarried,
	"NothingIsCarriedBack":           notBack,
}

// bridged opens a room whose two chats carry people's words to each other.
func (w *world) bridged() spaces.SpaceID {
	w.t.Helper()
	o := opening("family", "ada")
	o.Chats = append(o.Chats, spaces.Mapping{Account: account, Chat: other, Live: true})
	for i := range o.Chats {
		o.Chats[i].Relay = true
	}
	return w.open(o)
}

// carried returns what is due as lines: whose words, to which chat, what.
func (w *world) carried() (lines []string, due []spaces.Action) {
	w.t.Helper()
	due = w.due()
	for _, a := range due {
		lines = append(lines, string(a.Kind)+" "+a.Voice+" "+a.Via+" → "+a.Chat+": "+a.Text)
	}
	return lines, due
}

// SEQ-96, commit 1: the copies are ordered with the event, once.
func carriedOver(t *testing.T, w *world) {
	room := w.bridged()
	said := w.message(room, "zoe", "hello **there**")
	said.Event.Body = spaces.Said{Text: "hello **there**", Attachments: []spaces.Attachment{{Kind: "photo", ID: "f1", Name: "lake.jpg"}}}
	done := w.record(said)
	again := w.record(said)
	if !cmp.Equal(done.Waiting, []string{account}) || len(again.Waiting) != 0 {
		t.Errorf("accounts with something to carry: %q, and for the duplicate %q", done.Waiting, again.Waiting)
	}
	lines, due := w.carried()
	if diff := cmp.Diff([]string{"send zoe telegram → " + other + ": hello **there**\n\n📎 photo lake.jpg"}, lines); diff != "" {
		t.Fatalf("carried (-want +got):\n%s", diff)
	}
	before := len(w.log(room))
	w.settleAll(due)
	if got := len(w.log(room)); got != before {
		t.Errorf("%d events tell of the copy", got-before)
	}
	event := w.last(room)
	where, err := w.s.Border.Where(t.Context(), account, other, event.ID)
	w.ok(err)
	if len(where) != 1 {
		t.Errorf("the copy stands at %v", where)
	}
	answer := w.message(room, "tom", "hi")
	answer.Ref.Chat, answer.ReplyRef, answer.ByReply = other, where[0], true
	answer.Event.Body = spaces.Said{Text: "hi", ToUs: true}
	w.record(answer)
	got := w.last(room)
	if got.ReplyTo != event.ID || got.Body.(spaces.Said).ToUs {
		t.Errorf("the answer to the copy is %+v, want one to zoe", got)
	}
	if lines, due = w.carried(); len(due) != 1 || due[0].Chat != chat || due[0].Target != event.ID {
		t.Errorf("the answer is carried as %v", lines)
	}
	w.settleAll(due)
}

// SEQ-96: edits, deletes and reactions follow the words.
func changesCarried(t *testing.T, w *world) {
	room := w.bridged()
	said := w.message(room, "zoe", "hello")
	w.record(said)
	_, due := w.carried()
	w.settleAll(due)
	for _, c := range []struct {
		body spaces.Body
		want string
	}{
		{spaces.Edited{Ref: said.Ref, Text: "hello you"}, "edit zoe telegram → " + other + ": hello you"},
		{spaces.Reacted{Ref: said.Ref, Emoji: "👍"}, "react zoe telegram → " + other + ": 👍"},
		{spaces.Deleted{Ref: said.Ref}, "delete zoe telegram → " + other + ": "},
	} {
		w.record(w.fact(room, "zoe", c.body))
		lines, due := w.carried()
		if diff := cmp.Diff([]string{c.want}, lines); diff != "" {
			t.Errorf("%s is carried as (-want +got):\n%s", c.body.Kind(), diff)
		}
		w.settleAll(due)
	}
}

// SEQ-96, K20: nothing goes round: not the echo of a copy, nor what becomes of
// the copy itself, nor what an agent says.
func notBack(t *testing.T, w *world) {
	room := w.bridged()
	w.record(w.message(room, "zoe", "hello"))
	_, due := w.carried()
	s := w.sent(due[0])
	w.settle(s)
	echo := w.message(room, "bot", "hello")
	echo.Ref = s.Ref
	w.record(echo, w.fact(room, "tom", spaces.Edited{Ref: s.Ref, Text: "changed"}), w.fact(room, "tom", spaces.Deleted{Ref: s.Ref}))
	if lines, _ := w.carried(); len(lines) != 0 {
		t.Errorf("carried back: %q", lines)
	}
	w.speak(room, spaces.Effect{Text: "mine"})
	lines, due := w.carried()
	for _, a := range due {
		if a.Agent == "" && a.Text == "mine" {
			t.Errorf("an agent's words are carried: %q", lines)
		}
	}
	w.settleAll(due)
}
