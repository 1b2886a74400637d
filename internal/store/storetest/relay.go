package storetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var relayTests = map[string]func(*testing.T, *world){
	"WordsAreCarriedToTheOtherChats":     carriedOver,
	"AnswersBeginWhereTheFirstOneStands": startsOfAnswers,
	"WhatIsDoneToWordsIsCarriedToo":      changesCarried,
	"WhatIsDoneToThePastIsNotCarried":    pastNotCarried,
	"NothingIsCarriedBack":               notBack,
	"TwoBotsOfOneChatCarryOnce":          carriedByOne,
	"WhatIsDeletedIsNotCarriedAnyMore":   deletedOnTheWay,
	"WordsTakenBackLeaveTheCopies":       wordsTakenBack,
	"WhatIsEditedIsCarriedAsItIsNow":     editedOnTheWay,
	"WhatComesLateIsCarriedAsItIsNow":    cameLate,
	"APictureComesWithTheWords":          picturesCarried,
	"FilesAreCarriedWhenTheyAreHere":     filesCarried,
	"ReactionsOfOthersStayOnCopies":      othersReactionsStay,
	"EditedFilesAreReplacedInCopies":     filesReplacedInCopies,
	"FilesThatDoNotComeAreNamed":         filesNamed,
	"FilesOfWhatIsDeletedStay":           filesTakenBack,
}

// bridged opens a room whose two chats carry people's words to each other.
func (w *world) bridged() spaces.SpaceID {
	w.t.Helper()
	o := opening("family", "ada")
	o.Chats = append(o.Chats, spaces.ChatMapping{Account: account, Chat: other, Live: true})
	for i := range o.Chats {
		o.Chats[i].Relay = true
	}
	return w.open(o)
}

// carried returns what is due as lines: whose words, to which chat, what.
func (w *world) carried() (lines []string, due []spaces.Action) {
	w.t.Helper()
	due = w.due()
	for _, a := range due {
		var files strings.Builder
		for _, f := range a.Files {
			files.WriteString("[" + f.Title() + " " + f.MIME + "]")
		}
		lines = append(lines, string(a.Kind)+" "+a.Voice+" "+a.Via+" → "+a.Chat+": "+a.Text+files.String())
	}
	return lines, due
}

// SEQ-96, issue 3: a message of a chat with two bots does not come back to it through
// the other one, and a message copied to that chat is posted once.
func carriedByOne(t *testing.T, w *world) {
	o := opening("family", "ada")
	o.Chats = append(o.Chats, spaces.ChatMapping{Account: second, Chat: chat, Live: true}, spaces.ChatMapping{Account: "slack:T-U", Chat: "C1", Live: true})
	for i := range o.Chats {
		o.Chats[i].Relay = true
	}
	room := w.open(o)
	here, there := w.message(room, "zoe", "hello"), w.message(room, "maya", "hi")
	there.Ref = spaces.MessageRef{Account: "slack:T-U", Chat: "C1", Message: "7"}
	for n, want := range [][]string{{"slack:T-U"}, {account}} {
		said := []spaces.IngestItem{here, there}[n]
		said.Event.Body = spaces.MessagePosted{Text: "hello", Ref: said.Ref}
		if got := w.record(said).Waiting; !slices.Equal(got, want) {
			t.Errorf("from %s it is carried by %q, want %q", said.Ref.Account, got, want)
		}
	}
}

// F24, SEQ-96: a platform may bring a message after what was done to it. Its words as they
// are now are carried, and none of one that is deleted.
func cameLate(t *testing.T, w *world) {
	room := w.bridged()
	late := func(done ...func(spaces.MessageRef) spaces.EventBody) []string {
		t.Helper()
		said := w.message(room, "zoe", "once")
		said.Event.At, said.Event.Body = w.now.Add(-time.Minute), spaces.MessagePosted{Text: "once", Ref: said.Ref}
		for _, to := range done {
			w.record(w.fact(room, "zoe", to(said.Ref)))
		}
		w.record(said)
		lines, due := w.carried()
		w.settleAll(due)
		return lines
	}
	deleted := func(r spaces.MessageRef) spaces.EventBody { return spaces.MessageDeleted{Ref: r} }
	edited := func(text string) func(spaces.MessageRef) spaces.EventBody {
		return func(r spaces.MessageRef) spaces.EventBody { return spaces.MessageEdited{Ref: r, Text: text} }
	}
	testutil.Same(t, "carried", []string{"send zoe telegram → " + other + ": once"}, late())
	testutil.Same(t, "carried of one that is edited", []string{"send zoe telegram → " + other + ": now"}, late(edited("then"), edited("now")))
	testutil.Same(t, "carried of one that is deleted", []string(nil), late(edited("then"), deleted))
}

