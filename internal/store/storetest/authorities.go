package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var authorityTests = map[string]func(*testing.T, *world){
	"LeastAuthorityCounts":                leastAuthority,
	"AgentsAndProgramsNeverHaveMore":      programsAuthority,
	"RolesComeFromTwoPlaces":              rolesTwice,
	"RefusalsAreCountedAndHoldNoName":     refusalsCounted,
	"WhoWritesTooFastIsSeenAndDoesntWake": hushedSeen,
	"TheRoomAloneIsToldOf":                insightRoom,
	"TheRoomIsToldWhatAPromptHeld":        insightContexts,
	"WhoWasNotAskedHidesNobody":           insightLeavesOut,
	"BeginningAfreshMovesTheMark":         renewMoves,
	"MutedIsWhoWasNamedWhereItWasSaid":    muteMoves,
}

func (w *world) appoint(who string, role spaces.AuthorityLevel) {
	w.t.Helper()
	w.ok(w.s.Border.Appoint(w.t.Context(), "telegram", []spaces.RoleGrant{{Who: person(who), Role: role}}))
}

// SECURITY "Whose authority": several people have the intersection of their
// rights, also when one of them speaks while the run is under way.
func leastAuthority(t *testing.T, w *world) {
	room := w.family()
	w.appoint("zoe", spaces.OfOwner)
	w.say(room, "zoe", "alone")
	wake := w.woken(ada, room)
	if got := wake.Cycle.Authority; got != spaces.OfOwner {
		t.Errorf("the owner alone gives the authority of an %s", got)
	}
	w.say(room, "tom", "and me")
	c := w.step(wake, 0)
	c.Judge = wakeAll
	if done := w.commit(c); len(done.Joined) != 1 || done.Authority != spaces.OfMember {
		t.Errorf("with a member who joined the authority is %s over %d rows", done.Authority, len(done.Joined))
	}
	w.rest(wake, 1)
	w.say(room, "zoe", "both")
	w.say(room, "tom", "of us")
	wake = w.woken(ada, room)
	if got := wake.Cycle.Authority; got != spaces.OfMember {
		t.Errorf("owner and member together give the authority of an %s, want a member's", got)
	}
	w.rest(wake, 0)
}

// SECURITY S19: what an agent says to another asks for no more than a member may,
// though an owner began it.
func programsAuthority(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	w.appoint("zoe", spaces.OfOwner)
	w.say(room, "zoe", "talk to bea")
	w.answer(ada, room, "bea, delete everything")
	wake := w.woken(bea, room)
	if got := wake.Cycle.Authority; got != spaces.OfMember {
		t.Errorf("an agent's words give the authority of an %s, want a member's", got)
	}
	w.rest(wake, 0)
}

func rolesTwice(t *testing.T, w *world) {
	border, ctx := w.s.Border, t.Context()
	want := func(who string, role spaces.AuthorityLevel) {
		t.Helper()
		got, err := border.Role(ctx, person(who))
		w.ok(err)
		if got != role {
			t.Errorf("%s is %s, want %s", who, got, role)
		}
	}
	want("zoe", spaces.OfMember)
	w.appoint("zoe", spaces.OfAdmin)
	want("zoe", spaces.OfAdmin)
	w.ok(border.Amend(ctx, func(d *access.PairingState) {
		d.Admitted = append(d.Admitted, access.ChatApproval{
			PairingRequest: access.PairingRequest{Account: account, Chat: "7", User: person("zoe").User}, Role: spaces.OfOwner, At: w.now,
		})
	}))
	want("zoe", spaces.OfOwner)
	w.appoint("tom", spaces.OfAdmin) // the configuration does not name zoe any more
	want("zoe", spaces.OfOwner)
	want("tom", spaces.OfAdmin)
	w.ok(border.Amend(ctx, func(d *access.PairingState) { d.Admitted = nil }))
	want("zoe", spaces.OfMember)
	elsewhere := person("tom")
	elsewhere.Scope = "another team"
	got, err := border.Role(ctx, elsewhere)
	w.ok(err)
	if got != spaces.OfMember {
		t.Errorf("somebody of another team is %s", got)
	}
}

