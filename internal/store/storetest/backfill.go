package storetest

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

var pastTests = map[string]func(*testing.T, *world){
	"PastIsNewsToNobody":          pastIsNoNews,
	"PastAndPresentAreOneMessage": pastKnown,
	"PastRenamesNobody":           pastRenamesNobody,
	"DealtWithIsKeptOverAStart":   dealtKept,
}

// before is a message that was said long ago and is told now.
func (w *world) before(space spaces.SpaceID, from, text string) spaces.IngestItem {
	m := w.message(space, from, text)
	m.Event.Body = spaces.MessagePosted{Text: text, Past: true}
	m.Event.At = w.now.Add(-1000 * time.Hour)
	return m
}

// SEQ-04, S5: messages written into the log later wake no agent, are not unread, and
// make no one a member.
func pastIsNoNews(t *testing.T, w *world) {
	room := w.family()
	o := opening("busy", "bea")
	o.Chats[0].Chat = other
	busy := w.open(o)
	w.say(busy, "kai", "now")
	_, members, err := w.s.Shell.Space(t.Context(), room)
	w.ok(err)
	got := w.record(w.before(room, "zoe", "long ago"), w.before(room, "tom", "long ago, too"), w.before(busy, "zoe", "elsewhere"))
	if got.New != 3 || got.Past != 3 || len(got.Wakes) != 0 || len(got.Woken) != 0 {
		t.Errorf("recorded %+v, want three events that wake nobody", got)
	}
	e := w.last(room)
	if !e.At.Equal(w.now.Add(-1000*time.Hour)) || e.Actor == "" {
		t.Errorf("event %+v, want its own time and author", e)
	}
	if _, after, err := w.s.Shell.Space(t.Context(), room); err != nil || len(after) != len(members) {
		t.Errorf("%d members, %d before; %v", len(after), len(members), err)
	}
	uplinks, err := w.s.Shell.Uplinks(t.Context(), ada)
	w.ok(err)
	if len(uplinks) != 1 || uplinks[0].Cursor != e.Seq || uplinks[0].CursorID != e.ID {
		t.Errorf("uplinks %+v, want one that has seen event %d", uplinks, e.Seq)
	}
	if uplinks, err = w.s.Shell.Uplinks(t.Context(), bea); err != nil || len(uplinks) != 1 || uplinks[0].Cursor >= w.last(busy).Seq-1 {
		t.Errorf("uplinks %+v, %v: what was waiting has been passed over", uplinks, err)
	}
}

// DELIVERY 2.2-1: until when all is dealt with is said of a record that was put back,
// and the last word counts.
func dealtKept(t *testing.T, w *world) {
	ctx := t.Context()
	for n, want := range []time.Time{{}, w.now, w.now.Add(-time.Hour)} {
		if n > 0 {
			w.ok(w.s.Border.DealUntil(ctx, want))
			w.s = w.s.Restart(t, n == 1)
		}
		if got, err := w.s.Border.DealtUntil(ctx); err != nil || !got.Equal(want) {
			t.Errorf("dealt with until %s, %v; want %s", got, err, want)
		}
	}
}

// SEQ-04: no duplicates against live messages, whichever came first.
func pastKnown(t *testing.T, w *world) {
	room := w.family()
	live := w.message(room, "zoe", "live first")
	w.record(live)
	again := live
	again.Event.Body = spaces.MessagePosted{Text: "live first", Past: true}
	past := w.before(room, "zoe", "past first")
	if got := w.record(again, past, past); got.New != 1 || got.Duplicates != 2 {
		t.Errorf("recorded %+v, want one new", got)
	}
	late := past
	late.Event.Body = spaces.MessagePosted{Text: "past first"}
	if got := w.record(late); got.New != 0 || len(got.Wakes) != 0 {
		t.Errorf("recorded %+v, want nothing new", got)
	}
}

// SEQ-04: a person's name in old messages does not replace their present one.
func pastRenamesNobody(t *testing.T, w *world) {
	room := w.family()
	now := w.message(room, "zoe", "now")
	now.From.Name = "Zoe Today"
	past := w.before(room, "zoe", "long ago")
	past.From.Name = "Zoe Before"
	w.record(now, past)
	_, members, err := w.s.Shell.Space(t.Context(), room)
	w.ok(err)
	for _, m := range members {
		if m.Name == "Zoe Today" {
			return
		}
	}
	t.Errorf("members %+v, want Zoe Today among them", members)
}