// SEQ-04, SEQ-96: past messages have no copies.
func pastNotCarried(t *testing.T, w *world) {
	room := w.bridged()
	said := w.before(room, "zoe", "long ago")
	w.record(said)
	for _, body := range []spaces.EventBody{
		spaces.MessageEdited{Ref: said.Ref, Text: "once"},
		spaces.ReactionAdded{Ref: said.Ref, Emoji: "👍"},
		spaces.ReactionRemoved{Ref: said.Ref, Emoji: "👍"},
		spaces.MessageDeleted{Ref: said.Ref},
	} {
		if done := w.record(w.fact(room, "zoe", body)); done.New != 1 || len(done.Waiting) != 0 {
			t.Errorf("%s is recorded as %+v", body.Kind(), done)
		}
		if lines, _ := w.carried(); len(lines) != 0 {
			t.Errorf("%s is carried: %q", body.Kind(), lines)
		}
	}
	answer := w.message(room, "tom", "I remember")
	answer.ReplyRef = said.Ref
	w.record(answer)
	lines, due := w.carried()
	if len(lines) != 1 {
		t.Errorf("an answer to it is carried as %q", lines)
	}
	w.settleAll(due)
}

// SEQ-96, commit 1: the copies are ordered with the event, once.
func carriedOver(t *testing.T, w *world) {
	room := w.bridged()
	said := w.message(room, "zoe", "hello **there**")
	said.Event.Body = spaces.MessagePosted{Text: "hello **there**", Attachments: []spaces.FileAttachment{{Kind: "photo", ID: "f1", Name: "lake.jpg"}}}
	done := w.record(said)
	again := w.record(said)
	if !cmp.Equal(done.Waiting, []string{account}) || len(again.Waiting) != 0 {
		t.Errorf("accounts with something to carry: %q, and for the duplicate %q", done.Waiting, again.Waiting)
	}
	lines, due := w.carried()
	if diff := cmp.Diff([]string{"send zoe telegram → " + other + ": hello **there**\n\n📎 photo lake.jpg"}, lines); diff != "" {
		t.Fatalf("carried (-want +got):\n%s", diff)
	}
	before := len(w.log(room))
	w.settleAll(due)
	if got := len(w.log(room)); got != before {
		t.Errorf("%d events tell of the copy", got-before)
	}
	event := w.last(room)
	where, _, err := w.s.Border.MessageRefs(t.Context(), account, other, event.ID)
	w.ok(err)
	if len(where) != 1 {
		t.Errorf("the copy stands at %v", where)
	}
	answer := w.message(room, "tom", "hi")
	answer.Ref.Chat, answer.ReplyRef, answer.ByReply = other, where[0], true
	answer.Event.Body = spaces.MessagePosted{Text: "hi", ToUs: true}
	w.record(answer)
	got := w.last(room)
	if got.ReplyTo != event.ID || got.Body.(spaces.MessagePosted).ToUs {
		t.Errorf("the answer to the copy is %+v, want one to zoe", got)
	}
	if lines, due = w.carried(); len(due) != 1 || due[0].Chat != chat || due[0].Target != event.ID {
		t.Errorf("the answer is carried as %v", lines)
	}
	w.settleAll(due)
}

// PLATFORMS 2.4: answers to answers begin where the first of them answers nothing that
// is in that chat.
func startsOfAnswers(t *testing.T, w *world) {
	room := w.bridged()
	starts := func(want [2]string, of spaces.Event) {
		t.Helper()
		for i, in := range []string{chat, other} {
			got, err := w.s.Border.ReplyRoot(t.Context(), account, in, of.ID)
			w.ok(err)
			if got != want[i] {
				t.Errorf("in %s the answers to #%d begin with %q, want %q", in, of.Seq, got, want[i])
			}
		}
	}
	said := func(text string, to spaces.MessageRef, carried bool) (spaces.Event, spaces.MessageRef) {
		t.Helper()
		m := w.message(room, "zoe", text)
		m.ReplyRef = to
		w.record(m)
		e := w.last(room)
		if due := w.due(); carried {
			w.settleAll(due)
		} else {
			for _, a := range due {
				w.settle(activity.SendResult{Action: a.ID, State: spaces.ActionFailed, Code: "invalid", Reason: "no"})
			}
		}
		return e, m.Ref
	}
	copied := func(e spaces.Event) string {
		t.Helper()
		refs, _, err := w.s.Border.MessageRefs(t.Context(), account, other, e.ID)
		w.ok(err)
		return refs[0].Message
	}
	lost, here := said("only here", spaces.MessageRef{}, false)
	first, at := said("one", here, true)
	second, again := said("two", at, true)
	third, _ := said("three", again, true)
	starts([2]string{here.Message, ""}, lost)
	for _, e := range []spaces.Event{first, second, third} {
		starts([2]string{here.Message, copied(first)}, e)
	}
	starts([2]string{}, spaces.Event{ID: "nothing"})
}

