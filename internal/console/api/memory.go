package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// A MindRow is one mind of a list.
type MindRow struct {
	Mind   string  `json:"mind"`
	Cycles int64   `json:"cycles"`
	Tokens int     `json:"tokens_today"`
	Last   *RunRow `json:"last"` // null before the first
}

type mindsAnswer struct {
	Minds []MindRow `json:"minds"`
}

// A MemoryAPI reads minds with what they keep, and changes it.
type MemoryAPI struct{ backend }

func (api *MemoryAPI) serveMinds(r *http.Request) (mindsAnswer, error) {
	found, err := api.Store.Minds(r.Context(), time.Now())
	if err != nil {
		return mindsAnswer{}, err
	}
	a := mindsAnswer{Minds: []MindRow{}}
	for _, m := range found {
		a.Minds = append(a.Minds, MindRowOf(m))
	}
	return a, nil
}

// MindRowOf returns a mind as lists show it.
func MindRowOf(m console.Mind) MindRow {
	row := MindRow{Mind: m.Mind.String(), Cycles: m.Cycles, Tokens: m.Tokens}
	if m.Last != nil {
		row.Last = new(RowOf(*m.Last))
	}
	return row
}

// MindInPath returns the mind that a path names, or [ErrUnknown].
func MindInPath(r *http.Request) (spaces.Mind, error) {
	m, ok := spaces.ParseMind(r.PathValue("agent") + "/" + r.PathValue("circle"))
	if !ok {
		return m, console.ErrUnknown
	}
	return m, nil
}

// MemoryAnswer is what a mind has of its own: a page of its memories, newest
// first, and with the first page the rest.
type MemoryAnswer struct {
	Mind     string      `json:"mind"`
	Memories []memoryRow `json:"memories"`
	Next     string      `json:"next,omitempty"` // goes into before for older memories
	Goals    []goalRow   `json:"goals"`
	Plans    []planRow   `json:"plans"`   // timers too; the next first
	Notes    []noteRow   `json:"notes"`   // the newest
	Digests  []digestRow `json:"digests"` // the newest
}

// A memoryRow is one fact that a mind chose to keep.
type memoryRow struct {
	ID        string         `json:"id"`
	Fact      string         `json:"fact"`
	What      string         `json:"kind"`
	Space     spaces.SpaceID `json:"space,omitempty"`
	Run       spaces.CycleID `json:"run,omitempty"` // that kept it
	At        time.Time      `json:"at"`
	Corrected time.Time      `json:"corrected,omitzero"` // when a person last changed the fact
	Readers   []personRow    `json:"readers"`            // who may learn it
	Of        int            `json:"of"`                 // how many events it was made of
	Sources   []FoundRow     `json:"sources"`            // the newest of them
}

// A personRow is a person, with the name if it is known.
type personRow struct {
	ID   spaces.EntityID `json:"id"`
	Name string          `json:"name,omitempty"`
}

type goalRow struct {
	Text   string    `json:"text"`
	Status string    `json:"status"`
	At     time.Time `json:"at"`
}

type noteRow struct {
	Text  string    `json:"text"`
	Label string    `json:"label"`
	At    time.Time `json:"at"`
}

// A planRow is what a mind will do later.
type planRow struct {
	ID    string         `json:"id"`
	Note  string         `json:"note"`
	Cron  string         `json:"cron,omitempty"` // when it recurs
	Space spaces.SpaceID `json:"space,omitempty"`
	Run   spaces.CycleID `json:"run,omitempty"` // that set it
	Due   time.Time      `json:"due"`
	Look  *lookRow       `json:"look,omitempty"` // what is looked at before a model is called; nil: nothing
}

// A lookRow is what a reminder looks at before it calls a model, and what came of the last time.
type lookRow struct {
	First   string             `json:"first"`
	Outcome spaces.LookOutcome `json:"outcome,omitempty"`
	At      time.Time          `json:"at,omitzero"`
}

