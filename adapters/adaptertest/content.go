package adaptertest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// I2: the same fact, delivered by any road, has the same key.
func sameUpdateTwice(s *caseRun) {
	s.receive()
	id := s.say("hello")
	first, _ := s.message(id)
	s.until("the acknowledgement", func() bool { return s.Acked == nil || s.Acked(id) })
	s.Redeliver()
	s.until("the second delivery", func() bool { return len(s.sink.messages(s.Chat)) == 2 })
	for _, u := range s.sink.all() {
		if isMessage(u, id) && u.Key != first.Key {
			s.Errorf("delivered again, the key is %q, was %q", u.Key, first.Key)
		}
	}
	next := s.say("and on it goes")
	s.message(next)
}

func twoMessages(s *caseRun) {
	s.receive()
	a, b := s.say("the same"), s.say("the same")
	other := s.Say(Line{Chat: s.Other, Text: "the same"})
	s.message(other)
	s.message(b)
	s.message(a)
	keys := map[string]bool{}
	for _, u := range s.sink.all() {
		if u.Key == "" {
			s.Errorf("update %s has no key", u.ID)
		}
		keys[u.Key] = true
	}
	if n := len(s.sink.all()); len(keys) != n {
		s.Errorf("%d different facts have %d keys", n, len(keys))
	}
}

