package recall

// A priorityQueue is a binary heap; the item before all others is its first one.
// container/heap would call through an interface for each comparison and box each
// item pushed and popped, for hundreds of lines per search.
type priorityQueue[T any] struct {
	items  []T
	before func(a, b *T) bool
}

// init establishes the order of the heap after items were set.
func (h *priorityQueue[T]) init() {
	for i := len(h.items)/2 - 1; i >= 0; i-- {
		h.siftDown(i)
	}
}

// push adds an item.
func (h *priorityQueue[T]) push(item T) {
	h.items = append(h.items, item)
	for i := len(h.items) - 1; i > 0; {
		above := (i - 1) / 2
		if !h.before(&h.items[i], &h.items[above]) {
			return
		}
		h.items[i], h.items[above] = h.items[above], h.items[i]
		i = above
	}
}

// pop removes and returns the first item.
func (h *priorityQueue[T]) pop() T {
	top, last := h.items[0], len(h.items)-1
	h.items[0] = h.items[last]
	h.items = h.items[:last]
	h.siftDown(0)
	return top
}

// siftDown restores the order after item i was changed to come later.
func (h *priorityQueue[T]) siftDown(i int) {
	for {
		first := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(h.items); k++ {
			if h.before(&h.items[k], &h.items[first]) {
				first = k
			}
		}
		if first == i {
			return
		}
		h.items[i], h.items[first] = h.items[first], h.items[i]
		i = first
	}
}
