package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/latch"
	"github.com/trestle-bridge/trestle/spaces"
)

// A mind is what the process keeps of one consciousness between cycles: a fold
// of the record, dropped and read again at will.
type mind struct {
	id    spaces.Mind
	shell *Shell

	lastUse time.Time // guarded by the lock of all minds

	loading latch.Latch // held while reading the record and while cutting; taken before mu

	mu       sync.Mutex // guards all below; never held across I/O
	loaded   bool
	seats    []hud.RoomView
	self     *spaces.InnerState
	keyframe *spaces.Keyframe
	digests  []spaces.CycleSummary // of old cycles, in order
	erasures int                   // how often words were taken back
	cutting  bool                  // a keyframe is being stored
	lately   []deletedWords        // taken back since that was made
	earlier  []spaces.ClosedCycle  // absorbed by the keyframe; only while it is cut
	closed   []spaces.ClosedCycle  // after it, in order of N
	open     map[spaces.CycleID]spaces.SpaceID
	gone     map[spaces.CycleID][]deletedWords // since each open cycle began
	deleted  []deletedWords                    // what may still be shown or stored, see [mind.takeBack]

	plans []spaces.WakeTimer // that have not fired, the next first
	// unanswered are messages that were to be answered and could not, as far as this process
	// knows.
	unanswered map[spaces.EventID]bool
	planned    bool // plans are those of the record

	waits    []spaces.PendingWait // that last
	expected bool                 // there are none, and none can have come

	lastEnd   time.Time // of a cycle
	looked    int64     // when a cycle that is closed last learned what failed, in Unix milliseconds; 0: not known
	lastCycle spaces.CycleID
	owed      string // cause of a cut that is owed; empty: none
	hasher    hud.FrameHasher

	beyond []hud.RoomView       // in rooms of other circles
	unseen map[*foreignRoom]int // how many deletions in them were taken back; guarded by loading
}

// refresh brings the mind up to date with the record: wholly the first time,
// then its uplinks and the rooms in which something happened; that of a cycle,
// space, last of all.
func (m *mind) refresh(ctx context.Context, space spaces.SpaceID) error {
	m.loading.Lock()
	defer m.loading.Unlock()
	if !m.loaded {
		if err := m.load(ctx); err != nil {
			return fmt.Errorf("load mind %s: %w", m.id, err)
		}
	}
	if err := errors.Join(m.read(ctx, space), m.takeBack(ctx)); err != nil {
		return err
	}
	return m.reach(ctx)
}

// read takes in the mind's uplinks and what happened in its rooms.
func (m *mind) read(ctx context.Context, space spaces.SpaceID) error {
	uplinks, err := m.shell.Record.Uplinks(ctx, m.id)
	if err != nil {
		return fmt.Errorf("uplinks of %s: %w", m.id, err)
	}
	fresh := m.seated(uplinks)
	for _, id := range fresh {
		if err := m.follow(ctx, id, true); err != nil {
			return err
		}
	}
	if err := m.schedule(ctx); err != nil {
		return err
	}
	if err := m.expect(ctx); err != nil {
		return err
	}
	for _, u := range uplinks {
		if u.Space == space || slices.Contains(fresh, u.Space) || !m.behind(u.Space, u.Head) {
			continue
		}
		if err := m.follow(ctx, u.Space, false); err != nil {
			return err
		}
	}
	if space == "" || slices.Contains(fresh, space) {
		return nil
	}
	return m.follow(ctx, space, false)
}

// overtaken marks the mind for reading when another process closed cycles of it since
// this process last read it. While other cycles of the mind run here nothing changes:
// it is read when one begins alone.
func (m *mind) overtaken(base int64) {
	m.loading.Lock()
	defer m.loading.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.loaded || len(m.open) > 1 {
		return
	}
	missing := base
	if m.keyframe != nil {
		missing -= m.keyframe.Upto
	}
	for _, x := range m.closed {
		if x.N <= base {
			missing--
		}
	}
	m.loaded = missing <= 0
}

// doubt has the mind read anew after a commit that failed: it may have happened.
// While others run here it is left as it is.
func (m *mind) doubt() {
	m.loading.Lock()
	defer m.loading.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.open) <= 1 {
		m.loaded = false
	}
}

// behind reports whether a room has events up to seq that the mind has not read, or
// people whom it has not met.
func (m *mind) behind(space spaces.SpaceID, seq int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	seat := m.seat(space)
	return seat == nil || !seat.Room.Met() || seat.Room.Upto() < seq
}

