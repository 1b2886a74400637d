package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// deletedWords are words of a deleted message.
type deletedWords struct {
	space spaces.SpaceID
	event spaces.EventID
	words []string // every text the message had
}

// erasedBy returns the words that e deletes from the room, which must not have
// folded it yet. A receipt does where it tells what was deleted before it came.
func erasedBy(room *hud.SharedRoom, e spaces.Event) (deletedWords, bool) {
	var m *spaces.ChatMessage
	if _, ok := e.Body.(spaces.MessageDeleted); ok {
		m = room.Chat.About(e.Body)
	}
	if b, ok := e.Body.(spaces.ActionDelivered); ok && room.Chat.Withdrawn(b.Refs) {
		m = room.Chat.Find(b.Message)
	}
	if m == nil || m.Deleted {
		return deletedWords{}, false
	}
	words := []string{m.Text}
	if m.Heard { // what was written and what was heard are shown apart as well
		words = append(words, strings.Split(m.Text, "\n")...)
	}
	if len(m.Attachments) > 0 {
		words = append(words, hud.FileMark(m.ID))
	}
	for k := range m.Attachments {
		words = append(words, m.Attachments[k].Name)
	}
	for _, r := range m.Edits {
		words = append(words, r.Text)
		for k := range r.Attachments {
			words = append(words, r.Attachments[k].Name)
		}
	}
	return deletedWords{space: room.ID(), event: m.ID, words: words}, true
}

// takeBack removes what was deleted in the mind's rooms from all that shows it. What
// could not be removed stays for the next time: until then no cycle of the mind
// begins, so that after a restart it is found again.
func (m *mind) takeBack(ctx context.Context) error {
	for {
		m.mu.Lock()
		if len(m.deleted) == 0 {
			m.mu.Unlock()
			return nil
		}
		gone := slices.Clone(m.deleted) // all at once: what a moderator clears away is much
		m.mu.Unlock()
		if err := m.redact(ctx, gone); err != nil {
			return err
		}
		if err := m.spread(ctx, gone); err != nil {
			return err
		}
		m.mu.Lock()
		m.deleted = m.deleted[len(gone):]
		m.mu.Unlock()
	}
}

// redact removes deleted words from what the mind has, and from the cycles under
// way: from what they were shown already, and once more when they have ended.
func (m *mind) redact(ctx context.Context, gone []deletedWords) error {
	m.mu.Lock()
	for id := range m.gone {
		for _, w := range gone {
			if !slices.ContainsFunc(m.gone[id], func(x deletedWords) bool { return x.event == w.event }) {
				m.gone[id] = append(m.gone[id], w)
			}
		}
	}
	m.mu.Unlock()
	return m.erase(ctx, gone, time.Time{})
}

// unsay takes out of the turns of the cycle what was deleted since they were shown.
// c.mind.mu is held.
func (c *cycle) unsay() {
	gone := c.mind.gone[c.wake.Cycle.ID]
	for _, w := range gone[c.unsaid:] {
		by := hud.NewRedaction(w.words...)
		c.turns, c.pending = redactedTurns(c.turns, by), redactedTurns(c.pending, by)
	}
	c.unsaid = len(gone)
}

// settle erases once more what was deleted while the cycle ran: it was shown the
// words, and may have kept them later.
func (m *mind) settle(ctx context.Context, y *spaces.Cycle) error {
	m.mu.Lock()
	gone := m.gone[y.ID]
	delete(m.gone, y.ID)
	m.mu.Unlock()
	return m.eraseAgain(ctx, gone, y.Started)
}

// eraseAgain erases what was deleted once more: from what was stored meanwhile. What
// could not be erased is left for the next time.
func (m *mind) eraseAgain(ctx context.Context, gone []deletedWords, since time.Time) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitLimit)
	defer cancel()
	err := m.erase(ctx, gone, since)
	if err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.deleted = append(m.deleted, gone...)
	}
	return err
}

// erase removes deleted words from the turns and the keyframe, in memory and, of what
// was stored since then, in the record, and has the context cut before the next frame
// (DESIGN 2).
func (m *mind) erase(ctx context.Context, gone []deletedWords, since time.Time) error {
	if len(gone) == 0 {
		return nil
	}
	all := make([]RedactionRequest, len(gone))
	m.mu.Lock()
	for i, w := range gone {
		all[i] = m.forget(w)
		all[i].Since = since
	}
	m.mu.Unlock()
	if err := m.shell.Journal.Redact(ctx, m.id, all...); err != nil {
		return fmt.Errorf("redact %d messages in %s: %w", len(all), m.id, err)
	}
	return nil
}