// SEQ-96: the picture of who speaks is the newest they were named with; what tells
// of them without a name tells nothing of it.
func picturesCarried(t *testing.T, w *world) {
	room := w.bridged()
	for _, c := range []struct{ name, portrait, want string }{
		{"Zoe", "https://example.org/1.png", "https://example.org/1.png"},
		{"", "", "https://example.org/1.png"},
		{"Zoe", "https://example.org/2.png", "https://example.org/2.png"},
		{"Zoe", "", ""},
	} {
		m := w.message(room, "zoe", "hello")
		m.From.Name, m.From.Portrait = c.name, c.portrait
		w.record(m)
		w.s = w.s.Restart(t, false)
		due := w.due()
		if len(due) != 1 || due[0].Portrait != c.want {
			t.Errorf("carried %+v, want one with the picture %q", due, c.want)
		}
		w.settleAll(due)
	}
}

// SEQ-96: edits, deletes and reactions follow the words.
func changesCarried(t *testing.T, w *world) {
	room := w.bridged()
	said := w.message(room, "zoe", "hello")
	w.record(said)
	_, due := w.carried()
	w.settleAll(due)
	for _, c := range []struct {
		body spaces.EventBody
		want string
	}{
		{spaces.MessageEdited{Ref: said.Ref, Text: "hello you"}, "edit zoe telegram → " + other + ": hello you"},
		{spaces.ReactionAdded{Ref: said.Ref, Emoji: "👍"}, "react zoe telegram → " + other + ": 👍"},
		{spaces.ReactionRemoved{Ref: said.Ref, Emoji: "👍"}, "react zoe telegram → " + other + ": "},
		{spaces.MessageDeleted{Ref: said.Ref}, "delete zoe telegram → " + other + ": "},
	} {
		w.record(w.fact(room, "zoe", c.body))
		lines, due := w.carried()
		if diff := cmp.Diff([]string{c.want}, lines); diff != "" {
			t.Errorf("%s is carried as (-want +got):\n%s", c.body.Kind(), diff)
		}
		w.settleAll(due)
	}
}

// SEQ-96: words that are taken back from a message that stays, as a caption, are taken
// back from its copies; what a message without words becomes changes none.
func wordsTakenBack(t *testing.T, w *world) {
	room := w.bridged()
	said, bare := w.message(room, "zoe", "my pin is 1234"), w.message(room, "zoe", "")
	bare.Event.Body = spaces.MessagePosted{Ref: bare.Ref, Attachments: []spaces.FileAttachment{{Kind: "location"}}}
	for _, m := range []spaces.IngestItem{said, bare} {
		w.record(m)
		_, due := w.carried()
		w.settleAll(due)
	}
	w.record(w.fact(room, "zoe", spaces.MessageEdited{Ref: said.Ref}), w.fact(room, "zoe", spaces.MessageEdited{Ref: bare.Ref}))
	lines, due := w.carried()
	testutil.Same(t, "carried", []string{"edit zoe telegram → " + other + ": "}, lines)
	w.settleAll(due)
	waits := w.message(room, "zoe", "my pin is 4321")
	w.record(waits)
	w.record(w.fact(room, "zoe", spaces.MessageEdited{Ref: waits.Ref}))
	if lines, _ := w.carried(); len(lines) != 0 {
		t.Errorf("carried at last %q", lines)
	}
}

