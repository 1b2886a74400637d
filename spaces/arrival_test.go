package spaces

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A story is what happened, told in two lists: the messages, and what came to
// be of them. Each list keeps its order; how they interleave is chance.
type story struct {
	messages []Event
	changes  []Event
	deleted  map[EventID]bool
}

const words = "words of " // every text of a story contains it and the message's id

// stories draws a story of persons' and an agent's messages. Changes name
// messages as the platform does; what the agent does to its own names the event.
func stories(t *rapid.T) story {
	s := story{deleted: map[EventID]bool{}}
	n := rapid.IntRange(1, 5).Draw(t, "messages")
	for i := range n {
		b := MessagePosted{Text: fmt.Sprint(words, "m", i)}
		e := Event{ID: EventID(fmt.Sprint("m", i)), Actor: person(t), At: minute(i)}
		if rapid.Bool().Draw(t, "by the agent") {
			e.Actor = "agent:ada"
		} else {
			b.Ref = at(fmt.Sprint(i))
		}
		if k := rapid.IntRange(-1, n).Draw(t, "replies to"); k >= 0 && k != i {
			b.ReplyRef = at(fmt.Sprint(k)) // k may come later, or never
		}
		e.Body = b
		s.messages = append(s.messages, e)
	}
	for j := range rapid.IntRange(0, 12).Draw(t, "changes") {
		s.changes = append(s.changes, s.change(t, j))
	}
	return s
}

func person(t *rapid.T) EntityID {
	return rapid.SampledFrom([]EntityID{"kai", "mo"}).Draw(t, "person")
}

func (s story) change(t *rapid.T, j int) Event {
	i := rapid.IntRange(0, len(s.messages)-1).Draw(t, "about")
	id, r := s.messages[i].ID, at(fmt.Sprint(i))
	emoji := rapid.SampledFrom([]string{"👍", "🎉"}).Draw(t, "emoji")
	if emoji == "🎉" && s.messages[i].Actor == "agent:ada" {
		r = secondPart(r)
	}
	e := Event{ID: EventID(fmt.Sprint("x", j)), Actor: person(t), At: minute(20 + rapid.IntRange(0, 20).Draw(t, "minute"))}
	switch rapid.IntRange(0, 5).Draw(t, "what") {
	case 0:
		edited := MessageEdited{Ref: r, Text: fmt.Sprint(words, id, ", newly ", j)}
		if rapid.Bool().Draw(t, "carries other files") {
			edited.Attachments = []FileAttachment{{Kind: "file", Name: fmt.Sprint(j)}}
		}
		e.Body = edited
		if s.messages[i].Actor == "agent:ada" {
			e.Actor, e.Body = "agent:ada", MessageEdited{Target: id, Text: fmt.Sprint(words, id, ", newly ", j)}
		}
	case 1:
		e.Body, s.deleted[id] = MessageDeleted{Ref: r}, true
	case 2:
		e.Body = ReactionAdded{Ref: r, Emoji: emoji}
	case 3:
		e.Body = ReactionRemoved{Ref: r, Emoji: emoji}
	case 4:
		e.Body = MessagePinned{Ref: at(fmt.Sprint(i))}
	default:
		e.Body = MessageUnpinned{Ref: at(fmt.Sprint(i))}
	}
	return e
}

// secondPart names the second part of a message that was split.
func secondPart(r MessageRef) MessageRef { return MessageRef{r.Account, r.Chat, r.Message + "b"} }

// inOrder returns the story as it happened: every message is said and delivered
// before anything comes of one.
func (s story) inOrder() []Event {
	var log []Event
	for _, m := range s.messages {
		log = append(log, m)
		if m.Actor == "agent:ada" {
			log = append(log, receipt(m))
		}
	}
	return numbered(append(log, s.changes...))
}

func receipt(m Event) Event {
	r := at(strings.TrimPrefix(string(m.ID), "m"))
	return Event{ID: m.ID + "d", At: m.At, Body: ActionDelivered{Message: m.ID, Action: ActionID("a" + m.ID), Refs: []MessageRef{r, secondPart(r)}}}
}

// asArrived returns the story as it may reach us: persons' messages and the
// receipts of the agent's at any time. As a store does, it names the event of a
// message that is known by then.
func (s story) asArrived(t *rapid.T) []Event {
	var log, late []Event
	for _, m := range s.messages {
		if m.Actor == "agent:ada" {
			log, late = append(log, m), append(late, receipt(m)) // ours is in the log before anybody can see it
		} else {
			late = append(late, m)
		}
	}
	late = rapid.Permutation(late).Draw(t, "arrivals")
	changes := s.changes
	known := map[MessageRef]EventID{}
	for len(late)+len(changes) > 0 {
		if len(changes) > 0 && (len(late) == 0 || rapid.Bool().Draw(t, "change comes first")) {
			log = append(log, resolved(changes[0], known))
			changes = changes[1:]
			continue
		}
		switch b := late[0].Body.(type) {
		case MessagePosted:
			known[b.Ref] = late[0].ID
		case ActionDelivered:
			for _, r := range b.Refs {
				known[r] = b.Message
			}
		}
		log = append(log, late[0])
		late = late[1:]
	}
	return numbered(log)
}

