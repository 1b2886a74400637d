package spaces

import (
	"slices"
	"time"
)

// OnboardingState is how far a room's set-up has come.
type OnboardingState string

// The states of a set-up.
const (
	SetUpOffered  OnboardingState = "offered"  // the agent was told that the room is new; says nothing where there is a state
	SetUpOpened   OnboardingState = "opened"   // a person asked for it
	SetUpHeard    OnboardingState = "heard"    // no state of its own: a person went on with it
	SetUpProposed OnboardingState = "proposed" // a plan was proposed in the room and is not approved
	SetUpDone     OnboardingState = "done"     // a plan was approved and put into effect
	SetUpDropped  OnboardingState = "dropped"  // a person declined
)

// OnboardingNote is the part of a note that says how far a room's set-up has come.
type OnboardingNote struct {
	Space SpaceID         `json:"space"`
	State OnboardingState `json:"state"`
	Seen  int64           `json:"seen,omitempty"` // seq of the newest event of the room that it follows from
	// Message is the one that has the proposal, and Plan what was proposed.
	Message EventID         `json:"message,omitempty"`
	Plan    *OnboardingPlan `json:"plan,omitempty"`
	// Sources are what people said that led to it; of a proposal all that did.
	Sources []EventID  `json:"sources,omitempty"`
	Readers []EntityID `json:"readers,omitempty"` // who may learn it
}

// An OnboardingPlan is the proposal for a room. None of it is applied before a person
// approves it.
type OnboardingPlan struct {
	Purpose string               `json:"purpose"`
	Facts   []string             `json:"facts,omitempty"`
	Plans   []PlannedTimer       `json:"plans,omitempty"`
	Wishes  []OnboardingQuestion `json:"wishes,omitempty"`
}

// PlannedTimer is one plan of a proposal: when, by a cron line or as a time, and what for.
type PlannedTimer struct {
	Cron string `json:"cron,omitempty"`
	At   string `json:"at,omitempty"`
	Note string `json:"note"`
}

// An OnboardingQuestion is a question of a proposal to the operator: a key of the configuration,
// and what it should be.
type OnboardingQuestion struct {
	Key  string `json:"key"`
	Want string `json:"want"`
}

// Words returns every text of the plan; a nil plan has none.
func (p *OnboardingPlan) Words() []string {
	if p == nil {
		return nil
	}
	words := append([]string{p.Purpose}, p.Facts...)
	for _, x := range p.Plans {
		words = append(words, x.Note)
	}
	for _, x := range p.Wishes {
		words = append(words, x.Want)
	}
	return words
}

// Reworded returns a plan with every text of p changed; p stays as it is.
func (p *OnboardingPlan) Reworded(change func(string) string) *OnboardingPlan {
	if p == nil {
		return nil
	}
	q := OnboardingPlan{Purpose: change(p.Purpose), Facts: slices.Clone(p.Facts), Plans: slices.Clone(p.Plans), Wishes: slices.Clone(p.Wishes)}
	for i := range q.Facts {
		q.Facts[i] = change(q.Facts[i])
	}
	for i := range q.Plans {
		q.Plans[i].Note = change(q.Plans[i].Note)
	}
	for i := range q.Wishes {
		q.Wishes[i].Want = change(q.Wishes[i].Want)
	}
	return &q
}

// Without returns s as it may be shown when messages were deleted: without its plan
// when one of them led to it, else without their words.
func (s OnboardingNote) Without(gone func(EventID) bool, words func(string) string) OnboardingNote {
	if slices.ContainsFunc(s.Sources, gone) {
		s.Message, s.Plan = "", nil
		return s
	}
	s.Plan = s.Plan.Reworded(words)
	return s
}

// OnboardingStates is the object that holds how far the set-up of each room has come, in the
// order in which the rooms were first told of.
type OnboardingStates struct{ All []RoomOnboarding }

// A RoomOnboarding is the current state of the onboarding of one room. A proposal without
// a plan counts as opened.
type RoomOnboarding struct {
	OnboardingNote
	At     time.Time        // of its state
	Heard  []EventID        // what people said since it was opened
	Former []OnboardingNote // withdrawn proposals, so that their words can be erased
}

