package shell

import (
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/latch"
	"github.com/trestle-bridge/trestle/spaces"
)

// minds holds the minds in use, and forgets those used longest ago.
type minds struct {
	shell *Shell
	limit int
	mu    sync.Mutex // guards all
	all   map[spaces.Mind]*mind
}

func newMinds(s *Shell, limit int) *minds {
	return &minds{shell: s, limit: limit, all: map[spaces.Mind]*mind{}}
}

// get returns the mind, unloaded if it was not in memory.
func (ms *minds) get(id spaces.Mind) *mind {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	m, ok := ms.all[id]
	if !ok {
		ms.evict()
		m = &mind{id: id, shell: ms.shell, loading: latch.New(), open: map[spaces.CycleID]spaces.SpaceID{}, gone: map[spaces.CycleID][]deletedWords{}}
		ms.all[id] = m
	}
	m.lastUse = time.Now()
	return m
}

// evict makes room for one more mind: it drops the one that rested longest of
// all, and of those that are quickly read again, when there are too many. ms.mu
// is held.
func (ms *minds) evict() {
	var oldest, quickest *mind
	quick := 0
	for _, m := range ms.all {
		m.mu.Lock()
		busy, fast := len(m.open) > 0, m.quick()
		m.mu.Unlock()
		if fast {
			quick++
		}
		if busy {
			continue
		}
		if oldest == nil || m.lastUse.Before(oldest.lastUse) {
			oldest = m
		}
		if fast && (quickest == nil || m.lastUse.Before(quickest.lastUse)) {
			quickest = m
		}
	}
	switch {
	case quick >= max(1, ms.limit/quickShare) && quickest != nil:
		delete(ms.all, quickest.id)
	case len(ms.all) >= ms.limit && oldest != nil:
		delete(ms.all, oldest.id)
	}
}

// quickShare is which part of the minds in memory may be quickly read again: a
// mind whose rooms have one page of events costs less to read than to keep.
const quickShare = 4

// quick reports whether the mind is quickly read again. m.mu is held.
func (m *mind) quick() bool {
	events := int64(0)
	for i := range m.seats {
		events += m.seats[i].Room.Upto()
	}
	return events <= page
}