func newLookRow(l spaces.TimerLook) *lookRow {
	if !l.Wanted() {
		return nil
	}
	return &lookRow{l.String(), l.Outcome, l.At}
}

// A digestRow is what a model made of the accounts of old runs.
type digestRow struct {
	First   int64       `json:"first"` // numbers of the runs
	Last    int64       `json:"last"`
	Text    string      `json:"text"`
	Model   string      `json:"model"`
	At      time.Time   `json:"at"`
	Readers []personRow `json:"readers"`
	Of      int         `json:"of"`
	Sources []FoundRow  `json:"sources"`
}

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
	limit, err := console.QueryLimit(r)
	return memoryFilter{strings.TrimSpace(q.Get("words")), strings.TrimSpace(q.Get("reader")), q.Get("before"), limit}, err
}

// ReadMemory returns a page of what a mind remembers, newest first, and with the
// first page what else it has of its own.
func (api *MemoryAPI) ReadMemory(r *http.Request, m spaces.Mind) (MemoryAnswer, error) {
	f, err := memoryFilterOf(r)
	if err != nil {
		return MemoryAnswer{}, err
	}
	has, err := api.Store.Memory(r.Context(), m)
	if err != nil {
		return MemoryAnswer{}, err
	}
	people := nameLookup{api.Store, map[spaces.EntityID]spaces.Entity{}}
	a := MemoryAnswer{Mind: m.String(), Memories: []memoryRow{}, Goals: []goalRow{}, Notes: []noteRow{}, Plans: []planRow{}, Digests: []digestRow{}}
	if err := api.addMemories(r.Context(), &a, m, has.Self.Memories.All, f, people); err != nil {
		return a, err
	}
	if f.before != "" {
		return a, nil
	}
	for _, g := range slices.Backward(has.Self.Goals.All) {
		a.Goals = append(a.Goals, goalRow{g.Text, g.Status, g.At})
	}
	notes := has.Self.Notes.All
	for _, n := range slices.Backward(notes[max(0, len(notes)-console.DefaultLimit):]) {
		a.Notes = append(a.Notes, noteRow{n.Text, n.Label, n.At})
	}
	for _, t := range has.Plans {
		a.Plans = append(a.Plans, planRow{t.Name(), t.Note, t.Cron, t.Space, t.Cycle, t.Due, newLookRow(t.Look)})
	}
	return a, api.addSummaries(r.Context(), &a, m, has.Digests, people)
}

// addSummaries adds the newest digests, which come oldest first.
func (api *MemoryAPI) addSummaries(ctx context.Context, a *MemoryAnswer, m spaces.Mind, made []spaces.CycleSummary, people nameLookup) (err error) {
	for _, d := range slices.Backward(made[max(0, len(made)-console.DefaultLimit):]) {
		row := digestRow{First: d.First, Last: d.Last, Text: d.Text, Model: d.Model, At: d.At, Of: len(d.Sources)}
		if row.Sources, err = api.sourceRows(ctx, m, d.Sources, people); err == nil {
			row.Readers, err = people.all(ctx, d.Readers)
		}
		if err != nil {
			return err
		}
		a.Digests = append(a.Digests, row)
	}
	return nil
}