// SEQ-96, SECURITY S14: a message that is deleted before its copy was sent is not copied,
// nor are its edits and reactions; a copy that has left, or is leaving, is deleted.
func deletedOnTheWay(t *testing.T, w *world) {
	room := w.bridged()
	gone, leaving := w.message(room, "zoe", "my pin is 1234"), w.message(room, "zoe", "hello")
	w.record(gone)
	answer := w.message(room, "tom", "oh dear")
	answer.ReplyRef = gone.Ref
	w.record(w.fact(room, "zoe", spaces.MessageEdited{Ref: gone.Ref, Text: "my pin is 4321"}), answer, w.fact(room, "zoe", spaces.MessageDeleted{Ref: gone.Ref}))
	lines, due := w.carried()
	testutil.Same(t, "carried", []string{"send tom telegram → " + other + ": oh dear"}, lines)
	w.settleAll(due)
	w.record(leaving)
	_, due = w.carried()
	w.record(w.fact(room, "zoe", spaces.MessageDeleted{Ref: leaving.Ref}))
	w.settleAll(due)
	lines, due = w.carried()
	testutil.Same(t, "carried afterwards", []string{"delete zoe telegram → " + other + ": "}, lines)
	w.settleAll(due)
	if lines, _ := w.carried(); len(lines) != 0 {
		t.Errorf("carried at last %q", lines)
	}
}

// SEQ-96: a message that is edited before its copy was sent is copied with its newest
// text alone; a copy that was sent, or is being sent, or may have been, is edited.
func editedOnTheWay(t *testing.T, w *world) {
	room := w.bridged()
	edited := func(of spaces.IngestItem, words string) spaces.IngestItem {
		return w.fact(room, "zoe", spaces.MessageEdited{Ref: of.Ref, Text: words})
	}
	leaves := func(want ...string) []spaces.Action {
		t.Helper()
		lines, due := w.carried()
		for i := range want {
			want[i] = strings.Replace(want[i], ":", " zoe telegram → "+other+":", 1)
		}
		testutil.Same(t, "carried", want, lines)
		return due
	}
	waits := w.message(room, "zoe", "my pin is 1234")
	waits.Event.Body = spaces.MessagePosted{Text: "my pin is 1234", Attachments: []spaces.FileAttachment{{Kind: "photo", ID: "f1", Name: "lake.jpg"}}}
	w.record(waits, edited(waits, "my pin is 4321"), edited(waits, "never mind"))
	w.settleAll(leaves("send: never mind\n\n📎 photo lake.jpg"))
	leaves()

	leaving := w.message(room, "zoe", "one")
	w.record(leaving)
	due := leaves("send: one")
	w.record(edited(leaving, "two"), edited(leaving, "three"))
	w.settle(activity.SendResult{Action: due[0].ID, State: spaces.ActionReady, Resent: true})
	w.record(edited(leaving, "four"))
	w.settleAll(leaves("send: one"))
	due = leaves("edit: four")
	w.record(edited(leaving, "five"))
	w.settleAll(due)
	w.settleAll(leaves("edit: five"))
	leaves()

	held := w.message(room, "zoe", "six")
	w.record(held)
	due = leaves("send: six")
	w.record(edited(held, "seven"))
	w.settle(activity.SendResult{Action: due[0].ID, State: spaces.ActionReady})
	w.record(edited(held, "eight"))
	w.settleAll(leaves("send: eight"))
	w.settleAll(leaves("edit: eight"))
	leaves()
}

// SEQ-96, K20: nothing goes round: not the echo of a copy, nor what becomes of
// the copy itself, nor what an agent says.
func notBack(t *testing.T, w *world) {
	room := w.bridged()
	w.record(w.message(room, "zoe", "hello"))
	_, due := w.carried()
	s := w.sent(due[0])
	w.settle(s)
	echo := w.message(room, "bot", "hello")
	echo.Ref = s.Ref
	w.record(echo, w.fact(room, "tom", spaces.MessageEdited{Ref: s.Ref, Text: "changed"}), w.fact(room, "tom", spaces.MessageDeleted{Ref: s.Ref}))
	if lines, _ := w.carried(); len(lines) != 0 {
		t.Errorf("carried back: %q", lines)
	}
	w.ok(w.s.Border.Bind(w.t.Context(), person("max's bot"), "agent:max"))
	w.record(w.message(room, "max's bot", "theirs"))
	if got := w.last(room); got.Actor != "agent:max" {
		t.Errorf("%s said it, want the agent whose bot it is", got.Actor)
	}
	if lines, _ := w.carried(); len(lines) != 0 {
		t.Errorf("what an agent says by a bot that is not of the room is carried: %q", lines)
	}
	w.speak(room, spaces.RoomEffect{Text: "mine"})
	lines, due := w.carried()
	for _, a := range due {
		if a.Agent == "" && a.Text == "mine" {
			t.Errorf("an agent's words are carried: %q", lines)
		}
	}
	w.settleAll(due)
}