// resolved names the event of a message that is known. Unreactions and pins stay
// as the platform told them, so that both ways meet.
func resolved(e Event, known map[MessageRef]EventID) Event {
	_, r := Target(e.Body)
	switch b := e.Body.(type) {
	case MessageEdited:
		if b.Target == "" {
			b.Target = known[r]
		}
		e.Body = b
	case MessageDeleted:
		b.Target = known[r]
		e.Body = b
	case ReactionAdded:
		b.Target = known[r]
		e.Body = b
	}
	return e
}

func numbered(log []Event) []Event {
	log = slices.Clone(log)
	for i := range log {
		log[i].Seq = int64(i + 1)
	}
	return log
}

// withoutArrival forgets what order the events came in.
func withoutArrival(c *Chat) *Chat {
	for i := range c.Messages {
		c.Messages[i].Seq = 0
	}
	slices.SortFunc(c.Messages, func(a, b ChatMessage) int { return cmp.Compare(a.ID, b.ID) })
	c.byID, c.early, c.orphans = nil, nil, nil
	return c
}

// An edit before the original, a reply before its parent, a delete
// of something unknown.
func TestOrderOfArrivalDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stories(t)
		want, got := withoutArrival(fold(s.inOrder())), withoutArrival(fold(s.asArrived(t)))
		if diff := gocmp.Diff(want, got, chatState); diff != "" {
			t.Errorf("(-in order +as arrived):\n%s", diff)
		}
	})
}

// A delete removes the words from every later view, whether edits came
// before it, after it, or before the message.
func TestDeletedWordsNeverComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stories(t)
		c := fold(s.asArrived(t))
		for i := range c.Messages {
			m := &c.Messages[i]
			if m.Deleted != s.deleted[m.ID] {
				t.Errorf("%s deleted: %v, want %v", m.ID, m.Deleted, s.deleted[m.ID])
			}
			if shown := fmt.Sprintf("%+v", *m); m.Deleted && strings.Contains(shown, words) {
				t.Errorf("deleted message shows %s", shown)
			}
		}
		if kept := fmt.Sprintf("%+v", c.early); strings.Contains(kept, words) {
			t.Errorf("words wait for a message that has come: %s", kept)
		}
	})
}

// Words that were deleted before their message came are not kept for it either.
func TestDeleteBeforeItsMessageForgetsEarlierEdits(t *testing.T) {
	var w teller
	w.tell("kai", MessageEdited{Ref: at("1"), Text: words})
	w.tell("kai", MessageDeleted{Ref: at("1")})
	w.tell("kai", MessageEdited{Ref: at("1"), Text: words})
	if kept := fmt.Sprintf("%+v", fold(w.log)); strings.Contains(kept, words) {
		t.Errorf("kept: %s", kept)
	}
}

// A chat is rebuilt from any point, with what was folded
// before coming again.
func TestFoldGoesOnWhereItStopped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := stories(t).asArrived(t)
		stop := rapid.IntRange(0, len(log)).Draw(t, "stop")
		again := rapid.IntRange(0, stop).Draw(t, "again from")
		c := fold(log[:stop])
		for _, e := range log[again:] {
			if changed := c.Apply(e); e.Seq <= int64(stop) && changed != nil {
				t.Errorf("seq %d came again and changed %v", e.Seq, changed)
			}
		}
		if diff := gocmp.Diff(fold(log), c, chatState); diff != "" {
			t.Errorf("(-whole +prefix and rest):\n%s", diff)
		}
	})
}

// What Apply reports is what became different, and nothing else did.
func TestNothingChangesThatIsNotReported(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := stories(t).asArrived(t)
		c := NewChat()
		for _, e := range log {
			before := fold(log[:e.Seq-1]).Messages
			changed := c.Apply(e)
			for i := range c.Messages {
				if !slices.Contains(changed, i) && !gocmp.Equal(before[i], c.Messages[i]) {
					t.Errorf("%s changed message %d and reported %v", e.ID, i, changed)
				}
			}
			if len(c.Messages) > len(before) && changed[len(changed)-1] != len(before) {
				t.Errorf("%s: the new message is not the last of %v", e.ID, changed)
			}
		}
	})
}
