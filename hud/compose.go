package hud

import (
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

// HistoryLimits says how many of the newest messages of two rooms are shown for
// composing a message to one of them, and how many where messages are long.
type HistoryLimits struct {
	Origin, Target         int
	LongOrigin, LongTarget int
}

// longMessage is the average number of characters from which on the messages of a room
// are long.
const longMessage = 500

// A RoomExcerpt is one room as it is shown for composing a message. Names and words are
// quoted, since people choose them.
type RoomExcerpt struct {
	Name     string
	Members  []string // `Kai (human)`
	Messages []string // `Kai (human): "words"`, most recent last
}

// Compose returns the rooms that a message is composed from: the one the agent comes
// from, nil for none, and the one it is for. Both have no more than tokens, the
// oldest lines going first, and show nothing that the mind was asked to leave behind.
func (v *MindView) Compose(origin, target *RoomView, h HistoryLimits, tokens int) (from *RoomExcerpt, to RoomExcerpt) {
	to = newExcerpt(v, target, h.Target, h.LongTarget)
	lists := []*[]string{&to.Messages}
	if origin != nil {
		p := newExcerpt(v, origin, h.Origin, h.LongOrigin)
		from, lists = &p, append(lists, &p.Messages)
	}
	for {
		var longest *[]string
		sum := 0
		for _, l := range lists {
			n := boundOf(*l)
			if sum += n; longest == nil || n > boundOf(*longest) {
				longest = l
			}
		}
		if sum <= tokens || len(*longest) == 0 {
			return from, to
		}
		*longest = (*longest)[1:]
	}
}

func boundOf(lines []string) int {
	n := 0
	for _, l := range lines {
		n += Bound(l) + 1
	}
	return n
}

// newExcerpt returns the newest lines of a room.
func newExcerpt(v *MindView, s *RoomView, most, mostLong int) RoomExcerpt {
	r := s.Room
	p := RoomExcerpt{Name: string(appendQuoted(nil, v.label(s)))}
	for i := range min(len(r.members), membersShown) {
		p.Members = append(p.Members, string(r.appendSpeaker(nil, r.members[i].ID, v.me())))
	}
	var newest []*spaces.ChatMessage
	size := 0
	for i := len(r.Chat.Messages) - 1; i >= 0 && len(newest) < most; i-- {
		if m := &r.Chat.Messages[i]; m.Seq > s.Uplink.Fresh && !m.Deleted && m.Notice == nil && m.Text != "" {
			newest, size = append(newest, m), size+len([]rune(m.Text))
		}
	}
	if n := len(newest); n > mostLong && size/n >= longMessage {
		newest = newest[:mostLong]
	}
	for _, m := range slices.Backward(newest) {
		p.Messages = append(p.Messages, string(appendWords(r.appendSpeaker(nil, m.Sender, v.me()), m.Text, noLimit)))
	}
	return p
}
