package hud

import (
	"strconv"

	"github.com/trestle-bridge/trestle/spaces"
)

// membersShown is how many members a space card names.
const membersShown = 12

// appendCard appends `SPACE s1 "Family" (direct): Kai (human), Ada (agent, you)`
// without a line end (GTS-08, CON-10). An empty room has an empty list (GTS-34).
func (v *View) appendCard(dst []byte, s *RoomView, members int) []byte {
	dst = append(dst, s.Short...)
	dst = append(dst, ' ')
	dst = appendQuoted(dst, v.label(s))
	dst = append(dst, " ("...)
	dst = append(dst, kindOfRoom(s.Room.space)...)
	dst = append(dst, "): "...)
	ms := s.Room.members
	n := min(len(ms), members)
	for i := range n {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = s.Room.appendSpeaker(dst, ms[i].ID, v.me())
	}
	switch rest := len(ms) - n; {
	case len(ms) == 0:
		dst = append(dst, "nobody"...)
	case n == 0:
		dst = strconv.AppendInt(dst, int64(rest), 10)
		dst = append(dst, " members"...)
	case rest > 0:
		dst = append(dst, " and "...)
		dst = strconv.AppendInt(dst, int64(rest), 10)
		dst = append(dst, " others"...)
	}
	return dst
}

func kindOfRoom(s spaces.Space) string {
	if s.Direct {
		return "direct"
	}
	return "group"
}

// introduced reports whether the prefix already says what the room is: a
// keyframe does of every room that was there when it was cut, and the first
// turn that shows a room begins with its card.
func (v *View) introduced(s *RoomView) bool {
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
