// Package demo plays a small life for `trestle run --demo`: three people and two
// agents in rooms on fake platforms of this machine.
//
// The platforms are those of adapters/fake, reached over the loopback through
// the real adapters; the only thing that is not real is the model, a [Model]
// that knows this story and says so about everything else. What is told of the
// agents is read from the record, never from the script.
//
// The package reads no configuration and opens no database. Its caller passes both, and
// a function that listens.
package demo
