package modelhttp

import (
	"slices"
	"sync"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// A capabilityCache holds what was learned of each model at one endpoint.
type capabilityCache struct {
	Endpoint string
	store    llm.CapabilityStore // nil keeps it in memory alone

	mu      sync.Mutex // guards byModel
	byModel map[string]llm.ModelCapability
}

// Of returns what is known of a model.
func (k *capabilityCache) Of(model string) llm.ModelCapability {
	k.mu.Lock()
	defer k.mu.Unlock()
	if known, ok := k.byModel[model]; ok || k.store == nil {
		return known
	}
	known := k.store.LoadCapability(k.Endpoint, model)
	k.keep(model, known)
	return known
}

// Update changes what is known of a model and stores it. An error of the store leaves
// it in memory, to be learned again by the next process.
func (k *capabilityCache) Update(model string, change func(*llm.ModelCapability)) {
	k.Of(model)
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.byModel[model]
	before := known
	change(&known)
	if slices.Equal(before.Demands, known.Demands) && before.Window == known.Window && before.MaxOutput == known.MaxOutput && before.Told == known.Told {
		return
	}
	k.keep(model, known)
	if k.store != nil {
		_ = k.store.SaveCapability(k.Endpoint, model, known) // it is in memory
	}
}

// keep stores it in memory. k.mu is held.
func (k *capabilityCache) keep(model string, known llm.ModelCapability) {
	if k.byModel == nil {
		k.byModel = map[string]llm.ModelCapability{}
	}
	k.byModel[model] = known
}
