package hud

import "github.com/trestle-bridge/trestle/spaces"

// A searchRoom room is one that old lines are looked for in.
type searchRoom struct {
	seat  *RoomView
	lines []recallState       // of each message
	talks []*conversationHits // of each conversation, as far as somebody asked
}

// A recallState says whether a line may be recalled.
type recallState uint8

const (
	lineOpen   recallState = iota
	lineShown              // in the prefix of the next frame, or left behind when somebody began afresh
	lineChosen             // it is recalled already
)

// A lineRef names a line of a searched room.
type lineRef struct{ room, line int }

// searched returns the seats' rooms with the lines that may not be recalled, and how
// many lines they have in all.
func (v *View) searched(seats []*RoomView) (rooms []searchRoom, all int) {
	rooms = make([]searchRoom, len(seats))
	for _, s := range seats {
		all += len(s.Room.Chat.Messages)
	}
	lines := make([]recallState, all)
	for i, s := range seats {
		n := len(s.Room.Chat.Messages)
		rooms[i].seat, rooms[i].lines, lines = s, lines[:n], lines[n:]
		for line := range s.Room.Chat.After(s.Uplink.Fresh) {
			rooms[i].lines[line] = lineShown
		}
	}
	here, next := 0, make([]int, len(seats))
	v.eachRefs(func(ids []spaces.EventID) {
		for _, id := range ids {
			for range rooms { // mostly right behind the one before
				chat, i := seats[here].Room.Chat, next[here]
				if i >= len(chat.Messages) || chat.Messages[i].ID != id {
					i = chat.At(id)
				}
				if i >= 0 {
					rooms[here].lines[i], next[here] = lineShown, i+1
					break
				}
				here = (here + 1) % len(rooms)
			}
		}
	})
	return rooms, all
}

// talk returns the conversation that a line stands in, as it is chosen from. The
// room's index must have taken the line in.
func (r *searchRoom) talk(l lineRef) *conversationHits {
	x := &r.seat.Room.index
	if r.talks == nil {
		r.talks = make([]*conversationHits, len(x.sessions))
	}
	t := &r.talks[x.lines[l.line].session]
	if *t == nil {
		*t = &conversationHits{room: l.room}
	}
	return *t
}
