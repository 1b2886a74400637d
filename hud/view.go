package hud

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

// A RoomView is a mind's view of one room: the room, its uplink, and the spans in
// which the mind was connected to it.
type RoomView struct {
	Room   *SharedRoom
	Uplink spaces.Uplink
	Spans  []spaces.ConnectionSpan // newest first
	// Short is the space's name in tool calls, "s1". The shell assigns it in the order
	// of the uplinks; it never changes for a mind.
	Short string
	// Weight is the factor of the room's lines while another room is active. Default: 1
	Weight float64
	// Zone is the time zone in which the room's times are shown; nil is UTC.
	Zone *time.Location

	foreign  bool                // of another circle, see [NewForeignView]
	audience spaces.RoomAudience // those who can read what the mind says
}

// A MindView holds what one mind sees: its rooms and its log. The shell keeps it from
// cycle to cycle: it appends to Current, moves it to Closed, and sets Keyframe after
// a compaction.
//
// A View reads its rooms and is not safe for concurrent use with them.
type MindView struct {
	Agent  spaces.AgentID
	Circle spaces.CircleID
	Seats  []RoomView
	Beyond []RoomView // in rooms of other circles, see [NewForeignView]; searched, never part of the keyframe
	Active spaces.SpaceID
	Branch spaces.BranchID    // of the rooms, on which the agent acts; empty is the primary one
	Self   *spaces.InnerState // nil is empty
	// Unanswered are messages that the agent was to answer and could not; a new line of one
	// has a mark.
	Unanswered map[spaces.EventID]bool
	Plans      []spaces.WakeTimer // that have not fired, the next first, due in the location they are shown in
	System     string             // the system message
	// FixedTokens are those of System and of the tools, as the shell counted them.
	FixedTokens int
	Keyframe    *spaces.Keyframe        // nil before the first cut
	Earlier     []spaces.ClosedCycle    // those the keyframe absorbed, without turns, in order of N; needed by Cut alone
	Digests     []spaces.CycleSummary   // of groups of them; shown in place of their accounts
	Closed      []spaces.ClosedCycle    // those after it, with turns, in order of N
	Current     []spaces.TranscriptTurn // of the open cycle
	Limits      ViewLimits
	Counter     *TokenCounter
	Weights     *recall.RankWeights // nil: the default ones
	// Asked is the embedding of the words that old lines are recalled by; nil: unknown,
	// and no line is found by its embedding.
	Asked spaces.EmbeddingVector
}

// Budget returns how many tokens all messages but the fixed ones may have.
func (v *MindView) Budget() int {
	l := v.Limits.withDefaults()
	return max(0, min(l.ContextTokens-l.MaxOutputTokens-v.FixedTokens, l.MaxLogTokens))
}

// Seat returns the mind's seat in the space, or nil.
func (v *MindView) Seat(id spaces.SpaceID) *RoomView {
	for i := range v.Seats {
		if v.Seats[i].Uplink.Space == id {
			return &v.Seats[i]
		}
	}
	return nil
}

// local returns a time as the room's people read it off their clocks. The zero time
// stays zero; a nil room is in the location of the time.
func (s *RoomView) local(t time.Time) time.Time {
	switch {
	case t.IsZero() || s == nil:
		return t
	case s.Zone == nil:
		return t.UTC()
	}
	return t.In(s.Zone)
}

// onOneDay reports whether two times of one location are on the same day.
func onOneDay(a, b time.Time) bool { return a.YearDay() == b.YearDay() && a.Year() == b.Year() }

func (v *MindView) me() spaces.EntityID { return v.Agent.Entity() }

// allRooms returns the rooms of the mind, and behind them those of other circles.
func (v *MindView) allRooms() []*RoomView {
	rooms := make([]*RoomView, 0, len(v.Seats)+len(v.Beyond))
	for i := range v.Seats {
		rooms = append(rooms, &v.Seats[i])
	}
	for i := range v.Beyond {
		rooms = append(rooms, &v.Beyond[i])
	}
	return rooms
}

// FindRoom returns the room of the mind or of another circle with that short id or
// space id, or nil.
func (v *MindView) FindRoom(name string) *RoomView {
	for _, s := range v.allRooms() {
		if s.Short == name || string(s.Uplink.Space) == name {
			return s
		}
	}
	return nil
}

// find returns the message with that id and the room of the mind that holds it.
func (v *MindView) find(id spaces.EventID) (*RoomView, *spaces.ChatMessage) {
	if id == "" {
		return nil, nil
	}
	for i := range v.Seats {
		if m := v.Seats[i].Room.Chat.Find(id); m != nil {
			return &v.Seats[i], m
		}
	}
	return nil, nil
}

