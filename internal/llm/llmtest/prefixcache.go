package llmtest

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"sort"
	"sync"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// A prefixCache simulates the prompt cache of a provider. It stores a running
// hash of every request after each blockBytes.
type prefixCache struct {
	once sync.Once
	seed maphash.Seed

	mu    sync.Mutex // guards known
	known map[uint64]struct{}
}

const (
	blockBytes = 128     // 32 tokens
	mostBlocks = 1 << 20 // a fuller cache is emptied, as providers do
)

// measure returns the tokens of a request and how many of them begin an earlier
// request too, and stores the request.
func (c *prefixCache) measure(req wireRequest) (prompt, cached int) {
	c.once.Do(func() {
		c.seed = maphash.MakeSeed()
		c.known = make(map[uint64]struct{})
	})
	text := promptOf(req)
	hashes := make([]uint64, 0, len(text)/blockBytes)
	for b, last := text, uint64(0); len(b) >= blockBytes; b = b[blockBytes:] {
		last = last*0x9E3779B97F4A7C15 + maphash.Bytes(c.seed, b[:blockBytes])
		hashes = append(hashes, last)
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
	n := sort.Search(len(hashes), func(i int) bool { // a known hash was added with all before it
		_, ok := c.known[hashes[i]]
		return !ok
	})
	for _, h := range hashes[n:] {
		c.known[h] = struct{}{}
	}
	return n
}

// promptOf returns a request as a provider would feed it to the model: tools,
// then messages in order.
func promptOf(req wireRequest) []byte {
	b := bytes.Clone(req.RawTools)
	for i := range req.Messages {
		b = appendMessage(b, &req.Messages[i])
	}
	return b
}

func appendMessage(b []byte, m *llm.TranscriptMessage) []byte {
	b = append(append(b, m.Role...), '\n')
	b = append(append(b, m.Text...), '\n')
	for i := range m.Calls {
		b = append(append(b, m.Calls[i].Name...), m.Calls[i].Args...)
	}
	return b
}

// A toolCache keeps the tools of the newest requests decoded: clients send the
// same bytes with every request.
type toolCache struct {
	mu    sync.Mutex // guards known
	known []*decodedTools
}

type decodedTools struct {
	raw   json.RawMessage
	tools []llm.ToolSpec
	bad   error // of checkTools
}

// mostTools is how many different tool lists are kept.
const mostTools = 16

// decode returns a copy of raw with the tools in it, shared between requests.
func (c *toolCache) decode(raw json.RawMessage) (*decodedTools, error) {
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
	k := &decodedTools{raw: bytes.Clone(raw), tools: tools, bad: checkTools(tools)}
	c.known = append(c.known, k)
	return k, nil
}
