package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// erased are words that somebody deleted.
type erased struct {
	event spaces.EventID
	words []string // every text the message had
}

// erasedBy returns the words that e deletes from the room, which must not have
// folded it yet.
func erasedBy(room *hud.Room, e spaces.Event) (erased, bool) {
	if _, ok := e.Body.(spaces.Deleted); !ok {
		return erased{}, false
	}
	m := room.Chat.About(e.Body)
	if m == nil || m.Deleted {
		return erased{}, false
	}
	words := []string{m.Text}
	if m.Heard { // what was written and what was heard are shown apart as well
		words = append(words, strings.Split(m.Text, "\n")...)
	}
	for k := range m.Attachments {
		words = append(words, m.Attachments[k].Name)
	}
	for _, r := range m.Edits {
		words = append(words, r.Text)
	}
	return erased{m.ID, words}, true
}

func (w erased) redact(text string) string {
	for _, words := range w.words {
		text = hud.Redact(text, words)
	}
	return text
}

// redact removes deleted words from the turns and the keyframe, in memory and
// in the record, and has the context cut before the next frame (DESIGN 2).
func (m *mind) redact(ctx context.Context, w erased) error {
	m.mu.Lock()
	w = m.unlearn(w)
	shown := m.keyframe != nil && slices.Contains(m.keyframe.Refs, w.event)
	if shown {
		k := *m.keyframe
		k.Text, k.Tokens = w.redact(k.Text), 0
		m.keyframe = &k
	}
	for i := range m.closed {
		if !slices.ContainsFunc(m.closed[i].Turns, func(t spaces.Turn) bool { return slices.Contains(t.Refs, w.event) }) {
			continue
		}
		shown = true
		m.closed[i] = redacted(m.closed[i], w)
	}
	if shown {
		m.owed = hud.CutRedaction
	}
	m.mu.Unlock()
	if err := m.shell.Journal.Redact(ctx, m.id, w.event, w.redact); err != nil {
		return fmt.Errorf("redact %s in %s: %w", w.event, m.id, err)
	}
	return nil
}

// unlearn removes the words from what the mind has of its own, and the memories
// that they led to, as the record does (SECURITY S14). It returns all that is to
// be erased: the facts of those memories as well. m.mu is held.
func (m *mind) unlearn(w erased) erased {
	s := m.self
	w.words = slices.Clip(w.words)
	for _, x := range s.Memories.All {
		if slices.Contains(x.Sources, w.event) {
			w.words = append(w.words, x.Fact)
		}
	}
	s.Memories.All = slices.DeleteFunc(s.Memories.All, func(x spaces.Memory) bool { return slices.Contains(x.Sources, w.event) })
	for i := range s.Memories.All {
		s.Memories.All[i].Fact = w.redact(s.Memories.All[i].Fact)
	}
	for i := range s.Notes.All {
		s.Notes.All[i].Text = w.redact(s.Notes.All[i].Text)
	}
	for i := range s.Goals.All {
		s.Goals.All[i].Text = w.redact(s.Goals.All[i].Text)
	}
	for i := range s.Bookmarks.Bookmarks {
		s.Bookmarks.Bookmarks[i].Label = w.redact(s.Bookmarks.Bookmarks[i].Label)
	}
	return w
}

// redacted returns the cycle without the words, wherever its turns repeat them.
func redacted(c spaces.ClosedCycle, w erased) spaces.ClosedCycle {
	c.Turns = slices.Clone(c.Turns)
	for i := range c.Turns {
		t := &c.Turns[i]
		t.Text, t.Tokens = w.redact(t.Text), 0
		t.Calls = slices.Clone(t.Calls)
		for k := range t.Calls {
			t.Calls[k].Args = w.redact(t.Calls[k].Args)
		}
	}
	c.Rest = w.redact(c.Rest)
	return c
}
