package storetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var directoryTests = map[string]func(*testing.T, *world){
	"OpeningTwiceChangesNothing":           openTwice,
	"OpeningMakesTheAgentsInnerSpace":      openMakesInner,
	"RoomWithoutCircleHasItsOwn":           ownCircle,
	"KeyFindsARenamedRoom":                 renamed,
	"NamedLaterKeepsItsSpace":              namedLater,
	"UnmappedChatHasNoPlace":               unmapped,
	"ChatInTwoSpacesHasTwoPlaces":          twoPlaces,
	"MigrationMovesMappingsAndActions":     migration,
	"MigrationKeepsNamesThatStayTheSame":   sameNames,
	"FormerChatLeadsToItsRoom":             formerChat,
	"ChatThatMovesIsInItsOldRoomAlone":     movedInto,
	"UnreachableRoomIsToldSoByThePlatform": unreachable,
	"DismissedAgentHasNothingToDoThere":    dismissedAgent,
	"WhoIsSentAwayLeavesNothingOpen":       leavesNothingOpen,
	"RoomsThatNobodyIsInAreFilled":         emptyRooms,
	"RoomsWithoutAnEntryWakeAsTheFileSays": roused,
	"RoomsOfServersAreKnownToEveryProcess": served,
	"DismissedChatIsNotPlacedThere":        dismissedChat,
	"ConfiguredRoomsAreListed":             configuredRooms,
}

