package storetest

import (
	"testing"

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
