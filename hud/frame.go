package hud

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// ErrTooLong is returned when even the least a frame may hold does not fit: the
// tail, what woke the agent and the newest turns.
var ErrTooLong = errors.New("frame does not fit the context")

// A FrameMessage is one message of a frame.
type FrameMessage struct {
	Role   spaces.TurnRole
	Text   string
	Calls  []spaces.TurnCall // on assistant messages
	CallID string            // on tool messages
}

// A Frame is one finished prompt. It shares its messages with the view: they may be read
// until the view changes.
type Frame struct {
	// Tokens are those of all messages and the tools, as far as they were counted:
	// when the plan is not exact, the number is an upper bound that already fits.
	Tokens int
	Plan   FramePlan

	made *frameBuilder
}

// Messages returns the messages. The caller must not change what they share with the view.
func (f Frame) Messages() []FrameMessage {
	return slices.AppendSeq(make([]FrameMessage, 0, f.Len()), f.All())
}

// Len returns how many messages there are.
func (f Frame) Len() int {
	n := 2 + len(f.made.current) // system and tail
	if f.made.hasKeyframe() {
		n++
	}
	for i := range f.made.closed {
		n += len(f.made.closed[i].Turns)
	}
	return n
}

// All yields the messages in order.
func (f Frame) All() iter.Seq[FrameMessage] {
	return func(yield func(FrameMessage) bool) {
		d := f.made
		if !yield(FrameMessage{Role: spaces.RoleSystem, Text: d.v.System}) {
			return
		}
		if d.hasKeyframe() && !yield(FrameMessage{Role: spaces.RoleUser, Text: d.keyframe.Text}) {
			return
		}
		for t := range d.turns() {
			if !yield(FrameMessage{Role: t.Role, Text: t.Text, Calls: t.Calls, CallID: t.CallID}) {
				return
			}
		}
		yield(FrameMessage{Role: spaces.RoleUser, Text: d.tail.String()})
	}
}

// Frame puts the next prompt together: system text, keyframe, the turns of the
// closed cycles and of the open one, and the tail as the last user message.
// Without its tail it is a prefix of the next frame until a cut. When it would
// not fit, parts are dropped from this one frame, see [frameBuilder.shed], and the plan
// lists them.
func (v *MindView) Frame(tail FrameTail) (Frame, error) {
	d := newFrameBuilder(v, tail)
	budget := v.Budget()
	d.measure()
	if d.tokens > budget {
		d.count(budget)
	}
	if d.tokens > budget {
		d.shed(budget)
	}
	if d.tokens > budget {
		return Frame{}, ErrTooLong
	}
	return Frame{Tokens: d.tokens + v.FixedTokens, Plan: d.plan(budget), made: d}, nil
}

// Refs returns the messages whose words the frame shows beside those of the view's
// keyframe and turns: in the tail, and in a keyframe that was rendered for it alone.
func (f Frame) Refs() []spaces.EventID {
	d := f.made
	if !d.hasKeyframe() || d.keyframe == d.v.Keyframe {
		return d.tail.Refs
	}
	return slices.Concat(d.tail.Refs, d.keyframe.Refs)
}

// A frameBuilder is a frame while it is being fitted.
type frameBuilder struct {
	v        *MindView
	keyframe *spaces.Keyframe
	closed   []spaces.ClosedCycle // may be copies, once something was shed
	current  []spaces.TranscriptTurn
	tail     FrameTail
	tailN    int
	tokens   int // without the fixed ones
	exact    bool
	gone     []PlanItem
}

func newFrameBuilder(v *MindView, tail FrameTail) *frameBuilder {
	return &frameBuilder{v: v, keyframe: v.Keyframe, closed: v.Closed, current: v.Current, tail: tail}
}

// measure adds up known counts and bounds.
func (d *frameBuilder) measure() {
	if d.hasKeyframe() {
		d.tokens = boundKeyframe(d.keyframe)
	}
	for t := range d.turns() {
		d.tokens += boundTurn(t)
	}
	d.tailN = messageOverhead + Bound(d.tail.Text) + Bound(d.tail.Recalled) + 1
	d.tokens += d.tailN
}

// count counts keyframe and turns, which keep their counts, and the tail, which is
// another each time, only where its bound does not fit the budget beside them.
func (d *frameBuilder) count(budget int) {
	d.tokens = d.tailN
	if k := d.keyframe; d.hasKeyframe() {
		if k.Tokens == 0 {
			k.Tokens = messageOverhead + d.v.Counter.Count(k.Text)
		}
		d.tokens += k.Tokens
	}
	for t := range d.turns() {
		d.tokens += d.v.Counter.Turn(t)
	}
	if d.tokens <= budget {
		return
	}
	bound := d.tailN
	d.tailN = messageOverhead + d.v.Counter.Count(d.tail.String())
	d.tokens -= bound - d.tailN
	d.exact = true
}

func (d *frameBuilder) hasKeyframe() bool { return d.keyframe != nil && d.keyframe.Text != "" }

func (d *frameBuilder) turns() iter.Seq[*spaces.TranscriptTurn] { return eachTurn(d.closed, d.current) }

