package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var logTests = map[string]func(*testing.T, *world){
	"SameUpdateTwiceIsOneEvent":                 sameUpdateTwice,
	"ChatThatChangedItsRoomIsNotHeardTwice":     roomChanged,
	"WhatBecomesOfAMessageBecomesOfItInItsRoom": takenBackLater,
	"BatchIsRecordedWithItsCursor":              batchWithCursor,
	"PersonIsRootOfTheirOwnWords":               personIsRoot,
	"ReplyFindsItsMessage":                      replyFindsMessage,
	"EditFindsItsMessage":                       editFindsMessage,
	"MentionsBecomeEntities":                    mentions,
	"IncoherentItemIsRecordedAsSuch":            incoherent,
	"UpdateWithoutASpaceStopsNobody":            stray,
	"JoinedIsOneEventAPerson":                   joinedEach,
	"ReadersFollowTheMembers":                   readersFollow,
	"TimeZonesGoByTheirSource":                  zonesBySource,
	"RoomsSharedWithSomebodyAreFound":           roomsShared,
	"RoomsOfAPersonAreFound":                    roomsOfPerson,
	"AProgramSendsAsAnAgent":                    sentFromOutside,
	"NamesAreKeptCurrent":                       namesCurrent,
	"BoundIdentityIsTheAgent":                   boundIdentity,
	"ForkSharesItsPastAndReachesNobody":         fork,
	"AgentRunIsCountedUntilAPersonSpeaks":       agentRun,
	"EventsComeInPages":                         pages,
	"EqualWordsHeardByTwoPairInOrder":           alikePair,
}

// I2, DELIVERY 2.3 K3
func sameUpdateTwice(t *testing.T, w *world) {
	room := w.family()
	m := w.message(room, "zoe", "hello")
	if got := w.record(m, m); got.New != 1 || got.Duplicates != 1 {
		t.Errorf("first batch: %+v, want 1 new and 1 duplicate", got)
	}
	if got := w.record(m); got.New != 0 || got.Duplicates != 1 || len(got.Wakes) != 0 {
		t.Errorf("redelivery: %+v, want 1 duplicate and nobody woken", got)
	}
	said := slices.DeleteFunc(w.log(room), func(e spaces.Event) bool { return e.Body.Kind() != spaces.KindSaid })
	if len(said) != 1 {
		t.Errorf("the log has %d messages, want 1", len(said))
	}
}

// I2: what a platform tells again once the chat is in another room is no news there,
// unless that room reads the past; two rooms of a chat hear it together.
func roomChanged(t *testing.T, w *world) {
	before, after := w.family(), w.open(spaces.OpenRequest{Name: "later", Agents: []spaces.AgentID{"bea"}, At: w.now})
	m := w.message(before, "zoe", "hello")
	w.record(m)
	again := m
	again.Event.Space = after
	if got := w.record(again); got.Duplicates != 1 || len(got.Wakes) != 0 {
		t.Errorf("told again: %+v, want a duplicate that wakes nobody", got)
	}
	again.Event.Body = spaces.MessagePosted{Text: "hello", Past: true}
	if got := w.record(again); got.New != 1 {
		t.Errorf("read as the past: %+v, want an event", got)
	}
	both := []spaces.IngestItem{w.message(before, "zoe", "to both")}
	both = append(both, both[0])
	both[1].Event.Space = after
	if got := w.record(both...); got.New != 2 {
		t.Errorf("told of two rooms: %+v, want an event in each", got)
	}
	if got := w.record(both...); got.Duplicates != 2 {
		t.Errorf("told of two rooms again: %+v, want two duplicates", got)
	}
}

// S5, DESIGN 2: what becomes of a message that was said while its chat was in another
// room becomes of it there, and is told once.
func takenBackLater(t *testing.T, w *world) {
	before, after := w.family(), w.open(spaces.OpenRequest{Name: "later", Agents: []spaces.AgentID{"bea"}, At: w.now})
	m := w.message(before, "zoe", "hello")
	w.record(m)
	log := w.log(after)
	gone := w.fact(after, "zoe", spaces.MessageDeleted{Ref: m.Ref})
	if got := w.record(gone); got.New != 1 || len(got.Wakes) != 0 {
		t.Errorf("taken back: %+v, want an event that wakes nobody", got)
	}
	if got := w.record(gone); got.Duplicates != 1 {
		t.Errorf("told again: %+v, want a duplicate", got)
	}
	said := w.log(before)
	if b, ok := said[len(said)-1].Body.(spaces.MessageDeleted); !ok || b.Target != said[len(said)-2].ID {
		t.Errorf("its room ends with %+v, want its deletion", said[len(said)-2:])
	}
	testutil.Same(t, "the other room", log, w.log(after))
}