func whoWhereWhenWhat(s *caseRun) {
	before := time.Now().Add(-time.Second) // platforms may count in whole seconds
	s.receive()
	u, m := s.message(s.say("hello, *world* <b>&amp;"))
	if plain := strings.NewReplacer(`\`, "").Replace(m.Text); !strings.Contains(plain, "hello, *world* <b>&amp;") {
		s.Errorf("text %q, want what was said (markup may be escaped)", m.Text)
	}
	if u.Chat.ID != s.Chat || u.Chat.Kind == "" {
		s.Errorf("chat %+v, want %s with a kind", u.Chat, s.Chat)
	}
	if u.From.ID == "" || u.From.Name == "" || u.From.Kind != adapters.Human {
		s.Errorf("from %+v, want a person with an id and a name", u.From)
	}
	if u.At.Before(before) || u.At.After(time.Now()) {
		s.Errorf("at %s, want between %s and now", u.At, before)
	}
	if m.ToUs || m.Command != nil || m.ReplyTo != "" || m.Forwarded != "" || len(m.Attachments) != 0 {
		s.Errorf("message %+v, want plain words", m)
	}
}

// DELIVERY 2.2: order within a chat.
func order(s *caseRun) {
	var want []string
	for i := range 20 {
		want = append(want, s.say(fmt.Sprintf("before %d", i)))
	}
	s.receive()
	for i := range 130 {
		want = append(want, s.say(fmt.Sprintf("after %d", i)))
	}
	s.until("all the messages", func() bool { return len(s.sink.log(s.Chat)) >= len(want) })
	if got := s.sink.log(s.Chat); !slices.Equal(got, want) {
		s.Errorf("arrived as %v, were said as %v", got, want)
	}
}

func chatsApart(s *caseRun) {
	s.receive()
	here, there := s.say("here"), s.Say(Line{Chat: s.Other, Text: "there"})
	s.until("both messages", func() bool { return len(s.sink.messages(s.Chat)) == 1 && len(s.sink.messages(s.Other)) == 1 })
	if got := s.sink.messages(s.Chat)[0]; got != here {
		s.Errorf("chat %s has %s, want %s", s.Chat, got, here)
	}
	if got := s.sink.messages(s.Other)[0]; got != there {
		s.Errorf("chat %s has %s, want %s", s.Other, got, there)
	}
}

// F23, F24.
func disorder(s *caseRun) {
	s.Disorder()
	s.receive()
	want := map[string]bool{}
	for i := range 60 {
		want[s.say(fmt.Sprintf("line %d", i))] = true
	}
	keys := map[string]string{} // by message
	s.until("every message", func() bool {
		for _, u := range s.sink.all() {
			if m, ok := u.Body.(adapters.Message); ok {
				if k := keys[m.ID]; k != "" && k != u.Key {
					s.Fatalf("message %s has the keys %q and %q", m.ID, k, u.Key)
				}
				keys[m.ID] = u.Key
			}
		}
		return len(keys) >= len(want)
	})
	for id := range want {
		if keys[id] == "" {
			s.Errorf("message %s was lost", id)
		}
	}
}

func edits(s *caseRun) {
	s.receive()
	id := s.say("first words")
	original, _ := s.message(id)
	seen := map[string]bool{original.Key: true}
	for _, words := range []string{"second words", "third words"} {
		pass(2 * time.Second) // platforms may tell edits apart by whole seconds
		s.Edit(s.Chat, id, words)
		u := s.heardOf("the edit to "+words, func(u adapters.Update) bool {
			e, ok := u.Body.(adapters.Edit)
			return ok && e.New.Text == words
		})
		if e := u.Body.(adapters.Edit); e.New.ID != id || u.Chat.ID != s.Chat {
			s.Errorf("the edit is of %s in %s, want %s in %s", e.New.ID, u.Chat.ID, id, s.Chat)
		}
		if seen[u.Key] {
			s.Errorf("the edit to %q has the key of an earlier fact, %q", words, u.Key)
		}
		seen[u.Key] = true
	}
	if n := len(s.sink.messages(s.Chat)); n != 1 {
		s.Errorf("%d new messages, want the original alone", n)
	}
}

// F24: an edit may come before its original, which may never come.
func editUnseen(s *caseRun) {
	s.receive()
	id := s.EditUnseen(s.Chat, "new words")
	u := s.heardOf("the edit", func(u adapters.Update) bool { _, ok := u.Body.(adapters.Edit); return ok })
	if e := u.Body.(adapters.Edit); e.New.ID != id || e.New.Text != "new words" {
		s.Errorf("got the edit %+v, want of %s to new words", e.New, id)
	}
	s.message(s.say("and on it goes"))
}

// F24: a deletion may come for a message that never did.
func deletes(s *caseRun) {
	s.receive()
	id := s.say("hello")
	s.message(id)
	s.Delete(s.Chat, id)
	for _, gone := range []string{id, s.DeleteUnseen(s.Chat)} {
		u := s.heardOf("the deletion of "+gone, func(u adapters.Update) bool {
			d, ok := u.Body.(adapters.Delete)
			return ok && slices.Equal(d.Messages, []string{gone})
		})
		if u.Chat.ID != s.Chat || u.Key == "" {
			s.Errorf("deleted in %q under %q, want %q and a key", u.Chat.ID, u.Key, s.Chat)
		}
	}
	s.message(s.say("and on it goes"))
}

// DELIVERY 2.6, All.
func emptyText(s *caseRun) {
	s.receive()
	_, m := s.message(s.say(""))
	if m.Text != "" {
		s.Errorf("nothing was said, but the text is %q", m.Text)
	}
	s.message(s.say("and on it goes"))
}

// F48: a message may be too big to read, but must not stop the next.
func hugeText(s *caseRun) {
	s.receive()
	text := strings.Repeat("0123456789abcde ", 10<<20/16)
	id := s.say(text)
	next := s.say("and on it goes")
	s.message(next)
	for _, u := range s.sink.all() {
		if _, ok := u.Body.(adapters.Unreadable); ok {
			return
		}
		if isMessage(u, id) {
			if got := u.Body.(adapters.Message).Text; strings.TrimSpace(got) != strings.TrimSpace(text) {
				s.Errorf("%d bytes arrived of %d, and nothing says so", len(got), len(text))
			}
			return
		}
	}
	s.Error("the long message left no trace")
}

// DELIVERY 2.6: unknown update kinds are stored raw, not an error.
func unknownKind(s *caseRun) { quarantined(s, s.Unknown) }

// DELIVERY 2.6: malformed JSON is quarantined raw, the cursor advances.
func malformed(s *caseRun) { quarantined(s, s.Malformed) }

func quarantined(s *caseRun, odd func()) {
	s.receive()
	before := s.say("before")
	odd()
	after := s.say("after")
	s.message(before)
	s.message(after)
	u := s.heardOf("what could not be read", func(u adapters.Update) bool { _, ok := u.Body.(adapters.Unreadable); return ok })
	if len(u.Raw) == 0 || u.Key == "" || u.Body.(adapters.Unreadable).Reason == "" {
		s.Errorf("got %+v, want the raw form, a key and a reason", u)
	}
	s.until("the acknowledgement", func() bool { return s.Acked == nil || s.Acked(after) })
	if err := s.stop(); err != nil {
		s.Errorf("receive: %v", err)
	}
	n := len(s.sink.all())
	s.restart()
	s.message(s.say("after the restart"))
	if got := len(s.sink.all()); got != n+1 {
		s.Errorf("%d updates came after the restart, want 1: the cursor did not pass what could not be read", got-n)
	}
}
