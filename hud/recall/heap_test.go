package recall

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A heap gives the items back in order, whatever came first.
func TestAHeapGivesBackInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 40).Draw(rt, "items")
		split := rapid.IntRange(0, len(all)).Draw(rt, "split")
		h := priorityQueue[int]{items: slices.Clone(all[:split]), before: func(a, b *int) bool { return *a < *b }}
		h.init()
		for _, n := range all[split:] {
			h.push(n)
		}
		h.items[0] += rapid.IntRange(0, 9).Draw(rt, "later")
		got, want := []int(nil), slices.Sorted(slices.Values(h.items))
		h.siftDown(0)
		for len(h.items) > 0 {
			got = append(got, h.pop())
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("given back as %v, want %v", got, want)
		}
	})
}
