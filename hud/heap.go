package hud

// A priorityQueue keeps the item that comes before all others at the top: its first one. That
// of the standard library calls through an interface for each comparison, and boxes
// what is pushed and popped, for hundreds of lines a message.
type priorityQueue[T any] struct {
	items  []T
	before func(a, b *T) bool
}

// init brings items that were put into the heap as they came into its order.
func (h *priorityQueue[T]) init() {
	for i := len(h.items)/2 - 1; i >= 0; i-- {
		h.settle(i)
	}
}

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

// pop takes out the top.
func (h *priorityQueue[T]) pop() T {
	top, last := h.items[0], len(h.items)-1
	h.items[0] = h.items[last]
	h.items = h.items[:last]
	h.settle(0)
	return top
}

// settle puts item i where it belongs, once it comes later than it did.
func (h *priorityQueue[T]) settle(i int) {
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
