package hud

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// ShortID returns the name under which the HUD shows an event of a room: "#"
// and its seq in base 36. It is unique within the room.
func ShortID(seq int64) string { return string(appendShort(make([]byte, 0, 16), seq)) }

func appendShort(dst []byte, seq int64) []byte {
	return strconv.AppendInt(append(dst, '#'), seq, 36)
}

// parseShortID reads what [ShortID] wrote; the "#" may be missing.
func parseShortID(s string) (seq int64, ok bool) {
	s = strings.TrimPrefix(strings.TrimSpace(s), "#")
	if s == "" || s[0] == '+' || s[0] == '-' {
		return 0, false
	}
	seq, err := strconv.ParseInt(strings.ToLower(s), 36, 64)
	return seq, err == nil && seq > 0
}

// Handle returns a short name for what has no seq, or none yet: a message that the
// agent is about to send, a memory, a timer, a plan. It is "~" and a hash of the
// id, 40 bits of it: of a thousand no two share a name, but for one mind in two
// million.
func Handle[ID ~string](id ID) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // a hash does not fail
	return "~" + strconv.FormatUint(h.Sum64()&(1<<40-1), 36)
}

// ThreadLabel returns the short name of a thread in a room: its own id where that is a
// number of at most six digits, else "t" and a hash of it.
func ThreadLabel(t spaces.ThreadID) string {
	if len(t) <= 6 && strings.Trim(string(t), "0123456789") == "" {
		return string(t)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(t)) // a hash does not fail
	return "t" + strconv.FormatUint(h.Sum64()&(1<<28-1), 36)
}

// FindThread returns the thread that a name means: its label, its title or its id. Of
// several with the same title it is the one with the newest message.
func (r *SharedRoom) FindThread(name string) (spaces.ThreadID, bool) {
	name = strings.Trim(strings.TrimSpace(name), `"`)
	for i := range slices.Backward(r.Chat.Messages) {
		if t := r.Chat.Messages[i].Thread; t != "" && (ThreadLabel(t) == name || string(t) == name || strings.EqualFold(r.Chat.Threads[t], name)) {
			return t, true
		}
	}
	for t, title := range r.Chat.Threads {
		if ThreadLabel(t) == name || string(t) == name || strings.EqualFold(title, name) {
			return t, true
		}
	}
	return "", false
}

// FindShort returns the entry of the room that the HUD shows under the id, a
// [ShortID] or a [Handle], or nil. The id of a change (an edit, a reaction) represents
// the message that was changed. The pointer is good until the next Apply.
func (r *SharedRoom) FindShort(id string) *spaces.ChatMessage {
	id = strings.TrimSpace(id)
	if strings.HasPrefix(id, "~") {
		for i := len(r.Chat.Messages) - 1; i >= 0; i-- {
			m := &r.Chat.Messages[i]
			if _, ours := m.Sender.IsAgent(); ours && Handle(m.ID) == id {
				return m
			}
		}
		return nil
	}
	seq, ok := parseShortID(id)
	if !ok {
		return nil
	}
	if c := r.changesIn(seq-1, seq); len(c) > 0 {
		return &r.Chat.Messages[c[0].target]
	}
	return r.Chat.BySeq(seq)
}
