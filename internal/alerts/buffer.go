package alerts

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A MemoryBuffer holds in memory what a store of problems cannot take, until it can:
// a full disk is a problem that cannot be written down. Its zero value holds
// nothing. Calls may overlap, but for [Store.Keep] of what [MemoryBuffer.Over] returns.
type MemoryBuffer struct {
	mu   sync.Mutex // guards what is below
	held []Alert
	why  error
}

// Held returns what the store could not take, and why; nothing and nil when it
// has taken everything.
func (r *MemoryBuffer) Held() ([]Alert, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.held), r.why
}

// Over returns s with what r holds laid over it.
func (r *MemoryBuffer) Over(s Store) Store { return reserved{s, r} }

type reserved struct {
	Store
	r *MemoryBuffer
}

// Problems implements [Store].
func (s reserved) Problems(ctx context.Context, since time.Time) ([]Alert, error) {
	rows, err := s.Store.Problems(ctx, since)
	if err != nil {
		return nil, err
	}
	held, _ := s.r.Held()
	return Overlay(rows, held, since), nil
}

// Keep implements [Store]: with changed it writes what is held. What cannot be
// written is held, and the error says why.
func (s reserved) Keep(ctx context.Context, changed []Alert) error {
	held, _ := s.r.Held()
	for _, c := range changed {
		if i := slices.IndexFunc(held, c.same); i >= 0 {
			held[i] = c
		} else {
			held = append(held, c)
		}
	}
	err := s.Store.Keep(ctx, held)
	if err == nil {
		held = nil
	}
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.r.held, s.r.why = held, err
	return err
}

// Ack implements [Store]. What has no number yet cannot be made quiet.
func (s reserved) Ack(ctx context.Context, id AlertID, until time.Time) error {
	if _, why := s.r.Held(); id == 0 && why != nil {
		return fmt.Errorf("not in the record yet: %w", why)
	}
	return s.Store.Ack(ctx, id, until)
}

// same reports whether p and q are one problem, whatever became of it between.
func (p Alert) same(q Alert) bool {
	return p.ID == q.ID && (p.ID != 0 || p.Code == q.Code && p.Subject == q.Subject && p.Opened.Equal(q.Opened))
}

// Overlay returns rows of a store, read since a moment, as they are with what it
// could not take.
func Overlay(rows, held []Alert, since time.Time) []Alert {
	rows = slices.Clone(rows)
	for _, h := range held {
		known := slices.IndexFunc(rows, func(p Alert) bool {
			return h.same(p) || h.ID == 0 && h.Closed.IsZero() && p.Closed.IsZero() && p.Code == h.Code && p.Subject == h.Subject
		})
		switch {
		case known >= 0 && h.ID != 0:
			h.Acked = rows[known].Acked
			rows[known] = h
		case known < 0 && (h.Closed.IsZero() || h.Closed.After(since)):
			rows = append(rows, h)
		}
	}
	return slices.DeleteFunc(rows, func(p Alert) bool { return !p.Closed.IsZero() && !p.Closed.After(since) })
}