// addMemories adds a page of memories, which come oldest first.
func (api *MemoryAPI) addMemories(ctx context.Context, a *MemoryAnswer, m spaces.Mind, kept []spaces.Memory, f memoryFilter, people nameLookup) error {
	if i := slices.IndexFunc(kept, func(x spaces.Memory) bool { return x.ID == f.before }); i >= 0 {
		kept = kept[:i]
	}
	for _, x := range slices.Backward(kept) {
		if !hasAllWords(x.Fact, f.words) {
			continue
		}
		readers, err := people.all(ctx, x.Readers)
		if err != nil {
			return err
		}
		if f.reader != "" && !slices.ContainsFunc(readers, func(p personRow) bool {
			return string(p.ID) == f.reader || hasAllWords(p.Name, f.reader)
		}) {
			continue
		}
		if len(a.Memories) == f.limit {
			a.Next = a.Memories[f.limit-1].ID
			return nil
		}
		row := memoryRow{ID: x.ID, Fact: x.Fact, What: x.What, Space: x.Space, At: x.At, Readers: readers, Of: len(x.Sources), Corrected: x.Corrected}
		if row.Run, err = api.Store.Maker(ctx, m, x.Event); err == nil {
			row.Sources, err = api.sourceRows(ctx, m, x.Sources, people)
		}
		if err != nil {
			return err
		}
		a.Memories = append(a.Memories, row)
	}
	return nil
}

// hasAllWords reports whether text has all the words, in any case and order.
func hasAllWords(text, words string) bool {
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// sourceRows returns the newest events that something was made of, newest first.
func (api *MemoryAPI) sourceRows(ctx context.Context, m spaces.Mind, ids []spaces.EventID, people nameLookup) ([]FoundRow, error) {
	events, err := api.Store.Told(ctx, m, ids[max(0, len(ids)-maxSources):])
	if err != nil {
		return nil, err
	}
	rows := []FoundRow{}
	for _, e := range slices.Backward(events) {
		who, err := people.all(ctx, []spaces.EntityID{e.Actor})
		if err != nil {
			return nil, err
		}
		rows = append(rows, FoundRow{e.ID, e.Space, e.Seq, e.Actor, who[0].Name, e.At, console.DescribeEvent(e.Body)})
	}
	return rows, nil
}

// A nameLookup asks who a person is once.
type nameLookup struct {
	store console.Store
	known map[spaces.EntityID]spaces.Entity
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
		found, err := n.store.Names(ctx, unasked)
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

func (api *MemoryAPI) serveMemory(r *http.Request) (MemoryAnswer, error) {
	m, err := MindInPath(r)
	if err != nil {
		return MemoryAnswer{}, err
	}
	return api.ReadMemory(r, m)
}

// A MemoryEdit is the new fact of a memory.
type MemoryEdit struct {
	Fact string `json:"fact"`
}

// ChangeMemory has the mind that a path names forget something or, with a fact, have that in
// place of what it remembers.
func (api *MemoryAPI) ChangeMemory(r *http.Request, id string, correct *MemoryEdit) (m spaces.Mind, err error) {
	if m, err = MindInPath(r); err != nil {
		return m, err
	}
	var had bool
	if correct == nil {
		had, err = api.Process.Forget(r.Context(), m, id)
	} else {
		had, err = api.Process.Correct(r.Context(), m, id, correct.Fact)
	}
	if err == nil && !had {
		err = console.ErrUnknown
	}
	return m, err
}

func (api *MemoryAPI) serveForget(w http.ResponseWriter, r *http.Request) {
	api.writeMemoryChange(w, r, nil)
}

func (api *MemoryAPI) serveCorrect(w http.ResponseWriter, r *http.Request) {
	var fact MemoryEdit
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&fact); err != nil {
		console.WriteJSON(w, http.StatusBadRequest, console.ErrorAnswer{Error: "the request is no JSON of a correction", Do: `send {"fact": "…"}`})
		return
	}
	api.writeMemoryChange(w, r, &fact)
}

func (api *MemoryAPI) writeMemoryChange(w http.ResponseWriter, r *http.Request, correct *MemoryEdit) {
	_, err := api.ChangeMemory(r, r.URL.Query().Get("id"), correct)
	if no, ok := errors.AsType[console.UserError](err); ok {
		console.WriteJSON(w, http.StatusBadRequest, no.Refusal())
		return
	}
	if err != nil {
		api.respond.FailInternal(w, r, err)
		return
	}
	console.WriteJSON(w, http.StatusOK, console.Nothing{})
}
