package activity

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var (
	kai   = adapters.Person{ID: "7", Kind: adapters.Human, Name: "Kai"}
	hub   = adapters.Chat{ID: "-100", Kind: adapters.Group, Title: "Hub"}
	lobby = adapters.Chat{ID: "7", Kind: adapters.Direct, Title: "Kai"}
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// enter returns an ingress over r whose chat hub is named.
func enter(r *record, o IngressOptions) *Ingress {
	if len(r.mappings) == 0 {
		r.mappings = append(r.mappings, spaces.ChatMapping{Account: ours.Key(), Chat: hub.ID, Space: "hub", Object: spaces.ChatObject, Live: true})
	}
	if o.Named == nil {
		o.Named = map[spaces.SpaceID][]spaces.AgentID{"hub": {"ada", "max"}}
	}
	return NewIngress(ours, NewSpaceMapping(r, r), r, r, r, o)
}

func says(c adapters.Chat, who adapters.Person, id, text string) adapters.Update {
	return adapters.Update{
		ID: "u" + id, Key: "msg:" + c.ID + ":" + id, Chat: c, From: who, At: noon, Body: adapters.IncomingMessage{ID: id, Text: text},
	}
}

func take(t *testing.T, in *Ingress, cursor string, us ...adapters.Update) {
	t.Helper()
	b := adapters.UpdateBatch{Updates: us}
	if cursor != "" {
		b.Cursor = []byte(cursor)
	}
	if err := in.Accept(t.Context(), b); err != nil {
		t.Fatalf("accept: %v", err)
	}
}

func TestSameUpdateTwiceIsOneEvent(t *testing.T) {
	// DELIVERY I2
	r := newRecord()
	in := enter(r, IngressOptions{})
	take(t, in, "1", says(hub, kai, "1", "hello"))
	take(t, in, "1", says(hub, kai, "1", "hello"), says(hub, kai, "2", "again"))
	testutil.Same(t, "said", []string{"hello", "again"}, r.said())
	if got := in.Stats(); got.Recorded != 2 || got.Duplicates != 1 {
		t.Errorf("got %+v, want 2 recorded and 1 duplicate", got)
	}
}

func TestABatchIsOneRecordWithItsCursor(t *testing.T) {
	// DELIVERY R-TG, K5, M3
	r := newRecord()
	in := enter(r, IngressOptions{})
	take(t, in, "42", says(hub, kai, "1", "a"), says(hub, kai, "2", "b"), says(hub, kai, "3", "c"))
	if len(r.batches) != 1 || len(r.batches[0].Items) != 3 || string(r.batches[0].Cursor) != "42" {
		t.Errorf("got %+v, want one record of three items and the cursor", r.batches)
	}
	take(t, in, "43")
	if string(r.cursor) != "43" {
		t.Errorf("a batch without updates left the cursor at %q", r.cursor)
	}
}

func TestWhoSpeaksInALostChatHasItTriedAgain(t *testing.T) {
	// DELIVERY F46: no platform tells that a right was given back
	synctest.Test(t, func(t *testing.T) {
		r := newRecord()
		in := enter(r, IngressOptions{})
		lose := func() {
			t.Helper()
			testutil.OK(t, in.mapping.Live(t.Context(), ours.Key(), hub.ID, false, "forbidden", time.Now()))
		}
		lose()
		take(t, in, "", says(hub, kai, "1", "at once"))
		if !r.lost(hub.ID) {
			t.Error("a chat that has just refused us is tried at once")
		}
		<-time.After(retryUnreachableAfter)
		take(t, in, "", adapters.Update{ID: "u2", Key: "r", Chat: hub, From: kai, At: noon, Body: adapters.ReactionChange{Message: "1", New: []string{"👍"}}})
		if !r.lost(hub.ID) {
			t.Error("a reaction has it tried again, want words")
		}
		take(t, in, "", says(hub, kai, "3", "later"))
		if r.lost(hub.ID) {
			t.Error("it is not tried again")
		}
		lose()
		in.mapping = NewSpaceMapping(r, r) // as another process has it
		take(t, in, "", says(hub, kai, "4", "after a restart"))
		if r.lost(hub.ID) {
			t.Error("it is not tried again after a restart")
		}
	})
}

func TestNothingIsAcceptedThatIsNotDurable(t *testing.T) {
	// DELIVERY I1, F30, M2
	r := newRecord()
	rung := 0
	in := enter(r, IngressOptions{Notify: func([]spaces.PendingWork) { rung++ }})
	r.setRefuse(errors.New("disk full"))
	b := adapters.UpdateBatch{Updates: []adapters.Update{says(hub, kai, "1", "hello")}, Cursor: []byte("1")}
	if err := in.Accept(t.Context(), b); err == nil {
		t.Fatal("a batch that was not recorded was accepted")
	}
	if rung != 0 {
		t.Error("the bell rang for what is not durable")
	}
	r.setRefuse(nil)
	take(t, in, "1", b.Updates...)
	if len(r.said()) != 1 || rung != 1 {
		t.Errorf("after the repair got %v and %d rings, want the message and one ring", r.said(), rung)
	}
}

func TestOurOwnActsToldBackAreNoEvents(t *testing.T) {
	// R-16, SEQ-98, DELIVERY K20: also when the echo overtakes the receipt.
	r := newRecord()
	in := enter(r, IngressOptions{})
	us := adapters.Person{ID: ours.ID, Kind: adapters.Bot, Name: "Ada"}
	react := says(hub, us, "2", "")
	react.Body = adapters.ReactionChange{Message: "1", New: []string{"👍"}}
	take(t, in, "1", says(hub, us, "1", "my own words"), react)
	if len(r.events) != 0 || in.Stats().Echoes != 2 {
		t.Errorf("got %d events and %d echoes, want 0 and 2", len(r.events), in.Stats().Echoes)
	}
}

func TestAMentionOfTheAccountIsAMentionOfItsAgent(t *testing.T) {
	// BLU-25
	r := newRecord()
	in := enter(r, IngressOptions{Admit: access.AdmitOpen, Room: spaces.RoomDefaults{Agents: []spaces.AgentID{"max"}}})
	mention := func(c adapters.Chat) adapters.Update {
		u := says(c, kai, "1", "@ada_bot and @zoe")
		u.Body = adapters.IncomingMessage{ID: "1", Text: "x", ToUs: true, Mentions: []adapters.Person{{ID: ours.ID}, {ID: "8", Kind: adapters.Human}, {ID: "8"}}}
		return u
	}
	take(t, in, "1", mention(hub), mention(lobby))
	want := []spaces.EntityID{"agent:ada", "agent:max"}
	for i, item := range r.events {
		said, _ := item.Event.Body.(spaces.MessagePosted)
		if len(said.Mentions) != 1 || said.Mentions[0] != want[i] || len(item.Mentions) != 1 || item.Mentions[0].User != "8" {
			t.Errorf("in chat %d got agents %v and people %+v, want %s and one person", i, said.Mentions, item.Mentions, want[i])
		}
	}
}

func TestAnUpdateGoesToEverySpaceOfItsChat(t *testing.T) {
	r := newRecord()
	for _, s := range []spaces.SpaceID{"hub", "den"} {
		r.mappings = append(r.mappings, spaces.ChatMapping{Account: ours.Key(), Chat: hub.ID, Space: s, Live: true})
	}
	in := enter(r, IngressOptions{Named: map[spaces.SpaceID][]spaces.AgentID{"hub": nil, "den": nil}})
	take(t, in, "1", says(hub, kai, "1", "hello"))
	take(t, in, "1", says(hub, kai, "1", "hello"))
	if len(r.events) != 2 || r.events[0].Event.Source != r.events[1].Event.Source {
		t.Errorf("got %+v, want one event in each space under the same source", r.events)
	}
}

// SECURITY S5, ADR 15: a chat may come back to the room it had before the configuration
// named it for another one. Who has left it since is not there any more either.
func TestWhoLeavesAChatLeavesAllItsRooms(t *testing.T) {
	r := newRecord()
	for _, s := range []spaces.SpaceID{"den", "hub"} {
		r.mappings = append(r.mappings, spaces.ChatMapping{Account: ours.Key(), Chat: hub.ID, Space: s, Live: true})
	}
	in := enter(r, IngressOptions{Named: map[spaces.SpaceID][]spaces.AgentID{"hub": nil}})
	gone := says(hub, kai, "2", "")
	gone.Body = adapters.PeopleLeft{People: []adapters.Person{kai}}
	take(t, in, "1", says(hub, kai, "1", "hello"), gone)
	var where []string
	for _, it := range r.events {
		where = append(where, string(it.Event.Body.Kind())+" in "+string(it.Event.Space))
	}
	testutil.Same(t, "recorded", []string{"said in hub", "left in den", "left in hub"}, where)
}

func TestAPoisonedUpdateStopsNothing(t *testing.T) {
	// DELIVERY All, F48, I10
	r := newRecord()
	in := enter(r, IngressOptions{})
	bad := says(hub, kai, "2", "")
	bad.Body, bad.Raw = adapters.UnreadableUpdate{Kind: "story", Reason: "unknown"}, []byte(`{"story":`)
	empty := says(hub, kai, "3", "")
	empty.Body = nil
	huge := says(hub, kai, "4", strings.Repeat("é", 5<<20))
	broken := says(hub, kai, "5", "bad \xff\xfe bytes")
	take(t, in, "9", says(hub, kai, "1", "before"), bad, empty, huge, broken, says(hub, kai, "6", "after"))
	if len(r.events) != 6 || string(r.cursor) != "9" {
		t.Fatalf("got %d events and cursor %q, want all six", len(r.events), r.cursor)
	}
	for _, i := range []int{1, 2} {
		if _, ok := r.events[i].Event.Body.(spaces.UnreadableUpdate); !ok {
			t.Errorf("event %d is %T, want unreadable", i, r.events[i].Event.Body)
		}
	}
	said := r.said()
	if len(said[1]) > spaces.MaxTextBytes+100 || !strings.Contains(said[1], "…cut, 65536 of 10485760 bytes shown") {
		t.Errorf("10 MB became %d bytes ending in %q", len(said[1]), said[1][len(said[1])-60:])
	}
}

func TestMapChangesKeepTheirPlaceInTheStream(t *testing.T) {
	r := newRecord()
	in := enter(r, IngressOptions{})
	change := func(id string, b adapters.UpdateBody) adapters.Update {
		u := says(hub, kai, id, "")
		u.Body = b
		return u
	}
	next := hub
	next.ID = "-200"
	take(t, in, "1",
		says(hub, kai, "1", "old"), change("2", adapters.ChatMigrated{To: "-200"}), says(next, kai, "3", "new"),
		change("5", adapters.ChatMigrated{To: "-300", Same: true}),
		adapters.Update{Key: "out", Chat: next, Body: adapters.ChatLost{Reason: "kicked"}},
		adapters.Update{Key: "in", Chat: next, Body: adapters.ChatGained{}},
		says(next, kai, "4", "back"))
	want := []string{"said hub", "migrate -100 -200", "said hub", "migrate -100 -300 same", "live -200 false", "live -200 true", "said hub"}
	testutil.Same(t, "order", want, r.order)
	if last := r.batches[len(r.batches)-1]; string(last.Cursor) != "1" {
		t.Errorf("the last record carries cursor %q", last.Cursor)
	}
	for _, b := range r.batches[:len(r.batches)-1] {
		if b.Cursor != nil {
			t.Error("the cursor moved before the whole batch was durable")
		}
	}
}

func TestAGapReachesEveryRoomOfTheAccount(t *testing.T) {
	// DELIVERY R-TG: down for more than 24 h
	r := newRecord()
	r.mappings = []spaces.ChatMapping{
		{Account: ours.Key(), Chat: "1", Space: "hub"},
		{Account: ours.Key(), Chat: "2", Space: "hub"},
		{Account: ours.Key(), Chat: "3", Space: "den"},
		{Account: "other", Chat: "4", Space: "far"},
	}
	in := enter(r, IngressOptions{})
	gap := adapters.Update{Key: "gap:1", Body: adapters.UpdateGap{From: noon, To: noon.Add(30 * time.Hour), Reason: "24 hours only"}}
	odd := adapters.Update{Key: "odd", Body: adapters.UnreadableUpdate{Kind: "boost"}, Raw: []byte("{}")}
	take(t, in, "1", gap, odd)
	take(t, in, "1", gap, odd)
	var got []string
	for _, e := range r.events {
		got = append(got, string(e.Event.Body.Kind())+" "+string(e.Event.Space))
	}
	want := []string{"gap space-1", "gap hub", "gap den", "unreadable space-1"}
	testutil.Same(t, "what came", want, got)
	if own := r.rooms[0]; own.Wake != spaces.WakeNone || len(own.Agents) != 0 {
		t.Errorf("the account's own room is %+v, want no agents in it", own)
	}
}

func TestABotInARoomIsABot(t *testing.T) {
	r := newRecord()
	in := enter(r, IngressOptions{Allow: []access.SenderID{{User: "5"}, {User: "6"}, {User: "8"}}})
	take(t, in, "1",
		says(hub, adapters.Person{ID: "5", Kind: adapters.Bot, Name: "Kai"}, "1", "beep"),
		says(hub, adapters.Person{ID: "6", Kind: adapters.Service}, "2", "channel post"),
		says(hub, adapters.Person{ID: "8"}, "3", "who knows"))
	want := []spaces.EntityKind{spaces.Bot, spaces.Service, spaces.Service}
	if len(r.events) != len(want) {
		t.Fatalf("%d programs were heard, want %d", len(r.events), len(want))
	}
	for i, e := range r.events {
		if e.From.Kind != want[i] {
			t.Errorf("sender %s is %s, want %s", e.From.User, e.From.Kind, want[i])
		}
	}
}

func TestChatsAreTakenAtTheSameTime(t *testing.T) {
	// adapters.Sink: Accept may be called concurrently for different chats.
	r := newRecord()
	in := enter(r, IngressOptions{Admit: access.AdmitOpen})
	var wg sync.WaitGroup
	for c := range 20 {
		wg.Go(func() {
			chat := adapters.Chat{ID: fmt.Sprint(c), Kind: adapters.Group}
			for i := range 20 {
				err := in.Accept(t.Context(), adapters.UpdateBatch{Updates: []adapters.Update{says(chat, kai, fmt.Sprint(i), "x")}})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if len(r.events) != 400 || len(r.rooms) != 20 {
		t.Errorf("got %d events in %d rooms, want 400 in 20", len(r.events), len(r.rooms))
	}
}
