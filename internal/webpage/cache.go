package webpage

import (
	"container/list"
	"sync"
	"time"
)

// A boundedCache keeps values for a time, and drops those that were not asked for
// longest when all together are too large. It is safe for concurrent use.
type boundedCache[V any] struct {
	mu      sync.Mutex
	most    int // size of all entries together
	keep    time.Duration
	now     func() time.Time
	size    int
	order   *list.List // of *cacheEntry[V], the last used in front
	entries map[string]*list.Element
}

type cacheEntry[V any] struct {
	key   string
	value V
	size  int
	until time.Time
}

func newBoundedCache[V any](most int, keep time.Duration, now func() time.Time) *boundedCache[V] {
	return &boundedCache[V]{most: most, keep: keep, now: now, order: list.New(), entries: map[string]*list.Element{}}
}

// get returns the value of a key while it is kept.
func (c *boundedCache[V]) get(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var none V
	at, ok := c.entries[key]
	if !ok {
		return none, false
	}
	e := at.Value.(*cacheEntry[V])
	if !c.now().Before(e.until) {
		c.drop(at)
		return none, false
	}
	c.order.MoveToFront(at)
	return e.value, true
}

// put keeps a value of a size. One that is larger than all may be is not kept.
func (c *boundedCache[V]) put(key string, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.entries[key]; ok {
		c.drop(at)
	}
	size += len(key) + 200 // of the entry itself
	if size > c.most {
		return
	}
	c.entries[key] = c.order.PushFront(&cacheEntry[V]{key, value, size, c.now().Add(c.keep)})
	for c.size += size; c.size > c.most; {
		c.drop(c.order.Back())
	}
}

func (c *boundedCache[V]) drop(at *list.Element) {
	e := c.order.Remove(at).(*cacheEntry[V])
	delete(c.entries, e.key)
	c.size -= e.size
}