// In returns the set-up of a room; one without a state when there is none.
func (s *OnboardingStates) In(space SpaceID) RoomOnboarding {
	for _, x := range s.All {
		if x.Space == space {
			return x
		}
	}
	return RoomOnboarding{}
}

// Apply folds one inner event.
func (s *OnboardingStates) Apply(e Event) {
	b, ok := e.Body.(NoteAdded)
	if !ok || b.SetUp == nil {
		return
	}
	i := slices.IndexFunc(s.All, func(x RoomOnboarding) bool { return x.Space == b.SetUp.Space })
	if i < 0 {
		s.All = append(s.All, RoomOnboarding{}.Then(*b.SetUp, e.At))
		return
	}
	s.All[i] = s.All[i].Then(*b.SetUp, e.At)
}

// Then returns the set-up after one more note of it.
func (r RoomOnboarding) Then(next OnboardingNote, at time.Time) RoomOnboarding {
	switch next.State {
	case SetUpHeard:
		r.Space, r.Seen, r.Readers = next.Space, max(r.Seen, next.Seen), both(r.Readers, next.Readers)
		r.Heard = union(r.Heard, next.Sources)
		return r
	case SetUpOpened:
		opened := RoomOnboarding{OnboardingNote: next, At: at, Heard: next.Sources, Former: r.Former}
		opened.Sources, opened.Plan = nil, nil
		if r.Plan != nil { // no decision yet
			opened.Plan, opened.Sources, opened.Readers = r.Plan, r.Sources, both(r.Readers, next.Readers)
		}
		return opened
	case SetUpProposed:
		proposed := RoomOnboarding{OnboardingNote: next, At: at, Heard: r.Heard, Former: r.proposals()}
		if next.Plan == nil {
			proposed.State = SetUpOpened
		}
		return proposed
	case SetUpOffered:
		if r.State != "" {
			return r
		}
	case SetUpDone, SetUpDropped:
	}
	return RoomOnboarding{OnboardingNote: next, At: at, Former: r.proposals()}
}

// proposals returns every plan that was proposed, oldest first.
func (r RoomOnboarding) proposals() []OnboardingNote {
	if r.Plan == nil {
		return r.Former
	}
	return append(slices.Clip(r.Former), OnboardingNote{Space: r.Space, State: SetUpProposed, Plan: r.Plan, Sources: r.Sources})
}

// Words returns every text of the plans that a message led to, whether they stand or
// not.
func (r RoomOnboarding) Words(led func(EventID) bool) []string {
	var words []string
	for _, p := range r.proposals() {
		if slices.ContainsFunc(p.Sources, led) {
			words = append(words, p.Plan.Words()...)
		}
	}
	return words
}

// From returns all that people said that a proposal made now follows from.
func (r RoomOnboarding) From(now []EventID) []EventID { return union(union(r.Sources, r.Heard), now) }

// Common returns who of them may learn what led to it.
func (r RoomOnboarding) Common(readers []EntityID) []EntityID { return both(r.Readers, readers) }

// Without is [OnboardingNote.Without] for what a fold has come to.
func (r RoomOnboarding) Without(gone func(EventID) bool, words func(string) string) RoomOnboarding {
	had := r.Plan != nil
	if r.OnboardingNote = r.OnboardingNote.Without(gone, words); had && r.Plan == nil && r.State == SetUpProposed {
		r.State = SetUpOpened
	}
	var former []OnboardingNote
	for _, p := range r.Former {
		if p = p.Without(gone, words); p.Plan != nil {
			former = append(former, p)
		}
	}
	r.Former = former
	return r
}

// union returns what is in a, then what is only in b. Neither is changed.
func union(a, b []EventID) []EventID {
	all := slices.Clone(a)
	for _, id := range b {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// both returns who is in a and in b; where one of them is not told, the other.
func both(a, b []EntityID) []EntityID {
	if len(a) == 0 || len(b) == 0 {
		return append(slices.Clone(a), b...)
	}
	return slices.DeleteFunc(slices.Clone(a), func(who EntityID) bool { return !slices.Contains(b, who) })
}