func openTwice(t *testing.T, w *world) {
	o := opening("family", "ada", "bea")
	room := w.open(o)
	before, inner := w.log(room), w.inner(ada)
	if again := w.open(o); again != room {
		t.Errorf("opened again as %s, want %s", again, room)
	}
	if diff := cmp.Diff(before, w.log(room)); diff != "" {
		t.Errorf("the log changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(inner, w.inner(ada)); diff != "" {
		t.Errorf("the inner log changed (-before +after):\n%s", diff)
	}
	want := []spaces.EventKind{spaces.KindLinked, spaces.KindJoined, spaces.KindJoined}
	testutil.Same(t, "kinds", want, kinds(before))
}

// SEQ-01, SEQ-02, SEQ-15
func openMakesInner(t *testing.T, w *world) {
	room := w.family("ada")
	inner, _, err := w.s.Shell.Space(t.Context(), ada.Inner())
	w.ok(err)
	if inner.Kind != spaces.Inner {
		t.Errorf("the inner space is a %s", inner.Kind)
	}
	ups, err := w.s.Shell.Uplinks(t.Context(), ada)
	w.ok(err)
	head := w.last(room)
	want := []spaces.Uplink{{Mind: ada, Space: room, Cursor: head.Seq, CursorID: head.ID, Erased: head.Seq, Head: head.Seq, Live: true, OpenedAt: morning}}
	testutil.Same(t, "uplinks", want, ups)
	spans, err := w.s.Shell.Spans(t.Context(), ada, room, 10)
	w.ok(err)
	if len(spans) != 1 || !spans[0].Active() || spans[0].Opener != spaces.SpanLinked || !spans[0].Covers(head.Seq+1) || spans[0].Covers(head.Seq) {
		t.Errorf("spans %+v, want one that begins after %d", spans, head.Seq)
	}
	if got := w.inner(ada); len(got) != 1 || got[0].(spaces.SpanChanged).What != "opened" {
		t.Errorf("inner log %+v, want the opened span alone", got)
	}
}

func ownCircle(t *testing.T, w *world) {
	o := opening("", "ada")
	o.Circle = ""
	p, err := w.s.Border.Open(t.Context(), o)
	w.ok(err)
	if p.Circle != spaces.OwnCircle(p.Space) || p.Object != spaces.ChatObject {
		t.Errorf("placement %+v, want a circle of its own", p)
	}
	again, err := w.s.Border.Open(t.Context(), o)
	w.ok(err)
	if again != p {
		t.Errorf("opened again as %+v, want %+v", again, p)
	}
}

func renamed(t *testing.T, w *world) {
	room := w.family()
	o := opening("family", "ada")
	o.Name = "The family"
	o.Chats = append(o.Chats, spaces.ChatMapping{Account: account, Chat: other, Title: "Second", Live: true})
	if got := w.open(o); got != room {
		t.Fatalf("opened as %s, want %s", got, room)
	}
	space, _, err := w.s.Shell.Space(t.Context(), room)
	w.ok(err)
	chats, err := w.s.Border.Chats(t.Context(), "", room)
	w.ok(err)
	if space.Name != "The family" || len(chats) != 2 || chats[1].Chat != other {
		t.Errorf("space %+v with chats %+v", space, chats)
	}
}

// DESIGN 4: naming a chat later keeps its space and gives it the new circle.
func namedLater(t *testing.T, w *world) {
	admitted := opening("", "ada")
	admitted.Circle = ""
	room := w.open(admitted)
	w.say(room, "zoe", "not yet answered")
	if got := w.family("ada"); got != room {
		t.Fatalf("named as %s, want %s", got, room)
	}
	if got := w.waiting(); len(got) != 1 || got[0].Mind != ada {
		t.Errorf("waiting %+v, want the mind of the new circle", got)
	}
	old := spaces.Mind{Agent: "ada", Circle: spaces.OwnCircle(room)}
	ups, err := w.s.Shell.Uplinks(t.Context(), old)
	w.ok(err)
	if len(ups) != 1 || ups[0].Live {
		t.Errorf("uplinks of the old mind %+v, want one that is closed", ups)
	}
	w.answer(ada, room, "now it is")
}

func unmapped(t *testing.T, w *world) {
	if _, err := w.s.Border.Place(t.Context(), account, "nowhere"); !errors.Is(err, activity.ErrUnmapped) {
		t.Errorf("got %v, want ErrUnmapped", err)
	}
	w.ok(w.s.Border.Migrate(t.Context(), account, spaces.ChatMove{From: "nowhere", To: "elsewhere"}, w.now))
	w.ok(w.s.Border.Live(t.Context(), account, "nowhere", false, "", w.now))
}

func twoPlaces(t *testing.T, w *world) {
	first, second := w.family(), w.open(opening("team", "bea"))
	if first == second {
		t.Fatal("a room of another key took over a named one")
	}
	got, err := w.s.Border.Place(t.Context(), account, chat)
	w.ok(err)
	want := []spaces.ChatPlacement{
		{Space: first, Object: spaces.ChatObject, Circle: "home"}, {Space: second, Object: spaces.ChatObject, Circle: "home"},
	}
	testutil.Same(t, "places", want, got)
}

// F46
func migration(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	w.answer(ada, room, "hi")
	w.ok(w.s.Border.Migrate(t.Context(), account, spaces.ChatMove{From: chat, To: "-1009"}, w.now))
	w.ok(w.s.Border.Migrate(t.Context(), account, spaces.ChatMove{From: chat, To: "-1009"}, w.now)) // told twice
	places, err := w.s.Border.Place(t.Context(), account, "-1009")
	w.ok(err)
	if len(places) != 1 || places[0].Space != room {
		t.Errorf("places %+v", places)
	}
	if b, ok := w.last(room).Body.(spaces.ChatMigrated); !ok || b.To != "-1009" {
		t.Errorf("last event %+v, want migrated", w.last(room).Body)
	}
	due, err := w.s.Border.Claim(t.Context(), account, w.now, 10)
	w.ok(err)
	if len(due) != 1 || due[0].Chat != "-1009" {
		t.Errorf("due %+v, want the reply in the new chat", due)
	}
	w.settleAll(due)
	w.ok(w.s.Border.Migrate(t.Context(), account, spaces.ChatMove{From: "-1009", To: "-1010"}, w.now))
	before := w.last(room)
	w.family() // the configuration still has the first id
	chats, err := w.s.Border.Chats(t.Context(), "", room)
	w.ok(err)
	if len(chats) != 1 || chats[0].Chat != "-1010" || w.last(room).ID != before.ID {
		t.Errorf("opened again the room has the chats %+v, and last %+v", chats, w.last(room).Body)
	}
}

// I2, PLATFORMS 1.3: what is told twice, or late, of a chat that has another id by now
// opens no second room; a chat that was given up opens one.
func formerChat(t *testing.T, w *world) {
	wild := spaces.OpenRequest{Name: "club", At: morning, Chats: []spaces.ChatMapping{{Account: account, Chat: chat}}}
	room := w.open(wild)
	w.say(room, "zoe", "hello")
	w.ok(w.s.Border.Migrate(t.Context(), account, spaces.ChatMove{From: chat, To: "-1009"}, w.now))
	wild.Name = "another club"
	if again := w.open(wild); again != room {
		t.Errorf("its former chat opens %s, want %s", again, room)
	}
	if r, _, err := w.s.Shell.Space(t.Context(), room); err != nil || r.Name != "club" {
		t.Errorf("the room is %+v, %v, want it as it was", r, err)
	}
	chats, err := w.s.Border.Chats(t.Context(), account, "")
	w.ok(err)
	if len(chats) != 1 || chats[0].Chat != "-1009" {
		t.Errorf("the chats are %+v, want the one that it moved to", chats)
	}
	w.ok(w.s.Border.Dismiss(t.Context(), spaces.AgentRemoval{Space: room, Chats: chats, At: w.now}))
	wild.Chats[0].Chat = "-1009"
	if again := w.open(wild); again == room {
		t.Error("a chat that was given up is in its old room again")
	}
}

// I2, PLATFORMS 1.3: a group speaks under its new id before it is told that it moved: the
// room that it opened there gives way to the one it had, and a configured one does not.
func movedInto(t *testing.T, w *world) {
	room := w.open(spaces.OpenRequest{Name: "club", At: morning, Chats: []spaces.ChatMapping{{Account: account, Chat: chat}}})
	w.open(spaces.OpenRequest{Name: "club", At: morning, Chats: []spaces.ChatMapping{{Account: account, Chat: "-1009"}}})
	named := w.open(spaces.OpenRequest{Key: "named", At: morning, Chats: []spaces.ChatMapping{{Account: account, Chat: "-1"}, {Account: account, Chat: "-1009"}}})
	w.ok(w.s.Border.Migrate(t.Context(), account, spaces.ChatMove{From: chat, To: "-1009"}, w.now))
	places, err := w.s.Border.Place(t.Context(), account, "-1009")
	w.ok(err)
	got := []spaces.SpaceID{}
	for _, p := range places {
		got = append(got, p.Space)
	}
	if diff := cmp.Diff([]spaces.SpaceID{room, named}, got); diff != "" {
		t.Errorf("rooms of the chat (-want +got):\n%s", diff)
	}
	w.sound()
}

// PLATFORMS 2.3, SEQ-07: where messages keep their ids under the new one of their chat,
// edits, reactions and answers find them, a second telling is none, and we edit our own.
func sameNames(t *testing.T, w *world) {
	room := w.bridged()
	said := w.hears(room, "zoe", "hello", chat, "")
	inThread := w.hears(room, "zoe", "in it", chat, "77")
	w.deliver()
	own := w.answer(ada, room, "hi")
	w.deliver()
	name := w.place(chat, own)
	sent, told := w.place(chat, said), len(w.log(room))

	const next = "C2"
	w.ok(w.s.Border.Migrate(t.Context(), account, spaces.ChatMove{From: chat, To: next, Same: true}, w.now))
	w.ok(w.s.Border.Migrate(t.Context(), account, spaces.ChatMove{From: chat, To: next, Same: true}, w.now)) // told twice
	w.sound()
	if w.place(next, own) != name || w.place(next, said) != sent {
		t.Errorf("in the new chat they stand at %s and %s, want %s and %s", w.place(next, own), w.place(next, said), name, sent)
	}
	if refs, _, err := w.s.Border.MessageRefs(t.Context(), account, chat, said.ID); err != nil || len(refs) != 0 {
		t.Errorf("in the old chat it stands at %+v, %v", refs, err)
	}
	edit := w.inChat(w.fact(room, "zoe", spaces.MessageEdited{Text: "hello all"}), next, "")
	edit.Ref = spaces.MessageRef{Account: account, Chat: next, Message: sent}
	w.record(edit)
	if b, ok := w.last(room).Body.(spaces.MessageEdited); !ok || b.Target != said.ID {
		t.Errorf("the edit is about %+v, want %s", w.last(room).Body, said.ID)
	}
	again := w.inChat(w.message(room, "zoe", "hello"), next, "") // history tells it under the new id
	again.Ref.Message = sent
	if done := w.record(again); done.New != 0 || done.Duplicates != 1 {
		t.Errorf("a second telling is %+v", done)
	}
	if e := w.hears(room, "zoe", "more", next, "77"); e.Thread != inThread.Thread {
		t.Errorf("said in the thread %q, want %q", e.Thread, inThread.Thread)
	}
	if n := len(w.log(room)); n != told+3 { // migrated, edited, said
		t.Errorf("%d events more, want 3", n-told)
	}
}

func unreachable(t *testing.T, w *world) {
	room := w.family()
	w.ok(w.s.Border.Live(t.Context(), account, chat, false, "kicked", w.now))
	w.ok(w.s.Border.Live(t.Context(), account, chat, false, "kicked", w.now))
	if b, ok := w.last(room).Body.(spaces.ChatUnlinked); !ok || b.Reason != "kicked" {
		t.Errorf("last event %+v, want unlinked", w.last(room).Body)
	}
	if places, err := w.s.Border.Place(t.Context(), account, chat); err != nil || !places[0].Lost {
		t.Errorf("placed at %+v, %v; want out of reach", places, err)
	}
	w.say(room, "zoe", "said while we were out")
	w.answer(ada, room, "to nobody")
	due, err := w.s.Border.Claim(t.Context(), account, w.now, 10)
	w.ok(err)
	if len(due) != 1 { // nothing is lost in silence: the platform says why not (PRD-10-7)
		t.Errorf("%d actions for a room nobody can reach, want 1", len(due))
	}
	w.settleAll(due)
	w.ok(w.s.Border.Live(t.Context(), account, chat, true, "", w.now))
	if places, err := w.s.Border.Place(t.Context(), account, chat); err != nil || places[0].Lost {
		t.Errorf("placed at %+v, %v; want within reach", places, err)
	}
	spans, err := w.s.Shell.Spans(t.Context(), ada, room, 10)
	w.ok(err)
	reasons := []spaces.SpanReason{spans[0].Opener, spans[1].Closer}
	if !slices.Equal(reasons, []spaces.SpanReason{spaces.SpanLinked, spaces.SpanUnlinked}) || !spans[0].Active() {
		t.Errorf("spans %+v", spans)
	}
	w.say(room, "zoe", "hello again")
	w.answer(ada, room, "hello")
	if _, waits, err := w.s.Border.Next(t.Context(), account); err != nil || !waits {
		t.Errorf("nothing waits for the chat that is back (%v)", err)
	}
}

// ECOSYSTEM 4: what the configuration does not name any more is not there any
// more, and who comes back is told nothing twice.
func dismissedAgent(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	o := opening("attic", "ada")
	o.Chats[0].Chat = other
	elsewhere := w.open(o)
	w.say(room, "zoe", "are you both here?")
	w.say(elsewhere, "zoe", "and here?")
	d := spaces.AgentRemoval{Space: room, Agents: []spaces.AgentID{"ada", "nobody"}, At: morning}
	w.ok(w.s.Border.Dismiss(t.Context(), d))
	w.ok(w.s.Border.Dismiss(t.Context(), d))
	if got := kinds(w.log(room)); got[len(got)-1] != spaces.KindLeft || got[len(got)-2] != spaces.KindSaid {
		t.Errorf("kinds %v, want one leaving at the end", got)
	}
	waits := map[spaces.SpaceID]spaces.AgentID{}
	for _, x := range w.waiting() {
		waits[x.Space] += x.Mind.Agent
	}
	testutil.Same(t, "who is waited for", map[spaces.SpaceID]spaces.AgentID{room: "bea", elsewhere: "ada"}, waits)
	ups, err := w.s.Shell.Uplinks(t.Context(), ada)
	w.ok(err)
	if len(ups) != 2 || ups[0].Live || !ups[1].Live {
		t.Errorf("uplinks %+v, want the first one closed", ups)
	}
	rooms, err := w.s.Border.Configured(t.Context())
	w.ok(err)
	if len(rooms) != 2 || !slices.Equal(rooms[0].Agents, []spaces.AgentID{"bea"}) || !slices.Equal(rooms[1].Agents, []spaces.AgentID{"ada"}) {
		t.Errorf("who is where: %+v", rooms)
	}
	w.say(room, "zoe", "she is away")
	left := ups[0].Erased
	w.family("ada", "bea")
	ups, err = w.s.Shell.Uplinks(t.Context(), ada)
	w.ok(err)
	if ups[0].Erased != left || ups[0].Cursor != w.last(room).Seq {
		t.Errorf("uplink %+v, want it read to the end, and what was deleted looked for after %d", ups[0], left)
	}
	w.say(room, "zoe", "welcome back")
	w.answer(ada, room, "here I am")
	ups, err = w.s.Shell.Uplinks(t.Context(), ada)
	w.ok(err)
	if ups[0].Erased != ups[0].Cursor {
		t.Errorf("uplink %+v, want nothing deleted to look for after a cycle", ups[0])
	}
	w.sound() // what was said in her absence is nothing that she lacks
}

// I3, I4: a cycle that no process runs ends when its agent leaves the room or is
// removed; a running one goes on.
func leavesNothingOpen(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	for name, away := range map[string]func(){
		"dismissed": func() {
			w.ok(w.s.Border.Dismiss(t.Context(), spaces.AgentRemoval{Space: room, Agents: []spaces.AgentID{"ada"}, At: w.now}))
		},
		"retired": func() { w.ok(w.s.Border.Retire(t.Context(), []spaces.AgentID{"bea"}, w.now)) },
	} {
		w.family("ada", "bea")
		w.say(room, "zoe", "when?")
		wake := w.woken(ada, room)
		away()
		if y, err := w.s.Run(t.Context(), string(wake.Cycle.ID)); err != nil || y.Cycle.State != spaces.CycleOpen {
			t.Errorf("%s: a cycle under way is %s, %v", name, y.Cycle.State, err)
		}
		w.now = w.now.Add(2 * ttl)
		w.family("ada", "bea")
		away()
		y, err := w.s.Run(t.Context(), string(wake.Cycle.ID))
		if err != nil || y.Cycle.State != spaces.CycleAbandoned || y.Cycle.Stop != spaces.StopNoCapableAgent {
			t.Errorf("%s: a cycle that nobody runs is %s for %s, %v", name, y.Cycle.State, y.Cycle.Stop, err)
		}
		w.family("ada", "bea")
		if again := w.claim(ada, room); again != nil {
			t.Errorf("%s: it goes on as %+v", name, again.Cycle)
		}
		w.sound()
	}
}

// DESIGN 9: an agent that joins chats without an entry joins those that no agent is in
// any more.
func emptyRooms(t *testing.T, w *world) {
	keyed := w.open(opening("family", "ada"))
	let := func(id string, direct bool) spaces.SpaceID {
		o := opening("", "ada")
		o.Direct, o.Chats[0].Chat = direct, id
		return w.open(o)
	}
	direct, group := let("direct", true), let("group", false)
	away, err := w.s.Border.Strangers(t.Context(), []spaces.AgentID{"bea"})
	w.ok(err)
	if len(away) != 3 {
		t.Errorf("strangers: %+v", away)
	}
	for _, d := range away {
		d.At = w.now
		w.ok(w.s.Border.Dismiss(t.Context(), d))
	}
	for want, onlyDirect := range []bool{true, false, false} {
		n, err := w.s.Border.Fill(t.Context(), account, []spaces.AgentID{"bea"}, onlyDirect, w.now)
		w.ok(err)
		if n != []int{1, 1, 0}[want] {
			t.Errorf("%d. filling: %d rooms", want, n)
		}
	}
	w.say(keyed, "zoe", "anybody?")
	w.say(direct, "zoe", "you?")
	w.say(group, "zoe", "or you?")
	waits := map[spaces.SpaceID]spaces.AgentID{}
	for _, x := range w.waiting() {
		waits[x.Space] = x.Mind.Agent
	}
	testutil.Same(t, "who is waited for", map[spaces.SpaceID]spaces.AgentID{direct: "bea", group: "bea"}, waits)
}

// DESIGN 5: a chat that leaves a circle hears nothing of it any more.
func dismissedChat(t *testing.T, w *world) {
	o := opening("family", "ada")
	o.Chats = append(o.Chats, spaces.ChatMapping{Account: account, Chat: other, Live: true})
	room, beside := w.open(o), w.open(opening("team", "ada"))
	w.ok(w.s.Border.Dismiss(t.Context(), spaces.AgentRemoval{Space: room, Chats: o.Chats[1:], Reason: "not configured", At: morning}))
	if spans, err := w.s.Shell.Spans(t.Context(), ada, room, 10); err != nil || len(spans) != 1 || !spans[0].Active() {
		t.Errorf("spans %+v, %v, want the room to be reached by its other chat", spans, err)
	}
	d := spaces.AgentRemoval{Space: room, Chats: []spaces.ChatMapping{{Account: account, Chat: chat}}, Reason: "not configured", At: morning}
	w.ok(w.s.Border.Dismiss(t.Context(), d))
	w.ok(w.s.Border.Dismiss(t.Context(), d))
	if places, err := w.s.Border.Place(t.Context(), account, chat); err != nil || len(places) != 1 || places[0].Space != beside {
		t.Errorf("places of the chat: %+v, %v, want the other room alone", places, err)
	}
	d.Space = beside
	w.ok(w.s.Border.Dismiss(t.Context(), d))
	if _, err := w.s.Border.Place(t.Context(), account, chat); !errors.Is(err, activity.ErrUnmapped) {
		t.Errorf("place of the chat: %v, want it unmapped", err)
	}
	if got := kinds(w.log(room)); !slices.Equal(got[len(got)-3:], []spaces.EventKind{spaces.KindJoined, spaces.KindUnlinked, spaces.KindUnlinked}) {
		t.Errorf("kinds %v, want each chat unlinked once", got)
	}
	spans, err := w.s.Shell.Spans(t.Context(), ada, room, 10)
	w.ok(err)
	if len(spans) != 1 || spans[0].Active() {
		t.Errorf("spans %+v, want one that is closed", spans)
	}
	if again := w.family("ada"); again != room {
		t.Errorf("named again it is %s, want %s", again, room)
	}
}

func configuredRooms(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	guest := w.open(spaces.OpenRequest{
		Name: "admitted", Circle: "x", At: morning, Agents: []spaces.AgentID{"ada"},
		Chats: []spaces.ChatMapping{{Account: account, Chat: other}, {Account: account, Chat: "-300"}},
	})
	w.ok(w.s.Border.Migrate(t.Context(), account, spaces.ChatMove{From: chat, To: "-1002"}, morning))
	got, err := w.s.Border.Configured(t.Context())
	w.ok(err)
	want := []spaces.ConfiguredSpace{{
		Space: room, Key: "family", Circle: "home", Wake: spaces.WakeAuto, Agents: []spaces.AgentID{"ada", "bea"},
		Chats: []spaces.ChatMapping{{Account: account, Chat: "-1002", Title: "Family", Space: room, Object: spaces.ChatObject, Live: true}},
	}}
	testutil.Same(t, "configured rooms", want, got)
	admitted, err := w.s.Border.Admitted(t.Context(), account)
	w.ok(err)
	want = []spaces.ConfiguredSpace{{
		Space: guest, Circle: "x", Wake: spaces.WakeAuto, Agents: []spaces.AgentID{"ada"},
		Chats: []spaces.ChatMapping{
			{Account: account, Chat: other, Space: guest, Object: spaces.ChatObject, Live: true},
			{Account: account, Chat: "-300", Space: guest, Object: spaces.ChatObject, Live: true},
		},
	}}
	testutil.Same(t, "admitted rooms", want, admitted)
	if none, err := w.s.Border.Admitted(t.Context(), "telegram:other"); err != nil || len(none) != 0 {
		t.Errorf("rooms of another account: %+v, %v", none, err)
	}
	moves, err := w.s.Border.Moves(t.Context(), room)
	w.ok(err)
	if len(moves) != 1 || moves[0].From != chat || moves[0].To != "-1002" {
		t.Errorf("moves %+v", moves)
	}
}
