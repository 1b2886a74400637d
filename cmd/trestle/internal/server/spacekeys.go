package server

import (
	"sync"

	"github.com/trestle-bridge/trestle/spaces"
)

// spaceKeys remembers which entry of the configuration a space comes from, so
// that its settings are found. The zero value is empty; it is safe for
// concurrent use.
type spaceKeys struct {
	mu   sync.RWMutex // guards keys
	keys map[spaces.SpaceID]string
}

func (k *spaceKeys) remember(id spaces.SpaceID, key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys == nil {
		k.keys = map[spaces.SpaceID]string{}
	}
	k.keys[id] = key
}

// keyOf returns the entry a space comes from; empty when it has none.
func (k *spaceKeys) keyOf(id spaces.SpaceID) string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.keys[id]
}