// meets marks the members of a room for reading when a member that was seen has another
// name than the mind knows.
func (m *mind) meets(space spaces.SpaceID, seen []spaces.SpaceMember) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if seat := m.seat(space); seat != nil {
		seat.Room.Meet(seen)
	}
}

// seated takes over the uplinks and returns the spaces that got a new seat.
func (m *mind) seated(uplinks []spaces.Uplink) (fresh []spaces.SpaceID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, u := range uplinks {
		if i >= len(m.seats) {
			m.seats = append(m.seats, hud.RoomView{Room: hud.NewRoom(spaces.Space{ID: u.Space}), Short: "s" + strconv.Itoa(i+1)})
			fresh = append(fresh, u.Space)
		}
		settings := m.shell.Settings(m.id.Agent, u.Space)
		m.seats[i].Uplink, m.seats[i].Weight, m.seats[i].Zone = u, settings.Weight, m.shell.zone(settings)
	}
	return fresh
}

// zone returns the time zone of a room with those settings.
func (s *Shell) zone(set AgentSettings) *time.Location {
	if set.Zone != nil {
		return set.Zone
	}
	return s.Now().Location()
}

// page is how many events are read at once.
const page = 500

// follow reads what happened in a room since the mind last looked.
func (m *mind) follow(ctx context.Context, id spaces.SpaceID, first bool) error {
	m.mu.Lock()
	seat := m.seat(id)
	if seat == nil {
		m.mu.Unlock()
		return nil
	}
	room, done := seat.Room, seat.Uplink.Erased
	if first { // a log has hardly more events than messages
		room.Grow(int(max(0, seat.Uplink.Head-room.Upto())))
	}
	m.mu.Unlock()

	err := m.shell.follow(ctx, &m.mu, room, func(e spaces.Event) { // what was folded is not seen again
		if words, ok := erasedBy(room, e); ok && (!first || e.Seq > done) {
			m.deleted = append(m.deleted, words)
		}
	})
	if err != nil || !first {
		return err
	}
	return m.recollect(ctx, room)
}

// follow reads what happened in a room since it was last read, with each event
// before it is folded. mu guards the room; it is not held.
func (s *Shell) follow(ctx context.Context, mu sync.Locker, room *hud.SharedRoom, before func(spaces.Event)) error {
	mu.Lock()
	id, after := room.ID(), room.Upto()
	mu.Unlock()
	for {
		events, err := s.Record.Events(ctx, id, spaces.Primary, after, page)
		if err != nil {
			return fmt.Errorf("events of %s: %w", id, err)
		}
		switch met := fold(mu, room, events, before); {
		case len(events) == page:
			after = events[page-1].Seq
		case met:
			return nil
		default:
			return s.meet(ctx, mu, room)
		}
	}
}

// fold has a room take in events, and reports whether it knows then who is in it.
func fold(mu sync.Locker, room *hud.SharedRoom, events []spaces.Event, before func(spaces.Event)) (met bool) {
	mu.Lock()
	defer mu.Unlock() // a panic ends a wake, and not the room for others
	for _, e := range events {
		before(e)
		room.Apply(e)
	}
	return room.Met()
}

