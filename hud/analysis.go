package hud

import (
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

// A CompactionAnalysis describes the candidate lines of one room in a compaction, before any
// was chosen.
type CompactionAnalysis struct {
	Space string `json:"space"` // short, "s1"
	Lines int    `json:"lines"`
	// From and To are the times of the first and the last of them.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Talks are the conversations among them, and Density how many lines one has.
	Talks   int     `json:"talks"`
	Density float64 `json:"density"`
	// Edges are the relations between the lines, in order of the lines they start from;
	// the last maxEdges of them.
	Edges []LineEdge `json:"edges,omitempty"`
	// Important are the lines that matter for any query: pinned ones, and those that
	// mention the agent or answer it. Short ids, oldest first.
	Important []string `json:"important,omitempty"`
}

// maxEdges is the most edges of a room that a plan holds.
const maxEdges = 200

// A LineEdge joins a line to an earlier one.
type LineEdge struct {
	From string       `json:"from"` // short id
	To   string       `json:"to"`
	Is   LineRelation `json:"is"`
}

// A LineRelation is the way in which a line refers to an earlier one.
type LineRelation string

// The relations of lines.
const (
	RepliesTo  LineRelation = "reply_to"
	SameThread LineRelation = "same_thread" // the line before it there
	Addresses  LineRelation = "mentions"    // the last line of the person it mentions
)

// analyse describes the lines of the history's elements.
func (h *history) analyse() CompactionAnalysis {
	r := h.seat.Room
	ms := r.Chat.Messages
	lines := make([]int, 0, len(h.picked))
	for i := range h.elements {
		lines = append(lines, h.elements[i].lines...)
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	a := CompactionAnalysis{Space: h.seat.Short, Lines: len(lines)}
	if len(lines) == 0 {
		return a
	}
	a.From, a.To = ms[lines[0]].At, ms[lines[len(lines)-1]].At
	thread, speaker := map[spaces.ThreadID]int{}, map[spaces.EntityID]int{} // the last line of each
	for n, i := range lines {
		m := &ms[i]
		if n == 0 || m.At.Sub(ms[lines[n-1]].At) >= recall.ConversationGap {
			a.Talks++
		}
		if m.Pinned || h.v.addressed(r, m) {
			a.Important = append(a.Important, ShortID(m.Seq))
		}
		edge := func(to int, is LineRelation) {
			a.Edges = append(a.Edges, LineEdge{ShortID(m.Seq), ShortID(ms[to].Seq), is})
		}
		if to := r.Chat.At(m.ReplyTo); m.ReplyTo != "" && to >= 0 {
			edge(to, RepliesTo)
		}
		if to, ok := thread[m.Thread]; ok && m.Thread != "" {
			edge(to, SameThread)
		}
		for _, who := range m.Mentions {
			if to, ok := speaker[who]; ok {
				edge(to, Addresses)
			}
		}
		thread[m.Thread], speaker[m.Sender] = i, i
	}
	a.Edges = a.Edges[max(0, len(a.Edges)-maxEdges):]
	a.Density = roundScore(float64(a.Lines) / float64(a.Talks))
	return a
}
