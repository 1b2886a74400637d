// Package adaptertest is the suite that every adapter passes.
//
// [Run] plays forty cases against an adapter and a platform it can command
// through a [Fixture]. Each case is a subtest with a stable number and name. A verb
// the platform has no notion of is nil in the rig, and the cases that need it
// are skipped, saying so; optional abilities of the adapter are found by type
// assertion. Nothing is configured.
//
// Every case runs in a testing/synctest bubble of its own, so the platform must
// be reached through memory (see fake.Network) and waiting costs nothing.
//
// The package knows only the contract; adapters bring their rigs in their own
// test files.
package adaptertest
