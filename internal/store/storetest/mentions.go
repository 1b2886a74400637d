package storetest

import (
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// R-23, S6, PLATFORMS 2.4: a message calls people by the platform's ids, members
// only and three at most, and may be shown beside its thread.
func namedPeople(t *testing.T, w *world) {
	room := w.family()
	for _, name := range []string{"zoe", "tom", "ann", "joe"} {
		w.say(room, name, "hi")
	}
	e := spaces.MessagePosted{Text: "@eve @zoe @ada @tom @ann @joe", Mentions: []spaces.EntityID{"agent:ada"}, Broadcast: true}
	m := w.message(room, "zoe", "")
	m.Event.Body = e
	m.Mentions = []spaces.PlatformIdentity{person("eve"), person("zoe"), person("tom"), {Platform: "slack", Scope: "T1", User: "U1", Kind: spaces.Human, Name: "Sue"}, person("ann"), person("joe")}
	w.record(m)
	got, broadcast, err := w.s.Border.ResolveMentions(t.Context(), account, w.last(room).ID, nil)
	w.ok(err)
	testutil.Same(t, "named", []spaces.PlatformIdentity{person("zoe"), person("tom"), person("ann")}, got)
	if !broadcast {
		t.Error("the message is not shown beside its thread")
	}
	if got, broadcast, err = w.s.Border.ResolveMentions(t.Context(), account, "nothing", nil); err != nil || len(got) != 0 || broadcast {
		t.Errorf("of no message: %+v, %t, %v", got, broadcast, err)
	}
}

// SECURITY S6, DELIVERY R-All: a person with a linked identity is notified by it, under
// the names in the text, and only as a member of the room; a username of another
// platform is not resolved here.
func namedKin(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hi")
	sue := spaces.PlatformIdentity{Platform: "slack", Scope: "T1", User: "U1", Kind: spaces.Human, Name: "Sue", Handle: "sue.k"}
	m := w.message(room, "zoe", "@Sue")
	m.Mentions = []spaces.PlatformIdentity{sue}
	w.record(m)
	message := w.last(room).ID
	named := func() []spaces.PlatformIdentity {
		t.Helper()
		got, _, err := w.s.Border.ResolveMentions(t.Context(), account, message, func(i spaces.PlatformIdentity) (spaces.PlatformIdentity, bool) {
			i.Kind, i.Name, i.Handle = "", "", ""
			return spaces.PlatformIdentity{Platform: "telegram", User: "u-susan"}, i == spaces.PlatformIdentity{Platform: "slack", Scope: "T1", User: "U1"}
		})
		w.ok(err)
		return got
	}
	if got := named(); len(got) != 0 {
		t.Errorf("somebody who is not in the room is called: %+v", got)
	}
	w.say(room, "susan", "here")
	want := []spaces.PlatformIdentity{
		{Platform: "telegram", User: "u-susan", Kind: spaces.Human, Name: "Sue"},
		{Platform: "telegram", User: "u-susan", Kind: spaces.Human, Name: "sue.k"},
	}
	testutil.Same(t, "named", want, named())
}
