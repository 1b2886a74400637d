package hud

import (
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

// A bookmarkQuery narrows the bookmarks: by topic, by the room they were set in,
// and by the days between which.
type bookmarkQuery struct {
	terms         []string
	room          string // short id; empty is every one
	since, before time.Time
}

// bookmarkHint tells the agent how to narrow the list.
const bookmarkHint = "input narrows this: words, in:s2, since:2026-01-31, before:2026-02-28"

// readBookmarkQuery parses the input of an agent; words that are no condition are the topic.
func readBookmarkQuery(input string) bookmarkQuery {
	var q bookmarkQuery
	var words []string
	for word := range strings.FieldsSeq(input) {
		key, value, _ := strings.Cut(word, ":")
		day, err := time.Parse(time.DateOnly, value)
		switch {
		case key == "in" && value != "":
			q.room = value
		case key == "since" && err == nil:
			q.since = day
		case key == "before" && err == nil:
			q.before = day
		default:
			words = append(words, word)
		}
	}
	topic := recall.NewQuery(strings.Join(words, " "))
	q.terms = topic.Terms()
	return q
}

// contextText lists the bookmarks that match a query, newest last, and the pinned
// messages. With a query, it shows each bookmark with the messages that were in view
// when it was set.
func (r *roomReader) contextText(self *spaces.InnerState, input string) (string, []spaces.EventID) {
	q := readBookmarkQuery(input)
	var lines []string
	var refs []spaces.EventID
	spent := 0
	all := self.Bookmarks.Bookmarks
	for i := range slices.Backward(all) {
		b := &all[i]
		seat, view := r.inView(b)
		if !r.answers(q, b, seat, view) {
			continue
		}
		line := bookmarkLine(r.v, b)
		var shows []spaces.EventID
		if input != "" && len(view) > 0 {
			var text string
			text, shows = r.lines(seat, view)
			line += "\n" + text
		}
		if spent += r.v.Counter.Count(line); len(lines) == maxEntries || len(lines) > 0 && spent > r.tokens {
			break
		}
		lines, refs = append(lines, line), append(refs, shows...)
	}
	slices.Reverse(lines)
	text := "BOOKMARKS: none"
	if len(lines) > 0 {
		text = "BOOKMARKS (" + bookmarkHint + "):\n" + strings.Join(lines, "\n")
	}
	pinned, shows := r.pinned(q)
	return text + pinned, append(refs, shows...)
}

// answers reports whether a bookmark matches the query: by its label, or by the messages
// that were in view.
func (r *roomReader) answers(q bookmarkQuery, b *spaces.Bookmark, seat *RoomView, view []int) bool {
	switch {
	case q.room != "" && (seat == nil || seat.Short != q.room):
		return false
	case b.At.Before(q.since) || !q.before.IsZero() && !b.At.Before(q.before):
		return false
	case len(q.terms) == 0 || recall.Overlap(b.Label, q.terms) > 0:
		return true
	}
	return slices.ContainsFunc(view, func(i int) bool { return recall.Overlap(seat.Room.Chat.Messages[i].Text, q.terms) > 0 })
}

// inView returns the room in which a bookmark was set, and the lines that were in view
// and can still be shown, in order.
func (r *roomReader) inView(b *spaces.Bookmark) (*RoomView, []int) {
	seat := r.v.Seat(b.Space)
	if seat == nil {
		return nil, nil
	}
	var lines []int
	for _, id := range b.Events {
		if i := seat.Room.Chat.At(id); i >= 0 && !seat.Room.Chat.Messages[i].Deleted {
			lines = append(lines, i)
		}
	}
	slices.Sort(lines)
	return seat, slices.Compact(lines)
}

// pinned lists the pinned messages of the rooms that the query names, the newest of each.
func (r *roomReader) pinned(q bookmarkQuery) (text string, refs []spaces.EventID) {
	for i := range r.v.Seats {
		s := &r.v.Seats[i]
		if !s.Uplink.Live || q.room != "" && s.Short != q.room {
			continue
		}
		var lines []int
		for k, m := range slices.Backward(s.Room.Chat.Messages) {
			if m.Pinned && !m.Deleted && (len(q.terms) == 0 || recall.Overlap(m.Text, q.terms) > 0) && len(lines) < maxPinned {
				lines = append(lines, k)
			}
		}
		if len(lines) == 0 {
			continue
		}
		slices.Reverse(lines)
		block, shows := r.lines(s, lines)
		text, refs = text+"\n\nPINNED in "+block, append(refs, shows...)
	}
	return text, refs
}

// maxPinned is how many pinned messages of one room are listed.
const maxPinned = 20
