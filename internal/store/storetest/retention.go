package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

var keepsakeTests = map[string]func(*testing.T, *world){
	"NewestKeyframeIsReadBack":           keyframe,
	"CutNeedsTheWholeMind":               cutAlone,
	"DeletedWordsLeaveTurnsAndKeyframes": redaction,
	"DeletedWordsLeaveWhatRepeatsThem":   repetition,
	"DeletedWordsLeaveWhatCameSince":     sinceThen,
	"DigestsGoWithWhatTheyWereMadeOf":    digests,
	"MeaningsGoWithTheirWords":           meanings,
	"MindWithoutAPastIsEmpty":            emptyMind,
	"PeopleForgetForAMind":               forgetting,
	"PeopleCorrectAMemory":               correcting,
}

// CON-12, ECOSYSTEM 6: a person's word changes what a memory says and nothing else of
// it; one that is gone stays gone.
func correcting(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "tea, always")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	made := spaces.MemoryAdded{ID: "m1", Fact: "Zoe takes tea", What: "preference", Sources: []spaces.EventID{wake.Events[0].ID}, Readers: []spaces.EntityID{"zoe"}, Space: room}
	c.Inner = []spaces.EventBody{made, spaces.MemoryAdded{ID: "m2", Fact: "Bob takes milk"}, spaces.MemoryRemoved{ID: "m2"}}
	w.commit(c)
	before, err := w.s.Memories.Memory(t.Context(), ada)
	w.ok(err)
	for id, want := range map[string]bool{"m1": true, "m2": false, "m3": false} {
		had, err := w.s.Shell.Correct(t.Context(), ada, id, "Zoe takes coffee", w.now)
		w.ok(err)
		if had != want {
			t.Errorf("had %s: %t, want %t", id, had, want)
		}
	}
	w.changes(1)
	want := before.Self.Memories.All[0]
	want.Fact, want.Former, want.Corrected = "Zoe takes coffee", []string{want.Fact}, w.now
	has, err := w.s.Memories.Memory(t.Context(), ada)
	w.ok(err)
	testutil.Same(t, "it remembers", []spaces.Memory{want}, has.Self.Memories.All)
	had, err := w.s.Shell.Forget(t.Context(), ada, "m1", w.now)
	w.ok(err)
	if has, err = w.s.Memories.Memory(t.Context(), ada); err != nil || !had || len(has.Self.Memories.All) != 0 {
		t.Errorf("then forgotten: %t, it has %+v, %v", had, has.Self.Memories.All, err)
	}
	w.changes(2)
}

// changes expects so many changes of memories by people.
func (w *world) changes(want int64) {
	w.t.Helper()
	n, err := w.s.Shell.Changes(w.t.Context())
	w.ok(err)
	if n != want {
		w.t.Errorf("people changed memories %d times, want %d", n, want)
	}
}

// CON-12, ECOSYSTEM 6: a person's word takes a memory or plan back as the mind's own
// act does, with a trace; of what the mind does not have nothing is written.
func forgetting(t *testing.T, w *world) {
	w.changes(0)
	room := w.family()
	w.say(room, "zoe", "tea, always")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Inner = []spaces.EventBody{
		spaces.ToolCalled{Cycle: wake.Cycle.ID, Name: "remember", Args: "{}"},
		spaces.MemoryAdded{ID: "m1", Fact: "Zoe takes tea", Sources: []spaces.EventID{wake.Events[0].ID}},
		spaces.MemoryAdded{ID: "m2", Fact: "Bob takes milk"},
	}
	c.Timers = []spaces.WakeTimer{{ID: "t1", Mind: ada, Kind: spaces.TimerPlan, Space: room, Note: "tea", Due: w.now.Add(time.Hour), Cycle: wake.Cycle.ID, Plan: "p1"}}
	w.commit(c)
	other := spaces.Mind{Agent: "bea", Circle: ada.Circle}
	for _, x := range []struct {
		m    spaces.Mind
		id   string
		want bool
	}{{ada, "m1", true}, {ada, "m1", false}, {other, "m2", false}, {ada, "p1", true}, {ada, "p1", false}, {ada, "nothing", false}} {
		had, err := w.s.Shell.Forget(t.Context(), x.m, x.id, w.now)
		w.ok(err)
		if had != x.want {
			t.Errorf("%s had %s: %t, want %t", x.m, x.id, had, x.want)
		}
	}
	w.changes(2)
	has, err := w.s.Memories.Memory(t.Context(), ada)
	w.ok(err)
	if all := has.Self.Memories.All; len(all) != 1 || all[0].ID != "m2" || len(has.Plans) != 0 {
		t.Errorf("it has %+v and plans %+v", all, has.Plans)
	}
	maker, err := w.s.Memories.Maker(t.Context(), ada, has.Self.Memories.All[0].Event)
	w.ok(err)
	if maker != wake.Cycle.ID {
		t.Errorf("kept by %q, want %q", maker, wake.Cycle.ID)
	}
	told, err := w.s.Memories.Told(t.Context(), ada, []spaces.EventID{"unknown", wake.Events[0].ID})
	w.ok(err)
	if len(told) != 1 || told[0].ID != wake.Events[0].ID {
		t.Errorf("told %+v", told)
	}
	forgot := 0
	for _, b := range w.inner(ada) {
		if b.Kind() == spaces.KindForgot {
			forgot++
		}
	}
	if forgot != 2 {
		t.Errorf("%d traces of forgetting, want 2", forgot)
	}
}

