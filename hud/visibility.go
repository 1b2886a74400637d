package hud

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// What a mind may see of the agent's rooms in other circles is decided line by
// line, by one rule: everybody who can read what the mind says could read the line
// where it was written (readers contain members, SECURITY S5). No model is asked.

// Across returns a seat in a room of another circle, whose lines are shown as far
// as all of audience could read them. Nobody could read anything for an empty
// audience.
func Across(r *Room, u spaces.Uplink, audience []spaces.EntityID) RoomView {
	sum := sha256.Sum256([]byte(u.Space))
	return RoomView{Room: r, Uplink: u, Short: "x" + hex.EncodeToString(sum[:3]), across: true, audience: audience}
}

// shows reports whether the mind may see line i of the room.
func (s *RoomView) shows(i int) bool {
	if !s.across {
		return true
	}
	m := &s.Room.Chat.Messages[i]
	if len(s.audience) == 0 || m.Notice != nil || m.Past || m.Deleted || !s.Room.witness.Read(m.Seq, m.Thread, s.audience) {
		return false
	}
	for _, seq := range s.Room.reworded[i] { // the words are those of its last edit
		if !s.Room.witness.Read(seq, m.Thread, s.audience) {
			return false
		}
	}
	return true
}

// all returns the mind's seats, and behind them those in other circles.
func (v *View) all() []*RoomView {
	seats := make([]*RoomView, 0, len(v.Seats)+len(v.Beyond))
	for i := range v.Seats {
		seats = append(seats, &v.Seats[i])
	}
	for i := range v.Beyond {
		seats = append(seats, &v.Beyond[i])
	}
	return seats
}

// Looked returns the seat that a look names, in a room of the mind or of another
// circle: by its short id or its space's id. It is nil when there is none.
func (v *View) Looked(name string) *RoomView {
	for _, s := range v.all() {
		if s.Short == name || string(s.Uplink.Space) == name {
			return s
		}
	}
	return nil
}

// Carried names the rooms of other circles among those in which the messages
// stand, each as the frame calls it, in the order of the seats.
func (v *View) Carried(refs []spaces.EventID) []string {
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

// why says in a plan how recalled lines came into the frame.
func (v *View) why(refs []spaces.EventID) string {
	words := timesWord(len(refs), "line")
	if names := v.Carried(refs); len(names) > 0 {
		words += "; of other circles " + strings.Join(names, ", ") + ": everybody here could read them there"
	}
	return words
}
