package llmtest

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// A prefixCache plays the prompt cache of a provider: it knows of every request
// the prefixes in steps of blockBytes, as running hashes.
type prefixCache struct {
	once sync.Once
	seed maphash.Seed

	mu    sync.Mutex // guards the rest, and the prefix of every turn
	known map[uint64]struct{}
	era   int // how often everything was forgotten
}

const (
	blockBytes = 128     // 32 tokens
	mostBlocks = 1 << 20 // then the cache forgets everything, as providers do
)

// A prefix is a request up to the end of a turn, as a provider would feed it to the
// model: tools, then messages in order.
type prefix struct {
	tools *knownTools
	era   int    // of the cache that knows all its blocks
	size  int    // of the blocks, in bytes
	hash  uint64 // of the blocks
	rest  []byte // behind them
}

// measure returns the tokens of the request and how many of them begin an
// earlier request too, and remembers it. It reads what follows the last of the turns
// that it met before, with these tools.
func (c *prefixCache) measure(req wireRequest) (prompt, cached int) {
	c.once.Do(func() {
		c.seed = maphash.MakeSeed()
		c.known = make(map[uint64]struct{})
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) > mostBlocks {
		clear(c.known)
		c.era++
	}
	at := prefix{tools: req.tools, era: c.era, rest: req.tools.raw}
	var turns []*turn
	for t := req.last; t.after != nil; t = t.after {
		if t.prefix.tools == at.tools && t.prefix.era == at.era {
			at = t.prefix
			break
		}
		turns = append(turns, t)
	}
	text := slices.Clone(at.rest)
	ends := make([]int, len(turns))
	for i, t := range slices.Backward(turns) {
		text = flat(text, &t.message)
		ends[i] = len(text)
	}
	hashes := []uint64{at.hash}
	for b := text; len(b) >= blockBytes; b = b[blockBytes:] {
		hashes = append(hashes, hashes[len(hashes)-1]*0x9E3779B97F4A7C15+maphash.Bytes(c.seed, b[:blockBytes]))
	}
	for i, t := range turns {
		n := ends[i] / blockBytes
		t.prefix = prefix{at.tools, at.era, at.size + n*blockBytes, hashes[n], bytes.Clone(text[n*blockBytes : ends[i]])}
	}
	return (at.size + len(text) + 3) / 4, (at.size + c.learn(hashes[1:])*blockBytes) / 4
}

// learn returns how many of the hashes are known from the first on, and adds all.
func (c *prefixCache) learn(hashes []uint64) int {
	n := sort.Search(len(hashes), func(i int) bool { // what is known was learnt with all before it
		_, ok := c.known[hashes[i]]
		return !ok
	})
	for _, h := range hashes[n:] {
		c.known[h] = struct{}{}
	}
	return n
}

// flat appends a message as a provider would feed it to the model.
func flat(b []byte, m *llm.Message) []byte {
	b = append(append(b, m.Role...), '\n')
	b = append(append(b, m.Text...), '\n')
	for i := range m.Calls {
		b = append(append(b, m.Calls[i].Name...), m.Calls[i].Args...)
	}
	return b
}

// A transcriptCache is what is known of earlier requests.
type transcriptCache struct {
	tools toolCache
	transcripts
}

// mostTranscripts is how many bytes of transcripts are kept; then all are forgotten.
const mostTranscripts = 64 << 20

// transcripts keeps the messages of earlier requests, each by what stands before it
// and by the hash of how it is written: a transcript comes back with every request
// and is longer then, and what is known of it is not read again.
type transcripts struct {
	begin turn
	once  sync.Once
	seed  maphash.Seed

	mu    sync.Mutex // guards the rest
	known map[place]*turn
	bytes int
}

// A turn is a message in its place in some transcripts.
type turn struct {
	place
	size    int                  // as JSON
	newest  atomic.Pointer[turn] // of those that followed
	message llm.Message
	checker checker // of the transcript up to here
	calling *turn   // the last one up to here with calls; nil if there is none
	prefix  prefix
}

type place struct {
	after *turn
	hash  uint64 // of the message as JSON
}

func (ts *transcripts) hash(written []byte) uint64 {
	ts.once.Do(func() { ts.seed = maphash.MakeSeed() })
	return maphash.Bytes(ts.seed, written)
}

// next returns the turn that rest begins with, if it is the one that followed t last
// time; else nil. A message ends with its brace, so that no other begins like it.
func (ts *transcripts) next(t *turn, rest []byte) *turn {
	n := t.newest.Load()
	if n == nil || len(rest) < n.size || ts.hash(rest[:n.size]) != n.hash {
		return nil
	}
	return n
}

// called reports whether the turn or one before it has a call with that id.
func (t *turn) called(id string) bool {
	for t = t.calling; t != nil; t = t.after.calling {
		if slices.ContainsFunc(t.message.Calls, func(c llm.Call) bool { return c.ID == id }) {
			return true
		}
	}
	return false
}

// follow returns the turn after another, which is m unless it was known.
func (ts *transcripts) follow(t *turn, written []byte, m llm.Message) *turn {
	at := place{t, ts.hash(written)}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	n, ok := ts.known[at]
	if !ok {
		if ts.known == nil || ts.bytes > mostTranscripts {
			ts.known, ts.bytes = map[place]*turn{}, 0
			ts.begin.newest.Store(nil)
		}
		n = &turn{place: at, size: len(written), message: m, checker: t.checker.after(&m, t.called), calling: t.calling}
		if len(m.Calls) > 0 {
			n.calling = n
		}
		ts.known[at] = n
		ts.bytes += len(written)
	}
	t.newest.Store(n)
	return n
}

// A toolCache keeps the tools of the newest requests decoded: they are the same
// bytes again and again.
type toolCache struct {
	mu    sync.Mutex // guards known
	known []*knownTools
}

type knownTools struct {
	raw   json.RawMessage
	tools []llm.Tool
	bad   error // what is wrong with them
}

// mostTools is how many different tool lists are kept.
const mostTools = 16

// at returns the tools that rest begins with, or nil when they are not known.
func (c *toolCache) at(rest []byte) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.known {
		if len(k.tools) > 0 && bytes.HasPrefix(rest, k.raw) {
			return k.raw
		}
	}
	return nil
}

// of returns a copy of raw and what it says; they are shared between requests.
func (c *toolCache) of(raw json.RawMessage) (*knownTools, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.known {
		if bytes.Equal(k.raw, raw) {
			return k, nil
		}
	}
	tools, err := decodeTools(raw)
	if err != nil {
		return nil, err
	}
	if len(c.known) == mostTools {
		c.known = c.known[1:]
	}
	k := &knownTools{raw: bytes.Clone(raw), tools: tools, bad: checkTools(tools)}
	c.known = append(c.known, k)
	return k, nil
}
