package hud

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
)

// Hash names a frame by its bytes: roles, texts, calls and their arguments. A
// frame that was put together again is the one the model saw when both have the
// same name.
func Hash(ms []Message) string {
	h := sha256.New()
	w := bufio.NewWriterSize(h, 4<<10) // takes strings without copying them whole
	for i := range ms {
		for _, s := range []string{string(ms[i].Role), ms[i].Text, ms[i].CallID, "\x00"} {
			_, _ = w.WriteString(s) // a hash takes everything
		}
		for _, call := range ms[i].Calls {
			_, _ = w.WriteString(call.Name)
			_, _ = w.WriteString(call.Args)
		}
	}
	_ = w.Flush()
	return hex.EncodeToString(h.Sum(nil)[:8])
}
