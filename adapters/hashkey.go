package adapters

import (
	"fmt"
	"hash/fnv"
)

// Digest returns a short name for content, for keys.
func Digest(content string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(content)) // a hash never fails
	return fmt.Sprintf("%x", h.Sum(nil))
}

// RawKey is the [Update.Key] of what we could not read: its bytes are its identity.
func RawKey(raw []byte) string { return "raw:" + Digest(string(raw)) }