// shows records a message that carries files, in a room whose account fetches them.
func (w *world) shows(room spaces.SpaceID, text string, files ...string) spaces.Event {
	w.t.Helper()
	m := w.message(room, "zoe", text)
	said := spaces.MessagePosted{Text: text}
	for _, f := range files {
		said.Attachments = append(said.Attachments, spaces.FileAttachment{Kind: "photo", ID: f, Name: f + ".jpg", Size: 100})
	}
	m.Event.Body = said
	_, err := w.s.Border.Record(w.t.Context(), spaces.IngestBatch{Account: account, At: w.now, Items: []spaces.IngestItem{m}, Files: true})
	w.ok(err)
	return w.last(room)
}

// SEQ-96, K6, K18: the text is sent at once; a file follows with the commit that stores
// it, also after a restart, once for every message that has it, and comes after the
// text of its message.
func filesCarried(t *testing.T, w *world) {
	room := w.bridged()
	event := w.shows(room, "look", "f1", "f2")
	w.shows(room, "", "f1")
	lines, due := w.carried()
	testutil.Same(t, "before the files are here", []string{"send zoe telegram → " + other + ": look"}, lines)
	w.settleAll(due)
	w.s = w.s.Restart(t, false)
	stored := media.FetchResult{File: w.wanted()[0], State: media.FileStored, At: w.now, Hash: "abc", Bytes: 7, Media: "image/jpeg"}
	if got := w.shelve(stored); !cmp.Equal(got, []string{account}) {
		t.Errorf("%q have something to carry", got)
	}
	if got := w.shelve(stored); len(got) != 0 {
		t.Errorf("%q have something to carry for the same outcome again", got)
	}
	w.shows(room, "once more", "f1")
	want := "send zoe telegram → " + other + ": [photo f1.jpg image/jpeg]"
	var got []string
	for range 4 {
		lines, due = w.carried()
		got = append(got, lines...)
		for i := range due {
			s := w.sent(due[i])
			s.File = len(due[i].Files) > 0
			w.settle(s)
		}
	}
	testutil.Same(t, "carried", []string{want, want, "send zoe telegram → " + other + ": once more", want}, got)
	words, files, err := w.s.Border.MessageRefs(t.Context(), account, other, event.ID)
	w.ok(err)
	if len(words) != 1 || len(files) != 1 {
		t.Errorf("the copy's words stand at %v, its files at %v", words, files)
	}
}

// SEQ-96: what cannot be had is told where it was waited for, in the commit that
// gives it up.
func filesNamed(t *testing.T, w *world) {
	room := w.bridged()
	w.shows(room, "", "f1")
	w.shelve(media.FetchResult{File: w.wanted()[0], State: media.FileMissing, At: w.now, Reason: "it has 30 MB"})
	w.shows(room, "", "f1")
	want := "send zoe telegram → " + other + ": 📎 photo f1.jpg did not come along: it has 30 MB."
	for range 2 {
		lines, due := w.carried()
		testutil.Same(t, "carried", []string{want}, lines)
		w.settleAll(due)
	}
}

// SEQ-96: a file that arrives here after its message was taken back goes nowhere.
func filesTakenBack(t *testing.T, w *world) {
	room := w.bridged()
	event := w.shows(room, "", "f1")
	coming := w.wanted()[0]
	w.record(w.fact(room, "zoe", spaces.MessageDeleted{Ref: event.Body.(spaces.MessagePosted).Ref}))
	if got := w.wanted(); len(got) != 0 {
		t.Errorf("wanted %+v, whose message is gone", got)
	}
	_, due := w.carried()
	w.settleAll(due)
	if got := w.shelve(media.FetchResult{File: coming, State: media.FileStored, At: w.now, Hash: "abc", Bytes: 7}); len(got) != 0 {
		t.Errorf("%q have something to carry", got)
	}
	if lines, _ := w.carried(); len(lines) != 0 {
		t.Errorf("carried %q", lines)
	}
}