// CON-33
func keyframe(t *testing.T, w *world) {
	w.family()
	for n := int64(1); n <= 2; n++ {
		k := spaces.Keyframe{Mind: ada, Text: "what was", Refs: []spaces.EventID{"e1"}, Tokens: 10, Upto: n, Cause: "high_water", At: w.now}
		done := spaces.ContextCompacted{Cause: "high_water", TokensBefore: 100, TokensAfter: 10, Cycles: 1}
		w.ok(w.s.Shell.Cut(t.Context(), holder, k, done))
		k.N = n
		got, err := w.s.Shell.Keyframe(t.Context(), ada)
		w.ok(err)
		testutil.Same(t, "keyframe", &k, got)
		inner := w.inner(ada)
		testutil.Same(t, "inner log", spaces.EventBody(done), inner[len(inner)-1])
	}
}

func cutAlone(t *testing.T, w *world) {
	room := w.family()
	o := opening("team", "ada")
	o.Chats[0].Chat = other
	second := w.open(o)
	w.say(room, "zoe", "one")
	w.say(second, "zoe", "two")
	own := w.woken(ada, room)
	foreign := w.claimAs("process-2", ada, second, wakeAll)
	k := spaces.Keyframe{Mind: ada, Text: "x", At: w.now}
	err := w.s.Shell.Cut(t.Context(), holder, k, spaces.ContextCompacted{Cycle: own.Cycle.ID})
	w.is(err, spaces.ErrLeaseLost)
	if got, err := w.s.Shell.Keyframe(t.Context(), ada); err != nil || got != nil {
		t.Errorf("a refused cut left %+v, %v", got, err)
	}
	w.rest(foreign, 0)
	w.ok(w.s.Shell.Cut(t.Context(), holder, k, spaces.ContextCompacted{Cycle: own.Cycle.ID}))
	w.rest(own, 0)
}

