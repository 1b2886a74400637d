package storetest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

var erasureTests = map[string]func(*testing.T, *world){
	"DeletedFileIsNotShown":                     erasedFile,
	"DeletedVoiceTakesItsWordsAlong":            erasedVoice,
	"DeletedWordsLeaveEverythingOfAMind":        erasedThoughts,
	"DeletedWordsLeaveKeyframesOfBefore":        erasedKeyframe,
	"DeletedWordsLeaveOnlyWhatMayHaveThem":      erasedWhere,
	"WordsDeletedBeforeTheyWereShownAreNotTold": erasedUnseen,
	"WordsAreErasedWhateverTheClock":            erasedBack,
	"DeletedWordsLeaveAMindWhoseFramesAreGone":  erasedLong,
	"WhatIsDeletedTogetherLeavesEachItsPlaces":  erasedTogether,
	"DeletedWordsAreNotShownInTheirRoom":        erasedShown,
}

// lived has the mind live a run of one step over what woke it, with turns and a
// summary; zero is one that stays open.
func (w *world) lived(room spaces.SpaceID, rest string, turns []spaces.TranscriptTurn, inner ...spaces.EventBody) spaces.CycleID {
	w.t.Helper()
	c := w.step(w.woken(ada, room), 0)
	c.Turns, c.Inner = turns, inner
	if rest != "" {
		c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: rest}
	}
	w.commit(c)
	return c.Step.Cycle
}

// saw is a turn that shows a message.
func saw(e spaces.Event, text string) []spaces.TranscriptTurn {
	return []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: text, Refs: []spaces.EventID{e.ID}}}
}

// erase deletes a message for ada: the words it was shown with, and those that may
// repeat it.
func (w *world) erase(e spaces.Event, since time.Time, words ...string) {
	w.t.Helper()
	by := hud.NewRedaction(words...)
	w.ok(w.s.Shell.Redact(w.t.Context(), ada, shell.RedactionRequest{Event: e.ID, Since: since, Shown: by, Repeated: by}))
}

// told is what an operator is shown of a message that ada was shown.
func (w *world) told(id spaces.EventID) spaces.EventBody {
	w.t.Helper()
	told, err := w.s.Memories.Told(w.t.Context(), ada, []spaces.EventID{id})
	w.ok(err)
	if len(told) != 1 {
		w.t.Fatalf("told are %+v", told)
	}
	return told[0].Body
}

// SECURITY S14: a message without words is gone as one with words is, with its files and
// what stood behind its command.
func erasedFile(t *testing.T, w *world) {
	room := w.family()
	it := w.message(room, "zoe", "")
	it.Event.Body = spaces.MessagePosted{Command: "/show", Args: "the will", Attachments: []spaces.FileAttachment{{Kind: "document", ID: "f1", Name: "will.pdf"}}}
	w.record(it)
	photo := w.last(room)
	w.lived(room, "Looked.", saw(photo, "zoe: [will.pdf]"))
	w.erase(photo, time.Time{})
	said := w.told(photo.ID).(spaces.MessagePosted)
	if said.Text != "[deleted]" || said.Args != "" || len(said.Attachments) != 0 {
		t.Errorf("it is still %+v", said)
	}
}

// SECURITY S14: what was heard in a voice goes with it, also from what the mind wrote.
func erasedVoice(t *testing.T, w *world) {
	room := w.family()
	voice := w.say(room, "zoe", "")
	w.record(w.fact(room, "zoe", spaces.VoiceTranscribed{Target: voice.ID, File: "f1", Text: "the key is under the pot", Model: "ear"}))
	heard := w.last(room)
	w.lived(room, "Listened.", saw(voice, "zoe: the key is under the pot"), spaces.NoteAdded{Text: "so: the key is under the pot"})
	w.erase(voice, time.Time{}, "the key is under the pot")
	if b, _ := w.told(heard.ID).(spaces.VoiceTranscribed); b.Text != "[deleted]" {
		t.Errorf("what was heard is still %+v", b)
	}
	own, err := w.s.Shell.Self(t.Context(), ada)
	w.ok(err)
	if b, _ := own[len(own)-1].Body.(spaces.NoteAdded); b.Text != "so: [deleted]" {
		t.Errorf("noted is still %+v", own)
	}
}