// addressed reports whether a message mentions the agent or answers it.
func (v *MindView) addressed(r *SharedRoom, m *spaces.ChatMessage) bool {
	if len(m.Mentions) > 0 && slices.Contains(m.Mentions, v.me()) {
		return true
	}
	if m.ReplyTo == "" {
		return false
	}
	parent := r.Chat.Find(m.ReplyTo)
	return parent != nil && parent.Sender == v.me()
}

// introduced reports whether the prefix already describes the room: a keyframe
// describes every room that was open when it was made, and the first turn that shows
// a room begins with its card.
func (v *MindView) introduced(s *RoomView) bool {
	if v.Keyframe != nil && !s.Uplink.OpenedAt.After(v.Keyframe.At) {
		return true
	}
	for i := range v.Closed {
		if v.Closed[i].Space == s.Uplink.Space {
			return true
		}
	}
	for i := range v.Current {
		for _, id := range v.Current[i].Refs {
			if s.Room.Chat.At(id) >= 0 {
				return true
			}
		}
	}
	return false
}

// turns yields the turns of all closed cycles and of the open one.
func (v *MindView) turns() iter.Seq[*spaces.TranscriptTurn] { return eachTurn(v.Closed, v.Current) }

// eachRefs calls f with the messages that the keyframe shows, and with those of each turn.
func (v *MindView) eachRefs(f func([]spaces.EventID)) {
	if v.Keyframe != nil {
		f(v.Keyframe.Refs)
	}
	for t := range v.turns() {
		f(t.Refs)
	}
}

// onScreen returns the messages whose words the agent is shown.
func (v *MindView) onScreen(recalled []RecalledLine) map[spaces.EventID]bool {
	shown := map[spaces.EventID]bool{}
	v.eachRefs(func(ids []spaces.EventID) {
		for _, id := range ids {
			shown[id] = true
		}
	})
	for _, l := range recalled {
		shown[l.Event] = true
	}
	return shown
}

// newest returns the time of the newest event in a room of the mind.
func (v *MindView) newest() time.Time {
	var at time.Time
	for i := range v.Seats {
		if last := v.Seats[i].Room.Chat.Last; last.After(at) {
			at = last
		}
	}
	return at
}

// focus returns the factor of the scores of a room's lines: 1 for the active room.
func (v *MindView) focus(s *RoomView) float64 {
	if v.Active == "" || s.Uplink.Space == v.Active {
		return 1
	}
	focus := v.weights().Focus
	if s.Weight > 0 {
		focus = min(1, focus*s.Weight)
	}
	return focus
}

func (v *MindView) weights() recall.RankWeights {
	if v.Weights == nil {
		return recall.DefaultWeights()
	}
	return *v.Weights
}

// label returns the room's name as lines show it: its cleaned name, with its short id
// when another room of the view has a name that looks the same.
func (v *MindView) label(s *RoomView) string {
	name, key := s.Room.cleanedName()
	same := func(o *RoomView) bool {
		_, other := o.Room.cleanedName()
		return o.Short != s.Short && other == key
	}
	for i := range v.Seats {
		if same(&v.Seats[i]) {
			return name + "~" + s.Short
		}
	}
	for i := range v.Beyond {
		if s.foreign && same(&v.Beyond[i]) {
			return name + "~" + s.Short
		}
	}
	return name
}

// NewForeignView returns a view of a room of another circle. A mind sees a line of it
// only if everybody who can read what the mind says, the audience, could read the line
// where it was written. No model decides that. For an empty audience no line is shown.
func NewForeignView(r *SharedRoom, u spaces.Uplink, audience spaces.RoomAudience) RoomView {
	sum := sha256.Sum256([]byte(u.Space))
	return RoomView{Room: r, Uplink: u, Short: "x" + hex.EncodeToString(sum[:3]), foreign: true, audience: audience}
}

// shows reports whether the mind may see line i of the room.
func (s *RoomView) shows(i int) bool {
	if !s.foreign {
		return true
	}
	m := &s.Room.Chat.Messages[i]
	if len(s.audience) == 0 || m.Notice != nil || m.Past || m.Deleted || !s.Room.readership.Read(m.Seq, m.Thread, s.audience) {
		return false
	}
	for _, seq := range s.Room.reworded[i] { // the words are those of its last edit
		if !s.Room.readership.Read(seq, m.Thread, s.audience) {
			return false
		}
	}
	return true
}

// ForeignRooms returns the short ids of rooms of other circles that hold some of the
// messages, in the order of Beyond.
func (v *MindView) ForeignRooms(refs []spaces.EventID) []string {
	var names []string
	for i := range v.Beyond {
		s := &v.Beyond[i]
		for _, id := range refs {
			if s.Room.Chat.Find(id) != nil {
				names = append(names, s.Short)
				break
			}
		}
	}
	return names
}
