package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// A ModelCapability is what was learned of one model at one endpoint.
type ModelCapability struct {
	// Demands are what its endpoint requires of requests, by the names that
	// `model.compat` takes, in a fixed order.
	Demands []string `json:"demands,omitempty"`
	// Window is how many tokens a request and its answer may have together, as the
	// caller counts them; 0 until the endpoint has refused a request as too long.
	Window int `json:"window,omitempty"`
	// MaxOutput is the largest output limit that the endpoint accepts; 0 is unknown.
	MaxOutput int `json:"max_output,omitempty"`
	// Told is what the endpoint tells of the model before it is used: its window and its
	// price, as far as they are known.
	Told ModelFacts `json:"told,omitzero"`
}

// AssumedWindow is the window of a model of which none is known.
const AssumedWindow = 32_000

// NoTools is the demand of an endpoint that takes no tools at all: requests go without
// them, and calls of before are told in words.
const NoTools = "no_tools"

// TakesTools reports whether requests may offer tools.
func (c ModelCapability) TakesTools() bool { return !slices.Contains(c.Demands, NoTools) }

// IsZero reports whether nothing was learned.
func (c ModelCapability) IsZero() bool {
	return len(c.Demands) == 0 && c.Window == 0 && c.MaxOutput == 0 && c.Told == (ModelFacts{})
}

// A CapabilityStore keeps what was learned beyond the life of a client. Calls may be
// concurrent.
type CapabilityStore interface {
	// LoadCapability returns what is known of a model at the endpoint with that base
	// URL; the zero value if nothing is.
	LoadCapability(endpoint, model string) ModelCapability
	// SaveCapability replaces what is known of it.
	SaveCapability(endpoint, model string, c ModelCapability) error
}

// CapabilityOf returns what m, or a model that it wraps, has learned of the model of
// that name; the zero value when it learns nothing. A wrapper has a method Unwrap.
func CapabilityOf(m ChatModel, name string) ModelCapability {
	type learner interface {
		Capability(name string) ModelCapability
	}
	if learned, ok := unwrapTo[learner](m); ok {
		return learned.Capability(name)
	}
	return ModelCapability{}
}

// LearnFacts has m, or a model that it wraps, ask its endpoint for what it tells of the
// model of that name; see [ModelCapability.Told]. It does nothing when m cannot ask.
func LearnFacts(ctx context.Context, m ChatModel, name string) error {
	type asker interface {
		LearnFacts(ctx context.Context, name string) error
	}
	if a, ok := unwrapTo[asker](m); ok {
		return a.LearnFacts(ctx, name)
	}
	return nil
}

// unwrapTo returns m, or the outermost model within it, that is a T.
func unwrapTo[T any](m ChatModel) (T, bool) {
	for m != nil {
		if t, ok := m.(T); ok {
			return t, true
		}
		wrapper, ok := m.(interface{ Unwrap() ChatModel })
		if !ok {
			break
		}
		m = wrapper.Unwrap()
	}
	var none T
	return none, false
}

// Unwrap returns the model that is repeated.
func (m *RetryingModel) Unwrap() ChatModel { return m.Model }

// Unwrap returns the model that is observed.
func (w CallObserver) Unwrap() ChatModel { return w.Model }

// A CapabilityFile is a [CapabilityStore] in a JSON file. A file that is missing or
// damaged reads as an empty one: what it held is learned again. The file is written
// whole, and read once; processes that share it keep what the last one wrote.
type CapabilityFile struct {
	// Path is the file; its folder must exist when something is saved.
	Path string
	// ReadOnly keeps what is saved in memory.
	ReadOnly bool

	mu  sync.Mutex // guards all
	all map[string]ModelCapability
}

var _ CapabilityStore = (*CapabilityFile)(nil)

// LoadCapability implements [CapabilityStore].
func (f *CapabilityFile) LoadCapability(endpoint, model string) ModelCapability {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read()
	return f.all[capabilityKey(endpoint, model)]
}

// SaveCapability implements [CapabilityStore].
func (f *CapabilityFile) SaveCapability(endpoint, model string, c ModelCapability) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read()
	key := capabilityKey(endpoint, model)
	if c.IsZero() {
		delete(f.all, key)
	} else {
		c.Demands = slices.Clone(c.Demands)
		f.all[key] = c
	}
	if f.ReadOnly {
		return nil
	}
	text, err := json.MarshalIndent(f.all, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(f.Path, append(text, '\n'))
}

// read reads the file the first time. f.mu is held.
func (f *CapabilityFile) read() {
	if f.all != nil {
		return
	}
	f.all = map[string]ModelCapability{}
	text, err := os.ReadFile(f.Path)
	if err != nil {
		return
	}
	var all map[string]ModelCapability
	if json.Unmarshal(text, &all) == nil && all != nil {
		f.all = all
	}
}

func capabilityKey(endpoint, model string) string { return endpoint + " " + model }

// replaceFile replaces a file at once, readable by its owner alone.
func replaceFile(path string, content []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("keep what was learned of a model: %w", err)
	}
	_, err = temp.Write(content)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		if gone := os.Remove(temp.Name()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return fmt.Errorf("keep what was learned of a model: %w", err)
	}
	return nil
}