// SECURITY S14: whatever a mind keeps of its own loses the words, and those of what it
// remembered because of them.
func erasedThoughts(t *testing.T, w *world) {
	const words, fact = "the key is under the pot", "Zoe hides keys in the garden"
	room := w.family()
	secret := w.say(room, "zoe", words)
	w.lived(room, "Noted.", saw(secret, "zoe: "+words),
		spaces.MemoryAdded{ID: "m1", Fact: fact, Sources: []spaces.EventID{secret.ID}}, spaces.MemoryAdded{ID: "m2", Fact: "Bob knows " + words},
		spaces.NoteAdded{Text: "so " + words}, spaces.NoteAdded{Text: "so " + fact}, spaces.GoalSet{Text: "find out whether " + words},
		spaces.BookmarkSet{Label: "where " + words})
	w.erase(secret, time.Time{}, words)
	own, err := w.s.Shell.Self(t.Context(), ada)
	w.ok(err)
	text, err := json.Marshal(own)
	w.ok(err)
	if strings.Contains(string(text), words) || strings.Contains(string(text), fact) || strings.Count(string(text), "[deleted]") < 6 {
		t.Errorf("the mind still has %s", text)
	}
}

// DESIGN 2, F43: a keyframe may show a message that no run that is kept does, and be cut
// before it came by the clock of another machine; what came since may repeat it.
func erasedKeyframe(t *testing.T, w *world) {
	room := w.family()
	w.now = w.now.Add(time.Hour)
	secret := w.say(room, "zoe", "my pin is 1234")
	k := spaces.Keyframe{Mind: ada, Text: "she said my pin is 1234", Refs: []spaces.EventID{secret.ID}, At: w.now.Add(-time.Hour)}
	w.ok(w.s.Shell.Cut(t.Context(), holder, k, spaces.ContextCompacted{}))
	w.now = k.At
	w.lived(room, "She has my pin is 1234.", []spaces.TranscriptTurn{{Role: spaces.RoleAssistant, Text: "hm"}})
	w.erase(secret, time.Time{}, "my pin is 1234")
	w.left("hm", "She has [deleted].")
	left, err := w.s.Shell.Keyframe(t.Context(), ada)
	w.ok(err)
	if left.Text != "she said [deleted]" {
		t.Errorf("the keyframe says %q", left.Text)
	}
}

// DESIGN 2, F43: what a run repeats of words is found although the clock was put back before
// it began.
func erasedBack(t *testing.T, w *world) {
	const words = "my pin is 1234"
	room := w.family()
	w.now = w.now.Add(2 * time.Hour)
	secret := w.say(room, "zoe", words)
	w.lived(room, "Rested.", saw(secret, "zoe: "+words))
	w.now = w.now.Add(-time.Hour)
	w.say(room, "zoe", "well?")
	w.lived(room, "Again "+words+".", []spaces.TranscriptTurn{{Role: spaces.RoleAssistant, Text: "so " + words}})
	w.erase(secret, time.Time{}, words)
	w.left("zoe: [deleted]", "Rested.", "so [deleted]", "Again [deleted].")
}

// DESIGN 2: words are looked for in every turn of a later run and in its summary, and
// in a run that showed them if it is open or ended at most a minute before they were
// looked for last; what is older stays as it is.
func erasedWhere(t *testing.T, w *world) {
	const words = "my pin is 1234"
	room := w.family()
	w.now = w.now.Add(time.Hour)
	secret := w.say(room, "zoe", words)
	w.lived(room, "Rested.", saw(secret, "zoe: "+words))
	next := func() {
		w.now = w.now.Add(time.Hour)
		w.say(room, "zoe", "well?")
	}
	next()
	w.lived(room, "Again "+words+".", []spaces.TranscriptTurn{{Role: spaces.RoleAssistant, Text: "so " + words}})
	next()
	w.lived(room, "Rested.", saw(secret, "zoe: "+words))
	since := w.now.Add(30 * time.Second)
	next()
	w.lived(room, "Rested.", []spaces.TranscriptTurn{{Role: spaces.RoleAssistant, Text: "so " + words}, {Role: spaces.RoleAssistant, Text: "hm"}})
	next()
	open := w.lived(room, "", saw(secret, "zoe: "+words))
	w.erase(secret, since, words)
	w.left("zoe: "+words, "Rested.", "so "+words, "Again "+words+".", "zoe: [deleted]", "Rested.", "so [deleted]", "Rested.")
	w.now = w.now.Add(24 * time.Hour)
	again := w.claimAs("another", ada, room, wakeAll)
	if again == nil || again.Cycle.ID != open || len(again.Turns) == 0 {
		t.Fatalf("taken up is %+v", again)
	}
	testutil.Same(t, "the open run", "zoe: [deleted]", again.Turns[0].Text)
}

// SECURITY S14: a message that was deleted before the mind it woke was shown it, and what it
// was edited to, is not in what an operator is told of that run; the others are.
func erasedUnseen(t *testing.T, w *world) {
	room := w.family()
	early := w.say(room, "zoe", "the key is under the pot")
	w.record(w.fact(room, "zoe", spaces.MessageEdited{Target: early.ID, Text: "the key is under the mat"}))
	w.say(room, "zoe", "hello")
	id := w.lived(room, "", nil)
	w.record(w.fact(room, "zoe", spaces.MessageDeleted{Target: early.ID}))
	run, err := w.s.Run(t.Context(), string(id))
	w.ok(err)
	text, err := json.Marshal(run.Events)
	w.ok(err)
	if strings.Contains(string(text), "under the") || !strings.Contains(string(text), "hello") {
		t.Errorf("told is %s", text)
	}
}

