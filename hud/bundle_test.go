package hud

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

// weeks plays three spans in one room: two weeks ago, three days ago, now.
func weeks(t *testing.T) (w *world, id spaces.SpaceID, old spaces.Event) {
	t.Helper()
	w = newWorld(t)
	id = w.room("Garden", "kai", "nova", "ada")
	var spans []spaces.ConnectionSpan
	for n, pause := range []time.Duration{0, 11 * 24 * time.Hour, 3 * 24 * time.Hour} {
		w.at = w.at.Add(pause)
		from, opened := w.seq[id]+1, w.at
		if n == 0 {
			old = w.says(id, "kai", "who has the key of the shed?")
		}
		for i := range 110 {
			w.says(id, []string{"kai", "nova"}[i%2], "about the "+words[(n+i)%len(words)]+" again, as on the other days")
		}
		spans = append([]spaces.ConnectionSpan{{ID: int64(n + 1), From: from, To: w.seq[id], Opened: opened, Closed: w.at}}, spans...)
	}
	spans[0].To, spans[0].Closed = 0, time.Time{}
	w.v.Seats[0].Spans = spans
	w.v.Active = id
	return w, id, old
}

// look makes what was said so far history, and cuts to a context of that size.
func (w *world) look(context int) FramePlan {
	s := &w.v.Seats[0]
	s.Uplink.Cursor = s.Room.Upto()
	w.v.Limits.ContextTokens, w.v.Limits.MaxOutputTokens = context, 500
	return w.cut(CutFirst)
}

// CARD-06, SEQ-29, SEQ-30, SEQ-34, SEQ-35, SEQ-38, SEQ-65, SEQ-71, SEQ-72: a plan tells of each
// span how old it is, what it holds and what is left of it; the older, the less.
func TestAPlanTellsWhatIsLeftOfEachSpan(t *testing.T) {
	w, _, _ := weeks(t)
	plan := w.look(6_000)
	want := []SpanBundle{
		{Space: "s1", Span: 1, Age: Historical, Lines: 111},
		{Space: "s1", Span: 2, Age: MidTerm, Lines: 110},
		{Space: "s1", Span: 3, Age: Recent, Lines: 110, Active: true},
	}
	ignore := cmpopts.IgnoreFields(SpanBundle{}, "Start", "End", "Shown", "Ratio", "Talks")
	if diff := cmp.Diff(want, plan.Bundles, ignore, cmpopts.IgnoreUnexported(SpanBundle{})); diff != "" {
		t.Fatalf("bundles (-want +got):\n%s", diff)
	}
	for k, b := range plan.Bundles {
		if b.Shown > b.Lines || b.Ratio > 1 || b.Talks == 0 {
			t.Errorf("bundle %+v", b)
		}
		if k > 0 && b.Ratio < plan.Bundles[k-1].Ratio {
			t.Errorf("more is left of span %d than of the next one: %+v", k, plan.Bundles)
		}
	}
	if first, last := plan.Bundles[0].Ratio, plan.Bundles[2].Ratio; first >= last || first == 1 {
		t.Errorf("%v is left of the oldest span, %v of the open one", first, last)
	}
	shown := 0
	for _, b := range plan.Bundles {
		shown += b.Shown
	}
	if got := strings.Count(w.v.Keyframe.Text, "\n "); got != shown {
		t.Errorf("the keyframe shows %d lines, its bundles tell of %d", got, shown)
	}
}

// SEQ-104: what is shown of a span is made of the log at each cut, and kept nowhere else:
// an edit of an old line shows in the next one.
func TestASpanIsMadeAnewAtEachCut(t *testing.T) {
	w, id, old := weeks(t)
	w.look(100_000)
	if text := w.v.Keyframe.Text; !strings.Contains(text, "key of the shed") {
		t.Fatalf("the oldest line is not shown:\n%s", text)
	}
	w.add(id, "kai", spaces.MessageEdited{Target: old.ID, Text: "who has the key of the barn?"})
	w.look(100_000)
	if text := w.v.Keyframe.Text; !strings.Contains(text, "key of the barn") || strings.Contains(text, "key of the shed") {
		t.Errorf("the edit is not shown:\n%s", text)
	}
}

// SEQ-29, SEQ-50: of more spans than are shown, the older ones are one bundle.
func TestSpansBeyondTheNewestAreOneBundle(t *testing.T) {
	w, _, _ := weeks(t)
	w.v.Limits.SpansShown = 2
	plan := w.look(6_000)
	if len(plan.Bundles) != 3 || plan.Bundles[0].Span != 0 || plan.Bundles[0].Lines != 111 || plan.Bundles[1].Span != 2 {
		t.Errorf("bundles %+v", plan.Bundles)
	}
}