// SECURITY S1: metadata only.
func refusalsCounted(t *testing.T, w *world) {
	eve := person("eve")
	in := spaces.IngestBatch{Account: account, Cursor: []byte("1"), At: w.now, Refused: []spaces.RejectedSender{
		{Chat: "7", Who: eve, Kind: "message"}, {Chat: "7", Who: eve, Kind: "message"}, {Chat: "8", Who: spaces.PlatformIdentity{}, Kind: "edit"},
	}}
	_, err := w.s.Border.Record(t.Context(), in)
	w.ok(err)
	got, err := w.s.Border.Refusals(t.Context(), 10)
	w.ok(err)
	counts := map[string]int64{}
	for _, r := range got {
		counts[r.Chat+" "+r.User+" "+r.Kind] = r.Count
	}
	testutil.Same(t, "refusals", map[string]int64{"7 u-eve message": 2, "8  edit": 1}, counts)
}

// SECURITY S20: messages of a person above the rate limit are all stored.
func hushedSeen(t *testing.T, w *world) {
	room := w.family()
	fast := w.message(room, "zoe", "spam")
	fast.Hushed = "rate"
	if done := w.record(fast); done.New != 1 || len(done.Wakes) != 0 {
		t.Errorf("recorded %d and woke %d minds, want one and none", done.New, len(done.Wakes))
	}
	if wake := w.claim(ada, room); wake != nil {
		t.Errorf("it woke by %s", wake.Cycle.Wake)
	}
	if said, ok := w.last(room).Body.(spaces.MessagePosted); !ok || said.Text != "spam" {
		t.Errorf("the log ends with %+v", w.last(room).Body)
	}
	told, err := w.s.Border.Last(t.Context(), room, spaces.MessageRef{})
	w.ok(err)
	if len(told) != 1 || told[0].Reason != "rate" || told[0].Woke {
		t.Errorf("the room is told %+v", told)
	}
}

// PRD-5.8-A5, PRD-10-9: how agents stand and what became of a message, of this
// room and no other.
func insightRoom(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	elsewhere := w.open(spaces.OpenRequest{
		Key: "den", Name: "Den", Circle: "home", Agents: []spaces.AgentID{"ada"}, At: w.now,
		Chats: []spaces.ChatMapping{{Account: account, Chat: other, Live: true}},
	})
	secret := w.message(elsewhere, "tom", "nobody else's business")
	secret.Ref.Chat = other
	w.record(secret)
	w.answer(ada, elsewhere, "kept")
	asked := w.message(room, "zoe", "hello")
	w.record(asked)
	w.answer(ada, room, "hi")
	wake := w.woken(bea, room)
	told, err := w.s.Border.Last(t.Context(), room, asked.Ref)
	w.ok(err)
	if len(told) != 2 || told[0].Agent != "ada" || told[0].Spoke != 1 || told[0].Stop != spaces.StopCompleted ||
		told[1].Agent != "bea" || told[1].Run != wake.Cycle.ID || told[1].Stop != "" {
		t.Errorf("the room is told %+v", told)
	}
	now, err := w.s.Border.Now(t.Context(), room, w.now)
	w.ok(err)
	if len(now.Agents) != 2 || now.Agents[0].Runs != 1 || now.Agents[0].Usage.Prompt != 200 || !now.Agents[0].Since.IsZero() ||
		now.Agents[1].Since.IsZero() || now.Unsent != 1 {
		t.Errorf("the room stands %+v", now)
	}
	w.rest(wake, 0)
}