// forget removes deleted words from what the mind has in memory, and returns what is to
// go from the record. m.mu is held.
func (m *mind) forget(w deletedWords) RedactionRequest {
	if m.erasures++; m.cutting {
		m.lately = append(m.lately, w)
	}
	shown := m.unlearn(w)
	again := shown.Distinct() // where nothing says that the event was shown: what hardly anybody writes who has not read it
	if k := m.keyframe; k != nil {
		by := again
		if slices.Contains(k.Refs, w.event) {
			by, m.owed = shown, hud.CutRedaction
		}
		if text := by.Text(k.Text); text != k.Text {
			k := *k
			k.Text, k.Tokens = text, 0
			m.keyframe = &k
		}
	}
	for i := range m.closed {
		by := again
		if slices.ContainsFunc(m.closed[i].Turns, func(t spaces.TranscriptTurn) bool { return slices.Contains(t.Refs, w.event) }) {
			by, m.owed = shown, hud.CutRedaction
		}
		m.closed[i] = redacted(m.closed[i], by)
	}
	return RedactionRequest{Event: w.event, Shown: shown, Repeated: again}
}

// unlearn removes the words from what the mind has of its own, and the memories
// that they led to, as the record does (SECURITY S14). It returns all that is to
// be erased: the facts of those memories as well, and the digests that were made of
// it. m.mu is held.
func (m *mind) unlearn(w deletedWords) hud.TextRedaction {
	s := m.self
	if s == nil { // not in memory: the record does it when it is read
		return hud.NewRedaction(w.words...)
	}
	words := slices.Clip(w.words)
	for _, x := range s.Memories.All {
		if slices.Contains(x.Sources, w.event) {
			words = append(append(words, x.Fact), x.Former...)
		}
	}
	led := func(id spaces.EventID) bool { return id == w.event }
	for _, x := range s.SetUps.All {
		words = append(words, x.Words(led)...)
	}
	made := func(d spaces.CycleSummary) bool { return slices.Contains(d.Sources, w.event) }
	for _, d := range m.digests {
		if made(d) {
			words = append(words, d.Text)
			m.owed = hud.CutRedaction // it may stand in the keyframe
		}
	}
	m.digests = slices.DeleteFunc(slices.Clone(m.digests), made)
	by := hud.NewRedaction(words...)
	s.Memories.All = slices.DeleteFunc(s.Memories.All, func(x spaces.Memory) bool { return slices.Contains(x.Sources, w.event) })
	for i := range s.Memories.All {
		s.Memories.All[i].Fact = by.Text(s.Memories.All[i].Fact)
	}
	for i := range s.Notes.All {
		s.Notes.All[i].Text = by.Text(s.Notes.All[i].Text)
	}
	for i := range s.Goals.All {
		s.Goals.All[i].Text = by.Text(s.Goals.All[i].Text)
	}
	for i := range s.Bookmarks.Bookmarks {
		s.Bookmarks.Bookmarks[i].Label = by.Text(s.Bookmarks.Bookmarks[i].Label)
	}
	m.plans = slices.Clone(m.plans)
	for i := range m.plans {
		m.plans[i].Note = by.Text(m.plans[i].Note)
	}
	for i := range s.SetUps.All {
		s.SetUps.All[i] = s.SetUps.All[i].Without(led, by.Text)
	}
	return by
}

// redacted returns the cycle without the words, wherever its turns repeat them.
func redacted(c spaces.ClosedCycle, by hud.TextRedaction) spaces.ClosedCycle {
	c.Turns, c.Rest = redactedTurns(c.Turns, by), by.Text(c.Rest)
	return c
}

func redactedTurns(turns []spaces.TranscriptTurn, by hud.TextRedaction) []spaces.TranscriptTurn {
	turns = slices.Clone(turns)
	for i := range turns {
		t := &turns[i]
		if text := by.Text(t.Text); text != t.Text {
			t.Text, t.Tokens = text, 0
		}
		t.Calls = slices.Clone(t.Calls)
		for k := range t.Calls {
			if args := by.Text(t.Calls[k].Args); args != t.Calls[k].Args {
				t.Calls[k].Args, t.Tokens = args, 0
			}
		}
	}
	return turns
}
