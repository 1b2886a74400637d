package hud

import (
	"sync"
	_ "unsafe" // for the two names

	"github.com/tiktoken-go/tokenizer/codec"
)

// vocabulary is the library's o200k vocabulary, which is one for the process. It
// is loaded when the first count is asked for.
var vocabulary struct {
	mu    sync.Mutex   // guards codec, and what the library keeps
	codec *codec.Codec // nil while it is not loaded
}

// The package-level variables in which the library keeps the vocabulary. It has no
// function to release them, so a process at rest would hold 6.7 MB.
//
//go:linkname libraryWords github.com/tiktoken-go/tokenizer/codec.o200kBaseVocab
var libraryWords map[string]uint

//go:linkname libraryOnce github.com/tiktoken-go/tokenizer/codec.o200kBaseVocabOnce
var libraryOnce sync.Once

// loaded returns the vocabulary, which takes 10 ms unless it is in memory.
func loaded() *codec.Codec {
	vocabulary.mu.Lock()
	defer vocabulary.mu.Unlock()
	if vocabulary.codec == nil {
		vocabulary.codec = codec.NewO200kBase()
	}
	return vocabulary.codec
}

// ForgetVocabulary releases the vocabulary, 6.7 MB, until a count needs it again. Counts
// in progress finish with the one they have.
func ForgetVocabulary() {
	vocabulary.mu.Lock()
	defer vocabulary.mu.Unlock()
	vocabulary.codec, libraryWords, libraryOnce = nil, nil, sync.Once{}
}
