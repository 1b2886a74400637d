package activity

import (
	"slices"
	"sync"

	"github.com/trestle-bridge/trestle/spaces"
)

// inflightSends are the actions that an egress carries. Some it claims from the outbox;
// others are handed to it by the commit that decides them, which stores them as
// being sent at once and saves the commit of a claim. Of these the egress knows
// before they are stored, so that it never takes one for left behind.
type inflightSends struct {
	mu      sync.Mutex          // guards what follows
	begin   func(spaces.Action) // carries an action that is held; nil before Run and after it
	held    []spaces.ActionID
	mislaid bool // an action may be stored as being sent that no slot holds

	busy sync.WaitGroup
}

// Reserve asks whether the egress would carry an action at once: it runs, it sends,
// it has a free hand. If so the hand is kept for the action until it is given
// by [Egress.Take], or by [Egress.Withdraw] is not.
func (e *Egress) Reserve(id spaces.ActionID) bool {
	h := &e.inflight
	h.mu.Lock()
	defer h.mu.Unlock()
	free := h.begin != nil && len(h.held) < e.o.MaxInFlight && e.Paused() == ""
	if free {
		h.held = append(h.held, id)
	}
	return free
}

// SendReserved carries an action that was offered and is committed as being sent, in
// place of a claim. It never blocks. What an egress that has ended is given stays
// as the record has it, and it reports false: [Outbox.Recover] puts the action
// back at the next start.
func (e *Egress) SendReserved(a spaces.Action) bool {
	h := &e.inflight
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.begin == nil {
		return false
	}
	h.begin(a)
	return true
}

// Release takes an offer back. If its commit may have happened all the same, for
// want of an answer, what it stored is looked for and put back.
func (e *Egress) Release(id spaces.ActionID, perhaps bool) {
	e.inflight.drop(id)
	if !perhaps {
		return
	}
	e.inflight.mu.Lock()
	e.inflight.mislaid = true
	e.inflight.mu.Unlock()
	e.Ring()
}

// open says how actions are carried, or with nil that none are any more.
func (h *inflightSends) open(begin func(spaces.Action)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin = begin
}

func (h *inflightSends) hold(actions []spaces.Action) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range actions {
		h.held = append(h.held, a.ID)
	}
}

func (h *inflightSends) drop(id spaces.ActionID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.Index(h.held, id); i >= 0 {
		h.held = slices.Delete(h.held, i, i+1)
	}
}

func (h *inflightSends) all() []spaces.ActionID {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.held)
}

// missing reports, once, whether something was mislaid.
func (h *inflightSends) missing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	missing := h.mislaid
	h.mislaid = false
	return missing
}