// DESIGN 2: a delete removes the words from every later frame.
func redaction(t *testing.T, w *world) {
	room := w.family()
	secret := w.say(room, "zoe", "my pin is 1234")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Turns = []spaces.TranscriptTurn{
		{Role: spaces.RoleUser, Text: "zoe: my pin is 1234", Refs: []spaces.EventID{secret.ID}, Tokens: 9},
		{Role: spaces.RoleAssistant, Calls: []spaces.TurnCall{{ID: "1", Name: "note", Args: `{"text":"my pin is 1234"}`}}, Tokens: 5},
		{Role: spaces.RoleTool, CallID: "1", Text: "ok", Tokens: 1},
	}
	w.commit(c)
	c = w.step(wake, 1)
	c.Inner = []spaces.EventBody{
		spaces.MemoryAdded{ID: "m1", Fact: "Zoe has a pin", What: "user_fact", Sources: []spaces.EventID{secret.ID}},
		spaces.NoteAdded{Text: "she says: my pin is 1234", Cycle: wake.Cycle.ID},
	}
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "Zoe said my pin is 1234."}
	w.commit(c)
	w.ok(w.s.Shell.Cut(t.Context(), holder, spaces.Keyframe{Mind: ada, Text: "pin: my pin is 1234", Refs: []spaces.EventID{secret.ID}, Tokens: 4, At: w.now}, spaces.ContextCompacted{}))
	gone, other := hud.NewRedaction("my pin is 1234"), hud.NewRedaction("pin")
	w.ok(w.s.Shell.Redact(t.Context(), ada, shell.RedactionRequest{Event: secret.ID, Shown: gone, Repeated: gone}))
	w.ok(w.s.Shell.Redact(t.Context(), ada, shell.RedactionRequest{Event: "another event", Shown: other, Repeated: other}))

	var self spaces.InnerState
	own, err := w.s.Shell.Self(t.Context(), ada)
	w.ok(err)
	for _, e := range own {
		self.Apply(e)
	}
	if len(self.Memories.All) != 0 || self.Notes.All[0].Text != "she says: [deleted]" {
		t.Errorf("the mind still has %+v", self)
	}

	closed, err := w.s.Shell.Cycles(t.Context(), ada, 0, true, 10)
	w.ok(err)
	turns := closed[0].Turns
	if turns[0].Text != "zoe: [deleted]" || turns[1].Calls[0].Args != `{"text":"[deleted]"}` || closed[0].Rest != "Zoe said [deleted]." {
		t.Errorf("left are %+v and %q", turns, closed[0].Rest)
	}
	if turns[0].Tokens != 0 || turns[2].Tokens != 1 {
		t.Errorf("tokens %d and %d, want a new rendering to be uncounted and an old one to keep its count", turns[0].Tokens, turns[2].Tokens)
	}
	k, err := w.s.Shell.Keyframe(t.Context(), ada)
	w.ok(err)
	if k.Text != "pin: [deleted]" || k.Tokens != 0 {
		t.Errorf("keyframe %+v", k)
	}
}

// DESIGN 2: what was shown once may be repeated in any later run, and other minds of
// the agent may have been shown it.
func repetition(t *testing.T, w *world) {
	room := w.family()
	secret := w.say(room, "zoe", "my pin is 1234")
	for n, turn := range []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: "so my pin is 1234 or four words", Refs: []spaces.EventID{secret.ID}}, {Role: spaces.RoleAssistant, Text: "my pin is 1234 or four words"}} {
		w.now = w.now.Add(time.Minute)
		if n > 0 {
			w.say(room, "zoe", "well?")
		}
		c := w.step(w.woken(ada, room), 0)
		c.Turns = []spaces.TranscriptTurn{turn}
		c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: turn.Text}
		w.commit(c)
	}
	for mind, want := range map[spaces.Mind][]spaces.Mind{ada: nil, {Agent: "ada", Circle: "other"}: {ada}, {Agent: "bea", Circle: "other"}: nil} {
		got, err := w.s.Shell.ShownTo(t.Context(), mind, secret.ID)
		w.ok(err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("beside %s it was shown to (-want +got):\n%s", mind, diff)
		}
	}
	w.ok(w.s.Shell.Redact(t.Context(), ada, shell.RedactionRequest{
		Event: secret.ID, Shown: hud.NewRedaction("my pin is 1234"), Repeated: hud.NewRedaction("or four words"),
	}))
	w.left("so [deleted] or four words", "so [deleted] or four words", "my pin is 1234 [deleted]", "my pin is 1234 [deleted]")
}

// left compares what ada's cycles keep: of each its first turn and its summary.
func (w *world) left(want ...string) {
	w.t.Helper()
	closed, err := w.s.Shell.Cycles(w.t.Context(), ada, 0, true, 10)
	w.ok(err)
	var got []string
	for _, c := range closed {
		got = append(got, c.Turns[0].Text, c.Rest)
	}
	testutil.Same(w.t, "left is", want, got)
}

// DESIGN 2: what a run keeps after words were deleted is taken out when it ends; what
// was stored before that run is not looked at again.
func sinceThen(t *testing.T, w *world) {
	room := w.family()
	secret := w.say(room, "zoe", "my pin is 1234")
	for range 2 {
		w.now = w.now.Add(time.Hour)
		w.say(room, "zoe", "well?")
		c := w.step(w.woken(ada, room), 0)
		c.Turns = []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: "zoe: my pin is 1234", Refs: []spaces.EventID{secret.ID}}}
		c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "She has the pin 1234."}
		w.commit(c)
	}
	w.ok(w.s.Shell.Redact(t.Context(), ada, shell.RedactionRequest{
		Event: secret.ID, Since: w.now, Shown: hud.NewRedaction("my pin is 1234", "the pin 1234"), Repeated: hud.NewRedaction("the pin 1234"),
	}))
	w.left("zoe: my pin is 1234", "She has the pin 1234.", "zoe: [deleted]", "She has [deleted].")
}

