package shell

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/latch"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// maxAcross is how many rooms of other circles a mind looks into, those the agent
	// came to last.
	maxAcross = 24
	// maxShelves is how many such rooms are kept for all minds.
	maxShelves = 256
)

// A foreignRooms keeps the rooms that minds look into from other circles: one copy of
// each for all of them, read on from its last event.
type foreignRooms struct {
	shell *Shell
	mu    sync.Mutex // guards all below and every room; taken after a mind's; never held across I/O
	all   map[spaces.SpaceID]*foreignRoom
}

// A foreignRoom is one room of the library.
type foreignRoom struct {
	loading latch.Latch // held while reading the record; taken before mu
	room    *hud.SharedRoom
	gone    []pendingErasure // in order
	used    time.Time
}

// A pendingErasure is a deleted message, and when this process learned of it.
type pendingErasure struct {
	deletedWords
	at time.Time
}

// shelf returns a room as it is in the store.
func (l *foreignRooms) shelf(ctx context.Context, u spaces.Uplink) (*foreignRoom, error) {
	s := l.take(u.Space)
	s.loading.Lock()
	defer s.loading.Unlock()
	if s.room.Met() && s.room.Upto() >= u.Head { // only who holds loading moves it
		return s, nil
	}
	return s, l.shell.follow(ctx, &l.mu, s.room, func(e spaces.Event) {
		if words, ok := erasedBy(s.room, e); ok {
			s.gone = append(s.gone, pendingErasure{words, e.RecvAt})
		}
	})
}

// take returns the shelf of a room, empty when there was none. Of too many the one
// used longest ago goes.
func (l *foreignRooms) take(id spaces.SpaceID) *foreignRoom {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.all[id]
	if !ok {
		if len(l.all) >= maxShelves {
			oldest := id
			for k, x := range l.all {
				if oldest == id || x.used.Before(l.all[oldest].used) {
					oldest = k
				}
			}
			delete(l.all, oldest)
		}
		s = &foreignRoom{loading: latch.New(), room: hud.NewRoom(spaces.Space{ID: id})}
		l.all[id] = s
	}
	s.used = time.Now()
	return s
}

// audience returns who reads what the mind says, when all of them are known for
// good; else none. They are only in a direct chat that is the mind's one room, in
// the circle that is that room's own: no other room can come into it, and another
// person who comes to the chat gives it another circle.
func (m *mind) audience() []spaces.EntityID {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.seats) != 1 {
		return nil
	}
	seat := &m.seats[0]
	room := seat.Room.Space()
	if m.id.Circle != spaces.OwnCircle(room.ID) || !seat.Uplink.Live || !room.Direct || !room.Closed || !seat.Room.OneChat() {
		return nil
	}
	var all []spaces.EntityID
	for _, x := range seat.Room.Members() {
		if x.Kind != spaces.Human && x.Kind != spaces.Agent {
			return nil // who reads along with a bot or a channel is unknown
		}
		if x.ID != m.id.Agent.Entity() {
			all = append(all, x.ID)
		}
	}
	return all
}

// reach brings the rooms of other circles up to date that the mind may look into.
// m.loading is held.
func (m *mind) reach(ctx context.Context) error {
	audience := m.audience()
	var seats []hud.RoomView
	if len(audience) > 0 && m.shell.Settings(m.id.Agent, m.seats[0].Uplink.Space).Across {
		readers, err := m.shell.readers(ctx, audience)
		if err != nil {
			return err
		}
		ups, err := m.shell.roomsAcross(ctx, m.id, readers[0])
		if err != nil {
			return err
		}
		for _, u := range ups {
			s, err := m.shell.library.shelf(ctx, u)
			if err != nil {
				return err
			}
			if err := m.unsee(ctx, s); err != nil {
				return err
			}
			seats = append(seats, hud.NewForeignView(s.room, u, readers))
		}
	}
	m.mu.Lock()
	m.beyond = seats
	m.mu.Unlock()
	return nil
}

