package hud

import (
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/trestle-bridge/trestle/spaces"
)

// What a provider adds around each message and each call, in tokens.
const (
	messageOverhead = 4
	callOverhead    = 12
)

// A Counter counts tokens exactly, as the o200k vocabulary has them. The
// vocabulary is loaded when the first count is asked for; counts are remembered
// by content. It may be used from several goroutines; the zero value works.
type Counter struct {
	load  sync.Once
	codec *codec.Codec

	mu sync.Mutex // guards the two maps
	// Counts are kept in two generations: when young is full it becomes old.
	young, old map[string]int
	bytes      int // of the keys of young
}

// The sizes of one generation of remembered counts, and of the longest text in it.
const (
	maxRemembered = 512 << 10
	maxKey        = 4 << 10
)

// Bound returns a number no smaller than the tokens of text, without counting:
// a token of a byte-level vocabulary holds at least one byte.
func Bound(text string) int { return len(text) }

// Count returns how many tokens text has. A long text is counted line by line:
// most lines of a keyframe stood in the one before.
func (c *Counter) Count(text string) int {
	n := 0
	for len(text) > maxKey {
		line := firstLine(text)
		n += c.count(line)
		text = text[len(line):]
	}
	return n + c.count(text)
}

// firstLine returns the beginning of text up to the first end of a line behind
// which the vocabulary surely begins a token: no token goes from a line into a
// word, only into space up to a later end of line, or into a slash. Without one
// it is all of the text.
func firstLine(text string) string {
	for end := 0; ; {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
		next := strings.TrimLeft(text[end:], " ")
		if next != "" && '!' <= next[0] && next[0] <= '~' && next[0] != '/' {
			return text[:end]
		}
	}
}

func (c *Counter) count(text string) int {
	if text == "" {
		return 0
	}
	if n, ok := c.remembered(text); ok {
		return n
	}
	c.load.Do(func() { c.codec = codec.NewO200kBase() })
	n, err := c.codec.Count(text)
	if err != nil { // the pattern matcher gave up; the bound still holds
		n = Bound(text)
	}
	c.remember(text, n)
	return n
}

func (c *Counter) remembered(text string) (int, bool) {
	if len(text) > maxKey {
		return 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.young[text]; ok {
		return n, true
	}
	n, ok := c.old[text]
	return n, ok
}

func (c *Counter) remember(text string, n int) {
	if len(text) > maxKey {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young == nil || c.bytes > maxRemembered {
		c.old, c.young, c.bytes = c.young, map[string]int{}, 0
	}
	c.young[text] = n
	c.bytes += len(text) + 32
}

// Turn returns the exact tokens of t with all that a provider adds, and keeps
// them in it.
func (c *Counter) Turn(t *spaces.Turn) int {
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

// boundTurn returns a number no smaller than what [Counter.Turn] would, and
// whether it is exact.
func boundTurn(t *spaces.Turn) (n int, exact bool) {
	if t.Tokens > 0 {
		return t.Tokens, true
	}
	n = messageOverhead + Bound(t.Text)
	for _, call := range t.Calls {
		n += callOverhead + Bound(call.Name) + Bound(call.Args)
	}
	if t.CallID != "" {
		n += callOverhead
	}
	return n, false
}