// eachTurn yields the turns of closed cycles and of the open one.
func eachTurn(closed []spaces.ClosedCycle, current []spaces.TranscriptTurn) iter.Seq[*spaces.TranscriptTurn] {
	return func(yield func(*spaces.TranscriptTurn) bool) {
		for i := range closed {
			for k := range closed[i].Turns {
				if !yield(&closed[i].Turns[k]) {
					return
				}
			}
		}
		for k := range current {
			if !yield(&current[k]) {
				return
			}
		}
	}
}

// plan describes the frame by its parts.
func (d *frameBuilder) plan(budget int) FramePlan {
	p := FramePlan{Budget: budget, Tokens: d.tokens, Exact: d.exact, Fixed: d.v.FixedTokens, Shed: d.gone}
	if k := d.keyframe; d.hasKeyframe() {
		p.Items = append(p.Items, PlanItem{Area: "keyframe", What: "keyframe " + itoa(k.N), Form: Full, Tokens: boundKeyframe(k), Why: k.Cause})
	}
	sum := func(ts []spaces.TranscriptTurn) (n int) {
		for i := range ts {
			n += boundTurn(&ts[i])
		}
		return n
	}
	if n := len(d.closed); n > 0 {
		item := PlanItem{Area: "log", What: "cycles " + itoa(d.closed[0].N) + "–" + itoa(d.closed[n-1].N), Form: Full}
		for i := range d.closed {
			item.Tokens += sum(d.closed[i].Turns)
		}
		p.Items = append(p.Items, item)
	}
	if len(d.current) > 0 {
		p.Items = append(p.Items, PlanItem{Area: "log", What: "this cycle", Form: Full, Tokens: sum(d.current)})
	}
	tail := d.tailN
	if d.tail.Recalled != "" {
		n := min(Bound(d.tail.Recalled), tail)
		tail -= n
		p.Items = append(p.Items, PlanItem{Area: "recalled", What: recalledReason(d.v, d.tail.Refs), Form: Full, Tokens: n})
	}
	p.Items = append(p.Items, PlanItem{Area: "tail", Form: Full, Tokens: tail})
	return p
}

// MessageTokens returns the exact tokens of a message of that text, with what a
// provider adds around it.
func (c *TokenCounter) MessageTokens(text string) int { return messageOverhead + c.Count(text) }

// Exactly counts what a frame has, its fixed tokens included, and notes that in
// it and in its plan.
func (c *TokenCounter) Exactly(f *Frame) {
	n := f.Plan.Fixed
	for _, m := range f.Messages()[1:] {
		n += c.Turn(&spaces.TranscriptTurn{Role: m.Role, Text: m.Text, Calls: m.Calls, CallID: m.CallID})
	}
	f.Tokens = n
	f.Plan.Tokens, f.Plan.Exact = n-f.Plan.Fixed, true
}

// PlainTokens returns what the messages would take as bare lines: who, a colon, and
// the words.
func (v *MindView) PlainTokens(ms []*spaces.ChatMessage) int {
	n := 0
	for _, m := range ms {
		if s, _ := v.find(m.ID); s != nil {
			n += v.Counter.Count(s.Room.speakers.find(m.Sender).label + ": " + m.Text + "\n")
		}
	}
	return n
}

// heads match the rows of a frame that tell of no single message: what there is
// once in a frame or room, for any number of lines.
var heads = regexp.MustCompile(`^(YOUR SPACES|SPACE s\d|HISTORY s\d|INBOX \(|RECALLED \(|s\d+ "|… \d+ (of \d+ )?lines? (of|in) )`)

// HeadTokens returns what the headings of a frame's conversations take, and what a
// provider adds around their messages. The rest of their tokens are the lines', with
// dates, marks and gaps between them.
func (v *MindView) HeadTokens(f *Frame, tail FrameTail) int {
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

// ShownWhole returns the messages whose words are shown whole in a frame made with
// that tail, each once: in the keyframe, in turns, among the recalled lines. Of messages
// with the same words it returns the newest, as many as there are rows of them.
func (v *MindView) ShownWhole(f *Frame, tail FrameTail) []*spaces.ChatMessage {
	refs := slices.Clone(tail.Refs)
	v.eachRefs(func(ids []spaces.EventID) { refs = append(refs, ids...) })
	slices.Sort(refs)
	var all strings.Builder
	for _, m := range f.Messages()[1:] {
		all.WriteString(m.Text)
		all.WriteByte('\n')
	}
	text := all.String()
	alike := map[string][]*spaces.ChatMessage{} // by their words
	for _, id := range slices.Compact(refs) {
		if _, m := v.find(id); m != nil && !m.Deleted {
			alike[m.Text] = append(alike[m.Text], m)
		}
	}
	var whole []*spaces.ChatMessage
	for _, words := range slices.Sorted(maps.Keys(alike)) {
		ms := alike[words]
		rows := strings.Count(text, ": "+gutter(words)+"\n") + strings.Count(text, ": "+Quote(words))
		slices.SortFunc(ms, func(a, b *spaces.ChatMessage) int {
			return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Seq, a.Seq), cmp.Compare(a.ID, b.ID))
		})
		whole = append(whole, ms[:min(rows, len(ms))]...)
	}
	return whole
}
