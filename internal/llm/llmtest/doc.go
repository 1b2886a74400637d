// Package llmtest has stand-ins for language models, for tests, fault runs and
// benchmarks.
//
//   - [Scripted] answers what the test says, and complains when asked for more.
//   - [LeakyModel] repeats everything it was shown: what can leak through it can leak.
//   - [InjectionVictim] does what any text in its prompt orders: what it is denied is
//     really denied.
//   - [Server] puts any model behind an HTTP endpoint like OpenAI's, with faults,
//     a ledger and the transcript validator [Check] on every request.
//
// All are deterministic and may be called concurrently.
package llmtest
