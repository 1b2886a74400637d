package hud

import (
	"fmt"
	"hash/crc32"
)

// Hash names a frame by its bytes: roles, texts, calls and their arguments. A
// frame that was put together again is the one the model saw when both have the
// same name. It recognises a frame and defends against nobody, so it takes the
// sums that processors compute: a full window is hashed for every call.
func Hash(ms []Message) string {
	var h sums
	for i := range ms {
		h.add(string(ms[i].Role), ms[i].Text, ms[i].CallID, "\x00")
		for _, call := range ms[i].Calls {
			h.add(call.Name, call.Args)
		}
	}
	return fmt.Sprintf("%08x%08x", h.ieee, h.castagnoli)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sums are two independent sums of what was added.
type sums struct {
	ieee, castagnoli uint32
	chunk            [4 << 10]byte
}

func (h *sums) add(parts ...string) {
	for _, s := range parts {
		for s != "" {
			n := copy(h.chunk[:], s)
			h.ieee = crc32.Update(h.ieee, crc32.IEEETable, h.chunk[:n])
			h.castagnoli = crc32.Update(h.castagnoli, castagnoli, h.chunk[:n])
			s = s[n:]
		}
	}
}
