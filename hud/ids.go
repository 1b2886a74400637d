package hud

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// ShortID returns the name under which the HUD shows an event of a room: "#"
// and its seq in base 36. It is unique within the room.
func ShortID(seq int64) string { return string(appendShort(nil, seq)) }

func appendShort(dst []byte, seq int64) []byte {
	return strconv.AppendInt(append(dst, '#'), seq, 36)
}

// ParseShortID reads what [ShortID] wrote; the "#" may be missing.
func ParseShortID(s string) (seq int64, ok bool) {
	s = strings.TrimPrefix(strings.TrimSpace(s), "#")
	if s == "" || s[0] == '+' || s[0] == '-' {
		return 0, false
	}
	seq, err := strconv.ParseInt(strings.ToLower(s), 36, 64)
	return seq, err == nil && seq > 0
}

// OwnID returns the name of a message the agent is about to send, which has no
// seq yet: "~" and a short hash of its id. [Room.FindShort] takes both names.
func OwnID(id spaces.EventID) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // a hash does not fail
	return "~" + strconv.FormatUint(h.Sum64()&(1<<40-1), 36)
}

// FindShort returns the entry of the room that the HUD shows under the id, or
// nil. The pointer is good until the next Apply.
func (r *Room) FindShort(id string) *spaces.Message {
	id = strings.TrimSpace(id)
	if strings.HasPrefix(id, "~") {
		for i := len(r.Chat.Messages) - 1; i >= 0; i-- {
			m := &r.Chat.Messages[i]
			if _, ours := m.Sender.IsAgent(); ours && OwnID(m.ID) == id {
				return m
			}
		}
		return nil
	}
	if seq, ok := ParseShortID(id); ok {
		return r.Chat.BySeq(seq)
	}
	return nil
}
