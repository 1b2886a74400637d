package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/spaces"
)

var voiceTests = map[string]func(*testing.T, *world){
	"VoicesAreHeardOnce":     voicesHeard,
	"OldVoicesAreNotPaidFor": voicesOld,
}

// spoken records a message with a voice and a photo, both fetched.
func (w *world) spoken(room spaces.SpaceID) spaces.Event {
	w.t.Helper()
	m := w.message(room, "zoe", "")
	m.Event.Body = spaces.MessagePosted{Attachments: []spaces.FileAttachment{{Kind: "voice", ID: "v1"}, {Kind: "photo", ID: "f1"}}}
	w.record(m)
	for _, f := range w.wanted() {
		w.shelve(media.FetchResult{File: f, State: media.FileStored, At: w.now, Hash: "h" + f.ID, Bytes: 7, Media: "audio/ogg"})
	}
	return w.last(room)
}

func (w *world) unheard() []media.VoiceMessage {
	w.t.Helper()
	due, err := w.s.Border.Pending(w.t.Context(), w.now, 10)
	w.ok(err)
	return due
}

func (w *world) waits(file string) bool {
	w.t.Helper()
	waits, err := w.s.Border.Waits(w.t.Context(), account, file, w.now)
	w.ok(err)
	return waits
}

// Issue 5: a voice waits, also over a restart, until it is heard; the event that
// tells of it and its cost come with the commit that settles it, and only once.
func voicesHeard(t *testing.T, w *world) {
	room := w.family()
	said := w.spoken(room)
	w.s = w.s.Restart(t, false)
	want := []media.VoiceMessage{{Account: account, ID: "v1", Space: room, Event: said.ID, Kind: "voice", Hash: "hv1", Bytes: 7, Media: "audio/ogg"}}
	if diff := cmp.Diff(want, w.unheard()); diff != "" {
		t.Fatalf("unheard (-want +got):\n%s", diff)
	}
	if !w.waits("v1") || w.waits("f1") || w.waits("unseen") {
		t.Errorf("waiting: the voice %t, the photo %t, what was never seen %t", w.waits("v1"), w.waits("f1"), w.waits("unseen"))
	}
	later := w.now.Add(time.Minute)
	w.ok(w.s.Border.Complete(t.Context(), media.TranscriptionResult{Voice: want[0], State: media.VoiceWanted, At: w.now, Due: later}))
	if got := w.unheard(); len(got) != 0 {
		t.Errorf("due before its time: %+v", got)
	}
	w.now = later
	if got := w.unheard(); len(got) != 1 || got[0].Tries != 1 {
		t.Errorf("due %+v, want it after one try", got)
	}
	heard := media.TranscriptionResult{Voice: want[0], State: media.VoiceHeard, At: w.now, Text: "hello", Model: "m", Usage: spaces.TokenUsage{Prompt: 3, Calls: 1}}
	w.ok(w.s.Border.Complete(t.Context(), heard))
	w.ok(w.s.Border.Complete(t.Context(), heard))
	told := w.last(room)
	body := spaces.VoiceTranscribed{Target: said.ID, Ref: said.Body.(spaces.MessagePosted).Ref, File: "v1", Text: "hello", Model: "m"}
	if diff := cmp.Diff(spaces.EventBody(body), told.Body); diff != "" || told.Seq != said.Seq+1 {
		t.Errorf("told at #%d (-want +got):\n%s", told.Seq, diff)
	}
	if w.waits("v1") || len(w.unheard()) != 0 {
		t.Error("it waits still")
	}
	spent, err := w.s.Shell.Spent(t.Context(), w.now, "", room)
	w.ok(err)
	if spent.Space.Tokens != 6 { // two calls of three tokens
		t.Errorf("spent %+v, want both attempts that were paid", spent)
	}
}

// A recording that has waited for longer than [media.VoiceTTL] is not transcribed any more.
func voicesOld(t *testing.T, w *world) {
	w.spoken(w.family())
	w.now = w.now.Add(media.VoiceTTL + time.Second)
	if w.waits("v1") || len(w.unheard()) != 0 {
		t.Error("an old voice still waits")
	}
}