// R-TG, K5: events, inbox rows and the cursor are one transaction.
func batchWithCursor(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	got, err := w.s.Border.Record(t.Context(), spaces.IngestBatch{
		Account: account, Cursor: []byte("offset 7"), At: w.now,
		Items: []spaces.IngestItem{w.message(room, "zoe", "one"), w.message(room, "zoe", "two")},
	})
	w.ok(err)
	want := spaces.IngestResult{
		New: 2, Spaces: []spaces.SpaceID{room},
		Wakes: []spaces.PendingWork{{Mind: ada, Space: room, Since: w.now}, {Mind: bea, Space: room, Since: w.now}},
	}
	testutil.Same(t, "recorded", want, got)
	cursor, err := w.s.Border.Cursor(t.Context(), account)
	w.ok(err)
	if string(cursor) != "offset 7" {
		t.Errorf("cursor is %q", cursor)
	}
	if none, err := w.s.Border.Cursor(t.Context(), "somebody"); err != nil || none != nil {
		t.Errorf("cursor of an account without one: %q, %v", none, err)
	}
	testutil.Same(t, "waiting", want.Wakes, w.waiting())
}

// SEQ-08, SEQ-11, SEQ-12, DESIGN 4
func personIsRoot(t *testing.T, w *world) {
	room := w.family()
	before := w.last(room)
	e := w.say(room, "zoe", "hello")
	if e.Root != e.ID || e.Depth != 0 || e.Cause != "" {
		t.Errorf("chain of a person's message: cause %q root %q depth %d", e.Cause, e.Root, e.Depth)
	}
	if e.Seq != before.Seq+1 || !slices.Equal(e.Parents, []spaces.EventID{before.ID}) {
		t.Errorf("seq %d parents %v, want %d and [%s]", e.Seq, e.Parents, before.Seq+1, before.ID)
	}
	if !e.At.Equal(w.now) || !e.RecvAt.Equal(w.now) {
		t.Errorf("at %v, recorded %v, want %v", e.At, e.RecvAt, w.now)
	}
	if want := (spaces.TimelineContext{Branch: spaces.Primary, Primary: true, LastEvent: e.ID, LastSeq: e.Seq}); e.Timeline() != want {
		t.Errorf("timeline %+v, want %+v", e.Timeline(), want)
	}
}

// SEQ-98
func replyFindsMessage(t *testing.T, w *world) {
	room := w.family()
	first := w.say(room, "zoe", "who is there?")
	answer := w.message(room, "tom", "me")
	answer.ReplyRef = ref("1")
	w.record(answer)
	if got := w.last(room).ReplyTo; got != first.ID {
		t.Errorf("reply to %q, want %q", got, first.ID)
	}
	orphan := w.message(room, "tom", "and me")
	orphan.ReplyRef = ref("999")
	w.record(orphan)
	if got := w.last(room); got.ReplyTo != "" || got.Body.(spaces.MessagePosted).ReplyRef != ref("999") {
		t.Errorf("reply to an unknown message: %q, %+v", got.ReplyTo, got.Body)
	}
}

// F24
func editFindsMessage(t *testing.T, w *world) {
	room := w.family()
	first := w.say(room, "zoe", "helo")
	for _, body := range []spaces.EventBody{
		spaces.MessageEdited{Ref: ref("1"), Text: "hello"},
		spaces.ReactionAdded{Ref: ref("1"), Emoji: "👍"},
		spaces.ReactionRemoved{Ref: ref("1"), Emoji: "👍"},
		spaces.MessagePinned{Ref: ref("1")},
		spaces.MessageUnpinned{Ref: ref("1")},
		spaces.MessageDeleted{Ref: ref("1")},
	} {
		w.record(w.fact(room, "zoe", body))
		if id, _ := spaces.Target(w.last(room).Body); id != first.ID {
			t.Errorf("%s is about %q, want %q", body.Kind(), id, first.ID)
		}
	}
	w.record(w.fact(room, "zoe", spaces.MessageEdited{Ref: ref("early"), Text: "x"}))
	if id, where := spaces.Target(w.last(room).Body); id != "" || where != ref("early") {
		t.Errorf("an edit before its message is about %q at %+v", id, where)
	}
}

