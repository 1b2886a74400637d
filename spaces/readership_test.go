package spaces_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/spaces"
)

var people = []spaces.EntityID{"kai", "nova", "omar"}

// anyLog draws a log of people who come, speak, write in threads, and leave.
func anyLog(t *rapid.T) []spaces.Event {
	log := []spaces.Event{{Body: spaces.ChatLinked{Account: "telegram:1", Chat: "a"}}}
	for n := range rapid.IntRange(0, 40).Draw(t, "events") {
		e := spaces.Event{Seq: int64(n + 1), ID: spaces.EventID(fmt.Sprint(n))}
		who := rapid.SampledFrom(people).Draw(t, "who")
		switch rapid.IntRange(0, 10).Draw(t, "what") {
		case 0, 1, 2, 3:
			e.Actor, e.Body = who, spaces.MessagePosted{Text: "words"}
		case 4, 5:
			e.Actor, e.Body, e.Thread = who, spaces.MessagePosted{Text: "words"}, rapid.SampledFrom([]spaces.ThreadID{"a", "b"}).Draw(t, "thread")
		case 6:
			e.Body = spaces.MemberJoined{Who: who}
		case 7:
			e.Actor, e.Body = who, spaces.MessagePosted{Text: "long ago", Past: true}
		case 8:
			e.Body = spaces.ChatUnlinked{Account: "telegram:1", Chat: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "chat")}
		default:
			e.Body = spaces.MemberLeft{Who: who}
		}
		log = append(log, e)
	}
	return log
}

// proof reports whether the log proves that a person could read a line at seq: by a
// message of theirs at or before it, after which they did not leave until some seq.
func proof(log []spaces.Event, who spaces.EntityID, thread spaces.ThreadID, seq, until int64) bool {
	proved := false
	for _, e := range log {
		if b, ok := e.Body.(spaces.MessagePosted); ok && !b.Past && e.Actor == who && e.Seq <= seq && (thread == "" || e.Thread == thread) {
			proved = true
		}
		if b, ok := e.Body.(spaces.MemberLeft); ok && b.Who == who && e.Seq <= until {
			proved = false
		}
		if b, ok := e.Body.(spaces.ChatUnlinked); ok && b.Chat == "a" && e.Seq <= until {
			proved = false
		}
	}
	return proved
}

// seen reports whether a person has written since the room lost its chat.
func seen(log []spaces.Event, who spaces.EntityID) bool {
	wrote := false
	for _, e := range log {
		if b, ok := e.Body.(spaces.MessagePosted); ok && !b.Past && e.Actor == who {
			wrote = true
		}
		if b, ok := e.Body.(spaces.ChatUnlinked); ok && b.Chat == "a" {
			wrote = false
		}
	}
	return wrote
}

// What is carried is what every reader here is proven to have read
// there, whatever happened in the room.
func TestWhoReadALineIsProvenByTheLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := anyLog(t)
		var w spaces.ReaderProof
		members := map[int64]spaces.MemberList{}
		now := spaces.MemberList{}
		for _, e := range log {
			w.Apply(e)
			now.Apply(e)
			members[e.Seq] = spaces.MemberList{}
			maps.Copy(members[e.Seq], now)
		}
		for _, e := range log {
			for n := range 1 << len(people) {
				var all spaces.RoomAudience
				want := true
				for i, who := range people {
					if n&(1<<i) == 0 {
						continue
					}
					all = append(all, []spaces.EntityID{who})
					want = want && seen(log, who) && proof(log, who, "", e.Seq, e.Seq) && (e.Thread == "" || proof(log, who, e.Thread, e.Seq, int64(len(log))))
				}
				got := w.Read(e.Seq, e.Thread, all)
				if got != want {
					t.Fatalf("line %d in thread %q read by %v: %v, want %v", e.Seq, e.Thread, all, got, want)
				}
				for _, one := range all { // never more than the members of then
					if _, in := members[e.Seq][one[0]]; got && !in {
						t.Fatalf("line %d is said to be read by %s, who was not there", e.Seq, one[0])
					}
				}
				if got { // a larger audience never reads more
					for i := range all {
						if !w.Read(e.Seq, e.Thread, slices.Delete(slices.Clone(all), i, i+1)) {
							t.Fatalf("line %d is read by %v and not by fewer", e.Seq, all)
						}
					}
				}
			}
		}
	})
}

// SECURITY 5, a space mapped to several platforms: who reads which of its chats is
// not proven from the moment on that there is a second one.
func TestNobodyIsProvenToReadSeveralChats(t *testing.T) {
	var w spaces.ReaderProof
	kai := spaces.RoomAudience{{"kai"}}
	said := func(seq int64) {
		w.Apply(spaces.Event{Seq: seq, Actor: "kai", Body: spaces.MessagePosted{Text: "words"}})
	}
	w.Apply(spaces.Event{Seq: 1, Body: spaces.ChatLinked{Account: "telegram:1", Chat: "a"}})
	said(2)
	w.Apply(spaces.Event{Seq: 3, Body: spaces.ChatLinked{Account: "telegram:1", Chat: "a"}})
	said(4)
	if !w.OneChat() || !w.Read(4, "", kai) {
		t.Error("the same chat linked again counts as a second one")
	}
	w.Apply(spaces.Event{Seq: 5, Body: spaces.ChatMigrated{Account: "telegram:1", From: "a", To: "c"}})
	w.Apply(spaces.Event{Seq: 6, Body: spaces.ChatUnlinked{Account: "telegram:1", Chat: "c"}})
	w.Apply(spaces.Event{Seq: 7, Body: spaces.ChatLinked{Account: "telegram:1", Chat: "c"}})
	said(8)
	if !w.OneChat() || !w.Read(8, "", kai) {
		t.Error("the same chat under its new id counts as a second one")
	}
	w.Apply(spaces.Event{Seq: 9, Body: spaces.ChatLinked{Account: "slack:2", Chat: "b"}})
	said(10)
	if w.OneChat() || w.Read(10, "", kai) {
		t.Error("a line of a room with two chats is read by everybody")
	}
	if !w.Read(8, "", kai) {
		t.Error("a line from before the second chat is read by nobody")
	}
}
