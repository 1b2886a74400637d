package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/spaces"
)

var shelfTests = map[string]func(*testing.T, *world){
	"FilesOfMessagesAreWantedOnce": filesWanted,
	"StoredFileIsKnownForGood":     fileStored,
	"FileGivenUpIsToldInItsRoom":   fileMissing,
	"FileGoesWithItsLastMessage":   fileForgotten,
	"EditReplacesFiles":            filesReplaced,
	"FileOfAMessageIsFound":        fileOfMessage,
}

// showing records a message that carries files.
func (w *world) showing(space spaces.SpaceID, files ...string) spaces.Event {
	w.t.Helper()
	m := w.message(space, "zoe", "look")
	said := spaces.MessagePosted{Text: "look", Attachments: []spaces.FileAttachment{{Kind: "location", Name: "1, 2"}}}
	for _, f := range files {
		said.Attachments = append(said.Attachments, spaces.FileAttachment{Kind: "photo", ID: f, Name: f + ".jpg", Size: 100})
	}
	m.Event.Body, m.Event.Thread = said, "t1"
	w.record(m)
	return w.last(space)
}

func (w *world) wanted() []media.PendingFile {
	w.t.Helper()
	got, err := w.s.Border.Wanted(w.t.Context(), account, w.now, 10)
	w.ok(err)
	return got
}

// shelve settles a file and returns who has something to carry for it.
func (w *world) shelve(o media.FetchResult) []string {
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
	want := []media.PendingFile{
		{Account: account, ID: "f1", Kind: "photo", Name: "f1.jpg", Size: 100, Space: room, Event: first.ID},
		{Account: account, ID: "f2", Kind: "photo", Name: "f2.jpg", Size: 100, Space: room, Event: first.ID},
	}
	if diff := cmp.Diff(want, w.wanted()); diff != "" {
		t.Errorf("wanted (-want +got):\n%s", diff)
	}
	later := w.now.Add(time.Minute)
	w.shelve(media.FetchResult{File: want[0], State: media.FileWanted, At: w.now, Due: later, Counted: true, Reason: "it rains"})
	w.shelve(media.FetchResult{File: want[1], State: media.FileWanted, At: w.now, Due: later, Reason: "wait"})
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
		w.shelve(media.FetchResult{File: f, State: media.FileStored, At: w.now, Hash: "abc", Bytes: 7, Media: "image/png"})
		w.shelve(media.FetchResult{File: f, State: media.FileMissing, At: w.now, Reason: "too late"})
	}
	w.showing(room, "f1")
	got, found, err := w.s.Border.File(t.Context(), account, "f1")
	w.ok(err)
	if want := (media.FileRecord{State: media.FileStored, Hash: "abc", Bytes: 7, Media: "image/png"}); !found || got != want {
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
	o := media.FetchResult{File: w.wanted()[0], State: media.FileMissing, At: w.now, Reason: "it is too large"}
	w.shelve(o)
	w.shelve(o)
	told := w.last(room)
	want := spaces.UnreadableUpdate{What: spaces.AttachmentMissing, Reason: "photo f1.jpg: it is too large"}
	if diff := cmp.Diff(spaces.EventBody(want), told.Body); diff != "" || told.ReplyTo != shown.ID || told.Thread != "t1" {
		t.Errorf("told %+v (-want +got):\n%s", told, diff)
	}
	if n := len(w.log(room)); n != int(told.Seq) || told.Seq != shown.Seq+1 {
		t.Errorf("the room was told more than once: %d events", n)
	}
}

