package console

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// maxSources is how many of the events that something was made of are told.
const maxSources = 5

// A memoryFilter chooses of what a mind remembers.
type memoryFilter struct {
	words  string // all of which must be in the fact, in any case
	reader string // only what this one may learn: an id, or a part of the name
	before string // only older ones than this memory
	limit  int
}

func memoryFilterOf(r *http.Request) (memoryFilter, error) {
	q := r.URL.Query()
	limit, err := limitOf(r)
	return memoryFilter{strings.TrimSpace(q.Get("words")), strings.TrimSpace(q.Get("reader")), q.Get("before"), limit}, err
}

// mindOf returns the mind that a path names, or [ErrUnknown].
func mindOf(r *http.Request) (spaces.Mind, error) {
	m, ok := spaces.ParseMind(r.PathValue("agent") + "/" + r.PathValue("circle"))
	if !ok {
		return m, ErrUnknown
	}
	return m, nil
}

// memory returns a page of what a mind remembers, newest first, and with the
// first page what else it has of its own.
func (c *Console) memory(r *http.Request, m spaces.Mind) (MemoryAnswer, error) {
	f, err := memoryFilterOf(r)
	if err != nil {
		return MemoryAnswer{}, err
	}
	has, err := c.Record.Memory(r.Context(), m)
	if err != nil {
		return MemoryAnswer{}, err
	}
	people := nameLookup{c.Record, map[spaces.EntityID]spaces.Entity{}}
	a := MemoryAnswer{Mind: m.String(), Memories: []memoryRow{}, Goals: []goalRow{}, Notes: []noteRow{}, Plans: []planRow{}, Digests: []digestRow{}}
	if err := a.remember(r.Context(), c, m, has.Self.Memories.All, f, people); err != nil {
		return a, err
	}
	if f.before != "" {
		return a, nil
	}
	for _, g := range slices.Backward(has.Self.Goals.All) {
		a.Goals = append(a.Goals, goalRow{g.Text, g.Status, g.At})
	}
	notes := has.Self.Notes.All
	for _, n := range slices.Backward(notes[max(0, len(notes)-pageSize):]) {
		a.Notes = append(a.Notes, noteRow{n.Text, n.Label, n.At})
	}
	for _, t := range has.Plans {
		a.Plans = append(a.Plans, planRow{t.Name(), t.Note, t.Cron, t.Space, t.Cycle, t.Due})
	}
	return a, a.condense(r.Context(), c, m, has.Digests, people)
}

// condense adds the newest digests, which come oldest first.
func (a *MemoryAnswer) condense(ctx context.Context, c *Console, m spaces.Mind, made []spaces.CycleSummary, people nameLookup) (err error) {
	for _, d := range slices.Backward(made[max(0, len(made)-pageSize):]) {
		row := digestRow{First: d.First, Last: d.Last, Text: d.Text, Model: d.Model, At: d.At, Of: len(d.Sources)}
		if row.Sources, err = c.sources(ctx, m, d.Sources, people); err == nil {
			row.Readers, err = people.all(ctx, d.Readers)
		}
		if err != nil {
			return err
		}
		a.Digests = append(a.Digests, row)
	}
	return nil
}

// remember adds a page of memories, which come oldest first.
func (a *MemoryAnswer) remember(ctx context.Context, c *Console, m spaces.Mind, kept []spaces.Memory, f memoryFilter, people nameLookup) error {
	if i := slices.IndexFunc(kept, func(x spaces.Memory) bool { return x.ID == f.before }); i >= 0 {
		kept = kept[:i]
	}
	for _, x := range slices.Backward(kept) {
		if !says(x.Fact, f.words) {
			continue
		}
		readers, err := people.all(ctx, x.Readers)
		if err != nil {
			return err
		}
		if f.reader != "" && !slices.ContainsFunc(readers, func(p personRow) bool {
			return string(p.ID) == f.reader || says(p.Name, f.reader)
		}) {
			continue
		}
		if len(a.Memories) == f.limit {
			a.Next = a.Memories[f.limit-1].ID
			return nil
		}
		row := memoryRow{ID: x.ID, Fact: x.Fact, What: x.What, Space: x.Space, At: x.At, Readers: readers, Of: len(x.Sources), Corrected: x.Corrected}
		if row.Run, err = c.Record.Maker(ctx, m, x.Event); err == nil {
			row.Sources, err = c.sources(ctx, m, x.Sources, people)
		}
		if err != nil {
			return err
		}
		a.Memories = append(a.Memories, row)
	}
	return nil
}

// says reports whether text has all the words, in any case and order.
func says(text, words string) bool {
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// sources returns the newest events that something was made of, newest first.
func (c *Console) sources(ctx context.Context, m spaces.Mind, ids []spaces.EventID, people nameLookup) ([]FoundRow, error) {
	events, err := c.Record.Told(ctx, m, ids[max(0, len(ids)-maxSources):])
	if err != nil {
		return nil, err
	}
	rows := []FoundRow{}
	for _, e := range slices.Backward(events) {
		who, err := people.all(ctx, []spaces.EntityID{e.Actor})
		if err != nil {
			return nil, err
		}
		rows = append(rows, FoundRow{e.ID, e.Space, e.Seq, e.Actor, who[0].Name, e.At, tellingOf(e.Body)})
	}
	return rows, nil
}

// A nameLookup asks who a person is once.
type nameLookup struct {
	record Store
	known  map[spaces.EntityID]spaces.Entity
}

// all returns who the ids are, in their order.
func (n nameLookup) all(ctx context.Context, ids []spaces.EntityID) ([]personRow, error) {
	var unasked []spaces.EntityID
	for _, id := range ids {
		if _, asked := n.known[id]; !asked {
			unasked = append(unasked, id)
		}
	}
	if len(unasked) > 0 {
		found, err := n.record.Names(ctx, unasked)
		if err != nil {
			return nil, err
		}
		for _, id := range unasked {
			n.known[id] = found[id]
		}
	}
	rows := []personRow{}
	for _, id := range ids {
		rows = append(rows, personRow{id, n.known[id].Name})
	}
	return rows, nil
}

func (c *Console) apiMemory(r *http.Request) (MemoryAnswer, error) {
	m, err := mindOf(r)
	if err != nil {
		return MemoryAnswer{}, err
	}
	return c.memory(r, m)
}

type memoryPage struct {
	pageLayout
	Minds  []mindRow // to choose from; with one that is chosen none
	More   string    // the address of those that ran before these
	Memory MemoryAnswer
	Words  string
	Reader string
	Later  bool // not the newest page
	Older  string
}

func (c *Console) pageMemories(r *http.Request) (view, error) {
	minds, more, err := c.latestMinds(r, rowsOfPage)
	return &memoryPage{pageLayout: pageLayout{Title: "Memory", Terminal: "trestle status --all"}, Minds: minds, More: more}, err
}

func (c *Console) pageMemory(r *http.Request) (view, error) {
	m, err := mindOf(r)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	p := &memoryPage{
		pageLayout: pageLayout{Title: "Memory of " + m.String(), Terminal: "trestle memory " + m.String() + flags(q.Get, "words", "reader")},
		Words:      q.Get("words"), Reader: q.Get("reader"), Later: q.Get("before") != "",
	}
	if p.Memory, err = c.memory(r, m); p.Memory.Next != "" {
		p.Older = merged(r, map[string]string{"before": p.Memory.Next})
	}
	return p, err
}