// SECURITY S14, CON-48: a digest is read back, replaced by one of the same cycles, and
// counted for its room and for everything; with a message it was made of it goes,
// and its words from every keyframe since; of what was taken back none is kept.
func digests(t *testing.T, w *world) {
	room := w.family()
	secret := w.say(room, "zoe", "my pin is 1234")
	c := w.step(w.woken(ada, room), 0)
	c.Turns = []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: "zoe: my pin is 1234", Refs: []spaces.EventID{secret.ID}}}
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "Responded to Zoe."}
	w.commit(c)
	before, err := w.s.Shell.Spent(t.Context(), w.now, ada.Agent, room)
	w.ok(err)
	d := spaces.CycleSummary{
		Mind: ada, First: 1, Last: 30, Text: "Zoe told the agent a number.", Sources: []spaces.EventID{secret.ID, "e2"},
		Readers: []spaces.EntityID{"zoe"}, Model: "tiny", Space: room, Usage: spaces.TokenUsage{Prompt: 70, Output: 7, Calls: 1}, At: w.now,
	}
	other := spaces.CycleSummary{Mind: ada, First: 31, Last: 60, Text: "Nothing of note happened.", Sources: []spaces.EventID{"e3"}, Model: "tiny", At: w.now}
	first := d
	first.Text = "An earlier one."
	for _, x := range []spaces.CycleSummary{first, other, d} {
		w.ok(w.s.Shell.Digest(t.Context(), x))
	}
	want := []spaces.CycleSummary{d, other}
	want[0].Usage, want[0].Space = spaces.TokenUsage{}, ""
	got, err := w.s.Shell.Digests(t.Context(), ada)
	w.ok(err)
	testutil.Same(t, "digests", want, got)
	after, err := w.s.Shell.Spent(t.Context(), w.now, ada.Agent, room)
	w.ok(err)
	if after.All.Tokens != before.All.Tokens+2*77 || after.Space.Tokens != before.Space.Tokens+2*77 || after.Agent != before.Agent {
		t.Errorf("spent are %+v, before it %+v", after, before)
	}

	w.ok(w.s.Shell.Cut(t.Context(), holder, spaces.Keyframe{Mind: ada, Text: "before: " + d.Text + " " + other.Text, At: w.now}, spaces.ContextCompacted{}))
	w.ok(w.s.Shell.Redact(t.Context(), ada, shell.RedactionRequest{Event: secret.ID}))
	got, err = w.s.Shell.Digests(t.Context(), ada)
	w.ok(err)
	if len(got) != 1 || got[0].First != 31 {
		t.Errorf("left are %+v", got)
	}
	k, err := w.s.Shell.Keyframe(t.Context(), ada)
	w.ok(err)
	if k.Text != "before: [deleted] "+other.Text {
		t.Errorf("the keyframe says %q", k.Text)
	}
	w.is(w.s.Shell.Digest(t.Context(), d), spaces.ErrStale)
	got, err = w.s.Shell.Digests(t.Context(), ada)
	w.ok(err)
	if again, err := w.s.Shell.Spent(t.Context(), w.now, ada.Agent, room); err != nil || len(got) != 1 || again.All.Tokens != after.All.Tokens+77 {
		t.Errorf("a digest of what was taken back: %d are kept, spent %+v, %v", len(got), again, err)
	}
}

// CON-32
func emptyMind(t *testing.T, w *world) {
	k, err := w.s.Shell.Keyframe(t.Context(), ada)
	w.ok(err)
	ups, err := w.s.Shell.Uplinks(t.Context(), ada)
	w.ok(err)
	cycles, err := w.s.Shell.Cycles(t.Context(), ada, 0, true, 10)
	w.ok(err)
	self, err := w.s.Shell.Self(t.Context(), ada)
	w.ok(err)
	if k != nil || len(ups)+len(cycles)+len(self) != 0 {
		t.Errorf("a mind without a past has %+v %+v %+v %+v", k, ups, cycles, self)
	}
}
