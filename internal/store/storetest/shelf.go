package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/spaces"
)

var shelfTests = map[string]func(*testing.T, *world){
	"FilesOfMessagesAreWantedOnce": filesWanted,
	"StoredFileIsKnownForGood":     fileStored,
	"FileGivenUpIsToldInItsRoom":   fileMissing,
}

// showing records a message that carries files.
func (w *world) showing(space spaces.SpaceID, files ...string) spaces.Event {
	w.t.Helper()
	m := w.message(space, "zoe", "look")
	said := spaces.Said{Text: "look", Attachments: []spaces.Attachment{{Kind: "location", Name: "1, 2"}}}
	for _, f := range files {
		said.Attachments = append(said.Attachments, spaces.Attachment{Kind: "photo", ID: f, Name: f + ".jpg", Size: 100})
	}
	m.Event.Body, m.Event.Thread = said, "t1"
	w.record(m)
	return w.last(space)
}

func (w *world) wanted() []activity.WantedFile {
	w.t.Helper()
	got, err := w.s.Border.Wanted(w.t.Context(), account, w.now, 10)
	w.ok(err)
	return got
}

// shelve settles a file and returns who has something to carry for it.
func (w *world) shelve(o activity.FileOutcome) []string {
	w.t.Helper()
	waiting, err := w.s.Border.Shelve(w.t.Context(), o)
	w.ok(err)
	return waiting
}

// K6: what is to be fetched is durable with the event that shows it.
func filesWanted(t *testing.T, w *world) {
	room := w.family()
	first := w.showing(room, "f1", "f2")
	w.showing(room, "f1")
	w.s = w.s.Restart(t, false)
	want := []activity.WantedFile{
		{Account: account, ID: "f1", Kind: "photo", Name: "f1.jpg", Size: 100, Space: room, Event: first.ID},
		{Account: account, ID: "f2", Kind: "photo", Name: "f2.jpg", Size: 100, Space: room, Event: first.ID},
	}
	if diff := cmp.Diff(want, w.wanted()); diff != "" {
		t.Errorf("wanted (-want +got):\n%s", diff)
	}
	later := w.now.Add(time.Minute)
	w.shelve(activity.FileOutcome{File: want[0], State: activity.FileWanted, At: w.now, Due: later, Counted: true, Reason: "it rains"})
	w.shelve(activity.FileOutcome{File: want[1], State: activity.FileWanted, At: w.now, Due: later, Reason: "wait"})
	if got := w.wanted(); len(got) != 0 {
		t.Errorf("wanted before it is due: %+v", got)
	}
	w.now = later
	if got := w.wanted(); len(got) != 2 || got[0].Tries != 1 || got[1].Tries != 0 {
		t.Errorf("wanted %+v, want both, one of them tried", got)
	}
}

func fileStored(t *testing.T, w *world) {
	room := w.family()
	w.showing(room, "f1", "f2")
	before := len(w.log(room))
	for _, f := range w.wanted() {
		w.shelve(activity.FileOutcome{File: f, State: activity.FileStored, At: w.now, Hash: "abc", Bytes: 7, Media: "image/png"})
		w.shelve(activity.FileOutcome{File: f, State: activity.FileMissing, At: w.now, Reason: "too late"})
	}
	w.showing(room, "f1")
	got, found, err := w.s.Border.File(t.Context(), account, "f1")
	w.ok(err)
	if want := (activity.KnownFile{State: activity.FileStored, Hash: "abc", Bytes: 7, Media: "image/png"}); !found || got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if n, err := w.s.Border.Shelved(t.Context()); err != nil || n != 7 {
		t.Errorf("%d bytes shelved, %v; the same content counts once: 7", n, err)
	}
	if len(w.wanted()) != 0 || len(w.log(room)) != before+1 {
		t.Error("a stored file is wanted again, or its room was told something")
	}
	if _, found, err := w.s.Border.File(t.Context(), account, "unseen"); found || err != nil {
		t.Errorf("unseen: %t, %v", found, err)
	}
}

// K6: after the last try it is visible.
func fileMissing(t *testing.T, w *world) {
	room := w.family()
	shown := w.showing(room, "f1")
	o := activity.FileOutcome{File: w.wanted()[0], State: activity.FileMissing, At: w.now, Reason: "it is too large"}
	w.shelve(o)
	w.shelve(o)
	told := w.last(room)
	want := spaces.Unreadable{What: spaces.AttachmentMissing, Reason: "photo f1.jpg: it is too large"}
	if diff := cmp.Diff(spaces.Body(want), told.Body); diff != "" || told.ReplyTo != shown.ID || told.Thread != "t1" {
		t.Errorf("told %+v (-want +got):\n%s", told, diff)
	}
	if n := len(w.log(room)); n != int(told.Seq) || told.Seq != shown.Seq+1 {
		t.Errorf("the room was told more than once: %d events", n)
	}
}
