package modeltest

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"sync"

	"github.com/trestle-bridge/trestle/internal/model"
)

// A prefixCache plays the prompt cache of a provider: it knows of every request
// the prefixes in steps of blockBytes, as running hashes.
type prefixCache struct {
	once sync.Once
	seed maphash.Seed
	bufs sync.Pool // of *[]byte

	mu    sync.Mutex // guards known
	known map[uint64]struct{}
}

const (
	blockBytes = 128     // 32 tokens
	mostBlocks = 1 << 20 // then the cache forgets everything, as providers do
)

// measure returns the tokens of the request and how many of them begin an
// earlier request too, and remembers it.
func (c *prefixCache) measure(req wireRequest) (prompt, cached int) {
	c.once.Do(func() {
		c.seed = maphash.MakeSeed()
		c.known = make(map[uint64]struct{})
	})
	buf, ok := c.bufs.Get().(*[]byte)
	if !ok {
		buf = new([]byte)
	}
	defer c.bufs.Put(buf)
	*buf = flat((*buf)[:0], req)
	text := *buf

	hashes := make([]uint64, 0, len(text)/blockBytes)
	var h uint64
	for b := text; len(b) >= blockBytes; b = b[blockBytes:] {
		h = h*0x9E3779B97F4A7C15 + maphash.Bytes(c.seed, b[:blockBytes])
		hashes = append(hashes, h)
	}
	return (len(text) + 3) / 4, c.learn(hashes) * blockBytes / 4
}

// learn returns how many of the hashes are known from the first on, and adds all.
func (c *prefixCache) learn(hashes []uint64) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) > mostBlocks {
		clear(c.known)
	}
	n := 0
	for n < len(hashes) {
		if _, ok := c.known[hashes[n]]; !ok {
			break
		}
		n++
	}
	for _, h := range hashes[n:] {
		c.known[h] = struct{}{}
	}
	return n
}

// flat appends the request as a provider would feed it to the model: tools, then
// messages in order.
func flat(b []byte, req wireRequest) []byte {
	b = append(b, req.RawTools...)
	for i := range req.Messages {
		m := &req.Messages[i]
		b = append(append(b, m.Role...), '\n')
		b = append(append(b, m.Text...), '\n')
		for j := range m.Calls {
			b = append(append(b, m.Calls[j].Name...), m.Calls[j].Args...)
		}
	}
	return b
}

// The sizes of a text that is not worth remembering, and of one generation of
// those that are.
const (
	shortText = 64
	mostText  = 8 << 20
)

// A textCache remembers what the texts of requests say, by how they are written:
// a transcript comes back with every request. Texts are kept in two generations:
// when young is full it becomes old.
type textCache struct {
	mu         sync.Mutex // guards the rest
	young, old map[string]string
	bytes      int // of young
}

// of returns what a text between quotes says, if that is known.
func (c *textCache) of(written []byte) (text string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text, ok = c.young[string(written)]; !ok {
		text, ok = c.old[string(written)]
	}
	return text, ok
}

// keep remembers what a text says.
func (c *textCache) keep(written []byte, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young == nil || c.bytes > mostText {
		c.old, c.young, c.bytes = c.young, map[string]string{}, 0
	}
	c.young[string(written)] = text
	c.bytes += len(written) + len(text)
}

// A toolCache keeps the tools of the newest requests decoded: they are the same
// bytes again and again.
type toolCache struct {
	mu    sync.Mutex // guards known
	known []knownTools
}

type knownTools struct {
	raw   json.RawMessage
	tools []model.Tool
	bad   error // what is wrong with them
}

// mostTools is how many different tool lists are kept.
const mostTools = 16

// of returns a copy of raw and what it says; they are shared between requests.
func (c *toolCache) of(raw json.RawMessage) (knownTools, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.known {
		if bytes.Equal(c.known[i].raw, raw) {
			return c.known[i], nil
		}
	}
	tools, err := decodeTools(raw)
	if err != nil {
		return knownTools{}, err
	}
	if len(c.known) == mostTools {
		c.known = c.known[1:]
	}
	k := knownTools{raw: bytes.Clone(raw), tools: tools, bad: checkTools(tools)}
	c.known = append(c.known, k)
	return k, nil
}