// SEQ-10: the refusal is recorded, redelivery changes nothing, the rest goes in.
func incoherent(t *testing.T, w *world) {
	room := w.family()
	lost := w.message(room, "zoe", "from nowhere")
	lost.Event.Branch = "unheard-of"
	orphan := w.message(room, "zoe", "without a parent")
	orphan.Event.Parents = []spaces.EventID{"nobody"}
	good := w.message(room, "zoe", "fine")
	if got := w.record(lost, orphan, good); got.New != 3 {
		t.Errorf("recorded %+v, want two refusals and a message", got)
	}
	events := w.log(room)
	tail := events[len(events)-3:]
	want := []spaces.EventKind{spaces.KindUnreadable, spaces.KindUnreadable, spaces.KindSaid}
	testutil.Same(t, "kinds", want, kinds(tail))
	if b := tail[0].Body.(spaces.UnreadableUpdate); b.What != "said" || b.Reason == "" || len(b.Raw) == 0 {
		t.Errorf("refusal tells too little: %+v", b)
	}
	if got := w.record(lost, orphan); got.Duplicates != 2 {
		t.Errorf("redelivery: %+v, want 2 duplicates", got)
	}
}

func stray(t *testing.T, w *world) {
	room := w.family()
	got := w.record(w.message("no such space", "zoe", "hello?"), w.message(room, "zoe", "hello"))
	if got.New != 1 || w.last(room).Body.(spaces.MessagePosted).Text != "hello" {
		t.Errorf("recorded %+v, want the message that has a space", got)
	}
}

// DESIGN 4
func fork(t *testing.T, w *world) {
	room := w.family()
	first := w.say(room, "zoe", "one")
	w.say(room, "zoe", "two")
	w.ok(w.s.Fork(t.Context(), room, first.Seq, "rehearsal"))
	m := w.message(room, "zoe", "instead")
	m.Event.Branch, m.Ref = "rehearsal", spaces.MessageRef{}
	if got := w.record(m); got.New != 1 || len(got.Wakes) != 0 {
		t.Errorf("recorded %+v on a fork, want one event that wakes nobody", got)
	}
	var texts []string
	for _, e := range w.log(room, "rehearsal") {
		if b, ok := e.Body.(spaces.MessagePosted); ok {
			texts = append(texts, b.Text)
		}
	}
	testutil.Same(t, "the fork reads", []string{"one", "instead"}, texts)
	if got := w.last(room).Body.(spaces.MessagePosted).Text; got != "two" {
		t.Errorf("the primary branch ends with %q", got)
	}
}

// BLU-27
func agentRun(t *testing.T, w *world) {
	room := w.family()
	run := func() int {
		space, _, err := w.s.Shell.Space(t.Context(), room)
		w.ok(err)
		return space.AgentRun
	}
	w.say(room, "zoe", "hello")
	w.answer(ada, room, "hi")
	if run() != 1 {
		t.Errorf("run is %d after one message of an agent", run())
	}
	w.say(room, "zoe", "how are you?")
	if run() != 0 {
		t.Errorf("run is %d after a person spoke", run())
	}
}

func pages(t *testing.T, w *world) {
	room := w.family()
	for range 5 {
		w.say(room, "zoe", "x")
		w.now = w.now.Add(time.Second)
	}
	all := w.log(room)
	var got []spaces.Event
	for after := int64(0); ; {
		page, err := w.s.Shell.Events(t.Context(), room, spaces.Primary, after, 3)
		w.ok(err)
		got = append(got, page...)
		if len(page) < 3 {
			break
		}
		after = page[len(page)-1].Seq
	}
	testutil.Same(t, "pages differ from the whole", all, got)
}
