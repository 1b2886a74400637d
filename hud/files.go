package hud

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// The objects of a room that are no more than a look at it.
const (
	filesObject   spaces.ObjectID = "attachments"
	membersObject spaces.ObjectID = "members"
)

// maxFiles is how many messages with files a keyframe names of a room.
const maxFiles = 6

// filed returns the messages of the room that carry files, in order.
func (r *SharedRoom) filed() []int {
	return slices.DeleteFunc(slices.Clone(r.files), func(i int) bool { return r.Chat.Messages[i].Deleted })
}

// A fileList is the delegate of files: room by room how many there are, and those
// posted last, by which they can be opened or sent on.
type fileList struct {
	section
	refs [][]spaces.EventID // of each element, the newest last
}

func (b *keyframeBuilder) fileList() *fileList {
	l := &fileList{section: section{header: "FILES"}}
	for i := range b.v.Seats {
		s := &b.v.Seats[i]
		filed := s.Room.filed()
		filed = slices.DeleteFunc(filed, func(i int) bool { return s.Room.Chat.Messages[i].Seq <= s.Uplink.Fresh })
		if !s.Uplink.Live || len(filed) == 0 {
			continue
		}
		e := Element{Area: "files", What: s.Short, Value: valueFiles * b.v.focus(s), Why: "navigation"}
		for _, f := range []struct {
			name     FormName
			files    int
			fidelity float64
		}{{Full, maxFiles, 1}, {OneLine, 2, 0.6}, {CountOnly, 0, 0.3}} {
			if n := min(f.files, len(filed)); len(e.Forms) == 0 || len(filed) > f.files {
				e.Forms = append(e.Forms, b.form(f.name, filesLine(s, filed, n), f.fidelity))
			}
		}
		l.elements = append(l.elements, e)
		refs := make([]spaces.EventID, 0, maxFiles)
		for _, i := range filed[max(0, len(filed)-maxFiles):] {
			refs = append(refs, s.Room.Chat.Messages[i].ID)
		}
		l.refs = append(l.refs, refs)
	}
	return l
}

// Section renders the list with the messages whose files it names.
func (l *fileList) Section(chosen []ChosenElement) (string, []spaces.EventID) {
	text, _ := l.section.Section(chosen)
	var refs []spaces.EventID
	for i, c := range chosen {
		if c.Form != nil && c.Form.Name != CountOnly {
			refs = append(refs, l.refs[i]...)
		}
	}
	return text, refs
}

// filesLine returns `s1 9: #a7 Kai +file "pump.pdf" 69 KB, …` with the newest n of a
// room's files, the newest first.
func filesLine(s *RoomView, filed []int, n int) string {
	b := strconv.AppendInt(append([]byte(s.Short), ' '), int64(len(filed)), 10)
	for k := range n {
		m := &s.Room.Chat.Messages[filed[len(filed)-1-k]]
		if k == 0 {
			b = append(b, ": "...)
		} else {
			b = append(b, ", "...)
		}
		b = append(append(appendShort(b, m.Seq), ' '), s.Room.speakers.find(m.Sender).label...)
		for i := range m.Attachments {
			b = appendAttachment(b, &m.Attachments[i])
		}
	}
	return string(b)
}

// filesText lists the messages of the active room that carry files and hold the
// words of filter, each with its id.
func (r *roomReader) filesText(filter string) (string, []spaces.EventID) {
	s := r.v.Seat(r.v.Active)
	if s == nil {
		return noRoom, nil
	}
	q := recall.NewQuery(filter)
	terms := q.Terms()
	filed := slices.DeleteFunc(s.Room.filed(), func(i int) bool {
		return len(terms) > 0 && recall.Overlap(s.Room.fileWords(i), terms) == 0
	})
	if len(filed) == 0 {
		return "FILES: none", nil
	}
	text, refs := r.lines(s, filed[max(0, len(filed)-maxEntries):])
	return "FILES in " + text, refs
}

// fileWords returns the words by which a message with files is found.
func (r *SharedRoom) fileWords(i int) string {
	m := &r.Chat.Messages[i]
	words := []string{r.speakers.find(m.Sender).label, m.Text}
	for k := range m.Attachments {
		words = append(words, m.Attachments[k].Kind, m.Attachments[k].Name)
	}
	return strings.Join(words, " ")
}

// membersText lists who is in the active room and answers to the words of filter,
// and how much each has said.
func (r *roomReader) membersText(filter string) string {
	s := r.v.Seat(r.v.Active)
	if s == nil {
		return noRoom
	}
	said := map[spaces.EntityID]int{}
	for i := range s.Room.Chat.Messages {
		if m := &s.Room.Chat.Messages[i]; !m.Deleted && m.Notice == nil {
			said[m.Sender]++
		}
	}
	lines := make([]string, 0, len(s.Room.members))
	for _, m := range s.Room.members {
		line := string(s.Room.appendSpeaker([]byte("- "), m.ID, r.v.me()))
		lines = append(lines, line+", "+textformat.CountNoun(said[m.ID], "message"))
	}
	return listEntries("MEMBERS", lines, filter)
}

// infoText tells what the active room is: who is in it, its threads, its files.
func (r *roomReader) infoText() string {
	s := r.v.Seat(r.v.Active)
	if s == nil {
		return noRoom
	}
	b := appendCard(nil, r.v, s, membersShown)
	threads := slices.Sorted(maps.Keys(s.Room.Chat.Threads))
	for _, t := range threads[:min(len(threads), maxEntries)] {
		b = s.Room.appendThread(append(b, "\nTHREAD "...), t)
	}
	if filed := s.Room.filed(); len(filed) > 0 {
		b = append(append(b, "\nFILES "...), filesLine(s, filed, 0)...)
	}
	return string(b)
}

// noRoom is the answer to a lookup in the active room when there is none.
const noRoom = "No space is active."
