package tokens

// A merger counts the tokens of a piece that is none itself: it joins neighbours,
// those of the lowest rank first and of equal ones the leftmost, until no two of
// them make a token. It may be used again for the next piece.
type merger struct {
	parts []part   // by the byte they begin with, and one for the end
	queue []uint64 // a heap of ranks, each above the part that may join its successor
}

// A part is some bytes of a piece, known by the first.
type part struct {
	before, after int32
	joined        uint32 // the rank of this part with the next one, or none
}

func (m *merger) count(piece string) int {
	m.parts, m.queue = m.parts[:0], m.queue[:0]
	for i := range int32(len(piece)) + 1 {
		m.parts = append(m.parts, part{i - 1, i + 1, none})
	}
	for i := range len(piece) {
		m.consider(piece, int32(i))
	}
	n := len(piece)
	for len(m.queue) > 0 {
		key := m.pop()
		i := int32(key & (1<<32 - 1))
		if m.parts[i].joined != uint32(key>>32) {
			continue // it has changed since
		}
		n--
		next := m.parts[i].after
		m.parts[next].joined = none
		m.parts[i].after = m.parts[next].after
		m.parts[m.parts[i].after].before = i
		m.consider(piece, i)
		if before := m.parts[i].before; before >= 0 {
			m.consider(piece, before)
		}
	}
	return n
}

// consider looks up what the part at i makes with its successor.
func (m *merger) consider(piece string, i int32) {
	p := &m.parts[i]
	p.joined = none
	if int(p.after) >= len(piece) {
		return
	}
	if p.joined = rank(piece[i:m.parts[p.after].after]); p.joined != none {
		m.push(uint64(p.joined)<<32 | uint64(i))
	}
}

// push adds a key to the heap.
func (m *merger) push(key uint64) {
	m.queue = append(m.queue, key)
	for i := len(m.queue) - 1; i > 0; {
		up := (i - 1) / 2
		if m.queue[up] <= m.queue[i] {
			return
		}
		m.queue[up], m.queue[i] = m.queue[i], m.queue[up]
		i = up
	}
}

// pop takes the lowest key off the heap.
func (m *merger) pop() uint64 {
	q := m.queue
	lowest, last := q[0], len(q)-1
	q[0] = q[last]
	q = q[:last]
	for i := 0; ; {
		least := 2*i + 1
		if least >= last {
			break
		}
		if right := least + 1; right < last && q[right] < q[least] {
			least = right
		}
		if q[i] <= q[least] {
			break
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
	m.queue = q
	return lowest
}