// meet reads who is in a room, and who wrote in it and left.
func (s *Shell) meet(ctx context.Context, mu sync.Locker, room *hud.SharedRoom) error {
	space, members, err := s.Record.Space(ctx, room.ID())
	if err != nil {
		return fmt.Errorf("space %s: %w", room.ID(), err)
	}
	mu.Lock()
	var gone []spaces.EntityID
	for id := range room.Chat.Activity {
		if !slices.ContainsFunc(members, func(x spaces.SpaceMember) bool { return x.ID == id }) {
			gone = append(gone, id)
		}
	}
	mu.Unlock()
	var known map[spaces.EntityID]spaces.Entity
	if len(gone) > 0 {
		if known, err = s.Record.Entities(ctx, gone); err != nil {
			return fmt.Errorf("people of %s: %w", room.ID(), err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	room.SetSpace(space)
	room.Introduce(members, known)
	return nil
}

// load reads the mind's own log (CON-34).
func (m *mind) load(ctx context.Context) error {
	self := &spaces.InnerState{}
	inner, err := m.shell.Record.Self(ctx, m.id)
	if err != nil {
		return fmt.Errorf("inner log: %w", err)
	}
	for _, e := range inner {
		self.Apply(e)
	}
	keyframe, err := m.shell.Record.Keyframe(ctx, m.id)
	if err != nil {
		return fmt.Errorf("keyframe: %w", err)
	}
	var digests []spaces.CycleSummary
	if m.shell.Digests != nil {
		if digests, err = m.shell.Digests.Digests(ctx, m.id); err != nil {
			return fmt.Errorf("digests: %w", err)
		}
	}
	var upto int64
	if keyframe != nil {
		upto, keyframe.Plan = keyframe.Upto, nil // who asks for the plan asks the record
	}
	closed, err := m.cycles(ctx, upto, 0, true)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.self, m.keyframe, m.closed, m.digests, m.loaded, m.planned, m.expected = self, keyframe, closed, digests, true, false, false
	m.looked = 0
	if n := len(closed); n > 0 {
		m.lastEnd, m.lastCycle = closed[n-1].Ended, closed[n-1].ID
	}
	for _, c := range closed {
		if !c.Asked.IsZero() {
			m.looked = c.Asked.UnixMilli() // or a little later: what failed meanwhile may be told twice
		}
	}
	return nil
}

// cycles reads the closed cycles after n, up to last unless that is 0.
func (m *mind) cycles(ctx context.Context, n, last int64, turns bool) ([]spaces.ClosedCycle, error) {
	var all []spaces.ClosedCycle
	for last == 0 || n < last {
		limit := int64(page)
		if last > 0 {
			limit = min(limit, last-n)
		}
		cs, err := m.shell.Record.Cycles(ctx, m.id, n, turns, int(limit))
		if err != nil {
			return nil, fmt.Errorf("cycles: %w", err)
		}
		all = append(all, cs...)
		if len(cs) < int(limit) {
			break
		}
		n = cs[len(cs)-1].N
	}
	return all, nil
}

// seat returns the seat in a space. m.mu is held.
func (m *mind) seat(id spaces.SpaceID) *hud.RoomView {
	i := slices.IndexFunc(m.seats, func(s hud.RoomView) bool { return s.Uplink.Space == id })
	if i < 0 {
		return nil
	}
	return &m.seats[i]
}

// begin notes an open cycle; end takes a closed one into the history.
func (m *mind) begin(id spaces.CycleID, space spaces.SpaceID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open[id], m.gone[id] = space, nil
}

func (m *mind) end(id spaces.CycleID, closed *spaces.ClosedCycle, looked time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.open, id)
	if closed == nil {
		return
	}
	m.lastEnd, m.lastCycle = closed.Ended, closed.ID
	m.looked = max(m.looked, looked.UnixMilli())
	m.closed = append(m.closed, *closed)
	slices.SortFunc(m.closed, func(a, b spaces.ClosedCycle) int { return cmp.Compare(a.N, b.N) })
}

// informed returns since when it is news to the mind that something could not be
// sent: since a cycle looked, or since the last one ended where none is known to have.
func (m *mind) informed() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.looked == 0 {
		return m.lastEnd
	}
	return time.UnixMilli(m.looked)
}

// learn folds inner bodies that were just committed. The mind is the only
// writer of its own notes, goals, memories and bookmarks, so their order here
// is that of the log.
func (m *mind) learn(bodies []spaces.EventBody, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range bodies {
		m.self.Apply(spaces.Event{Seq: m.self.Upto + 1, At: at, Body: b})
	}
}

// view returns what a cycle sees: the history it began with and its own turns.
// m.mu is held, and stays held while the view is used.
func (m *mind) view(c *cycle) *hud.MindView {
	closed := m.closed
	for len(closed) > 0 && closed[len(closed)-1].N > c.wake.Cycle.Base {
		closed = closed[:len(closed)-1]
	}
	v := m.whole(c.cycleConfig)
	v.Closed, v.Current, v.Branch = m.carried(closed), c.turns, c.branch
	return v
}

// whole returns the mind's view between cycles: all that is closed, nothing
// under way. m.mu is held, and stays held while the view is used.
func (m *mind) whole(o cycleConfig) *hud.MindView {
	return &hud.MindView{
		Agent:  o.agent.ID,
		Circle: m.id.Circle, Seats: m.seats, Active: o.active, Self: m.self,
		System: o.system.text, FixedTokens: o.system.fixed, Plans: m.plans, Unanswered: m.unanswered, Keyframe: m.keyframe, Earlier: m.carried(m.earlier), Closed: m.carried(m.closed),
		Digests: m.digests, Limits: o.settings.limits(), Counter: m.shell.Counter,
	}
}