// A message whose files were replaced has the copies of the old ones deleted and the new
// ones sent. A copy has a place in its text, which is edited when the place changes.
func filesReplacedInCopies(t *testing.T, w *world) {
	room := w.bridged()
	to := " zoe telegram → " + other + ": "
	event := w.shows(room, "look", "f1")
	ref := event.Body.(spaces.MessagePosted).Ref
	edit := func(text string, carried ...spaces.FileAttachment) {
		t.Helper()
		m := w.fact(room, "zoe", spaces.MessageEdited{Ref: ref, Text: text, Attachments: append([]spaces.FileAttachment{}, carried...)})
		_, err := w.s.Border.Record(t.Context(), spaces.IngestBatch{Account: account, At: w.now, Items: []spaces.IngestItem{m}, Files: true})
		w.ok(err)
	}
	fetch := func() {
		t.Helper()
		for _, f := range w.wanted() {
			w.shelve(media.FetchResult{File: f, State: media.FileStored, At: w.now, Hash: "h" + f.ID, Bytes: 7, Media: "image/jpeg"})
		}
	}
	leaves := func(want ...string) {
		t.Helper()
		var got []string
		for {
			lines, due := w.carried()
			if len(due) == 0 {
				break
			}
			for i := range due {
				if due[i].Kind == spaces.ActEdit { // its files are those to delete
					lines[i], _, _ = strings.Cut(lines[i], "[")
					lines[i] += strings.Repeat("-", len(due[i].Files))
				}
				s := w.sent(due[i])
				s.File = due[i].Kind == spaces.ActSend && len(due[i].Files) > 0
				w.settle(s)
			}
			got = append(got, lines...)
		}
		testutil.Same(t, "carried", want, got)
	}
	photo := func(id string) spaces.FileAttachment {
		return spaces.FileAttachment{Kind: "photo", ID: id, Name: id + ".jpg", Size: 100}
	}
	fetch()
	leaves("send"+to+"look", "send"+to+"[photo f1.jpg image/jpeg]")
	edit("look", photo("f2"))
	leaves("edit" + to + "look-")
	fetch()
	leaves("send" + to + "[photo f2.jpg image/jpeg]")
	edit("look here", photo("f2"), photo("f3"))
	fetch()
	leaves("edit"+to+"look here", "send"+to+"[photo f3.jpg image/jpeg]")
	edit("look here", photo("f3"))
	leaves("edit"+to+"look here-", "send"+to+"[photo f3.jpg image/jpeg]")
	place := func(where string) spaces.FileAttachment { return spaces.FileAttachment{Kind: "location", Name: where} }
	m := w.message(room, "zoe", "")
	m.Event.Body = spaces.MessagePosted{Attachments: []spaces.FileAttachment{place("1, 1")}}
	ref = m.Ref
	w.record(m)
	leaves("send" + to + "📎 location 1, 1")
	edit("", place("2, 2"))
	edit("", place("3, 3"))
	leaves("edit" + to + "📎 location 3, 3")

	waits := w.shows(room, "", "f7")
	ref = waits.Body.(spaces.MessagePosted).Ref
	fetch()
	edit("", photo("f8"))
	fetch()
	leaves("send" + to + "[photo f8.jpg image/jpeg]")
}

// A reaction that one person takes back leaves those of others on the copy.
func othersReactionsStay(t *testing.T, w *world) {
	room := w.bridged()
	said := w.message(room, "zoe", "hello")
	w.record(said)
	_, due := w.carried()
	w.settleAll(due)
	for _, c := range []struct {
		who  string
		body spaces.EventBody
		want string
	}{
		{"zoe", spaces.ReactionAdded{Ref: said.Ref, Emoji: "👍"}, "react zoe telegram → " + other + ": 👍"},
		{"tom", spaces.ReactionAdded{Ref: said.Ref, Emoji: "👍"}, "react tom telegram → " + other + ": 👍"},
		{"tom", spaces.ReactionAdded{Ref: said.Ref, Emoji: "👀"}, "react tom telegram → " + other + ": 👀"},
		{"tom", spaces.ReactionRemoved{Ref: said.Ref, Emoji: "👍"}, "react tom telegram → " + other + ": 👀"},
		{"tom", spaces.ReactionRemoved{Ref: said.Ref, Emoji: "👀"}, "react tom telegram → " + other + ": 👍"},
		{"zoe", spaces.ReactionRemoved{Ref: said.Ref, Emoji: "👍"}, "react zoe telegram → " + other + ": "},
	} {
		w.record(w.fact(room, c.who, c.body))
		lines, due := w.carried()
		testutil.Same(t, string(c.body.Kind())+" by "+c.who, []string{c.want}, lines)
		w.settleAll(due)
	}
}