// SEQ-50, SEQ-66, SEQ-73, SEQ-75: what answers the newest words stays, however
// long ago it was said, in the middle of a span of which little else does.
func TestAnOldLineThatIsAskedForStaysWhole(t *testing.T) {
	w, id, _ := weeks(t)
	w.says(id, "nova", "Kai, where is the key of the shed?")
	w.wake(id)
	w.rests("Stayed silent.")
	plan := w.look(3_500)
	if !strings.Contains(w.v.Keyframe.Text, "who has the key of the shed?") {
		t.Errorf("the old line is gone:\n%s", w.v.Keyframe.Text)
	}
	if first := plan.Bundles[0]; first.Age != Historical || first.Ratio > 0.5 {
		t.Errorf("of the oldest span is left %+v", first)
	}
}

// SEQ-53, SEQ-76: a line that answers one of a span that is not shown brings the
// beginning of that one along; where both are shown, there is none.
func TestAReplyAcrossSpansBringsAStub(t *testing.T) {
	w, id, old := weeks(t)
	first := w.add(id, "nova", spaces.MessagePosted{Text: "my neighbour had it"}, replyTo(old.ID))
	w.add(id, "kai", spaces.MessagePosted{Text: "then I shall ask the neighbour tomorrow"}, replyTo(first.ID))
	h := (&keyframeBuilder{v: w.v}).history(&w.v.Seats[0], recall.LineQuery{}, func(spaces.EventID) bool { return false }, 4_000, 0)
	h.total = len(w.v.Seats[0].Room.Chat.Messages)
	last := h.total - 1
	section := func(lines ...int) (string, []spaces.EventID) {
		var chosen []ChosenElement
		for _, i := range lines {
			chosen = append(chosen, ChosenElement{&Element{lines: []int{i}}, &Form{Name: Full, limit: noLimit}})
		}
		return h.Section(chosen)
	}
	text, refs := section(last-1, last)
	if !strings.Contains(text, `Nova ↩#1 Kai "who has the key of the shed?": my neighbour had it`) || strings.Count(text, `"who has`) != 1 {
		t.Errorf("no stub:\n%s", text)
	}
	if len(refs) != 3 {
		t.Errorf("a stub's words are not among what is shown: %v", refs)
	}
	if got := NewRedaction("who has the key of the shed?").Text(text); strings.Contains(got, "shed") || !strings.Contains(got, `↩#1 Kai [deleted]: my`) && !strings.Contains(got, `↩#1 Kai "[deleted]": my`) {
		t.Errorf("a stub after its message was deleted:\n%s", got)
	}
	if text, _ := section(0, last-1, last); strings.Count(text, "who has the key of the shed?") != 1 {
		t.Errorf("a stub beside its message:\n%s", text)
	}
	w.v.Seats[0].Uplink.Fresh = old.Seq
	if text, _ := section(last - 1); strings.Contains(text, "shed") {
		t.Errorf("a stub of what the agent was told to leave behind:\n%s", text)
	}
}

// The words of a stub go with their message, short ones too.
func TestAShortStubIsRedacted(t *testing.T) {
	const line = "HISTORY s1 \"Family\" (2 of 9 lines):\n Ada ↩#1 Kai \"ok\": it is \"ok\"\n : ok"
	if got, want := NewRedaction("ok").Text(line), "HISTORY s1 \"Family\" (2 of 9 lines):\n Ada ↩#1 Kai [deleted]: it is \"ok\"\n : [deleted]"; got != want {
		t.Errorf("redacted:\n%s", got)
	}
}

// Nothing in a stub can break out of it.
func TestAStubCannotForgeALine(t *testing.T) {
	for n := range 400 {
		w := newWorld(t)
		id := w.room("Family", "kai", "nova", "ada")
		e := w.says(id, "kai", hostileText(n))
		w.add(id, "nova", spaces.MessagePosted{Text: "plain words"}, replyTo(e.ID))
		c := newCompact(w.v, &w.v.Seats[0])
		c.b, c.quoted = appendRoomHead(nil, w.v, c.seat, 1, 2), map[int]bool{0: true}
		c.line(1, noLimit)
		got, err := parseCompact(c.text())
		if want := []heard{{Speaker: "Nova", Text: "plain words"}}; err != nil || !cmp.Equal(got, want) {
			t.Fatalf("%q: %+v %v\n%s", hostileText(n), got, err, c.text())
		}
	}
}
