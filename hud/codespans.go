package hud

import "strings"

// codeSpans says of places in a text, each behind the last, whether they stand between
// backticks of their line. It reads the text once, however many places it is asked about.
type codeSpans struct {
	text string

	at     int  // what is before it is read
	run    int  // backticks right before it that make no fence yet
	fences int  // of three backticks
	odd    bool // backticks of its line before it

	tick, line int // the next backtick and the next line break, from the last place on
}

// inCode reports whether the byte at i stands between backticks of its line.
func (t *codeSpans) inCode(i int) bool {
	for ; t.at < i; t.at++ {
		switch t.text[t.at] {
		case '`':
			t.odd = !t.odd
			if t.run++; t.run == 3 {
				t.fences, t.run = t.fences+1, 0
			}
			continue
		case '\n':
			t.odd = false
		}
		t.run = 0
	}
	t.tick, t.line = t.next('`', t.tick, i), t.next('\n', t.line, i)
	return t.fences%2 == 1 || t.odd && t.tick < t.line
}

// next returns where b comes next from i on, or the end of the text; it was looked for
// from an earlier place before, and found at known.
func (t *codeSpans) next(b byte, known, i int) int {
	if known > i || known == i && i < len(t.text) && t.text[i] == b {
		return known
	}
	if n := strings.IndexByte(t.text[i:], b); n >= 0 {
		return i + n
	}
	return len(t.text)
}
