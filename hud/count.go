package hud

import (
	"strings"
	"sync"

	"github.com/trestle-bridge/trestle/spaces"
)

// What a provider adds around each message and each call, in tokens.
const (
	messageOverhead = 4
	callOverhead    = 12
)

// A TokenCounter counts tokens exactly, as the o200k vocabulary has them, and
// remembers the counts of words. It may be used from several goroutines; the zero
// value works.
type TokenCounter struct {
	mu sync.Mutex // guards the two maps
	// Counts are kept in two generations: when young is full it becomes old.
	young, old map[string]int
	bytes      int // that young takes
}

// The sizes of one generation of remembered counts, of what one takes beside its
// word, and of the longest word in it.
const (
	maxRemembered = 512 << 10
	entryBytes    = 56
	maxKey        = 4 << 10
)

// Bound returns a number no smaller than the tokens of text, without counting:
// a token of a byte-level vocabulary holds at least one byte.
func Bound(text string) int { return len(text) }

// Count returns how many tokens text has. It is counted word by word: people use
// the same ones again and again.
func (c *TokenCounter) Count(text string) int {
	n := 0
	c.mu.Lock()
	for text != "" {
		word := firstWord(text)
		known, ok := c.remembered(word)
		if !ok {
			c.mu.Unlock()
			known = count(word)
			c.mu.Lock()
			c.remember(word, known)
		}
		n += known
		text = text[len(word):]
	}
	c.mu.Unlock()
	return n
}

// firstWord returns the beginning of text up to where the vocabulary surely begins
// a token: before a blank behind a visible character, since in a token with a word
// or a sign a blank can only be the first; and behind an end of a line, which no
// token joins to a word, only to space up to a later end of line, or to a slash.
// Without such a place it is all of the text.
func firstWord(text string) string {
	for i := 1; i < len(text); i++ {
		switch before := text[i-1]; {
		case text[i] == ' ' && visible(before):
			return text[:i]
		case before == '\n':
			if next := strings.TrimLeft(text[i:], " "); next != "" && visible(next[0]) && next[0] != '/' {
				return text[:i]
			}
		}
	}
	return text
}

// visible reports whether c is a letter, a digit or a sign of ASCII.
func visible(c byte) bool { return '!' <= c && c <= '~' }

// count has the vocabulary count a word.
func count(word string) int {
	n, err := loaded().Count(word)
	if err != nil { // the pattern matcher gave up; the bound still holds
		return Bound(word)
	}
	return n
}

// remembered returns the count of a word that is known. c.mu is held.
func (c *TokenCounter) remembered(word string) (n int, ok bool) {
	if n, ok = c.young[word]; !ok {
		n, ok = c.old[word]
	}
	return n, ok
}

// remember keeps the count of a word, unless it is long. c.mu is held.
func (c *TokenCounter) remember(word string, n int) {
	if len(word) > maxKey {
		return
	}
	if c.young == nil || c.bytes > maxRemembered {
		c.old, c.young, c.bytes = c.young, map[string]int{}, 0
	}
	c.young[strings.Clone(word)] = n // does not retain the whole text
	c.bytes += len(word) + entryBytes
}

// Turn returns the exact tokens of t with all that a provider adds, and keeps
// them in it.
func (c *TokenCounter) Turn(t *spaces.TranscriptTurn) int {
	if t.Tokens > 0 {
		return t.Tokens
	}
	n := messageOverhead + c.Count(t.Text)
	for _, call := range t.Calls {
		n += callOverhead + c.Count(call.Name) + c.Count(call.Args)
	}
	if t.CallID != "" {
		n += callOverhead
	}
	t.Tokens = n
	return n
}

// boundTurn returns a number no smaller than what [Counter.Turn] would.
func boundTurn(t *spaces.TranscriptTurn) int {
	if t.Tokens > 0 {
		return t.Tokens
	}
	n := messageOverhead + Bound(t.Text)
	for _, call := range t.Calls {
		n += callOverhead + Bound(call.Name) + Bound(call.Args)
	}
	if t.CallID != "" {
		n += callOverhead
	}
	return n
}

// boundKeyframe returns the tokens of a keyframe, or a bound where they are not counted.
func boundKeyframe(k *spaces.Keyframe) int {
	switch {
	case k == nil:
		return 0
	case k.Tokens > 0:
		return k.Tokens
	}
	return messageOverhead + Bound(k.Text)
}

// keyframe returns the exact tokens of a keyframe, and stores them in it.
func (c *TokenCounter) keyframe(k *spaces.Keyframe) int {
	if k != nil && k.Tokens == 0 {
		k.Tokens = messageOverhead + c.Count(k.Text)
	}
	return boundKeyframe(k)
}

// turns returns the exact tokens of turns, and stores them in them.
func (c *TokenCounter) turns(ts []spaces.TranscriptTurn) int {
	n := 0
	for i := range ts {
		n += c.Turn(&ts[i])
	}
	return n
}

// cycles returns the exact tokens of the turns of cycles.
func (c *TokenCounter) cycles(cs []spaces.ClosedCycle) int {
	n := 0
	for i := range cs {
		n += c.turns(cs[i].Turns)
	}
	return n
}
