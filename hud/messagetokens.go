package hud

import (
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// MessageTokens returns the exact tokens of a message of that text, with what a
// provider adds around it.
func (c *Counter) MessageTokens(text string) int { return messageOverhead + c.Count(text) }

// Exactly counts what a frame has, its fixed tokens included, and notes that in
// it and in its plan.
func (c *Counter) Exactly(f *Frame) {
	n := f.Plan.Fixed
	for _, m := range f.Messages()[1:] {
		n += c.Turn(&spaces.TranscriptTurn{Role: m.Role, Text: m.Text, Calls: m.Calls, CallID: m.CallID})
	}
	f.Tokens = n
	f.Plan.Tokens, f.Plan.Exact = n-f.Plan.Fixed, true
}

// PlainTokens returns what the messages would take as bare lines: who, a colon, and
// the words.
func (v *View) PlainTokens(ms []*spaces.Message) int {
	n := 0
	for _, m := range ms {
		if s, _ := v.find(m.ID); s != nil {
			n += v.Counter.Count(s.Room.cast.who(m.Sender).label + ": " + m.Text + "\n")
		}
	}
	return n
}

// heads match the rows of a frame that tell of no single message: what there is
// once a frame or a room, however many lines stand below.
var heads = regexp.MustCompile(`^(YOUR SPACES|SPACE s\d|HISTORY s\d|INBOX \(|RECALLED \(|s\d+ ")`)

// HeadTokens returns what the headings of a frame's conversations take, and what a
// provider adds around their messages. The rest of their tokens are the lines', with
// dates, marks and gaps between them.
func (v *View) HeadTokens(f *Frame, tail FrameTail) int {
	n := 0
	for _, m := range f.Messages()[1:] {
		n += messageOverhead
		for row := range strings.Lines(strings.TrimSuffix(m.Text, tail.Text)) {
			if heads.MatchString(row) {
				n += v.Counter.Count(row)
			}
		}
	}
	return n
}

// ShownWhole returns the messages whose words stand whole in a frame made with
// that tail, each once: in the keyframe, in turns, among the recalled lines.
func (v *View) ShownWhole(f *Frame, tail FrameTail) []*spaces.Message {
	refs := slices.Clone(tail.Refs)
	v.eachRefs(func(ids []spaces.EventID) { refs = append(refs, ids...) })
	slices.Sort(refs)
	var all strings.Builder
	for _, m := range f.Messages()[1:] {
		all.WriteString(m.Text)
		all.WriteByte('\n')
	}
	text := all.String()
	var whole []*spaces.Message
	for _, id := range slices.Compact(refs) {
		_, m := v.find(id)
		if m == nil || m.Deleted {
			continue
		}
		quoted := Quote(m.Text)
		if strings.Contains(text, ": "+gutter(m.Text)+"\n") || strings.Contains(text, ": "+quoted) {
			whole = append(whole, m)
		}
	}
	return whole
}
