package spaces

import (
	"slices"
	"time"
)

// InnerState is the fold of a mind's inner log: its notes, goals, memories and
// bookmarks, and how far it has set up its rooms. It is not safe for concurrent use.
type InnerState struct {
	Notes     NoteList
	Goals     GoalList
	Memories  MemoryList
	Bookmarks ContextManager
	SetUps    OnboardingStates
	Upto      int64 // seq of the last event applied
}

// Apply folds one inner event. Events must come in seq order; one that was
// already applied changes nothing.
func (s *InnerState) Apply(e Event) {
	if e.Seq <= s.Upto {
		return
	}
	s.Upto = e.Seq
	s.Notes.Apply(e)
	s.Goals.Apply(e)
	s.Memories.Apply(e)
	s.Bookmarks.Apply(e)
	s.SetUps.Apply(e)
}

// NoteList is the object that holds the agent's notes, oldest first.
type NoteList struct{ All []Note }

// A Note is one note.
type Note struct {
	Event EventID
	Label string
	Text  string
	At    time.Time
}

// Apply folds one inner event.
func (n *NoteList) Apply(e Event) {
	if b, ok := e.Body.(NoteAdded); ok && b.SetUp == nil {
		n.All = append(n.All, Note{e.ID, b.Label, b.Text, e.At})
	}
}

// GoalList is the object that holds the agent's goals in the order they were first
// set. Setting a goal with the same text changes its status.
type GoalList struct{ All []GoalItem }

// A GoalItem is the current state of one goal.
type GoalItem struct {
	Text   string
	Status string
	At     time.Time
}

// Apply folds one inner event.
func (g *GoalList) Apply(e Event) {
	b, ok := e.Body.(GoalSet)
	if !ok {
		return
	}
	for i := range g.All {
		if g.All[i].Text == b.Text {
			g.All[i].Status, g.All[i].At = b.Status, e.At
			return
		}
	}
	g.All = append(g.All, GoalItem{b.Text, b.Status, e.At})
}

// Open returns the goals that are neither done nor dropped.
func (g *GoalList) Open() []GoalItem {
	return slices.DeleteFunc(slices.Clone(g.All), func(i GoalItem) bool {
		return i.Status == "done" || i.Status == "dropped"
	})
}

// MemoryList is the object that holds what the agent chose to remember.
type MemoryList struct{ All []Memory }

// A Memory is one fact, with where it came from and who may learn it. Its
// fields are those of [Remembered].
type Memory struct {
	ID      string
	Fact    string
	What    string
	Sources []EventID
	Readers []EntityID
	Space   SpaceID
	Event   EventID // that made it
	At      time.Time
	// Corrected is when a person last changed the fact; zero while it is the mind's own.
	Corrected time.Time
	Former    []string // what it said before, as often as it was corrected
}

// Apply folds one inner event.
func (m *MemoryList) Apply(e Event) {
	switch b, ok := e.Body.(MemoryAdded); {
	case ok && b.Corrected:
		for i := range m.All {
			if m.All[i].ID == b.ID {
				m.All[i].Former = append(m.All[i].Former, m.All[i].Fact)
				m.All[i].Fact, m.All[i].Corrected = b.Fact, e.At
			}
		}
	case ok:
		m.All = append(m.All, Memory{ID: b.ID, Fact: b.Fact, What: b.What, Sources: b.Sources, Readers: b.Readers, Space: b.Space, Event: e.ID, At: e.At})
	}
	if b, ok := e.Body.(MemoryRemoved); ok {
		m.All = slices.DeleteFunc(m.All, func(x Memory) bool { return x.ID == b.ID })
	}
}

// ContextManager is the object that holds bookmarks.
type ContextManager struct{ Bookmarks []Bookmark }

// A Bookmark is one labelled place. Its fields are those of [Bookmarked].
type Bookmark struct {
	Label  string
	Space  SpaceID
	Object ObjectID
	Events []EventID
	Cycle  CycleID
	At     time.Time
}

// Apply folds one inner event.
func (c *ContextManager) Apply(e Event) {
	if b, ok := e.Body.(BookmarkSet); ok {
		c.Bookmarks = append(c.Bookmarks, Bookmark{b.Label, b.Space, b.Object, b.Events, b.Cycle, e.At})
	}
}

// RoomInfo is the object that describes a room: its current title. The
// titles of threads are the chat's.
type RoomInfo struct{ Title string }

// Apply folds one event of the room.
func (i *RoomInfo) Apply(e Event) {
	if b, ok := e.Body.(SpaceRenamed); ok && e.Thread == "" {
		i.Title = b.Title
	}
}

// MemberList folds joins, leaves and speech into the set of members, each with the
// seq of the event by which we learned of it. It is what the store's member
// table must equal at any time.
type MemberList map[EntityID]int64

// Apply folds one event of the room.
func (m MemberList) Apply(e Event) {
	if b, ok := e.Body.(MessagePosted); ok && e.Actor != "" && !b.Past {
		m.join(e.Actor, e.Seq)
	}
	if b, ok := e.Body.(MemberJoined); ok {
		m.join(b.Who, e.Seq)
	}
	if b, ok := e.Body.(MemberLeft); ok {
		delete(m, b.Who)
	}
}

func (m MemberList) join(who EntityID, seq int64) {
	if _, ok := m[who]; !ok {
		m[who] = seq
	}
}