// What the prompt of the last run of an agent in a room held is told by kind; items have upper
// bounds, and the kinds together are what was counted.
func insightContexts(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	for _, plan := range []string{
		`{"budget":900,"tokens":1,"items":[{"area":"tail","form":"full","tokens":1}]}`,
		`{"budget":29000,"tokens":1000,"exact":true,"fixed":2000,"items":[{"area":"keyframe","form":"full","tokens":1000},
{"area":"log","what":"cycles 1–2","form":"full","tokens":600},{"area":"log","what":"this cycle","form":"full","tokens":200},
{"area":"recalled","form":"full","tokens":100},{"area":"tail","form":"full","tokens":100}],"shed":[{"area":"log","form":"nothing","tokens":70}]}`,
	} {
		w.say(room, "zoe", "hello")
		wake := w.woken(ada, room)
		c := w.step(wake, 0)
		c.Upto = wake.Rows[0].Seq
		c.Close = &spaces.CycleClose{Stop: spaces.StopSilent, Rest: "Listened.", Plan: []byte(plan)}
		w.commit(c)
	}
	w.woken(bea, room) // which has not ended
	got, err := w.s.Border.Contexts(t.Context(), room)
	w.ok(err)
	want := []commands.ContextUse{{Agent: "ada", At: w.now, Tokens: 3000, Budget: 31000, Fixed: 2000, Rooms: 500, Runs: 300, Now: 150, Old: 50, Freed: 70}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// PRD-10-9: agents without a model call are left out, and only those.
func insightLeavesOut(t *testing.T, w *world) {
	room := w.family("bea")
	w.say(room, "zoe", "hello")
	w.family("ada", "bea") // ada comes later, and is told of first
	told, err := w.s.Border.Last(t.Context(), room, spaces.MessageRef{})
	w.ok(err)
	if len(told) != 1 || told[0].Agent != "bea" {
		t.Errorf("the room is told %+v, want bea's part", told)
	}
}

func renewMoves(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "old")
	last := w.last(room)
	w.ok(w.s.Shell.Renew(t.Context(), room, w.now))
	ups, err := w.s.Shell.Uplinks(t.Context(), ada)
	w.ok(err)
	if ups[0].Fresh != last.Seq || !ups[0].FreshAt.Equal(w.now) {
		t.Errorf("the mark stands at %d, %s, want %d", ups[0].Fresh, ups[0].FreshAt, last.Seq)
	}
	if n := len(w.log(room)); n != int(last.Seq) {
		t.Errorf("the log has %d events, want %d as before", n, last.Seq)
	}
	if err := w.s.Shell.Renew(t.Context(), "nowhere", w.now); err == nil {
		t.Error("a room that is not there began afresh")
	}
}

// DESIGN 6.1: who is muted in a room wakes for nothing said there, and is told apart
// until it is lifted.
func muteMoves(t *testing.T, w *world) {
	yard := opening("yard", "ada")
	yard.Chats[0].Chat = "-77"
	room, other := w.family("ada", "bea"), w.open(yard)
	mute := func(agent spaces.AgentID, lifted bool, want ...spaces.AgentID) {
		t.Helper()
		changed, err := w.s.Shell.Mute(t.Context(), spaces.MuteRequest{Space: room, Agent: agent, Lifted: lifted, At: w.now})
		w.ok(err)
		testutil.Same(t, "new for", want, changed)
	}
	muted := func(space spaces.SpaceID) (who []spaces.AgentID) {
		now, err := w.s.Border.Now(t.Context(), space, w.now)
		w.ok(err)
		for _, n := range now.Agents {
			if n.MutedUntil.After(w.now) {
				who = append(who, n.Agent)
			}
		}
		return who
	}
	mute("ada", false, "ada")
	if diff := cmp.Diff([]spaces.AgentID{"ada"}, muted(room)); diff != "" || len(muted(other)) != 0 {
		t.Errorf("muted are (-want +got):\n%s\nelsewhere: %v", diff, muted(other))
	}
	mute("", false, "bea")
	mute("", false)
	ups, err := w.s.Shell.Uplinks(t.Context(), ada)
	w.ok(err)
	for _, u := range ups {
		if u.Muted(w.now) != (u.Space == room) {
			t.Errorf("in %s its mind is muted until %s", u.Space, u.MutedUntil)
		}
	}
	mute("zed", true)
	mute("", true, "ada", "bea")
	if left := muted(room); len(left) != 0 {
		t.Errorf("%v are still muted", left)
	}
	until := w.now.Add(time.Hour)
	changed, err := w.s.Shell.Mute(t.Context(), spaces.MuteRequest{Space: room, Agent: "ada", Until: until, At: w.now})
	w.ok(err)
	testutil.Same(t, "muted for an hour", []spaces.AgentID{"ada"}, changed)
	testutil.Same(t, "muted", []spaces.AgentID{"ada"}, muted(room))
	w.now = until
	testutil.Same(t, "muted after it", 0, len(muted(room)))
	mute("", true)
}
