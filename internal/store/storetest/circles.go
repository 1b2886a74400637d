package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// SECURITY S5: a mind looks into those rooms of the agent's other minds that the
// person is in now.
func roomsShared(t *testing.T, w *world) {
	chat := func(name string, circle spaces.CircleID, agents ...spaces.AgentID) spaces.SpaceID {
		return w.open(spaces.OpenRequest{Key: name, Name: name, Circle: circle, Agents: agents, At: morning, Chats: []spaces.ChatMapping{{Account: account, Chat: name, Live: true}}})
	}
	own := chat("own", "", "ada")
	first, second, others := chat("first", "", "ada"), chat("second", "home", "ada", "max"), chat("others", "", "max")
	alone := chat("alone", "", "ada")
	var zoe spaces.EntityID
	for _, room := range []spaces.SpaceID{own, first, second, others} {
		zoe = w.say(room, "zoe", "hello").Actor
	}
	w.say(alone, "tom", "hello")
	shared := func(limit int) (got []spaces.SpaceID) {
		t.Helper()
		ups, err := w.s.Shell.Across(t.Context(), spaces.Mind{Agent: "ada", Circle: spaces.OwnCircle(own)}, zoe, limit)
		w.ok(err)
		for _, u := range ups {
			if u.Head == 0 {
				t.Errorf("the uplink to %s does not know how far the room is", u.Space)
			}
			got = append(got, u.Space)
		}
		return got
	}
	testutil.Same(t, "rooms shared with zoe", []spaces.SpaceID{second, first}, shared(10))
	testutil.Same(t, "the newest of them", []spaces.SpaceID{second}, shared(1))
	left := w.fact(second, "zoe", spaces.MemberLeft{})
	left.Who = []spaces.PlatformIdentity{person("zoe")}
	w.record(left)
	testutil.Same(t, "after zoe left one", []spaces.SpaceID{first}, shared(10))
}

// The rooms of a person are those that they are in, whichever agents are there.
func roomsOfPerson(t *testing.T, w *world) {
	first := w.open(spaces.OpenRequest{Name: "first", Key: "k1", At: morning, Chats: []spaces.ChatMapping{{Account: account, Chat: "1", Live: true}}, Agents: []spaces.AgentID{"ada"}})
	second := w.open(spaces.OpenRequest{Name: "second", Key: "k2", At: morning, Chats: []spaces.ChatMapping{{Account: account, Chat: "2", Live: true}}, Agents: []spaces.AgentID{"max"}})
	w.open(spaces.OpenRequest{Name: "third", Key: "k3", At: morning, Chats: []spaces.ChatMapping{{Account: account, Chat: "3", Live: true}}, Agents: []spaces.AgentID{"ada"}})
	zoe := w.say(first, "zoe", "hello").Actor
	last := w.say(second, "zoe", "hello")
	rooms, err := w.s.Shell.RoomsOf(t.Context(), zoe, 10)
	w.ok(err)
	if len(rooms) != 2 || rooms[0].Space != second || rooms[1].Space != first || rooms[0].Head != last.Seq {
		t.Errorf("zoe is in %+v", rooms)
	}
	if rooms, err = w.s.Shell.RoomsOf(t.Context(), zoe, 1); err != nil || len(rooms) != 1 || rooms[0].Space != second {
		t.Errorf("the newest room of zoe is %+v, %v", rooms, err)
	}
}

// What a program sends as an agent is recorded, goes out once to each chat, wakes whom it
// calls, and is refused once agents have sent enough in a row.
func sentFromOutside(t *testing.T, w *world) {
	room := w.open(spaces.OpenRequest{Name: "room", Key: "k1", At: morning, Chats: []spaces.ChatMapping{{Account: account, Chat: "1", Live: true}}, Agents: []spaces.AgentID{"ada", "max"}})
	asked := w.say(room, "zoe", "how is the build?")
	send := func(id spaces.EventID) (spaces.CommitResult, error) {
		return w.s.Shell.SendAs(t.Context(), spaces.OutsideMessage{Agent: "ada", At: morning, Effect: spaces.RoomEffect{
			Kind: spaces.ActSend, Space: room, ID: id, Target: asked.ID, Text: "It is broken, @max.", Mention: []spaces.EntityID{spaces.AgentID("max").Entity()},
			Chain: spaces.CausalChain{Root: id, Depth: 1}, MaxRun: 2, Expires: morning.Add(time.Hour),
		}})
	}
	done, err := send("sent-1")
	w.ok(err)
	if len(done.Events) != 1 || done.Events[0].Actor != spaces.AgentID("ada").Entity() || done.Events[0].ReplyTo != asked.ID {
		t.Errorf("recorded %+v", done.Events)
	}
	if len(done.Wakes) == 0 || done.Wakes[0].Mind.Agent != "max" {
		t.Errorf("woke %+v", done.Wakes)
	}
	testutil.Same(t, "accounts with something to send", []string{account}, done.Waiting)
	_, err = send("sent-2")
	w.ok(err)
	if _, err = send("sent-3"); !errors.Is(err, spaces.ErrAgentRun) {
		t.Errorf("a third message in a row: %v", err)
	}
}
