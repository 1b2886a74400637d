package tokens

import "math"

// A merger splits pieces that are no tokens by themselves. It is used again for
// the next piece, so that only the longest takes memory.
type merger struct {
	parts []part
	heap  []candidate
}

// A part begins at its place among the parts and reaches to the next one.
type part struct {
	prev, next int32
	rank       uint32 // of what it becomes with the next one
}

// noRank is the rank of what is no token.
const noRank = math.MaxUint32

// A candidate is a pair of neighbours that is a token: its rank, then where it
// begins, so that of equals the first is merged first.
type candidate uint64

func (c candidate) rank() uint32 { return uint32(c >> 32) }
func (c candidate) at() int32    { return int32(c & math.MaxUint32) }

// count returns in how many tokens a piece ends when, from its bytes on, the pair
// of neighbours with the lowest rank is merged over and over.
func (m *merger) count(piece string) int {
	last := int32(len(piece))
	m.parts, m.heap = m.parts[:0], m.heap[:0]
	for i := range last + 1 {
		m.parts = append(m.parts, part{i - 1, i + 1, noRank})
	}
	for i := range last {
		m.offer(piece, i)
	}
	left := int(last)
	for len(m.heap) > 0 {
		best := m.pop()
		i := best.at()
		if m.parts[i].rank != best.rank() {
			continue // one of the two has been merged since
		}
		gone := m.parts[i].next
		next := m.parts[gone].next
		m.parts[gone].rank = noRank
		m.parts[i].next, m.parts[next].prev = next, i
		left--
		m.offer(piece, i)
		if before := m.parts[i].prev; before >= 0 {
			m.offer(piece, before)
		}
	}
	return left
}

// offer finds out what the part at i becomes with its neighbour.
func (m *merger) offer(piece string, i int32) {
	m.parts[i].rank = noRank
	next := m.parts[i].next
	if int(next) >= len(piece) {
		return
	}
	if r, ok := rank(piece[i:m.parts[next].next]); ok {
		m.parts[i].rank = r
		m.push(candidate(uint64(r)<<32 | uint64(i)))
	}
}

func (m *merger) push(c candidate) {
	m.heap = append(m.heap, c)
	for i := len(m.heap) - 1; i > 0; {
		above := (i - 1) / 2
		if m.heap[above] <= m.heap[i] {
			return
		}
		m.heap[above], m.heap[i] = m.heap[i], m.heap[above]
		i = above
	}
}

func (m *merger) pop() candidate {
	best, last := m.heap[0], len(m.heap)-1
	m.heap[0] = m.heap[last]
	m.heap = m.heap[:last]
	for i := 0; ; {
		below := 2*i + 1
		if below >= last {
			return best
		}
		if below+1 < last && m.heap[below+1] < m.heap[below] {
			below++
		}
		if m.heap[i] <= m.heap[below] {
			return best
		}
		m.heap[i], m.heap[below] = m.heap[below], m.heap[i]
		i = below
	}
}