// SECURITY S14: what was shown in the tail of a frame alone leaves what the mind made of it
// as well when frames of that age are kept no longer.
func erasedLong(t *testing.T, w *world) {
	const words = "my pin is 1234"
	room := w.family()
	secret := w.say(room, "zoe", words)
	c := w.step(w.woken(ada, room), 0)
	c.Step.Shown = &spaces.FrameSources{Tail: "recalled: " + words, Refs: []spaces.EventID{secret.ID}}
	c.Inner = []spaces.EventBody{spaces.NoteAdded{Text: "so " + words}}
	c.Turns = []spaces.TranscriptTurn{{Role: spaces.RoleAssistant, Text: "she said " + words}}
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "She said " + words + "."}
	w.commit(c)
	w.now = w.now.Add(30 * 24 * time.Hour)
	_, err := w.s.Shell.ShedFrames(t.Context(), w.now.Add(-14*24*time.Hour), 100)
	w.ok(err)
	w.erase(secret, time.Time{}, words)
	own, err := w.s.Shell.Self(t.Context(), ada)
	w.ok(err)
	text, err := json.Marshal(own)
	w.ok(err)
	if strings.Contains(string(text), words) {
		t.Errorf("the mind still has %s", text)
	}
	w.left("she said [deleted]", "She said [deleted].")
}

// SECURITY S14: of messages that are deleted at once each leaves what the mind stored since
// it was shown that one, and nothing from before.
func erasedTogether(t *testing.T, w *world) {
	const pin, street = "my pin is 1234", "it is Harbour Street 7"
	room := w.family()
	w.say(room, "zoe", "hello")
	w.lived(room, "Somebody said "+street+" long ago.", []spaces.TranscriptTurn{{Text: street + ", " + pin}})
	w.now = w.now.Add(time.Hour)
	first := w.say(room, "zoe", pin)
	w.lived(room, "She said "+pin+"; not "+street+".", saw(first, pin))
	w.now = w.now.Add(time.Hour)
	second := w.say(room, "zoe", street)
	w.lived(room, "She said "+street+"; "+pin+".", saw(second, street+", "+pin))
	var both []shell.RedactionRequest
	for e, words := range map[*spaces.Event]string{&first: pin, &second: street} {
		by := hud.NewRedaction(words)
		both = append(both, shell.RedactionRequest{Event: e.ID, Shown: by, Repeated: by})
	}
	w.ok(w.s.Shell.Redact(t.Context(), ada, both...))
	w.left(
		street+", "+pin, "Somebody said "+street+" long ago.",
		"[deleted]", "She said [deleted]; not "+street+".",
		"[deleted], [deleted]", "She said [deleted]; [deleted].",
	)
}

// SECURITY S14: an operator who looks into a room is shown no words of a message that was
// deleted, nor those of its edits, on whatever page they stand.
func erasedShown(t *testing.T, w *world) {
	room := w.family()
	secret := w.say(room, "zoe", "my pin is 1234")
	w.say(room, "zoe", "hello")
	w.record(w.fact(room, "zoe", spaces.MessageEdited{Target: secret.ID, Text: "my pin is 4321"}))
	w.record(w.fact(room, "zoe", spaces.MessageDeleted{Target: secret.ID}))
	words := func(e spaces.Event) []string {
		if b, ok := e.Body.(spaces.MessagePosted); ok {
			return []string{b.Text}
		}
		if b, ok := e.Body.(spaces.MessageEdited); ok {
			return []string{b.Text}
		}
		return nil
	}
	for _, of := range []spaces.SpaceID{room, ""} {
		newest, err := w.s.Latest.Recent(t.Context(), of, 50)
		w.ok(err)
		var shown []string
		for _, e := range newest {
			shown = append(shown, words(e)...)
		}
		testutil.Same(t, "of the newest", []string{"[deleted]", "hello", "[deleted]"}, shown)
	}
	for _, limit := range []int{1, 50} {
		var shown []string
		for before := int64(0); ; {
			lines, err := w.s.Latest.Log(t.Context(), room, before, limit)
			w.ok(err)
			if len(lines) == 0 {
				break
			}
			for _, l := range lines {
				shown = append(shown, words(l.Event)...)
			}
			before = lines[len(lines)-1].Event.Seq
		}
		if diff := cmp.Diff([]string{"[deleted]", "hello", "[deleted]"}, shown); diff != "" {
			t.Errorf("on pages of %d (-want +got):\n%s", limit, diff)
		}
	}
}