// A file is found by its message and its place there, that of an agent with its bytes, until the
// message is deleted.
func fileOfMessage(t *testing.T, w *world) {
	room := w.family()
	shown := w.showing(room, "f1")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	said := w.reply(wake, "Here it is.")
	said.Files = []spaces.MessageFile{{FileAttachment: spaces.FileAttachment{Kind: "file", Name: "plan.txt"}, Data: []byte("cake")}}
	c.Effect = []spaces.RoomEffect{said}
	w.commit(c)
	look := func(message spaces.EventID, n int) string {
		t.Helper()
		f, found, err := w.s.Border.MessageFile(t.Context(), message, n)
		w.ok(err)
		if !found {
			return "nothing"
		}
		return f.Account + " " + f.ID + " " + f.Name + " " + string(f.Data)
	}
	for want, got := range map[string]string{
		account + " f1 f1.jpg ": look(shown.ID, 1),
		"  plan.txt cake":       look(said.ID, 0),
		"nothing":               look(said.ID, 1) + look(shown.ID, -1) + look("unknown", 0),
	} {
		if got != want && got != want+want+want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	ref := shown.Body.(spaces.MessagePosted).Ref
	w.record(w.fact(room, "zoe", spaces.MessageDeleted{Ref: ref}))
	if got := look(shown.ID, 1); got != "nothing" {
		t.Errorf("of a deleted message %q is found", got)
	}
}

// ADR 19: what is known of a file lasts as long as a message shows it.
func fileForgotten(t *testing.T, w *world) {
	room := w.family()
	first := w.showing(room, "f1", "f2")
	second := w.showing(room, "f1", "f3")
	for _, f := range w.wanted() {
		o := media.FetchResult{File: f, State: media.FileStored, At: w.now, Hash: "abc", Bytes: 7}
		if f.ID == "f3" {
			o.Hash, o.Bytes = "def", 20
		}
		w.shelve(o)
	}
	w.s = w.s.Restart(t, false)
	known := func(when string, want ...bool) {
		t.Helper()
		for i, id := range []string{"f1", "f2", "f3"} {
			if _, found, err := w.s.Border.File(t.Context(), account, id); found != want[i] || err != nil {
				t.Errorf("%s: %s is known: %t, %v", when, id, found, err)
			}
		}
		held, err := w.s.Border.Holds(t.Context(), "abc")
		w.ok(err)
		if held != want[0] {
			t.Errorf("%s: its content is held: %t", when, held)
		}
	}
	counts := func(when string, removals, bytes int64) {
		t.Helper()
		n, err := w.s.Border.Removals(t.Context())
		w.ok(err)
		kept, err := w.s.Border.Shelved(t.Context())
		w.ok(err)
		if n != removals || kept != bytes {
			t.Errorf("%s: %d removals and %d bytes, want %d and %d", when, n, kept, removals, bytes)
		}
	}
	known("before", true, true, true)
	counts("before", 0, 27)
	w.record(w.fact(room, "zoe", spaces.MessageDeleted{Target: first.ID}))
	known("one is deleted", true, false, true) // f1 has the content as well
	counts("one is deleted", 0, 27)
	w.record(w.fact(room, "zoe", spaces.MessageDeleted{Target: second.ID}))
	known("both are", false, false, false)
	counts("both are", 2, 0)
	w.shelve(media.FetchResult{File: media.PendingFile{Account: account, ID: "f9"}, State: media.FileStored, At: w.now, Hash: "xyz", Bytes: 1})
	counts("one came too late", 3, 0)
	third := w.showing(room, "f1")
	if got := w.wanted(); len(got) != 1 || got[0].ID != "f1" || got[0].Event != third.ID {
		t.Errorf("wanted %+v, want the file that is shown again", got)
	}
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	taken := w.reply(wake, "")
	taken.Kind, taken.Target = spaces.ActDelete, third.ID
	c.Effect = []spaces.RoomEffect{taken}
	w.commit(c)
	w.rest(wake, 1)
	known("an agent deleted it", false, false, false)
}

// What an edit adds is fetched, and what it takes away is dropped, unless another message
// shows it; a deleted message gets no files, and one that comes after its edit those of it.
func filesReplaced(t *testing.T, w *world) {
	room := w.family()
	m := w.showing(room, "f1", "f2")
	w.showing(room, "f2")
	ref := m.Body.(spaces.MessagePosted).Ref
	for _, f := range w.wanted() {
		w.shelve(media.FetchResult{File: f, State: media.FileStored, At: w.now, Hash: "hash of " + f.ID, Bytes: 7})
	}
	edit := func(ref spaces.MessageRef, files ...string) {
		t.Helper()
		b := spaces.MessageEdited{Ref: ref, Text: "look", Attachments: []spaces.FileAttachment{}}
		for _, f := range files {
			b.Attachments = append(b.Attachments, spaces.FileAttachment{Kind: "photo", ID: f, Name: f + ".jpg", Size: 100})
		}
		w.record(w.fact(room, "zoe", b))
	}
	wants := func(what string, want ...string) {
		t.Helper()
		var got []string
		for _, f := range w.wanted() {
			got = append(got, f.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: wanted (-want +got):\n%s", what, diff)
		}
	}
	known := func(file string, want bool) {
		t.Helper()
		_, found, err := w.s.Border.File(t.Context(), account, file)
		if w.ok(err); found != want {
			t.Errorf("file %s is known: %v, want %v", file, found, want)
		}
	}
	edit(ref, "f3")
	wants("replaced", "f3")
	known("f1", false)
	known("f2", true) // another message shows it
	if held, err := w.s.Border.Holds(t.Context(), "hash of f1"); err != nil || held {
		t.Errorf("the bytes of a replaced file are held: %v, %v", held, err)
	}
	w.record(w.fact(room, "zoe", spaces.MessageEdited{Ref: ref, Text: "look here"}))
	wants("words alone", "f3")
	edit(ref)
	wants("removed")
	known("f3", false)
	w.record(w.fact(room, "zoe", spaces.MessageDeleted{Ref: ref}))
	edit(ref, "f4")
	wants("of a deleted message")

	late := w.message(room, "zoe", "look")
	late.Event.Body = spaces.MessagePosted{Text: "look", Attachments: []spaces.FileAttachment{{Kind: "photo", ID: "f5"}}}
	late.Event.At = w.now.Add(-time.Minute)
	edit(late.Ref, "f6")
	w.record(late)
	wants("edited before it came", "f6")
}
