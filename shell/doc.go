// Package shell is the agent: what it notices, how it thinks, what it may do.
//
// The [Gate] judges every inbox row. A waking row starts a cycle: contemplation,
// in which nothing leaves, then engagement, in which the model's acts become
// inner events, room events and outbox rows, one commit a step. A crash at any
// point resumes at the next step. Every cycle ends in a named stop reason.
//
// The package knows nothing of platforms and SQL. It talks to a model through
// internal/llm, sees through hud, and keeps everything through the ports it
// declares in ports.go.
package shell
