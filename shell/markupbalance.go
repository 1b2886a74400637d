package shell

// closings says of every beginning of a text, by its length, whether its last paragraph
// leaves no markup open, taking for open what only looks like it. It reads the text once.
func closings(text string) []bool {
	ends := make([]bool, len(text)+1)
	ends[0] = true
	var m openMarkup
	for i := range len(text) {
		if text[i] == '\n' && i > 0 && text[i-1] == '\n' {
			m.paragraphMarkup = paragraphMarkup{}
		}
		m.read(text[i])
		ends[i+1] = m.closed()
	}
	return ends
}

// openMarkup are the markup of a text up to some place. What is there an odd number of times
// is open.
type openMarkup struct {
	fences [2]codeFence // of backticks, and of tildes
	paragraphMarkup
}

// A codeFence is three equal signs.
type codeFence struct {
	run int
	odd bool
}

func (f *codeFence) read(is bool) {
	switch {
	case !is:
		f.run = 0
	case f.run == 2:
		f.run, f.odd = 0, !f.odd
	default:
		f.run++
	}
}

// doubled are the signs that mean something in pairs. Those of one pair are gone before
// the next are looked for.
const doubled = "*_~|"

// paragraphMarkup is the markup of one.
type paragraphMarkup struct {
	code   bool               // an odd number of backticks
	waits  [len(doubled)]bool // for its other half, or for whatever else comes next
	pairs  [len(doubled)]bool
	stars  bool // an odd number of those that are left over, but for those of bullets
	scores bool
	square int // brackets that are open

	begun  bool // the line holds more than blanks
	bullet bool // and that is an asterisk
}

func (m *openMarkup) read(c byte) {
	m.fences[0].read(c == '`')
	m.fences[1].read(c == '~')
	if c == '`' {
		m.code = !m.code
		return
	}
	m.half(0, c)
}

// half takes a byte as the halves of the pairs from the k-th on.
func (p *paragraphMarkup) half(k int, c byte) {
	for ; k < len(doubled); k++ {
		if c == doubled[k] {
			if p.waits[k] {
				p.pairs[k] = !p.pairs[k]
			}
			p.waits[k] = !p.waits[k]
			return
		}
		if p.waits[k] {
			p.waits[k] = false
			p.half(k+1, doubled[k])
		}
	}
	p.single(c)
}

// single takes a byte that is half of no pair.
func (p *paragraphMarkup) single(c byte) {
	if p.bullet && c == ' ' {
		p.stars = !p.stars // that asterisk makes a list of its line
	}
	p.bullet = c == '*' && !p.begun
	switch c {
	case '\n':
		p.begun = false
		return
	case ' ', '\t':
		return
	case '*':
		p.stars = !p.stars
	case '_':
		p.scores = !p.scores
	case '[':
		p.square++
	case ']':
		p.square--
	}
	p.begun = true
}

// closed reports whether nothing is open.
func (m *openMarkup) closed() bool {
	return !m.fences[0].odd && !m.fences[1].odd && !m.code && m.pairs == [len(doubled)]bool{} &&
		m.stars == m.waits[0] && m.scores == m.waits[1] && m.square == 0
}
