package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/spaces"
)

var spanTests = map[string]func(*testing.T, *world){
	"DeafAccountClosesSpansUntilItHears": deaf,
	"RoomIsHeardWhileOneAccountHears":    heardElsewhere,
	"RoomStirsAfterALongSilence":         stirs,
	"NoSpanEndsBeforeItBegan":            neverBackwards,
	"OpenSpanIsCheckpointedDaily":        checkpointed,
	"CleanStopClosesSpansAtTheHead":      cleanStop,
	"CrashClosesSpansAtTheLastHandled":   crashStop,
	"UpkeepSaysNothingOfTheAgents":       upkept,
}

// marks returns opener and closer of an uplink's spans, oldest first.
func (w *world) marks(m spaces.Mind, room spaces.SpaceID) (marks [][2]spaces.SpanReason, spans []spaces.ConnectionSpan) {
	w.t.Helper()
	found, err := w.s.Shell.Spans(w.t.Context(), m, room, 100)
	w.ok(err)
	for _, span := range slices.Backward(found) {
		spans = append(spans, span)
		marks = append(marks, [2]spaces.SpanReason{span.Opener, span.Closer})
	}
	return marks, spans
}

// I13, SEQ-15
func deaf(t *testing.T, w *world) {
	room := w.family()
	w.ok(w.s.Border.SetConnected(t.Context(), account, false, w.now))
	w.ok(w.s.Border.SetConnected(t.Context(), account, false, w.now))
	w.ok(w.s.Border.SetConnected(t.Context(), account, true, w.now.Add(time.Hour)))
	got, _ := w.marks(ada, room)
	want := [][2]spaces.SpanReason{{spaces.SpanLinked, spaces.SpanDeaf}, {spaces.SpanHeard, ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}

// DESIGN 4, SEQ-96: a room of several accounts is heard as long as one of them hears.
func heardElsewhere(t *testing.T, w *world) {
	const beside = "slack:T1"
	o := opening("family", "ada")
	o.Chats = append(o.Chats, spaces.ChatMapping{Account: beside, Chat: "C1", Live: true})
	room := w.open(o)
	hears := func(account string, hears bool, want ...spaces.SpanReason) {
		t.Helper()
		w.now = w.now.Add(time.Hour)
		w.ok(w.s.Border.SetConnected(t.Context(), account, hears, w.now))
		got, _ := w.marks(ada, room)
		if last := got[len(got)-1]; !slices.Equal(last[:], want) {
			t.Errorf("once %s hears is %t the last span is %q of %q, want %q", account, hears, last, got, want)
		}
	}
	hears(account, false, spaces.SpanLinked, "")
	hears(beside, false, spaces.SpanLinked, spaces.SpanDeaf)
	hears(account, true, spaces.SpanHeard, "")
	hears(account, false, spaces.SpanHeard, spaces.SpanDeaf)
	hears(beside, true, spaces.SpanHeard, "")
	w.s = w.s.Restart(t, true) // a connection that has just begun is not lost
	hears(beside, false, spaces.SpanStarted, "")
	hears(account, true, spaces.SpanStarted, "")
}

// SEQ-14, SEQ-15: the gap is two inner events; messages are none.
func stirs(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "good night")
	night := w.last(room)
	w.now = w.now.Add(13 * time.Hour)
	day := w.say(room, "zoe", "good morning")
	w.say(room, "zoe", "anybody?")
	got, spans := w.marks(ada, room)
	want := [][2]spaces.SpanReason{{spaces.SpanLinked, spaces.SpanIdle}, {spaces.SpanStirred, ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("spans (-want +got):\n%s", diff)
	}
	if spans[0].To != night.Seq || spans[0].ToID != night.ID || spans[1].From != day.Seq {
		t.Errorf("spans end at %d and begin at %d, want %d and %d", spans[0].To, spans[1].From, night.Seq, day.Seq)
	}
	if inner := w.inner(ada); len(inner) != 3 {
		t.Errorf("inner log has %d events, want opened, closed, opened", len(inner))
	}
}

// DESIGN 4: where a span began in the middle of a long silence, as after a restart, it
// does not end where the silence did.
func neverBackwards(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "good night")
	w.now = w.now.Add(72 * time.Hour)
	w.ok(w.s.Border.SetConnected(t.Context(), account, false, w.now))
	w.ok(w.s.Border.SetConnected(t.Context(), account, true, w.now.Add(time.Hour)))
	w.now = w.now.Add(2 * time.Hour)
	w.say(room, "zoe", "good morning")
	_, spans := w.marks(ada, room)
	for _, s := range spans {
		if !s.Closed.IsZero() && s.Closed.Before(s.Opened) {
			t.Errorf("span %s to %s was opened at %s and closed at %s", s.Opener, s.Closer, s.Opened, s.Closed)
		}
	}
}

// DESIGN 4: a checkpoint event a day, and none for the messages in between (SEQ-14).
func checkpointed(t *testing.T, w *world) {
	room := w.family()
	var before spaces.Event
	for range 11 {
		before = w.last(room)
		w.say(room, "zoe", "busy")
		w.now = w.now.Add(5 * time.Hour)
	}
	var marks []spaces.SpanChanged
	for _, b := range w.inner(ada) {
		if s, ok := b.(spaces.SpanChanged); ok && s.What == "checkpointed" {
			marks = append(marks, s)
		}
	}
	if len(marks) != 2 || marks[1].Seq != before.Seq || marks[1].Event != before.ID || marks[1].Reason != spaces.SpanCheckpoint {
		t.Errorf("two days of talk left the marks %+v, want two, the last at %d", marks, before.Seq)
	}
	_, spans := w.marks(ada, room)
	if len(spans) != 1 || spans[0].Checked.IsZero() {
		t.Errorf("spans %+v, want one that was checked", spans)
	}
}

func cleanStop(t *testing.T, w *world) {
	room := w.family()
	last := w.say(room, "zoe", "hello")
	w.s = w.s.Restart(t, true)
	got, spans := w.marks(ada, room)
	want := [][2]spaces.SpanReason{{spaces.SpanLinked, spaces.SpanStopped}, {spaces.SpanStarted, ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("spans (-want +got):\n%s", diff)
	}
	if spans[0].To != last.Seq || spans[1].From != last.Seq+1 {
		t.Errorf("spans end at %d and begin at %d, want %d and %d", spans[0].To, spans[1].From, last.Seq, last.Seq+1)
	}
}

func crashStop(t *testing.T, w *world) {
	room := w.family()
	handled := w.say(room, "zoe", "hello")
	w.rest(w.woken(ada, room), 0)
	w.say(room, "zoe", "still there?")
	w.s = w.s.Restart(t, false)
	got, spans := w.marks(ada, room)
	want := [][2]spaces.SpanReason{{spaces.SpanLinked, spaces.SpanCrashed}, {spaces.SpanStarted, ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("spans (-want +got):\n%s", diff)
	}
	if spans[0].To != handled.Seq || spans[0].ToID != handled.ID || spans[1].From != handled.Seq+1 {
		t.Errorf("span ends at %d and the next begins at %d, want %d and %d", spans[0].To, spans[1].From, handled.Seq, handled.Seq+1)
	}
}

// SEQ-14: a command that has the record for a moment is no life of the agents. What a
// crash left open is closed by the next process in which they live.
func upkept(t *testing.T, w *world) {
	room := w.family()
	last := w.say(room, "zoe", "hello")
	inner := len(w.inner(ada))
	w.s = w.s.Upkeep(t, true, func(b BridgeStore) { w.ok(b.Amend(t.Context(), func(d *access.PairingState) { d.Wrong++ })) })
	w.s = w.s.Upkeep(t, false, func(BridgeStore) {})
	got, spans := w.marks(ada, room)
	want := [][2]spaces.SpanReason{{spaces.SpanLinked, spaces.SpanStopped}, {spaces.SpanStarted, spaces.SpanCrashed}, {spaces.SpanStarted, ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("spans (-want +got):\n%s", diff)
	}
	if spans[0].To != last.Seq || spans[1].From != last.Seq+1 {
		t.Errorf("spans end at %d and begin at %d, want %d and %d", spans[0].To, spans[1].From, last.Seq, last.Seq+1)
	}
	if added := len(w.inner(ada)) - inner; added != 4 {
		t.Errorf("the inner log has %d more events, want closed, opened, closed, opened", added)
	}
}