// readers returns the people of an audience, each with every identity of theirs.
func (s *Shell) readers(ctx context.Context, audience []spaces.EntityID) (spaces.RoomAudience, error) {
	all := make(spaces.RoomAudience, len(audience))
	for i, who := range audience {
		all[i] = []spaces.EntityID{who}
		if _, agent := who.IsAgent(); agent || s.SamePerson == nil {
			continue
		}
		same, err := s.SamePerson(ctx, who)
		if err != nil {
			return nil, fmt.Errorf("look up who %s is elsewhere: %w", who, err)
		}
		all[i] = append(all[i], same...)
	}
	return all, nil
}

// roomsAcross returns the uplinks of an agent in other circles to rooms that a person is in
// under one of their identities, those the agent came to last.
func (s *Shell) roomsAcross(ctx context.Context, m spaces.Mind, person []spaces.EntityID) ([]spaces.Uplink, error) {
	var all []spaces.Uplink
	for _, who := range person {
		ups, err := s.Record.Across(ctx, m, who, maxAcross)
		if err != nil {
			return nil, err
		}
		for _, u := range ups {
			if !slices.ContainsFunc(all, func(o spaces.Uplink) bool { return o.Mind == u.Mind && o.Space == u.Space }) {
				all = append(all, u)
			}
		}
	}
	if len(person) > 1 {
		slices.SortStableFunc(all, func(a, b spaces.Uplink) int { return b.OpenedAt.Compare(a.OpenedAt) })
	}
	return all[:min(len(all), maxAcross)], nil
}

// spread takes back what was deleted in a room of a mind from the agent's minds in
// other circles: from those that were shown it, and those that may be shown it now.
func (m *mind) spread(ctx context.Context, gone []deletedWords) error {
	shown := map[spaces.Mind][]deletedWords{}
	for _, w := range gone {
		ids, err := m.shell.Journal.ShownTo(ctx, m.id, w.event)
		if err != nil {
			return err
		}
		for _, other := range m.shell.minds.looking(m.id, w.space) {
			if !slices.Contains(ids, other) {
				ids = append(ids, other)
			}
		}
		for _, id := range ids {
			shown[id] = append(shown[id], w)
		}
	}
	for id, words := range shown {
		if err := m.shell.minds.get(id).redact(ctx, words); err != nil {
			return err
		}
	}
	return nil
}

// looking returns the minds in memory, of the agent of a mind, that have a cycle under
// way and look into a room from another circle.
func (ms *minds) looking(of spaces.Mind, space spaces.SpaceID) []spaces.Mind {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	var found []spaces.Mind
	for id, m := range ms.all {
		m.mu.Lock()
		looks := slices.ContainsFunc(m.beyond, func(s hud.RoomView) bool { return s.Uplink.Space == space })
		if id.Agent == of.Agent && len(m.gone) > 0 && looks {
			found = append(found, id)
		}
		m.mu.Unlock()
	}
	return found
}

// unsee takes back what was deleted in a room of another circle since the mind last
// looked; the first time, since the mind is there.
func (m *mind) unsee(ctx context.Context, s *foreignRoom) error {
	if m.unseen == nil {
		m.unseen = map[*foreignRoom]int{}
	}
	l := m.shell.library
	l.mu.Lock()
	gone := slices.Clip(s.gone)
	if _, known := m.unseen[s]; !known { // those that were given up go
		maps.DeleteFunc(m.unseen, func(x *foreignRoom, _ int) bool { return l.all[x.room.ID()] != x })
	}
	l.mu.Unlock()
	var words []deletedWords
	for _, w := range gone[m.unseen[s]:] {
		if !w.at.Before(m.seats[0].Uplink.OpenedAt) {
			words = append(words, w.deletedWords)
		}
	}
	if err := m.redact(ctx, words); err != nil {
		return err
	}
	m.unseen[s] = len(gone)
	return nil
}

// across lets a view look into the rooms of other circles until done is called.
// m.mu is held.
func (m *mind) across(v *hud.MindView) (done func()) {
	v.Beyond = m.beyond
	if len(m.beyond) == 0 {
		return func() {}
	}
	m.shell.library.mu.Lock()
	return m.shell.library.mu.Unlock
}
