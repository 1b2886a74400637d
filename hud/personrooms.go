package hud

import (
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

// cardMembers is how many members of a room its card names.
const cardMembers = 20

// RoomCards lists the rooms of a view, one to a line, those of other circles too: id,
// name, kind and members. members bounds how many members are named; 0 is 20.
func RoomCards(v *MindView, members int) string {
	if members == 0 {
		members = cardMembers
	}
	var b []byte
	for _, s := range v.allRooms() {
		b = append(appendCard(b, v, s, members), '\n')
	}
	if len(b) == 0 {
		return "There are no rooms."
	}
	return string(b[:len(b)-1])
}

// MemberCard lists everyone who is in a room of the view.
func MemberCard(v *MindView, s *RoomView) string {
	return string(appendCard(nil, v, s, len(s.Room.members)))
}

// VisibleMessage returns the message that goes by an id in the room, or nil when there is
// none that the view shows. The pointer is good until the room changes.
func (s *RoomView) VisibleMessage(id string) *spaces.ChatMessage {
	m := s.Room.FindShort(id)
	if m == nil || m.Deleted || m.Notice != nil {
		return nil
	}
	i := s.Room.Chat.After(m.Seq - 1)
	if i >= len(s.Room.Chat.Messages) || s.Room.Chat.Messages[i].ID != m.ID || !s.shows(i) {
		return nil
	}
	return m
}

// MatchingLines renders those messages behind a place in each room that match, at most
// limit of each room, the oldest. It returns "" when there are none.
func MatchingLines(v *MindView, after func(*RoomView) int64, match func(*RoomView, *spaces.ChatMessage) bool, limit int) string {
	var b []byte
	r := newRoomReader(v)
	for _, s := range v.allRooms() {
		var lines []int
		all := s.Room.Chat.Messages
		for i := s.Room.Chat.After(after(s)); i < len(all) && len(lines) < limit; i++ {
			if m := &all[i]; m.Notice == nil && !m.Deleted && s.shows(i) && match(s, m) {
				lines = append(lines, i)
			}
		}
		if len(lines) == 0 {
			continue
		}
		text, _ := r.lines(s, lines)
		if len(b) > 0 {
			b = append(b, "\n\n"...)
		}
		b = append(b, text...)
	}
	return string(b)
}

// HasMember reports whether an entity is in the room.
func (s *RoomView) HasMember(id spaces.EntityID) bool {
	return slices.ContainsFunc(s.Room.members, func(m spaces.SpaceMember) bool { return m.ID == id })
}
